"""Two runs of one question, model by model: the new one held against the baseline.

May import: `grading.cell`, `grading.provenance`, `grading.report.build`, `grading.report.gate`,
`grading.report.model`, `grading.report.sheets`, `grading.run`, `grading.verdict`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import Final

from recovery.grading.cell import matrix_of
from recovery.grading.provenance import Block, Parent, comparable, require_comparable
from recovery.grading.run import Run
from recovery.grading.verdict import decide, details_of

from .build import build
from .gate import Check, check_differences
from .model import Report
from .sheets import Show

NEW: Final = "new"
BASELINE: Final = "baseline"


def compare(
    baseline: Run,
    new: Run,
    *,
    models: Mapping[str, str] | None = None,
    under_study: Collection[str] = (),
    margin: float = 0.10,
    alpha: float = 0.05,
) -> Report:
    """The differences of each model, new less baseline, on the same cases.

    `models`: names of the baseline by names of the new run; by default those that both have, or where each has one
    alone, these two. `under_study`: the fields that differ on purpose. α is shared out over the models.

    Raises `NotComparableError` for runs that don't answer one question; `ValueError` where no model is left.
    """
    require_comparable(baseline.block, new.block, under_study=under_study)
    pairs = _pairs(baseline, new, models)
    block = _block(baseline.block, new.block)
    reports = [_one(baseline, new, block, pair, margin, alpha / len(pairs)) for pair in pairs.items()]
    return reports[0].model_copy(
        update={
            "models": tuple(model for report in reports for model in report.models),
            "differences": tuple(one for report in reports for one in report.differences),
            "confusion": tuple(one for report in reports for one in report.confusion),
            # What the cases are like is for the report of a run; here is what changed.
            "flaky": (),
            "unanimous": (),
            "lost": tuple(one for report in reports for one in report.lost),
            "verdict": None,
        }
    )


def check_comparison(report: Report, tolerance: float = 0.0, now: date | None = None) -> list[Check]:
    """The gate of a comparison: each outcome of each model, no worse than noise explains; `tolerance` is a share."""
    return check_differences(report.differences, report.models, Show(report.block, now), tolerance)


def _pairs(baseline: Run, new: Run, models: Mapping[str, str] | None) -> dict[str, str]:
    before, after = baseline.models, new.models
    if models is None:
        both = [name for name in after if name in before]
        if not both and len(before) == len(after) == 1:
            return {after[0]: before[0]}
        if not both:
            raise ValueError(
                f"no model is in both runs ({', '.join(before)}; {', '.join(after)}): say which go together"
            )
        return {name: name for name in both}
    for name, other in models.items():
        if name not in after:
            raise ValueError(f"the new run has no model {name!r}; it has {', '.join(after)}")
        if other not in before:
            raise ValueError(f"the baseline has no model {other!r}; it has {', '.join(before)}")
    if not models:
        raise ValueError("no model to compare")
    return dict(models)


def _block(baseline: Block, new: Block) -> Block:
    """What stands behind a difference: the new run's block, with the baseline, and no longer valid than either."""
    until = min(baseline.claim.valid_until, new.claim.valid_until)
    parent = Parent(sha256=baseline.sha256, differing=tuple(comparable(baseline, new)))
    claim = new.claim.model_copy(update={"valid_until": until})
    return new.model_copy(update={"parent": parent, "claim": claim})


def _one(baseline: Run, new: Run, block: Block, pair: tuple[str, str], margin: float, alpha: float) -> Report:
    names = (f"{pair[0]} ({NEW})", f"{pair[1]} ({BASELINE})")
    # Of the run with more repeats the first ones, so that none counts as missing in the other.
    repeats = min(new.block.run.planned_repeats, baseline.block.run.planned_repeats)
    cells = [
        cell.model_copy(update={"model": name})
        for run, model, name in zip((new, baseline), pair, names, strict=True)
        for cell in run.cells
        if cell.model == model and cell.repeat < repeats
    ]
    block = block.model_copy(update={"run": block.run.model_copy(update={"planned_repeats": repeats})})
    cases = [(case.id, case.cluster, case.expects_call) for case in new.cases]
    expected = {case.id: case.expected_tool for case in new.cases}
    verdict = decide(
        matrix_of(cells, names, cases, repeats), margin=margin, alpha=alpha, details=details_of(cells, expected)
    )
    return build(new.cases, cells, block, verdict)
