"""What a reading gives back: `Recovery`, `Call`, `Refusal`, `Reason`, `Span`.

Offsets are code points of the answer as given, half open. Line and column are worked out from the text when a
sentence is asked for, never stored. May import: `frozen`, `policy` (for the names of allowances).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple, Self

from .frozen import Frozen, setters
from .policy import Allowance

# The version of the reading rules. A change by which text becomes a call raises it.
RULES: Final = "1"

Status = Literal["recovered", "refused", "text"]


class Span(NamedTuple):
    """A stretch of the answer: code points `start` to `end`, half open."""

    start: int
    end: int


class Reason(StrEnum):
    """Why an answer that looks like a call was left as text. `meaning` is one sentence for people."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    UNKNOWN_TOOL = "unknown_tool", "no offered tool has this name"
    AMBIGUOUS_NAME = "ambiguous_name", "this name can be read as two different tools"
    OPERATOR = "operator", "an operator makes this an expression, and expressions are never run"
    NOT_ALLOWED = "not_allowed", "the policy does not allow what it takes to read this"
    SYNTAX = "syntax", "this can't stand here"
    TRAILING_TEXT = "trailing_text", "text stands behind a complete call"
    TRUNCATED = "truncated", "the answer ends inside a call"
    DUPLICATE_KEY = "duplicate_key", "this key stands twice"
    NOT_A_LITERAL = "not_a_literal", "a value must be a literal"
    NOT_JSON = "not_json", "JSON can't hold this value"
    BAD_STRING = "bad_string", "this string can't be read"
    BAD_NUMBER = "bad_number", "this number can't be read"
    AMBIGUOUS_ARGUMENTS = "ambiguous_arguments", "these arguments can't be read in just one way"
    NEVER_RECOVERED = "never_recovered", "a call of this tool is never recovered from text"
    OTHER_DIALECT = "other_dialect", "a call in a dialect that is noticed, but not read"
    NO_TOOLS = "no_tools", "no tools were offered"
    TOO_LONG = "too_long", "the answer is longer than the limit"
    TOO_DEEP = "too_deep", "brackets are nested deeper than the limit"
    TOO_MANY_CALLS = "too_many_calls", "the answer holds more calls than the limit"
    TOO_MANY_VALUES = "too_many_values", "the answer holds more values than the limit"
    TOO_MANY_DIGITS = "too_many_digits", "the number has more digits than the limit"
    NAME_TOO_LONG = "name_too_long", "the name is longer than the limit"


# What may be nothing but the beginning of what a higher limit would have let through.
LIMITED: Final = frozenset((Reason.TOO_DEEP, Reason.TOO_MANY_CALLS, Reason.TOO_MANY_VALUES, Reason.TOO_MANY_DIGITS))

# How much of the offending line a sentence shows on either side of the caret.
_SHOWN: Final = 40


class Refusal(Frozen):
    """Why the answer was left as text, and where.

    `expected`: what would have been accepted there, in words; empty where nothing would.
    `allowances`: for `not_allowed`, the set that would have recovered the whole answer. `dialect`: for `other_dialect`,
    its name.
    """

    __slots__ = ("reason", "span", "expected", "allowances", "dialect")

    reason: Reason
    span: Span
    expected: tuple[str, ...]
    allowances: frozenset[Allowance]
    dialect: str

    def __init__(
        self,
        reason: Reason,
        span: Span,
        expected: tuple[str, ...] = (),
        allowances: frozenset[Allowance] = frozenset(),
        dialect: str = "",
    ) -> None:
        self._set(reason, span, expected, allowances, dialect)

    def explain(self, answer: str) -> str:
        """Two or three lines for people: the sentence, the line of the answer, a caret. `answer` as given."""
        line, column, shown, caret = _locate(answer, self.span)
        sentence = f"line {line}, column {column}: {self.reason.value}: {self.reason.meaning}"
        if self.dialect:
            sentence += f" ({self.dialect})"
        if self.allowances:
            sentence += f" (it takes {', '.join(sorted(self.allowances))})"
        if self.expected:
            sentence += f"; expected {_either(self.expected)}"
        return f"{sentence}\n  {shown}\n  {caret}"


class Call(Frozen):
    """One recovered call.

    `name` is the offered tool's, `written` the model's spelling; `arguments` are JSON values by key, as written;
    `span` is the call in the answer.
    """

    __slots__ = ("name", "written", "arguments", "span")

    name: str
    written: str
    arguments: dict[str, Any]
    span: Span

    def __init__(self, name: str, written: str, arguments: dict[str, Any], span: Span) -> None:
        # Not by `_set`: there is one of these for every call.
        _put_name(self, name)
        _put_written(self, written)
        _put_arguments(self, arguments)
        _put_span(self, span)

    def to_dict(self) -> dict[str, Any]:
        """The call as JSON values."""
        return {"name": self.name, "written": self.written, "arguments": self.arguments, "span": list(self.span)}

    def to_json_arguments(self) -> str:
        """The arguments as a string of JSON, as APIs want them."""
        import json

        return json.dumps(self.arguments, ensure_ascii=False)

    def to_openai_tool_call(self, id_: str) -> dict[str, Any]:
        """The call as it stands in `tool_calls` of an OpenAI message."""
        function = {"name": self.name, "arguments": self.to_json_arguments()}
        return {"id": id_, "type": "function", "function": function}


_put_name, _put_written, _put_arguments, _put_span = setters(Call)


class Recovery(Frozen):
    """The result of reading one answer.

    `text` is what is left for the user: the answer itself, byte for byte, unless it was recovered. `used` are the
    allowances that the recovered reading took. `rules` is the version of the reading rules that made it.
    """

    __slots__ = ("status", "text", "calls", "refusal", "used", "rules")

    status: Status
    text: str
    calls: tuple[Call, ...]
    refusal: Refusal | None
    used: frozenset[Allowance]
    rules: str

    def __init__(
        self,
        status: Status,
        text: str,
        calls: tuple[Call, ...] = (),
        refusal: Refusal | None = None,
        used: frozenset[Allowance] = frozenset(),
        rules: str = RULES,
    ) -> None:
        # Not by `_set`: there is one of these for every answer.
        _put_status(self, status)
        _put_text(self, text)
        _put_calls(self, calls)
        _put_refusal(self, refusal)
        _put_used(self, used)
        _put_rules(self, rules)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values: what `recovery recover` prints and `recovery replay` writes."""
        refusal = self.refusal
        return {
            "status": self.status,
            "calls": [call.to_dict() for call in self.calls],
            "text": self.text,
            "refusal": None
            if refusal is None
            else {
                "reason": refusal.reason.value,
                "span": list(refusal.span),
                "expected": list(refusal.expected),
                "allowances": sorted(refusal.allowances),
                "dialect": refusal.dialect,
            },
            "used": sorted(self.used),
            "rules": self.rules,
        }

    def to_openai_message(self, make_id: Callable[[], str] | None = None) -> dict[str, Any]:
        """The result as an OpenAI assistant message.

        `tool_calls` stands there only where calls were recovered; `content` is then None, or the text that is left
        where more than white space is. `make_id` gives the id of each call; ids must differ, or `ValueError` is raised.
        """
        if not self.calls:
            return {"role": "assistant", "content": self.text}
        make_id = make_id or random_id
        ids = [make_id() for _ in self.calls]
        if len(set(ids)) < len(ids):
            raise ValueError("to_openai_message: make_id gave the same id twice")
        return {
            "role": "assistant",
            "content": self.text if self.text.strip() else None,
            "tool_calls": [call.to_openai_tool_call(id_) for id_, call in zip(ids, self.calls, strict=True)],
        }


_put_status, _put_text, _put_calls, _put_refusal, _put_used, _put_rules = setters(Recovery)


def random_id() -> str:
    """An id for a call, of the form that OpenAI's have."""
    import secrets

    return f"call_{secrets.token_hex(12)}"


def _either(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _locate(answer: str, span: Span) -> tuple[int, int, str, str]:
    """Line and column (from 1), the line shown, and the caret line under it. Lines end at \\n, \\r\\n and \\r."""
    start = min(span.start, len(answer))
    before = answer[:start]
    line_start = max(before.rfind("\n"), before.rfind("\r")) + 1
    line = 1 + before.count("\n") + before.count("\r") - before.count("\r\n")
    ends = [at for at in (answer.find("\n", start), answer.find("\r", start)) if at >= 0]
    line_end = min(ends, default=len(answer))
    left = max(line_start, start - _SHOWN)
    right = min(line_end, max(start, min(span.end, line_end)) + _SHOWN)
    shown = "".join(c if c.isprintable() else " " for c in answer[left:right])
    head, tail = ("…" if left > line_start else ""), ("…" if right < line_end else "")
    width = max(1, min(span.end, right) - start)
    return line, start - line_start + 1, f"{head}{shown}{tail}", " " * (len(head) + start - left) + "^" * width
