"""Whatever a model writes, or an API makes of it, has one outcome; and what says the same has the same one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recovery import Toolset
from recovery.grading import Answer, Case, ExpectedCall, Grader, Outcome, Rules

TOOLS = Toolset(
    [
        {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "s": {"type": ["string", "null"], "default": "C"}},
                "required": ["x"],
            },
        },
        {"name": "g", "parameters": {"properties": {"items": {"type": "array", "items": {"type": "number"}}}}},
    ]
)
STRICT, LAX = Grader(TOOLS), Grader(TOOLS, validation="lax")
CASES = [
    Case("none"),
    Case("one", "f", {"x": 1}),
    Case("two", expected_calls=[ExpectedCall("f", {"x": 1}), ExpectedCall("g")]),
    Case("extra", "f", {"x": 1}, rules=Rules(calls="allow_extra")),
    Case("twice", "f", {"x": 1}, rules=Rules(calls="allow_duplicates")),
    Case("order", expected_calls=[ExpectedCall("f"), ExpectedCall("f", {"x": 2})], rules=Rules(order="same")),
]
SCALAR = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["1", "C", "", "true", "[1]"])
JSON = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xsk"), inner))
# Of the tools as they are, or nearly; or anything.
GOOD = st.fixed_dictionaries(
    {"x": st.integers(1, 2) | st.just("1")}, optional={"s": st.sampled_from([None, "C", 1])}
) | st.fixed_dictionaries({}, optional={"items": st.lists(st.integers(0, 1) | st.just("1"), max_size=2)})
ARGS = GOOD | st.dictionaries(st.sampled_from(["x", "s", "items", "k"]), JSON, max_size=3)
RAW = GOOD | ARGS | JSON | st.text(max_size=8) | ARGS.map(json.dumps)
NAMES = st.sampled_from(["f", "f", "f", "g", "g", "h", ""])
CALLS = st.lists(st.tuples(NAMES, RAW), max_size=4)
TEXTS = st.text(max_size=20) | st.text(alphabet="fgx=1()[]{}'\", \n", max_size=20)


@given(st.sampled_from(CASES), CALLS | TEXTS)
def test_every_answer_has_one_outcome(case: Case, answer: Any) -> None:
    for grader in (STRICT, LAX):
        grade = grader.grade(case, answer)
        if not case.expects_call:
            assert grade.outcome in (Outcome.CORRECT, Outcome.SPURIOUS_CALL)
        else:
            assert grade.outcome is not Outcome.SPURIOUS_CALL
            assert (grade.outcome is Outcome.NO_CALL) == (not grade.called)
        assert (grade.outcome is Outcome.CORRECT) <= (not grade.differences)
        assert not grade.coerced or grader is LAX


@given(st.sampled_from(CASES), CALLS)
def test_lax_validation_only_moves_invalid_arguments(case: Case, calls: Any) -> None:
    strict, lax = STRICT.grade(case, calls), LAX.grade(case, calls)
    if strict.outcome is not Outcome.INVALID_ARGS:
        assert lax.outcome is strict.outcome
    elif lax.outcome is Outcome.INVALID_ARGS:
        assert strict.detail != "coercible"


@given(st.sampled_from([case for case in CASES if case.rules.order == "any"]), CALLS, st.randoms())
def test_the_order_of_calls_says_nothing_unless_asked(case: Case, calls: list[Any], random: Any) -> None:
    shuffled = random.sample(calls, len(calls))
    one, other = STRICT.grade(case, calls), STRICT.grade(case, shuffled)
    assert (one.outcome, one.detail) == (other.outcome, other.detail)
    assert sorted(one.each) == sorted(other.each)


@given(st.sampled_from(CASES), CALLS)
def test_a_stored_answer_has_the_same_grade(case: Case, calls: list[Any]) -> None:
    stored = json.loads(json.dumps(Answer.of(calls).to_json(), allow_nan=False))
    one, other = STRICT.grade(case, calls), STRICT.grade(case, Answer.of(stored))
    assert (one.outcome, one.detail, one.called, one.each) == (other.outcome, other.detail, other.called, other.each)


@given(st.sampled_from(CASES), st.lists(st.tuples(st.sampled_from("fg"), ARGS), min_size=1, max_size=3))
def test_a_call_that_was_written_has_the_grade_of_the_same_call_of_the_api(case: Case, calls: list[Any]) -> None:
    written = json.dumps([{"name": name, "arguments": args} for name, args in calls])
    text = STRICT.grade(case, written)
    if not text.recovered:  # NaN, an argument named like another
        return
    native = STRICT.grade(case, calls)
    assert native.model_copy(update={"recovered": True}) == text
