"""Recorded answers, a row each, graded one after the other: nothing is kept but what was seen of each case.

May import: `grading.answer`, `grading.case`, `grading.casefile`, `grading.cell`, `grading.difference`,
`grading.documents`, `grading.grade`, `grading.lines`, `grading.outcome`, `grading.schema`, `grading.semantic`, the
public names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

from pydantic import ValidationError

from recovery import Policy

from .answer import Answer
from .case import Case
from .casefile import CaseFile
from .cell import Cell, Grade
from .difference import shown
from .documents import Problem
from .grade import Grader
from .lines import BadFieldError, read_rows
from .outcome import Ungraded
from .schema import ArgSchema, Extra, Validation
from .semantic import SemanticCheck


class GraderOptions(TypedDict, total=False):
    """What a `Grader` takes beside the tools."""

    policy: Policy | None
    arg_schema: ArgSchema
    semantic_check: SemanticCheck | None
    validation: Validation
    extra: Extra


# What the answer is: in a row itself, where `calls` may be another's reading of the text; under `answer`.
_IN_ROW: Final = ("text", "message", "tool_name")
_IN_ANSWER: Final = (*_IN_ROW, "calls")
# More are no repeats, but a mistake: each is one bit of what is kept.
_MOST_REPEATS: Final = 10_000
_LONGEST: Final = 500


def grade_recorded(
    path: str | Path,
    cases: CaseFile,
    *,
    case_field: str = "case",
    excluded: Collection[str] = (),
    **options: Unpack[GraderOptions],
) -> Iterator[Cell | Problem]:
    """A cell for every row of a file of JSON lines, plain or gzip; in place of a row that can't be graded its problem.

    A row: `case` (the field that `case_field` names; or `case_id`), `model`, `repeat` from 0 (without it: the next of
    this case and model), and the answer: `text`, `message` (as the API gave it), or `tool_name` and `raw_args`. In
    `answer` it stands as in a `Cell`: one of these, or several `calls`. A row without an answer says why in `ungraded`,
    one of the words of `Ungraded`, and in `problem`.
    A row of a case in `excluded` is passed over with a warning. What the grader raises makes a cell that is ungraded.
    """
    by_id = {case.id: case for case in cases.cases}
    graders: dict[str | None, Grader] = {}
    repeats = _Repeats()
    for row in read_rows(path):
        if isinstance(row, Problem):
            yield row
            continue
        try:
            case_id = _text(
                row.fields, case_field if case_field in row.fields or "case_id" not in row.fields else "case_id"
            )
            if case_id in excluded:
                yield row.problem(case_field, f"{shown(case_id)} is left out", is_error=False)
                continue
            case = by_id.get(case_id)
            if case is None:
                raise BadFieldError(case_field, f"there is no case {shown(case_id)}")
            model = _text(row.fields, "model")
            given = _answer_of(row.fields)
            answer = None if given is None else _read(given)
            repeat = repeats.take(case_id, model, row.fields.get("repeat"))
            if answer is None:
                yield _ungraded(row.fields, case_id, model, repeat)
                continue
        except BadFieldError as error:
            yield row.problem(error.field, error.message)
            continue
        grader = graders.get(case.toolset)
        if grader is None:
            grader = graders[case.toolset] = Grader(cases.tools_of(case), **options)
        grade, problem = _graded(grader, case, answer)
        yield Cell(
            case_id=case_id,
            model=model,
            repeat=repeat,
            grade=grade,
            ungraded=Ungraded.GRADER_ERROR if grade is None else None,
            problem=problem,
            answer=given,
            returned_model=answer.returned_model,
            fingerprint=answer.fingerprint,
        )


def _graded(grader: Grader, case: Case, answer: Answer) -> tuple[Grade | None, str]:
    """The grade, or what the grader raised."""
    try:
        return grader.grade(case, answer), ""
    except Exception as error:  # noqa: BLE001 (a fault of the grader or of a team's check, of any kind: no answer's)
        return None, f"{type(error).__name__}: {error}"[:_LONGEST]


def _ungraded(row: Mapping[str, Any], case_id: str, model: str, repeat: int) -> Cell:
    try:
        return Cell(
            case_id=case_id,
            model=model,
            repeat=repeat,
            grade=None,
            ungraded=row["ungraded"],
            problem=row.get("problem", ""),
        )
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise BadFieldError("/".join(map(str, fault["loc"])), fault["msg"]) from None


def _answer_of(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answer as it stands in the row, None where the row says why there is none."""
    # What a grader failed on is there to be graded.
    failed = row.get("ungraded") == Ungraded.GRADER_ERROR and row.get("answer") is not None
    if row.get("ungraded") is not None and not failed:
        return None
    holder = row.get("answer", row)
    if not isinstance(holder, dict):
        raise BadFieldError("answer", f"must be an object, not {shown(holder)}")
    names = _IN_ROW if holder is row else _IN_ANSWER
    found = [name for name in names if name in holder]
    if len(found) != 1:
        which = f"{' and '.join(found)} are" if found else "none is"
        raise BadFieldError("answer", f"one of {', '.join(names)} must be there, and {which}")
    if found == ["tool_name"]:
        return {"tool_name": holder["tool_name"], "raw_args": holder.get("raw_args")}
    return {found[0]: holder[found[0]]}


def _read(given: dict[str, Any]) -> Answer:
    if "text" in given:
        if not isinstance(given["text"], str):
            raise BadFieldError("text", f"must be a text, not {shown(given['text'])}")
        return Answer(text=given["text"])
    if "message" in given and isinstance(given["message"], str):
        raise BadFieldError("message", "must be an object; where it is the text alone, call it text")
    try:
        return Answer.of(given)
    except (
        TypeError,
        ValueError,
    ) as error:
        raise BadFieldError(next(iter(given)), str(error)) from None


def _text(row: Mapping[str, Any], field: str) -> str:
    found = row.get(field)
    if isinstance(found, str) and found:
        return found
    said = "is missing" if found is None else f"must be a text, not {shown(found)}"
    raise BadFieldError(field, said)


class _Repeats:
    """Which repeats of each case and model were seen: a bit each."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], int] = {}

    def take(self, case_id: str, model: str, given: object) -> int:
        """The number of this repeat: the given one, which must be new, or the lowest that is free."""
        seen = self._seen.get((case_id, model), 0)
        if given is None:
            repeat = (~seen & (seen + 1)).bit_length() - 1
        elif isinstance(given, int) and not isinstance(given, bool) and 0 <= given < _MOST_REPEATS:
            repeat = given
            if seen >> repeat & 1:
                raise BadFieldError("repeat", f"a second row of case {case_id}, model {model}, repeat {repeat}")
        else:
            raise BadFieldError("repeat", f"must be a whole number from 0 to {_MOST_REPEATS - 1}, not {shown(given)}")
        self._seen[case_id, model] = seen | 1 << repeat
        return repeat
