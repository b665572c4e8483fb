"""Invariant: no mathematics over the names of offered tools, whatever stands around it, is a call.

libFuzzer's bytes are the choices that tests/mathematics.py makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from hypothesis import given

import fuzz.instrumented  # noqa: F401
from fuzz.target import Target, run
from recovery import Policy, recover
from tests.mathematics import mathematics
from tests.strategies import TOOLS

LENIENT: Final = Policy.lenient()


@given(mathematics)
def is_no_call(text: str) -> None:
    assert not recover(text, TOOLS, policy=LENIENT).calls, text


def one_input(data: bytes) -> None:
    is_no_call.hypothesis.fuzz_one_input(data)  # type: ignore[attr-defined]  # a function's attribute


def seeds() -> Iterator[bytes]:
    """Bytes of any kind: each choice takes a few."""
    random = Random(1)
    return (random.randbytes(length) for length in (16, 64, 256) for _ in range(50))


TARGET = Target(one_input, seeds)

if __name__ == "__main__":
    run(TARGET)
