from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recovery.grading.rawargs import read_arguments

DEEP: Any = []
for _ in range(400):
    DEEP = [DEEP]


@pytest.mark.parametrize("raw", [None, "", " \n\t", b""])
def test_absent(raw: Any) -> None:
    assert read_arguments(raw) == ("absent", {}, None)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ({}, {}),
        ("{}", {}),
        (' {"a": [1, null, "x"]} ', {"a": [1, None, "x"]}),
        (b'{"a": 1}', {"a": 1}),
        (MappingProxyType({"a": {"b": 1.5}}), {"a": {"b": 1.5}}),
        ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ],
)
def test_an_object(raw: Any, value: Mapping[str, Any]) -> None:
    assert read_arguments(raw) == ("object", value, None)


@pytest.mark.parametrize(
    ("raw", "pointer", "said"),
    [
        ("null", "", "must be an object, not None"),
        ("[]", "", "must be an object, not []"),
        ("0", "", "must be an object, not 0"),
        ([], "", "must be an object, not []"),
        (0, "", "must be an object, not 0"),
        (False, "", "must be an object, not False"),
        ("city=Oslo", "", "no JSON: Expecting value, line 1, column 1"),
        ('{"a": 1', "", "no JSON"),
        ('{"a": 1} {}', "", "no JSON: Extra data"),
        ("{'a': 1}", "", "no JSON"),
        ('{"a": 1, "a": 1}', "", "'a' stands twice"),
        ('{"a": {"b": 1, "b": 2}}', "", "'b' stands twice"),
        ('{"a": NaN}', "", "NaN is no JSON"),
        ('{"a": -Infinity}', "", "-Infinity is no JSON"),
        ('{"a": 1e999}', "", "'1e999' is more than a float holds"),
        (json.dumps('{"a": 1}'), "", "encoded twice"),
        (json.dumps("text"), "", "must be an object, not 'text'"),
        ("[" * 100_000, "", "nested too deep"),
        ('{"a": ' + "9" * 5_000 + "}", "", "no JSON that can be read"),
        (b"\xff", "", "not UTF-8"),
        ({"a": [float("nan")]}, "/a/0", "nan is no JSON"),
        ({"a": dt.date(2026, 1, 1)}, "/a", "a date is no JSON"),
        ({"a": {1: 2}}, "/a", "the key 1 is no text"),
        ({"a": DEEP}, "", "nested too deep"),
        ('{"a": ' + "[" * 900 + "]" * 900 + "}", "", "nested too deep"),
        ({"a": [10**5_000]}, "/a/0", "too many digits"),
    ],
)
def test_malformed(raw: Any, pointer: str, said: str) -> None:
    state, value, problem = read_arguments(raw)
    assert (state, value) == ("malformed", {})
    assert problem is not None
    assert problem.pointer == pointer
    assert said in problem.message


@given(st.text() | st.binary() | st.text(alphabet='{}[]",:a1 \\'))
def test_never_raises(raw: str | bytes) -> None:
    state, value, problem = read_arguments(raw)
    assert (problem is not None) == (state == "malformed")
    assert state == "object" or value == {}
