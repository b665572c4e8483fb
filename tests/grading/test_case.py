from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from recovery.grading import ANY, OMIT, Case, ExpectedCall, approx, one_of, predicate, regex, text, unordered
from recovery.grading.matchers import Literal, decode, encode

ARGS: dict[str, Any] = {
    "city": one_of("Oslo", text("Bergen", casefold=True), OMIT),
    "near": approx(59.9, abs=0.1),
    "days": unordered(["mo", one_of("tu", "we")]),
    "code": regex("[A-Z]{3}"),
    "any": ANY,
    "none": OMIT,
    "nested": {"list": [1, ANY], "query": Literal({"$gt": 5})},
    "$filter": "an argument's own name may begin with the sign",
}


def test_a_case_takes_three_positional_arguments() -> None:
    case = Case("Weather in Oslo?", "get_weather", {"city": "Oslo"})
    assert (case.query, case.expected_tool, case.expected_args) == ("Weather in Oslo?", "get_weather", {"city": "Oslo"})
    assert case.expects_call
    assert case.alternatives == ((ExpectedCall("get_weather", {"city": "Oslo"}),),)
    assert not Case("Hello").expects_call
    assert Case("Hello").alternatives == ()


def test_its_id_is_made_of_the_query_and_its_cluster_is_its_id() -> None:
    assert Case("Hello").id == Case("Hello", "greet").id != Case("Hello!").id
    assert Case("Hello").cluster == Case("Hello").id
    assert Case("Hello", id="h").cluster == "h"
    assert Case("Hello", id="h", cluster="greetings").cluster == "greetings"


def test_a_case_goes_through_json_and_back() -> None:
    case = Case("q", "t", ARGS, accept=[{"tool": "u", "args": {"x": {"$any": True}}}, [{"tool": "v"}, {"tool": "v"}]])
    again = Case.model_validate_json(case.model_dump_json())
    assert again == case
    assert again.alternatives == (
        (ExpectedCall("t", ARGS),),
        (ExpectedCall("u", {"x": ANY}),),
        (ExpectedCall("v"), ExpectedCall("v")),
    )


def test_a_predicate_keeps_its_name() -> None:
    case = Case("q", "t", {"n": predicate(lambda n: n > 3, "above three")})
    assert Case.model_validate_json(case.model_dump_json()).expected_args == case.expected_args


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"query": "q", "expected_args": {"a": 1}}, "expects no tool has no arguments"),
        ({"query": "q", "expected_tool": "t", "expected_calls": [{"tool": "t"}]}, "give one of the two"),
        ({"query": "q", "accept": [{"tool": "t"}]}, "expects no call has no other calls"),
        ({"query": "q", "expected_tool": "t", "accept": [[]]}, "accept.0"),
        ({"query": "q", "expected_tool": ""}, "expected_tool"),
        ({"query": "q", "expected_tol": "t"}, "expected_tol\n  Extra inputs"),
        ({"expected_tool": "t"}, "query\n  Field required"),
        ({"query": "q", "expected_calls": [{"args": {}}]}, "expected_calls.0.tool\n  Field required"),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$aprox": 1}}}, "$aprox: no matcher"),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$approx": "1"}}}, "must be a number"),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$approx": 1, "ref": 2}}}, "not ref"),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$approx": 1, "abs": -2}}}, "not negative"),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$regex": "("}}}, "is no pattern"),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$one_of": []}}}, "at least one"),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$one_of": 5}}}, "$one_of takes a list"),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$any": 1}}}, '{"$any": true}'),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$text": 1}}}, "expected a str"),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$text": "x", "strip": "yes"}}}, "true or false"),
        ({"query": "q", "expected_tool": "t", "expected_args": {"a": {"$unordered": "ab"}}}, "$unordered takes a list"),
        ({"query": "q", "expected_tool": "t", "expected_args": [1]}, "expected_args\n  Input should be a valid dict"),
    ],
)
def test_what_does_not_go_together_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(said)):
        Case.model_validate(fields)


def test_decode_is_the_inverse_of_encode() -> None:
    assert decode(encode(ARGS["nested"])) == decode(decode(encode(ARGS["nested"]))) == ARGS["nested"]
