"""The cases of tests/vectors, a kind a test: what mutation.py runs. test_vectors.py names the case, but takes longer.

pytest does not collect it by itself. In the order in which faults are found soonest: all kinds whole, then by
characters, then cut at every place; `-k "whole or (cut and strings)"` picks.
"""

from __future__ import annotations

import pytest

from recovery import recover
from tests.cases import VECTORS, Case, read
from tests.streams import streamed
from tests.test_vectors import CUT_BY_CHARACTERS, CUT_BY_PLACES

KINDS: dict[str, list[Case]] = {}
for case in read(VECTORS):
    KINDS.setdefault(case.row["kind"], []).append(case)


@pytest.mark.parametrize("kind", KINDS)
def test_whole(kind: str) -> None:
    for case in KINDS[kind]:
        assert not case.faults(recover(case.text, case.toolset, policy=case.policy)), str(case)


@pytest.mark.parametrize("kind", KINDS)
def test_by_characters(kind: str) -> None:
    for case in KINDS[kind]:
        text, toolset, policy = case.text, case.toolset, case.policy
        if len(text) <= CUT_BY_CHARACTERS:
            assert streamed(toolset, list(text), policy) == recover(text, toolset, policy=policy), str(case)


@pytest.mark.parametrize("kind", KINDS)
def test_cut(kind: str) -> None:
    for case in KINDS[kind]:
        text, toolset, policy = case.text, case.toolset, case.policy
        whole = recover(text, toolset, policy=policy)
        for place in range(len(text) + 1 if len(text) <= CUT_BY_PLACES else 0):
            assert streamed(toolset, (text[:place], text[place:]), policy) == whole, f"{case} cut at {place}"
