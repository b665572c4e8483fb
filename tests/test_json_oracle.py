"""Python's `json` as the oracle, for values and for answers that are both; json_reading.py lists the differences."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn  # noqa: TC002  # `st.composite` asks for it

from recovery import Toolset
from tests.json_reading import held_against_json
from tests.strategies import examples, mutated

TOOLS = Toolset(["f", {"name": "heat", "parameters": {"properties": {"at": {"type": "integer"}}}}])

_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
_values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
_calls = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["f", "f", "f", "heat", "h"]),
        "arguments": st.one_of(
            st.dictionaries(st.sampled_from(["x", "at", "é", ""]), _values, min_size=1),
            st.dictionaries(st.sampled_from(["x", "y z", "é", ""]), st.one_of(st.integers(), _leaves), min_size=1),
            st.fixed_dictionaries({"at": st.integers()}),
            st.fixed_dictionaries({"at": st.integers()}).map(json.dumps),
        ),
    }
)


@st.composite
def written(draw: DrawFn, values: st.SearchStrategy[Any]) -> str:
    """A value as JSON, in one of the ways in which it can be written."""
    return json.dumps(
        draw(values),
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, None, 0, 2, "\t"])),
        separators=draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])),
    )


def test_what_json_reads_is_read_alike() -> None:
    seen: Counter[str] = Counter()

    @examples(500)
    @given(
        mutated(
            st.one_of(
                written(_values), written(_calls), written(_calls), written(st.lists(_calls, min_size=1, max_size=3))
            )
        )
    )
    def agree(text: str) -> None:
        seen[held_against_json(text, TOOLS, "f")] += 1

    agree()
    assert seen["calls"] > 0.05 * sum(seen.values()), seen
    assert seen["a value"] > 0.2 * sum(seen.values()), seen
    assert seen["no JSON"] > 0.1 * sum(seen.values()), seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ('{"name": "f", "arguments": {"x": 1, "y": "a\\/b\\u00e9"}}', "calls"),
        ('[{"arguments": {"x": 1}, "name": "f"}]', "calls"),
        ('{"name": "f", "arguments": "{\\"x\\": 1}"}', "a value"),
        ('"\\ud83d\\udc1d"', "a value"),
        ("-0.0", "a value"),
        ("[" * 200 + "]" * 200, "a value"),
        ('{"x": 1, "x": 2}', "no JSON"),
        ('"\\ud83d"', "no JSON"),
        ("1e999", "no JSON"),
        ("[1,]", "no JSON"),
    ],
)
def test_these_are_read_alike(text: str, seen: str) -> None:
    assert held_against_json(text, TOOLS, "f") == seen
