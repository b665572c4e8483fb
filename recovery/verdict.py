"""The reading ▶ the result: recovered, refused or text.

Here alone the policy is asked: an answer is recovered if nothing was refused and all that the reading took is allowed.
May import: `envelope`, `names`, `policy`, `result`, `text`, `toolset`.
"""

from __future__ import annotations

import re
from typing import Final

from .envelope import Envelope
from .names import OPERATORS
from .policy import Policy
from .result import Reason, Recovery, Refusal, Span
from .text import end_of
from .toolset import Toolset, fold

# What may stand before the first name without hiding it: signs, operators, numbers, constants. Only a name of letters
# is looked for, since the toolset is asked for letters and digits alone.
_BEFORE_NAME: Final = re.compile(r"(?:[\W\d_]|(?:True|False|None|true|false|null)\b)*")
_SIGNS: Final = re.compile(r"[\W_]*")
# Signs that are part of no name, however it is spelled.
_NO_NAME: Final = re.compile(r"[\[\]{}\"`=;\r\n]")
_TO_NEXT_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|[\r\n])?")


def judge(envelope: Envelope, answer: str, toolset: Toolset, policy: Policy) -> Recovery:
    """The result of the answer that the envelope has walked over to its end."""
    if not (envelope.whole or envelope.shaped):
        return _judge_prose(envelope, answer, toolset)
    refusal = envelope.refusal()
    if refusal is not None:
        return Recovery("refused", answer, (), refusal)
    used = envelope.used()
    if used <= policy.allow:
        text = _without_lines(answer, envelope.start, envelope.end)
        return Recovery("recovered", text, tuple(envelope.calls), None, used)
    span = Span(envelope.start, envelope.end)
    return Recovery("refused", answer, (), Refusal(Reason.NOT_ALLOWED, span, (), used))


def _judge_prose(envelope: Envelope, answer: str, toolset: Toolset) -> Recovery:
    """Nothing could be recovered: it is text, unless it begins like a call."""
    at = envelope.block_at
    name_at = _find_call(answer, at, toolset)
    if name_at < 0:
        return Recovery("text", answer)
    refusal = envelope.refusal()
    assert refusal is not None
    if refusal.reason is Reason.SYNTAX and refusal.span.start < name_at:
        refusal = _operator_before(answer, at, name_at) or refusal
    return Recovery("refused", answer, (), refusal)


def _find_call(answer: str, at: int, toolset: Toolset) -> int:
    """Where the name of a call stands that the block looked for at `at` begins with, signs put aside; -1 for none.

    Names are compared by their letters and digits alone: nothing is recovered here, the answer only gets its reason.
    """
    if at < 0 or not toolset._folded:
        return -1
    # A name may be written with signs between its letters, but not with more signs than letters.
    reach = 2 * toolset._longest_folded + 2
    for begin in {end_of(_BEFORE_NAME, answer, at), end_of(_SIGNS, answer, at)}:
        paren = answer.find("(", begin, begin + reach)
        while paren >= 0:
            name = answer[begin:paren]
            if _NO_NAME.search(name):
                break
            if not name[-1:].isspace() and fold(name) in toolset._folded:
                return begin
            paren = answer.find("(", paren + 1, begin + reach)
    return -1


def _operator_before(answer: str, at: int, name_at: int) -> Refusal | None:
    """The operator before the first name: it makes an expression of what began as a number."""
    for place in range(at, name_at):
        if answer[place] in OPERATORS:
            return Refusal(Reason.OPERATOR, Span(place, place + 1))
    return None


def _without_lines(answer: str, start: int, end: int) -> str:
    """The answer less the lines that `start` to `end` stands on, each with the line end that closes it."""
    if start == 0 and end == len(answer):
        return ""
    head = max(answer.rfind("\n", 0, start), answer.rfind("\r", 0, start)) + 1
    line_end = _TO_NEXT_LINE.match(answer, end)
    return answer[:head] + answer[end if line_end is None else line_end.end() :]
