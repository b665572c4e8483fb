"""What holds for every answer, whatever it is: invariants.py says it. The texts come from strategies.py."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from recovery import Allowance, Limits, Policy, Reason, Toolset, recover
from tests import invariants
from tests.offers import FORMS, Written, written
from tests.strategies import OFFERED, TOOLS, allowed, answers, examples, near_calls, pieces, policies
from tests.streams import is_part

LENIENT = Policy.lenient()
few, some = examples(150), examples(400)


def test_the_texts_are_recovered_and_refused_in_good_shares() -> None:
    seen: Counter[str] = Counter()

    @examples(1500)
    @given(near_calls)
    def count(answer: str) -> None:
        result = recover(answer, TOOLS, policy=LENIENT)
        seen.update([result.status, *result.used, f"{len(result.calls)} calls", "texts"])
        seen.update([result.refusal.reason] if result.refusal else [])

    count()
    assert seen["recovered"] > 0.25 * seen["texts"], seen
    assert seen["refused"] > 0.25 * seen["texts"], seen
    assert all(seen[allowance] for allowance in Allowance), seen
    assert all(seen[f"{number} calls"] for number in (1, 2, 3)), seen
    reasons = "unknown_tool operator syntax trailing_text truncated duplicate_key not_a_literal bad_string bad_number"
    assert all(seen[reason] for reason in reasons.split()), seen


@some
@given(answers, policies)
def test_a_result_is_one_that_can_be(answer: str, policy: Policy) -> None:
    invariants.check(answer, TOOLS, policy)


@some
@given(answers, policies)
def test_the_gate_is_the_full_reading(answer: str, policy: Policy) -> None:
    invariants.check_gate(answer, TOOLS, policy)


@few
@given(answers, st.sampled_from([Limits(depth=2), Limits(calls=1), Limits(values=2), Limits(characters=9, name=3)]))
def test_a_limit_refuses_or_changes_nothing(answer: str, limits: Limits) -> None:
    free, limited = recover(answer, TOOLS, policy=LENIENT), recover(answer, TOOLS, policy=Policy.lenient(limits))
    assert limited == free or not limited.calls


LINES = re.compile(r"[^\r\n]*(?:\r\n|[\r\n]|\Z)")


@some
@given(answers)
def test_only_lines_of_blocks_go_and_all_others_stay(answer: str) -> None:
    result = recover(answer, TOOLS, policy=LENIENT)
    # A block over several lines, with prose before its marker or list on its line, joins two lines; that is a vector.
    joins = bool(result.used & {Allowance.MARKER, Allowance.PROSE_LIST}) and any(
        len(answer[c.span.start : c.span.end].splitlines()) > 1 for c in result.calls
    )
    if not result.calls or joins:
        return
    assert is_part(result.text, answer)
    if Allowance.MARKER in result.used and result.text.strip():
        # Words before and behind its markers on a block's own lines stay, as one line.
        return
    # Lines of the answer, less empty ones behind its last line end; whether a call stands on each, or a part of one.
    lines = [found.span() for found in LINES.finditer(answer) if found.group()]
    left = [found.group() for found in LINES.finditer(result.text) if found.group()]
    # Every way to read it: how many lines of the rest are used up, and whether the run of lines that are gone, if there
    # is one, holds a call yet. Each has to.
    ways: set[tuple[int, bool | None]] = {(0, None)}
    for start, end in lines:
        called = any(call.span.start < end and start < call.span.end for call in result.calls)
        line = answer[start:end]
        further: set[tuple[int, bool | None]] = {(at, holds or called) for at, holds in ways}
        for at, holds in ways:
            if at < len(left) and left[at] == line and not called and holds is not False:
                further.add((at + 1, None))
            if at < len(left) and left[at].strip() and line != left[at] and is_part(left[at], line):
                # What stands before blocks on their line and behind them.
                further.add((at + 1, called))
        ways = further
    assert {(len(left), None), (len(left), True)} & ways


@some
@given(answers, policies, st.booleans(), st.data())
def test_a_stream_cut_anywhere_gives_what_batch_gives(
    answer: str, policy: Policy, reasoning_open: bool, data: st.DataObject
) -> None:
    invariants.check_stream(answer, TOOLS, policy, data.draw(pieces(answer)), reasoning_open=reasoning_open)


@some
@given(answers, policies, st.sampled_from(OFFERED), st.data())
def test_a_tool_that_is_never_recovered_is_among_no_calls(
    answer: str, policy: Policy, name: str, data: st.DataObject
) -> None:
    invariants.check_never(answer, TOOLS, policy, name, data.draw(pieces(answer)))


def test_what_is_written_of_a_tool_that_is_never_recovered_is_refused_in_every_form() -> None:
    seen: Counter[Allowance | None] = Counter()

    @some
    @given(written(), st.data())
    def is_refused(case: Written, data: st.DataObject) -> None:
        name, _ = data.draw(st.sampled_from(case.calls))
        invariants.check_never(case.answer, case.toolset, LENIENT, name, data.draw(pieces(case.answer)))
        kept = Toolset(case.toolset.tools, never={name})
        refusal = recover(case.answer, kept, policy=LENIENT).refusal
        assert refusal is not None
        assert refusal.reason is Reason.NEVER_RECOVERED
        seen[case.form] += 1

    is_refused()
    assert set(seen) == set(FORMS), seen


@some
@given(answers, st.lists(allowed, min_size=1, max_size=8))
def test_a_larger_policy_neither_loses_nor_changes_a_call(answer: str, sets: list[set[Allowance]]) -> None:
    invariants.check_policies(answer, TOOLS, map(Policy, sets))


@few
@given(answers, st.sampled_from(["Ω", "Ω.x", "Ω Ω", "Ω-Ω"]), policies)
def test_an_unrelated_tool_changes_nothing(answer: str, name: str, policy: Policy) -> None:
    invariants.check_unrelated(answer, TOOLS, policy, name)


@some
@given(answers, st.sampled_from(["get_weather", "sift", "heat"]), policies)
def test_a_tool_and_its_written_name_renamed_together_change_nothing(answer: str, old: str, policy: Policy) -> None:
    new = {"get_weather": "kud_zinquok", "sift": "quzk", "heat": "kovv"}[old]
    invariants.check_renamed(answer, TOOLS, policy, old, new)


def test_what_is_written_as_the_schemas_say_is_recovered() -> None:
    seen: Counter[Allowance | None] = Counter()

    @some
    @given(written())
    def is_recovered(case: Written) -> None:
        allowed = frozenset() if case.form is None else frozenset({case.form})
        result = recover(case.answer, case.toolset, policy=Policy(allowed))
        found = [(call.name, invariants.exact(call.arguments)) for call in result.calls]
        assert found == [(name, invariants.exact(arguments)) for name, arguments in case.calls]
        # Not every call of a form has something in it that takes the allowance.
        assert (result.text, result.used | allowed) == ("", allowed)
        seen.update(result.used or [None])

    is_recovered()
    assert set(seen) == set(FORMS), seen
