"""The fixture `grading` in a test suite of a team: what passes, what fails and how it says so, what start-up costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest  # noqa: TC002 - by this name pytest finds the fixture `pytester`

pytest_plugins = ["pytester"]

SUITE = """
import random
from recovery.grading import Case, Outcome

TOOLS = [{"name": "tide", "parameters": {"type": "object", "properties": {"port": {"type": "string"}}}}]
CASES = [Case(f"Tides at {port}?", "tide", {"port": port}) for port in map(str, range(20))]
CASES += [Case(f"Hello {at}") for at in range(5)]

def call_model(model, query):
    if query.startswith("Hello"):
        return "Good day."
    port = query.removeprefix("Tides at ").removesuffix("?")
    return f'[tide(port="{port}")]' if model == "writes" else "No idea."

def test_passes(grading):
    run = grading.run(CASES, ["writes"], call_model, tools=TOOLS)
    grading.check(run, "correct>=90%", "no_call<=10%", "spurious_call<=10%", report="page.html")
    grading.no_worse(run, run)

def test_fails(grading):
    grading.check(grading.run(CASES, ["silent"], call_model, tools=TOOLS), "no_call<=10%", "spurious_call<=40%")

def test_from_a_file(grading):
    run = grading.run(CASES, ["writes"], call_model, tools=TOOLS, store="run.db")
    grading.no_worse(run, "run.db")
    assert grading.load("run.db").block == run.block

def test_one_answer(grading):
    assert grading.outcome(CASES[0], '[tide(port="0")]', TOOLS) is Outcome.CORRECT
    assert grading.outcome(CASES[0], "tide(port=0 + 1)", TOOLS) is Outcome.NO_CALL
    assert grading.outcome(CASES[0], ("tide", {"port": "1"}), TOOLS) is Outcome.VALID_BUT_WRONG

def test_no_gate(grading):
    grading.check(grading.run(CASES, ["writes"], call_model, tools=TOOLS), "accuracy>=90%")
"""


def test_a_suite_asserts_on_outcomes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess("-q")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(
        [
            "E*AssertionError: failed: no_call <= 10.0%: silent: no call 100.0% (*%), and at most 10.0% was wanted*",
            "E*25 cases of a list in Python*",
            "E*ValueError: 'accuracy>=90%' is no gate*",
        ]
    )
    result.stdout.no_fnmatch_line("*spurious_call <= 40*")
    assert (pytester.path / "page.html").read_text().startswith("<!doctype html>")


def test_the_fixture_is_listed_by_what_is_installed(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--fixtures", "-q")
    result.stdout.fnmatch_lines(["grading *recovery_pytest.py*", "*Runs of cases*"])


def test_nothing_heavy_is_imported_at_the_start() -> None:
    code = (
        "import sys, pytest, recovery_pytest\n"
        "heavy = {'pydantic', 'numpy', 'rich', 'click', 'jsonschema', 'yaml', 'openai', 'anthropic', 'asyncio'}\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))\n"
        "print(sorted(name for name in sys.modules if name.startswith('recovery.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"


def test_without_the_extra_the_fixture_says_what_to_install(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import sys\nsys.modules['pydantic'] = None\n")
    pytester.makepyfile("def test_it(grading): pass\ndef test_other(): pass\n")
    result = pytester.runpytest_subprocess("-q")
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines(["*pip install 'recovery[[]grading[]]'*"])


def test_the_entry_point_names_the_module() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\nrecovery = "recovery_pytest"' in text
