"""`python -m bench table`: programs beside each other, a row a shape of text, as ratios to `ast.parse` alone.

May import: `bench.peers`, `bench.progress`, `bench.recorded`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.peers import BASE, PROGRAMS, ROUNDS, Text, measure, misses, rows
from bench.progress import Progress
from bench.recorded import DATA, clean_answers, texts_that_stay_text

COLUMNS: Final = tuple(name for name in PROGRAMS if name != BASE)
RECORDED: Final[dict[str, Callable[[], Sequence[Text]]]] = {
    "recorded: clean answers": clean_answers,
    "recorded: texts that stay text": texts_that_stay_text,
}


class Cell(NamedTuple):
    """How many times as long as `ast.parse`; and of how many texts with calls the program makes none, as a part."""

    ratio: float
    missed: float

    def __str__(self) -> str:
        ratio = f"{self.ratio:.2f}"
        if self.missed == 0:
            return ratio
        part = "under 1%" if self.missed < 0.01 else f"{self.missed:.0%}"
        return f"{ratio}, no call" if self.missed == 1 else f"{ratio}, no call in {part}"


Cells = Mapping[str, Mapping[str, Cell]]


def cells(rounds: int = ROUNDS) -> Cells:
    """By row and program. What a text gives is asserted before it is timed."""
    made = rows() | (RECORDED if DATA else {})
    found = {}
    with Progress("measuring", len(made)) as progress:
        for name, make in made.items():
            progress.advance(name)
            texts = make()
            ratios = measure(texts, rounds=rounds)
            found[name] = {column: Cell(ratio, misses(texts, column)) for column, ratio in ratios.items()}
    return found


def show(found: Cells) -> None:
    table = Table(title=f"with {BASE} alone as 1", title_justify="left")
    table.add_column("text")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for name, row in found.items():
        table.add_row(name, *_written(row))
    Console(width=None if Console().is_terminal else 140).print(table)


def markdown(found: Cells) -> str:
    """The same for a document."""
    lines = [["text", *COLUMNS], ["---", *("---:" for _ in COLUMNS)]]
    lines += [[name, *_written(row)] for name, row in found.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _written(row: Mapping[str, Cell]) -> list[str]:
    return [str(row[column]) if column in row else "–" for column in COLUMNS]
