"""`recover` beside `ast.parse` alone, on recorded answers: the speed that is promised.

RECOVERY_DATA names the folder that holds them; it is not part of the repository.
"""

from __future__ import annotations

import ast
import gc
import gzip
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from recovery import Policy, Toolset, recover

DATA: Final = os.environ.get("RECOVERY_DATA", "")
STRICT: Final = Policy.strict()

# Both are timed on so few texts at a time that what else the machine does meets both, and the lowest of so many
# rounds counts.
CHUNK: Final = 200
ROUNDS: Final = 7

# A text, its tools, and the mode of `ast.parse`. "eval" gives up sooner where a text is no expression, so it is the
# harder one to beat, and the one in which other parsers were measured; "exec" where only that reads a clean answer.
Item = tuple[str, Toolset, str]

pytestmark = pytest.mark.skipif(not DATA, reason="RECOVERY_DATA is not set")


def test_clean_answers(note_ratio: Callable[..., None]) -> None:
    """Answers that Python's own parser reads whole as calls."""
    toolsets = {row["id"]: Toolset(row["tools"]) for row in rows("toolsets")}
    answers = [row for row in rows("answers") if row.get("calls")]
    assert answers
    items = [(row["text"], toolsets[row["toolset"]], mode_for(row["text"])) for row in answers]
    for row, (text, tools, _) in zip(answers, items, strict=True):
        calls = recover(text, tools, policy=STRICT).calls
        assert [call.name for call in calls] == [call["name"] for call in row["calls"]], row["id"]
    check_ratio("clean answers", items, 1.2, note_ratio)


def test_texts_that_must_stay_text(note_ratio: Callable[..., None]) -> None:
    toolsets: dict[tuple[str, ...], Toolset] = {}
    texts = []
    for row in rows("negatives"):
        names = tuple(row["tools"])
        tools = toolsets.setdefault(names, Toolset(names))
        texts.append((row["text"], tools))
        assert recover(row["text"], tools, policy=STRICT).status != "recovered", row["id"]
    assert texts
    note_ratio("texts that must stay text, by mode exec", measure_ratio([(*text, "exec") for text in texts]))
    check_ratio("texts that must stay text", [(*text, "eval") for text in texts], 0.3, note_ratio)


def check_ratio(name: str, items: list[Item], bound: float, note_ratio: Callable[..., None]) -> None:
    ratio = measure_ratio(items)
    note_ratio(name, ratio, bound)
    assert ratio <= bound


def measure_ratio(items: list[Item]) -> float:
    """How many times as long `recover` takes as `ast.parse` alone."""
    chunks = [items[at : at + CHUNK] for at in range(0, len(items), CHUNK)]
    parsing, reading = ([float("inf")] * len(chunks) for _ in range(2))
    gc.collect()
    gc.freeze()  # the data is no garbage of either
    with warnings.catch_warnings(action="ignore"):
        for _ in range(ROUNDS):
            for number, chunk in enumerate(chunks):
                parsing[number] = min(parsing[number], time_parsing(chunk))
                reading[number] = min(reading[number], time_reading(chunk))
    gc.unfreeze()
    return sum(reading) / sum(parsing)


def time_parsing(chunk: list[Item]) -> float:
    parse = ast.parse
    start = time.perf_counter()
    for text, _, mode in chunk:
        try:  # noqa: SIM105 - a context manager would count as part of `ast.parse`
            parse(text, mode=mode)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    return time.perf_counter() - start


def time_reading(chunk: list[Item]) -> float:
    start = time.perf_counter()
    for text, tools, _ in chunk:
        recover(text, tools, policy=STRICT)
    return time.perf_counter() - start


def mode_for(text: str) -> str:
    with warnings.catch_warnings(action="ignore"):
        try:
            ast.parse(text, mode="eval")
        except SyntaxError:
            return "exec"
    return "eval"


def rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(Path(DATA) / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
