"""The report in a terminal, by rich: the same words and tables, without what only a page has room for.

May import: `grading.report.escape`, `grading.report.model`, `grading.report.sheets`,
`terminal`.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from recovery.terminal import Terminal, new_table, plain

from .escape import clean
from .model import Report
from .sheets import Table, sections, title

# Left to the files: long lists, and the block, whose one line stands at the end.
_LEFT_OUT: Final = frozenset({"details", "provenance", "flaky"})
_MOST_ROWS: Final = 20


def print_report(report: Report, console: Terminal, now: date | None = None) -> None:
    """Print it. `now` is today's date by default: past the block's `valid_until` no number is shown."""
    console.print(plain(title(report)), style="bold")
    expired = report.block.expired(now)
    for part in sections(report, now):
        # Of tables that say the same in every cell nothing could be read.
        if part.key in _LEFT_OUT or (expired and part.key != "verdict"):
            continue
        console.print()
        console.print(plain(part.title), style="bold red" if part.key == "verdict" else "bold cyan")
        for line in part.lines:
            console.print(plain(f"• {line}" if part.key == "findings" else line))
        for table in part.tables:
            _print_table(table, console)
    console.print()
    console.print(plain(report.block.caption(now)), style="dim")


def _print_table(table: Table, console: Terminal) -> None:
    last_number = len(table.head) - table.words
    made = new_table(table.head[: table.numbers], table.head[table.numbers : last_number], table.head[last_number:])
    last = None
    for row in table.rows[:_MOST_ROWS]:
        # A word that stands above is not said again.
        made.add_row(*map(plain, map(clean, ("" if row[0] == last and table.numbers > 1 else row[0], *row[1:]))))
        last = row[0]
    console.print(made)
    if len(table.rows) > _MOST_ROWS:
        console.print(plain(f"{len(table.rows) - _MOST_ROWS} more rows: --html, --markdown or --json has them."))
