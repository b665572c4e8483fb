"""A lexeme becomes a value, or a reason with its place: what the vectors of strings and numbers can't tell apart."""

from __future__ import annotations

import sys

import pytest

from recovery.literals import Fault, LeadingZero, decode_number, decode_string, is_unfinished
from recovery.result import Reason

MANY, NOT_JSON, BAD_NUMBER = Reason.TOO_MANY_DIGITS, Reason.NOT_JSON, Reason.BAD_NUMBER


@pytest.mark.parametrize(
    ("lexeme", "most", "reason"),
    [
        ("12345", 4, MANY),
        # Short in another base, and too many digits all the same.
        (hex(10**20), 20, MANY),
        (hex(10**21 - 1), 20, MANY),
        ("1e999", 9, NOT_JSON),
        ("2.5j", 9, NOT_JSON),
        ("10J", 9, NOT_JSON),
        ("1e5j", 9, NOT_JSON),
        ("1_", 9, BAD_NUMBER),
        ("1_j", 9, BAD_NUMBER),
        ("0x", 9, BAD_NUMBER),
        ("j", 9, BAD_NUMBER),
    ],
)
def test_a_number_that_has_no_value_is_at_fault_from_end_to_end(lexeme: str, most: int, reason: Reason) -> None:
    assert decode_number(lexeme, most) == Fault(reason, 0, len(lexeme))


def test_a_lower_bound_of_the_process_holds_too() -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert decode_number("1" * 641, 4300) == Fault(MANY, 0, 641)
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize(
    ("lexeme", "most", "value"),
    [
        ("1234", 4, 1234),
        (hex(10**20 - 1), 20, 10**20 - 1),
        (hex(8**20), 20, 8**20),
        ("0B1_0", 9, 2),
        ("0O_17", 9, 15),
        ("0XfF", 9, 255),
        ("0", 9, 0),
        ("1E+5", 9, 100000.0),
        (".5e-1", 9, 0.05),
        ("00.5", 9, 0.5),
        ("00", 9, LeadingZero("00")),
    ],
)
def test_a_number_within_the_limit_has_its_value(lexeme: str, most: int, value: object) -> None:
    assert repr(decode_number(lexeme, most)) == repr(value)


@pytest.mark.parametrize(
    "lexeme", ["0x", "0XA_", "0o", "0O7_", "0b", "0B1_", "1_", "1_0_", "1e", "1E+", "1.5e-2_", ".5_"]
)
def test_what_more_would_make_a_number(lexeme: str) -> None:
    assert is_unfinished(lexeme)


@pytest.mark.parametrize("lexeme", ["0xg", "0o8", "0b2", "1__", "x", "1ee", "1e_", "_1", "1.2.3"])
def test_what_nothing_makes_a_number(lexeme: str) -> None:
    assert not is_unfinished(lexeme)


@pytest.mark.parametrize(
    ("body", "json", "start", "end"),
    [
        ("ab\\xg1", False, 2, 4),
        ("a\\N{NO SUCH NAME}b", False, 1, 17),
        ("a\\U00110000b", False, 1, 11),
        ("ab\\qc", True, 2, 4),
        ("ä\ud800b", False, 1, 2),
        ("ab\\ud800c", False, 0, 9),
    ],
)
def test_a_string_is_at_fault_where_its_first_fault_stands(body: str, json: bool, start: int, end: int) -> None:
    assert decode_string(body, raw=False, json=json) == Fault(Reason.BAD_STRING, start, end)


@pytest.mark.parametrize(
    ("body", "json", "value"),
    [
        ("\\U0010FFFF", False, "\U0010ffff"),
        ("\\N{bullet}", False, "•"),
        ("\\0\\18", False, "\x00\x018"),
        ("\\ud83d\\udc1d!", False, "🐝!"),
        ("\\/\\b\\f\\n\\r\\t\\\\\\\"\\'\\u0041", True, "/\b\f\n\r\t\\\"'A"),
    ],
)
def test_an_escape_stands_for_its_character(body: str, json: bool, value: str) -> None:
    assert decode_string(body, raw=False, json=json) == value
