"""The transcripts in streams/: what an upstream sends, and what goes out at once for each item.

tests/README.md tells the rows.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from recovery import Policy
from recovery.gateways import anthropic, openai

STREAMS = Path(__file__).parent / "streams"
LIBRARIES: dict[str, ModuleType] = {"openai": openai, "anthropic": anthropic}

Row = dict[str, Any]


class BrokenError(Exception):
    """What a broken connection is here."""


@dataclass(frozen=True)
class Transcript:
    """One file."""

    library: str
    name: str
    head: Row
    rows: list[Row]

    def __str__(self) -> str:
        return f"{self.library}-{self.name}"

    @property
    def breaks(self) -> bool:
        return self.rows_of("end") == ["break"]

    def rows_of(self, kind: str) -> list[Any]:
        return [row[kind] for row in self.rows if kind in row]

    def adapt(self, upstream: object) -> Any:
        """What the adapter makes of it, with ids in order."""
        numbers = count(1)
        options: Row = {name: self.head[name] for name in ("commit", "reasoning_open") if name in self.head}
        if "policy" in self.head:
            options["policy"] = Policy(self.head["policy"])
        return LIBRARIES[self.library].recover_stream(
            upstream, self.head["tools"], make_id=lambda: f"id_{next(numbers)}", **options
        )

    def replay(self, log: list[Row]) -> Iterator[Any]:
        """What the upstream sends, dicts, with the rows that say so written into `log`."""
        for item in self.rows_of("in"):
            log.append({"in": item})
            yield item
        log.append({"end": "break" if self.breaks else "close"})
        if self.breaks:
            raise BrokenError


def read(library: str) -> list[Transcript]:
    found = []
    for path in sorted((STREAMS / library).glob("*.jsonl")):
        # By "\n" alone: `splitlines` would cut at characters that a text may hold.
        head, *rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        found.append(Transcript(library, path.stem, head, rows))
    assert found, library
    return found


async def asynchronous(items: Iterator[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item
