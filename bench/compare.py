"""`python -m bench compare`: what is slower than in another revision, with a second look at what seems to be.

May import: `bench.cases`, `bench.comparing`, `bench.judging`, `bench.progress`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.cases import BENCHES, ROOMS
from bench.comparing import FIRST, SECOND, Effort, Times, export, take
from bench.judging import TOLERATED, Estimate, Start, estimate, together
from bench.progress import Progress

# Room is written alone where all of its benches together are meant.
Title = str

SLOWER: Final = "slower"
CLEARED: Final = "passes, measured again"


class Row(NamedTuple):
    """A bench, or a room as a whole; the estimate is the second one where there was one."""

    title: Title
    estimate: Estimate
    verdict: str


def estimates(starts: Mapping[Title, Sequence[Start]]) -> dict[Title, Estimate]:
    """Of each room, followed by its benches."""
    found = {}
    for room in ROOMS:
        own = {title: taken for title, taken in starts.items() if BENCHES[title].room == room}
        if len(own) > 1:
            found[room] = estimate(together(list(own.values())))
        found.update({title: estimate(taken) for title, taken in own.items()})
    return found


def suspects(found: Mapping[Title, Estimate]) -> list[Title]:
    """The benches to measure again: what looks slower, and all of a room that does."""
    looking = {title for title, one in found.items() if one.suspect}
    return [title for title in found if title in BENCHES and (title in looking or BENCHES[title].room in looking)]


def judge(first: Mapping[Title, Estimate], second: Mapping[Title, Estimate]) -> list[Row]:
    """Slower is what looked so at first and is so, beyond its noise, in the second and longer measurement."""
    rows = []
    for title, one in first.items():
        again = second.get(title)
        if not one.suspect or again is None:
            rows.append(Row(title, one, ""))
        else:
            rows.append(Row(title, again, SLOWER if again.slower else CLEARED))
    return rows


def compare(old: str, new: str | None, rooms: Iterable[str]) -> list[Row]:
    """Measure both and print the table. Raises `RevisionError`."""
    titles = [title for title, bench in BENCHES.items() if bench.room in set(rooms)]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        # Names of one length: a path is in every code object.
        before, after = Path(folder) / "old", Path(folder) / "new"
        before.mkdir()
        after.mkdir()
        export(old, before)
        export(new, after)
        times = _measure(before, after, titles, FIRST, "measuring")
        first = estimates(times.starts)
        again = suspects(first)
        second = estimates(_measure(before, after, again, SECOND, "measuring again").starts) if again else {}
    rows = judge(first, second)
    _show(rows, times.left, f"{new or 'the working tree'} beside {old}")
    return rows


def _measure(old: Path, new: Path, titles: Sequence[Title], effort: Effort, what: str) -> Times:
    with Progress(what, effort.starts * len(titles)) as progress:
        return take(old, new, titles, effort, progress.advance)


def _show(rows: Sequence[Row], left: Mapping[Title, str], title: str) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("bench")
    table.add_column("ratio", justify="right")
    table.add_column("noise", justify="right")
    table.add_column("verdict")
    for row in rows:
        name = row.title if row.title in BENCHES else f"{row.title}, all"
        style = "red" if row.verdict == SLOWER else None
        table.add_row(name, f"{row.estimate.ratio:.2f}", f"±{row.estimate.noise:.0%}", row.verdict, style=style)
    for name, why in left.items():
        table.add_row(name, "", "", f"not compared: {why}")
    console = Console(width=None if Console().is_terminal else 120)
    console.print(table)
    slower = [row.title for row in rows if row.verdict == SLOWER]
    if slower:
        console.print(f"slower by more than its noise and {TOLERATED:.0%}: {', '.join(slower)}", soft_wrap=True)
    else:
        console.print(f"nothing is slower by more than its noise and {TOLERATED:.0%}")
