"""What is seen of a measurement while it runs: a bar on a terminal, a line at the beginning elsewhere."""

from __future__ import annotations

import sys
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars


class Progress:
    """Told each step. `total` is how many there are."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bars.add_task(what, total=total)

    def __enter__(self) -> Self:
        if self._bars.disable:
            print(f"{self._what}, {self._bars.tasks[0].total:.0f} steps", file=sys.stderr, flush=True)
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def advance(self, step: str) -> None:
        self._bars.update(self._task, advance=1, description=f"{self._what} {step:42}")
