"""The report of the worked example tells what was built into it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from recovery.cli import main
from recovery.grading import Detail, Outcome, load_cases
from recovery.grading.endpoints import load_endpoints
from recovery.grading.report.model import Difference
from recovery.grading.report.sheets import Show, findings
from tests.grading import worked_example as example


def test_the_answers_are_what_the_script_makes() -> None:
    rows = [row for _, row in example.make().rows()]
    assert (example.FOLDER / "answers.jsonl").read_text() == "".join(json.dumps(row) + "\n" for row in rows)


def test_every_answer_gets_the_outcome_that_is_built_into_it() -> None:
    built = [outcome for outcome, _ in example.make().rows()]
    assert [cell.grade and cell.grade.outcome for cell in example.cells()] == built
    assert set(built) == set(Outcome)


def test_the_findings_tell_what_is_built_in() -> None:
    report = example.report()
    said = "\n".join(findings(report, Show(report.block, example.TODAY)))
    assert "petrel writes calls as text" in said
    assert "auk: the largest failure is no call" in said
    assert "silent" in said
    assert "tern: the largest failure is wrong tool" in said
    assert "berth_book where berth_find was wanted" in said
    assert "auk and tern are 2.0 points apart in correct: noise" in said
    assert "tide-fortnight" in said


def test_written_calls_are_told_from_silence() -> None:
    petrel, auk, tern = (model.arrival for model in example.report().models)
    assert petrel.recovered > petrel.native > 0
    assert set(petrel.lost) == {"not_allowed", "operator", "other_dialect", "truncated"}
    assert petrel.silent == 0
    assert auk.silent == 36
    assert auk.written == tern.written == tern.silent == 0
    assert [came.answers for came in (petrel, auk, tern)] == [120, 120, 120]


def test_what_varies_is_real_and_the_gap_is_noise() -> None:
    def of(outcome: Outcome, one: str, other: str) -> Difference:
        found = [d for d in example.report().differences if (d.outcome, d.one, d.other) == (outcome, one, other)]
        return found[0]

    gap = of(Outcome.CORRECT, "auk", "tern")
    assert round(gap.value, 9) == -0.02
    assert gap.reading == "noise"
    assert of(Outcome.NO_CALL, "auk", "tern").reading == "real"
    assert of(Outcome.WRONG_TOOL, "petrel", "tern").reading == "real"
    assert of(Outcome.WRONG_TOOL, "petrel", "auk").reading == "identical"
    # One case of ten, the same in every repeat: above the floor, and nothing that other cases would show.
    assert of(Outcome.SPURIOUS_CALL, "petrel", "auk").reading == "these cases"


def test_the_case_that_is_wrong_on_purpose_is_listed_alone() -> None:
    (part,) = example.report().unanimous
    assert part.case == "tide-fortnight"
    assert "/days: expected 10, got 14" in part.differences
    assert {name for row in part.outcomes.values() for name in row} == {"valid_but_wrong"}


def test_an_attempt_that_nobody_can_read_is_no_abstention() -> None:
    grades = [cell.grade for cell in example.cells() if cell.case_id == "chat-pizza" and cell.model == "petrel"]
    assert [(grade.outcome, grade.detail) for grade in grades if grade] == [
        (Outcome.SPURIOUS_CALL, Detail.WRITTEN_AND_REFUSED)
    ] * 3


@pytest.mark.parametrize("page", ["README.md", "docs/grading.md", "examples/grading/README.md"])
def test_the_commands_of_the_pages_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = example.FOLDER.parents[1]
    found = re.findall(r"(?m)^    (recovery .*harbour\.db.*|recovery plan .*)$", (root / page).read_text())
    lines = [line for several in found for line in several.split(" && ")]
    assert len(lines) >= 2
    monkeypatch.chdir(root)
    for line in lines:
        words = shlex.split(line.replace("/tmp/", f"{tmp_path}/"))[1:]
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, (line, result.output)
    assert "auk and tern are 2.0 points apart in correct: noise" in (tmp_path / "harbour.html").read_text()


def test_the_cases_and_models_of_the_page_are_sound(tmp_path: Path) -> None:
    cases, models = re.findall(r"(?s)```yaml\n(.*?)```", (example.FOLDER.parents[1] / "docs/grading.md").read_text())
    (tmp_path / "cases.yaml").write_text(cases)
    (tmp_path / "models.yaml").write_text(models)
    found = load_cases(tmp_path / "cases.yaml", example.FOLDER / "tools.json")
    assert [len(case.alternatives) for case in found.cases] == [1, 1, 2, 0]
    assert found.problems == ()
    assert list(load_endpoints(tmp_path / "models.yaml")) == ["small", "large"]


def test_the_verdict_blames_no_model_for_its_format() -> None:
    verdict = example.report().verdict
    assert verdict is not None
    assert [line for line in verdict.advice if line.startswith("Of petrel, mostly calls that were written as text")]
