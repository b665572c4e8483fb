"""Texts that could be slow to read: families, each a text of any length made of one repeated piece.

`test_size.py` reads each at a moderate size, `growth.py` up to 10 MB. A name says what is repeated, and where. What was
once slow is a family here. May import: the package alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from recovery import Toolset


@dataclass(frozen=True)
class Family:
    """`head`, then `unit` again and again, then `tail`; `status` is what becomes of it when no limit is in the way.

    An empty status says that any may. `many`: thousands of tools are offered, not a few.
    """

    head: str
    unit: str
    tail: str
    status: str
    many: bool = False

    def text(self, size: int) -> str:
        times = (size - len(self.head) - len(self.tail)) // len(self.unit)
        return self.head + self.unit * max(times, 1) + self.tail

    def tools(self, _size: int) -> Toolset | list[str]:
        """What is offered; names alone where the making of the toolset is a part of the reading."""
        return many_tools() if self.many else TOOLS


@dataclass(frozen=True)
class Counted(Family):
    """The same, with `#` in `unit` the number of the repetition."""

    def text(self, size: int) -> str:
        pieces = _numbered(self.unit, size - len(self.head) - len(self.tail), size)
        return self.head + "".join(pieces) + self.tail


@dataclass(frozen=True)
class Offered(Counted):
    """The same, and as many tools are offered as pieces stand in the text, each named `name` with its number."""

    name: str = ""

    def tools(self, size: int) -> Toolset | list[str]:
        return _numbered(self.name, len(_numbered(self.unit, size, size)) * (len(self.name) - 1 + len(str(size))), size)


@dataclass(frozen=True)
class Halves(Family):
    """`head` and `first` again and again, up to the half of the text; then as a family whose head is `middle`.

    What is looked at again with every piece of the second half is the first.
    """

    first: str = ""
    middle: str = ""

    def text(self, size: int) -> str:
        times = (size // 2 - len(self.head)) // len(self.first)
        second = Family(self.middle, self.unit, self.tail, self.status)
        return self.head + self.first * max(times, 1) + second.text(size - size // 2)


def _numbered(unit: str, room: int, size: int) -> list[str]:
    """As many as there is room for, at least one; the numbers are as wide as a text of this size needs them."""
    width = len(str(size))
    return [unit.replace("#", f"{number:0{width}}") for number in range(max(room // (len(unit) - 1 + width), 1))]


TOOLS: Final = Toolset(
    [
        *("f", "g_h", "if_f", "get-docs"),
        {"name": "p", "parameters": {"properties": {"x": {"type": "string"}, "y": {"type": "integer"}}}},
    ]
)
# What thousands of tools share: long beginnings, and with half of them the end.
SHARED: Final = "get_weather_of_the_harbour_by_the_hour"


@cache
def many_tools() -> Toolset:
    shared = [f"{SHARED}_{number:04}{end}" for number in range(2_000) for end in ("", "_at_noon")]
    return Toolset([*TOOLS.tools, *shared])


# A line of prose that names a call: without one, prose is turned down unread.
CALL: Final = "No more than f(x=1), said he.\n"

FAMILIES: Final[dict[str, Family]] = {
    # Openers, and calls that never close.
    "openers-square": Family("", "[", "", "text"),
    "openers-round": Family("", "(", "", "text"),
    "openers-curly": Family("", "{", "", "text"),
    "closers": Family("f(x=1", ")", "", "refused"),
    "half-calls": Family("", "f(", "", "refused"),
    "half-calls-in-lists": Family("", "[f(", "", "refused"),
    "half-calls-as-values": Family("", "f(x=", "", "refused"),
    "half-lists": Family("", "[f(x=1), ", "", "refused"),
    "deep-lists": Family("[f(x=", "[", "", "refused"),
    "deep-parentheses": Family("f(x=", "(", "", "refused"),
    "deep-tuples": Family("f(x=", "(1, ", "", "refused"),
    "deep-dicts": Family("f(x=", '{"a":', "", "refused"),
    # One character again and again, where a token may begin, where a value may, behind a call.
    "single-quotes": Family("", "'", "", "text"),
    "double-quotes": Family("", '"', "", "text"),
    "quotes-as-value": Family("f(x=", "'", "", "refused"),
    "backslashes": Family("", "\\", "", "text"),
    "backslashes-in-call": Family("f(", "\\", "", "refused"),
    "spaces": Family("", " ", "", "text"),
    "spaces-in-call": Family("f(x=1", " ", ")", "recovered"),
    "spaces-behind-name": Family("f", " ", "(x=1)", "recovered"),
    "spaces-behind-call": Family("f(x=1)", " ", "", "recovered"),
    "dots": Family("", ".", "", "text"),
    "dots-as-value": Family("f(x=", ".", ")", "refused"),
    "commas": Family("", ",", "", "text"),
    "commas-behind-call": Family("f(x=1)", ",", "", "refused"),
    "semicolons-behind-call": Family("f(x=1)", ";", "", "refused"),
    "operators": Family("", "*", "", "text"),
    "operators-behind-call": Family("f(x=1)", "=", "", "refused"),
    "signs-as-value": Family("f(x=", "-", "1)", "refused"),
    "nulls-in-string": Family("f(x='", "\0", "')", "recovered"),
    "surrogates-in-string": Family("f(x='", "\ud800", "')", "refused"),
    "byte-order-marks": Family("", "\ufeff", "", "text"),
    # Lines, comments, white space.
    "carriage-returns": Family("", "\r", "", "text"),
    "carriage-returns-in-call": Family("f(x=1", "\r", ")", "recovered"),
    "line-ends-between-calls": Family("f(x=1)", "\n", "f(x=2)", "recovered"),
    "line-joins": Family("", "\\\n", "f(x=1)", "recovered"),
    "line-joins-in-call": Family("f(", "\\\r\n", "x=1)", "recovered"),
    "comments-first": Family("", "# one\n", "f(x=1)", "recovered"),
    "comments-in-call": Family("f(x=1, ", "# one\r", ")", "recovered"),
    "comment-of-hashes": Family("f(x=1) ", "#", "", "recovered"),
    "comment-of-calls": Family("f(x=1) # ", "g.h(x=2), ", "", "recovered"),
    "comment-open": Family("# ", "word ", "", "text"),
    # Fences and ticks.
    "ticks": Family("", "`", "", "text"),
    "tildes": Family("", "~", "", "text"),
    "fences": Family("", "```\n", "", "text"),
    "fence-never-closed": Family("```python\nf(x=1)", "\n", "", "recovered"),
    "fence-info": Family("```", "x", "\nf(x=1)\n```", "recovered"),
    "fence-closing": Family("```\nf(x=1)\n```", "`", "", "recovered"),
    "ticks-behind-span": Family("`f(x=1)", "`", "", "refused"),
    # Names and words.
    "long-name": Family("", "a", "(x=1)", "text"),
    "long-name-other-script": Family("", "漢", "(x=1)", "text"),
    "long-name-escaped": Family("f", "\\_", "(x=1)", "text"),
    "long-key": Family("f(", "a", "=1)", "refused"),
    "words": Family("", "ab ", "", "text"),
    "words-other-script": Family("", "слово ", "", "text"),
    "words-as-value": Family("f(x=", "ab ", ")", "refused"),
    "dotted-words": Family("", "a.b.", "", "text"),
    "operator-words": Family("", "a-b-", "c(x=1)", "text"),
    "operator-words-as-value": Family("f(x=", "a + b - ", "1)", "refused"),
    "keywords-before-name": Family("", "if ", "f(x=1)", "text"),
    "prose": Family("", "The tide (see the table) turns at noon, and f(x=1) is no call here. ", "", "text"),
    "prose-lines": Family("", "Ask the clerk - he knows.\n\n", "", "text"),
    "many-long-names": Family("", "a" * 250 + "(x=1), ", "", "refused"),
    "many-long-keys": Counted("f(", "k" * 240 + "#=1, ", ")", "recovered"),
    # Numbers.
    "digits": Family("", "7", "", "text"),
    "digits-as-value": Family("f(x=", "7", ")", "refused"),
    "digits-behind-point": Family("f(x=1.", "7", ")", "refused"),
    "zeros-hexadecimal": Family("f(x=0x", "0", ")", "refused"),
    "underscores-in-number": Family("f(x=1", "_1", ")", "refused"),
    "exponents": Family("f(x=", "1e+", ")", "refused"),
    "digits-other-script": Family("f(x=1", "\u0661", ")", "refused"),
    "many-long-numbers": Family("f(x=[", "1" * 4_000 + ", ", "])", "recovered"),
    "many-numbers": Family("f(x=[", "-1.5e3, ", "])", "recovered"),
    # Strings.
    "one-long-string": Family("f(x='", "The tide turns. ", "')", "recovered"),
    "one-long-string-other-script": Family("f(x='", "潮は正午に変わる。", "')", "recovered"),
    "string-never-closed": Family("f(x='", "The tide turns. ", "", "refused"),
    "escapes": Family("f(x='", "ab\\n", "')", "recovered"),
    "escapes-wide": Family("f(x='", "\\u0100", "')", "recovered"),
    "escapes-surrogates": Family("f(x='", "\\ud83d\\ude00", "')", "recovered"),
    "escapes-named": Family("f(x='", "\\N{BULLET}", "')", "recovered"),
    "escapes-of-quotes": Family("f(x='", "\\'", "')", "recovered"),
    "escaped-line-ends": Family("f(x='", "\\\n", "')", "recovered"),
    "raw-string-of-backslashes": Family("f(x=r'", "\\\\", "')", "recovered"),
    "line-ends-in-string": Family("f(x='", "a\n", "')", "recovered"),
    "quotes-in-triple-quotes": Family("f(x='''", "'' ", "''')", "recovered"),
    "triple-quotes-never-closed": Family("f(x='''", "''\\", "", "refused"),
    "adjacent-strings": Family("f(x=(", "'a' ", "))", "recovered"),
    "adjacent-strings-of-both-quotes": Family("f(x=", "\"a\"'b'", ")", "recovered"),
    "apostrophes": Family("f(x='", "it's ", "')", "recovered"),
    # Containers and calls.
    "list-of-lists": Family("f(x=[", "[], ", "])", "recovered"),
    "list-of-full-lists": Family("f(x=[", "[1], ", "])", "recovered"),
    "list-of-tuples": Family("f(x=(", "(), ", "))", "recovered"),
    "list-of-dicts": Family("f(x=[", '{"a": 1}, ', "])", "recovered"),
    "list-of-constants": Family("f(x=[", "True, ", "])", "recovered"),
    "list-of-strings": Family("f(x=[", "'a', ", "])", "recovered"),
    "list-never-closed": Family("f(x=[", "[],", "", "refused"),
    "dict-of-many-keys": Counted("f(x={", '"#": 1, ', "})", "recovered"),
    "many-arguments": Counted("f(", "k#=1, ", ")", "recovered"),
    "same-key-again": Family("f(", "x=1, ", ")", "refused"),
    "many-calls": Family("[", "f(x=1), ", "]", "recovered"),
    "many-calls-on-lines": Family("", "g.h(x=1)\n", "", "recovered"),
    "many-calls-not-offered": Family("", "nobody(x=1); ", "", "refused"),
    "many-calls-with-dict": Family("[", 'f({"x": 1}), ', "]", "recovered"),
    "many-lists": Family("", "[f(x=1)]\n", "", "recovered"),
    # Quotes.
    "smart-quotes": Family("f(x=[", "“a”, ", "])", "recovered"),
    "smart-quotes-single": Family("f(x=[", "‘it's’, ", "])", "recovered"),
    "smart-quotes-open": Family(CALL, "“", "", "text"),
    "smart-quotes-as-value": Family("f(x=", "“", "", "refused"),
    "smart-quotes-never-closed": Family("f(x=“", "The tide turns. ", "", "refused"),
    "quotes-in-words": Family("f(x='", "it's ", "s')", "recovered"),
    "quotes-around-words": Family("f(x='a", " 'bd' c", "')", "recovered"),
    "quotes-around-words-double": Family('f(x="a', ' "b c" d', '")', "recovered"),
    "quotes-around-words-never-closed": Family("f(x='a", " 'at' noon", "", "refused"),
    "quotes-around-words-far-apart": Family("f(x='a", " '" + "b" * 190 + "' c", "')", "recovered"),
    "quotes-of-no-pair": Family("f(x='a", " 'b" + "c" * 250, "')", "refused"),
    "quotes-before-words": Family("f(x='a", " 'b", "')", "refused"),
    # Markers and reasoning.
    "begin-markers": Family("", "<tool_call>", "f(x=1)", "recovered"),
    "begin-markers-alone": Family(CALL, "<tool_call>\n", "", "text"),
    "begin-markers-in-prose": Family(CALL, "<tool_call>so it goes\n", "", "text"),
    "begin-markers-before-calls": Family("", "<tool_call>f(x=1)\n", "", "recovered"),
    "markers-on-one-line": Family("", "<tool_call>f(x=1)</tool_call>", "", "recovered"),
    "markers-on-one-line-never-closed": Family("", "<tool_call>f(x=1)", "", "recovered"),
    "markers-on-lines": Family("", "<tool_call>f(x=1)</tool_call>\n", "", "recovered"),
    "markers-on-lines-of-prose": Family(CALL, "Then\n<tool_call>f(x=1)</tool_call>\n", "", "recovered"),
    "markers-that-end-lines-otherwise": Family("", "<tool_call>f(x=1)</tool_call>\r", "", "recovered"),
    "end-markers": Family("", "</tool_call>", "f(x=1)", "recovered"),
    "turn-markers": Family("", "<|im_end|>", "f(x=1)", "recovered"),
    "turn-markers-behind-call": Family("f(x=1)", "<|im_end|>", "", "recovered"),
    "less-than": Family("", "<", "f(x=1)", "refused"),
    "less-than-in-prose": Family(CALL + "So ", "<", "", "text"),
    "half-markers": Family("", "<tool_cal ", "f(x=1)", "text"),
    "half-markers-in-prose": Family(CALL, "So <|tool_cal\n", "", "text"),
    "reasoning-never-closed": Family("<think>", "f(x=1)\n", "", "text"),
    "reasoning-begun-again": Family("", "<think>", "f(x=1)", "text"),
    "reasoning-ended-again": Family("", "</think>", "f(x=1)", "recovered"),
    "reasoning-again": Family("", "<think>f(x=1)</think>\n", "f(x=1)", "recovered"),
    "reasoning-behind-calls": Family("", "f(x=1)\n</think>\n", "f(x=1)", "recovered"),
    "reasoning-half-ended": Family("<think>", "</thin", "", "text"),
    # Prose, and what almost begins a call there.
    "prose-with-call": Family(CALL, "The tide turns at noon. ", "", "text"),
    "prose-lines-with-call": Family(CALL, "The tide turns.\n", "", "text"),
    "prose-lines-like-calls": Family(CALL, "the tide of today (at noon) turns\n", "", "text"),
    "prose-lines-like-keys": Family(CALL, "the tide = f of it\n", "", "text"),
    "prose-lines-just-too-long": Family(CALL, "tide " * 62 + "(x=1)\n", "", "text"),
    "prose-lines-of-names": Family(CALL, "f\ng h\n", "", "text"),
    "prose-lines-of-comments": Family(CALL, "# f(x=1)\n", "", "text"),
    "prose-lines-indented": Family(CALL, "    f(x=1)\n", "", "text"),
    "lines-not-offered": Family(CALL, "nobody(x=1)\n", "", "text"),
    "lines-not-offered-that-fail": Family(CALL, "nobody(x\n", "", "text"),
    "lines-that-fail": Family("", "f(x\n", "", "refused"),
    "lines-of-calls-in-prose": Family("So:\n", "f(x=1)\nAnd then.\n", "", "recovered"),
    "lines-of-lists-in-prose": Family("So:\n", "[f(x=1)]\nAnd then.\n", "", "recovered"),
    "lines-of-signs-behind-call": Family("f(x=1)\n", "- \n", "", "refused"),
    "calls-and-bullets": Family("", "f(x=1)\n- so it is\n", "", "recovered"),
    "lists-behind-colons": Family("", "And so: [f(x=1)]\n", "", "recovered"),
    "lists-behind-colons-on-one-line": Family("", "And so: [f(x=1)] ", "", "text"),
    "lists-begun-behind-colons": Family(CALL + "So", ": [", "", "text"),
    "lists-of-words-behind-colons": Family(CALL + "So", ": [a, ", "", "text"),
    "half-calls-behind-colons": Family("So", ": [f(", "", "text"),
    "colons": Family(CALL + "So", ":", "", "text"),
    "colons-and-spaces": Family(CALL + "So", ":" + " " * 90, "", "text"),
    "square-brackets-in-prose": Family(CALL + "So ", "[", "", "text"),
    "ticks-that-begin-lines": Family(CALL, "`a` b\n", "", "text"),
    "two-ticks-that-begin-lines": Family(CALL, "``\n", "", "text"),
    "tildes-that-begin-lines": Family(CALL, "~\n", "", "text"),
    "fences-without-calls": Family(CALL, "```\nx = 1\n```\n", "", "text"),
    "fences-of-calls": Family("So:\n", "```\nf(x=1)\n```\n", "", "recovered"),
    "fences-of-calls-not-offered": Family("", "```\nnobody(x=1)\n```\n", "f(x=1)", "recovered"),
    "fences-on-one-line": Family("So:\n", "```f(x=1)```\n", "", "recovered"),
    "fences-begun-again": Family(CALL, "```a\n", "", "text"),
    "fence-of-code": Family(CALL + "```\n", "x = 1\n", "", "text"),
    "fence-of-ticks": Family(CALL + "```\nx\n", "``\n", "", "text"),
    "code-spans-behind-colons": Family("So", ": `f(x=1)` ", "", "text"),
    # JSON and calls in strings.
    "json-objects": Family("", '{"name": "f", "arguments": {"x": 1}}\n', "", "recovered"),
    "json-objects-in-list": Family("[", '{"name": "f", "arguments": {"x": 1}}, ', "]", "recovered"),
    "json-objects-in-object": Family('{"tool_calls": [', '{"name": "f", "arguments": {"x": 1}}, ', "]}", "recovered"),
    "json-objects-in-prose": Family("So:\n", '{"name": "f", "arguments": {}}\nand\n', "", "recovered"),
    "json-objects-not-offered": Family("", '{"name": "nobody", "arguments": {"x": 1}}\n', "", "refused"),
    "json-objects-of-data": Family(CALL, '{"tide": 1}\n', "", "text"),
    "json-nested": Family(CALL, '{"name": ', "", "text"),
    "json-braces-on-lines": Family(CALL, "{\n", "", "text"),
    "json-escapes": Family('{"name": "f", "arguments": {"x": "', "\\u00e9", '"}}', "recovered"),
    "json-keys": Counted('{"name": "f", "arguments": {', '"#": 1, ', "}}", "recovered"),
    "json-values": Family('{"name": "f", "arguments": {"x": [', "1, ", "]}}", "recovered"),
    "json-arguments-in-strings": Family("[", '{"name": "f", "arguments": "{\\"x\\": 1}"}, ', "]", "recovered"),
    "json-arguments-in-one-string": Family('{"name": "f", "arguments": "{\\"x\\": [', "1, ", ']}"}', "recovered"),
    "json-arguments-in-string-never-closed": Family('{"name": "f", "arguments": "{\\"x\\": [', "[", '"}', "refused"),
    "quoted-calls": Family("[", '"f(x=1)", ', "]", "recovered"),
    "quoted-calls-not-offered": Family("[", '"nobody(x=1)", ', "]", "text"),
    "quoted-call-of-many-values": Family('["f(x=[', "1, ", '])"]', "recovered"),
    "quoted-calls-of-deep-values": Family("[", '"f(x=[' + ("[" * 90 + "]" * 90 + ",") * 40 + '])", ', "]", "recovered"),
    "quoted-in-quoted": Family("[", "\"['f()']\", ", "]", "refused"),
    "quoted-words-on-lines": Family(CALL, '["a"]\n', "", "text"),
    # Arguments and names.
    "leading-zeros": Counted("f(", "k#=07, ", ")", "recovered"),
    "leading-zeros-in-list": Family("f(x=[", "07, ", "])", "refused"),
    "one-leading-zero": Family("f(x=0", "0", ")", "refused"),
    "colon-keys": Counted("f(", "k#: 1, ", ")", "recovered"),
    "colon-keys-again": Family("f(", "x: 1, ", ")", "refused"),
    "colon-keys-in-a-row": Family("f(", "x: ", ")", "refused"),
    "keys-of-two-letters": Family("f(", "ab=1,", ")", "refused"),
    "keys-between-quotes": Family("[", "a=\"', b=': [\", ", "", "text"),
    "positions": Family("p(", "1, ", ")", "refused"),
    "many-calls-with-positions": Family("[", 'p("a", 1), ', "]", "recovered"),
    "many-calls-with-bare-words": Family("[", "p(x=ab), ", "]", "recovered"),
    "bare-words-again": Counted("p(x=a, ", "k#=ab, ", ")", "refused"),
    "wrapping-words": Family("", "return ", "f(x=1)", "text"),
    "wrapping-words-on-lines": Family("", "return f(x=1)\n", "", "recovered"),
    "wrapping-words-in-a-name": Family("", "await " * 40 + "f(x=1)\n", "", "refused"),
    "wrapping-calls": Family("", "print(f(x=1))\n", "", "recovered"),
    "wrapping-calls-in-a-row": Family("", "print(", "f(x=1)", "text"),
    "assigned-calls": Family("", "r = f(x=1)\n", "", "recovered"),
    "assignments-in-a-row": Family("", "r = ", "f(x=1)", "text"),
    "namespaces": Family("", "functions.f(x=1)\n", "", "recovered"),
    "namespaces-in-a-name": Family("", "tools." * 40 + "f(x=1)\n", "", "refused"),
    "operator-names": Family("", "get-docs(x=1)\n", "", "recovered"),
    "signs-behind-name": Family("f", " _", "(x=1)", "text"),
    "empty-lists": Family("", "[]\n", "[f(x=1)]", "recovered"),
    "lists-never-closed": Family("", "[f(x=1)\n", "", "refused"),
    # Other dialects.
    "other-dialect-not-offered": Family("f ", '<invoke name="nobody">', "", "text"),
    "other-dialect-half-begun": Family("f ", "<a:b:", "invoke", "text"),
    "other-dialect-long-names": Family("f to=", "to=" + "a" * 250, "", "text"),
    "other-dialect-lines": Family("f {\n", "nobody\n{\n", "", "text"),
    "other-dialect-actions": Family("f ", "Action: nobody\nAction Input: {}\n", "", "text"),
    # Many tools that share their beginnings, or their ends.
    "many-tools-called": Family("[", f"{SHARED}_0007(x=1), ", "]", "recovered", many=True),
    "many-tools-called-with-spaces": Family("", f"{SHARED.replace('_', ' ')} 0007(x=1)\n", "", "recovered", many=True),
    "many-tools-called-with-dots": Family("", f"{SHARED.replace('_', '.')}.0007(x=1)\n", "", "recovered", many=True),
    "many-tools-escaped": Family("", SHARED.replace("_", "\\_") + "\\_0007(x=1)\n", "", "recovered", many=True),
    "many-tools-named-in-prose": Family("", f"So {SHARED}_0007 is asked, ", "", "text", many=True),
    "many-tools-nearly-called": Family(CALL, f"{SHARED}_0007_(x=1)\n", "", "text", many=True),
    "many-tools-nearly-named": Family("", f"{SHARED}_000(x=1)\n", "", "refused", many=True),
    "many-tools-half-named": Family("", "get_weather_", "", "text", many=True),
    "many-tools-half-named-on-lines": Family(CALL, f"{SHARED}_00\n", "", "text", many=True),
    "many-tools-by-their-ends": Family("So ", "noon(", "", "text", many=True),
    "many-tools-in-json": Family("", f'{{"name": "{SHARED}_0007", "arguments": {{}}}}\n', "", "recovered", many=True),
    "many-tools-in-quotes": Family("[", f'"{SHARED}_0007(x=1)", ', "]", "recovered", many=True),
    "many-tools-behind-namespaces": Family("", f"functions.{SHARED}_0007(x=1)\n", "", "recovered", many=True),
    "many-tools-with-operators": Family("", f"{SHARED}-0007(x=1)\n", "", "refused", many=True),
    "many-tools-prose": Family("", "The tide of 0007 turns at noon, 0008 (that is) at 0009. ", "", "text", many=True),
    # As many tools as there are pieces of text: the toolset is made, and its tools are called.
    "offered-and-called": Offered("[", "get_weather_#(x=1), ", "]", "recovered", name="get_weather_#"),
    "offered-and-called-by-one-end": Offered("", "get_#_weather(x=1)\n", "", "recovered", name="get_#_weather"),
    "offered-and-nearly-called": Offered("So ", "got_weather_#(x=1)\n", "", "refused", name="get_weather_#"),
    "offered-and-nearly-called-by-one-end": Offered("So ", "got_#_weather(x=1)\n", "", "refused", name="get_#_weather"),
    "offered-and-named": Offered("So ", "of get_weather_# and ", "", "text", name="get_weather_#"),
    "offered-in-one-word": Offered("So ", "getweather#(x=1) ", "", "text", name="get_weather_#"),
    "offered-words": Offered("", "a#.b ", "(x=1)", "text", name="a#_b"),
    "offered-in-other-scripts": Offered("[", "погода_#(x=1), ", "]", "recovered", name="погода_#"),
    "offered-with-operators": Offered("", "get-#(x=1)\n", "", "recovered", name="get-#"),
    # Lists, and what stands beside them.
    "lists-on-one-line": Family("", "[f(x=1)] ", "", "refused"),
    "lists-on-one-line-with-commas": Family("", "[f(x=1)], ", "", "refused"),
    "lists-on-one-line-behind-colon": Family("So: ", "[f(x=1)] ", "", "text"),
    "lists-on-one-line-not-offered": Family(CALL, "[nobody(x=1)] ", "", "text"),
    "lists-of-lists-of-calls": Family("[", "[f(x=1)], ", "]", "refused"),
    "lists-behind-colons-far": Family("", "And so it was, as it is:" + " " * 79 + "[f(x=1)]\n", "", "recovered"),
    "lists-behind-dots-and-colons": Family(CALL, "." * 380 + ": [f(x=1)] ", "", "text"),
    "lists-behind-colons-and-dots-on-lines": Family("", "So. " + ".)" * 180 + "So it is: [f(x=1)]\n", "", "recovered"),
    "lists-behind-keys": Family("", "key: [f(x=1)]\n", "", "text"),
    "lists-behind-code": Family(CALL, "for a in b: [f(x=1)]\n", "", "text"),
    "calls-in-parentheses": Family("", "(f(x=1))\n", "", "refused"),
    "calls-with-commas": Family("", "f(x=1), ", "", "recovered"),
    "calls-with-semicolons": Family("", "f(x=1); ", "", "recovered"),
    "calls-with-spaces": Family("", "f(x=1) ", "", "refused"),
    "calls-in-calls": Family("", "f(x=", "1" + ")" * 50, "refused"),
    "calls-joined-by-lines": Family("", "f(x=1)\\\n", "", "refused"),
    # What is closed again, as deep as it was opened.
    "deep-lists-closed": Halves("f(x=", "]", ")", "refused", first="[", middle="1"),
    "deep-parentheses-closed": Halves("f(x=", ")", ")", "refused", first="(", middle="1"),
    "deep-dicts-closed": Halves("f(x=", "}", ")", "refused", first='{"a":', middle="1"),
    "deep-values-within-the-limit": Family("f(x=[", "[" * 95 + "]" * 95 + ", ", "])", "recovered"),
    # Arithmetic.
    "sums-as-value": Family("f(x=1", "+1", ")", "refused"),
    "sums-of-calls": Family("f(x=1)", "+f(x=1)", "", "refused"),
    "sums-of-calls-on-lines": Family("f(x=1)", "\n+ f(x=1)", "", "refused"),
    "minus-signs-and-a-number": Family("x=", "-", "1", "text"),
    "signs-of-both-kinds": Family("f(x=[", "-+", "1])", "refused"),
    "signed-words": Family("f(x=[", "-a, ", "])", "refused"),
    "equals-in-a-row": Family("f(x=1)", " == f(x=1)", "", "refused"),
    "powers": Family("", "f**", "f(x=1)", "text"),
    "commas-in-call": Family("f(", ",", ")", "refused"),
    "equations": Family(CALL, "f(x) = 3 x + 1\n", "", "refused"),
    "maths": Family(CALL, "$f(x=1)$ and \\(f(x=1)\\)\n", "", "text"),
    # Quotes within quotes.
    "quotes-nested": Family("f(x='", "a's', b ", "')", "refused"),
    "quotes-nested-double": Family('f(x="', 'a"s", b ', '")', "refused"),
    "quotes-nested-never-closed": Family("f(x='", "a's', b ", "", "refused"),
    "quotes-that-open-words": Family("f(x='", "'at' ", "')", "refused"),
    "quotes-at-the-beginning": Family("f(x=[", "'a' noon', ", "])", "refused"),
    "quotes-and-reserved-words": Family("f(x=[", "'a'or'b', ", "])", "refused"),
    "quotes-and-long-words": Family("f(x='a", " 'b" + "c" * 197 + "' d", "')", "recovered"),
    "quotes-and-prefixes": Family("f(x=(", "r'a' u'b' ", "))", "recovered"),
    "quotes-and-letters": Family("f(x='a", "'r", "')", "recovered"),
    "quotes-of-both-kinds": Family("f(x='a", "\"'b", "')", "refused"),
    "quotes-in-smart-quotes": Family("f(x=“", 'it\'s "so" ', "”)", "recovered"),
    "smart-quotes-in-quotes": Family("f(x='", "“so” it’s ", "')", "recovered"),
    "triple-quotes": Family("f(x=[", "'''a''', ", "])", "recovered"),
    "triple-quotes-in-a-row": Family("f(x=(", '"""a"""', "))", "recovered"),
    "quotes-begun-behind-colons": Family(CALL + "So", ': [nobody(x="', "", "text"),
    "quotes-begun-on-lines": Family(CALL, "nobody(x='\n", "", "text"),
    "quotes-begun-and-escaped-on-lines": Family(CALL, "nobody(x='\\'\n", "", "text"),
    "quotes-of-all-kinds-on-lines": Family(CALL, "nobody(x='\nnobody(x=\"\nnobody(x=“\nnobody(x=‘\n", "", "text"),
    "quotes-begun-in-lists": Family("[", "'f(x=", "", "refused"),
    "long-string-never-closed": Family('f(x="', "x", "", "refused"),
    "long-string-never-closed-of-escapes": Family('f(x="', "\\n", "", "refused"),
    "long-string-never-closed-in-json": Family('{"name": "f", "arguments": {"x": "', "x ", "", "refused"),
    "long-string-never-closed-in-quotes": Family("[\"f(x='", "x ", "", "refused"),
    "long-string-raw": Family("f(x=r'", "\\d+ ", "')", "recovered"),
    "long-string-of-line-ends": Family("f(x='", "\r\n", "')", "recovered"),
    "escapes-named-never-closed": Family("f(x='", "\\N{BULLET", "')", "refused"),
    "escapes-named-and-long": Family("f(x='", "\\N{" + "A" * 199 + "}", "')", "refused"),
    "escapes-octal": Family("f(x='", "\\101", "')", "recovered"),
    "escapes-unknown": Family("f(x='", "\\d", "')", "recovered"),
    "escapes-half": Family("f(x='", "\\\\\\a", "')", "recovered"),
    "escapes-of-json-in-json": Family('["f(x=\\"', "\\\\\\\\n", '\\")"]', "recovered"),
    # Numbers.
    "many-hexadecimal-numbers": Family("f(x=[", "0x" + "f" * 3_500 + ", ", "])", "recovered"),
    "many-long-fractions": Family("f(x=[", "1." + "7" * 4_000 + ", ", "])", "recovered"),
    "many-long-numbers-not-offered": Family(CALL, "nobody(x=" + "1_" * 2_000 + "1)\n", "", "text"),
    "many-numbers-that-go-on": Family(CALL, "nobody(x=" + "1e" * 2_000 + ")\n", "", "text"),
    "numbers-as-words": Family("", "1 2.0 3e5 ", "f(x=1)", "text"),
    # Plain arguments, which are read in one step where they can be.
    "plain-lists-that-fail": Family("f(", "a=[1, 2, 'b', ", "", "refused"),
    "plain-lists-with-one-sum": Family("[", "f(x=[1, 2, 3, 4, 5+6]), ", "]", "refused"),
    "plain-list-that-fails-last": Family("f(x=[1", ", 1", "+1])", "refused"),
    "plain-strings-that-fail": Family("[", "f(a='b', c='d', e='f\\n'), ", "]", "recovered"),
    "plain-arguments-that-fail-last": Counted("f(", "a#='b', ", "c=d)", "refused"),
    "plain-arguments-not-offered": Counted("nobody(", "a#=1, ", ")", "refused"),
    "plain-arguments-and-comments": Counted("f(", "a#=1, # b\n", ")", "refused"),
    # Names and words.
    "names-with-blanks": Family("[", "f   (x=1), ", "]", "recovered"),
    "names-with-comments": Family("[", "f # a\n(x=1), ", "]", "recovered"),
    "names-of-200-letters": Family(CALL, "ab" * 100 + "\n", "", "text"),
    "names-of-dots-and-words": Family("", "a. ", "f(x=1)", "text"),
    "names-of-operators": Family("", "f<>", "(x=1)", "text"),
    "names-with-escapes": Family("[", "g\\_h(x=1), ", "]", "recovered"),
    "marks-of-accents": Family("f", "\u0301", "(x=1)", "text"),
    "keys-with-escapes": Counted("f(", "a\\_#=1, ", ")", "recovered"),
    "keys-with-blanks": Counted("f(", "a#  =  1, ", ")", "recovered"),
    "keys-without-values": Counted("f(", "a#, ", ")", "refused"),
    "namespaces-in-a-row": Family("", "functions.", "f(x=1)", "text"),
    "namespaces-and-words": Family("", "await functions.", "f(x=1)", "text"),
    "keywords-of-all-kinds": Family("", "not return await print ", "f(x=1)", "text"),
    "assigned-lists": Family("", "r = [f(x=1)]\n", "", "text"),
    "prints-in-prints": Family("", "print(print(f(x=1)))\n", "", "text"),
    "wrappers-of-all-kinds": Family("", "r = await f(x=1)\nprint(f(x=1))\nreturn f(x=1)\n", "", "refused"),
    "wrappers-that-fail": Family(CALL, "r = await print(nobody(x=1))\n", "", "text"),
    # Fences, info strings, code.
    "info-strings-of-300": Family(CALL, "```" + "x" * 299 + "\nf(x=1)\n```\n", "", "recovered"),
    "info-strings-of-words": Family("```", "python ", "\nf(x=1)\n```", "recovered"),
    "info-strings-of-blanks": Family("```", " ", "python\nf(x=1)\n```", "recovered"),
    "info-strings-before-lists": Family("", "```json [f(x=1)]\n```\n", "", "recovered"),
    "info-strings-and-names": Family("", "```python f(x=1)\n```\n", "", "text"),
    "fences-of-tildes": Family("So:\n", "~~~\nf(x=1)\n~~~\n", "", "recovered"),
    "fences-in-fences": Family("So:\n", "````\n```\nf(x=1)\n```\n````\n", "", "text"),
    "fences-of-many-ticks": Halves("", "`", "", "refused", first="`", middle="\nf(x=1)\n"),
    "fences-of-many-ticks-in-code": Halves(CALL, "``\n", "", "text", first="`", middle="\n"),
    "fences-indented": Family("So:\n", "   ```\n   f(x=1)\n   ```\n", "", "recovered"),
    "fences-behind-words": Family("", "So it is: ```f(x=1)```\n", "", "text"),
    "code-spans": Family("So ", "`f(x=1)` and ", "", "text"),
    "code-spans-on-lines": Family("", "`f(x=1)`\n", "", "refused"),
    "code-spans-of-two-ticks": Family("", "``f(x=1)``\n", "", "refused"),
    "ticks-in-code": Family(CALL + "```\n", "`\n", "", "text"),
    "blocks-indented-behind-headers": Family("", "def go:\n    f(x=1)\n", "", "text"),
    "blocks-indented-behind-comments": Family("# So:\n", "    f(x=1)\n", "", "text"),
    "blocks-indented-behind-prose": Family("", "So it is:\n    f(x=1)\n", "", "text"),
    "comments-indented": Family("# a\n", "  # b\n", "f(x=1)", "recovered"),
    # What hides what stands in it.
    "hidden-side-by-side": Family("So ", "<!-- -->", "f(x=1)", "text"),
    "hidden-side-by-side-on-lines": Family("So\n", "<!-- -->\n", "f(x=1)", "recovered"),
    "hidden-by-tags": Family(CALL, "<!-- f(x=1) -->\n", "", "text"),
    "hidden-by-tags-never-closed": Family(CALL, "<!-- ", "", "text"),
    "hidden-by-stars": Family(CALL, "/* f(x=1) */\n", "", "text"),
    "hidden-by-stars-never-closed": Family(CALL + "/*", "*", "", "text"),
    "hidden-by-brackets": Family(CALL, "\\[ f(x=1) \\]\n", "", "text"),
    "hidden-by-brackets-on-one-line": Family(CALL + "So ", "\\(f(x=1)\\) ", "", "text"),
    "hidden-by-dollars": Family(CALL, "$$f(x=1)$$\n", "", "text"),
    "hidden-by-dollars-never-closed": Family(CALL + "$$", "$ ", "", "text"),
    "hidden-by-environments": Family(CALL, "\\begin{align}f(x=1)\\end{align}\n", "", "text"),
    "hidden-by-environments-half": Family(CALL + "So ", "\\begin{", "", "text"),
    "hidden-by-turns": Family("", "<|im_start|>user\nf(x=1)<|im_end|>\n", "f(x=1)", "recovered"),
    "hidden-and-calls": Family("", "<!-- no -->\nf(x=1)\n", "", "recovered"),
    "hidden-by-responses": Family("", "<tool_response>f(x=1)</tool_response>\n", "f(x=1)", "recovered"),
    "hidden-half-ended": Family(CALL + "<!--", "--", "", "text"),
    "backslashes-in-prose": Family(CALL + "So ", "\\", "", "text"),
    "dollars-in-prose": Family(CALL + "So ", "$ ", "", "text"),
    "quotes-before-markers": Family(CALL + "So ", "`<think>` ", "", "text"),
    "apostrophes-in-prose": Family(CALL + "So ", "'", "", "text"),
    # Reasoning that ends late, and markers.
    "reasoning-ended-late": Family("f(x=1)\n", "And so on.\n", "</think>f(x=1)", "recovered"),
    "reasoning-ended-late-behind-calls": Family("", "f(x=1)\n", "</think>\nf(x=1)", "recovered"),
    "reasoning-ended-late-behind-lists": Family("", "[f(x=1)]\n", "</think>\nf(x=1)", "recovered"),
    "reasoning-ended-late-behind-a-string": Family("f(x='", "a ", "')</think>f(x=1)", "recovered"),
    "reasoning-ended-late-behind-expressions": Family("f(x=1) + ", "f(x=1) + ", "1</think>f(x=1)", "refused"),
    "reasoning-ended-by-others": Family("<think>", "</thinking>", "</think>f(x=1)", "recovered"),
    "reasoning-ended-and-refused": Family("", "f(x=1) + 1</think>\n", "f(x=1)", "refused"),
    "reasoning-in-brackets": Family("", "[THINK]f(x=1)[/THINK]\n", "f(x=1)", "recovered"),
    "markers-of-all-kinds": Family("", "<tool_call><|python_tag|><s>[TOOL_CALLS]", "f(x=1)", "recovered"),
    "markers-in-brackets": Family("", "[TOOL_CALLS] [f(x=1)]\n", "", "refused"),
    "markers-in-brackets-half": Family(CALL, "[TOOL_\n", "", "text"),
    "markers-and-blanks": Family("", "<tool_call> \n", "f(x=1)", "recovered"),
    "markers-spoiled": Family("f(x=1)\n", "<tool_call>f(x=\n", "", "refused"),
    "markers-never-closed-on-lines": Family("", "<tool_call>\nf(x=1)\n", "", "recovered"),
    "turn-markers-and-calls": Family("", "f(x=1)<|im_end|>\n", "", "refused"),
    # Words that lead to a block, and what they end or begin with.
    "words-that-take-back": Family("", "Do not call\nf(x=1)\n", "", "text"),
    "words-that-take-back-far": Family("", "never " * 60 + "so it is:\nf(x=1)\n", "", "refused"),
    "words-of-one-letter": Family("", "a " * 195 + ":\nf(x=1)\n", "", "refused"),
    "words-of-apostrophes": Family("", "So " + "'" * 380 + ":\nf(x=1)\n", "", "recovered"),
    "words-with-hyphens": Family("", "So " + ("a-" * 90 + "a, ") * 2 + "a:\nf(x=1)\n", "", "recovered"),
    "sentences-of-dots": Family("", "So " + "." * 380 + "a:\nf(x=1)\n", "", "recovered"),
    "sentences-of-dots-and-brackets": Family("", "So " + "." * 190 + ")" * 190 + "a:\nf(x=1)\n", "", "recovered"),
    "sentences-of-commas": Family("", "So " + "," * 380 + "a:\nf(x=1)\n", "", "recovered"),
    "sentences-of-one-letter": Family("", "A. " * 125 + "So:\nf(x=1)\n", "", "recovered"),
    "lines-that-end-in-operators": Family("", "So it is +\nf(x=1)\n", "", "refused"),
    "lines-that-end-in-rules": Family("", "- " * 190 + "-\nf(x=1)\n", "", "recovered"),
    "lines-that-end-in-no-rules": Family("", "- " * 190 + "a=\nf(x=1)\n", "", "refused"),
    "lines-that-end-in-stars": Family("", "So " + "*a " * 120 + "*\nf(x=1)\n", "", "refused"),
    "lines-that-end-in-slashes": Family("", "So " + "/a" * 180 + "/\nf(x=1)\n", "", "refused"),
    "lines-that-end-in-backslashes": Family("", "So -" + "\\" * 380 + "\nf(x=1)\n", "", "refused"),
    "lines-that-end-in-brackets": Family("", "So (\nf(x=1)\n", "", "text"),
    "lines-of-tags": Family("", "<a>" * 126 + "\nf(x=1)\n", "", "recovered"),
    "lines-of-opened-tags": Family("", "<a" * 190 + ">\nf(x=1)\n", "", "refused"),
    "lines-of-tags-before-markers": Family("", "<a>" * 120 + "<tool_call>f(x=1)</tool_call>\n", "", "recovered"),
    "lines-that-begin-with-operators": Family("", "f(x=1)\n+ so it is\n", "", "recovered"),
    "lines-that-begin-with-stars": Family("", "f(x=1)\n" + "*" * 380 + "\n", "", "recovered"),
    "lines-that-begin-with-rules": Family("", "f(x=1)\n" + "- " * 190 + "\n", "", "recovered"),
    "lines-that-begin-with-no-rules": Family("", "f(x=1)\n" + "- " * 190 + "a\n", "", "refused"),
    "lines-that-begin-with-bars": Family("", "f(x=1)\n" + "| " * 190 + "a\n", "", "refused"),
    "lines-that-begin-with-bullets": Family("", "f(x=1)\n- " + "a, " * 120 + "\n", "", "refused"),
    "lines-like-calls-of-300": Family(CALL, "ab " * 99 + "(x=1)\n", "", "text"),
    "lines-like-assignments": Family(CALL, "a = b = c = ", "", "text"),
    "colons-and-half-lists": Family(CALL + "So", ": [f", "", "text"),
    "colons-and-tabs": Family(CALL + "So", ":" + "\t" * 80, "", "text"),
    "carriage-returns-behind-lines": Family("", "f(x=1)\r\r", "", "recovered"),
    "carriage-returns-in-prose": Family(CALL, "So it is\r", "", "text"),
    "line-ends-of-all-kinds": Family(CALL, "\r\n\n\r", "f(x=1)", "recovered"),
    "line-separators": Family(CALL, "\u2028f(x=1)\x85", "", "text"),
    # JSON.
    "json-top-keys": Counted("{", '"#": 1, ', "}", "text"),
    "json-lists": Family(CALL, '[{"name": "f", "arguments": {}}]\n', "", "recovered"),
    "json-names-of-others": Family(CALL, '{"name": "f", "name": ', "", "refused"),
    "json-deep-in-string": Family('{"name": "f", "arguments": "{', '\\"a\\": {', '}"}', "refused"),
    "json-strings-in-strings": Family('{"name": "f", "arguments": "{\\"x\\": \\"', '\\\\\\"', '\\"}"}', "recovered"),
    "json-empty-arguments": Family('[{"name": "f", "arguments": "{', " ", '}"}]', "recovered"),
    "json-adjacent-strings": Family('{"name": "f", "arguments": {"x": ', '"a" ', "}}", "refused"),
    "json-fences": Family("So:\n", '```json\n{"name": "f", "arguments": {}}\n```\n', "", "recovered"),
    "json-types": Family(
        "", '{"type": "function", "function": {"name": "f", "parameters": {"x": 1}}}\n', "", "recovered"
    ),
    "json-name-alone": Family('{"name": "', "a", '", "arguments": {}}', "refused"),
    "json-name-of-words": Family('{"name": "', "f ", '", "arguments": {}}', "refused"),
    "json-name-and-values": Halves('{"name": "', "1, ", "]}}", "refused", first="a", middle='", "arguments": {"x": ['),
    "json-operators-and-values": Halves(
        '{"name": "', "1, ", "]}}", "refused", first="a-", middle='", "arguments": {"x": ['
    ),
    "json-namespaces-and-values": Halves(
        '{"name": "', "1, ", "]}}", "refused", first="tools.", middle='", "arguments": {"x": ['
    ),
    "json-key-and-values": Halves('{"', "1, ", "]}}", "text", first="a", middle='": {"x": ['),
    "json-arguments-first": Family('{"arguments": {"x": [', "1, ", ']}, "name": "f"}', "recovered"),
    # One thing, then another: the first is not looked at again with each piece of the second.
    "blanks-then-values": Halves("So:\n", "1, ", "])", "text", first=" ", middle="f(x=["),
    "blanks-then-string": Halves("So:\n", "ab ", "')", "text", first=" ", middle="f(x='"),
    "blanks-then-words": Halves("So:\n", "ab ", "", "text", first=" ", middle="and "),
    "indent-then-values": Family("So:\n  f(x=[", "1, ", "])", "text"),
    "indent-then-calls": Family("So:\n  [", "f(x=1), ", "]", "text"),
    "indent-then-fence": Family("So:\n  ```\n  [", "f(x=1), ", "]\n```", "recovered"),
    "line-ends-then-values": Halves("So:", "1, ", "])", "recovered", first="\n", middle="f(x=["),
    "comments-then-values": Halves("", "1, ", "])", "recovered", first="# a\n", middle="f(x=["),
    "comment-then-values": Halves("#", "1, ", "])", "recovered", first="a ", middle="\nf(x=["),
    "prose-then-values": Halves(CALL, "1, ", "])", "recovered", first="And so on. ", middle="\nf(x=["),
    "prose-then-calls": Halves("", "f(x=1)\n", "", "recovered", first="And so on. ", middle=":\n"),
    "prose-then-string": Halves(CALL, "a ", "')", "recovered", first="And so on.\n", middle="f(x='"),
    "calls-then-prose": Halves("", "And so on. ", "", "recovered", first="f(x=1)\n", middle="So: "),
    "calls-then-prose-lines": Halves("", "And so on.\n", "", "recovered", first="f(x=1)\n", middle="So:\n"),
    "calls-then-values": Halves("", "1, ", "])", "recovered", first="f(x=1)\n", middle="f(x=["),
    "calls-then-string": Halves("", "a ", "')", "recovered", first="f(x=1)\n", middle="f(x='"),
    "calls-then-comment": Halves("", "a ", "", "recovered", first="f(x=1)\n", middle="# "),
    "calls-then-blanks": Halves("", " ", "", "recovered", first="f(x=1)\n", middle=" "),
    "calls-then-line-ends": Halves("", "\n", "f(x=1)", "recovered", first="f(x=1)\n", middle="\n"),
    "calls-then-bullets": Halves("", "- a\n", "", "refused", first="f(x=1)\n", middle="- "),
    "calls-then-reasoning": Halves("", "a ", "</think>\nf(x=1)", "refused", first="f(x=1)\n", middle="<think>"),
    "calls-then-half-call": Halves("[", "(", "", "refused", first="f(x=1), ", middle="f("),
    "calls-then-half-json": Halves("", "1, ", "", "refused", first="f(x=1)\n", middle='{"name": "f", "arguments": ['),
    "calls-then-fence": Halves("", "x = 1\n", "", "recovered", first="f(x=1)\n", middle="```\n"),
    "list-then-list": Halves("[", "f(x=1), ", "]", "recovered", first="f(x=1), ", middle="]\n["),
    "lists-then-string": Halves("", "a ", "')]", "recovered", first="[f(x=1)]\n", middle="[f(x='"),
    "fences-then-prose": Halves("", "And so on. ", "", "recovered", first="```\nf(x=1)\n```\n", middle="So "),
    "fence-code-then-calls": Halves(CALL + "```\n", "f(x=1)\n", "", "recovered", first="x = 1\n", middle="```\n"),
    "markers-then-values": Halves("", "1, ", "])", "recovered", first="<tool_call>", middle="f(x=["),
    "turn-markers-then-values": Halves("", "1, ", "])", "recovered", first="<|im_end|>", middle="f(x=["),
    "byte-order-marks-then-values": Halves("", "1, ", "])", "refused", first="\ufeff", middle="f(x=["),
    "string-then-values": Halves("f(x='", "1, ", "])", "recovered", first="a ", middle="', y=["),
    "string-then-calls": Halves("[f(x='", "f(x=1), ", "]", "recovered", first="a ", middle="'), "),
    "key-then-values": Halves("f(", "1, ", "])", "refused", first="a", middle="=["),
    "ticks-then-values": Halves("", "1, ", "])\n", "recovered", first="`", middle="\nf(x=["),
    "not-offered-then-calls": Halves("", "f(x=1)\n", "", "refused", first="nobody(x=1)\n", middle=""),
    "not-offered-then-values": Halves("[", "1, ", "])]", "refused", first="nobody(x=1), ", middle="f(x=["),
    "hidden-then-calls": Halves("<!--", "f(x=1)\n", "", "recovered", first=" a", middle="-->\n"),
    # Other dialects.
    "other-dialect-tags": Family("f ", "<" + ":" * 20, "", "text"),
    "other-dialect-channels": Family("f to=", "<|channel|>" + "a" * 80, "", "text"),
    "other-dialect-channels-named": Family("f ", "<|channel|>to=nobody", "", "text"),
    "other-dialect-names-of-lines": Family("f {\n", "a" * 256 + "\n", "", "text"),
    "other-dialect-names-of-lines-with-blanks": Family("f {\n", "        nobody    \r\n", "", "text"),
    "other-dialect-arrows": Family("f ", "\n>>>" + "a" * 256, "", "text"),
    "other-dialect-tool-calls": Family("f {", "<tool_call>" + "a" * 250 + " ", "", "text"),
    "other-dialect-functions": Family("f ", "<function=functions.nobody>", "", "text"),
    "other-dialect-flowers": Family("f ", "\u273fFUNCTION\u273f:" + "a" * 250, "", "text"),
    "other-dialect-prefixes": Family("f ", '<|tools_prefix|>[{"nobody"', "", "text"),
}


# Each of these again and again in each of these places: for the long run of `growth.py`, and briefly by default.
SIGNS: Final = {
    "blanks": " ",
    "tabs": "\t",
    "form-feeds": "\f",
    "carriage-returns": "\r",
    "line-ends": "\n",
    "nulls": "\0",
    "minus-signs": "-",
    "plus-signs": "+",
    "stars": "*",
    "slashes": "/",
    "percent-signs": "%",
    "ampersands": "&",
    "bars": "|",
    "carets": "^",
    "equals-signs": "=",
    "less-than-signs": "<",
    "greater-than-signs": ">",
    "at-signs": "@",
    "exclamation-marks": "!",
    "question-marks": "?",
    "tildes": "~",
    "dots": ".",
    "commas": ",",
    "semicolons": ";",
    "colons": ":",
    "hashes": "#",
    "dollars": "$",
    "backslashes": "\\",
    "underscores": "_",
    "ticks": "`",
    "single-quotes": "'",
    "double-quotes": '"',
    "smart-quotes": "“",
    "round-brackets": "(",
    "square-brackets": "[",
    "curly-brackets": "{",
    "closers": ")",
    "square-closers": "]",
    "curly-closers": "}",
    "digits": "7",
    "letters": "a",
}
PLACES: Final = {
    "at-the-start": ("", "f(x=1)"),
    "behind-a-call": ("f(x=1)", ""),
    "between-calls": ("f(x=1)", "f(x=2)"),
    "below-a-list": ("[f(x=1)]\n", ""),
    "as-a-value": ("f(x=", "1)"),
    "in-a-string": ("f(x='", "')"),
    "in-a-key": ("f(a", "=1)"),
    "in-a-name": ("f", "(x=1)"),
    "before-a-key": ("f(x=1, ", "y=2)"),
    "in-a-fence": ("```\nf(x=1)\n", "\n```"),
    "in-an-info-string": ("```", "\nf(x=1)\n```"),
    "in-code": (CALL + "```\nx\n", "\n```\n"),
    "in-reasoning": ("<think>", "</think>f(x=1)"),
    "in-a-marker": ("<tool_call>", "f(x=1)</tool_call>"),
    "in-half-a-marker": ("<tool_call", ">f(x=1)"),
    "in-json": ('{"name": "f", "arguments": {"x": ', "1}}"),
    "in-a-string-of-json": ('{"name": "f", "arguments": {"x": "', '"}}'),
    "in-a-quoted-call": ('["f(x=', '1)"]'),
    "in-a-comment": ("# ", "\nf(x=1)"),
    "in-prose": (CALL + "So ", "\nf(x=1)"),
    "before-a-block": (CALL + "So it is ", ":\nf(x=1)\n"),
    "behind-a-colon": (CALL + "So: ", "[f(x=1)]"),
    "in-what-is-hidden": (CALL + "<!-- ", " -->\nf(x=1)"),
}
SIGNS_IN_PLACES: Final[dict[str, Family]] = {
    f"{sign}-{place}": Family(head, character, tail, "")
    for place, (head, tail) in PLACES.items()
    for sign, character in SIGNS.items()
}
