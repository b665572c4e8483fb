"""Faults of other harnesses, as their public issues tell them: each with its number, and none of them here.

What concerns one module alone stands in its own tests, with the number beside it.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from recovery.grading import Case, CheckError, Detail, ExpectedCall, Grader, Outcome, Rules, approx

TOOLS = [
    {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "number"}, "unit": {"default": "C"}}}},
    {"name": "g", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}},
    {"name": "math_sum", "parameters": {"type": "object", "properties": {"of": {"type": "array"}}}},
]
GRADER = Grader(TOOLS)
NONE = Case("Tell me a joke.")


def outcome(case: Case, answer: Any, grader: Grader = GRADER) -> Outcome:
    return grader.grade(case, answer).outcome


def test_gorilla_1362_443_an_unreadable_call_is_not_an_abstention() -> None:
    grade = GRADER.grade(NONE, '<tool_call>\n{"name": "f", "arguments": {"x": 1')
    assert (grade.outcome, grade.detail) == (Outcome.SPURIOUS_CALL, Detail.WRITTEN_AND_REFUSED)


@pytest.mark.parametrize("name", ["parallel", "format_sensitivity", "simple", "irrelevance"])
def test_gorilla_1215_what_a_case_is_called_does_not_choose_how_it_is_graded(name: str) -> None:
    case = Case("q", expected_calls=[ExpectedCall("f", {"x": 1}), ExpectedCall("g", {"x": 2})], id=name, tags=(name,))
    assert outcome(case, [("g", {"x": 2}), ("f", {"x": 1})]) is Outcome.CORRECT
    assert outcome(case, ("f", {"x": 1})) is Outcome.WRONG_TOOL


def test_gorilla_a_call_under_two_names_hides_nothing() -> None:
    assert outcome(Case("q", "f", {"x": 1}), [("f", {"x": 1}), ("g", {"x": 1})]) is Outcome.WRONG_TOOL


def test_aiperf_1318_a_fault_of_the_checker_is_raised_and_not_recorded_as_unparsed() -> None:
    def check(_case: Case, _args: Any) -> bool:
        raise KeyError("model-without-a-table")

    with pytest.raises(KeyError):
        outcome(Case("q", "f", {"x": 1}), ("f", {"x": 1}), Grader(TOOLS, semantic_check=check))


def test_au_harness_31_scalars_are_compared() -> None:
    assert outcome(Case("q", "g", {"x": 10}), ("g", {"x": 999})) is Outcome.VALID_BUT_WRONG


def test_tinker_cookbook_937_invented_arguments_are_not_accepted() -> None:
    assert outcome(Case("q", "f", {"x": 1}), ("f", {"x": 1, "z": 1})) is Outcome.INVALID_ARGS
    assert outcome(Case("q", "f", {"x": 1}), ("f", {"x": 1, "z": 1}), Grader(TOOLS, extra="allow")) is (
        Outcome.VALID_BUT_WRONG
    )


def test_posttrainbench_63_a_default_said_and_one_left_out_are_the_same() -> None:
    for expected in ({"x": 1}, {"x": 1, "unit": "C"}):
        for given in ({"x": 1}, {"x": 1, "unit": "C"}):
            assert outcome(Case("q", "f", expected), ("f", given)) is Outcome.CORRECT


@pytest.mark.parametrize("answer", [None, "", "Why did the parser cross the road?", (None, None), (None, {})])
def test_ai_twinkle_eval_138_endpoints_346_who_rightly_calls_nothing_is_correct(answer: Any) -> None:
    assert outcome(NONE, answer) is Outcome.CORRECT
    assert outcome(Case("q", "f"), answer) is Outcome.NO_CALL
    assert outcome(NONE, ("f", {})) is Outcome.SPURIOUS_CALL


def test_deepeval_3141_3338_identical_calls_and_the_order_of_the_expected_ones() -> None:
    calls = [ExpectedCall("f", {"x": 1}), ExpectedCall("f", {"x": 1}), ExpectedCall("g", {"x": 2})]
    answers = [("f", {"x": 1}), ("f", {"x": 1}), ("g", {"x": 2})]
    for expected in permutations(calls):
        for given in permutations(answers):
            assert outcome(Case("q", expected_calls=expected), list(given)) is Outcome.CORRECT


def test_deepeval_3014_the_order_counts_where_it_is_asked_for() -> None:
    calls = [ExpectedCall("f", {"x": 1}), ExpectedCall("g", {"x": 2})]
    case = Case("q", expected_calls=calls, rules=Rules(order="same"))
    assert outcome(case, [("f", {"x": 1}), ("g", {"x": 2})]) is Outcome.CORRECT
    assert outcome(case, [("g", {"x": 2}), ("f", {"x": 1})]) is Outcome.VALID_BUT_WRONG


def test_deepeval_no_arguments_and_an_empty_object_are_compared_and_do_not_raise() -> None:
    assert outcome(Case("q", "f", {}), ("f", None)) is Outcome.CORRECT
    assert outcome(Case("q", "f", {"x": 1}), ("f", None)) is Outcome.VALID_BUT_WRONG


def test_ragas_2079_values_are_not_compared_as_texts() -> None:
    assert outcome(Case("q", "g", {"x": 1}), ("g", {"x": "1"})) is Outcome.INVALID_ARGS
    untyped = Grader(["g"])
    assert outcome(Case("q", "g", {"x": 1}), ("g", {"x": "1"}), untyped) is Outcome.VALID_BUT_WRONG
    assert outcome(Case("q", "g", {"x": 1}), ("g", {"x": True}), untyped) is Outcome.VALID_BUT_WRONG


def test_adk_5410_3439_4794_1591_arguments_ignored_a_tolerance_and_their_order() -> None:
    assert outcome(Case("q", "g"), ("g", {"x": 5})) is Outcome.CORRECT
    assert outcome(Case("q", "f", {"x": approx(3.14, abs=0.01)}), ("f", {"x": 3.14159})) is Outcome.CORRECT
    assert outcome(Case("q", "g", {"x": 1, "y": 2}), ("g", '{"y": 2, "x": 1}')) is Outcome.CORRECT


@pytest.mark.parametrize(
    "tool_calls", [[{"id": "1"}], [{"function": None}], [None], ["f"], "f", {"function": {}}, [{"function": "f"}]]
)
def test_promptfoo_10076_10649_499_a_broken_entry_is_a_call_without_a_name(tool_calls: Any) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": tool_calls}
    grade = GRADER.grade(Case("q", "f"), message)
    assert (grade.outcome, grade.detail) == (Outcome.WRONG_TOOL, Detail.UNKNOWN_TOOL)
    assert outcome(NONE, message) is Outcome.SPURIOUS_CALL


@pytest.mark.parametrize("raw", [None, "", "{}", {}])
def test_agent_framework_8609_7734_a_call_without_arguments(raw: Any) -> None:
    assert outcome(Case("q", "f", {}), ("f", raw)) is Outcome.CORRECT


@pytest.mark.parametrize("raw", ["null", [], "[]", "x=1", 0, False, '{"x": 1', '"{}"'])
def test_agentic_starter_kits_59_what_is_no_object_is_no_call_without_arguments(raw: Any) -> None:
    assert outcome(Case("q", "f", {}), ("f", raw)) is Outcome.INVALID_ARGS


def test_uipath_1735_empty_expected_arguments_do_not_pass_everything() -> None:
    assert outcome(Case("q", "f", {}), ("f", {"x": 1})) is Outcome.VALID_BUT_WRONG
    with pytest.raises(CheckError):
        outcome(Case("q", "f", {}), ("f", {"x": 1}), Grader(TOOLS, semantic_check=lambda _case, _args: True))
