"""A lexeme ▶ a value, or the reason why there is none.

Rules are Python's (Language Reference, 2.4 to 2.6) with JSON's constants beside Python's, and narrower where JSON
can't hold the value. Functions are total: a reason comes back as a `Fault`, nothing raises. May import: `result`.
"""

from __future__ import annotations

import re
from math import inf
from typing import Final, NamedTuple

from .result import Reason


class Fault(NamedTuple):
    """Why a lexeme has no value: the reason, and where in the lexeme (half open)."""

    reason: Reason
    start: int
    end: int


class LeadingZero(NamedTuple):
    """An integer of two or more digits that begins with 0: a string or an integer, as the schema says."""

    lexeme: str


CONSTANTS: Final[dict[str, bool | None]] = {
    "True": True,
    "False": False,
    "None": None,
    "true": True,
    "false": False,
    "null": None,
}

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_ESCAPE: Final = re.compile(
    r"\\(?:N\{([^{}\\]{1,200})\}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(\r\n|[\s\S]))"
)
# What is one character behind the backslash, whatever follows; found without the pattern, since most are such.
_PLAIN_ESCAPES: Final = {
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\n": "",
}
# With the single quote, which a string in single quotes needs.
_JSON_ESCAPES: Final = {
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "/": "/",
    "\\": "\\",
    '"': '"',
    "'": "'",
}
_LINE_ENDS: Final = frozenset(("\r", "\r\n"))
# Letters that promise more than follows: where the pattern falls back to one of them, the escape is malformed.
_PROMISES: Final = frozenset("xuUN")
_UNESCAPED_PAIR: Final = re.compile(r"\\(?:\r\n|[\s\S])")
_LINE_BREAK: Final = re.compile(r"[\r\n]")

_DIGITS: Final = r"[0-9](?:_?[0-9])*"
_INTEGER: Final = re.compile(
    r"0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|[1-9](?:_?[0-9])*|0",
    re.ASCII,
)
_LEADING_ZERO: Final = re.compile("0[0-9]+")
_FLOAT: Final = re.compile(
    rf"(?:(?:{_DIGITS}\.(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?|{_DIGITS}[eE][+-]?{_DIGITS})"
)
# What could become a number if more followed.
_UNFINISHED: Final = re.compile(
    rf"0[xX](?:_?[0-9a-fA-F])*_?|0[oO](?:_?[0-7])*_?|0[bB](?:_?[01])*_?"
    rf"|(?:{_DIGITS}|(?:{_DIGITS})?\.(?:{_DIGITS})?)(?:_|[eE](?:[+-]?(?:{_DIGITS}_?)?))"
)


def decode_string(body: str, raw: bool, json: bool) -> str | Fault:
    """The value of what stands between a string's quotes; `json`: with the escapes of JSON, not of Python."""
    if not body.isascii():
        lone = _SURROGATE.search(body)
        if lone is not None:
            return Fault(Reason.BAD_STRING, lone.start(), lone.end())
    if raw or "\\" not in body:
        return body
    parts: list[str] = []
    plain = _JSON_ESCAPES if json else _PLAIN_ESCAPES
    done = 0
    at = body.find("\\")
    while at >= 0:
        end = at + 2
        # A string never ends in half an escape, so that at least one character follows the backslash.
        character = plain.get(body[at + 1])
        if character is None:
            escape = _ESCAPE.match(body, at)
            assert escape is not None
            end = escape.end()
            character = _decode_json_escape(escape) if json else _decode_escape(escape)
            if character is None:
                return Fault(Reason.BAD_STRING, at, end)
        parts.append(body[done:at])
        parts.append(character)
        done = end
        at = body.find("\\", done)
    parts.append(body[done:])
    return _join_surrogates("".join(parts), len(body))


def _decode_escape(escape: re.Match[str]) -> str | None:
    """The character an escape that is not plain stands for, or None where it is malformed."""
    name, two, four, eight, octal, other = escape.groups()
    if other is not None:
        if other in _PROMISES:
            return None
        # A line end is joined; an unknown escape keeps its backslash.
        return "" if other in _LINE_ENDS else f"\\{other}"
    if octal is not None:
        return chr(int(octal, 8))
    if name is not None:
        return _named_character(name)
    code = int(two or four or eight, 16)
    return chr(code) if code <= 0x10FFFF else None


def _decode_json_escape(escape: re.Match[str]) -> str | None:
    """The character an escape of JSON with digits stands for (RFC 8259, 7); None where JSON has no such escape."""
    return None if escape.group(3) is None else chr(int(escape.group(3), 16))


def _named_character(name: str) -> str | None:
    # A database of a megabyte, for an escape that hardly any answer holds.
    import unicodedata

    try:
        found = unicodedata.lookup(name)
    except KeyError:
        return None
    # `lookup` knows names of sequences too; a string literal of Python's does not.
    return found if len(found) == 1 else None


def _join_surrogates(value: str, length: int) -> str | Fault:
    """A pair of surrogate escapes is one character, as in JSON; one alone is none."""
    if value.isascii() or _SURROGATE.search(value) is None:
        return value
    try:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return Fault(Reason.BAD_STRING, 0, length)


def breaks_line(body: str) -> bool:
    """Whether what stands between the quotes of a one-line string holds a line end that no backslash escapes."""
    return _LINE_BREAK.search(body) is not None and _LINE_BREAK.search(_UNESCAPED_PAIR.sub("", body)) is not None


def decode_number(lexeme: str, most_digits: int) -> int | float | LeadingZero | Fault:
    """The value of a number without its sign. `most_digits` bounds its length in characters."""
    if len(lexeme) > most_digits:
        return Fault(Reason.TOO_MANY_DIGITS, 0, len(lexeme))
    if _INTEGER.fullmatch(lexeme):
        try:
            value = int(lexeme, 0)
        except ValueError:
            # The process has set Python's own bound lower than the limit.
            return Fault(Reason.TOO_MANY_DIGITS, 0, len(lexeme))
        # Written in another base it may be short and still have too many digits: each has more than three bits.
        too_large = value.bit_length() > 3 * most_digits and value >= 10**most_digits
        return Fault(Reason.TOO_MANY_DIGITS, 0, len(lexeme)) if too_large else value
    if _LEADING_ZERO.fullmatch(lexeme):
        return LeadingZero(lexeme)
    if _FLOAT.fullmatch(lexeme):
        fraction = float(lexeme)
        return fraction if fraction != inf else Fault(Reason.NOT_JSON, 0, len(lexeme))
    if lexeme[-1] in "jJ" and (_FLOAT.fullmatch(lexeme[:-1]) or re.fullmatch(_DIGITS, lexeme[:-1])):
        return Fault(Reason.NOT_JSON, 0, len(lexeme))
    return Fault(Reason.BAD_NUMBER, 0, len(lexeme))


def is_unfinished(lexeme: str) -> bool:
    """Whether what is no number could become one if more followed."""
    return _UNFINISHED.fullmatch(lexeme) is not None
