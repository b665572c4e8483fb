"""Answers that nearly are calls: the strategies of the property tests and the oracles.

Texts are written from templates that are calls, with every spelling the rules know, and then mutated a little, so that
nearly half are recovered and the rest fails late and for many reasons; `test_properties.py` counts both. Literals come
from a pool that is made once (a draw is what takes time), beside strings that are drawn part by part.
"""

from __future__ import annotations

import json
import os
from functools import partial
from keyword import iskeyword
from random import Random
from typing import Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy  # noqa: TC002  # `st.composite` asks for them

from recovery import Allowance, Policy, Toolset

# How many times the examples of a usual run; above 1 they are new ones every time (conftest.py).
TIMES: Final = int(os.environ.get("EXAMPLES_TIMES", "1"))


def examples(number: int) -> settings:
    """So many examples in a usual run."""
    return settings(max_examples=number * TIMES)


_OBJECT_FIRST: Final = {
    "type": "object",
    "properties": {"where": {"type": "object", "properties": {"a": {}, "b": {}}}, "n": {"type": "integer"}},
}

_TYPED: Final = {
    "type": "object",
    "properties": {
        "mode": {"enum": ["fan", "grill"]},
        "unit": {"type": "string"},
        "at": {"type": "integer"},
        "any": {},
        "code": {"type": ["string", "integer"]},
    },
}
# `not_f` beside `f`: `not f(…)` is ambiguous. `get-docs` can be called by its alias, which is words.
OFFERED: Final = "f g get_weather a_b not_f get-docs x.y 查水位 True _p".split()
OFFER: Final = [
    *OFFERED,
    "read gauge",
    {"name": "sift", "parameters": _OBJECT_FIRST},
    {"name": "heat", "parameters": _TYPED},
]
ALIASES: Final = {"docs": "get-docs", "a.c": "f", "z z": "g"}
TOOLS: Final = Toolset(OFFER, aliases=ALIASES)
# Each name as it may be written: right, and not quite.
_NAMES: Final = [
    *"f g get_weather get.weather get\\_weather a.b a\\_b not.f docs a.c x.y 查水位 True \\_p sift heat".split(),
    *["get weather", "a b", "read gauge", "z z", "f ", "a.b\t"],
]
_ODD_NAMES: Final = [*"h F get-weather a/b f.g get-docs getweather".split(), "not f", "return f", "get weather "]
_KEYS: Final = "x y where n a a_b b\\_c from None true ключ _ x1".split()
_PYTHON_NAMES: Final = [name for name in _NAMES if "\\" not in name and " " not in name.strip()]
_PYTHON_KEYS: Final = [key for key in _KEYS if key.isidentifier() and not iskeyword(key)]

# Policies that differ in what they allow.
POLICIES: Final = (Policy.strict(), Policy.lenient(), *(Policy([allowance]) for allowance in Allowance))
# Any set of allowances; the empty one and all of them among the first.
allowed: Final = st.one_of(
    st.sets(st.sampled_from(Allowance), max_size=4), st.sets(st.sampled_from(Allowance)).map(set(Allowance).difference)
)

_NUMBERS: Final = (
    "0 1 7 -1 +3 -0 1_000 0x1F 0o17 0b101 0X_f 123456789012345678901234567890".split()
    + "1.5 -2.5 .5 5. 1e3 1E-3 -1e+2 00.5 1_0.0_1 -0.0 1e-400".split()
    + ["- 2", "+ 0.5"]
)
_CONSTANTS: Final = "True False None true false null".split()
_BAD_NUMBERS: Final = "07 00 0_0 1__0 1_ 0x 0b2 1.2.3 1e 1e999 -1e999 2j 1.5J --1 -True -(1) ~1 1+1 - １".split()
_BAD_VALUES: Final = (
    "y f(x=1) b'a' f'a' 'a'b'' {1,2} {1:2} {**x} *x (x) lambda:1 nan ... x.y “a” [,] (,) {'a'} '\\x4' '\\ud83d'".split()
)
# What a string may hold, in one-line strings too, whatever quotes stand around it.
_PARTS: Final = [
    *"a \t#,.()[]{}`=:;-_é🐝\x00\u2028\u0301",
    *"f(x=1) \\n \\x41 \\u00e9 \\N{BULLET} \\0 \\777 \\' \\\" \\\\ \\d \\_ \\ud83d\\udc1d ``` \\r\\n".split(),
    *["\\\n", "\\\r\n", "\\\r"],
]
# What not every string may hold.
_ODD_PARTS: Final = [
    *"' \" '' \"\" ''' \"\"\" \\ \\ud83d \\x4 \\N{X}".split(),
    *["\n", "\r", "\r\n", "\ud800"],
]
_PREFIXES: Final = ["", "r", "u", "R", "U"]
_QUOTES: Final = ["'", '"', '"""', "'''"]

# White space and comments as they may stand between tokens in brackets.
_GAPS: Final = ["", " ", "\n", "\r", "\r\n", "\n  ", "\t", "\f", "\\\n", "\\\r\n", " # c, 'd (\n", "#\r", "# x\r\n"]
_SEPARATORS: Final = ["\n", ";", ",", "; ", ", ", "\r", "\r\n", "\n\n", ";\n", ",\n", " # c\n", "\n# c\r\n", " \n\t\n"]


def _bracketed(opening: str, items: list[str], closing: str, gap: str, comma: str = "") -> str:
    return f"{opening}{gap}{f'{gap},{gap}'.join(items)}{gap}{comma if items else ''}{gap if comma else ''}{closing}"


def _literal(random: Random, depth: int) -> str:
    """A literal as text."""
    kind = random.randrange(4 + (depth > 0) * 6)
    gap = random.choice(_GAPS) if not random.randrange(3) else ""
    comma = random.choice(["", "", ","])
    if kind == 0:
        return random.choice(_CONSTANTS)
    if kind == 1:
        return random.choice(_NUMBERS)
    if kind in (2, 3):
        return gap.join(_string(random) for _ in range(random.choice([1, 1, 1, 1, 2, 3])))
    items = [_literal(random, depth - 1) for _ in range(random.randrange(4))]
    if kind in (4, 5):
        return _bracketed("[", items, "]", gap, comma)
    if kind == 6:
        return _bracketed("(", items, ")", gap, "," if len(items) == 1 else comma)
    if kind == 7:
        return f"({gap}{items[0] if items else '()'}{gap})"
    keys = random.sample(["'a'", '"b"', "'c d'", '"\\x64"', "'''e\n'''", "'f' \"g\""], len(items))
    return _bracketed("{", [f"{key}{gap}:{gap}{item}" for key, item in zip(keys, items, strict=True)], "}", gap, comma)


def _string(random: Random) -> str:
    quote = random.choice(_QUOTES)
    prefix = "" if random.randrange(4) else random.choice(_PREFIXES)
    body = "".join(random.choices(_PARTS, k=random.randrange(4)))
    if prefix in ("r", "R"):
        # Nothing that ends in a backslash, or means something only without the prefix.
        body = body.replace("\\", "")
    return f"{prefix}{quote}{body}{quote}"


_random: Final = Random(7)
# The shortest first: that is where a failing example shrinks to.
_made: Final = {_literal(_random, 3) for _ in range(600)} | {*_NUMBERS, *_CONSTANTS}
LITERALS: Final = sorted(_made, key=lambda text: (len(text), text))


@st.composite
def strings(draw: DrawFn) -> str:
    """A string literal as text; now and then one that is none."""
    parts = draw(st.lists(st.sampled_from(_PARTS + _ODD_PARTS), max_size=4))
    quote = draw(st.sampled_from(_QUOTES))
    return f"{draw(st.sampled_from(_PREFIXES))}{quote}{''.join(parts)}{quote}"


_literals: Final = st.sampled_from(LITERALS)
# One in about twenty of these is no value.
values: Final = st.integers(0, 19).flatmap(
    lambda number: {18: strings(), 19: st.sampled_from(_BAD_NUMBERS + _BAD_VALUES)}.get(number, _literals)
)
_commas: Final = st.sampled_from(["", "", "", ","])
# Gaps are drawn once a text; half of the texts have none.
_gaps: Final = st.sampled_from([""] * len(_GAPS) + _GAPS)


@st.composite
def calls(draw: DrawFn, gap: str = "", *, python: bool = False) -> str:
    """A call as text: mostly of a name that is offered, with different keys and values that are literals.

    `python`: names and keys are spelled as Python could read them.
    """
    odd = draw(st.integers(0, 31))
    name = draw(st.sampled_from(_ODD_NAMES if odd == 31 else _PYTHON_NAMES if python else _NAMES))
    keys = draw(st.lists(st.sampled_from(_PYTHON_KEYS if python else _KEYS), max_size=3, unique=True))
    keys += keys[:1] if odd == 30 else []
    if odd in (28, 29):
        pairs = [f"'{key}'{gap}:{gap}{draw(values)}" for key in keys]
        return f"{name}({_bracketed('{', pairs, '}', gap)})"
    pairs = [f"{key}{gap}={gap}{draw(values)}" for key in keys]
    return _bracketed(f"{name}(", pairs, ")", gap, draw(_commas))


# Calls that it takes an allowance to read, or nearly; "%" is a literal of the pool.
_STEP_CALLS: Final = [
    *["heat('fan')", "heat('grill', unit=%)", "heat('fan', 'C', 7, %)", "heat(%)", "heat(mode='fan', 'C')", "f(1)"],
    *[
        "heat('fan', 'C', 3.5, %)",
        "heat('fan', 'C')",
        "sift({'a': %})",
        "sift({'where': {'a': %}})",
        "sift({'b': 1}, 2)",
    ],
    *["heat(mode=fan)", "heat(unit=celsius, any=%)", "heat(mode=oven)", "heat(at=now)", "heat(unit=none)", "f(x=y)"],
    *["heat(unit=градус)", "heat(unit=07)", "heat(at=007, any=%)", "heat(code=08)", "heat(any=[07])", "f(x=00)"],
    *["f(x: %)", "f(x:%, y : 'a')", "heat(mode: 'fan')", "f(x: %, y=1)", "heat(unit: str)", "f('x': 1)"],
    *["await f(x=%)", "return f()", "r = f(x=%)", "r=g()", "print(f(x=%))", "print(f(),)", "print(print(f()))"],
    *["r = await f()", "print(f(), g())", "await not_f()", "print(x=1)", "await return f()"],
    *["functions.f(x=%)", "default_api.get_weather()", "functions.functions.f()", "tools.a.b(x=%)", "api.h()"],
    *["get-docs(x=%)", "get-docs()", "functions.get-docs()", "await get-docs(x=1)", "get - docs()"],
    *["f(x=“a”)", "f(x=‘a, b’, y=%)", "f(x=“it's”)", "f(x=“a)", "f(x=‘a”)", "f(x=“a\\n“)"],
    *[
        "f(x='Domino's')",
        "f(x='a 'b c' d', y=%)",
        'f(x="say "hi" now")',
        "f(x='a'b')",
        "f(x='a 'b, c')",
        "f(x='a'+'b')",
    ],
    *["f(x='a\nb')", 'f(x="a\r\n", y=%)', "get\\_weather(x=%)", "f(a\\_b=%)"],
]


@st.composite
def _step_calls(draw: DrawFn) -> str:
    return draw(st.sampled_from(_STEP_CALLS)).replace("%", draw(values))


# Arguments of a JSON call as text: JSON, as Python writes it, or nearly.
_JSON_NAMES: Final = [
    "f",
    "f",
    "get.weather",
    "get_weather",
    "heat",
    "get-docs",
    "functions.f",
    "not f",
    "h",
    "caf\\u00e9",
]
_JSON_ARGUMENTS: Final = [
    *["{}", '{"x": 1}', '{"unit": "a\\/b\\u00e9\\n"}', '{"any": [1, -2.5e3, {"a": null}]}', "{'at': 3, 'any': True}"],
    *[
        '{\n  "unit": "it\'s",\n  "at": 7\n}',
        '{"x": "\\x41"}',
        '{"x": 1, "x": 2}',
        '"{\\"any\\": 1}"',
        '"{}"',
        '"x"',
        "[]",
    ],
    *['{"any": f(x=1)}', "{'any': 'Domino's'}", '{"any": 07}', '{"any": "a\nb"}', '{"any": NaN}', '{"any": fan}'],
]
_JSON_FORMS: Final = [
    *['{"name": "NAME", "arguments": ARGS}'] * 6,
    *[
        '{"arguments": ARGS, "name": "NAME"}',
        "{'name': 'NAME', 'parameters': ARGS}",
        '{"tool_name":"NAME","args":ARGS}',
    ],
    *['{"type": "function", "function": {"name": "NAME", "arguments": ARGS}}', '{"function": "NAME", "params": ARGS}'],
    *['{"id": "c1", "type": "function", "function": {"name": "NAME", "arguments": "{\\"any\\": [\\"a\\"]}"}}'],
    *['{"name": "NAME", "description": "f", "parameters": ARGS}', '{"name": "NAME"}', '{"name": "NAME", "age": 4}'],
    *['{"name": "NAME", "arguments": ARGS, "id": 7}', '{"name": NAME, "arguments": ARGS}', "{NAME: ARGS}"],
]


@st.composite
def _json_calls(draw: DrawFn) -> str:
    form = draw(st.sampled_from(_JSON_FORMS))
    return form.replace("NAME", draw(st.sampled_from(_JSON_NAMES))).replace(
        "ARGS", draw(st.sampled_from(_JSON_ARGUMENTS))
    )


@st.composite
def json_blocks(draw: DrawFn) -> str:
    """Calls written as JSON: one, several one after another, or a list."""
    written = draw(st.lists(_json_calls(), min_size=1, max_size=3))
    if draw(st.booleans()):
        return draw(st.sampled_from(["\n", "\n", "\n\n", ", ", "; ", " "])).join(written)
    return _bracketed("[", written, "]", draw(_gaps), draw(_commas))


@st.composite
def quoted_blocks(draw: DrawFn) -> str:
    """A list of strings, each of them a call, or nearly."""
    written = draw(st.lists(st.one_of(calls(), calls(), _step_calls(), blocks()), min_size=1, max_size=3))
    quote = draw(st.sampled_from([json.dumps, repr, repr, "'''{}'''".format, 'r"{}"'.format, "“{}”".format]))
    return _bracketed("[", [quote(text) for text in written], "]", draw(_gaps), draw(_commas))


@st.composite
def step_blocks(draw: DrawFn) -> str:
    """Calls that it takes an allowance to read, alone, among others, in lists without an end or several."""
    gap = draw(_gaps)
    written = draw(st.lists(st.one_of(_step_calls(), _step_calls(), calls()), min_size=1, max_size=3))
    form = draw(st.integers(0, 7))
    if form == 0:
        return _bracketed("[", written, draw(_commas), gap)
    if form == 1:
        return draw(st.sampled_from(["\n", "\n\n", "\r", " ", "\n[]\n"])).join(f"[{call}]" for call in written)
    if form < 5:
        return _bracketed("[", written, "]", gap, draw(_commas))
    return draw(st.sampled_from(_SEPARATORS)).join(written)


@st.composite
def blocks(draw: DrawFn, *, python: bool = False) -> str:
    """A list of calls, or calls one after another."""
    gap = draw(_gaps)
    written = draw(st.lists(calls(gap, python=python), min_size=1, max_size=3))
    if draw(st.booleans()):
        return _bracketed("[", written, "]", gap, draw(_commas))
    separator = draw(st.sampled_from(_SEPARATORS))
    return separator.join(written) + draw(st.sampled_from(["", "", "", ";", ",", "\n", ";\n"]))


# What stands around a block, before it and behind it.
_AROUND: Final = [
    *[("", "")] * 20,
    *[
        ("\n", "\n"),
        ("  ", " "),
        ("\ufeff", ""),
        ("# a\n", ""),
        ("", "  # b"),
        ("# a\r\n\n", "\n# b\n"),
        ("# a\n  ", ""),
    ],
    *[("```python\n", "\n```"), ("```\n", "\n```\n"), ("~~~\r\n", "\r\n~~~"), ("```", "```"), ("`", "`"), ("``", "``")],
    *[("```python\n", ""), ("```python ", "```"), ("````x y=1\n", "\n`````"), ("\n```python\n# a\n", "\n```\n\n")],
    *[("```\n", "\n``"), ("~~", "~~"), ("2*", ""), ("-", ""), ("", " + 1"), ("", "."), ("(", ")"), ("r = ", "")],
    *[("I call ", ""), ("", "\nDone."), ("print(", ")"), ('{"name": "', '"}')],
]
# What stands around a block where it takes prose, markers or reasoning to read it, or nearly.
_FAR_AROUND: Final = [
    *[("Here you are:\n", ""), ("Now:\n\n", "\n\nThat is all."), ("I will ask: ", "\n"), ("Do not run ", " again.")],
    *[("Two calls.\n```python\n", "\n```\nDone."), ("A:\n```\n", "\n```\nB:\n```\n[f()]\n```"), ("See `", "`.")],
    *[("```python\nx = 1\n```\n", ""), ("```\nx = (\n", "\n```"), ("One:\nf(x=1)\nTwo:\n", ""), ("", "\nand f(y=2)")],
    *[("Not:\nf(x=\n", ""), ("- ", ""), ("", "\n* f(x=1)"), ("# a\n", "\nDone."), ("1. ", "\n2. g()"), ("> ", "")],
    *[
        ("<|python_start|>", "<|python_end|>"),
        ("<tool_call>\n", "\n</tool_call>"),
        ("<tool_call>", ""),
        ("", "<|im_end|>"),
    ],
    *[("[TOOL_CALLS]", "</s>"), ("<|tool_call_start|>", "<|tool_call_end|><|eot_id|>"), ("", "</tool_call>\n")],
    *[("<tool_call>g()</tool_call>\n<tool_call>", "</tool_call>"), ("<tool_call>\n```json\n", "\n```\n</tool_call>")],
    *[("Hi. <tool_call>", "</tool_call> Bye."), ("<|python_start|>", "<|python_end|> and more"), ("<tool_call>x ", "")],
    *[
        ("<think>f(x=1)</think>", ""),
        ("<think>\nwhy\n</think>\n\n", ""),
        ("hm f(x=1)\n</think>\n", ""),
        ("<think>", ""),
    ],
    *[
        ("", "</think>"),
        ("", "\n<think>g()"),
        ("[THINK]a[/THINK]", ""),
        ("<think>a</think><tool_call>", "</tool_call>"),
    ],
]
# What a mutation puts in.
_SYNTAX: Final = [
    *"()[]{}=,:;.'\"`~#\\-+*/% \t\n\r_fx01\x00\ufeff\ud800é",
    *["\r\n", '"""', "'''", "```", "f(", "x=", " and "],
]


@st.composite
def mutated(draw: DrawFn, texts: SearchStrategy[str]) -> str:
    """One of the texts; a third of them with pieces dropped, doubled, inserted or cut off."""
    text = draw(texts)
    for _ in range(draw(st.sampled_from([0, 0, 0, 0, 1, 2]))):
        at = draw(st.integers(0, len(text)))
        edit = draw(st.sampled_from("insert drop double cut".split()))
        if edit == "insert":
            text = text[:at] + draw(st.sampled_from(_SYNTAX)) + text[at:]
        elif edit == "cut":
            text = text[:at]
        else:
            end = at + draw(st.integers(1, 2))
            text = text[:at] + text[end:] if edit == "drop" else text[:end] + text[at:]
    return text


def put_around(around: tuple[str, str], block: str) -> str:
    """The block between an opening and a closing."""
    return around[0] + block + around[1]


_strict: Final = st.builds(put_around, st.sampled_from(_AROUND), blocks())
_stepped: Final = st.one_of(step_blocks(), step_blocks(), json_blocks(), quoted_blocks())
_around: Final = st.sampled_from([*_AROUND, *_FAR_AROUND])
near_calls: Final = mutated(
    st.one_of(
        _strict,
        st.builds(put_around, _around, _stepped),
        st.builds(put_around, st.sampled_from(_FAR_AROUND), st.one_of(blocks(), _stepped)),
    )
)
# Without an envelope: what a reader of blocks is given.
near_blocks: Final = mutated(
    st.integers(0, 9).flatmap(
        lambda number: {7: step_blocks(), 8: json_blocks(), 9: quoted_blocks()}.get(number, blocks())
    )
)
_noise: Final = st.one_of(
    st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF), max_size=30),
    st.lists(st.sampled_from([*_SYNTAX, "f(x=1)", "[f()]", "get_weather", "1.5", "'a'"]), max_size=12).map("".join),
)
# Any text at all: near-calls, and sometimes syntax in any order or just anything, lone surrogates included.
answers: Final = st.integers(0, 5).flatmap(lambda number: _noise if number == 5 else near_calls)
policies: Final = st.one_of(st.sampled_from(POLICIES), st.just(Policy.lenient()), allowed.map(Policy))


def pieces(text: str) -> SearchStrategy[list[str]]:
    """The text cut at any places; pieces may be empty."""
    return st.lists(st.integers(0, len(text)), max_size=6).map(sorted).map(partial(_cut, text))


def _cut(text: str, places: list[int]) -> list[str]:
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
