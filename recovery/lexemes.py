"""What tokens are made of: the patterns and sets of characters that the scanner goes by.

They stand beside each other here as the terminals do in grammar/calls.lark. May import: `names` (for what an operator
is), `tables`, `text`.
"""

from __future__ import annotations

import re
from typing import Final

from .names import OPERATORS
from .tables import (
    ARGUMENTS,
    COLON,
    COLON_KEY,
    COMMA,
    CONSTANT,
    KEY,
    LBRACE,
    LPAR,
    LSQB,
    NAME,
    NEWLINE,
    PLAIN_CALL,
    RBRACE,
    RPAR,
    RSQB,
    SEMICOLON,
    SIGN,
    WORD,
)
from .text import end_of

# By its first character: the kind of a token of one character, or what the token may turn out to be.
NAME_LIKE: Final = -1
STRING_LIKE: Final = -2
NUMBER_LIKE: Final = -3
OTHERWISE: Final = -4
FIRST: Final = {
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_\\", NAME_LIKE),
    **dict.fromkeys("'\"\u201c\u2018", STRING_LIKE),
    **dict.fromkeys("0123456789.", NUMBER_LIKE),
    ",": COMMA,
    ")": RPAR,
    "]": RSQB,
    "[": LSQB,
    ":": COLON,
    "{": LBRACE,
    "}": RBRACE,
    "(": LPAR,
    "-": SIGN,
    "+": SIGN,
    ";": SEMICOLON,
    "\n": NEWLINE,
    "\r": NEWLINE,
}
QUOTES: Final = ("'", '"')
# Smart quotes: what opens a string, and what closes it.
SMART_QUOTES: Final = {"\u201c": "\u201d", "\u2018": "\u2019"}
# How far a pair of quotes inside a string is looked for: around words, not around paragraphs.
LONGEST_PAIR: Final = 200
# Between two strings these make an expression, or are the prefix of the second.
RESERVED: Final = frozenset("and or in is not if else for b f t rb br rf fr rt tr B F".split())
LONGEST_RESERVED: Final = 8
PREFIXES: Final = frozenset("rRuU")
DIGITS: Final = frozenset("0123456789")

# White space within a line.
SPACES: Final = re.compile("[ \t\f]*+")
SPACES_AND_LINE_ENDS: Final = re.compile("[ \t\f\r\n]*")
COMMENT: Final = re.compile(r"[^\r\n]*")
LONGEST_OPERATOR: Final = 256
OPERATOR_PATTERN: Final = re.compile(r"[=*/%%&|^~<>@!]{1,%d}" % LONGEST_OPERATOR)
# One of the ARGUMENTS of the grammar, with the comma behind it where another may follow. Its groups are the key, then
# a string, an integer, a float or a constant, or a list of these.
_STRING: Final = r"'[^'\\\r\n\ud800-\udfff]*'|\"[^\"\\\r\n\ud800-\udfff]*\""
_INTEGER: Final = r"-?(?:0|[1-9][0-9]{0,14})"
_FLOAT: Final = rf"{_INTEGER}\.[0-9]{{1,15}}"
_CONSTANT: Final = r"True|False|None|true|false|null"
_LITERAL: Final = rf"(?:{_STRING}|{_FLOAT}|{_INTEGER}|{_CONSTANT})"
PLAIN_ARGUMENT: Final = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]*)="
    r"(?:'([^'\\\r\n\ud800-\udfff]*)'|\"([^\"\\\r\n\ud800-\udfff]*)\""
    rf"|({_INTEGER})|({_FLOAT})|({_CONSTANT})|(\[(?:{_LITERAL}(?:, ?{_LITERAL})*+)?\]))"
    r"(?:, ?(?=[A-Za-z_])|(?=[,)]))"
)
# Groups up to this are strings, which a quote closes.
PLAIN_STRINGS: Final = 3
PLAIN_INTEGER: Final = 4
PLAIN_CONSTANT: Final = 6
PLAIN_LIST: Final = 7
# How many characters a number may have in such an argument.
LONGEST_PLAIN_NUMBER: Final = 32
# An item of such a list, found by its ends.
PLAIN_ITEM: Final = re.compile(r"'[^']*'|\"[^\"]*\"|[^\[\], ]+")
ASCII_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+(?:[. ][A-Za-z0-9_]++)*+")
ASCII_WORD: Final = re.compile(r"[A-Za-z0-9_]*")
# What joins the words of a name: a dot, a space, or operators with at most a space on either side. In no language are
# `</` and `<|` operators: a closing tag or a token of a model begins there, and what stands before it is no part of it.
_JOINS: Final = re.escape("".join(sorted(OPERATORS - {"=", "<"})))
JOINT: Final = re.compile(r"\.| ?(?:[%s]|<(?![/|])){1,256} ?| " % _JOINS)
# What a number may be made of, whether or not it is one.
NUMBER_PATTERN: Final = re.compile(r"0[xXoObB][\w.]*+|(?:[\d_.]|[eE][+-]?|\w)++", re.ASCII)
# The rest of it, where its beginning was looked at before.
HEX_MORE: Final = re.compile(r"[\w.]*+", re.ASCII)
NUMBER_MORE: Final = re.compile(r"(?:[\d_.]|[eE][+-]?|\w)*+", re.ASCII)
# Behind an ASCII name these leave no doubt that it has ended, and is no more than a word.
_ENDS_NAME: Final = frozenset(",;)]}[{?`'\"")
MAY_BE_BLANK: Final = frozenset((" ", "\t", "\f", "\r", "\n", "#", "\\"))
NAMED: Final = frozenset((NAME, PLAIN_CALL, KEY, COLON_KEY, ARGUMENTS, WORD, CONSTANT))


def end_of_line_join(text: str, at: int, final: bool) -> int:
    """Where the line end behind the backslash at `at` ends; `at` where none follows; -1 where that can't be told."""
    behind = text[at + 1 : at + 3]
    if behind[:1] == "\n":
        return at + 2
    if behind == "\r\n":
        return at + 3
    if not final and behind in ("", "\r"):
        return -1
    return at + 2 if behind[:1] == "\r" else at


def end_of_word(text: str, at: int, final: bool) -> int:
    """Where the word at `at` ends: characters of an identifier and escaped underscores. -1 where that can't be told."""
    size = len(text)
    while True:
        at = end_of(ASCII_WORD, text, at)
        if at == size:
            return at
        character = text[at]
        if character == "\\":
            if at + 1 == size and not final:
                return -1
            if text[at + 1 : at + 2] != "_":
                return at
            at += 2
        elif character.isascii() or not f"a{character}".isidentifier():
            return at
        else:
            at += 1


def name_surely_ends(name: str, behind: str, depth: int) -> bool:
    """Whether an ASCII name is no more than a word, seen from the two characters behind it; if in doubt, not.

    A shortcut for prose: what is in doubt is looked at character by character.
    """
    first, second = behind[0], behind[1]
    if first in _ENDS_NAME:
        return not (first in QUOTES and name in PREFIXES)
    if first == " ":
        return second in _ENDS_NAME or (second == "(" and " " in name)
    if first == ".":
        return second in _ENDS_NAME or second == " "
    return not depth and (first == "\n" or first == "\r")
