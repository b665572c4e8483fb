"""From cases and cells to a report: every figure and list that a page shows.

May import: `grading.case`, `grading.cell`, `grading.outcome`, `grading.provenance`, `grading.report.model`,
`grading.run`, `grading.tables`, `grading.verdict`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from recovery.grading.case import Case
from recovery.grading.cell import Cell, Grade
from recovery.grading.outcome import Detail, Outcome
from recovery.grading.provenance import Block
from recovery.grading.run import Run
from recovery.grading.tables import PairOf, RateOf
from recovery.grading.verdict import Kind, Verdict, decide, details_of

from .model import NO_TOOL, Arrival, CasePart, Confusion, Difference, Lost, ModelPart, Rate, Reading, Report

# Of an answer whose call was lost: so much is shown.
_EXCERPT: Final = 200

# By model, case, repeat.
_Grid = Mapping[str, Mapping[str, Mapping[int, Cell]]]


def only(run: Run, models: Collection[str]) -> Run:
    """The run of these models alone. Raises `ValueError` for one that it does not have."""
    for model in models:
        if model not in run.models:
            raise ValueError(f"there is no model {model!r}; there are {', '.join(run.models)}")
    block = run.block.model_copy(update={"models": tuple(one for one in run.block.models if one.name in models)})
    return run.model_copy(update={"cells": tuple(cell for cell in run.cells if cell.model in models), "block": block})


def report_of(run: Run, *, margin: float = 0.10, alpha: float = 0.05) -> Report:
    """The report of a run; `margin` and `alpha` as `decide` takes them. Raises `ValueError` as `decide` does."""
    expected = {case.id: case.expected_tool for case in run.cases}
    answered = {cell.model for cell in run.cells if cell.answer is not None}
    sent = {entry.name: entry.tools_sha256 for entry in run.block.models if entry.tools_sha256}
    # Of a model that never answered nothing is known, and nothing to be held against it but that.
    silent = {model: run.block.stimulus.tools_sha256 or "" for model in run.models if model not in answered}
    verdict = decide(
        run.matrix,
        margin=margin,
        alpha=alpha,
        details=details_of(run.cells, expected),
        # Where tools were sent, those of every model are known; recorded answers have none.
        stimuli={**silent, **sent} if sent else None,
    )
    return build(run.cases, run.cells, run.block, verdict)


def build(cases: Sequence[Case], cells: Iterable[Cell], block: Block, verdict: Verdict) -> Report:
    """Everything that a page shows of these cells; the figures are the verdict's, which is of the same cells.

    Raises `ValueError` for a cell of a case, a model or a repeat that the run does not have.
    """
    repeats = block.run.planned_repeats
    grid = _grid(cells, verdict.models, {case.id for case in cases}, repeats)
    return Report(
        block=block,
        models=tuple(_model(cases, grid[model], model, verdict, repeats) for model in verdict.models),
        differences=tuple(_difference(pair, verdict) for pair in verdict.pairs),
        confusion=_confusion(cases, grid),
        flaky=tuple(_flaky(cases, grid, repeats)),
        unanimous=tuple(_unanimous(cases, grid, repeats)),
        lost=tuple(_lost(cases, grid)),
        verdict=verdict,
        cases=len(cases),
        repeats=repeats,
        alpha=verdict.alpha_compared,
        level=1 - verdict.alpha,
    )


def _grid(cells: Iterable[Cell], models: Sequence[str], cases: set[str], repeats: int) -> _Grid:
    grid: dict[str, dict[str, dict[int, Cell]]] = {model: defaultdict(dict) for model in models}
    for cell in cells:
        if cell.model not in grid or cell.case_id not in cases or not 0 <= cell.repeat < repeats:
            where = f"model {cell.model!r}, case {cell.case_id!r}, repeat {cell.repeat}"
            raise ValueError(f"a cell that is not of this run: {where}")
        grid[cell.model][cell.case_id][cell.repeat] = cell
    return grid


def _model(
    cases: Sequence[Case], cells: Mapping[str, Mapping[int, Cell]], name: str, verdict: Verdict, repeats: int
) -> ModelPart:
    details: dict[str, Counter[str]] = defaultdict(Counter)
    ungraded: Counter[str] = Counter()
    for case in cases:
        for repeat in range(repeats):
            cell = cells.get(case.id, {}).get(repeat)
            if cell is None or cell.grade is None:
                ungraded[str(cell.ungraded) if cell and cell.ungraded else "not_run"] += 1
            elif cell.grade.detail is not None:
                details[cell.grade.outcome][cell.grade.detail] += 1
    return ModelPart(
        name=name,
        rates=tuple(_rate(rate) for rate in verdict.rates if rate.model == name),
        arrival=_arrival(cases, cells),
        details={outcome: dict(counts) for outcome, counts in details.items()},
        ungraded=dict(ungraded),
        cells=len(cases) * repeats,
        # What of α is the drift gate's.
        drifts=tuple(
            one.bucket for one in verdict.drifts if one.model == name and one.p < verdict.alpha - verdict.alpha_compared
        ),
    )


def _graded(cases: Sequence[Case], cells: Mapping[str, Mapping[int, Cell]]) -> Iterable[tuple[Case, Cell, Grade]]:
    for case in cases:
        for _, cell in sorted(cells.get(case.id, {}).items()):
            if cell.grade is not None:
                yield case, cell, cell.grade


def _arrival(cases: Sequence[Case], cells: Mapping[str, Mapping[int, Cell]]) -> Arrival:
    counts: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for case, _, grade in _graded(cases, cells):
        if not case.expects_call:
            continue
        if grade.detail is Detail.WRITTEN_AND_REFUSED:
            lost[grade.reason or "unknown"] += 1
        elif grade.outcome is not Outcome.NO_CALL:
            counts["recovered" if grade.recovered else "native"] += 1
        else:
            counts[grade.detail if grade.detail in {Detail.REFUSAL, Detail.TRUNCATED} else Detail.SILENT] += 1
    return Arrival(lost=dict(sorted(lost.items())), **counts)


def _rate(rate: RateOf) -> Rate:
    return Rate(
        outcome=rate.bucket,
        count=rate.hits,
        of=rate.graded,
        cases=rate.cases,
        value=rate.estimate,
        low=rate.low,
        high=rate.high,
    )


def _difference(pair: PairOf, verdict: Verdict) -> Difference:
    reading: Reading = "these cases"
    if verdict.kind is Kind.INVALID_RUN:
        reading = "no verdict"
    elif pair.identical_bound is not None:
        reading = "identical"
    elif pair.floor is None:
        reading = "floor unknown"
    elif abs(pair.estimate) <= pair.floor:
        reading = "noise"
    elif pair.p is not None and pair.p < verdict.alpha_compared:
        reading = "real"
    return Difference(
        outcome=pair.bucket,
        one=pair.a,
        other=pair.b,
        cases=pair.cases,
        value=pair.estimate,
        low=pair.low,
        high=pair.high,
        p=pair.p,
        floor=pair.floor,
        smallest_visible=pair.visible,
        may_differ=pair.identical_bound,
        reading=reading,
    )


def _tools(case: Case) -> list[str]:
    return [call.tool for call in case.alternatives[0]] if case.alternatives else []


def _confusion(cases: Sequence[Case], grid: _Grid) -> tuple[Confusion, ...]:
    """Wanted and called tools of the answers that called another one, or one too many, or one where none was wanted."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for model, cells in grid.items():
        for case, _, grade in _graded(cases, cells):
            if grade.outcome not in {Outcome.WRONG_TOOL, Outcome.SPURIOUS_CALL}:
                continue
            wanted, called = Counter(_tools(case)), Counter(grade.called)
            missing, extra = [*(wanted - called).elements()], [*(called - wanted).elements()]
            for at in range(max(len(missing), len(extra))):
                pair = (missing[at] if at < len(missing) else NO_TOOL, extra[at] if at < len(extra) else NO_TOOL)
                counts[pair][model] += 1
    order = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    return tuple(Confusion(wanted=wanted, called=called, counts=dict(by)) for (wanted, called), by in order)


def _outcomes(case: Case, grid: _Grid, repeats: int) -> dict[str, tuple[str, ...]]:
    def name(cell: Cell | None) -> str:
        return "ungraded" if cell is None or cell.grade is None else str(cell.grade.outcome)

    return {
        model: tuple(name(cells.get(case.id, {}).get(repeat)) for repeat in range(repeats))
        for model, cells in grid.items()
    }


def _flaky(cases: Sequence[Case], grid: _Grid, repeats: int) -> list[CasePart]:
    """Cases whose outcome changes between the repeats of a model, those of most models first."""
    found = []
    for case in cases:
        outcomes = _outcomes(case, grid, repeats)
        turns = sum(len({name for name in row if name != "ungraded"}) > 1 for row in outcomes.values())
        if turns:
            found.append((-turns, case.id, _part(case, outcomes)))
    return [part for *_, part in sorted(found, key=lambda item: item[:2])]


def _unanimous(cases: Sequence[Case], grid: _Grid, repeats: int) -> list[CasePart]:
    found = []
    for case in cases:
        outcomes = _outcomes(case, grid, repeats)
        graded = [{name for name in row if name != "ungraded"} for row in outcomes.values()]
        if not all(graded) or any(Outcome.CORRECT in row for row in graded):
            continue
        called: Counter[str] = Counter()
        differences: Counter[str] = Counter()
        for cells in grid.values():
            for _, _, grade in _graded([case], cells):
                called[", ".join(grade.called) or NO_TOOL] += 1
                differences.update(grade.differences)
        found.append(_part(case, outcomes, called, differences))
    return found


def _part(
    case: Case, outcomes: dict[str, tuple[str, ...]], called: Iterable[str] = (), differences: Iterable[str] = ()
) -> CasePart:
    return CasePart(
        case=case.id,
        query=case.query,
        wanted=", ".join(_tools(case)) or NO_TOOL,
        outcomes=outcomes,
        called=tuple(called),
        differences=tuple(differences),
    )


def _lost(cases: Sequence[Case], grid: _Grid) -> list[Lost]:
    """Of each model and reason one answer whose written call was refused, and how many there are."""
    found: dict[tuple[str, str], tuple[Case, Cell]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for model, cells in grid.items():
        for case, cell, grade in _graded(cases, cells):
            if case.expects_call and grade.detail is Detail.WRITTEN_AND_REFUSED:
                key = (model, grade.reason or "unknown")
                found.setdefault(key, (case, cell))
                counts[key] += 1
    return [
        Lost(model=model, case=case.id, reason=reason, text=_excerpt(cell.answer), alike=counts[model, reason])
        for (model, reason), (case, cell) in found.items()
    ]


def _excerpt(answer: Any) -> str:
    """The text of an answer as a cell keeps it, cut; nothing where the answer was not kept."""
    text = answer
    for key in ("message", "text", "content"):
        if isinstance(text, dict) and key in text:
            text = text[key]
    if not isinstance(text, str):
        return ""
    return text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
