"""A campaign: each target a process of libFuzzer's, its corpus kept and minimised, what failed collected.

Nothing here imports `recovery` or a target: what hangs or eats memory is a process that can be ended.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any, Final

HERE: Final = Path(__file__).parent
DICTIONARY: Final = HERE / "recovery.dict"

# An input that takes longer hangs: the slowest good ones take some milliseconds.
_INPUT_SECONDS: Final = 10
_MEGABYTES: Final = 2048
# Behind so many hangs or crashes of the process a target is given up.
_STARTS: Final = 5
# To make one failing input smaller, and to start and end a process on a busy machine.
_SHRINK_SECONDS: Final = 20
_GRACE_SECONDS: Final = 90
_MERGE_SECONDS: Final = 300

# By the name of the file that the process left.
_PROBLEMS: Final = {
    "timeout": f"takes longer than {_INPUT_SECONDS} s",
    "oom": f"takes more than {_MEGABYTES} MB",
    "crash": "ends the interpreter",
    "failed": "fails, and hangs when it is made smaller",
}

_STATUS: Final = re.compile(r"#(\d+)\s.*?cov: (\d+) ft: (\d+)(?:.*exec/s: (\d+))?")
_EXECUTED: Final = re.compile(r"stat::number_of_executed_units:\s*(\d+)")


@dataclass
class Outcome:
    """What became of one target. `edges` and `features` are libFuzzer's `cov` and `ft`."""

    target: str
    executions: int = 0
    seconds: float = 0.0
    edges: int = 0
    features: int = 0
    corpus: int = 0
    findings: list[dict[str, Any]] = field(default_factory=list)
    # Why the target could not be run, where that is so.
    broken: str = ""


@dataclass(frozen=True)
class Plan:
    """How to run each target: how long, and where things are kept."""

    seconds: int
    kept: Path
    on_status: Callable[[Outcome], object] = lambda _: None


class Campaign:
    """One target, run to its end."""

    def __init__(self, target: str, plan: Plan) -> None:
        self._plan = plan
        self._folder = plan.kept / target
        self._corpus = self._folder / "corpus"
        self._found = self._folder / "found"
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        self._taken: list[Path] = []
        self.outcome = Outcome(target)

    def run(self) -> Outcome:
        """Seeds, fuzzing, minimising, findings."""
        self._prepare()
        began = time.monotonic()
        for _ in range(_STARTS):
            left = self._plan.seconds - (time.monotonic() - began)
            if left < 0.5 or self._stopped or self._fuzz(max(1, round(left))):
                break
        self.outcome.seconds = time.monotonic() - began
        if not self.outcome.broken:
            # Not where one input hangs or crashes: others of its kind are in the corpus, and each would take its time.
            if not self._stopped and not self._artifacts():
                self._minimise()
            self.outcome.corpus = sum(1 for _ in self._corpus.iterdir())
            self._collect()
        return self.outcome

    def stop(self) -> None:
        """End it early; what was found so far counts."""
        self._stopped = True
        if self._process is not None:
            self._process.terminate()

    def _prepare(self) -> None:
        """The corpus with the seeds in it, and with what failed before: what was mended is found no more."""
        self._corpus.mkdir(parents=True, exist_ok=True)
        self._found.mkdir(exist_ok=True)
        for path in self._found.iterdir():
            if not path.suffix:
                shutil.copy(path, self._corpus / path.name)
            path.unlink()
        _call("fuzz.seeds", self.outcome.target, str(self._corpus))

    def _fuzz(self, seconds: int) -> bool:
        """Run the target so long; whether it came to its end."""
        options = {
            "max_total_time": seconds,
            "timeout": _INPUT_SECONDS,
            "rss_limit_mb": _MEGABYTES,
            "dict": DICTIONARY,
            "artifact_prefix": f"{self._found}/",
            "print_final_stats": 1,
        }
        before = self.outcome.executions
        command = _command(self.outcome.target, options, self._corpus)
        streams: dict[str, Any] = self._surroundings() | {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        with (
            (self._folder / "log").open("w", encoding="utf-8", errors="replace") as log,
            subprocess.Popen(command, **streams) as process,
        ):
            self._process = process
            watch = Timer(seconds + _GRACE_SECONDS, process.kill)
            watch.start()
            assert process.stderr is not None
            for line in process.stderr:
                log.write(line)
                self._note(line, before)
            code = process.wait()
            watch.cancel()
        if code == 0 or self._stopped:
            return True
        if not self._take_artifacts():
            last = (self._folder / "log").read_text("utf-8", "replace").strip()[-2000:]
            self.outcome.broken = f"ended with code {code}:\n{last}"
            return True
        return False

    def _surroundings(self) -> dict[str, Any]:
        environment = os.environ | {"RECOVERY_FUZZ_FOUND": str(self._found), "PYTHONPATH": _path()}
        return {"env": environment, "cwd": HERE.parent, "text": True, "errors": "replace"}

    def _note(self, line: str, before: int) -> None:
        outcome = self.outcome
        if (status := _STATUS.match(line)) is not None:
            executions, outcome.edges, outcome.features = map(int, status.groups()[:3])
            outcome.executions = before + executions
            self._plan.on_status(outcome)
        elif (executed := _EXECUTED.match(line)) is not None:
            outcome.executions = before + int(executed.group(1))

    def _take_artifacts(self) -> bool:
        """Whether the process left an input that ended it. The corpus goes on without it."""
        taken = [path for path in self._artifacts() if path not in self._taken]
        self._taken += taken
        inputs = {path.read_bytes() for path in taken}
        for path in self._corpus.iterdir():
            if path.read_bytes() in inputs:
                path.unlink()
        return bool(inputs)

    def _artifacts(self) -> list[Path]:
        """The inputs that hang, eat memory or crash."""
        return [path for path in self._found.iterdir() if path.name.startswith(("timeout-", "oom-", "crash-"))]

    def _minimise(self) -> None:
        """The inputs that together reach what all of the corpus reaches, in its place."""
        fresh = self._folder / "corpus.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        options = {"merge": 1, "timeout": _INPUT_SECONDS, "rss_limit_mb": _MEGABYTES, "artifact_prefix": f"{fresh}/"}
        command = _command(self.outcome.target, options, fresh, self._corpus)
        try:
            done = subprocess.run(
                command, **self._surroundings(), capture_output=True, check=False, timeout=_MERGE_SECONDS
            )
        except subprocess.TimeoutExpired:
            done = None
        if done is not None and done.returncode == 0 and any(fresh.iterdir()):
            old = self._folder / "corpus.old"
            shutil.rmtree(old, ignore_errors=True)
            self._corpus.rename(old)
            fresh.rename(self._corpus)
            shutil.rmtree(old)
        else:
            shutil.rmtree(fresh)

    def _collect(self) -> None:
        for path in sorted(self._found.iterdir()):
            if path.suffix:
                continue
            kind = path.name.partition("-")[0]
            told = ""
            if kind == "failed":
                told = _call("fuzz.findings", self.outcome.target, str(path), str(_SHRINK_SECONDS))
            finding: dict[str, Any] | None = (
                json.loads(told)
                if told
                else {"file": str(path), "problem": _PROBLEMS[kind], "input": repr(path.read_bytes())}
            )
            if finding is not None:
                self.outcome.findings.append(finding)


def _command(target: str, options: dict[str, object], *corpora: Path) -> list[str]:
    written = [f"-{name}={value}" for name, value in options.items()]
    return [sys.executable, "-m", f"fuzz.{target}", *written, *map(str, corpora)]


def _call(module: str, *arguments: str) -> str:
    """What a module of this folder prints, empty where it failed or took too long."""
    command = [sys.executable, "-m", module, *arguments]
    environment = os.environ | {"PYTHONPATH": _path()}
    try:
        done = subprocess.run(
            command, env=environment, cwd=HERE.parent, capture_output=True, check=False, timeout=2 * _GRACE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode() if done.returncode == 0 else ""


def _path() -> str:
    """The folder in which `fuzz` stands first: what is fuzzed is the checkout, not what is installed."""
    return os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")]))
