"""The reading ▶ the result: recovered, refused or text.

Here alone the policy is asked: an answer is recovered if nothing was refused and all that the reading took is allowed.
May import: `dialects`, `envelope`, `markers`, `names`, `policy`, `result`, `text`, `toolset`.
"""

from __future__ import annotations

import re
from typing import Final

from .dialects import find_other_dialect
from .envelope import Block, Envelope
from .markers import ANY, may_end_reasoning
from .names import OPERATORS
from .policy import Allowance, Policy
from .result import Reason, Recovery, Refusal, Span
from .text import SIGNS, end_of
from .toolset import AS_CALL, Toolset, is_meant, mention

# What may stand before the first name without hiding it: signs, operators, constants, and numbers that are no part of
# its first word. Only a name of letters is looked for, since the toolset is asked for letters and digits alone.
_BEFORE_NAME: Final = re.compile(r"(?:[\W_]++|\d++(?![^\W\d_])|(?:True|False|None|true|false|null)\b)*+")
_BLANKS: Final = re.compile(r"\ufeff?[ \t\f\r\n]*")
# What may stand before the place where a block is looked for begins with one of these, or is a marker.
_AROUND: Final = frozenset("[`~#")
# How an answer can begin that is calls and what may stand around them, as far as a pattern tells, perhaps in a fence:
# with a bracket or a marker; or with a name, its "(" and the beginning of an argument, perhaps behind a word that the
# call is assigned to. Each part takes no less than the scanner does. Repeats are possessive: what they pass over is
# never what must follow.
_BLANK: Final = r"(?:\s++|\\[\r\n]|#[^\r\n]*+)*+"
_WORD: Final = r"(?:[^\x00-/:-@\[-^`{-\x7f]++|\\_)++"
_NAME: Final = rf"{_WORD}(?:[. ]{_WORD}| ?[-+*/%&|^~<>@!]++ ?{_WORD})*+{_BLANK}"
# Ticks, and perhaps an info string, behind which a list may stand on the line.
_FENCE: Final = r"[`~]++(?:[^\r\n]*+[\r\n]|[ \t]*+[^\s`\[\]{}()]*+[ \t]*+(?=\[))?"
_VALUE: Final = r"(?:[-+.'\"({\[\\\d]|[^\x00-\x7f]|[rRuU]['\"]|(?:True|False|None|true|false|null)\b)"
_MAY_BEGIN: Final = re.compile(
    rf"\ufeff?{_BLANK}(?:{_FENCE}{_BLANK})?(?:[\[{{<]|(?:{_WORD}{_BLANK}=(?!=){_BLANK})?{_NAME}\({_BLANK}"
    rf"(?:\)|{_VALUE}|{_WORD}{_BLANK}(?:=(?!=)|:{_BLANK}{_VALUE})|{_NAME}\())"
)
# What calls can end in, and what may stand behind them.
_ENDS: Final = frozenset(")]},;`~>\\")
_ENDS_MARKER: Final = "<|im_start|>assistant"
# Signs that are part of no name, however it is spelled.
_NO_NAME: Final = re.compile(r"[\[\]{}\"`=;\r\n]")
# What may stand behind a block that is the only line.
_NO_MORE: Final = ("", "\n", "\r", ";")
# What may stand behind a block on its line and is a part of it.
_NOTHING_MORE: Final = re.compile(r"[ \t\f]*[;,]?[ \t\f]*(?:#[^\r\n]*|\\)?")
# What may stand before a block on a line that is its own.
BLANK_SIGNS: Final = "\ufeff \t\f"
_BESIDE_PROSE: Final = (Allowance.PROSE_FENCE, Allowance.PROSE_LIST, Allowance.PROSE_LINES)
_NO_BLANK: Final = re.compile(r"[^ \t\f]")
_LINE_END: Final = re.compile(r"\r\n|[\r\n]")


def turn_down(answer: str, toolset: Toolset) -> Recovery | None:
    """The result of an answer that is surely text, as most prose is, without reading it; None where it has to be read.

    It has to where a tool is named as in a call, where it may be calls but for the names, or, if a tool is named at
    all, where it begins like a call; in each case perhaps behind the end of reasoning.
    """
    if "(" in answer or "{" in answer or "\\" in answer:
        ends = _ends_as_calls(answer)
        if ends and _begins_as_calls(answer):
            return None
        mentioned = mention(answer, toolset)
        if mentioned == AS_CALL or ((ends or mentioned) and may_end_reasoning(answer)):
            return None
        if not mentioned:
            return Recovery("text", answer)
        at = end_of(_BLANKS, answer, 0)
        if answer[at : at + 1] in _AROUND or ANY.match(answer, at) is not None or _find_call(answer, at, toolset) >= 0:
            return None
    return leave(answer, toolset)


def _begins_as_calls(answer: str) -> bool:
    """Whether an answer may begin as calls do, or in a marker."""
    found = _MAY_BEGIN.match(answer)
    if found is None:
        return False
    at = found.end() - 1
    return answer[at] != "<" or ANY.match(answer, at) is not None


def _ends_as_calls(answer: str) -> bool:
    """Whether an answer ends in what calls may end in, or in a comment."""
    ended = answer.rstrip()
    if ended[-1:] in _ENDS or ended.endswith(_ENDS_MARKER):
        return True
    return "#" in answer and ended.find("#", ended.rfind("\n") + 1) >= 0


def leave(answer: str, toolset: Toolset) -> Recovery:
    """What becomes of text: nothing, but that a call in another dialect is noticed."""
    refusal = find_other_dialect(answer, toolset)
    return Recovery("text" if refusal is None else "refused", answer, (), refusal)


def may_recover(envelope: Envelope, policy: Policy, known: int) -> bool:
    """Whether the answer, as far as the envelope has walked over it, may still be recovered.

    `known`: of how many blocks it is known already, with as much beside them. Where it may not, it takes the end of
    reasoning to change that, since nothing that stands before counts then.
    """
    if envelope.committed is not None or envelope.spoiled is not None:
        return False
    allow = policy.allow
    if not (envelope.prose or envelope.steps or envelope.blocks):
        return True
    if (envelope.prose and allow.isdisjoint(_BESIDE_PROSE)) or not envelope.steps <= allow:
        return False
    several = len(envelope.blocks) > 1
    return all(is_allowed(block, envelope.prose, several, policy) for block in envelope.blocks[known:])


def is_allowed(block: Block, prose: bool, several: bool, policy: Policy) -> bool:
    """Whether the policy allows what a block takes, as it is or with prose beside it that may still come.

    `prose`: prose stands beside it already; `several`: other blocks do.
    """
    step = block.step(prose, several)
    return block.used <= policy.allow and (step is None or step in policy.allow or block.beside_prose in policy.allow)


def judge(envelope: Envelope, answer: str, toolset: Toolset, policy: Policy) -> Recovery:
    """The result of the answer that the envelope has walked over."""
    if envelope.committed is not None:
        return Recovery("refused", answer, (), envelope.committed)
    blocks = envelope.blocks
    if not blocks:
        return _judge_prose(envelope, answer, toolset, envelope.mention(answer))
    if envelope.spoiled is not None:
        return Recovery("refused", answer, (), envelope.spoiled)
    used = envelope.used()
    if not used or used <= policy.allow:
        block = blocks[0]
        if len(blocks) == 1 and block.start == 0 and len(answer) - block.end <= 1 and answer[block.end :] in _NO_MORE:
            return Recovery("recovered", "", tuple(block.calls), None, used)
        text = _without_lines(answer, blocks)
        return Recovery("recovered", text, tuple([call for block in blocks for call in block.calls]), None, used)
    span = Span(blocks[0].start, blocks[-1].end)
    return Recovery("refused", answer, (), Refusal(Reason.NOT_ALLOWED, span, (), used))


def _judge_prose(envelope: Envelope, answer: str, toolset: Toolset, mentioned: int) -> Recovery:
    """Nothing could be recovered: it is text, unless it is calls but for the names, or begins like a call."""
    at = envelope.block_at
    name_at = at if envelope.parsed else _find_call(answer, at, toolset) if mentioned else -1
    refusal = envelope.first_refusal() if name_at >= 0 else None
    if refusal is None:
        return leave(answer, toolset) if mentioned else Recovery("text", answer)
    if refusal.reason is Reason.SYNTAX and refusal.span.start < name_at:
        refusal = _operator_before(answer, at, name_at) or refusal
    return Recovery("refused", answer, (), refusal)


def _find_call(answer: str, at: int, toolset: Toolset) -> int:
    """Where the name of a call stands that the block looked for at `at` begins with, signs put aside; -1 for none.

    Names are compared by their letters and digits alone: nothing is recovered here, the answer only gets its reason.
    """
    if at < 0 or not toolset._folded:
        return -1
    # As far as `is_meant` goes.
    reach = 2 * toolset._longest_folded + 2
    begins = (at,) if answer[at : at + 1].isalpha() else (end_of(_BEFORE_NAME, answer, at), end_of(SIGNS, answer, at))
    for begin in begins:
        paren = answer.find("(", begin, begin + reach)
        while paren >= 0:
            name = answer[begin:paren]
            if _NO_NAME.search(name):
                break
            if not name[-1:].isspace() and is_meant(name, toolset):
                return begin
            paren = answer.find("(", paren + 1, begin + reach)
    return -1


def _operator_before(answer: str, at: int, name_at: int) -> Refusal | None:
    """The operator before the first name: it makes an expression of what began as a number."""
    for place in range(at, name_at):
        if answer[place] in OPERATORS:
            return Refusal(Reason.OPERATOR, Span(place, place + 1))
    return None


def _without_lines(answer: str, blocks: list[Block]) -> str:
    """The answer less the lines that the spans stand on, each with the line end that closes it.

    What stands before a span on its line (reasoning, words that end in a colon) stays, with the line end; so do words
    behind it, but no separator and no comment.
    """
    kept: list[str] = []
    done = 0
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        # Not beyond the next block, which may stand on the same line.
        limit = len(answer) if following is None else following.start
        gone = lines_of(answer, Span(block.start, block.end), done, limit)
        kept.append(answer[done : gone.start])
        done = gone.end
    return "".join([*kept, answer[done:]])


def awaited_behind(answer: str, end: int, limit: int) -> re.Pattern[str] | None:
    """What has to come before it is known what of its line goes with the block that ends at `end`; None where it is.

    `limit` is where the text ends so far.
    """
    found = _NOTHING_MORE.match(answer, end, limit)
    if found is None or found.end() < limit:
        return None
    return _LINE_END if "#" in found.group() else _NO_BLANK


def lines_of(answer: str, block: Span, done: int, limit: int, *, begins_line: bool = True) -> Span:
    """What goes with a block that stands between `done` and `limit`; `begins_line`: only blanks stand before `done`."""
    start, end = block
    line_at = max(answer.rfind("\n", done, start), answer.rfind("\r", done, start)) + 1
    begins_line = (line_at > 0 or begins_line) and not answer[max(line_at, done) : start].strip(BLANK_SIGNS)
    rest = _NOTHING_MORE.match(answer, end, limit)
    line_end = end if rest is None else rest.end()
    if line_end < limit and answer[line_end] not in "\r\n":
        line_end = end
    elif begins_line:
        line_end = end_of(_LINE_END, answer, line_end)
    return Span(max(line_at, done) if begins_line else start, line_end)
