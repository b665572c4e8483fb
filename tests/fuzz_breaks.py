"""A defect for each fuzz target, put into the running code: which seed turns the target red, and is green without it.

    python -m tests.fuzz_breaks     # JSON, by target: how many seeds it took, null where none saw it

A process of its own, since the targets instrument what they import.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any
from unittest.mock import patch

from fuzz.failures import fails
from fuzz.findings import TARGETS, load
from recovery import Recovery
from recovery.tables import COMMA, SEMICOLON

# So many seeds are tried.
MOST = 600


def broken(module: str, name: str, make: Callable[[Any], Any]) -> AbstractContextManager[Any]:
    """What `make` makes of the function, in its place; `name` may be that of a method."""
    holder: Any = sys.modules[f"recovery.{module}"]
    *classes, name = name.split(".")
    for part in classes:
        holder = getattr(holder, part)
    return patch.object(holder, name, make(getattr(holder, name)))


BREAKS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    # The gate turns down what is a call.
    "fuzz_answers": lambda: broken(
        "recover",
        "turn_down",
        lambda real: lambda text, tools: Recovery("text", text) if "\n" in text else real(text, tools),
    ),
    # A stream drops a carriage return.
    "fuzz_stream": lambda: broken(
        "stream", "Stream.feed", lambda real: lambda stream, delta: real(stream, delta.replace("\r", ""))
    ),
    # The parser takes a semicolon for a comma.
    "fuzz_grammar": lambda: broken(
        "parser", "Parser.push", lambda real: lambda parser, kind: real(parser, COMMA if kind == SEMICOLON else kind)
    ),
    # No dot stands for an underscore.
    "fuzz_ast": lambda: broken("names", "_joined", lambda _: lambda written: written),
    # Names are folded.
    "fuzz_names": lambda: broken("names", "_joined", lambda real: lambda written: real(written).casefold()),
    # A tool without a name is a `KeyError`.
    "fuzz_toolset": lambda: broken(
        "toolset", "_tool_of_mapping", lambda real: lambda item, place: item["name"] and real(item, place)
    ),
    # A row that is no JSON ends the run.
    "fuzz_replay": lambda: broken("replay", "read_row", lambda _: json.loads),
    # What is held at the end of an answer is lost.
    "fuzz_gateways": lambda: broken("gateways.answer", "Answer.finish", lambda _: lambda _: []),
    # An answer without a call is a fault of the grader's.
    "fuzz_grading": lambda: broken("grading.grade", "_no_call", lambda _: None),
    # An object of JSON is never a call.
    "fuzz_json": lambda: broken("builder", "read_json_call", lambda _: lambda _: None),
    # A line never goes on with the block before it.
    "fuzz_mathematics": lambda: broken("prose", "goes_on", lambda _: lambda _: 0),
}


def seeds_needed(name: str) -> int | None:
    """How many seeds it took until one failed; None where none did. Without the defect all of them pass."""
    target = load(name)
    seeds = list(islice(target.seeds(), MOST))
    with BREAKS[name]():
        red = next((number for number, seed in enumerate(seeds, 1) if fails(target.one_input, seed)), None)
    green = seeds[:red]
    assert not [seed for seed in green if fails(target.one_input, seed)], name
    return red


if __name__ == "__main__":
    print(json.dumps({name: seeds_needed(name) for name in TARGETS}))
