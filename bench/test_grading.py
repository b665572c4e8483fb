"""How many recorded answers are graded in a second: the worked example of `examples/grading/`, read from its file.

What comes of it is asserted before it is timed. The answers a second stand beside the time (`--benchmark-verbose
--benchmark-json`), and are of one machine and hour as that is; the bound is in `tests/grading/test_recorded.py`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

pytest.importorskip("pydantic")

from recovery.grading import Case, CaseFile, Cell, Grader, grade_recorded, load_cases

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

FOLDER: Final = Path(__file__).parent.parent / "examples" / "grading"
ANSWERS: Final = FOLDER / "answers.jsonl"
# By outcome, over the three models.
EXPECTED: Final = {
    "no_call": 69,
    "spurious_call": 5,
    "wrong_tool": 30,
    "invalid_args": 4,
    "valid_but_wrong": 15,
    "correct": 327,
}


@pytest.fixture(scope="module")
def cases() -> CaseFile:
    return load_cases(FOLDER / "cases.jsonl", FOLDER / "tools.json")


@pytest.mark.benchmark(group="grading", min_rounds=5, max_time=0.1)
def test_recorded_answers(cases: CaseFile, benchmark: BenchmarkFixture) -> None:
    assert outcomes(cases) == EXPECTED
    benchmark(outcomes, cases)
    note_rate(benchmark, sum(EXPECTED.values()))


@pytest.mark.parametrize(
    "answer",
    [("berth_find", '{"port": "Hasle", "metres": 14}'), "berth_find(port='Hasle', metres=14)"],
    ids=["API", "text"],
)
@pytest.mark.benchmark(group="grading", min_rounds=20, max_time=0.1, min_time=0.00002)
def test_one_answer(answer: object, cases: CaseFile, benchmark: BenchmarkFixture) -> None:
    """A call of the API, and the same call as text."""
    grader = Grader(cases.tools_of(cases.cases[0]))
    case = Case("A berth in Hasle for 14 metres?", "berth_find", {"port": "Hasle", "metres": 14})
    assert grader.grade(case, answer).outcome == "correct"
    benchmark(grader.grade, case, answer)
    note_rate(benchmark, 1)


def outcomes(cases: CaseFile) -> Counter[str]:
    """How many rows have which outcome."""
    found: Counter[str] = Counter()
    for cell in grade_recorded(ANSWERS, cases):
        assert isinstance(cell, Cell)
        assert cell.grade is not None
        found[cell.grade.outcome] += 1
    return found


def note_rate(benchmark: BenchmarkFixture, answers: int) -> None:
    if benchmark.stats is not None:  # None with --benchmark-disable
        benchmark.extra_info["answers a second"] = round(answers / benchmark.stats.stats.min)
