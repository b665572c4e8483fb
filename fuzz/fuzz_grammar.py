"""Invariant: the reader and the grammar run by Lark give the same verdict on every text, and the same first error.

tests/grammar_reading.py compares the two, and tells what is left out.
"""

from __future__ import annotations

from fuzz.inputs import text_answer, text_of, text_seeds
from fuzz.mutators import of_text
from fuzz.target import Target, run
from tests.grammar_reading import comparable, compare


def one_input(data: bytes) -> None:
    text = text_of(data)
    if comparable(text):
        compare(text)


TARGET = Target(one_input, text_seeds, answer=text_answer, mutate=of_text())

if __name__ == "__main__":
    run(TARGET)
