"""All that comes of an answer, as one text: what two engines are compared by. As a program: for the lines it is given.

Started with the sources of `recovery` before the installed package on its path, it says what these make of an answer
(test_compiled.py). A line in is [text, arguments of the toolset, allowances, characters a delta], a line out its
account.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, Literal

from recovery import CallEvent, Event, Policy, Stream, TextEvent, Toolset, compiled, recover


def account(text: str, toolset: Toolset, policy: Policy, size: int) -> str:
    """The result as JSON, and what goes out of a stream in deltas of `size` characters, by answer and by call."""
    deltas = [text[at : at + size] for at in range(0, len(text), size)]
    whole = recover(text, toolset, policy=policy)
    shown = whole.refusal and whole.refusal.explain(text)
    return json.dumps([whole.to_dict(), shown, *(_events(toolset, policy, deltas, by) for by in ("answer", "call"))])


def _events(toolset: Toolset, policy: Policy, deltas: Sequence[str], commit: Literal["answer", "call"]) -> list[Any]:
    stream = Stream(toolset, policy=policy, commit=commit, make_id=lambda: "")
    out = [[_shown(event) for event in stream.feed(delta)] for delta in deltas]
    return [out, [_shown(event) for event in stream.close()]]


def _shown(event: Event) -> object:
    if isinstance(event, TextEvent):
        return event.text
    return [event.index, event.call.to_dict()] if isinstance(event, CallEvent) else event.recovery.to_dict()


def main() -> None:
    if compiled:
        sys.exit("these are no sources: the engine is compiled")
    toolsets: dict[str, Toolset] = {}
    for line in sys.stdin:
        text, offer, allow, size = json.loads(line)
        print(account(text, _toolset(offer, toolsets), Policy(allow), size), flush=True)


def _toolset(offer: dict[str, Any], made: dict[str, Toolset]) -> Toolset:
    key = json.dumps(offer)
    if key not in made:
        made[key] = Toolset(**offer)
    return made[key]


if __name__ == "__main__":
    main()
