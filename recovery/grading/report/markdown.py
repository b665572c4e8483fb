"""The report as Markdown, for a design review: the same words and tables, no pictures.

May import: `grading.report.escape`, `grading.report.model`, `grading.report.sheets`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from .escape import markdown_cell, markdown_line
from .model import Report
from .sheets import Table, sections, title


def to_markdown(report: Report, now: date | None = None) -> str:
    """The whole page. `now` is today's date by default: past the block's `valid_until` no number is shown."""
    lines = [f"# {markdown_line(title(report))}", "", markdown_line(report.block.caption(now)), ""]
    for part in sections(report, now):
        lines += [f"## {markdown_line(part.title)}", ""]
        bullet = "- " if part.key == "findings" else ""
        for line in part.lines:
            lines += [bullet + markdown_line(line)] if bullet else [markdown_line(line), ""]
        lines += [""] if bullet else []
        for table in part.tables:
            lines += [*_table(table), ""]
    return "\n".join(lines)


def _table(table: Table) -> Iterator[str]:
    yield "| " + " | ".join(map(markdown_cell, table.head)) + " |"
    yield "|" + "|".join(" ---: " if table.is_number(at) else " --- " for at in range(len(table.head))) + "|"
    for row in table.rows:
        yield "| " + " | ".join(map(markdown_cell, row)) + " |"
