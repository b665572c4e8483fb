"""Size: time and memory grow with the length of the answer and no faster, for any text.

A family is a text of any length made of one repeated piece; it is read whole and in deltas, once and twice as long. By
default the lengths are what a minute pays for; with RECOVERY_SLOW set, every family is read at 10 MB too. Time is what
this process takes, not what the clock says. Memory is that of a process of its own: a helper, which is this file run as
a program, forks one for each family.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import recovery
from recovery import Limits, Policy, Reason, Recovery, Stream, Toolset, recover

SLOW_ONLY = pytest.mark.skipif(not os.environ.get("RECOVERY_SLOW"), reason="takes long: set RECOVERY_SLOW")


@dataclass(frozen=True)
class Family:
    """`head`, then `unit` again and again, then `tail`; `status` is what becomes of it when no limit is in the way."""

    head: str
    unit: str
    tail: str
    status: str

    def text(self, size: int) -> str:
        times = (size - len(self.head) - len(self.tail)) // len(self.unit)
        return self.head + self.unit * max(times, 1) + self.tail


@dataclass(frozen=True)
class Counted(Family):
    """The same, with `#` in `unit` the number of the repetition."""

    def text(self, size: int) -> str:
        width = len(str(size))
        times = (size - len(self.head) - len(self.tail)) // (len(self.unit) - 1 + width)
        pieces = [self.unit.replace("#", f"{number:0{width}}") for number in range(max(times, 1))]
        return self.head + "".join(pieces) + self.tail


# A line of prose that names a call: without one, prose is turned down unread.
CALL = "No more than f(x=1), said he.\n"

FAMILIES = {
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
}

# One token that a limit bounds: read in small pieces, its beginning must not be looked at again with each.
TOKENS = [
    "long-name",
    "long-name-other-script",
    "long-name-escaped",
    "operator-words",
    "operators-behind-call",
    "digits-as-value",
    "digits-behind-point",
    "zeros-hexadecimal",
    "underscores-in-number",
    "exponents",
    "digits-other-script",
]
# What takes most memory, and what once took too much.
LARGEST = [
    "words",
    "digits-as-value",
    "exponents",
    "openers-round",
    "escapes",
    "same-key-again",
    "keys-of-two-letters",
    "spaces-behind-name",
    "quoted-calls-of-deep-values",
]

TOOLS = Toolset(
    [
        *("f", "g_h", "if_f", "get-docs"),
        {"name": "p", "parameters": {"properties": {"x": {"type": "string"}, "y": {"type": "integer"}}}},
    ]
)
# A limit would end the reading early and hide how it grows; depth is left, since nothing can be as deep as long.
LIFTED = Limits(characters=10**9, calls=10**9, values=10**9)
POLICY = Policy.lenient(LIFTED)

# Twice the text may take this much longer. A quadratic step takes four times.
MOST_GROWTH = 2.5
# Seconds of the process below which a ratio says more about the clock.
FLOOR = 0.005
# The lowest times of up to so many rounds: caches are shared with what else the machine does.
ROUNDS = 6
# No further round, and no larger text, after so many seconds of the process.
PATIENCE = 3

# Characters: the limit on the digits of a number, which is above that on a name.
LONGEST_TOKEN = Limits().digits

MEGA = 1_000_000
# Bytes for a character, the text itself counted in: 10 MB of any text take at most 400 MB.
MOST_MEMORY = 40
# Bytes besides: the heap grows in steps.
STEP = MEGA
# In deltas each piece is an object of its own, which the stream and the caller hold: that of one wide character takes
# 80 bytes.
MOST_MEMORY_IN_DELTAS = 160

# What is read: the whole, deltas of four characters, deltas of one; and the text for each, which is then read twice as
# long too.
# How many characters a delta has, 0 for the whole; below 0 with calls that go out one by one.
READINGS = {"whole": 0, "deltas-of-4": 4, "deltas-of-1": 1, "by-call-in-deltas-of-4": -4}
SIZES = {"whole": 80_000, "deltas-of-4": 16_000, "deltas-of-1": 8_000, "by-call-in-deltas-of-4": 16_000}
LARGE_SIZES = {"whole": 5 * MEGA, "deltas-of-4": MEGA, "deltas-of-1": MEGA // 2, "by-call-in-deltas-of-4": MEGA}


@pytest.fixture(autouse=True, scope="module")
def _without_the_garbage_of_others() -> Iterator[None]:
    """What pytest holds is not looked through again and again while a text is timed."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def read_whole(text: str) -> Recovery:
    return recover(text, TOOLS, policy=POLICY)


def read_deltas(text: str, size: int) -> Recovery:
    """As READINGS has it."""
    if not size:
        return read_whole(text)
    stream = Stream(TOOLS, policy=POLICY, commit="answer" if size > 0 else "call")
    for at in range(0, len(text), abs(size)):
        stream.feed(text[at : at + abs(size)])
    stream.close()
    return stream.result


def check_growth(family: Family, size: int, delta: int) -> None:
    """Twice the text takes about twice the time.

    Where it does not, larger texts are tried: memory comes in steps, and a machine may pay for one of them dearly. What
    grows faster than the text grows so at every length.
    """
    began = time.process_time()
    for factor in (1, 2):
        growth, best = measure_growth(family, factor * size, delta)
        if growth <= MOST_GROWTH:
            return
        if time.process_time() - began > PATIENCE:
            break
    pytest.fail(f"{factor * size:,} characters take {best * 1000:.1f} ms, twice as many {growth:.1f} times as long")


def measure_growth(family: Family, size: int, delta: int) -> tuple[float, float]:
    """How many times as long twice the text takes, and how long the text takes.

    It is the time of this process: what else the machine does is not counted.
    """
    texts = (family.text(size), family.text(2 * size))
    best = [float("inf"), float("inf")]
    began = time.process_time()
    for _ in range(ROUNDS):
        gc.collect()
        for place, text in enumerate(texts):
            start = time.process_time()
            result = read_deltas(text, delta)
            best[place] = min(best[place], time.process_time() - start)
            check_result(family, text, result)
        if best[1] <= max(FLOOR, MOST_GROWTH * best[0]):
            return 1.0, best[0]
        if time.process_time() - began > PATIENCE:
            break
    return best[1] / best[0], best[0]


def check_result(family: Family, text: str, result: Recovery) -> None:
    if len(text) > LONGEST_TOKEN:
        assert result.status == family.status
    if result.status != "recovered":
        assert result.text == text
    if result.refusal is not None:
        assert 0 <= result.refusal.span.start <= result.refusal.span.end <= len(text)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", FAMILIES)
def test_time_grows_with_the_text(name: str, reading: str) -> None:
    check_growth(FAMILIES[name], SIZES[reading], READINGS[reading])


@SLOW_ONLY
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", FAMILIES)
def test_time_grows_with_a_text_of_megabytes(name: str, reading: str) -> None:
    check_growth(FAMILIES[name], LARGE_SIZES[reading], READINGS[reading])


@pytest.mark.parametrize("name", TOKENS)
def test_time_grows_with_a_token_in_deltas_of_one_character(name: str) -> None:
    growth, best = measure_growth(FAMILIES[name], LONGEST_TOKEN // 2, 1)
    assert growth <= MOST_GROWTH, f"{LONGEST_TOKEN // 2:,} characters take {best * 1000:.1f} ms"


@pytest.mark.parametrize("name", FAMILIES)
def test_deltas_change_nothing(name: str) -> None:
    """Of a token or a line that is longer than what is waited for, too."""
    text = FAMILIES[name].text(3_000)
    whole = read_whole(text)
    assert read_deltas(text, 1) == whole
    assert read_deltas(text, 4) == whole


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the helper forks")
@pytest.mark.parametrize(
    ("size", "delta", "names"),
    [
        pytest.param(MEGA // 10, 0, list(FAMILIES), id="100-kb"),
        pytest.param(2 * MEGA, 0, LARGEST, id="2-mb"),
        pytest.param(MEGA // 10, 1, list(FAMILIES), id="100-kb-in-deltas", marks=SLOW_ONLY),
        pytest.param(10 * MEGA, 0, list(FAMILIES), id="10-mb", marks=SLOW_ONLY),
    ],
)
def test_memory_grows_with_the_text(size: int, delta: int, names: list[str]) -> None:
    taken = measure_memory(size, delta, names)
    assert len(taken) == len(names)
    allowed = (MOST_MEMORY_IN_DELTAS if delta else MOST_MEMORY) * size + STEP
    too_much = {name: f"{peak / MEGA:.1f} MB" for name, peak in taken.items() if peak > allowed}
    assert too_much == {}, f"{size:,} characters may take {allowed / MEGA:.1f} MB"


@pytest.mark.parametrize("name", ["deep-lists", "deep-parentheses", "deep-tuples", "deep-dicts"])
def test_depth_is_a_refusal(name: str) -> None:
    family = FAMILIES[name]
    text = family.head + family.unit * 100_000
    for result in (recover(text, TOOLS), read_deltas(text, 1)):
        assert result.refusal is not None
        assert result.refusal.reason is Reason.TOO_DEEP
        assert result.text == text
        # The span is the bracket that was one too many.
        assert text[result.refusal.span.start : result.refusal.span.end] == family.unit[0]
        assert "too_deep" in result.refusal.explain(text)


@pytest.mark.parametrize(("opener", "closer"), ["[]", "()"])
def test_depth_is_a_refusal_where_all_is_closed(opener: str, closer: str) -> None:
    result = recover(f"f(x={opener * 100_000}{closer * 100_000})", TOOLS)
    assert result.refusal is not None
    assert result.refusal.reason is Reason.TOO_DEEP


def measure_memory(size: int, delta: int, names: list[str]) -> dict[str, int]:
    """Bytes that each family takes at its peak, beyond what the helper takes that reads nothing."""
    command = [sys.executable, __file__, str(size), str(delta), *names]
    environment = {**os.environ, "PYTHONPATH": str(Path(recovery.__file__).parent.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    measured: dict[str, int] = json.loads(done.stdout)
    base = measured.pop("")
    return {name: peak - base for name, peak in measured.items()}


def main(size: int, delta: int, names: list[str]) -> None:
    """The helper: the peak of a process of its own for each family, as JSON; under "" that of one that reads a call."""
    peaks = {}
    for name in ["", *names]:
        child = os.fork()
        if child == 0:
            # Whatever happens, the child must not go on with the parent's work.
            try:
                read_limited(FAMILIES[name].text(size) if name else "f(x=1)", delta)
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status, usage = os.wait4(child, 0)
        if status:
            sys.exit(f"{name}: the child ended with status {status}")
        peaks[name] = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps(peaks))


def read_limited(text: str, delta: int) -> None:
    """Under the limits that hold by default: they bound memory."""
    if not delta:
        recover(text, TOOLS, policy=Policy.lenient())
        return
    stream = Stream(TOOLS, policy=Policy.lenient())
    for at in range(0, len(text), delta):
        stream.feed(text[at : at + delta])
    stream.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
