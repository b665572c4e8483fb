"""The grammar, run alone under Lark (grammar/oracle.py), against the engine's reader.

Both give the same verdict on every text, and the same place of the first error. `tests/grammar_reading.py` compares
them, and tells what is left out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark

from grammar.oracle import GRAMMAR, SHORTCUTS, parser
from tests.cases import VECTORS, read
from tests.grammar_reading import STRING, comparable, compare, reader_stops
from tests.strategies import LITERALS, examples, mutated, near_blocks

NAMES = ["f(", "a.b(", "a b(", "f (", "f \n(", "not f(", "a-b(", "f #(\n(", "a\\_b(", "\\_(", "f\\\n(", "a.1(", "True("]
KEYS = [f"{key}{blank}=" for blank in ("", " ", "\n", "# =(\n") for key in "x y z None a\\_b é _ x1".split()]
TERMINALS = {
    "NAME": st.sampled_from(NAMES),
    "KEY": st.sampled_from(KEYS),
    "STRING": st.sampled_from([text for text in LITERALS if STRING.fullmatch(text)]),
    "COLON_KEY": st.sampled_from(["x:", "y :", "é\n:", "a\\_b:", "None:"]),
    "WORD": st.sampled_from(["a", "a.b", "a b", "é", "a-b", "nan", "r", "a\\_b"]),
    "NUMBER": st.sampled_from("0 12 1.5 .5 5. 1e3 0x1F 1_0 07".split()),
    "CONSTANT": st.sampled_from("True False None true false null".split()),
    "PLAIN_CALL": st.sampled_from(["f()", "f(a=1)", "a.b(c='x', d=true)", "a b(e=-1.5)", "f(a=[1, 'x'])"]),
    "ARGUMENTS": st.sampled_from(
        ["a=1", "b='a'", "c=1,d=true", 'e="",f=-1.5, g=None', "h=0", "i=[]", "j=[-1,true], k=['']"]
    ),
    "SPACES": st.sampled_from(["", " ", "\t\f"]),
    "COMMENT": st.sampled_from(["", "# (\n", "#\r", "# x"]),
    "LINE_JOIN": st.sampled_from(["", "\\\n", "\\\r\n", "\\\r"]),
}
# The grammar as a generator of answers; gaps between tokens are drawn too, so that not each of them is a block.
generated = from_lark(parser(), start="start", explicit=TERMINALS)


@pytest.mark.sources
def test_the_reader_and_the_grammar_agree() -> None:
    seen: Counter[str] = Counter()

    @examples(600)
    @given(st.one_of(near_blocks, near_blocks, generated, mutated(generated)))
    def agree(text: str) -> None:
        assume(comparable(text))
        seen[compare(text)] += 1

    agree()
    total = sum(seen.values())
    assert seen["block"] > 0.2 * total, seen
    assert seen["error"] > 0.12 * total, seen
    assert seen["end"] > 0.02 * total, seen
    assert seen["value"] < 0.5 * total, seen


@pytest.mark.sources
@examples(500)
@given(st.text(st.sampled_from("f(x=1)[],;:{}'\"\\\n\r #+-.*_erT0 é")))
def test_they_agree_on_syntax_in_any_order(text: str) -> None:
    compare(text)


@pytest.mark.sources
def test_they_agree_on_every_vector() -> None:
    texts = {case.text for case in read(VECTORS)}
    seen = Counter(compare(text) for text in texts if comparable(text) and len(text) < 2000)
    assert seen["block"] > 300, seen
    assert seen["error"] > 300, seen


# By terminal: texts that are one, whole; and texts that are none, or not as a whole. In each, where it may stand.
VECTORS_BY_TERMINAL = {
    "NAME": (
        "[{}x=1)]",
        [*NAMES, "é.ß(", "_1(", "a-b (", "a.b*c\t("],
        ["1a(", "a..b(", "a .b(", "a b (", "a - b (", "a b-c (", "a  b(", ".a(", "a.(", "a,b(", "a\\b("],
    ),
    "KEY": ("f({}1)", ["x=", "x\n=", "x # (\r=", "é=", "a\\_b=", "_="], ["1=", "x.y=", "x y=", "x==", "'x'="]),
    "COLON_KEY": ("f({}1)", ["x:", "x\n:", "x # (\r:", "é:", "a\\_b:"], ["1:", "x.y:", "x::", "x:=", "'x':"]),
    "WORD": (
        "f(x={})",
        ["a", "a.b", "a b", "a-b", "a\\_b", "é", "none", "TRUE", "true-x"],
        ["1a", "a..b", "a (", "-a", "a-", "a'b'", "@a"],
    ),
    "CONSTANT": ("f(x=[{}])", "True False None true false null".split(), "TRUE none nil True.x trues true-x".split()),
    "NUMBER": (
        "f(x={})",
        "0 7 10 1_0 0x1F 0X_f 0o17 0b1 1.5 .5 5. 1e3 1E-3 1.e+2 00.5 0_1e1 1_0.0_1e1_0 07 00".split(),
        "1_ 1__0 0x 0b2 0o8 1e 1e+ . 1.2.3 1.x 5km 1é 1e5.5 0x1.5".split(),
    ),
    "STRING": (
        "f(x={})",
        [
            "'a\nb'",
            "'\\\r\n'",
            *"“a” ‘b\\’’ '' \"a\" '\\'' r'\\'' R'a' u'a' U\"a\" '''a'b''c''' ''''a''' \"\"\"\\\"\"\"\"".split(),
        ],
        ["'a", "b'a'", "f'a'", "ur'a'", "r 'a'", "'a''", "'''a''", "'''a''''", "“a", "“a'", "`a`"],
    ),
    "SIGN": ("f(x={}1)", ["+", "-"], ["--", "*", "~", "- +"]),
    "NEWLINE": ("f(){}g()", ["\n", "\r", "\r\n"], ["\x0b", "\u2028", "\x85", "\\\n", "\\n"]),
}


@pytest.mark.parametrize("terminal", VECTORS_BY_TERMINAL)
def test_each_terminal_is_the_scanners_token(terminal: str) -> None:
    context, good, bad = VECTORS_BY_TERMINAL[terminal]
    pattern = re.compile(parser().get_terminal(terminal).pattern.to_regexp())
    for text in [*good, *bad]:
        # Not alone: a pattern may look at what stands behind.
        whole = context.format(text)
        found = pattern.match(whole, context.index("{"))
        matches = found is not None and found.end() == context.index("{") + len(text)
        assert matches == (text in good), text
        assert (reader_stops(whole)[0] is None) == (text in good), text
        compare(whole)


def test_each_terminal_has_vectors() -> None:
    one_character = {"LPAR", "RPAR", "LSQB", "RSQB", "LBRACE", "RBRACE", "COMMA", "COLON", "SEMICOLON"}
    ignored = {"SPACES", "COMMENT", "LINE_JOIN"}
    terminals = {terminal.name for terminal in parser().terminals}
    assert terminals == {*VECTORS_BY_TERMINAL, *one_character, *ignored, *SHORTCUTS}


@pytest.mark.sources
@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_tables_are_what_the_grammar_gives(seed: str) -> None:
    command = [sys.executable, str(GRAMMAR.parent / "generate.py"), "--check"]
    environment = os.environ | {"PYTHONHASHSEED": seed}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
