"""The terminal: how tables, lines and progress look, and what every command shares.

Answers are other people's text: nothing of them reaches a terminal as markup or as a control character. May import:
nothing of the package.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

try:
    import click
    from rich import box
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError as missing:
    if missing.name not in {"click", "rich"}:
        raise
    sys.stderr.write("The command line needs click and rich: pip install 'recovery[cli]'\n")
    raise SystemExit(2) from None

# Where nothing says how wide the output is, a log for one.
_WIDTH: Final = 120

FILE: Final = click.Path(exists=True, dir_okay=False)
FILE_OR_DASH: Final = click.Path(exists=True, dir_okay=False, allow_dash=True)


class Misuse(click.ClickException):
    """What click does not find by itself: a file that does not hold what it must."""

    exit_code = 2


class Terminal(Console):
    """A console that tells its caller when nobody reads on."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def output() -> Terminal:
    """What goes to standard output."""
    return Terminal(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH)


@contextmanager
def show_progress(files: Iterable[str], console: Console, doing: str) -> Iterator[Callable[[int], None]]:
    """Show a bar by bytes read, where somebody sees it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    total = None if "-" in files else sum(Path(file).stat().st_size for file in files)
    columns = (TextColumn(doing), BarColumn(), TaskProgressColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done: bar.update(task, completed=done)


def new_table(names: Iterable[str], numbers: Iterable[str], remarks: Iterable[str] = ()) -> Table:
    """A table with columns of words, of numbers and of remarks."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    for number in numbers:
        # The columns that may be wrapped give way first.
        table.add_column(number, justify="right", no_wrap=True)
    for remark in remarks:
        table.add_column(remark)
    return table


def print_line(console: Console, line: object, style: str = "") -> None:
    """Print a line, not wrapped: a place that is broken in two can't be copied, nor found."""
    console.print(plain(line), style=style, soft_wrap=True)


def plain(value: object) -> Text:
    """Text that is shown as it is: no markup, no control characters."""
    return Text("".join(character if character.isprintable() else "\ufffd" for character in str(value)))


def cut(*lines: str) -> Text:
    """Lines of one cell, each cut off where the cell ends."""
    cell = Text("\n").join(map(plain, lines))
    cell.no_wrap, cell.overflow = True, "ellipsis"
    return cell
