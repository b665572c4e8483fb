"""What lenient leaves although an offered name stands in it where a call has its name: classes, each with its reason.

A text is left over where an offered name stands before a `(`, or in a name field of JSON, and nothing was recovered.
The first class of `CLASSES` whose predicate holds is its class: from what the refusal says for sure to what the text
around the name looks like. May import: the public names of the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from . import Reason, Recovery, Toolset


class Left(NamedTuple):
    """A text that is left over: `at` is where the offered name stands, `reason` None where it is plain text."""

    text: str
    at: int
    reason: Reason | None
    start: int
    end: int

    @property
    def spot(self) -> str:
        """What was refused."""
        return self.text[self.start : self.end]

    @property
    def behind(self) -> str:
        """What stands from the refusal on."""
        return self.text[self.start : self.start + _NEAR]

    @property
    def line(self) -> str:
        """The line of the name, up to it."""
        return self.text[self.text.rfind("\n", 0, self.at) + 1 : self.at]

    @property
    def is_field(self) -> bool:
        """Whether the name stands in a name field of JSON."""
        return self.text[self.at] in "\"'"


class LeftClass(NamedTuple):
    """One class: its name, why no rule is safe or what would recover it, and whether a text is of it."""

    name: str
    reason: str
    holds: Callable[[Left], object]


# How far from a refusal a predicate looks.
_NEAR: Final = 200
_FIELD: Final = r"[\"'](?:name|function|tool_name|function_name|tool|recipient_name)[\"']\s*:\s*[\"']"


def class_of(text: str, tools: Toolset, result: Recovery) -> LeftClass | None:
    """The class of a text that was not recovered; None where no offered name stands as a call's would."""
    pattern = _pattern(tools)
    found = None if result.calls or pattern is None else pattern.search(text)
    if found is None:
        return None
    refusal = result.refusal
    start, end = (found.start(), found.end()) if refusal is None else refusal.span
    left = Left(text, found.start(), None if refusal is None else refusal.reason, start, end)
    return next((class_ for class_ in CLASSES if class_.holds(left)), OTHER)


@lru_cache(maxsize=64)
def _pattern(tools: Toolset) -> re.Pattern[str] | None:
    """Finds an offered name, in any spelling that a call may have, before a `(` or in a name field."""
    # The longest first: of two names the one that is whole.
    names = sorted({tool.name for tool in tools.tools}, key=len, reverse=True)
    if not names:
        return None
    spelled = "|".join(re.escape(name).replace("_", r"(?:\\?_|[. ])") for name in names)
    return re.compile(rf"(?<!\w)(?:{spelled})\s*\(|{_FIELD}(?:{spelled})[\"']")


# Predicates: what a refusal or the text around a name looks like


def _is(*reasons: Reason) -> Callable[[Left], bool]:
    return lambda left: left.reason in reasons


def _refused_at(pattern: str, *reasons: Reason) -> Callable[[Left], object]:
    """Whether it was refused for one of the reasons, at what fits the pattern."""
    compiled = re.compile(pattern)
    return lambda left: left.reason in reasons and compiled.match(left.text, left.start)


def _holds(pattern: str) -> Callable[[Left], object]:
    compiled = re.compile(pattern)
    return lambda left: compiled.search(left.text)


def _named_behind(pattern: str) -> Callable[[Left], object]:
    """Whether what stands on the line of the name before it fits the pattern."""
    compiled = re.compile(pattern)
    return lambda left: not left.is_field and compiled.search(left.line)


def _is_given(pattern: str) -> Callable[[Left], object]:
    """Whether what stands behind the `(` of the name fits the pattern."""
    compiled = re.compile(rf"[^(]*\(\s*(?:{pattern})")
    return lambda left: not left.is_field and compiled.match(left.text, left.at)


def _is_variable(left: Left) -> bool:
    """Whether the text gives the refused word a value somewhere."""
    word = re.match(r"\w+", left.behind)
    return word is not None and re.search(rf"(?<!\w){word[0]}\s*=(?!=)", left.text[: left.start]) is not None


_DEFINES: Final = r"(?:^|\s)(?:def|function|class|func|public|private|static|void|async function)\s[^(]*$"
_CODE: Final = (
    r"(?m)^\s*(?:import \w|from [\w.]+ import|def \w+\(|class \w+|(?:const|let|var|final) \w+|if __name__|for \w+ in "
    r"|public \w|#include|\w+\s*=\s*(?![=>]))"
)

# Words that lead to a call and do not make it, and what may stand between them and its name.
_SHOWN: Final = re.compile(
    r"(?i)\b(?:examples?|for instance|such as|instead of|rather than|wrong|incorrect|not|never|\w+n['’]t)\b[^.!?\n]*:"
    r"\s*(?:```\S*|<[^>\n]*>)?[\s\[{(\"']*\Z"
)

OTHER: Final = LeftClass("other", "none of the classes above", lambda _: True)
CLASSES: Final[tuple[LeftClass, ...]] = (
    LeftClass(
        "tool_calls_object",
        "a rule is safe: an object whose only key is `tool_calls`, a list of JSON calls, is that list",
        _holds(r"\A\s*\{\s*\"tool_calls\"\s*:\s*\["),
    ),
    LeftClass(
        "begin_marker_again",
        "a rule is safe: a begin marker where a block may begin also ends the block before it",
        _refused_at(r"(?<![=(,:])(?<![=(,:] )<(?:\|?[\w ]+\|?)>", Reason.OPERATOR, Reason.TRAILING_TEXT, Reason.SYNTAX),
    ),
    LeftClass(
        "truncated", "the rest of the call is not there, and what it would say is a guess", _is(Reason.TRUNCATED)
    ),
    LeftClass("duplicate_key", "which of the two values counts is a guess", _is(Reason.DUPLICATE_KEY)),
    LeftClass("bad_number", "no number, or one that JSON can't hold", _is(Reason.BAD_NUMBER, Reason.NOT_JSON)),
    LeftClass(
        "two_readings_of_arguments",
        "the arguments fit the schema in more than one way, or in none",
        _is(Reason.AMBIGUOUS_ARGUMENTS),
    ),
    LeftClass(
        "unknown_beside_known",
        "one of the calls is of a tool that was not offered, or code calls something else: all or nothing",
        _is(Reason.UNKNOWN_TOOL, Reason.AMBIGUOUS_NAME),
    ),
    LeftClass(
        "call_as_argument",
        "the value is what another call returns, and nothing is ever run to find out",
        _refused_at(r"[\w.]+\s*\(", Reason.NOT_A_LITERAL, Reason.SYNTAX),
    ),
    LeftClass(
        "formatted_string",
        "an f-string is an expression",
        _refused_at(r"[fF][\"']|(?<=[fF])[\"']", Reason.NOT_A_LITERAL, Reason.SYNTAX, Reason.BAD_STRING),
    ),
    LeftClass(
        "variable_of_the_text",
        "the value is a name to which the text gives a value elsewhere: reading it would be running the text",
        lambda left: left.reason is Reason.NOT_A_LITERAL and _is_variable(left),
    ),
    LeftClass(
        "variable",
        "an unquoted word where the schema wants no string, or an attribute or element of one: no value is known",
        _refused_at(r"[\w$.]+", Reason.NOT_A_LITERAL),
    ),
    LeftClass(
        "placeholder",
        "the value is left out: `…`, `<…>`, `?`",
        _refused_at(r"<[\w ]+>|…|\.\.\.|\?", Reason.NOT_A_LITERAL, Reason.SYNTAX, Reason.OPERATOR),
    ),
    LeftClass("arithmetic", "an operator inside or between calls: an expression is never run", _is(Reason.OPERATOR)),
    LeftClass(
        "quoted_several",
        "a string of the list holds several calls; a rule is safe: the string is a block of its own, read as one",
        _refused_at(r"([\"'])\s*[\w.]+\([^\"']*\)\s*[,;]\s*[\w.]+\([^\"']*\)\s*\1", Reason.SYNTAX),
    ),
    LeftClass(
        "quoted_no_call",
        "a string of the list is no call that can be read alone: a variable, broken quotes, more than one string",
        _refused_at(r"[\"'`]", Reason.SYNTAX, Reason.BAD_STRING),
    ),
    LeftClass(
        "script_object",
        "`f({key: 1})`: unquoted keys; a rule is safe where every value is a literal and every key a property",
        _refused_at(r"[\w$]+\s*:", Reason.SYNTAX),
    ),
    LeftClass(
        "syntax",
        "broken within a call: more than one repair would make it whole",
        _is(Reason.SYNTAX, Reason.BAD_STRING, Reason.NOT_A_LITERAL),
    ),
    LeftClass(
        "subscript",
        "an element of what the calls return is an expression",
        _refused_at(r"\[\s*[\d\"']", Reason.TRAILING_TEXT),
    ),
    LeftClass(
        "extra_bracket",
        "a closing bracket too many: it may have been opened in what is missing",
        _refused_at(r"[\])}]", Reason.TRAILING_TEXT),
    ),
    LeftClass(
        "lists_joined",
        "`[f()], [g()]`; a rule is safe: lists may be separated by a comma as by a line end",
        _refused_at(r",\s*\[", Reason.TRAILING_TEXT),
    ),
    LeftClass(
        "shown",
        "the words before the call show it as an example, or take it back",
        lambda left: _SHOWN.search(left.text[max(0, left.at - 400) : left.at]),
    ),
    LeftClass(
        "text_behind_calls",
        "text directly behind calls, on their line or before a closing bracket: a sentence or code goes on",
        _is(Reason.TRAILING_TEXT),
    ),
    LeftClass(
        "declared",
        "a tool is declared or described as JSON, not called",
        lambda left: left.is_field and re.search(r"[\"'](?:description|properties|required)[\"']\s*:", left.text),
    ),
    LeftClass(
        "json_in_tags",
        "a JSON call between markers that is no JSON, or holds keys which no call has",
        lambda left: left.is_field and re.search(r"<\|?/?\w+\|?>", left.text),
    ),
    LeftClass(
        "json_in_prose",
        "a JSON object with a name in it, among prose, no call by its keys or not on lines of its own",
        lambda left: left.is_field,
    ),
    LeftClass("defined", "the text defines a function of this name, it does not call it", _named_behind(_DEFINES)),
    LeftClass(
        "code_span",
        "inline code in a sentence: the call is spoken about, and whether it is meant to run the words alone say",
        _named_behind(r"`[^`]*$"),
    ),
    LeftClass(
        "named_only",
        "`f()` in a sentence: the name of a tool, not a call of it",
        lambda left: (
            not left.is_field and re.match(r"[^(]*\(\s*\)", left.text[left.at :]) and re.search(r"[a-z] ", left.line)
        ),
    ),
    LeftClass(
        "script_object_in_code",
        "`f({key: value})` in code of another language, among other statements",
        _is_given(r"\{\s*[\w$]+\s*[:,}]"),
    ),
    LeftClass(
        "given_variables",
        "a call whose arguments are variables, in code: no value is known",
        _is_given(r"\*{0,2}[A-Za-z_$][\w$.]*\s*[,)]"),
    ),
    LeftClass(
        "in_code",
        "the call stands among other statements of a program, which is to be run as a whole or not at all",
        _holds(_CODE),
    ),
    LeftClass(
        "in_a_sentence",
        "the call stands in a sentence: `do not run f(x=1)` looks no different",
        _named_behind(r"\w[^\n]*$"),
    ),
)
