"""Invariant: where Python's `json` reads a text, its value and the calls that it is are read alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuzz import mutators
from fuzz.inputs import text_of, text_seeds
from fuzz.target import Target, run
from recovery import Toolset
from tests.json_reading import held_against_json

TOOLS: Final = Toolset(["f", {"name": "heat", "parameters": {"properties": {"at": {"type": "integer"}}}}])


def one_input(data: bytes) -> None:
    held_against_json(text_of(data), TOOLS, "f")


def seeds() -> Iterator[bytes]:
    yield b'{"name": "f", "arguments": {"x": [1, -2.5e3, "a\\u00e9", {"y": null}], "z": 7}}'
    yield from (seed for seed in text_seeds() if seed.lstrip()[:1] in (b"{", b"["))


TARGET = Target(one_input, seeds, mutate=mutators.of_json)

if __name__ == "__main__":
    run(TARGET)
