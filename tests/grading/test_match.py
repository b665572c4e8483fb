from __future__ import annotations

import datetime as dt
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from recovery.grading import ANY, OMIT, Case, Rules, approx, args_match, one_of, predicate, regex, text, unordered
from recovery.grading.match import match_all
from recovery.grading.matchers import Literal

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "unit": {"type": "string", "default": "C"},
        "days": {"type": "integer"},
        "at": {"$ref": "#/$defs/at"},
        "maybe": {"anyOf": [{"$ref": "#/$defs/at"}, {"type": "null"}], "default": None},
    },
    "$defs": {
        "at": {"type": "object", "properties": {"lat": {"type": "number", "default": 0}, "n": {"type": "integer"}}}
    },
}


def pointers(expected: Any, actual: Any, rules: Rules | None = None, schema: Any = None) -> list[str]:
    return [difference.pointer for difference in args_match(expected, actual, rules=rules, schema=schema)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text().filter(lambda name: name[:1] != "$"), inner, max_size=3)
    ),
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_arguments_match_themselves(args: dict[str, Any]) -> None:
    assert args_match(args, args) == []
    assert args_match(args, args, rules=Rules(unordered=True, casefold=True)) == []
    assert args_match({name: Literal(value) for name, value in args.items()}, args) == []


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (5, 5.0),
        (0.3, 0.1 + 0.2),
        ([1.0, 2.0], [1, 2]),
        ({"a": {"b": [1, "x"]}}, {"a": {"b": [1, "x"]}}),
        (None, None),
        (10**400, 10**400),
        (ANY, None),
        (OMIT, ...),
        (one_of(1, OMIT), ...),
        (one_of(1, one_of(2, OMIT)), ...),
        (one_of("a", 2), 2),
        (approx(100, rel=0.01), 101),
        (approx(0, abs=0.5), -0.5),
        (text("Oslo", casefold=True, strip=True), " OSLO "),
        (text("a b", collapse=True), "a \t b"),
        (text("é", nfc=True), "e\u0301"),
        (regex("[a-z]+"), "abc"),
        (unordered([1, one_of(1, 2)]), [2, 1]),
        (unordered([one_of(1, 2), 1]), [1, 2]),
        (predicate(lambda value: value > 3), 4),
        ({"x": one_of(1, OMIT)}, {}),
        ({"list": [ANY, approx(1)]}, {"list": ["?", 1.0]}),
    ],
)
def test_what_matches(expected: Any, actual: Any) -> None:
    assert args_match({"v": expected}, {} if actual is ... else {"v": actual}) == []


@pytest.mark.parametrize(
    ("expected", "actual", "pointer"),
    [
        (10, 999, "/v"),  # ServiceNow/AU-Harness#31: scalars are compared too
        (1, True, "/v"),
        (True, 1, "/v"),
        (0, False, "/v"),
        (1, "1", "/v"),  # vibrantlabsai/ragas: no comparing as texts
        ("1", 1, "/v"),
        ({"a": 1}, {"a": True}, "/v/a"),
        ("15", "1.5", "/v"),
        ("5", "-5", "/v"),
        ("etcab", "/etc/a-b", "/v"),
        ("Oslo", "oslo", "/v"),
        ("é", "e\u0301", "/v"),
        (None, False, "/v"),
        (None, ..., "/v"),
        (ANY, ..., "/v"),
        (OMIT, None, "/v"),
        (1, ..., "/v"),
        ([1, 2], [2, 1], "/v/0"),
        ([1], [1, 1], "/v"),
        ([1], (1,), "/v"),
        ({"a": 1}, [1], "/v"),
        ({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, "/v/a~1b/~0"),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}, "/v/a/0/c"),
        (10**400, 1.5, "/v"),
        (approx(1.5), 10**400, "/v"),
        (approx(100, rel=0.01), 102, "/v"),
        (approx(1), True, "/v"),
        (regex("[a-z]+"), "abc1", "/v"),
        (regex("1"), 1, "/v"),
        (text("x", strip=True), 5, "/v"),
        (unordered([1, 1]), [1, 2], "/v"),
        (unordered([1, 1]), [1], "/v"),
        (unordered([1]), 1, "/v"),
        (predicate(lambda value: value > 3), 3, "/v"),
        (one_of(1, OMIT), 2, "/v"),
        (Literal({"$any": True}), {"$any": False}, "/v/$any"),
    ],
)
def test_what_does_not_match_says_where(expected: Any, actual: Any, pointer: str) -> None:
    found = pointers({"v": expected}, {} if actual is ... else {"v": actual})
    assert found[0] == pointer


def test_an_invented_argument_is_a_difference() -> None:
    # thinking-machines-lab/tinker-cookbook#937
    assert pointers({"a": 1}, {"a": 1, "b": 2}) == ["/b"]
    assert pointers({"a": 1}, {"a": 1, "b": 2}, Rules(extra_args="ignore")) == []
    # Under `unordered` too, an extra one that is allowed stays allowed.
    both = Rules(extra_args="ignore", unordered=True)
    assert pointers({"a": [{"x": 1}, {"y": 2}]}, {"a": [{"y": 2}, {"x": 1, "z": 3}], "b": 2}, both) == []


@pytest.mark.parametrize("expected", [{}, {"unit": "C"}, {"unit": OMIT}, {"unit": one_of("C", OMIT)}])
def test_a_default_said_and_a_default_left_out_are_the_same(expected: dict[str, Any]) -> None:
    # aisa-group/PostTrainBench#63
    assert pointers(expected, {}, schema=SCHEMA) == []
    assert pointers(expected, {"unit": "C"}, schema=SCHEMA) == []
    assert pointers(expected, {"unit": "F"}, schema=SCHEMA) == ["/unit"]


def test_defaults_hold_where_a_reference_leads_and_can_be_switched_off() -> None:
    assert pointers({"at": {}}, {"at": {"lat": 0}}, schema=SCHEMA) == []
    assert pointers({"maybe": {"lat": 0}}, {"maybe": {}}, schema=SCHEMA) == []
    assert pointers({}, {"maybe": None}, schema=SCHEMA) == []
    assert pointers({"unit": "C"}, {}, Rules(defaults=False), SCHEMA) == ["/unit"]
    assert pointers({}, {"unit": "C"}, Rules(defaults=False), SCHEMA) == ["/unit"]


def test_a_whole_number_is_a_float_only_where_the_schema_says_number() -> None:
    assert pointers({"at": {"lat": 5}}, {"at": {"lat": 5.0}}, schema=SCHEMA) == []
    assert pointers({"days": 5}, {"days": 5.0}, schema=SCHEMA) == ["/days"]
    assert pointers({"at": {"n": 5.0}}, {"at": {"n": 5}}, schema=SCHEMA) == ["/at/n"]


def test_the_rules_of_a_case_hold_everywhere() -> None:
    rules = Rules(casefold=True, strip=True, collapse=True, nfc=True, abs=0.5, unordered=True)
    assert pointers({"v": [{"a": "X  é"}, 1.0]}, {"v": [1.4, {"a": " x e\u0301 "}]}, rules) == []


def test_a_model_s_instance_is_the_json_that_it_was_made_of() -> None:
    class Event(BaseModel):
        day: dt.date
        hours: int = 8

    assert args_match({"day": "2026-01-02"}, Event(day=dt.date(2026, 1, 2))) == []
    assert pointers({"day": "2026-01-03"}, Event(day=dt.date(2026, 1, 2), hours=8)) == ["/day", "/hours"]


def test_a_difference_is_a_sentence() -> None:
    (difference,) = args_match({"city": one_of("Oslo", "Bergen")}, {"city": "Paris"})
    assert str(difference) == "/city: expected 'Oslo' or 'Bergen', got 'Paris'"
    (difference,) = args_match({"text": "x"}, {"text": "y" * 10_000})
    assert len(str(difference)) < 200


def test_a_predicate_answers_with_a_bool() -> None:
    with pytest.raises(TypeError, match="must return a bool"):
        args_match({"v": predicate(lambda _: 1)}, {"v": 1})  # type: ignore[arg-type, return-value]
    again = Case.model_validate_json(Case("q", "t", {"v": predicate(bool, "truth")}).model_dump_json())
    assert again.expected_args is not None
    with pytest.raises(TypeError, match="predicate truth was read from JSON"):
        args_match(again.expected_args, {"v": 1})


@given(st.integers(0, 5), st.integers(0, 5), st.data())
def test_as_many_pairs_as_there_can_be(wanted: int, offered: int, data: st.DataObject) -> None:
    edges = data.draw(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4))))
    partner = match_all(wanted, offered, lambda one, other: (one, other) in edges)
    taken = [other for other in partner if other is not None]
    assert len(set(taken)) == len(taken)
    assert all((one, other) in edges for one, other in enumerate(partner) if other is not None)
    padded = [*range(offered), *[None] * wanted]
    best = max(
        (sum((one, other) in edges for one, other in enumerate(tried)) for tried in permutations(padded, wanted)),
        default=0,
    )
    assert len(taken) == best


def test_long_lists_are_matched_without_recursion() -> None:
    # Each fits the one of its own number and the one before: a chain through all of them.
    partner = match_all(1_200, 1_200, lambda one, other: other in (one - 1, one) if one else other == 1_199)
    assert sorted(other for other in partner if other is not None) == list(range(1_200))


@pytest.mark.parametrize("kind", ["integer", ["integer", "null"]])
def test_a_whole_number_that_may_be_null_is_still_whole(kind: Any) -> None:
    schema = {"properties": {"n": {"type": kind}, "x": {"type": ["integer", "number"]}}}
    (difference,) = args_match({"n": 5, "x": 5}, {"n": 5.0, "x": 5.0}, schema=schema)
    assert str(difference) == "/n: expected 5, got 5.0: the schema says integer"
