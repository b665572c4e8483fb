"""The report as one HTML file: no network, no script; the plots are inside, in light and in dark.

May import: `grading.report.escape`, `grading.report.model`, `grading.report.sheets`, `grading.report.svg`.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from .escape import to_html
from .model import Report
from .sheets import Section, Show, Table, sections, title
from .svg import plot

# Longer tables are folded behind a line that opens them.
_FOLDED: Final = 24

# What an answer may hold can load and run nothing, whatever a reader's browser makes of it.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --paper: #ffffff; --panel: #f5f7fa; --rule: #d5dbe3;
  --m0: #0064a8; --m1: #c2500a; --m2: #00795a; --m3: #a04a86; --m4: #6b5b00; --m5: #4a4fb5;
  --o0: #7a8797; --o1: #b0579a; --o2: #c2500a; --o3: #a98100; --o4: #5f5ac0; --o5: #00795a;
  --a0: #00795a; --a1: #0064a8; --a2: #b3261e; --a3: #7a8797; --a4: #5f5ac0; --a5: #8a6a00; --heat: #c2500a;
  --band: #c9d1dc; --on: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf0; --soft: #a3aebd; --paper: #14181f; --panel: #1c222b; --rule: #353e4b;
  --m0: #63b3f0; --m1: #ff9d5c; --m2: #4fd1a5; --m3: #e79ad0; --m4: #d8c65a; --m5: #a3a8ff;
  --o0: #95a1b1; --o1: #e08cc8; --o2: #ff9d5c; --o3: #e3bf45; --o4: #aaa5ff; --o5: #4fd1a5;
  --a0: #4fd1a5; --a1: #63b3f0; --a2: #ff8a80; --a3: #95a1b1; --a4: #aaa5ff; --a5: #d8c65a; --heat: #ff9d5c;
  --band: #3d4756; --on: #10141a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main, header, footer { max-width: 60rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 2rem; } h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .5rem; } p { margin: .4rem 0 .8rem; max-width: 48rem; }
.caption, caption, .tick { color: var(--soft); } .caption { font-size: .85rem; overflow-wrap: anywhere; }
ul { padding-left: 1.2rem; max-width: 48rem; } li { margin: .35rem 0; }
.verdict { background: var(--panel); border-left: 4px solid var(--m0); padding: .2rem 1.2rem .6rem;
  margin-top: 1.6rem; }
.verdict h2 { margin-top: .8rem; }
.expired { background: #b3261e; color: #ffffff; padding: .8rem 1.2rem; font-weight: 600; }
nav { font-size: .9rem; margin-top: .8rem; } nav a { margin-right: 1rem; white-space: nowrap; }
a { color: var(--m0); }
.wide { overflow-x: auto; margin: .8rem 0; }
.wide:focus-visible, summary:focus-visible { outline: 2px solid var(--m0); }
table { border-collapse: collapse; font-size: .85rem; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .2rem 0; } summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
th, td { text-align: left; padding: .28rem .7rem .28rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
td { overflow-wrap: break-word; } thead th { border-bottom: 2px solid var(--rule); white-space: nowrap; }
tbody th { font-weight: 500; } .n { text-align: right; white-space: nowrap; padding-left: .7rem; }
tr > :last-child { padding-right: 0; }
.fields td { overflow-wrap: anywhere; font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .78rem; }
svg { display: block; height: auto; width: 100%; min-width: 44rem; font-size: 12.5px; } svg text { fill: var(--ink); }
svg .tick { fill: var(--soft); font-size: 11.5px; } svg .strong { font-weight: 650; }
svg .value { font-variant-numeric: tabular-nums; font-size: 12px; }
.grid { stroke: var(--rule); } .rule { stroke: var(--rule); } .axis { stroke: var(--soft); }
.whisker { stroke-width: 3; stroke-linecap: round; opacity: .55; } .mark { stroke: var(--paper); stroke-width: 1.5; }
.band { fill: var(--band); } .segment { stroke: var(--paper); stroke-width: 1; }
.d-real { fill: var(--m1); } .d-reals { stroke: var(--m1); }
.d-noise { fill: var(--soft); } .d-noises { stroke: var(--soft); }
.heat { fill: var(--heat); } .empty { fill: var(--panel); } .on-empty { fill: var(--soft); }
.m0 { fill: var(--m0); } .m1 { fill: var(--m1); } .m2 { fill: var(--m2); } .m3 { fill: var(--m3); }
.m4 { fill: var(--m4); } .m5 { fill: var(--m5); } .m0s { stroke: var(--m0); } .m1s { stroke: var(--m1); }
.m2s { stroke: var(--m2); } .m3s { stroke: var(--m3); } .m4s { stroke: var(--m4); } .m5s { stroke: var(--m5); }
.o0 { fill: var(--o0); } .o1 { fill: var(--o1); } .o2 { fill: var(--o2); } .o3 { fill: var(--o3); }
.o4 { fill: var(--o4); } .o5 { fill: var(--o5); } .a0 { fill: var(--a0); } .a1 { fill: var(--a1); }
.a2 { fill: var(--a2); } .a3 { fill: var(--a3); } .a4 { fill: var(--a4); } .a5 { fill: var(--a5); }
svg [class^="on-o"], svg [class^="on-a"], svg .on-heat { fill: var(--on); font-weight: 600; }
footer { padding-top: 2rem; padding-bottom: 3rem; }
@media print { .wide { overflow: visible; } h2 { break-after: avoid; } svg { break-inside: avoid; } }
"""


def to_page(report: Report, now: date | None = None) -> str:
    """The whole file. `now` is today's date by default: past the block's `valid_until` no number is shown."""
    show = Show(report.block, now)
    parts = sections(report, now)
    links = "".join(f'<a href="#{part.key}">{to_html(part.title)}</a> ' for part in parts)
    name = to_html(title(report))
    notice = (
        f'<p class="expired" role="alert">{to_html(show.count(0))}: these numbers say nothing of today. Run again.</p>'
        if show.expired
        else ""
    )
    caption = to_html(report.block.caption(now))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<header><h1>{name}</h1><p class="caption">{caption}</p>{notice}'
        f'<nav aria-label="Sections">{links}</nav></header>\n'
        f"<main>\n{''.join(_section(part, report, show) for part in parts)}</main>\n"
        f'<footer><p class="caption">{caption}</p></footer>\n</body>\n</html>\n'
    )


def _section(part: Section, report: Report, show: Show) -> str:
    kind = ' class="verdict"' if part.key == "verdict" else ""
    if part.key == "findings":
        body = "<ul>" + "".join(f"<li>{to_html(line)}</li>" for line in part.lines) + "</ul>"
    else:
        body = "".join(f"<p>{to_html(line)}</p>" for line in part.lines)
    if part.plot and not show.expired:
        body += f'<div class="wide">{plot(part.plot, report, show)}</div>'
    body += "".join(_table(table, fold=part.key == "provenance") for table in part.tables)
    label = f"{part.key}-heading"
    heading = f'<h2 id="{label}">{to_html(part.title)}</h2>'
    return f'<section id="{part.key}" aria-labelledby="{label}"{kind}>{heading}{body}</section>\n'


def _table(table: Table, fold: bool) -> str:
    head = "".join(f'<th scope="col"{_side(at, table)}>{to_html(cell)}</th>' for at, cell in enumerate(table.head))
    rows = "".join(
        f'<tr><th scope="row">{to_html(row[0])}</th>'
        + "".join(f"<td{_side(at, table)}>{to_html(cell)}</td>" for at, cell in enumerate(row[1:], 1))
        + "</tr>\n"
        for row in table.rows
    )
    kind = ' class="fields"' if table.head == ("field", "value") else ""
    caption = to_html(table.caption)
    # A box that can be scrolled must be reached without a mouse too.
    made = (
        f'<div class="wide" tabindex="0" role="region" aria-label="{caption}"><table{kind}><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>"
    )
    if fold or len(table.rows) > _FOLDED:
        return f"<details><summary>{caption} ({len(table.rows)} rows)</summary>{made}</details>"
    return made


def _side(at: int, table: Table) -> str:
    return ' class="n"' if table.is_number(at) else ""
