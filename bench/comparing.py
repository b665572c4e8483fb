"""Two revisions ▶ the times of each bench in both, taken by turns.

Each revision's package is copied into a folder of its own and timed by processes of its own (`worker.py`). These are
started several times, since where things lie in memory and how strings hash makes two processes of the same code
differ by some percent; and in each start they take turns at a bench in short rounds, of which the lowest counts. May
import: `bench.cases`, `bench.judging`, `bench.worker`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.judging import Start
from bench.worker import ROOT

# Seconds that one timing takes, or one run of the bench where that is more. Short ones meet a quiet moment sooner.
SECONDS: Final = 0.003


class Effort(NamedTuple):
    """How often the processes are started, and how many rounds there are of each bench in a start."""

    starts: int
    rounds: int


FIRST: Final = Effort(5, 5)
SECOND: Final = Effort(9, 10)


class RevisionError(Exception):
    """A revision that can't be had, or can't be run."""


def commit_of(revision: str) -> str:
    """The revision's whole name. Raises `RevisionError`."""
    return _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", what=revision).decode().strip()


def is_changed() -> bool:
    """Whether the package in the working tree is another than the last commit's. Raises `RevisionError`."""
    return bool(_git("status", "--porcelain", "--", "recovery", what="the working tree"))


def export(revision: str | None, folder: Path) -> Path:
    """The package of a revision, of the working tree where there is none, in `folder`. Raises `RevisionError`."""
    if revision is None:
        # What was compiled stays behind: both run from source.
        left = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        shutil.copytree(ROOT / "recovery", folder / "recovery", ignore=left)
    else:
        packed = _git("archive", "--format=tar", commit_of(revision), "recovery", what=revision)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
    return folder


def _git(*arguments: str, what: str) -> bytes:
    try:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise RevisionError("git is not installed, and revisions are taken from it") from None
    except subprocess.CalledProcessError as error:
        why = error.stderr.decode().strip() or "git knows no such commit, branch or tag"
        raise RevisionError(f"{what}: {why}") from None


class _Process:
    """A worker, and what it is told."""

    def __init__(self, folder: Path, seed: int) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(ROOT / "bench" / "worker.py"), str(folder)],
            env=kept | {"PYTHONHASHSEED": str(seed), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **asked: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        told = ""
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(asked), file=self.process.stdin, flush=True)
            told = self.process.stdout.readline()
        if not told:
            raise RevisionError("a revision's package can't be timed: what its process says stands above")
        return json.loads(told)

    def end(self) -> None:
        # By the end of its input it ends.
        with contextlib.suppress(BrokenPipeError), self.process:
            pass


@contextlib.contextmanager
def _started(folders: Sequence[Path], seed: int) -> Iterator[list[_Process]]:
    processes = [_Process(folder, seed) for folder in folders]
    try:
        yield processes
    finally:
        for process in processes:
            process.end()


class Times(NamedTuple):
    """The starts of each bench; and of those that one of the revisions can't run, why."""

    starts: dict[str, list[Start]]
    left: dict[str, str]


def take(
    old: Path, new: Path, titles: Sequence[str], effort: Effort, advance: Callable[[str], object] = lambda _: None
) -> Times:
    """The times of these benches; `advance` is told each title in each start. Raises `RevisionError`."""
    starts: dict[str, list[Start]] = {title: [] for title in titles}
    left: dict[str, str] = {}
    for number in range(effort.starts):
        with _started((old, old, new), seed=number) as processes:
            for title in titles:
                advance(title)
                if title in left:
                    continue
                made = [process.ask(make=title, seconds=SECONDS) for process in processes]
                why = [f"{which} {one['left']}" for which, one in zip(WHICH, made, strict=True) if "left" in one]
                if why:
                    left[title] = why[-1]
                    continue
                # The same number for all: otherwise one would time more of what is done once.
                loops = min(one["loops"] for one in made)
                starts[title].append(_take_turns(processes, loops, effort.rounds, number))
    return Times({title: taken for title, taken in starts.items() if title not in left}, left)


WHICH: Final = ("the old", "the old", "the new")


def _take_turns(processes: Sequence[_Process], loops: int, rounds: int, first: int) -> Start:
    lowest = [float("inf")] * len(processes)
    for turn in range(rounds):
        for place in range(len(processes)):
            # Who is first changes, since what runs first may find the machine otherwise.
            which = (place + turn + first) % len(processes)
            lowest[which] = min(lowest[which], processes[which].ask(loops=loops, times=2)["seconds"])
    return Start(*lowest)
