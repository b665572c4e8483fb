"""`recover` beside `ast.parse` alone, on recorded answers: how slow it may become, which is above what it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from bench.peers import BASE, Text, measure
from bench.recorded import DATA, clean_answers, texts_that_stay_text

BOTH: Final = (BASE, "recover")

pytestmark = pytest.mark.skipif(not DATA, reason="RECOVERY_DATA is not set")


def test_clean_answers(note_ratio: Callable[..., None]) -> None:
    check_ratio("clean answers", clean_answers(), 1.3, note_ratio)


def test_texts_that_must_stay_text(note_ratio: Callable[..., None]) -> None:
    texts = texts_that_stay_text()
    default = [text._replace(mode="exec") for text in texts]
    note_ratio("texts that must stay text, by mode exec", measure(default, BOTH)["recover"])
    check_ratio("texts that must stay text", texts, 0.6, note_ratio)


def check_ratio(name: str, texts: list[Text], bound: float, note_ratio: Callable[..., None]) -> None:
    ratio = measure(texts, BOTH)["recover"]
    note_ratio(name, ratio, bound)
    assert ratio <= bound
