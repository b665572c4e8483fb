"""How `recovery plan`, `run` and `grade` show what they have: a bar, counts, what a design can see.

May import: `grading.filling`, `grading.outcome`, `grading.provenance`, `grading.sections`, `grading.statistics.plan`,
`terminal`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from recovery.terminal import Terminal, new_table, print_line

# isort: split
# Behind `terminal`, which tells what to install where it is missing.
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .filling import Progress as Filled
from .outcome import OUTCOMES
from .provenance import Block
from .sections import Tally
from .statistics.plan import cases_wanted, smallest_difference


@contextmanager
def bar(total: int) -> Iterator[Callable[[Filled], None] | None]:
    """A bar with the counts by outcome, where somebody sees it."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("run"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[counts]}"),
    )
    with Progress(*columns, console=Terminal(stderr=True), transient=True) as shown:
        task = shown.add_task("run", total=total, counts="")

        def show(filled: Filled) -> None:
            said = "  ".join(f"{word} {count}" for word, count in sorted(filled.counts.items()) if count)
            shown.update(task, completed=filled.done, counts=said)

        yield show


def print_counts(console: Terminal, block: Block, tally: Tally, models: Iterable[str]) -> None:
    """Counts alone: a rate wants an interval, which `recovery report` has."""
    reasons = sorted(set(tally.words) - set(map(str, OUTCOMES)))
    columns = [*map(str, OUTCOMES), *reasons]
    table = new_table(["model"], [word.replace("_", " ") for word in columns])
    # Past their time the columns would all say so, and leave no room for the models.
    for model in [] if block.expired() else models:
        counts = tally.by_outcome(model)
        table.add_row(model, *(block.render(counts.get(word, 0)) for word in columns))
    if table.rows:
        console.print(table)
    print_line(console, block.caption())


def print_plan(
    console: Terminal,
    cases: int,
    wants: int | None,
    models: int,
    repeats: int,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    see: float | None = None,
) -> None:
    """The number of calls, and what `plan_rows` says."""
    calls = cases * models * repeats
    print_line(console, f"calls: {calls:,} ({cases:,} cases × {models:,} models × {repeats:,} repeats), retries apart")
    rows = plan_rows(cases, wants, models, repeats, alpha=alpha, power=power, see=see)
    headings = ["cases", "one comparison", "all comparisons"]
    if see is not None:
        headings.append(f"cases to see {see:g} points")
    table = new_table(["smallest difference that is seen, in points"], headings)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    print_line(console, f"with a power of {power:.0%} at α = {alpha:g}, on cases of mixed difficulty")
    if repeats == 1:
        print_line(console, "one repeat shows no run-to-run noise: the noise floor can't be estimated", "yellow")


def plan_rows(
    cases: int,
    wants: int | None,
    models: int,
    repeats: int,
    *,
    alpha: float,
    power: float,
    see: float | None = None,
) -> list[tuple[str, ...]]:
    """By kind of cases: how many, the smallest difference in one comparison and in all of them, in points.

    `wants`: how many cases want a call, None where that isn't known. `see`: a difference in points; then a last column
    says how many cases it takes, in all comparisons. All comparisons are every two models in every outcome, at the
    worst step of Holm's correction.
    """
    kinds = [("correct, over all cases", cases)]
    if wants is not None:
        kinds += [("failures of wanted calls", wants), ("calls that nobody wanted", cases - wants)]
    tests = max(models * (models - 1) // 2 * len(OUTCOMES), 1)
    return [(kind, f"{number:,}", *_row(number, repeats, tests, alpha, power, see)) for kind, number in kinds]


def _row(cases: int, repeats: int, tests: int, alpha: float, power: float, see: float | None) -> list[str]:
    row = []
    for many in (1, tests):
        found = smallest_difference(cases, repeats, alpha=alpha, power=power, tests=many) if cases else None
        # More than all is not seen at all.
        row.append("none" if found is None or found > 1 else f"{100 * found:.1f}")
    if see is not None:
        row.append(f"{math.ceil(cases_wanted(see / 100, repeats, alpha=alpha, power=power, tests=tests)):,}")
    return row
