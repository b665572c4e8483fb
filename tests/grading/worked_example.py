"""The worked example of examples/grading/ as tests want it, and small runs that are made up on the spot."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from recovery import Toolset
from recovery.grading import Case, Cell, Grade, Grader, Outcome, matrix_of
from recovery.grading.provenance import (
    Block,
    Metric,
    ModelEntry,
    Result,
    RunSection,
    Scope,
    Stimulus,
    claim_of,
    counts_of,
    digest,
)
from recovery.grading.report import Report, build
from recovery.grading.verdict import decide, details_of

FOLDER = Path(__file__).parents[2] / "examples" / "grading"
STARTED = datetime(2026, 12, 1, 9, tzinfo=UTC)
# Inside and outside of the block's time.
TODAY = STARTED.date()
LATER = datetime(2027, 12, 1, tzinfo=UTC).date()


@cache
def make() -> ModuleType:
    """The script that makes the answers."""
    spec = importlib.util.spec_from_file_location("make_example", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def cases() -> tuple[Case, ...]:
    return tuple(Case.model_validate_json(line) for line in (FOLDER / "cases.jsonl").read_text().splitlines())


def answers() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / "answers.jsonl").read_text().splitlines()]


@cache
def cells() -> tuple[Cell, ...]:
    grader = Grader(Toolset(json.loads((FOLDER / "tools.json").read_text())))
    by_id = {case.id: case for case in cases()}
    return tuple(
        Cell(
            case_id=row["case"],
            model=row["model"],
            repeat=row["repeat"],
            grade=grader.grade(by_id[row["case"]], row.get("text", row.get("message"))),
            answer={key: row[key] for key in ("text", "message") if key in row},
        )
        for row in answers()
    )


def block_of(of: Sequence[Case], models: Sequence[str], made: Sequence[Cell], repeats: int) -> Block:
    scope = Scope(
        cases_file="cases.jsonl",
        cases_sha256=digest([case.model_dump() for case in of]),
        n_cases=len(of),
        n_call=sum(case.expects_call for case in of),
        n_no_call=sum(not case.expects_call for case in of),
        n_clusters=len({case.cluster for case in of}),
    )
    entries = tuple(ModelEntry(name=model, requested=model) for model in models)
    run = RunSection(started=STARTED, finished=STARTED, planned_repeats=repeats)
    result = Result(counts=counts_of(made, models, repeats))
    return Block(
        scope=scope,
        metric=Metric(grader_sha256="0" * 64),
        stimulus=Stimulus(tools_sha256="1" * 64),
        models=entries,
        run=run,
        result=result,
        claim=claim_of(scope, entries, run, result),
    )


def report_of(of: Sequence[Case], models: Sequence[str], made: Sequence[Cell], repeats: int) -> Report:
    matrix = matrix_of(made, models, [(case.id, case.cluster, case.expects_call) for case in of], repeats)
    verdict = decide(matrix, details=details_of(made, {case.id: case.expected_tool for case in of}), resamples=999)
    return build(of, made, block_of(of, models, made, repeats), verdict)


@cache
def report() -> Report:
    return report_of(cases(), make().MODELS, cells(), make().REPEATS)


def made_up(
    models: Mapping[str, Callable[[int, int], Outcome]], *, wanting: int = 20, idle: int = 5, repeats: int = 3
) -> tuple[list[Case], list[Cell]]:
    """Cases and cells of models that are functions of the number of the case and of the repeat."""
    of = [Case(f"query {at}", "tool", {}, id=f"case-{at}") for at in range(wanting)]
    of += [Case(f"query {at}", id=f"case-{at}") for at in range(wanting, wanting + idle)]
    made = [
        Cell(case_id=case.id, model=model, repeat=repeat, grade=Grade(outcome=outcome_of(at, repeat)))
        for model, outcome_of in models.items()
        for at, case in enumerate(of)
        for repeat in range(repeats)
    ]
    return of, made
