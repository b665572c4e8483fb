"""Invariant: a stream gives what `recover` gives of the whole, whatever the text, tools and policy, however cut."""

from __future__ import annotations

from fuzz.inputs import HEAD, answer_seeds, read_answer
from fuzz.target import Target, run
from tests import invariants


def one_input(data: bytes) -> None:
    answer = read_answer(data)
    if answer is None:
        return
    invariants.check_stream(
        answer.text, answer.toolset, answer.policy, answer.pieces, reasoning_open=answer.reasoning_open
    )


TARGET = Target(one_input, answer_seeds, answer=read_answer, head=HEAD)

if __name__ == "__main__":
    run(TARGET)
