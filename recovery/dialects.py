"""Calls in tagged and headed dialects: noticed and named, not read.

A dialect is noticed where a marker of it stands with an offered name in its place, so that talk about the format is
text. The table follows what models of these families write; each pattern has one group, the name. May import: `names`,
`result`, `text`, `toolset`.
"""

from __future__ import annotations

from typing import Final

from .names import resolve
from .result import Reason, Refusal, Span
from .text import compiled
from .toolset import Tool, Toolset

# A name as these dialects write it: no space, quote or bracket; some put `functions.` before it and `:0` behind.
_NAME: Final = r"(?:functions\.)?([^\s<>\"'`\[\]{}()=:]{1,256})"

# Dialect, what stands in every text of it, and its pattern. All are anchored on a sign that is rare in text, and
# bounded, so that each is linear.
_PATTERNS: Final[tuple[tuple[str, str, str], ...]] = (
    ("invoke", "invoke", rf"<(?:[\w:\uff5c|]{{1,20}}[:\uff5c|])?invoke\s{{1,4}}name=\"?{_NAME}\"?"),
    ("function_tag", "<function", rf"<function(?:=|\s{{1,4}}name=)\"?{_NAME}\"?"),
    (
        "tool_call_text",
        "tool_call>",
        rf"<(?:minimax:|seed:)?tool_call>\s{{0,4}}{_NAME}\s{{0,4}}(?:<arg_key>|<tool_sep>|\n|\{{)",
    ),
    ("tool_use", "<tool_use>", rf"<tool_use>\s{{0,8}}<name>\s{{0,4}}{_NAME}\s{{0,4}}</name>"),
    ("mistral_v11", "[TOOL_CALLS]", rf"\[TOOL_CALLS\]\s{{0,4}}{_NAME}\s{{0,4}}(?:\[ARGS\]|\[CALL_ID\]|\{{)"),
    ("deepseek", "tool\u2581", rf"<\uff5ctool\u2581(?:sep|call\u2581begin)\uff5c>\s{{0,4}}{_NAME}"),
    ("kimi_k2", "<|tool_call_begin|>", rf"<\|tool_call_begin\|>\s{{0,4}}{_NAME}"),
    ("harmony", "to=", rf"<\|channel\|>[^<\n]{{0,80}}?to={_NAME}|to={_NAME}\s{{0,4}}<\|channel\|>"),
    ("functionary_v2", "<|recipient|>", rf"<\|recipient\|>\s{{0,4}}{_NAME}"),
    ("qwen_agent", "\u273fFUNCTION\u273f", rf"\u273fFUNCTION\u273f:\s{{0,4}}{_NAME}"),
    ("call_record", "<call_record", rf"<call_record\s{{1,4}}tool=\"{_NAME}\""),
    ("gemma_call", "call:", rf"<(?:start_function_call|\|tool_call)>\s{{0,4}}call:{_NAME}"),
    ("solar", "<|tool_call:start|>", rf"<\|tool_call:start\|>\s{{0,4}}{_NAME}"),
    ("apertus", "<|tools_prefix|>", rf"<\|tools_prefix\|>\s{{0,4}}\[\s{{0,4}}\{{\s{{0,4}}\"{_NAME}\""),
    ("react", "Action Input:", rf"(?:^|\n)Action:[ \t]{{0,4}}{_NAME}[ \t]{{0,4}}\r?\nAction Input:"),
    ("functionary_v3", ">>>", rf"(?:^|\n)>>>[ \t]{{0,4}}{_NAME}[ \t]{{0,4}}\r?\n"),
    ("name_then_json", "{", rf"(?:^|\n)[ \t]{{0,8}}{_NAME}[ \t]{{0,4}}\r?\n[ \t]{{0,8}}\{{"),
)


def find_other_dialect(answer: str, toolset: Toolset) -> Refusal | None:
    """The first place where a call to an offered tool stands in one of these dialects."""
    # One of these stands in every text that any pattern fits. A character is looked for first: that is much quicker.
    if not (
        "<" in answer
        or "{" in answer
        or (">" in answer and ">>>" in answer)
        or (":" in answer and "Action Input:" in answer)
        or "\u273f" in answer
    ):
        return None
    first: Refusal | None = None
    for dialect, sign, pattern in _PATTERNS:
        if sign not in answer:
            continue
        for found in compiled(pattern).finditer(answer):
            name = next(group for group in found.groups() if group is not None)
            if isinstance(resolve(name, toolset), Tool):
                if first is None or found.start() < first.span.start:
                    start = answer.index(name, found.start())
                    first = Refusal(Reason.OTHER_DIALECT, Span(start, start + len(name)), (), frozenset(), dialect)
                break
    return first
