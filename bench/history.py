"""`python -m bench record`: the ratios of today as a line of `history.jsonl`, and for a benchmark-tracking action.

May import: `bench.comparing`, `bench.peers`, `bench.table`.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import recovery
from bench.comparing import commit_of, is_changed
from bench.peers import BASE
from bench.table import Cells

HISTORY: Final = Path(__file__).resolve().parent / "history.jsonl"


def entry(found: Cells) -> dict[str, Any]:
    """What a line holds: when, what, on which Python, and the ratio of `recover` for each row of the table.

    `changed` says that the working tree is not what the commit holds. Raises `RevisionError` outside git.
    """
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit_of("HEAD"),
        "changed": is_changed(),
        "python": platform.python_version(),
        "compiled": bool(getattr(recovery, "compiled", False)),
        "ratios": {name: round(row["recover"].ratio, 3) for name, row in found.items()},
    }


def append(line: Mapping[str, Any], file: Path = HISTORY) -> None:
    with file.open("a", encoding="utf-8") as history:
        history.write(json.dumps(line) + "\n")


def for_action(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries that benchmark-action/github-action-benchmark reads as `customSmallerIsBetter`."""
    how = "compiled" if line["compiled"] else "pure Python"
    return [
        {"name": name, "unit": f"times {BASE}", "value": ratio, "extra": f"Python {line['python']}, {how}"}
        for name, ratio in line["ratios"].items()
    ]
