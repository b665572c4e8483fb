"""Recorded answers, which RECOVERY_DATA names the folder of; they are not part of the repository.

May import: `recovery`, `bench.peers`.
"""

from __future__ import annotations

import ast
import gzip
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.peers import Text, as_json
from recovery import Policy, Toolset, recover

DATA: Final = os.environ.get("RECOVERY_DATA", "")
STRICT: Final = Policy.strict()


def clean_answers() -> list[Text]:
    """Answers that Python's own parser reads whole as calls."""
    toolsets = {row["id"]: Toolset(row["tools"]) for row in _rows("toolsets")}
    texts = []
    for row in _rows("answers"):
        if not row.get("calls"):
            continue
        text, tools = row["text"], toolsets[row["toolset"]]
        calls = [(call.name, call.arguments) for call in recover(text, tools, policy=STRICT).calls]
        assert [name for name, _ in calls] == [call["name"] for call in row["calls"]], row["id"]
        texts.append(Text(text, tools, STRICT, _mode_for(text), as_json(calls)))
    assert texts
    return texts


def texts_that_stay_text() -> list[Text]:
    """Texts of which no call may come. "eval" gives up sooner on most of them, so it is the harder one to beat."""
    toolsets: dict[tuple[str, ...], Toolset] = {}
    texts = []
    for row in _rows("negatives"):
        names = tuple(row["tools"])
        tools = toolsets.setdefault(names, Toolset(names))
        assert recover(row["text"], tools, policy=STRICT).status != "recovered", row["id"]
        texts.append(Text(row["text"], tools, STRICT, "eval"))
    assert texts
    return texts


def _mode_for(text: str) -> str:
    """The mode in which `ast.parse` reads it; "eval" where that does."""
    with warnings.catch_warnings(action="ignore"):
        try:
            ast.parse(text, mode="eval")
        except SyntaxError:
            return "exec"
    return "eval"


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(Path(DATA) / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
