"""What the schema of a tool decides, taken alone: the vectors hold what comes of it."""

from __future__ import annotations

from typing import Any

import pytest

from recovery.arguments import fits, is_bare_word, place, read_leading_zero, takes_keys
from recovery.policy import Allowance


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("kind", "fitting"),
    [
        ("string", ["a", ""]),
        ("integer", [1, 0]),
        ("number", [1, 0, 1.5]),
        ("boolean", [True, False]),
        ("array", [[], [1]]),
        ("object", [{}, {"a": 1}]),
        ("null", [None]),
    ],
)
def test_a_type_takes_its_values_and_no_others(kind: str, fitting: list[Any]) -> None:
    values: list[Any] = ["a", "", 1, 0, 1.5, True, False, [], [1], {}, {"a": 1}, None]
    taken = [value for value in values if fits({"type": kind}, value)]
    assert repr(taken) == repr(
        [value for value in values if any(value is one or repr(value) == repr(one) for one in fitting)]
    )
    assert repr(taken) == repr([value for value in values if fits({"type": [kind]}, value)])
    assert all(fits({"type": [kind, "word"]}, value) and fits({"type": "word"}, value) for value in values)


@pytest.mark.parametrize(
    ("given", "value", "taken"),
    [
        (True, 1, True),
        (None, 1, True),
        ({}, 1, True),
        ({"type": 3}, 1, True),
        ({"type": []}, 1, False),
        ({"type": ["string", "integer"]}, 1, True),
        ({"type": ["string", "null"]}, 1, False),
        ({"enum": ["a", 1]}, "a", True),
        ({"enum": ["a", 1]}, "b", False),
        ({"enum": ["a", 1]}, True, False),
        ({"enum": [True]}, 1, False),
        ({"enum": [True]}, True, True),
        ({"enum": 3}, "b", True),
        ({"const": 1}, 1, True),
        ({"const": 1}, 2, False),
        ({"const": None}, None, True),
        ({"const": None}, 0, False),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, False),
        ({"oneOf": [{"type": "string"}]}, 1, False),
        ({"anyOf": 3}, 1, True),
        ({"anyOf": [{"type": "integer"}], "type": "string"}, 1, False),
        ({"items": {"type": "integer"}}, [1, 2], True),
        ({"items": {"type": "integer"}}, [1, "2"], False),
        ({"items": {"type": "integer"}}, [], True),
        ({"required": ["a"]}, {"a": 1}, True),
        ({"required": ["a"]}, {"b": 1}, False),
        ({"required": 3}, {"b": 1}, True),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 1}, True),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "1"}, False),
        ({"properties": {"a": {}}}, {"b": 1}, False),
        ({"properties": {}}, {"b": 1}, True),
        ({"properties": 3}, {"b": 1}, True),
        ({"properties": {"a": {}}}, "text", True),
    ],
)
def test_what_a_schema_takes(given: Any, value: Any, taken: bool) -> None:
    assert fits(given, value) is taken


@pytest.mark.parametrize(
    ("given", "value", "taken"),
    [
        ({"type": "object", "required": ["a"]}, {}, True),
        ({"type": "string", "enum": ["a"]}, "b", True),
        ({"type": "string"}, {}, False),
        ({"anyOf": [{"type": "object", "required": ["a"]}]}, {}, True),
        ({"oneOf": [{"type": "string"}]}, {}, False),
    ],
)
def test_what_its_type_alone_takes(given: Any, value: Any, taken: bool) -> None:
    assert fits(given, value, shallow=True) is taken


TYPED = schema(
    unit={"type": "string"},
    some={"type": ["null", "string"]},
    mode={"enum": ["fan", "None", "true", "your_mode"], "type": "integer"},
    none={"enum": ["none"]},
    at={"type": "integer"},
    any={},
    odd=3,
)


@pytest.mark.parametrize("key", ["unit", "some"])
@pytest.mark.parametrize(
    ("word", "is_value"),
    [
        *[("celsius", True), ("Celsius", True), ("температура", True), ("None_", True), ("yours", True)],
        *[("nan", False), ("NaN", False), ("undefined", False), ("string", False), ("Int", False), ("any", False)],
        *[("null", False), ("self", False), ("TODO", False), ("your_key", False), ("YOUR_KEY", False)],
        *[("a.b", False), ("a b", False), ("2a", False)],
    ],
)
def test_a_word_where_the_schema_says_string(key: str, word: str, is_value: bool) -> None:
    assert is_bare_word(TYPED, key, word) is is_value


@pytest.mark.parametrize(
    ("key", "word", "is_value"),
    [
        ("unit", "unit", False),
        ("mode", "fan", True),
        ("mode", "Fan", False),
        ("mode", "true", True),
        ("mode", "your_mode", True),
        ("mode", "None", False),
        ("none", "none", False),
        ("at", "celsius", False),
        ("any", "celsius", False),
        ("odd", "celsius", False),
        ("other", "celsius", False),
    ],
)
def test_a_word_where_the_schema_says_something_else(key: str, word: str, is_value: bool) -> None:
    assert is_bare_word(TYPED, key, word) is is_value
    assert not is_bare_word({}, key, word)
    assert not is_bare_word({"properties": 3}, key, word)


NEVER = (
    "nan inf infinity none undefined nil nullptr str int float bool list dict tuple set any string integer number "
    "boolean array object bytes char double"
).split()
STAND_INS = "null true false void notimplemented ellipsis self cls this super todo tbd tba fixme placeholder".split()


@pytest.mark.parametrize("word", NEVER)
def test_the_constants_and_types_of_a_language_are_no_words(word: str) -> None:
    given = schema(x={"type": "string"}, y={"enum": [word]})
    assert not is_bare_word(given, "x", word)
    assert not is_bare_word(given, "y", word)
    assert not takes_keys({}, {"x": word.upper()})


@pytest.mark.parametrize("word", STAND_INS)
def test_a_word_that_stands_for_another_takes_an_enum(word: str) -> None:
    given = schema(x={"type": "string"}, y={"enum": [word]})
    assert not is_bare_word(given, "x", word)
    assert is_bare_word(given, "y", word)
    assert takes_keys({}, {"x": word})


TWO = schema(x={"type": "integer"}, y={"type": "string"})
OBJECT_FIRST = schema(where={"type": "object", "properties": {"a": {}}}, n={"type": "integer"})


@pytest.mark.parametrize(
    ("parameters", "positions", "given", "placed"),
    [
        (TWO, [1], {}, {"x": 1}),
        (TWO, [1, "a"], {}, {"x": 1, "y": "a"}),
        (TWO, [1], {"y": "a"}, {"x": 1, "y": "a"}),
        (TWO, [1], {"z": 2}, {"x": 1, "z": 2}),
        (TWO, [1], {"x": 2}, None),
        (TWO, [1, "a"], {"y": "b"}, None),
        (TWO, ["a"], {}, None),
        (TWO, [1, 2], {}, None),
        (TWO, [1, "a", 2], {}, None),
        ({}, [1], {}, None),
        # A dict that holds a property of the tool's is its arguments, or nothing.
        (OBJECT_FIRST, [{"n": 1}, 1], {}, None),
        (OBJECT_FIRST, [{"a": 1}, 1], {}, {"where": {"a": 1}, "n": 1}),
        (OBJECT_FIRST, [{"a": 1}], {"n": 1}, {"where": {"a": 1}, "n": 1}),
    ],
)
def test_values_without_keys(parameters: Any, positions: list[Any], given: Any, placed: Any) -> None:
    assert place(parameters, positions, given) == (None if placed is None else (placed, Allowance.POSITIONAL))


@pytest.mark.parametrize(
    ("parameters", "value", "expected"),
    [
        (TWO, {"x": 1}, "single_dict"),
        (TWO, {"z": 1}, "single_dict"),
        ({}, {"z": 1}, "single_dict"),
        (TWO, {}, "single_dict"),
        (OBJECT_FIRST, {"a": 1}, "positional"),
        (OBJECT_FIRST, {"where": {"a": 1}}, "single_dict"),
        (OBJECT_FIRST, {"n": 1}, "single_dict"),
        # Both readings fit, or none does.
        (schema(where={"type": "object"}), {"where": {"a": 1}}, None),
        (schema(where={"type": "object"}), {"a": 1}, "positional"),
        (OBJECT_FIRST, {}, None),
        (OBJECT_FIRST, {"z": 1}, None),
        (schema(where={}), {"a": 1}, "positional"),
    ],
)
def test_one_dict_alone(parameters: Any, value: Any, expected: str | None) -> None:
    placed = place(parameters, [value], {})
    if expected is None:
        assert placed is None
    else:
        first = next(iter(parameters.get("properties", {"": 0})))
        assert placed == (value if expected == "single_dict" else {first: value}, Allowance(expected))


@pytest.mark.parametrize(
    ("parameters", "given", "taken"),
    [
        (TWO, {"x": 1}, True),
        (TWO, {"x": 1, "z": 1}, False),
        (TWO, {}, True),
        (TWO, {"x": "integer", "y": "String"}, False),
        (TWO, {"x": "integer", "y": "other"}, True),
        ({}, {"x": 1}, True),
        ({}, {}, True),
        # Declarations of arguments.
        ({}, {"x": "integer", "y": "string"}, False),
        ({}, {"x": "integer", "y": 1}, True),
        ({}, {"type": "object"}, False),
        ({}, {"type": "object", "y": 1}, False),
        ({}, {"type": "other"}, True),
        ({}, {"properties": {}}, False),
        ({}, {"properties": 3}, True),
        ({}, {"x": {"type": "integer"}}, False),
        ({}, {"x": {"type": "any word"}, "y": 1}, False),
        ({}, {"x": {"type": 3}}, True),
        ({}, {"x": {"kind": "integer"}}, True),
    ],
)
def test_the_keys_of_a_json_call(parameters: Any, given: Any, taken: bool) -> None:
    assert takes_keys(parameters, given) is taken


@pytest.mark.parametrize(
    ("property_", "value"),
    [
        ({"type": "string"}, "07"),
        ({"type": ["integer", "string"]}, "07"),
        ({"type": "integer"}, 7),
        ({"type": "string", "enum": ["7"]}, 7),
        ({"type": "string", "enum": ["07"]}, "07"),
        ({}, 7),
        ({"enum": ["07"]}, 7),
        (3, 7),
    ],
)
def test_a_leading_zero_is_what_the_schema_allows(property_: Any, value: str | int) -> None:
    assert read_leading_zero(schema(code=property_), "code", "07") == value
    assert read_leading_zero({}, "code", "07") == 7
