"""`python -m bench`: bench/README.md. What is slower is told, and noise is not."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bench.cases import BENCHES, ROOMS
from bench.compare import CLEARED, SLOWER, estimates, judge, suspects
from bench.comparing import Effort, RevisionError, take
from bench.history import HISTORY, append, entry, for_action
from bench.judging import Start, estimate, together
from bench.peers import GATE, gate_and_walk, walk
from bench.shapes import PYTHON, read_by_ast, text_of
from bench.table import COLUMNS, RECORDED, Cell

ROOT = Path(__file__).parent.parent


def program(*arguments: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The program of a checkout, which stands before anything that is installed; without recorded answers."""
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root), "RECOVERY_DATA": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def starts(factor: float, spread: float, number: int, seed: int) -> list[Start]:
    """Made-up times: the new takes `factor` times as long, and every process is off by some part `spread`."""
    chance = random.Random(seed)
    base = (1.0, 1.0, factor)
    return [Start(*(time * chance.lognormvariate(0, spread) for time in base)) for _ in range(number)]


@pytest.mark.parametrize("spread", [0.001, 0.02, 0.05])
def test_noise_is_not_slower(spread: float) -> None:
    """A measurement and a longer one, as `compare` does: in how many of a thousand both say slower."""
    told = [
        seed
        for seed in range(1000)
        if estimate(starts(1, spread, 5, seed)).suspect and estimate(starts(1, spread, 9, seed + 10_000)).slower
    ]
    assert told == []


@pytest.mark.parametrize(("spread", "least"), [(0.001, 1000), (0.02, 1000), (0.05, 800)])
def test_a_quarter_more_is_slower(spread: float, least: int) -> None:
    told = [
        seed
        for seed in range(1000)
        if estimate(starts(1.25, spread, 5, seed)).suspect and estimate(starts(1.25, spread, 9, seed + 10_000)).slower
    ]
    assert len(told) >= least


def test_what_is_slower_by_less_than_is_tolerated_is_not_slower() -> None:
    assert not estimate([Start(1, 1, 1.09)] * 5).suspect
    assert estimate([Start(1, 1, 1.11)] * 5).slower
    # By a fifth, but the old revision differs from itself by as much.
    assert not estimate([Start(1, 1.2, 1.3), Start(1.2, 1, 1.3), Start(1, 1.2, 1.3)]).slower


def test_an_estimate_is_what_most_starts_say() -> None:
    found = estimate([Start(2, 2, 2.5), Start(2, 2, 2.5), Start(2, 2, 2.5), Start(2, 2, 2.5), Start(2, 2, 9)])
    assert found == pytest.approx((1.25, 0))
    assert estimate([Start(1, 1, 1)] * 2) == (1, 0)


def test_a_room_is_its_benches_together() -> None:
    assert together([[Start(1, 1, 1)], [Start(4, 4, 16)]]) == [pytest.approx(Start(2, 2, 4))]


def test_a_room_that_is_slower_as_a_whole_is_measured_again_as_a_whole() -> None:
    slow = {title: [Start(1, 1, 1.3)] * 2 for title, bench in BENCHES.items() if bench.room == "scanner"}
    fast = {title: [Start(1, 1, 1)] * 2 for title, bench in BENCHES.items() if bench.room == "names"}
    slow["scanner/one_call"] = [Start(1, 1, 1)] * 2
    first = estimates(slow | fast)
    assert list(first) == ["names", *fast, "scanner", *slow]
    assert sorted(suspects(first)) == sorted(slow)
    second = estimates({title: [Start(1, 1, 1.2)] * 2 for title in slow})
    verdicts = {row.title: row.verdict for row in judge(first, second)}
    assert {title for title, verdict in verdicts.items() if verdict == SLOWER} == {"scanner", *slow} - {
        "scanner/one_call"
    }
    calm = estimates({title: [Start(1, 1, 1)] * 2 for title in slow})
    assert {row.verdict for row in judge(first, calm)} == {"", CLEARED}


@pytest.mark.parametrize("room", ROOMS)
def test_each_bench_asserts_its_result(room: str) -> None:
    for bench in BENCHES.values():
        if bench.room == room:
            bench.make()()


def copy_package(folder: Path) -> Path:
    shutil.copytree(ROOT / "recovery", folder / "recovery", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    return folder


SCAN = "    def scan(self) -> int:\n"
SLOWED = """    def scan(self) -> int:
        for _ in range({times}):
            pass
        return self._scan()

    def _scan(self) -> int:
"""


def slow_down(package: Path, times: int) -> None:
    """An empty loop at each token."""
    file = package / "recovery" / "scanner.py"
    text = file.read_text(encoding="utf-8")
    assert text.count(SCAN) == 1
    slowed = text.replace(SCAN, SLOWED.format(times=times))
    file.write_text(slowed, encoding="utf-8")


@pytest.mark.sources
def test_a_slow_scanner_is_told(tmp_path: Path) -> None:
    old, new = copy_package(tmp_path / "old"), copy_package(tmp_path / "new")
    slow_down(new, 200)
    titles = ["scanner/many_calls", "names/offered"]
    found = estimates(take(old, new, titles, Effort(2, 3)).starts)
    assert found["scanner/many_calls"].suspect
    assert not found["names/offered"].slower


@pytest.mark.sources
def test_what_a_revision_lacks_is_said(tmp_path: Path) -> None:
    old, new = copy_package(tmp_path / "old"), copy_package(tmp_path / "new")
    for module in (old / "recovery").glob("*.py"):
        module.write_text(re.sub(r"\bresolve\b", "look_up", module.read_text(encoding="utf-8")), encoding="utf-8")
    with (new / "recovery" / "literals.py").open("a", encoding="utf-8") as literals:
        literals.write("\n\ndef decode_number(*_):\n    return 1\n")
    times = take(old, new, ["names/offered", "names/dotted", "literals/integer", "literals/plain_string"], Effort(2, 1))
    assert list(times.starts) == ["literals/plain_string"]
    assert list(times.left) == ["names/offered", "names/dotted", "literals/integer"]
    assert times.left["names/offered"].startswith("the old can't run it: ImportError: cannot import name 'resolve'")
    assert times.left["literals/integer"] == "the new gives another result"


@pytest.mark.sources
def test_a_package_that_does_not_even_load_is_misuse(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    old, new = copy_package(tmp_path / "old"), copy_package(tmp_path / "new")
    (new / "recovery" / "__init__.py").write_text("import no_such_module", encoding="utf-8")
    with pytest.raises(RevisionError, match="can't be timed"):
        take(old, new, ["names/offered"], Effort(1, 1))
    assert "no_such_module" in capfd.readouterr().err


@pytest.mark.skipif(not os.environ.get("RECOVERY_SLOW"), reason="RECOVERY_SLOW is not set: this takes minutes")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout of git")
def test_a_quarter_more_in_the_scanner_fails(tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(root)], check=True)
    same = program("compare", "HEAD", "scanner", root=root)
    assert same.returncode == 0, same.stdout
    titles = [title for title, bench in BENCHES.items() if bench.room == "scanner"]
    plain = copy_package(tmp_path / "plain")
    for times in range(10, 100, 6):
        slowed = copy_package(tmp_path / f"{times:02}")
        slow_down(slowed, times)
        if estimates(take(plain, slowed, titles, Effort(3, 5)).starts)["scanner"].ratio >= 1.23:
            break
    slow_down(root, times)
    slower = program("compare", "HEAD", "scanner", root=root)
    assert slower.returncode == 1, slower.stdout
    assert "slower by more than its noise and 10%: scanner" in slower.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "COMMAND"),
        (["compare"], "REV"),
        (["compare", "no-such-revision"], "git"),
        (["record", "--json"], "--json"),
        (["compare", "HEAD", "cellar"], "there is no room 'cellar'"),
    ],
)
def test_misuse(arguments: list[str], said: str) -> None:
    done = program(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["compare", "--help"], ["table", "--help"], ["record", "--help"]])
def test_help(arguments: list[str]) -> None:
    done = program(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "python -m bench" in done.stdout


@pytest.mark.parametrize("name", PYTHON)
def test_a_walk_reads_what_python_reads(name: str) -> None:
    text = text_of(name)
    calls = walk(text)
    assert calls is not None
    # Tuples stay tuples here.
    assert [(call.replace(".", "_"), json.loads(json.dumps(arguments))) for call, arguments in calls] == read_by_ast(
        text
    )
    assert gate_and_walk(text) in (calls, None)


@pytest.mark.parametrize(
    "text", ["f(x=y)", "f(1)", "[1, f()]", "x = f()", "f(x=1) + 1", "()()", "f(", "", "1", "(f)[0]()"]
)
def test_a_walk_leaves_what_is_no_call(text: str) -> None:
    assert walk(text) is None


def test_the_pattern_lets_lists_of_calls_pass() -> None:
    for text in ("[f()]", "[f(x=1)]", "[f(), g(x=[1, 2]), h()]", "[f(x='a\nb')\n]"):
        assert GATE.match(text), text
    for text in ("f(x=1)", "[]", "[1]", "[f(x=1)", "Look: [f(x=1)]", "[a.b(x=1)]", "[f(1)]"):
        assert not GATE.match(text), text


def test_the_table_of_the_readme_is_the_one_that_the_command_prints() -> None:
    done = program("table", "--markdown")
    assert done.returncode == 0, done.stderr
    printed = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()]
    section = (
        (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## How fast it is\n")[2].partition("\n## ")[0]
    )
    assert "python -m bench table --markdown" in section
    written = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    assert printed[0] == written[0] == ["text", *COLUMNS]
    assert [row[0] for row in written[2:]] == [*(row[0] for row in printed[2:]), *RECORDED]
    for mine, theirs in zip(printed[2:], written[2:], strict=False):
        # Whether a call is read does not depend on the machine, nor does what has no equivalent in JSON.
        assert [cell.partition(",")[1:] for cell in mine[1:]] == [cell.partition(",")[1:] for cell in theirs[1:]]
        assert [cell == "–" for cell in mine] == [cell == "–" for cell in theirs]


FIELDS = {"date": str, "commit": str, "changed": bool, "python": str, "compiled": bool, "ratios": dict}


def check_line(line: dict[str, Any]) -> None:
    assert {name: type(value) for name, value in line.items()} == FIELDS
    assert datetime.fromisoformat(line["date"]).tzinfo is not None
    assert re.fullmatch("[0-9a-f]{40}", line["commit"])
    assert line["ratios"]
    assert all(isinstance(ratio, float) and ratio > 0 for ratio in line["ratios"].values())


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout of git")
def test_a_line_of_the_history(tmp_path: Path) -> None:
    line = entry({"one_call": {"recover": Cell(1.2345, 0), "json.loads": Cell(0.1, 0)}})
    check_line(line)
    assert line["ratios"] == {"one_call": 1.234}
    append(line, tmp_path / "history.jsonl")
    append(line, tmp_path / "history.jsonl")
    kept = (tmp_path / "history.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(text) for text in kept] == [line, line]
    (told,) = for_action(line)
    assert (told["name"], told["unit"], told["value"]) == ("one_call", "times ast.parse", 1.234)


def test_the_history() -> None:
    for text in HISTORY.read_text(encoding="utf-8").splitlines():
        check_line(json.loads(text))
