"""What is seen of a campaign while it runs: a bar for each target on a terminal, else a line when one has ended."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

from fuzz.campaign import Outcome


class Progress:
    """Told how targets get on, from any thread. `seconds` is how long each of them runs."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds
        self._bars: dict[str, tuple[Any, float]] = {}
        self._display: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._display = _display()
        if self._display is not None:
            self._display.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._display is not None:
            self._display.stop()

    def update(self, outcome: Outcome) -> None:
        """The target gets on."""
        if self._display is None:
            return
        if outcome.target not in self._bars:
            self._bars[outcome.target] = self._display.add_task(outcome.target, total=self._seconds), time.monotonic()
        task, began = self._bars[outcome.target]
        self._display.update(task, completed=time.monotonic() - began, description=_line(outcome))

    def end(self, outcome: Outcome) -> None:
        """The target has ended."""
        if self._display is None:
            print(_line(outcome), file=sys.stderr, flush=True)
        elif outcome.target in self._bars:
            self._display.update(self._bars[outcome.target][0], completed=self._seconds, description=_line(outcome))


def _line(outcome: Outcome) -> str:
    line = f"{outcome.target:15} {outcome.executions:>11,} executions {outcome.edges:>6,} edges"
    if outcome.broken:
        return f"{line}  broken"
    return f"{line}  {len(outcome.findings)} findings" if outcome.findings else line


def _display() -> Any:
    """The bars, None without rich."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars
    except ImportError:
        return None
    console = Console(stderr=True)
    return Bars(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console)
