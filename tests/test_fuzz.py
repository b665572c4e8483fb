"""The fuzz targets see a defect, and the runner keeps, tells and replays what they find: fuzz/README.md."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recovery import recover
from tests import cases

ROOT = Path(__file__).parent.parent
FUZZ = ROOT / "fuzz"
TARGETS = sorted(path.stem for path in FUZZ.glob("fuzz_*.py"))
needs_atheris = pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed")


def start(*arguments: object, root: Path = ROOT) -> subprocess.Popen[str]:
    """A program of the checkout at `root`, which stands before anything that is installed."""
    command = [sys.executable, "-m", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(root)}
    return subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_says_its_invariant_in_its_first_line(target: str) -> None:
    tree = ast.parse((FUZZ / f"{target}.py").read_text("utf-8"))
    assert (ast.get_docstring(tree) or "").startswith("Invariant: ")


def test_nothing_here_catches_just_anything() -> None:
    for path in FUZZ.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            assert not isinstance(node, ast.ExceptHandler) or node.type is not None, path


class Ended(NamedTuple):
    """A campaign that has ended: how, what it printed, and where it kept things."""

    code: int
    out: str
    kept: Path
    root: Path
    report: list[dict[str, Any]]


class Campaigns(NamedTuple):
    """Of the code as it is, and of a copy in which no dot stands for an underscore."""

    clean: Ended
    broken: Ended


def copied(folder: Path, file: str, real: str, broken: str) -> Path:
    """A copy of the checkout, as far as fuzzing takes it, with one text of one file replaced."""
    for name in ("recovery", "fuzz", "tests", "grammar"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("kept", "__pycache__"))
    text = (folder / file).read_text("utf-8")
    assert text.count(real) == 1
    (folder / file).write_text(text.replace(real, broken), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> Campaigns:
    folder = tmp_path_factory.mktemp("fuzz")
    joined = 'return written.replace(".", "_").replace(" ", "_")'
    copy = copied(folder / "copy", "recovery/names.py", joined, 'return written.replace(" ", "_")')
    running = {}
    for name, root, target in (("clean", ROOT, "names"), ("broken", copy, "fuzz_ast")):
        kept, report = folder / name, folder / f"{name}.json"
        arguments = (target, "--seconds", 1, "--kept", kept, "--report", report)
        running[name] = start("fuzz", *arguments, root=root), kept, root, report
    ended = {}
    for name, (process, kept, root, report) in running.items():
        out, problems = process.communicate()
        assert report.exists(), problems
        ended[name] = Ended(process.returncode, out, kept, root, json.loads(report.read_text())["targets"])
    return Campaigns(**ended)


@needs_atheris
def test_a_campaign_that_finds_nothing_keeps_a_smaller_corpus(campaigns: Campaigns) -> None:
    clean = campaigns.clean
    assert clean.code == 0, clean.out
    (target,) = clean.report
    kept = list((clean.kept / "fuzz_names" / "corpus").iterdir())
    assert 0 < len(kept) == target["corpus"] < 600
    assert not list((clean.kept / "fuzz_names" / "found").iterdir())
    for column in ("executions", "edges", "features"):
        assert target[column] > 0
        assert f"{target[column]:,}" in clean.out


@needs_atheris
def test_what_fails_is_told_as_a_vector_that_the_tests_can_read(campaigns: Campaigns) -> None:
    broken = campaigns.broken
    assert broken.code == 1, broken.out
    found = broken.kept / "fuzz_ast" / "found"
    rows = [row for path in found.glob("*.jsonl") for row in path.read_text("utf-8").split("\n") if row]
    assert rows
    assert all(row in broken.out for row in rows)
    # It was made small, and says what the broken code made of it: the right code makes calls of it.
    case = next(case for case in cases.read(found) if case.expect["status"] == "refused")
    assert str(case.row["id"]).startswith("fuzz-ast-")
    assert len(case.text) < 30
    assert ("status", "recovered") in case.faults(recover(case.text, case.toolset, policy=case.policy))


@needs_atheris
def test_what_was_found_is_replayed(campaigns: Campaigns) -> None:
    broken = campaigns.broken
    vector = next((broken.kept / "fuzz_ast" / "found").glob("*.jsonl"))
    fails = start("fuzz", "--repro", vector.with_suffix(""), root=broken.root)
    mended = start("fuzz", "ast", "--repro", vector)
    out, _ = fails.communicate()
    assert fails.returncode == 1
    assert "AssertionError" in out
    assert "text: " in out
    out, _ = mended.communicate()
    assert mended.returncode == 0
    assert "nothing fails" in out


@needs_atheris
def test_every_target_sees_a_defect() -> None:
    process = start("tests.fuzz_breaks")
    out, problems = process.communicate()
    assert process.returncode == 0, problems
    needed = json.loads(out)
    assert sorted(needed) == TARGETS
    assert None not in needed.values(), needed


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing"], "there is no target 'nothing'"),
        (["--seconds", "0"], "a whole number of at least 1, not '0'"),
        (["--jobs", "two"], "a whole number of at least 1, not 'two'"),
        (["--repro", __file__], "say the TARGET"),
        (["ast", "--repro", "/nonexistent/input"], "there is no such file"),
    ],
)
@needs_atheris
def test_misuse_is_told(
    arguments: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from fuzz.__main__ import main

    monkeypatch.setattr(sys, "argv", ["fuzz", *arguments])
    try:
        code: object = main()
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert told in capsys.readouterr().err


@needs_atheris
def test_an_input_that_hangs_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fuzz import campaign

    head = "def one_input(data: bytes) -> None:\n"
    endless = f"{head}    while data[:1] == b'f':\n        pass\n"
    copy = copied(tmp_path / "copy", "fuzz/fuzz_names.py", head, endless)
    monkeypatch.setattr(campaign, "HERE", copy / "fuzz")
    monkeypatch.setattr(campaign, "_INPUT_SECONDS", 1)
    monkeypatch.setattr(campaign, "_STARTS", 1)
    outcome = campaign.Campaign("fuzz_names", campaign.Plan(1, tmp_path / "kept")).run()
    assert not outcome.broken
    (finding,) = outcome.findings
    assert Path(finding["file"]).name.startswith("timeout-")
    assert finding["input"].startswith("b'f")
