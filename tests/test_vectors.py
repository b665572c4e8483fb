"""Every case of tests/vectors: whole, one character at a time, and cut at every place. README.md tells the fields."""

from __future__ import annotations

from collections import Counter

import pytest

from recovery import recover
from tests.cases import VECTORS, Case, read
from tests.streams import streamed

# Longer texts are not cut at every place, and much longer ones not read by characters.
CUT_BY_PLACES, CUT_BY_CHARACTERS = 200, 2000

CASES = read(VECTORS)


def test_the_folder_is_not_empty_and_ids_are_unique() -> None:
    assert len(CASES) > 1000
    ids = Counter(case.row["id"] for case in CASES if case.written is case.row["policy"])
    assert max(ids.values()) == 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    text = case.text
    whole = recover(text, case.toolset, policy=case.policy)
    assert not case.faults(whole)
    if len(text) <= CUT_BY_CHARACTERS:
        assert streamed(case.toolset, list(text), case.policy) == whole
    for place in range(len(text) + 1 if len(text) <= CUT_BY_PLACES else 0):
        assert streamed(case.toolset, (text[:place], text[place:]), case.policy) == whole, f"cut at {place}"
