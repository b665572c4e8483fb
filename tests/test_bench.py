"""`python -m bench`: bench/README.md. What is slower is told, and noise is not."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.cases import BENCHES, ROOMS
from bench.compare import CLEARED, SLOWER, estimates, judge, suspects
from bench.comparing import Effort, take
from bench.judging import Start, estimate, together

ROOT = Path(__file__).parent.parent


def program(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The program of the checkout, which stands before anything that is installed."""
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
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


def test_a_slow_scanner_is_told(tmp_path: Path) -> None:
    old, new = copy_package(tmp_path / "old"), copy_package(tmp_path / "new")
    slow_down(new, 200)
    titles = ["scanner/many_calls", "names/offered"]
    found = estimates(take(old, new, titles, Effort(2, 3)).starts)
    assert found["scanner/many_calls"].suspect
    assert not found["names/offered"].slower


def test_what_a_revision_lacks_is_said(tmp_path: Path) -> None:
    old, new = copy_package(tmp_path / "old"), copy_package(tmp_path / "new")
    for module in (old / "recovery").glob("*.py"):
        module.write_text(re.sub(r"\bresolve\b", "look_up", module.read_text(encoding="utf-8")), encoding="utf-8")
    with (new / "recovery" / "literals.py").open("a", encoding="utf-8") as literals:
        literals.write("\n\ndef decode_number(*_):\n    return 1\n")
    times = take(old, new, ["names/offered", "names/dotted", "literals/integer", "literals/plain_string"], Effort(2, 1))
    assert list(times.starts) == ["literals/plain_string"]
    assert list(times.left) == ["names/offered", "names/dotted", "literals/integer"]
    assert times.left["names/offered"].startswith("the old lacks what the bench needs: cannot import name 'resolve'")
    assert times.left["literals/integer"] == "the new gives another result"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "COMMAND"),
        (["compare"], "REV"),
        (["compare", "no-such-revision"], "no-such-revision"),
        (["compare", "HEAD", "cellar"], "there is no room 'cellar'"),
    ],
)
def test_misuse(arguments: list[str], said: str) -> None:
    done = program(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["compare", "--help"]])
def test_help(arguments: list[str]) -> None:
    done = program(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "python -m bench" in done.stdout
