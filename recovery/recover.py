"""`recover`: one answer, whole: a stream of one piece, without its events.

May import: `envelope`, `policy`, `result`, `toolset`, `verdict`.
"""

from __future__ import annotations

from collections.abc import Iterable

from .envelope import Envelope
from .policy import Policy
from .result import Recovery
from .toolset import Toolset
from .verdict import judge, turn_down


def recover(
    answer: str, tools: Toolset | Iterable[object], *, policy: Policy | None = None, reasoning_open: bool = False
) -> Recovery:
    """The calls that `answer` holds, each mapped onto one offered tool; or the answer as it is, and the reason.

    `tools`: a `Toolset` (build it once where the tools stay the same), or anything `Toolset` takes. `policy`: what is
    allowed beyond the strict form, `Policy.default()` where none is given. `reasoning_open`: the prompt opened the
    model's reasoning, so that nothing is a call before its end is written. Returns for every str. Raises `TypeError`
    where `answer` is no str, `TypeError` or `ValueError` where `tools` or `policy` are no tools or policy.
    """
    if not isinstance(answer, str):
        raise TypeError(f"recover takes a str as the answer, not {type(answer).__name__}")
    toolset = tools if isinstance(tools, Toolset) else Toolset(tools)
    if not isinstance(policy, Policy):
        policy = Policy.of(policy)
    fits = len(answer) <= policy.limits.characters
    if fits and not reasoning_open and answer[:1] != "[":
        # What begins as a list is seldom prose.
        text = turn_down(answer, toolset)
        if text is not None:
            return text
    # Of what is too long nothing is turned down unread: a stream, which can't know it, says so too.
    envelope = Envelope(toolset, policy.limits, answer if fits else None, reasoning_open=reasoning_open)
    envelope.feed(answer, final=True)
    return judge(envelope, answer, toolset, policy)
