"""The commands `recovery report` and `recovery compare`: their options, the files they write, their exit statuses.

May import: `grading.provenance`, `grading.report.build`, `grading.report.compare`, `grading.report.files`,
`grading.report.gate`, `grading.report.markdown`, `grading.report.model`, `grading.report.page`,
`grading.report.terminal`, `grading.run`, `terminal`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from recovery.terminal import FILE, Misuse, Terminal, output, plain, print_line

# isort: split
# Behind `terminal`, which tells what to install where it is missing.
import click

from recovery.grading.provenance import NotComparableError
from recovery.grading.run import Run

from .build import only, report_of
from .compare import check_comparison
from .compare import compare as compare_runs
from .files import to_json, to_junit
from .gate import Bound, Check, State, check_bounds, parse_bound, status
from .markdown import to_markdown
from .model import Report
from .page import to_page
from .terminal import print_report

_STYLES: Final = {State.PASSED: "green", State.FAILED: "bold red", State.UNDECIDED: "bold yellow"}


def _files(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name files to write, and `--quiet`."""
    for option in reversed(
        (
            click.option(
                "--html", type=click.Path(dir_okay=False), help="Write one HTML file, readable without a network."
            ),
            click.option("--markdown", type=click.Path(dir_okay=False), help="Write Markdown, for a design review."),
            click.option("--json", "json_", type=click.Path(dir_okay=False), help="Write all of it as JSON."),
            click.option("--junit", type=click.Path(dir_okay=False), help="Write the gates as JUnit XML."),
            click.option("--quiet", is_flag=True, help="Print the gates alone."),
        )
    ):
        command = option(command)
    return command


_margin = click.option(
    "--margin",
    metavar="POINTS",
    type=click.FloatRange(0, 100, min_open=True, max_open=True),
    default=10.0,
    show_default=True,
    help="Models that are closer than this are as good as equal.",
)


@click.command("report")
@click.argument("run_file", metavar="RUN", type=FILE)
@_files
@_margin
@click.option("--model", "models", multiple=True, metavar="NAME", help="Show this model alone. Repeatable.")
@click.option("--gate", "gates", multiple=True, metavar="GATE", help="As `correct>=80%` or `MODEL:no_call<=0.1`.")
def report(  # noqa: PLR0913, PLR0917 - each is an option
    run_file: str,
    html: str | None,
    markdown: str | None,
    json_: str | None,
    junit: str | None,
    quiet: bool,
    margin: float,
    models: tuple[str, ...],
    gates: tuple[str, ...],
) -> None:
    """Show a run: which failure, of which model, and whether a difference is more than noise.

    RUN is a file of `recovery run` or `recovery grade`. Each outcome stands alone, with its interval; numbers past the
    run's `valid_until` are shown as expired.

    A gate fails where the whole interval lies beyond its share, so that a rerun says the same; where the share lies in
    the interval it passes, and says so. Past 5% ungraded answers, or on an expired run, it can't be decided.

    \b
    recovery report run.db --html report.html --gate 'correct>=60%' --gate 'no_call<=25%'

    Exit status: 0 shown, and every gate passed; 1 a gate failed; 2 misuse; 3 a gate could not be decided.
    """
    bounds = _bounds(gates)
    try:
        run = _load(run_file)
        made = report_of(only(run, models) if models else run, margin=margin / 100)
        checks = check_bounds(made, bounds)
    except ValueError as error:
        raise Misuse(str(error)) from None
    _write(made, checks, html=html, markdown=markdown, json_=json_, junit=junit)
    _show(made, checks, quiet)
    raise SystemExit(status(checks))


@click.command("compare")
@click.argument("baseline_file", metavar="BASELINE", type=FILE)
@click.argument("new_file", metavar="NEW", type=FILE)
@_files
@_margin
@click.option("--model", "pairs", multiple=True, metavar="NEW=OLD", help="Which models go together. Repeatable.")
@click.option(
    "--under-study",
    multiple=True,
    metavar="FIELD",
    help="A field in which the runs differ on purpose, as `stimulus.tools_sha256`. Repeatable.",
)
@click.option(
    "--tolerance",
    metavar="POINTS",
    type=click.FloatRange(0, 100),
    default=0.0,
    show_default=True,
    help="A real difference passes as long as it is no larger.",
)
def compare(  # noqa: PLR0913, PLR0917 - each is an option
    baseline_file: str,
    new_file: str,
    html: str | None,
    markdown: str | None,
    json_: str | None,
    junit: str | None,
    quiet: bool,
    margin: float,
    pairs: tuple[str, ...],
    under_study: tuple[str, ...],
    tolerance: float,
) -> None:
    """Hold a run against a baseline: what is worse by more than noise.

    Both are files of `recovery run` or `recovery grade`, of the same cases, metric and stimulus; where these differ the
    comparison is refused, with the fields. Models of one name go together, or --model says which.

    An outcome fails where the new run is worse by more than the noise floor, the difference is real over the cases too
    (adjusted p), and it is larger than --tolerance. A rerun of the same models passes.

    \b
    recovery compare baseline.db run.db --junit gates.xml

    Exit status: 0 no worse; 1 worse in an outcome; 2 misuse, or not comparable; 3 can't be decided.
    """
    try:
        made = compare_runs(
            _load(baseline_file),
            _load(new_file),
            models=_models(pairs) or None,
            under_study=under_study,
            margin=margin / 100,
        )
    except NotComparableError as error:
        raise Misuse(f"{baseline_file} and {new_file} can't be compared: {error}") from None
    except ValueError as error:
        raise Misuse(str(error)) from None
    checks = check_comparison(made, tolerance / 100)
    _write(made, checks, html=html, markdown=markdown, json_=json_, junit=junit)
    _show(made, checks, quiet)
    raise SystemExit(status(checks))


def _load(path: str) -> Run:
    try:
        return Run.load(path)
    except ValueError as error:
        raise Misuse(str(error)) from None


def _bounds(gates: Sequence[str]) -> list[Bound]:
    try:
        return [parse_bound(gate) for gate in gates]
    except ValueError as error:
        raise Misuse(f"--gate: {error}") from None


def _models(pairs: Sequence[str]) -> dict[str, str]:
    models = {}
    for pair in pairs:
        new, sign, old = pair.partition("=")
        if not (new and sign and old):
            raise Misuse(f"--model: {pair!r} is not NEW=OLD")
        models[new] = old
    return models


def _write(
    made: Report,
    checks: Sequence[Check],
    *,
    html: str | None,
    markdown: str | None,
    json_: str | None,
    junit: str | None,
) -> None:
    texts: list[tuple[str | None, Callable[[], str]]] = [
        (html, lambda: to_page(made)),
        (markdown, lambda: to_markdown(made)),
        (json_, lambda: to_json(made, checks=checks)),
        (junit, lambda: to_junit(made, checks)),
    ]
    for path, text in texts:
        if path is not None:
            Path(path).write_text(text(), encoding="utf-8")


def _show(made: Report, checks: Sequence[Check], quiet: bool) -> None:
    console: Terminal = output()
    if not quiet:
        print_report(made, console)
    if checks and not quiet:
        console.print()
        console.print(plain("Gates"), style="bold cyan")
    for check in checks:
        print_line(console, f"{check.state}: {check.name}: {check.message}", _STYLES[check.state])
