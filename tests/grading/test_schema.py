from __future__ import annotations

import datetime as dt
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from recovery import Tool
from recovery.grading import SchemaError, Schemas
from recovery.grading.schema import Extra, Validation

DRAFT7 = "http://json-schema.org/draft-07/schema#"
FORECAST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1},
        "unit": {"type": ["string", "null"], "enum": ["C", "F", None]},
        "at": {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]},
        "exact": {"type": "boolean"},
        "more": {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}},
    },
    "required": ["city"],
}


class Forecast(BaseModel):
    city: str
    days: int = 1
    since: dt.date | None = None
    of: str = Field(default="x", alias="from")


def check(schema: Any, args: dict[str, Any], validation: Validation = "strict", extra: Extra = "forbid") -> Any:
    return Schemas(None, [Tool("f", "", schema)], validation=validation, extra=extra).check("f", args)


@pytest.mark.parametrize(
    "args",
    [
        {"city": "Oslo"},
        {"city": "Oslo", "days": 3, "unit": None, "at": 1.5, "exact": False, "more": {"tags": ["a"], "else": 1}},
        {"city": "Oslo", "at": [1, 2.5], "unit": "C"},
        {"city": "Oslo", "days": 3.0},  # a whole number of JSON Schema
    ],
)
def test_what_fits(args: dict[str, Any]) -> None:
    checked = check(FORECAST, args)
    assert (checked.valid, checked.coercible, checked.problems) == (True, False, ())
    assert checked.instance is args


@pytest.mark.parametrize(
    ("args", "pointers"),
    [
        ({}, [""]),
        ({"city": 5}, ["/city"]),
        ({"city": "Oslo", "days": True}, ["/days"]),
        ({"city": "Oslo", "days": 0}, ["/days"]),
        ({"city": "Oslo", "unit": "K"}, ["/unit"]),
        ({"city": "Oslo", "unit": "c"}, ["/unit"]),
        ({"city": "Oslo", "at": [1, "x"]}, ["/at"]),
        ({"city": "Oslo", "more": {"tags": [None]}}, ["/more/tags/0"]),
        ({"city": "Oslo", "a/b~": 1}, [""]),
    ],
)
def test_what_does_not_fit_says_where(args: dict[str, Any], pointers: list[str]) -> None:
    checked = check(FORECAST, args)
    assert not checked.valid
    assert checked.instance is None
    assert [problem.pointer for problem in checked.problems] == pointers


@pytest.mark.parametrize(
    ("given", "coerced"),
    [
        ({"city": 5}, {"city": "5"}),
        ({"city": "Oslo", "days": " 3 "}, {"city": "Oslo", "days": 3}),
        ({"city": "Oslo", "exact": "True"}, {"city": "Oslo", "exact": True}),
        ({"city": "Oslo", "exact": 0}, {"city": "Oslo", "exact": False}),
        ({"city": "Oslo", "at": "1.5"}, {"city": "Oslo", "at": 1.5}),
        ({"city": "Oslo", "at": ["1", 2]}, {"city": "Oslo", "at": [1, 2]}),
        ({"city": "Oslo", "more": '{"tags": ["a", 1]}'}, {"city": "Oslo", "more": {"tags": ["a", "1"]}}),
    ],
)
def test_what_only_lax_validation_takes_is_coercible(given: dict[str, Any], coerced: dict[str, Any]) -> None:
    before = repr(given)
    strict = check(FORECAST, given)
    assert (strict.valid, strict.coercible, strict.instance) == (False, True, None)
    lax = check(FORECAST, given, "lax")
    assert (lax.valid, lax.coercible, lax.instance) == (True, True, coerced)
    assert repr(given) == before


@pytest.mark.parametrize(
    "args",
    [
        {"city": "Oslo", "days": "three"},
        {"city": "Oslo", "days": "0"},
        {"city": "Oslo", "days": 1.5},
        {"city": None},
        {"city": "Oslo", "exact": "yes"},
        {"city": "Oslo", "at": "1e999"},
        {"city": "Oslo", "town": "5"},
    ],
)
def test_what_even_lax_validation_refuses(args: dict[str, Any]) -> None:
    for validation in ("strict", "lax"):
        checked = check(FORECAST, args, validation)
        assert (checked.valid, checked.coercible) == (False, False)


@pytest.mark.parametrize(
    ("spelled", "good", "bad"),
    [
        ({"type": "dict", "properties": {"x": {"type": "float"}}}, {"x": 1.5}, {"x": "y"}),
        ({"type": "OBJECT", "properties": {"x": {"type": "STRING", "nullable": True}}}, {"x": None}, {"x": 1}),
        ({"type": "dict", "properties": {"x": {"type": "tuple", "items": {"type": "int"}}}}, {"x": [1]}, {"x": [""]}),
        ({"type": "dict", "properties": {"x": {"type": "any"}}}, {"x": [None]}, {"y": 1}),
        ({"properties": {"x": {"type": "HashMap"}}}, {"x": {}}, {"x": []}),
        ({"properties": {"x": {"type": ["string", "null"]}}}, {"x": None}, {"x": 0}),
        (
            {"type": "dict", "properties": {"x": {"enum": ["type", {"type": "dict"}]}}},
            {"x": {"type": "dict"}},
            {"x": 1},
        ),
    ],
)
def test_types_of_other_spellings(spelled: dict[str, Any], good: dict[str, Any], bad: dict[str, Any]) -> None:
    assert check(spelled, good).valid
    assert not check(spelled, bad).valid


def test_an_argument_that_the_tool_does_not_have() -> None:
    args = {"city": "Oslo", "planet": "Earth"}
    assert not check(FORECAST, args).valid
    assert check(FORECAST, args, extra="allow").valid
    assert check({**FORECAST, "additionalProperties": True}, args).valid
    assert check({}, args).valid
    assert not Schemas(Forecast).check("f", args).valid
    assert Schemas(Forecast, extra="allow").check("f", args).valid
    assert Schemas(type("Open", (Forecast,), {"model_config": ConfigDict(extra="ignore")})).check("f", args).valid


def test_a_pydantic_model_validates_json() -> None:
    schemas = Schemas(Forecast)
    checked = schemas.check("any tool", {"city": "Oslo", "since": "2026-01-02", "from": "y"})
    assert checked.instance == Forecast.model_validate({"city": "Oslo", "since": dt.date(2026, 1, 2), "from": "y"})
    strict = schemas.check("f", {"city": "Oslo", "days": "3"})
    assert (strict.valid, strict.coercible) == (False, True)
    assert [problem.pointer for problem in strict.problems] == ["/days"]
    lax = Schemas(Forecast, validation="lax").check("f", {"city": "Oslo", "days": "3"})
    assert (lax.valid, lax.coercible, lax.instance.days) == (True, True, 3)
    assert not schemas.check("f", {"city": "Oslo", "days": "x"}).coercible


def test_a_schema_a_tool_and_the_offered_one_where_none_is_given() -> None:
    tools = [Tool("f", "", FORECAST), Tool("g", "", {"properties": {"n": {"type": "integer"}}})]
    schemas = Schemas({"f": Forecast}, tools)
    assert isinstance(schemas.check("f", {"city": "Oslo"}).instance, Forecast)
    assert schemas.check("g", {"n": 1}).instance == {"n": 1}
    assert not schemas.check("g", {"n": ""}).valid
    assert schemas.names == {"f", "g"}
    assert Schemas(FORECAST).check("whatever", {"city": "Oslo"}).valid
    assert Schemas({}, tools).check("g", {"n": ""}).valid is False
    assert Schemas({"properties": {"type": "object"}}, ["properties"]).check("properties", {}).valid


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "strnig"}, "schema of f: /type: 'strnig' is no type of JSON Schema"),
        ({"properties": {"x": {"type": 5}}}, "schema of f: /properties/x/type: a type is a name"),
        ({"properties": []}, "schema of f: /properties: must be an object"),
        ({"properties": {"x": "string"}}, "schema of f: /properties/x: a schema must be an object"),
        ({"anyOf": {}}, "schema of f: /anyOf: must be a list"),
        ({"required": "x"}, "schema of f: /required: 'x' is not of type 'array'"),
        ({"properties": {"x": {"$ref": "#/$defs/none"}}}, "schema of f: a reference that leads nowhere"),
        ({"properties": {"x": {"$ref": "http://127.0.0.1:9/s.json"}}}, "schema of f: a reference that leads nowhere"),
        ({"properties": {"x": {"pattern": "("}}}, "schema of f: "),
        ({"$ref": "#"}, "schema of f: a reference to itself"),
    ],
)
def test_a_schema_that_can_not_be_used_is_named_with_its_place(schema: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        check(schema, {"x": "y"})
    assert str(caught.value).startswith(said)


def test_a_reference_is_never_fetched() -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever).start()
        reference = f"http://127.0.0.1:{server.server_port}/s.json"
        with pytest.raises(SchemaError, match="a reference that leads nowhere"):
            check({"properties": {"x": {"$ref": reference}}}, {"x": 1})
        server.shutdown()
    assert asked == []


def test_what_is_no_schema_is_a_caller_s_mistake() -> None:
    for wrong in (5, "x", [FORECAST], {"f": 5}, {"f": str}):
        with pytest.raises(TypeError):
            Schemas(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="validation"):
        Schemas(validation="loose")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="extra"):
        Schemas(extra="no")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        # Of arguments that may be left out: or else the first answer that gives one would find it.
        ({"properties": {"x": {"$ref": "#/$defs/none"}}}, "a reference that leads nowhere"),
        ({"properties": {"x": {"items": [{"$ref": "#none"}]}}, "$schema": DRAFT7}, "a reference that leads nowhere"),
        ({"properties": {"x": {"$ref": "other.json"}}}, "a reference that leads nowhere"),
        ({"$schema": 5}, "/$schema: must be a text"),
    ],
)
def test_what_no_answer_should_find_is_found_when_made_ready(schema: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(f"schema of f: {said}")):
        Schemas(None, [Tool("f", "", schema)]).ready()


def test_references_that_lead_somewhere() -> None:
    for schema in (
        {"properties": {"x": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": {"$anchor": "n"}, "c": {"$ref": "#n"}}},
        {"properties": {"x": {"$ref": "#/definitions/t"}}, "definitions": {"t": {}}, "$schema": DRAFT7},
        {"$id": "http://a.b/", "properties": {"x": {"$ref": "c.json"}}, "$defs": {"c": {"$id": "c.json"}}},
        {"properties": {"x": {"enum": [{"$ref": "#/none"}], "default": {"$ref": "#/none"}}, "$ref": {}}},
    ):
        assert check(schema, {}).valid
        Schemas(None, [Tool("f", "", schema)]).ready()


def test_all_schemas_can_be_made_ready_before_the_first_answer() -> None:
    Schemas(None, [Tool("f", "", FORECAST)]).ready()
    with pytest.raises(SchemaError, match="schema of g"):
        Schemas(None, [Tool("f", "", FORECAST), Tool("g", "", {"type": "x"})]).ready()


@pytest.mark.parametrize("text", ['{"x": 2, "x": 1}', '{"x": NaN}', '[{"x": -Infinity}]', "{"])
def test_json_in_a_string_is_coerced_as_strictly_as_arguments_are_read(text: str) -> None:
    inner = {"type": "object", "properties": {"x": {"type": "number"}}}
    schema = {"properties": {"o": inner, "l": {"type": "array", "items": inner}}}
    checked = check(schema, {"l" if text[0] == "[" else "o": text}, "lax")
    assert (checked.valid, checked.coercible) == (False, False)
    assert check(schema, {"o": '{"x": 1}', "l": '[{"x": 2}]'}, "lax").instance == {"o": {"x": 1}, "l": [{"x": 2}]}
