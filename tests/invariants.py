"""What holds for every answer, whatever it is: said once, for the property tests and the fuzz targets alike.

Each check raises `AssertionError`. `check` holds of one reading all that can be asked of it alone; the others hold it
against another reading of the same: with other policies, other tools, in pieces, without the gate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import Any, Final

from recovery import Allowance, Call, CallEvent, Limits, Policy, Reason, Recovery, Span, Stream, Tool, Toolset, recover
from recovery.envelope import Envelope
from recovery.verdict import judge, turn_down
from tests.streams import events_of, streamed, text_of


def exact(value: object) -> str:
    """Tells 1, 1.0 and True apart, and nothing else that JSON does not."""
    return json.dumps(value, sort_keys=True)


def check(answer: str, toolset: Toolset, policy: Policy, *, reasoning_open: bool = False) -> Recovery:
    """The result, once it is found to be one that can be: whole, within the answer, of offered tools, and allowed."""
    result = recover(answer, toolset, policy=policy, reasoning_open=reasoning_open)
    assert result.used <= policy.allow
    assert (result.status == "refused") == (result.refusal is not None)
    assert (result.status == "recovered") == bool(result.calls)
    if result.status == "recovered":
        _check_calls(answer, result.calls, toolset)
        _check_alone(answer, result, toolset, policy)
        _check_written_out(result.calls, toolset)
    else:
        assert (result.text, result.calls, result.used) == (answer, (), frozenset())
    if result.refusal is not None:
        assert 0 <= result.refusal.span.start <= result.refusal.span.end <= len(answer)
        assert result.refusal.explain(answer).startswith("line ")
        assert bool(result.refusal.allowances) == (result.refusal.reason is Reason.NOT_ALLOWED)
    assert result.to_dict()["status"] == result.status
    return result


def _check_calls(answer: str, calls: Sequence[Call], toolset: Toolset) -> None:
    """Spans stand one behind another in the answer, names are offered, arguments are JSON."""
    end = 0
    for call in calls:
        assert end <= call.span.start < call.span.end <= len(answer)
        end = call.span.end
        assert toolset.get(call.name) is not None
        assert exact(json.loads(json.dumps(call.arguments))) == exact(call.arguments)
        # As JSON reads: no tuple is left, no key that is no string.
        assert json.loads(json.dumps(call.arguments)) == call.arguments


def _check_alone(answer: str, result: Recovery, toolset: Toolset, policy: Policy) -> None:
    """The written form of each call, read alone, gives that call."""
    for call in result.calls:
        alone = answer[slice(*call.span)]
        start = 0
        if alone.startswith("{"):
            # Written as JSON: where a name is spelled with escapes, it is not found as such.
            assert alone.endswith("}")
            assert call.written in alone or "\\" in alone
        elif alone.endswith(")"):
            assert alone.startswith(call.written)
            if re.match(r"[^(]*[\r\n]", alone):
                # A line end may stand before the parenthesis in a list alone.
                alone, start = f"[{alone}]", 1
        else:
            # One string of a list.
            assert Allowance.QUOTED in result.used
            alone, start = f"[{alone}]", 1
        again = recover(alone, toolset, policy=policy)
        assert (again.text, len(again.calls)) == ("", 1)
        assert again.calls[0].span == Span(start, len(alone) - start)
        assert (again.calls[0].name, again.calls[0].written) == (call.name, call.written)
        assert exact(again.calls[0].arguments) == exact(call.arguments)


def _check_written_out(calls: Sequence[Call], toolset: Toolset) -> None:
    """Written out as Python would, the calls are the same calls again."""
    names = list(dict.fromkeys(call.name for call in calls))
    # By names that are words, whatever they were.
    words = {name: f"call_{number}" for number, name in enumerate(names)}
    tools = [toolset.get(name) for name in names]
    renamed = Toolset([Tool(words[tool.name], tool.description) for tool in tools if tool is not None])
    written = [write(words[call.name], call.arguments) for call in calls]
    for text in (f"[{', '.join(written)}]", "\n".join(written)):
        # A list around them nests them deeper.
        again = recover(text, renamed, policy=Policy.lenient(Limits(depth=300))).calls
        assert [(c.name, exact(c.arguments)) for c in again] == [(words[c.name], exact(c.arguments)) for c in calls]


def write(name: str, arguments: dict[str, Any]) -> str:
    """A call as Python would write it; as one dict where a key is no word."""
    if all(key.isidentifier() for key in arguments):
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return f"{name}({arguments!r})"


def check_policies(answer: str, toolset: Toolset, policies: Iterable[Policy] = ()) -> None:
    """A larger policy neither loses nor changes what a smaller one recovers, and says what the smaller one lacks."""
    most = recover(answer, toolset, policy=Policy.lenient())
    # The given ones; exactly what it takes, and each of these left out.
    own = [Policy(most.used), *(Policy(set(Allowance) - {allowance}) for allowance in most.used)]
    for policy in [*policies, *own]:
        result = recover(answer, toolset, policy=policy)
        if not most.calls or most.used <= policy.allow:
            assert result == most
        else:
            assert result.refusal is not None
            assert (result.refusal.reason, result.refusal.allowances) == (Reason.NOT_ALLOWED, most.used)


def check_stream(
    answer: str, toolset: Toolset, policy: Policy, pieces: Sequence[str], *, reasoning_open: bool = False
) -> None:
    """The answer in these pieces, and by characters, gives what it gives as a whole, whatever goes out when."""
    batch = recover(answer, toolset, policy=policy, reasoning_open=reasoning_open)
    for deltas in (pieces, answer):
        assert streamed(toolset, deltas, policy, reasoning_open=reasoning_open) == batch
    early = Stream(toolset, policy=policy, commit="call", reasoning_open=reasoning_open)
    events = events_of(early, pieces)
    assert early.result == batch
    given = tuple(event.call for event in events if isinstance(event, CallEvent))
    assert given == early.committed
    # What went out early may be more than is recovered in the end, and is no less.
    further = iter(given)
    assert all(call in further for call in batch.calls)
    if given == batch.calls:
        assert text_of(events) == batch.text


def check_never(answer: str, toolset: Toolset, policy: Policy, name: str, pieces: Sequence[str]) -> None:
    """Of a tool that is never recovered there is no call, whatever goes out when; all else is read as ever."""
    kept = Toolset(toolset.tools, aliases=toolset.aliases, namespaces=toolset.namespaces, never={name})
    free, result = recover(answer, toolset, policy=policy), recover(answer, kept, policy=policy)
    check_stream(answer, kept, policy, pieces)
    early = Stream(kept, policy=policy, commit="call")
    assert all(event.call.name != name for event in events_of(early, pieces) if isinstance(event, CallEvent))
    if free.calls and all(call.name != name for call in free.calls):
        assert result == free
        return
    assert (result.status, result.calls) == (free.status if not free.calls else "refused", ())
    if free.calls:
        assert result.refusal is not None
        assert result.refusal.reason is Reason.NEVER_RECOVERED
        # Where the first of them is named: a smaller part of the call.
        first = next(call.span for call in free.calls if call.name == name)
        assert first.start <= result.refusal.span.start < result.refusal.span.end <= first.end


def check_gate(answer: str, toolset: Toolset, policy: Policy) -> None:
    """What is turned down unread is what the full reading leaves alone, and gives the same refusal."""
    # Not told what the whole answer is: so nothing is turned down on the way either.
    envelope = Envelope(toolset, policy.limits)
    envelope.feed(answer, final=True)
    read = judge(envelope, answer, toolset, policy)
    assert recover(answer, toolset, policy=policy) == read
    if len(answer) <= policy.limits.characters:
        turned_down = turn_down(answer, toolset)
        assert turned_down is None or turned_down == read


# A letter that no answer of a test holds, to name what is unrelated.
UNRELATED: Final = "Ω"


def check_unrelated(answer: str, toolset: Toolset, policy: Policy, name: str = UNRELATED) -> None:
    """More tools, of names that the answer does not hold, change nothing: so many that they are looked up otherwise."""
    if UNRELATED in answer:
        return
    others = [f"{name}_{letter}" for letter in ascii_lowercase]
    aliases = dict(toolset.aliases) | {f"{name}.{name}": name}
    more = Toolset([*toolset.tools, name, *others], aliases=aliases, never=toolset.never)
    assert recover(answer, more, policy=policy) == recover(answer, toolset, policy=policy)


def check_renamed(answer: str, toolset: Toolset, policy: Policy, old: str, new: str) -> None:
    """A tool under another name, written by that in the answer, is called in the same way; nothing else changes.

    `old`: an offered name of letters, perhaps with "_" between them; `new`: as many letters with the same signs, of
    which the answer and the tools hold none as a word. A name that is spelled by escapes is not found: left out.
    """
    if re.search(r"\\[^_]", answer):
        return
    # In any spelling, since signs between its letters decide what becomes of it, and the reason.
    letters = r"[\W_]*".join(filter(str.isalpha, old))
    spelled = re.compile(rf"(?<![^\W_]){letters}(?![^\W_])")

    def rename(text: str) -> str:
        return spelled.sub(lambda found: _respell(found.group(), new), text)

    tools = [Tool(rename(tool.name), tool.description, tool.parameters) for tool in toolset.tools]
    aliases = {rename(alias): rename(name) for alias, name in toolset.aliases.items()}
    other = Toolset(tools, aliases=aliases, namespaces=toolset.namespaces, never=map(rename, toolset.never))
    before = recover(answer, toolset, policy=policy)
    after = recover(rename(answer), other, policy=policy)
    assert (after.status, after.used, after.text) == (before.status, before.used, rename(before.text))
    assert [(rename(call.name), rename(call.written), call.span) for call in before.calls] == [
        (call.name, call.written, call.span) for call in after.calls
    ]
    assert [rename(exact(call.arguments)) for call in before.calls] == [exact(call.arguments) for call in after.calls]
    if before.refusal is not None:
        assert after.refusal is not None
        assert (after.refusal.reason, after.refusal.span) == (before.refusal.reason, before.refusal.span)


def _respell(written: str, new: str) -> str:
    """The letters of the new name, with the signs between them as they were written."""
    letters = filter(str.isalpha, new)
    return "".join(next(letters) if sign.isalpha() else sign for sign in written)
