"""Invariant: where Python reads an answer as calls of offered tools, strict recovers exactly these, and else none.

tests/python_reading.py compares the two; tests/test_ast_oracle.py lists where they differ, and why.
"""

from __future__ import annotations

from fuzz.inputs import HEAD, Answer, answer_seeds, read_answer
from fuzz.mutators import of_text
from fuzz.target import Target, run
from tests.python_reading import STRICT, held_against_python


def strict_answer(data: bytes) -> Answer | None:
    answer = read_answer(data)
    return None if answer is None else answer._replace(policy=STRICT, reasoning_open=False)


def one_input(data: bytes) -> None:
    answer = strict_answer(data)
    if answer is not None:
        held_against_python(answer.text, answer.toolset)


TARGET = Target(one_input, answer_seeds, answer=strict_answer, head=HEAD, mutate=of_text(HEAD))

if __name__ == "__main__":
    run(TARGET)
