"""The grammar run alone, by Lark's own LALR parser and its basic lexer: what the engine's reader is held against.

    python grammar/oracle.py FILE     # what the grammar says of a text

`first_error` takes a text for what `recovery` takes it for, but for what is decided by values (escapes, numbers that
JSON can't hold, keys that stand twice, limits, names, what a string of a list or an object is as a call, wrappers,
positions) and for quotes that are content (`quote_repair`). Two things are no matter of patterns and stand here: what
the scanner knows of depth (`LineEnds`), and that a string or number which the text cuts off is an error at its end.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.lark import PostLex

GRAMMAR: Final = Path(__file__).resolve().parent / "calls.lark"

# The terminals that stand for several others (a faster way through the same tables).
SHORTCUTS: Final = ("ARGUMENTS", "PLAIN_CALL")

_OPENING: Final = frozenset({"NAME", "LPAR", "LSQB", "LBRACE"})
_JOINED: Final = frozenset({"NAME", "KEY", "COLON_KEY"})
_CLOSING: Final = frozenset({"RPAR", "RSQB", "RBRACE"})
_LINE_END: Final = re.compile(r"[\r\n]")
# Blanks that hold no line end outside brackets: a comment ends before one, a joined one is none.
_NO_LINE_END: Final = re.compile(r"\\(?:\r\n|[\r\n])|#[^\r\n]*")
_DIGITS: Final = "[0-9](?:_?[0-9])*"
# What a string or a number may look like where the text ends in the middle of it.
_CUT_OFF: Final = re.compile(
    r'''[rRuU]?(?:"""(?:[^\\"]|\\[\s\S]|"(?!""))*|\'\'\'(?:[^\\']|\\[\s\S]|'(?!\'\'))*'''
    r"""|"(?!"")(?:[^\\"]|\\[\s\S])*|'(?!'')(?:[^\\']|\\[\s\S])*)\\?\Z"""
    r"|(?:\u201c(?:[^\\\u201d]|\\[\s\S])*|\u2018(?:[^\\\u2019]|\\[\s\S])*)\\?\Z"
    r"|0(?:[xX](?:_?[0-9a-fA-F])*|[oO](?:_?[0-7])*|[bB](?:_?[01])*)_?\Z"
    rf"|(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:_|[eE][+-]?(?:{_DIGITS}_?)?)?\Z",
)


class LineEnds(PostLex):
    """Between lexer and parser: drops line ends in brackets and before the first token, and makes several one.

    A name whose "(" stands behind a line end outside brackets is a word there, which no rule takes; so is a key.
    """

    always_accept = ("NEWLINE",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth = 0
        line_ended = True
        for token in stream:
            if token.type == "NEWLINE" and (depth > 0 or line_ended):
                continue
            if token.type in _JOINED and depth == 0 and _LINE_END.search(_NO_LINE_END.sub("", token)):
                yield Token.new_borrow_pos("WORD", token, token)
            if token.type == "ARGUMENTS" and depth == 0:
                # A key that a value is assigned to, which no rule takes: a shortcut in brackets alone.
                key, sign, value = token.partition("=")
                yield Token("KEY", key + sign, token.start_pos)
                yield Token("NUMBER", value, token.end_pos and token.end_pos - len(value))
                continue
            line_ended = token.type == "NEWLINE"
            depth = max(0, depth + (token.type in _OPENING) - (token.type in _CLOSING))
            yield token


@cache
def parser(*, shortcut: bool = True) -> Lark:
    """Lark's parser of the grammar; without the shortcuts, of the grammar that they must change nothing of."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    for terminal in () if shortcut else SHORTCUTS:
        # As the first of several choices, as another one, and what it is.
        grammar = re.sub(rf"(?m)\b{terminal}\s*\|\s*|^ *\| *{terminal}$\n|^{terminal}\..*\n", "", grammar)
    return Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=False, postlex=LineEnds())


def first_error(text: str, *, shortcut: bool = True) -> int | None:
    """None where the text is a block; else the place of the first token that can't stand where it does."""
    try:
        parser(shortcut=shortcut).parse(text)
    except UnexpectedToken as error:
        return len(text) if error.token.type == "$END" else error.token.start_pos
    except UnexpectedCharacters as error:
        place = int(error.pos_in_stream or 0)
        return len(text) if _CUT_OFF.match(text, place) else place
    return None


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("file", type=argparse.FileType(encoding="utf-8"))
    with arguments.parse_args().file as file:
        place = first_error(file.read())
    print("a block" if place is None else f"no block: first error at {place}")
    return 0 if place is None else 1


if __name__ == "__main__":
    sys.exit(main())
