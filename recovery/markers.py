"""Tokens that models put around calls, turns and reasoning: the tables. May import: `text`.

Where a token is written by nobody but a model's format, its spelling is the whole rule. What stands behind a begin
token must still be a block.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import groupby
from operator import itemgetter
from typing import Final

from .text import compiled

# What opens a stretch of calls, and what closes it; an empty end where the format has none.
CALL_MARKERS: Final[dict[str, str]] = {
    "<|python_start|>": "<|python_end|>",
    "<|tool_call_start|>": "<|tool_call_end|>",
    "<|tool_call|>": "<|/tool_call|>",
    "<|tool_call_begin|>": "<|tool_call_end|>",
    "<|action_start|><|plugin|>": "<|action_end|>",
    "<|START_ACTION|>": "<|END_ACTION|>",
    "<|tool_calls_begin|>": "<|tool_calls_end|>",
    "<|python_tag|>": "",
    "<|im_start|>assistant": "",
    "<|im_start|>": "",
    "<function_calls>": "</function_calls>",
    "<function_call>": "</function_call>",
    "<tool_calls>": "</tool_calls>",
    "<tool_call>": "</tool_call>",
    "<tool_code>": "</tool_code>",
    "<TOOLCALL>": "</TOOLCALL>",
    "<longcat_tool_call>": "</longcat_tool_call>",
    "<<function>>": "",
    "[TOOL_CALLS]": "",
    "[unused11]": "[unused12]",
}

# What closes a turn, or stands between turns, and means nothing here.
TURN_MARKERS: Final[tuple[str, ...]] = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|END_OF_TURN_TOKEN|>",
    "<end_of_turn>",
    "<|return|>",
    "<|message_sep|>",
    "</s>",
    "<s>",
    "<bot_end>",
    "<eos>",
    "<bos>",
)

# What opens reasoning, and what closes it.
REASONING_MARKERS: Final[dict[str, str]] = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "<longcat_think>": "</longcat_think>",
    "<|thought_start|>": "<|thought_end|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "[THINK]": "[/THINK]",
}

# Environments of LaTeX that hold maths alone.
_MATHS: Final[tuple[str, ...]] = (
    *("align", "align*", "aligned", "alignat", "alignat*", "displaymath", "eqnarray", "eqnarray*", "equation"),
    *("equation*", "flalign", "flalign*", "gather", "gather*", "gathered", "math", "multline", "multline*", "split"),
)

# What opens a stretch that is put out of action, and what ends it.
COMMENT_MARKERS: Final[dict[str, str]] = {
    # Comments: what stands on both sides of one stands side by side.
    "<!--": "-->",
    "/*": "*/",
    # Turns that are not the assistant's.
    "<|im_start|>user": "<|im_end|>",
    "<|im_start|>system": "<|im_end|>",
    "<|im_start|>tool": "<|im_end|>",
    "<tool_response>": "</tool_response>",
    # Maths, as LaTeX and Markdown write it: what is called in it is a function of mathematics.
    "\\[": "\\]",
    "\\(": "\\)",
    "$$": "$$",
    **{f"\\begin{{{name}}}": f"\\end{{{name}}}" for name in _MATHS},
}

COMMENTS: Final = ("<!--", "/*")

BEGINS, ENDS, TURN, THINKS, THOUGHT, HIDES = range(6)

KINDS: Final[dict[str, int]] = {
    **dict.fromkeys(CALL_MARKERS, BEGINS),
    **dict.fromkeys(filter(None, CALL_MARKERS.values()), ENDS),
    **dict.fromkeys(TURN_MARKERS, TURN),
    **dict.fromkeys(REASONING_MARKERS, THINKS),
    **dict.fromkeys(REASONING_MARKERS.values(), THOUGHT),
    **dict.fromkeys(COMMENT_MARKERS, HIDES),
}
# What each of them begins with.
FIRST: Final = frozenset(token[0] for token in KINDS)
LONGEST: Final = max(map(len, KINDS))


def _one_of(tokens: Collection[str]) -> str:
    """A pattern for the longest of these: by what they begin with alike, which takes half as long to compile."""
    branches: list[str] = []
    for first, group in groupby(sorted(tokens), key=itemgetter(slice(1))):
        tails = [token[1:] for token in group]
        if first:
            branches.append(re.escape(first) + (_one_of(tails) if any(tails) else ""))
    if len(branches) == 1 and "" not in tokens:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?' if '' in tokens else ''}"


def _beginnings_of(tokens: Iterable[str]) -> frozenset[str]:
    return frozenset(token[:length] for token in tokens for length in range(1, len(token)))


ANY: Final = re.compile(_one_of(KINDS))
_PREFIXES: Final = _beginnings_of(KINDS)
_BEFORE_CALLS: Final = (*CALL_MARKERS, *REASONING_MARKERS.values())
_WITHIN_LINE: Final = rf"{_one_of(_BEFORE_CALLS)}|:[ \t]*(?=\[)"
_PREFIXES_WITHIN: Final = _beginnings_of(_BEFORE_CALLS)
_BEGINS_WITHIN: Final = re.compile(r"[<\[]")

_HIDE: Final = REASONING_MARKERS | COMMENT_MARKERS
# What each of those that hide something ends with begins with.
CLOSERS_FIRST: Final = frozenset(closer[0] for closer in _HIDE.values())
ENDS_REASONING: Final = re.compile(_one_of(REASONING_MARKERS.values()))


def closer(token: str) -> re.Pattern[str]:
    """What ends the stretch that this token opens, in which nothing is a call."""
    return compiled(re.escape(_HIDE[token]))


def before_calls() -> re.Pattern[str]:
    """What calls may follow inside a line of prose: a marker, the end of reasoning, a colon before a list."""
    return compiled(_WITHIN_LINE)


def may_end_reasoning(answer: str, at: int = 0) -> bool:
    """Whether reasoning may end in the answer, from `at` on: then what stands before is no part of it."""
    signs = ("<" in answer and ("</" in answer or "<|" in answer)) or ("[" in answer and "[/" in answer)
    return signs and ENDS_REASONING.search(answer, at) is not None


def may_become_marker(text: str) -> bool:
    """Whether more text could make a marker of this, or a longer one."""
    return text in _PREFIXES


def may_end_in_marker(text: str) -> int:
    """Where a marker that calls may follow begins at the end of a text that is not complete; -1 where none does."""
    for found in _BEGINS_WITHIN.finditer(text, max(0, len(text) - LONGEST)):
        if text[found.start() :] in _PREFIXES_WITHIN:
            return found.start()
    return -1
