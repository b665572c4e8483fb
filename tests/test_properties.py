"""What holds for every answer, whatever it is. The texts come from strategies.py."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from recovery import Allowance, Limits, Policy, Span, Tool, Toolset, recover
from tests.strategies import TOOLS, allowed, answers, examples, near_calls, pieces, policies
from tests.streams import is_part, streamed

LENIENT = Policy.lenient()
few, some = examples(150), examples(400)


def exact(value: object) -> str:
    """Tells 1, 1.0 and True apart, and nothing else that JSON does not."""
    return json.dumps(value, sort_keys=True)


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
def test_it_returns_and_what_is_not_recovered_is_the_same_text(answer: str, policy: Policy) -> None:
    result = recover(answer, TOOLS, policy=policy)
    assert result.used <= policy.allow
    assert (result.status == "refused") == (result.refusal is not None)
    assert (result.status == "recovered") == bool(result.calls)
    if result.status != "recovered":
        assert (result.text, result.calls, result.used) == (answer, (), frozenset())
    if result.refusal is not None:
        assert 0 <= result.refusal.span.start <= result.refusal.span.end <= len(answer)
        assert result.refusal.explain(answer).startswith("line ")
        assert bool(result.refusal.allowances) == (result.refusal.reason == "not_allowed")
    assert result.to_dict()["status"] == result.status


@few
@given(answers, st.sampled_from([Limits(depth=2), Limits(calls=1), Limits(values=2), Limits(characters=9, name=3)]))
def test_a_limit_refuses_or_changes_nothing(answer: str, limits: Limits) -> None:
    free, limited = recover(answer, TOOLS, policy=LENIENT), recover(answer, TOOLS, policy=Policy.lenient(limits))
    assert limited == free or not limited.calls


@some
@given(answers, policies)
def test_spans_are_ordered_and_each_read_alone_gives_the_same_call(answer: str, policy: Policy) -> None:
    end = 0
    result = recover(answer, TOOLS, policy=policy)
    for call in result.calls:
        assert end <= call.span.start < call.span.end <= len(answer)
        end = call.span.end
        alone = answer[slice(*call.span)]
        start = 0
        if alone.startswith("{"):
            # Written as JSON: where a name is spelled with escapes, it is not found as such.
            assert alone.endswith("}")
            assert call.written in alone or "\\" in alone
        elif alone.endswith(")"):
            assert alone.startswith(call.written)
        else:
            # One string of a list.
            assert Allowance.QUOTED in result.used
            alone, start = f"[{alone}]", 1
        again = recover(alone, TOOLS, policy=policy)
        assert (again.text, len(again.calls)) == ("", 1)
        assert again.calls[0].span == Span(start, len(alone) - start)
        assert (again.calls[0].name, again.calls[0].written) == (call.name, call.written)
        assert exact(again.calls[0].arguments) == exact(call.arguments)


def is_less_a_block(rest: str, line: str) -> bool:
    """Whether `rest` is what stands before and behind a block on its line, or one of them."""
    rest = rest.rstrip("\r\n")
    return any(line.startswith(rest[:at]) and line.rstrip("\r\n").endswith(rest[at:]) for at in range(len(rest) + 1))


LINES = re.compile(r"[^\r\n]*(?:\r\n|[\r\n]|\Z)")


@some
@given(answers)
def test_only_lines_of_blocks_go_and_all_others_stay(answer: str) -> None:
    result = recover(answer, TOOLS, policy=LENIENT)
    # A block over several lines, with prose before its marker and behind its end, joins two lines; that is a vector.
    joins = Allowance.MARKER in result.used and any(
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
@given(answers, policies, st.data())
def test_a_stream_cut_anywhere_gives_what_batch_gives(answer: str, policy: Policy, data: st.DataObject) -> None:
    batch = recover(answer, TOOLS, policy=policy)
    assert streamed(TOOLS, list(answer), policy) == batch
    assert streamed(TOOLS, data.draw(pieces(answer)), policy) == batch


@some
@given(answers, st.lists(allowed, min_size=1, max_size=8))
def test_a_larger_policy_neither_loses_nor_changes_a_call(answer: str, sets: list[set[Allowance]]) -> None:
    most = recover(answer, TOOLS, policy=LENIENT)
    # The drawn ones; exactly what it takes, and each of these left out.
    sets += [set(most.used), *(set(Allowance) - {allowance} for allowance in most.used)]
    for policy in map(Policy, sets):
        result = recover(answer, TOOLS, policy=policy)
        if not most.calls or most.used <= policy.allow:
            assert result == most
        else:
            assert result.refusal is not None
            assert (result.refusal.reason, result.refusal.allowances) == ("not_allowed", most.used)


@some
@given(answers)
def test_what_is_recovered_survives_json_and_being_written_out_again(answer: str) -> None:
    calls = recover(answer, TOOLS, policy=LENIENT).calls
    for call in calls:
        assert exact(json.loads(json.dumps(call.arguments))) == exact(call.arguments)
        # As JSON reads: no tuple is left, no key that is no string.
        assert json.loads(json.dumps(call.arguments)) == call.arguments
    written = [write(call.name, call.arguments) for call in calls]
    for text in (f"[{', '.join(written)}]", "\n".join(written)) if calls else ():
        again = recover(text, WRITABLE, policy=LENIENT).calls
        assert [(c.name, exact(c.arguments)) for c in again] == [(c.name, exact(c.arguments)) for c in calls]


# Under a name that is words, so that a call can be written with the name it was recovered under.
WRITABLE = Toolset([Tool(tool.name, tool.description) for tool in TOOLS.tools], aliases={"get.docs": "get-docs"})


def write(name: str, arguments: dict[str, Any]) -> str:
    """A call as Python would write it; as one dict where a key is no word."""
    name = "get.docs" if name == "get-docs" else name
    if all(key.isidentifier() for key in arguments):
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return f"{name}({arguments!r})"


@few
@given(answers, st.sampled_from(["Ω", "Ω.x", "Ω Ω", "Ω-Ω"]), policies)
def test_an_unrelated_tool_changes_nothing(answer: str, name: str, policy: Policy) -> None:
    assume("Ω" not in answer)
    more = Toolset([*TOOLS.tools, name], aliases=dict(TOOLS.aliases) | {f"{name}.{name}": name})
    assert recover(answer, more, policy=policy) == recover(answer, TOOLS, policy=policy)
