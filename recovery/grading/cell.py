"""One cell of the matrix: one answer of one model to one case, and the matrix that the statistics read.

May import: `grading.outcome`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from .outcome import Detail, Outcome, Ungraded


class Grade(BaseModel):
    """What an answer is graded as: the outcome, and what led to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Outcome
    detail: Detail | None = None
    # The offered tools that were called, in the order of the answer; an unknown name as it was written.
    called: tuple[str, ...] = ()
    # Whether the call was written as text and recovered, as opposed to a call of the API.
    recovered: bool = False
    # Where a written call was refused: the reason, as `recovery.Reason` spells it.
    reason: str | None = None
    # Differences as JSON pointers with a sentence each: what the schema or the expected arguments say.
    differences: tuple[str, ...] = ()
    # The arguments were absent, and taken for an empty object.
    absent_arguments: bool = False
    # The arguments fit the schema only by lax validation, and that was asked for.
    coerced: bool = False
    # Of an answer of several calls: what each would be on its own, in the order of the answer.
    each: tuple[Outcome, ...] = ()


class Cell(BaseModel):
    """One row of the only stored truth: case, model, repeat, and a grade or the reason why there is none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    case_id: str
    model: str
    # From 0.
    repeat: int
    grade: Grade | None
    ungraded: Ungraded | None = None
    # Of an ungraded cell: the message, without secrets.
    problem: str = ""
    # The answer as it was, as JSON: {"text": …}, {"message": …}, or {"tool_name": …, "raw_args": …}.
    answer: Any = None
    # Seconds of the last attempt, and how many attempts there were.
    seconds: float = 0.0
    attempts: int = 1
    # What the endpoint said of itself: id of the model and fingerprint.
    returned_model: str | None = None
    fingerprint: str | None = None
    # As the endpoint counts them, by its own names.
    tokens: dict[str, int] = {}


class Matrix(BaseModel):
    """The outcomes by model, case and repeat: all that the statistics read. Everything else is derived.

    `outcomes[m][i][r]` is the position of the outcome in `OUTCOMES`, or None where the cell is ungraded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    models: tuple[str, ...]
    cases: tuple[str, ...]
    # By case: the family it belongs to (its own id by default), and whether a call is expected.
    clusters: tuple[str, ...]
    expects_call: tuple[bool, ...]
    outcomes: tuple[tuple[tuple[int | None, ...], ...], ...]

    @property
    def repeats(self) -> int:
        return max((len(row) for model in self.outcomes for row in model), default=0)


def matrix_of(
    cells: Sequence[Cell], models: Sequence[str], cases: Sequence[tuple[str, str, bool]], repeats: int
) -> Matrix:
    """The matrix of these cells. `cases`: id, cluster, whether a call is expected. A missing cell is ungraded.

    Raises `ValueError` where two cells are of one model, case and repeat: which of them counts would be chance.
    """
    number = {outcome: place for place, outcome in enumerate(Outcome)}
    found: dict[tuple[str, str, int], int | None] = {}
    for cell in cells:
        key = (cell.model, cell.case_id, cell.repeat)
        if key in found:
            raise ValueError(f"two cells of model {cell.model!r}, case {cell.case_id!r}, repeat {cell.repeat}")
        found[key] = None if cell.grade is None else number[cell.grade.outcome]
    return Matrix(
        models=tuple(models),
        cases=tuple(case for case, _, _ in cases),
        clusters=tuple(cluster for _, cluster, _ in cases),
        expects_call=tuple(wanted for _, _, wanted in cases),
        outcomes=tuple(
            tuple(tuple(found.get((model, case, repeat)) for repeat in range(repeats)) for case, _, _ in cases)
            for model in models
        ),
    )
