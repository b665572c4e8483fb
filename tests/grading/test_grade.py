from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from recovery import Policy, Reason, Toolset
from recovery.grading import (
    OMIT,
    OUTCOMES,
    Case,
    CheckError,
    Detail,
    ExpectedCall,
    Grade,
    Grader,
    Outcome,
    Rules,
    SchemaError,
    Verdict,
    args_match,
    grade,
    grade_answer,
    one_of,
)

WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
        "required": ["city"],
    },
}
SEARCH: dict[str, Any] = {
    "name": "web_search",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
PING = {"name": "ping", "parameters": {"type": "object", "properties": {}}}
TOOLS = Toolset([WEATHER, SEARCH, PING], aliases={"get.weather": "get_weather"})
OSLO = Case("Weather in Oslo?", "get_weather", {"city": "Oslo"})
CHAT = Case("Good morning!")


class Weather(BaseModel):
    city: str
    days: int = 1


def graded(case: Case, answer: Any, **more: Any) -> Grade:
    return grade_answer(case, answer, tools=TOOLS, **more)


# The plain signatures, as written.


@pytest.mark.parametrize(
    ("case", "tool_name", "raw_args", "outcome"),
    [
        (OSLO, None, None, Outcome.NO_CALL),
        (CHAT, None, None, Outcome.CORRECT),
        (CHAT, "get_weather", '{"city": "Oslo"}', Outcome.SPURIOUS_CALL),
        (OSLO, "web_search", '{"city": "Oslo"}', Outcome.WRONG_TOOL),
        (OSLO, "get_weather", '{"town": "Oslo"}', Outcome.INVALID_ARGS),
        (OSLO, "get_weather", '{"city": "Oslo"', Outcome.INVALID_ARGS),
        (OSLO, "get_weather", {"city": "Bergen"}, Outcome.VALID_BUT_WRONG),
        (OSLO, "get_weather", '{"city": "Oslo"}', Outcome.CORRECT),
        (OSLO, "get_weather", {"city": "Oslo", "days": 1}, Outcome.CORRECT),
    ],
)
@pytest.mark.parametrize("arg_schema", [Weather, WEATHER["parameters"], {"get_weather": Weather, "web_search": {}}])
def test_the_plain_signature(
    case: Case, tool_name: str | None, raw_args: Any, outcome: Outcome, arg_schema: Any
) -> None:
    def is_right(case: Case, args: Any) -> bool:
        assert case.expected_args is not None
        city: str = args["city"] if isinstance(args, dict) else args.city
        return city == str(case.expected_args["city"])

    assert grade(case, tool_name, raw_args, arg_schema, is_right) is outcome
    assert grade(case, tool_name, raw_args, arg_schema, None) is outcome


def test_the_check_gets_the_validated_instance() -> None:
    seen: list[Any] = []

    def check(case: Case, args: Any) -> bool:
        seen.append((case.expected_tool, args))
        return case.expected_args == {"city": "Oslo"}

    assert grade(OSLO, "get_weather", '{"city": "Oslo"}', Weather, check) is Outcome.CORRECT
    assert grade(OSLO, "get_weather", '{"city": "Oslo"}', WEATHER["parameters"], check) is Outcome.CORRECT
    assert seen == [("get_weather", Weather(city="Oslo")), ("get_weather", {"city": "Oslo"})]


# What no call is.


def test_a_silent_answer() -> None:
    assert graded(OSLO, "It rains.") == Grade(outcome=Outcome.NO_CALL, detail=Detail.SILENT)
    assert graded(CHAT, "Good morning!") == Grade(outcome=Outcome.CORRECT, detail=Detail.SILENT)


def test_a_written_call_is_graded_as_the_call_it_is_and_marked() -> None:
    right = graded(OSLO, "[get_weather(city='Oslo')]")
    assert right == Grade(outcome=Outcome.CORRECT, called=("get_weather",), recovered=True)
    wrong = graded(OSLO, '{"name": "get_weather", "arguments": {"city": "Bergen"}}')
    assert (wrong.outcome, wrong.recovered) == (Outcome.VALID_BUT_WRONG, True)
    invalid = graded(OSLO, "get_weather(city=5)")
    assert (invalid.outcome, invalid.recovered) == (Outcome.INVALID_ARGS, True)
    assert not graded(OSLO, ("get_weather", {"city": "Oslo"})).recovered


def test_a_call_that_is_written_and_refused_is_no_call_with_its_reason() -> None:
    found = graded(OSLO, "get_weather(city=home.city)")
    assert (found.outcome, found.detail) == (Outcome.NO_CALL, Detail.WRITTEN_AND_REFUSED)
    assert found.reason == Reason.NOT_A_LITERAL.value
    assert found.differences[0].startswith("line 1, column")


def test_the_policy_says_what_is_read() -> None:
    text = "Sure: \n```python\nget_weather(city='Oslo')\n```"
    assert graded(OSLO, text).reason == Reason.NOT_ALLOWED.value
    assert graded(OSLO, text, policy=Policy.lenient()).outcome is Outcome.CORRECT


def test_a_refusal_of_the_model() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
    assert graded(OSLO, message) == Grade(outcome=Outcome.NO_CALL, detail=Detail.REFUSAL)
    assert graded(CHAT, message) == Grade(outcome=Outcome.CORRECT, detail=Detail.REFUSAL)


def test_an_answer_that_was_cut() -> None:
    def cut(text: str) -> dict[str, Any]:
        return {"choices": [{"finish_reason": "length", "message": {"role": "assistant", "content": text}}]}

    assert graded(OSLO, cut("Let me think")) == Grade(outcome=Outcome.NO_CALL, detail=Detail.TRUNCATED)
    whole = graded(OSLO, cut("get_weather(city='Oslo')"))
    assert (whole.outcome, whole.detail, whole.reason) == (Outcome.NO_CALL, Detail.TRUNCATED, "truncated")
    half = graded(OSLO, cut("get_weather(city='Os"))
    assert (half.outcome, half.detail, half.reason) == (Outcome.NO_CALL, Detail.TRUNCATED, "truncated")
    assert graded(CHAT, cut("get_weather(city='Os")).outcome is Outcome.SPURIOUS_CALL
    assert graded(CHAT, cut("Good mor")) == Grade(outcome=Outcome.CORRECT, detail=Detail.TRUNCATED)


@pytest.mark.parametrize("raw_args", ['{"city": "Os', '{"city": "Oslo"}', "{}"])
def test_a_call_of_the_api_that_was_cut_is_the_limits_fault(raw_args: str) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": raw_args}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    use = {"type": "tool_use", "name": "get_weather", "input": {}}
    answers: list[dict[str, Any]] = [
        {"choices": [{"finish_reason": "length", "message": message}]},
        # What Anthropic's client makes of a block that was cut.
        {"type": "message", "role": "assistant", "stop_reason": "max_tokens", "content": [use]},
    ]
    for answer in answers:
        cut = graded(OSLO, answer)
        assert (cut.outcome, cut.detail, cut.reason) == (Outcome.NO_CALL, Detail.TRUNCATED, "truncated")
        spurious = graded(CHAT, answer)
        assert (spurious.outcome, spurious.called) == (Outcome.SPURIOUS_CALL, ("get_weather",))


def test_an_attempt_where_no_call_was_wanted_is_spurious() -> None:
    # gorilla#1362, #443: a call that can't be read was credited as having abstained.
    for text in ("<tool_call>\n{'name': 'get_weather', 'arguments': {'city': \n</tool_call>", "get_weather(city=here)"):
        found = graded(CHAT, text)
        assert (found.outcome, found.detail) == (Outcome.SPURIOUS_CALL, Detail.WRITTEN_AND_REFUSED)
        assert found.reason is not None
    read = graded(CHAT, "get_weather(city='Oslo')")
    assert (read.outcome, read.recovered, read.called) == (Outcome.SPURIOUS_CALL, True, ("get_weather",))


def test_calls_of_the_api_win_over_what_is_written_beside_them() -> None:
    call = {"type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    message = {"role": "assistant", "content": "web_search(query='Oslo')", "tool_calls": [call]}
    assert graded(OSLO, message) == Grade(outcome=Outcome.CORRECT, called=("get_weather",))


# Tools.


def test_the_wrong_tool() -> None:
    other = graded(OSLO, ("web_search", {"query": "Oslo"}))
    assert (other.outcome, other.detail, other.called) == (Outcome.WRONG_TOOL, Detail.OTHER_TOOL, ("web_search",))
    unknown = graded(OSLO, ("weather", {"city": "Oslo"}))
    assert (unknown.outcome, unknown.detail, unknown.called) == (Outcome.WRONG_TOOL, Detail.UNKNOWN_TOOL, ("weather",))
    nameless = graded(OSLO, {"role": "assistant", "tool_calls": [{"id": "1"}]})
    assert (nameless.detail, nameless.differences) == (
        Detail.UNKNOWN_TOOL,
        ("/: expected get_weather, got a call without a name",),
    )
    # With one schema for all tools nobody knows which tools there are.
    plain = grade_answer(OSLO, ("weather", {"city": "Oslo"}), arg_schema=Weather)
    assert (plain.outcome, plain.detail) == (Outcome.WRONG_TOOL, None)


def test_an_alias_is_a_name_of_its_tool() -> None:
    assert graded(OSLO, ("get.weather", {"city": "Oslo"})).called == ("get_weather",)
    assert graded(OSLO, ("Get_Weather", {"city": "Oslo"})).detail is Detail.UNKNOWN_TOOL


def test_a_tool_that_is_not_offered_can_not_be_expected() -> None:
    with pytest.raises(ValueError, match="case c expects the tool 'get_wether', which is not offered"):
        graded(Case("q", "get_wether", id="c"), None)
    with pytest.raises(ValueError, match="expects the tool 'get_wether', which arg_schema does not map"):
        grade(Case("q", "get_wether"), None, None, {"get_weather": Weather}, None)


# Arguments.


@pytest.mark.parametrize("raw", [None, "", "  "])
def test_absent_arguments_are_flagged(raw: Any) -> None:
    assert graded(Case("q", "ping", {}), ("ping", raw)) == Grade(
        outcome=Outcome.CORRECT, called=("ping",), absent_arguments=True
    )
    found = graded(OSLO, ("get_weather", raw))
    assert (found.outcome, found.detail, found.absent_arguments) == (Outcome.INVALID_ARGS, Detail.NOT_COERCIBLE, True)


@pytest.mark.parametrize(
    "raw", ["null", "[]", [], 0, "city: Oslo", '{"city": "A", "city": "B"}', '{"city": NaN}', '"{}"']
)
def test_malformed_arguments_are_no_empty_call(raw: Any) -> None:
    for case in (Case("q", "ping"), OSLO):
        found = graded(case, (case.expected_tool, raw))
        assert (found.outcome, found.detail) == (Outcome.INVALID_ARGS, Detail.MALFORMED)
        assert found.differences[0].startswith("/: malformed arguments: ")


def test_strict_and_lax() -> None:
    answer = ("get_weather", {"city": "Oslo", "days": "1"})
    for arg_schema in (None, Weather):
        strict = graded(OSLO, answer, arg_schema=arg_schema)
        assert (strict.outcome, strict.detail, strict.coerced) == (Outcome.INVALID_ARGS, Detail.COERCIBLE, False)
        assert strict.differences[0].startswith("/days: ")
        lax = graded(OSLO, answer, arg_schema=arg_schema, validation="lax")
        assert (lax.outcome, lax.detail, lax.coerced) == (Outcome.CORRECT, None, True)
    assert graded(OSLO, ("get_weather", {"city": "Oslo", "days": "x"})).detail is Detail.NOT_COERCIBLE


def test_differences_have_their_place() -> None:
    found = graded(OSLO, ("get_weather", {"city": "Bergen", "days": 2}))
    assert found.differences == ("/city: expected 'Oslo', got 'Bergen'", "/days: is not expected; got 2")


def test_a_case_without_expected_arguments_takes_all_that_fit() -> None:
    assert graded(Case("q", "get_weather"), ("get_weather", {"city": "X"})).outcome is Outcome.CORRECT
    empty = graded(Case("q", "get_weather", {}), ("get_weather", {"city": "X"}))
    # UiPath/uipath-python#1735: empty expected arguments passed everything.
    assert empty.outcome is Outcome.VALID_BUT_WRONG


# The check.


def test_a_check_says_why() -> None:
    def check(case: Case, args: dict[str, Any]) -> Verdict:
        found = args_match(case.expected_args or {}, args)
        return Verdict(ok=not found, reasons=tuple(map(str, found)))

    found = graded(OSLO, ("get_weather", {"city": "Bergen"}), semantic_check=check)
    assert (found.outcome, found.differences) == (
        Outcome.VALID_BUT_WRONG,
        ("/: /city: expected 'Oslo', got 'Bergen'",),
    )
    no = graded(OSLO, ("get_weather", {"city": "Oslo"}), semantic_check=lambda case, _: case.expected_args is None)
    assert no.differences == ("/: the semantic check says no",)


@pytest.mark.parametrize("said", [None, 1, 0, "yes", [], ()])
def test_a_check_returns_a_bool_or_a_verdict(said: Any) -> None:
    with pytest.raises(CheckError, match="returns a bool or a Verdict"):
        graded(OSLO, ("get_weather", {"city": "Oslo"}), semantic_check=lambda _case, _args: said)


def test_a_pass_that_did_not_look_at_the_expected_arguments_is_an_error() -> None:
    with pytest.raises(CheckError, match="without looking at its expected arguments"):
        graded(OSLO, ("get_weather", {"city": "Bergen"}), semantic_check=lambda _case, _args: True)
    # Without expected arguments there is nothing to look at; a "no" needs no look.
    free = Case("q", "get_weather")
    assert graded(free, ("get_weather", {"city": "B"}), semantic_check=lambda _c, _a: True).outcome is Outcome.CORRECT
    no = graded(OSLO, ("get_weather", {"city": "B"}), semantic_check=lambda _c, _a: False)
    assert no.outcome is Outcome.VALID_BUT_WRONG
    whole = graded(OSLO, ("get_weather", {"city": "B"}), semantic_check=lambda case, _: bool(case.model_dump()))
    assert whole.outcome is Outcome.CORRECT


def test_what_a_check_raises_is_no_outcome() -> None:
    def check(_case: Case, args: dict[str, Any]) -> bool:
        return bool(args["town"])

    with pytest.raises(KeyError):
        graded(OSLO, ("get_weather", {"city": "Oslo"}), semantic_check=check)
    # Nor is it asked before the arguments fit.
    assert graded(OSLO, ("get_weather", {}), semantic_check=check).outcome is Outcome.INVALID_ARGS


def test_a_schema_that_can_not_be_used_is_no_outcome() -> None:
    with pytest.raises(SchemaError, match="schema of get_weather: /type"):
        grade(OSLO, "get_weather", {}, {"type": "objekt"}, None)


# Several calls.

TWO = Case("q", expected_calls=[ExpectedCall("ping"), ExpectedCall("get_weather", {"city": "Oslo"})])
SAME = Case("q", expected_calls=[{"tool": "get_weather", "args": {"city": "Oslo"}}] * 2)
W = "get_weather"
OSLO_ARGS, BERGEN = {"city": "Oslo"}, {"city": "Bergen"}


@pytest.mark.parametrize(
    ("case", "calls", "outcome", "detail", "each"),
    [
        (TWO, [("ping", None), (W, OSLO_ARGS)], "correct", None, "correct correct"),
        (TWO, [(W, OSLO_ARGS), ("ping", {})], "correct", None, "correct correct"),
        (TWO, [(W, OSLO_ARGS)], "wrong_tool", "wrong_count", ""),
        (TWO, [(W, OSLO_ARGS), ("ping", {}), ("ping", {})], "wrong_tool", "wrong_count", ""),
        (TWO, [(W, OSLO_ARGS), ("web_search", {})], "wrong_tool", "other_tool", ""),
        (TWO, [(W, OSLO_ARGS), ("pong", {})], "wrong_tool", "unknown_tool", ""),
        (TWO, [(W, {}), ("ping", {})], "invalid_args", "not_coercible", "invalid_args correct"),
        (TWO, [(W, "{"), ("ping", {})], "invalid_args", "malformed", "invalid_args correct"),
        (SAME, [(W, {"city": 1}), (W, {})], "invalid_args", "not_coercible", "invalid_args invalid_args"),
        (TWO, [(W, {"city": 1}), ("ping", {})], "invalid_args", "coercible", "invalid_args correct"),
        (TWO, [(W, BERGEN), ("ping", {})], "valid_but_wrong", None, "valid_but_wrong correct"),
        # confident-ai/deepeval#3141: two identical expected calls, both made, are both right
        (SAME, [(W, OSLO_ARGS), (W, OSLO_ARGS)], "correct", None, "correct correct"),
        # vibrantlabsai/ragas#1658: one call does not meet two
        (SAME, [(W, OSLO_ARGS)], "wrong_tool", "wrong_count", ""),
        (SAME, [(W, OSLO_ARGS), (W, BERGEN)], "valid_but_wrong", None, "correct valid_but_wrong"),
        # vibrantlabsai/ragas#1893: extra calls are not ignored
        (OSLO, [(W, OSLO_ARGS), (W, OSLO_ARGS)], "wrong_tool", "wrong_count", ""),
        (OSLO, [(W, OSLO_ARGS), ("web_search", {"query": "x"})], "wrong_tool", "other_tool", ""),
    ],
)
def test_several_calls(case: Case, calls: list[Any], outcome: str, detail: str | None, each: str) -> None:
    found = graded(case, calls)
    assert (found.outcome, found.detail, " ".join(found.each)) == (outcome, detail, each)


def test_calls_are_matched_as_a_whole_and_not_the_first_that_fits() -> None:
    # The first expected call takes either; whichever order they come in, the answer is right.
    case = Case("q", expected_calls=[ExpectedCall(W, {"city": one_of("A", "B")}), ExpectedCall(W, {"city": "A"})])
    for cities in ("AB", "BA"):
        assert graded(case, [(W, {"city": city}) for city in cities]).outcome is Outcome.CORRECT


def test_one_call_of_several_without_arguments_is_flagged() -> None:
    assert graded(TWO, [("ping", None), (W, OSLO_ARGS)]).absent_arguments
    assert not graded(TWO, [("ping", {}), (W, OSLO_ARGS)]).absent_arguments


def test_several_written_calls() -> None:
    found = graded(TWO, "[ping(), get_weather(city='Oslo')]")
    assert (found.outcome, found.recovered, found.called) == (Outcome.CORRECT, True, ("ping", W))


def test_differences_of_several_calls_name_the_call() -> None:
    assert graded(TWO, [("ping", {}), (W, BERGEN)]).differences == ("/1/city: expected 'Oslo', got 'Bergen'",)
    assert graded(TWO, [(W, "{"), ("ping", {})]).differences[0].startswith("/0: malformed")


def test_extra_and_duplicate_calls_by_rule() -> None:
    extra = OSLO.model_copy(update={"rules": Rules(calls="allow_extra")})
    assert graded(extra, [("web_search", "{"), (W, OSLO_ARGS), (W, BERGEN)]).outcome is Outcome.CORRECT
    assert graded(extra, [("web_search", {}), (W, BERGEN)]).outcome is Outcome.VALID_BUT_WRONG
    assert graded(extra, [("web_search", {})]).detail is Detail.OTHER_TOOL
    twice = OSLO.model_copy(update={"rules": Rules(calls="allow_duplicates")})
    assert graded(twice, [(W, OSLO_ARGS), (W, '{"city": "Oslo"}')]).outcome is Outcome.CORRECT
    assert graded(twice, [(W, OSLO_ARGS), (W, BERGEN)]).detail is Detail.WRONG_COUNT
    assert graded(twice, [(W, OSLO_ARGS), ("ping", {})]).detail is Detail.OTHER_TOOL
    assert graded(twice, [(W, "{"), (W, "{")]).detail is Detail.WRONG_COUNT


def test_the_order_of_calls_by_rule() -> None:
    ordered = TWO.model_copy(update={"rules": Rules(order="same")})
    assert graded(ordered, [("ping", {}), (W, OSLO_ARGS)]).outcome is Outcome.CORRECT
    swapped = graded(ordered, [(W, OSLO_ARGS), ("ping", {})])
    assert (swapped.outcome, swapped.differences) == (
        Outcome.VALID_BUT_WRONG,
        ("/: the calls stand in another order",),
    )
    loose = TWO.model_copy(update={"rules": Rules(order="same", calls="allow_extra")})
    assert graded(loose, [(W, OSLO_ARGS), ("ping", {}), ("web_search", {}), (W, OSLO_ARGS)]).outcome is Outcome.CORRECT


def test_an_accepted_alternative_is_as_good() -> None:
    case = Case(
        "q", W, OSLO_ARGS, accept=[{"tool": "web_search", "args": {"query": "Oslo"}}, [{"tool": "ping"}, {"tool": W}]]
    )
    assert graded(case, ("web_search", {"query": "Oslo"})).outcome is Outcome.CORRECT
    assert graded(case, [("ping", {}), (W, BERGEN)]).outcome is Outcome.CORRECT
    # Of several that are not met, the one that came nearest says what is wrong.
    assert graded(case, ("web_search", {"query": "x"})).outcome is Outcome.VALID_BUT_WRONG
    assert graded(case, ("ping", {})).outcome is Outcome.WRONG_TOOL


def test_a_check_is_asked_for_each_call_with_what_that_call_should_be() -> None:
    def check(case: Case, args: dict[str, Any]) -> bool:
        return (case.expected_tool, case.expected_args, case.expected_calls) == (W, args, ())

    case = Case("q", expected_calls=[ExpectedCall(W, OSLO_ARGS), ExpectedCall(W, BERGEN)])
    assert graded(case, [(W, BERGEN), (W, OSLO_ARGS)], semantic_check=check).outcome is Outcome.CORRECT
    assert graded(case, [(W, BERGEN), (W, BERGEN)], semantic_check=check).outcome is Outcome.VALID_BUT_WRONG


def test_a_grade_goes_through_json() -> None:
    found = graded(TWO, [("ping", {}), (W, BERGEN)])
    assert Grade.model_validate_json(found.model_dump_json()) == found


def test_every_outcome_can_be_had_and_one_grader_does_for_all() -> None:
    grader = Grader(TOOLS)
    omit = Case("q", W, {"city": "Oslo", "days": OMIT})
    answers = [
        (OSLO, None),
        (CHAT, ("ping", {})),
        (OSLO, ("ping", {})),
        (OSLO, (W, {})),
        (OSLO, (W, BERGEN)),
        (omit, (W, OSLO_ARGS)),
    ]
    assert tuple(grader.grade(case, answer).outcome for case, answer in answers) == OUTCOMES
    assert json.dumps(OUTCOMES[0]) == '"no_call"'
