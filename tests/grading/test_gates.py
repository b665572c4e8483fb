"""Gates: what fails, what passes, what can't be decided; and that a rerun of the same models does not turn one red."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from recovery.cli import main
from recovery.grading import Case, Outcome, Ungraded, matrix_of
from recovery.grading.provenance import NotComparableError
from recovery.grading.report import Check, State, check_bounds, check_comparison, compare, parse_bound, status
from recovery.grading.report.build import build
from recovery.grading.report.gate import check_differences
from recovery.grading.report.sheets import Show, findings
from recovery.grading.run import Run, run_matrix
from recovery.grading.verdict import decide
from tests.grading import worked_example as example

TOOLS = [{"name": "tide", "parameters": {"type": "object", "properties": {"port": {"type": "string"}}}}]
CASES = [Case(f"Tides at port {at}?", "tide", {"port": f"port {at}"}) for at in range(40)]


def run_of(path: Path, skipped: dict[str, float], *, seed: int = 0, cases: Any = CASES, tools: Any = TOOLS) -> Run:
    """A run whose models call in all but this share of answers; each case has its own inclination."""
    rng = random.Random(seed)

    def call_model(model: str, query: str) -> Any:
        hard = random.Random(query).random()
        if rng.random() < min(1.0, 2 * hard * skipped[model]):
            return None, None
        return "tide", {"port": query.removeprefix("Tides at ").removesuffix("?")}

    return run_matrix(cases, list(skipped), call_model, repeats=3, store=path, tools=tools, concurrency=1)


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    made = {name: folder / f"{name}.db" for name in ("base", "again", "worse", "edited")}
    run_of(made["base"], {"auk": 0.2, "tern": 0.1}, seed=1)
    run_of(made["again"], {"auk": 0.2, "tern": 0.1}, seed=2)
    run_of(made["worse"], {"auk": 0.8, "tern": 0.1}, seed=3)
    run_of(made["edited"], {"auk": 0.2, "tern": 0.1}, tools=[{**TOOLS[0], "description": "Tides."}])
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no_call<=10%", (Outcome.NO_CALL, False, 0.1, None)),
        (" correct >= 0.8 ", (Outcome.CORRECT, True, 0.8, None)),
        ("org/auk:v1:wrong_tool<=5%", (Outcome.WRONG_TOOL, False, 0.05, "org/auk:v1")),
    ],
)
def test_a_gate_is_read(text: str, expected: tuple[object, ...]) -> None:
    bound = parse_bound(text)
    assert (bound.outcome, bound.at_least, round(bound.bound, 9), bound.model) == expected


@pytest.mark.parametrize("text", ["", "accuracy>=0.8", "correct>0.8", "correct>=80", "correct>=1.2.3", "correct=0.8"])
def test_what_is_no_gate_is_an_error_that_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="is no gate"):
        parse_bound(text)


def held(*gates: str) -> list[Check]:
    return check_bounds(example.report(), [parse_bound(gate) for gate in gates], example.TODAY)


def test_a_bound_fails_only_where_the_whole_interval_lies_beyond() -> None:
    # petrel 27.5 % (18.2 to 39.3), auk 30.0 % (18.8 to 44.3), tern 0 %
    assert [check.state for check in held("no_call<=10%")] == [State.FAILED, State.FAILED, State.PASSED]
    assert [check.state for check in held("no_call<=25%")] == [State.PASSED] * 3
    assert "the interval holds it" in held("no_call<=25%")[0].message
    assert [check.state for check in held("tern:correct>=90%")] == [State.FAILED]
    assert [check.state for check in held("tern:correct>=80%")] == [State.PASSED]
    with pytest.raises(ValueError, match="no model 'gull'"):
        held("gull:correct>=80%")


def test_statuses() -> None:
    assert status(held("no_call<=40%")) == 0
    assert status(held("no_call<=10%")) == 1
    assert status([]) == 0
    expired = check_bounds(example.report(), [parse_bound("no_call<=10%")], example.LATER)
    assert {check.state for check in expired} == {State.UNDECIDED}
    assert status(expired) == 3
    assert "%" not in "".join(check.message for check in expired)


def test_too_many_ungraded_answers_decide_nothing() -> None:
    cases, cells = example.made_up({"a": lambda *_: Outcome.NO_CALL}, idle=0)
    lost = [cell.model_copy(update={"grade": None, "ungraded": Ungraded.TIMEOUT}) for cell in cells[:4]]
    report = example.report_of(cases, ["a"], [*lost, *cells[4:]], 3)
    (check,) = check_bounds(report, [parse_bound("no_call<=10%")], example.TODAY)
    assert check.state is State.UNDECIDED
    assert "4 of 60 answers are ungraded" in check.message


def test_a_model_that_did_not_stand_still_decides_nothing() -> None:
    """In the third pass it answers nothing any more: its share is the mean of two models."""
    cases, cells = example.made_up(
        {
            "new": lambda at, repeat: Outcome.NO_CALL if repeat == 2 or at % 5 == 0 else Outcome.CORRECT,
            "old": lambda at, _: Outcome.NO_CALL if at % 5 == 0 else Outcome.CORRECT,
        },
        idle=0,
    )
    report = example.report_of(cases, ["new", "old"], cells, 3)
    assert report.models[0].drifts == (Outcome.NO_CALL, Outcome.CORRECT)
    new, old = check_bounds(report, [parse_bound("no_call<=10%")], example.TODAY)
    assert (new.state, old.state) == (State.UNDECIDED, State.PASSED)
    assert "did not stand still" in new.message
    checks = check_differences(report.differences, report.models, Show(report.block, example.TODAY))
    assert {check.state for check in checks} == {State.UNDECIDED}
    assert {one.reading for one in report.differences} == {"no verdict"}
    said = "\n".join(findings(report, Show(report.block, example.TODAY)))
    assert "real" not in said
    assert "Whether models differ is not said" in said


def test_one_repeat_can_not_be_held_against_a_baseline() -> None:
    cases, cells = example.made_up(
        {"new": lambda *_: Outcome.NO_CALL, "old": lambda *_: Outcome.CORRECT}, idle=0, repeats=1
    )
    report = example.report_of(cases, ["new", "old"], cells, 1)
    checks = check_differences(report.differences, report.models, Show(report.block, example.TODAY))
    assert {check.state for check in checks if "identical" not in check.message} == {State.UNDECIDED}


def test_a_rerun_of_the_same_turns_no_gate_red(runs: dict[str, Path]) -> None:
    report = compare(Run.load(runs["base"]), Run.load(runs["again"]))
    assert {check.state for check in check_comparison(report)} == {State.PASSED}
    assert {model.name for model in report.models} == {
        f"{m} ({r})" for m in ("auk", "tern") for r in ("new", "baseline")
    }


def test_reruns_fail_as_seldom_as_is_said() -> None:
    """A model against itself, 120 times: a gate that compares fails in 5 % at most."""
    rng = random.Random(5)
    hard = [rng.random() for _ in range(40)]
    failed = 0
    for _ in range(120):
        models: dict[str, Callable[[int, int], Outcome]] = {
            name: lambda at, _: Outcome.NO_CALL if rng.random() < hard[at] else Outcome.CORRECT
            for name in ("new", "old")
        }
        cases, cells = example.made_up(models, wanting=40, idle=0)
        matrix = matrix_of(cells, list(models), [(case.id, case.cluster, True) for case in cases], 3)
        report = build(cases, cells, example.block_of(cases, list(models), cells, 3), decide(matrix, resamples=499))
        checks = check_differences(report.differences, report.models, Show(report.block, example.TODAY))
        failed += any(check.state is State.FAILED for check in checks)
    assert failed <= 6


def test_a_comparison_shares_out_alpha_and_is_no_longer_valid_than_its_baseline(runs: dict[str, Path]) -> None:
    base, again = Run.load(runs["base"]), Run.load(runs["again"])
    both, one = compare(base, again), compare(base, again, models={"auk": "auk"})
    # Of α the verdict keeps a fifth for its drift gate.
    assert [both.alpha, one.alpha] == pytest.approx([0.02, 0.04])
    assert one.block.parent is not None
    assert one.block.parent.sha256 == base.block.sha256
    claim = base.block.claim.model_copy(update={"valid_until": example.TODAY})
    old = base.model_copy(update={"block": base.block.model_copy(update={"claim": claim})})
    assert compare(old, again).block.claim.valid_until == example.TODAY
    assert {check.state for check in check_comparison(compare(old, again), now=example.LATER)} == {State.UNDECIDED}


def test_what_is_worse_fails_and_what_is_better_does_not(runs: dict[str, Path]) -> None:
    base, worse = Run.load(runs["base"]), Run.load(runs["worse"])
    failed = [check for check in check_comparison(compare(base, worse)) if check.state is State.FAILED]
    assert {(check.model, check.name.split()[0]) for check in failed} == {
        ("auk (new)", "no_call"),
        ("auk (new)", "correct"),
    }
    assert {check.state for check in check_comparison(compare(worse, base))} == {State.PASSED}
    assert {check.state for check in check_comparison(compare(base, worse), tolerance=0.9)} == {State.PASSED}


def test_a_comparison_of_other_questions_is_refused(runs: dict[str, Path]) -> None:
    base, edited = Run.load(runs["base"]), Run.load(runs["edited"])
    with pytest.raises(NotComparableError) as refused:
        compare(base, edited)
    assert "stimulus.tools_sha256" in refused.value.differing
    result = invoke("compare", runs["base"], runs["edited"])
    assert result.exit_code == 2
    assert "stimulus.tools_sha256" in result.output
    studied = [f"--under-study={field}" for field in refused.value.differing]
    assert invoke("compare", runs["base"], runs["edited"], *studied).exit_code == 0


def test_models_of_other_names_are_compared_where_it_is_said(runs: dict[str, Path]) -> None:
    report = compare(Run.load(runs["base"]), Run.load(runs["worse"]), models={"auk": "tern"})
    assert [model.name for model in report.models] == ["auk (new)", "tern (baseline)"]
    for models, said in (({"gull": "auk"}, "no model 'gull'"), ({"auk": "gull"}, "no model 'gull'")):
        with pytest.raises(ValueError, match=said):
            compare(Run.load(runs["base"]), Run.load(runs["worse"]), models=models)
    assert invoke("compare", runs["base"], runs["worse"], "--model", "auk").exit_code == 2


def test_the_commands_write_files_and_say_by_their_status(runs: dict[str, Path], tmp_path: Path) -> None:
    files = {name: tmp_path / f"report.{name}" for name in ("html", "markdown", "json", "junit")}
    options = [word for name, path in files.items() for word in (f"--{name}", path)]
    shown = invoke("report", runs["base"], *options, "--gate", "correct>=10%", "--gate", "auk:no_call<=1%")
    assert shown.exit_code == 1, shown.output
    assert "Outcomes by model" in shown.output
    assert "failed: auk:no_call <= 1.0%" in shown.output
    assert files["html"].read_text().startswith("<!doctype html>")
    assert files["markdown"].read_text().startswith("# Tool calls of auk, tern")
    assert [gate["state"] for gate in json.loads(files["json"].read_text())["gates"]] == ["passed", "passed", "failed"]
    assert ET.parse(files["junit"]).getroot().attrib["failures"] == "1"
    assert invoke("report", runs["base"]).exit_code == 0
    assert "Outcomes by model" not in invoke("report", runs["base"], "--quiet").output
    alone = invoke("report", runs["base"], "--model", "tern", "--gate", "no_call<=1%")
    assert (alone.exit_code, alone.output.count("failed: ")) == (1, 1)
    assert alone.output.startswith("Tool calls of tern\n")
    assert invoke("report", runs["base"], "--model", "gull").exit_code == 2

    held = invoke("compare", runs["base"], runs["worse"], "--junit", files["junit"])
    assert held.exit_code == 1, held.output
    assert ET.parse(files["junit"]).getroot().attrib["failures"] == "2"
    assert "no call: auk (new) has" in held.output
    passed = invoke("compare", runs["base"], runs["again"])
    assert passed.exit_code == 0
    assert "Nothing differs by more than noise." in passed.output
    assert "choose the model" not in passed.output
    # It has no lists of cases, and does not say that they are empty.
    assert "every model fails" not in passed.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", "{none}"], "does not exist"),
        (["report", "{text}"], "text.db"),
        (["report", "{base}", "--gate", "accuracy>=1"], "--gate: 'accuracy>=1' is no gate"),
        (["report", "{base}", "--gate", "gull:correct>=1%"], "no model 'gull'"),
        (["compare", "{base}", "{text}"], "text.db"),
    ],
)
def test_misuse_has_status_2_and_says_what_is_wrong(
    runs: dict[str, Path], tmp_path: Path, arguments: list[str], said: str
) -> None:
    text = tmp_path / "text.db"
    text.write_text("no database")
    names = {"none": str(tmp_path / "none.db"), "text": str(text), "base": str(runs["base"])}
    result = invoke(*(argument.format(**names) for argument in arguments))
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output
