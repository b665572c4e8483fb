"""The scanner, fed by hand: what it says of a token that is not complete, on which streams go by."""

from __future__ import annotations

import pytest

from recovery.lexemes import end_of_line_join, end_of_word
from recovery.policy import Limits
from recovery.result import Reason
from recovery.scanner import BAD, MORE, Scanner
from recovery.tables import ARGUMENTS, COLON_KEY, KEY, NAME, PLAIN_CALL, WORD


def fed(*pieces: str, offset: int = 7, limits: Limits | None = None) -> tuple[Scanner, list[int]]:
    """A scanner that has read these pieces as far as it can, and the kinds of the tokens."""
    scanner = Scanner(limits or Limits(), offset)
    kinds = []
    for piece in pieces:
        scanner.feed(piece, final=False)
        while (kind := scanner.scan()) >= 0:
            kinds.append(kind)
        if kind == BAD:
            kinds.append(kind)
            break
    return scanner, kinds


@pytest.mark.parametrize(
    ("pieces", "unread"),
    [
        (["f"], "f"),
        (["get wea"], "get wea"),
        (["get", " wea"], "get wea"),
        # Whatever blanks stand behind a name that may be one still, they are two: no name goes on behind them.
        (["f\t"], "f  "),
        (["f  "], "f  "),
        (["f", "\t", "\t"], "f  "),
        (["f #"], "f#"),
        (["f#", "comment"], "f#"),
        (["# comment"], ""),
        (["'text"], ""),
        (["12"], "12"),
        (["\\"], "\\"),
        ([" "], ""),
    ],
)
def test_what_is_no_whole_token_yet(pieces: list[str], unread: str) -> None:
    assert fed(*pieces)[0].unread() == unread


@pytest.mark.parametrize(
    ("pieces", "length", "sign"),
    [
        (["'abc"], 0, "'"),
        (["'abc"], 3, "'"),
        (["'abc"], 4, ""),
        (["'ab", "cd"], 4, "'"),
        (["'ab", "cd"], 5, ""),
        (['"""abc'], 3, '"'),
        (['"""abc'], 4, ""),
        # A quote that may be the first of three is looked at again, and so is half an escape.
        (['"""abc"'], 0, ""),
        (["'abc\\"], 0, ""),
        (["abc"], 0, ""),
        (["“abc"], 0, "”"),
    ],
)
def test_the_quote_that_alone_ends_the_string(pieces: list[str], length: int, sign: str) -> None:
    assert fed(*pieces)[0].closing_sign(length) == sign


@pytest.mark.parametrize(
    ("pieces", "length", "inside"),
    [
        (["abc"], 9, None),
        (["'", "a"], 9, "a"),
        (["'abc"], 9, "abc"),
        (["'ab", "cd", "ef"], 9, "abcdef"),
        (["'abcdef"], 3, "abc"),
        (["'ab", "cd", "ef"], 3, "abcd"),
        (["'", *"abcdef"], 3, "abc"),
        # Quotes as content, as soon as what stands behind them tells.
        (["'a 'k' c"], 9, "a 'k' c"),
        (["'a 'k' "], 9, "a "),
        (["'it's"], 9, "it"),
        (["'it's no word"], 99, "it's no word"),
    ],
)
def test_the_beginning_of_the_string_that_is_read(pieces: list[str], length: int, inside: str | None) -> None:
    assert fed(*pieces)[0].open_string(length) == inside


@pytest.mark.parametrize(
    ("text", "kind", "end", "resumes"),
    [
        ("f(x=1) ", PLAIN_CALL, 8, 9),
        ("f (x) ", NAME, 8, 10),
        ("key = 1 ", KEY, 10, 12),
        ("key : 1 ", COLON_KEY, 10, 11),
        ("word, ", WORD, 11, 11),
    ],
)
def test_where_a_token_ends_and_where_to_go_on_behind_it(text: str, kind: int, end: int, resumes: int) -> None:
    scanner = Scanner(Limits(), 7)
    scanner.feed(text, final=False)
    assert scanner.scan() == kind
    assert (scanner.start, scanner.end(kind), scanner.resumes_at(kind)) == (7, end, resumes)
    assert scanner.fed() == 7 + len(text)


def test_arguments_are_one_token_and_end_where_their_first_key_does() -> None:
    scanner = Scanner(Limits(), 0)
    scanner.feed("f(x=1, y=['a', \"b\", -2, 1.5, True, null], z=g)", final=True)
    assert [scanner.scan(), scanner.scan()] == [NAME, ARGUMENTS]
    assert scanner.arguments == [(2, "x", 1), (7, "y", ["a", "b", -2, 1.5, True, None])]
    assert (scanner.start, scanner.end(ARGUMENTS), scanner.resumes_at(ARGUMENTS)) == (2, 3, 3)


@pytest.mark.parametrize(
    ("text", "limits", "reason", "start", "end"),
    [
        ("[[[", Limits(depth=2), Reason.TOO_DEEP, 9, 10),
        ("[[f(x=1)", Limits(depth=2), Reason.TOO_DEEP, 10, 11),
        ("abcde ", Limits(name=4), Reason.NAME_TOO_LONG, 7, 12),
        ("[123456 ", Limits(digits=4), Reason.TOO_MANY_DIGITS, 8, 13),
    ],
)
def test_a_limit_is_met_at_its_place(text: str, limits: Limits, reason: Reason, start: int, end: int) -> None:
    scanner, kinds = fed(text, limits=limits)
    assert kinds[-1] == BAD
    assert (scanner.fault, scanner.start, scanner.bad_end) == (reason, start, end)


def test_more_is_wanted_only_where_the_text_ends() -> None:
    scanner, kinds = fed("f(x='", "a", "'")
    assert (kinds, scanner.scan()) == ([NAME, KEY], MORE)
    scanner.feed("", final=True)
    assert scanner.scan() >= 0
    assert scanner.exhausted()


@pytest.mark.parametrize(
    ("text", "final", "end"),
    [
        ("a\\\n", False, 3),
        ("a\\\r\n", False, 4),
        ("a\\\rb", False, 3),
        ("a\\\r", False, -1),
        ("a\\\r", True, 3),
        ("a\\", False, -1),
        ("a\\", True, 1),
        ("a\\b", False, 1),
    ],
)
def test_where_a_line_is_joined_to_the_next(text: str, final: bool, end: int) -> None:
    assert end_of_line_join(text, 1, final) == end


@pytest.mark.parametrize(
    ("text", "final", "end"),
    [
        ("(a1_", False, 4),
        ("(a1_)", False, 4),
        ("(ab\\", False, -1),
        ("(ab\\", True, 3),
        ("(ab\\_c d", False, 6),
        ("(ab\\c", False, 3),
        ("(été-x", False, 4),
        ("(a²", False, 2),
        ("((", False, 1),
    ],
)
def test_where_a_word_ends(text: str, final: bool, end: int) -> None:
    assert end_of_word(text, 1, final) == end
