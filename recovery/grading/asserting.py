"""What the fixture `grading` gives a test: runs, and assertions on them that a rerun does not turn.

May import: `grading.case`, `grading.grade`, `grading.outcome`, `grading.report.build`, `grading.report.compare`,
`grading.report.gate`, `grading.report.model`, `grading.report.page`, `grading.run`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Unpack

from .case import Case
from .grade import grade_answer
from .outcome import Outcome
from .report.build import report_of
from .report.compare import check_comparison, compare
from .report.gate import Check, State, check_bounds, parse_bound
from .report.model import Report
from .report.page import to_page
from .run import Options, Run, run_matrix


class Grading:
    """The value of the fixture. It keeps nothing."""

    def run(
        self,
        cases: Iterable[Case],
        models: Iterable[str],
        call_model: Callable[[str, str], Any],
        repeats: int = 3,
        **options: Unpack[Options],
    ) -> Run:
        """Ask every model every case, as `recovery.grading.run.run_matrix` does."""
        return run_matrix(cases, models, call_model, repeats=repeats, **options)

    def load(self, path: str | Path) -> Run:
        """The run in a file of `recovery run` or `recovery grade`. Raises `StoreError`, a `ValueError`."""
        return Run.load(path)

    def outcome(self, case: Case, answer: Any, tools: Iterable[object]) -> Outcome:
        """The outcome of one answer: text, a message of OpenAI or Anthropic, or `(tool_name, raw_args)`."""
        return grade_answer(case, answer, tools=tools).outcome

    def check(self, run: Run, *gates: str, report: str | Path | None = None) -> None:
        """Assert `correct>=80%`, `no_call<=10%` or `MODEL:no_call<=10%` of a run.

        A gate fails where the whole interval lies beyond the share; one that can't be decided (too much is ungraded,
        the run is expired) fails too. `report`: where to write the HTML page, whatever comes of it. Raises
        `AssertionError`; `ValueError` for what is no gate, or of no model of the run.
        """
        if not gates:
            raise ValueError("check: give one gate or more, as 'no_call<=10%'")
        bounds = [parse_bound(gate) for gate in gates]
        made = report_of(run)
        _write(made, report)
        _require(check_bounds(made, bounds), made)

    def no_worse(
        self, run: Run, baseline: Run | str | Path, *, tolerance: float = 0.0, report: str | Path | None = None
    ) -> None:
        """Assert that a run is no worse than a baseline, in any outcome of any model, by more than noise.

        `baseline`: a run, or its file. `tolerance`: a real difference up to this share passes. `report` as in
        `check`. Raises `AssertionError`; `NotComparableError` where the two don't answer one question.
        """
        made = compare(baseline if isinstance(baseline, Run) else Run.load(baseline), run)
        _write(made, report)
        _require(check_comparison(made, tolerance), made)


def _write(made: Report, path: str | Path | None) -> None:
    if path is not None:
        Path(path).write_text(to_page(made), encoding="utf-8")


def _require(checks: Sequence[Check], made: Report) -> None:
    __tracebackhide__ = True
    wrong = [check for check in checks if check.state is not State.PASSED]
    if wrong:
        lines = [f"{check.state}: {check.name}: {check.message}" for check in wrong]
        raise AssertionError("\n".join([*lines, made.block.caption()]))
