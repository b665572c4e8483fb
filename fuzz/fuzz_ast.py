"""Invariant: where Python reads an answer as calls of offered tools, strict recovers exactly these, and else none.

tests/python_reading.py compares the two; tests/test_ast_oracle.py lists where they differ, and why.
"""

from __future__ import annotations

from fuzz.inputs import text_answer, text_of, text_seeds
from fuzz.target import Target, run
from tests.python_reading import held_against_python
from tests.strategies import TOOLS


def one_input(data: bytes) -> None:
    held_against_python(text_of(data), TOOLS)


TARGET = Target(one_input, text_seeds, answer=text_answer)

if __name__ == "__main__":
    run(TARGET)
