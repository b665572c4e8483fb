"""Mutates the engine, in a copy, one change at a time, and shows which mutants no test of their room sees.

    python tests/mutation.py                         # 400 mutants of all modules, drawn by seed 1
    python tests/mutation.py scanner names --all     # all mutants of these two
    python tests/mutation.py --number 100 --seed 2 --jobs 4

Needs the extra `mutation`, and Linux, which can limit another process. Each room has tests of its own, below 5 s, which
stop at the first failure; they are run first on the code as it is, and a mutant that makes a part of them take four
times as long as all of them counts as killed. Survivors that change nothing stand in mutation_survivors.toml, each with
its reason: they are run too, and it is an error if one of them is killed, or is no mutant of the code any more.

Exit 0 if enough is killed (95 of 100 in scanner, names and literals, 90 over all), 1 if not, 2 for a caller's mistake.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import StrEnum
from math import ceil
from pathlib import Path
from queue import SimpleQueue
from shlex import split
from typing import TYPE_CHECKING, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))
from tests.break_code import copy  # noqa: E402  # the line before makes it one of this checkout

if TYPE_CHECKING:
    from tests.mutants import Mutant

# What every run of pytest is given, and what those of the vectors are, which need nothing of conftest.py.
_PYTEST: Final = "-q -x --tb=no -p no:cacheprovider -p no:benchmark"
_VECTORS: Final = "--noconftest -p no:hypothesispytest tests/vectors_at_once.py -k"
_ALL: Final = f"{_VECTORS} 'whole or by_characters'"
_TOKENS: Final = "'cut and (string or number or quote or comment or line or escape or limit)'"
_STREAM: Final = "tests/test_stream.py -k 'not nothing_is_lost'"

# By module, what is run for its mutants, one after another: first what is quick and sees most.
ROOMS: Final[dict[str, tuple[str, ...]]] = {
    "scanner": (_ALL, f"{_VECTORS} {_TOKENS}", "tests/test_scanner.py tests/test_stream.py -k 'scanner or as_soon'"),
    "lexemes": (_ALL, f"{_VECTORS} {_TOKENS}", "tests/test_scanner.py tests/test_stream.py -k 'scanner or as_soon'"),
    "parser": (_ALL,),
    "reader": (_ALL, _STREAM),
    "builder": (_ALL, _STREAM),
    "literals": (_ALL, "tests/test_literals.py"),
    "names": (_ALL, "tests/test_names.py -k 'not costs and not linear'"),
    "arguments": (_ALL, "tests/test_arguments.py"),
    "jsoncalls": (_ALL, "tests/test_jsoncalls.py"),
    "policy": (_ALL, "tests/test_policy.py"),
    "envelope": (_ALL, f"{_VECTORS} 'cut and (fence or marker or reasoning)'", _STREAM),
    "prose": (_ALL,),
    "verdict": (_ALL, _STREAM),
    "certain": (_ALL, "tests/test_stream.py"),
    "stream": (_ALL, "tests/test_stream.py"),
}
# How long the tests of a room may take. All times are the processor's, so that a busy machine does not count.
MOST_SECONDS: Final = 5
# How much of what changes something has to be killed: in these rooms, and over all.
BOUNDS: Final = {"scanner": 0.95, "names": 0.95, "literals": 0.95}
BOUND_OVER_ALL: Final = 0.90
# A mutant that takes more memory than this fails.
MOST_MEMORY: Final = 4 << 30
SURVIVORS: Final = ROOT / "tests" / "mutation_survivors.toml"

Key = tuple[str, str, str, str]


class Outcome(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    BY_TIME = "by time"
    SURVIVED = "survived"


def source_of(module: str) -> Path:
    return ROOT / "recovery" / f"{module}.py"


def read_survivors(path: Path = SURVIVORS) -> dict[Key, str]:
    """The mutants that change nothing, each with the reason."""
    found: dict[Key, str] = {}
    with path.open("rb") as file:
        for entry in tomllib.load(file)["equivalent"]:
            for old, new in entry["changes"]:
                key = (entry["module"], entry["where"], old, new)
                if key in found:
                    raise ValueError(f"{path.name} lists {old!r} ▶ {new!r} of {entry['module']} twice")
                found[key] = entry["why"]
    return found


@contextmanager
def changed(folder: Path, module: str, code: str) -> Iterator[None]:
    """A copy with other code in a module. No compiled form is left that would hide it, or outlive it."""
    path = folder / "recovery" / f"{module}.py"
    before = path.read_text(encoding="utf-8")
    for compiled in path.parent.glob(f"__pycache__/{module}.*"):
        compiled.unlink()
    path.write_text(code, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(before, encoding="utf-8")


def run_part(folder: Path, arguments: str, seconds: int | None = None) -> tuple[Outcome, str]:
    """Run a part of a room in a copy, for so long at most; and what it printed."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    # The recorded answers are for longer runs.
    environment.pop("RECOVERY_DATA", None)
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", *split(_PYTEST), *split(arguments)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    resource.prlimit(run.pid, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    if seconds is not None:
        resource.prlimit(run.pid, resource.RLIMIT_CPU, (seconds, seconds))
    output, _ = run.communicate()
    if run.returncode:
        return Outcome.BY_TIME if run.returncode < 0 else Outcome.KILLED, output
    return Outcome.SURVIVED, output


def run_room(folder: Path, module: str, seconds: int | None = None) -> Outcome:
    """Run the tests of a module in a copy, each part for so long at most, up to the first that fails."""
    outcomes = (run_part(folder, arguments, seconds)[0] for arguments in ROOMS[module])
    return next((outcome for outcome in outcomes if outcome is not Outcome.SURVIVED), Outcome.SURVIVED)


def measure(folder: Path, modules: Iterable[str]) -> dict[str, float]:
    """How long the tests of each module take on the code as it is. Ends the program if they fail."""
    parts: dict[str, float] = {}
    for arguments in dict.fromkeys(part for module in modules for part in ROOMS[module]):
        before = os.times()
        outcome, output = run_part(folder, arguments)
        after = os.times()
        if outcome is not Outcome.SURVIVED:
            raise SystemExit(f"the code as it is fails\n    pytest {arguments}\n{output}")
        parts[arguments] = after.children_user - before.children_user + after.children_system - before.children_system
    return {module: sum(parts[arguments] for arguments in ROOMS[module]) for module in modules}


def run_all(folder: Path, mutants: Sequence[Mutant], times: dict[str, float], jobs: int) -> Iterator[Outcome]:
    """What becomes of each mutant, in their order; so many at once, each in a copy of the folder."""
    folders: SimpleQueue[Path] = SimpleQueue()
    for job in range(jobs):
        # With the times of the files, so that what is compiled counts.
        folders.put(Path(shutil.copytree(folder, folder / f"job{job}", ignore=shutil.ignore_patterns("job*"))))

    def run(mutant: Mutant) -> Outcome:
        own = folders.get()
        try:
            with changed(own, mutant.module, mutant.code):
                return run_room(own, mutant.module, ceil(4 * times[mutant.module]))
        finally:
            folders.put(own)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(run, mutants)


def shown(mutant: Mutant) -> str:
    """The mutant as a reader looks for it."""
    lines = [f"recovery/{mutant.module}.py:{mutant.line} {mutant.where}".rstrip()]
    lines += [f"    - {line}" for line in mutant.old.split("\n")]
    lines += [f"    + {line}" for line in mutant.new.split("\n")]
    return "\n".join(lines)


def share(outcomes: Counter[Outcome]) -> float:
    """How much was killed of what changes something."""
    number = outcomes.total()
    return 1 - outcomes[Outcome.SURVIVED] / number if number else 1.0


def table(results: dict[str, Counter[Outcome]], equivalent: Counter[str], times: dict[str, float]) -> str:
    """By module: the time its tests take, and what became of its mutants."""
    lines = [f"{'module':<10} tests   mutants  killed  by time  survived  equivalent   share"]
    over_all: Counter[Outcome] = sum(results.values(), Counter())
    for name, outcomes in [*results.items(), ("over all", over_all)]:
        seconds = f"{times[name]:4.1f} s" if name in times else " " * 6
        same = equivalent[name] if name in times else equivalent.total()
        killed, by_time = outcomes[Outcome.KILLED], outcomes[Outcome.BY_TIME]
        lines.append(
            f"{name:<10} {seconds} {outcomes.total() + same:8} {killed:7} {by_time:8} {outcomes[Outcome.SURVIVED]:9}"
            f" {same:11}  {share(outcomes):6.1%}"
        )
    return "\n".join(lines)


def unmet(results: dict[str, Counter[Outcome]]) -> list[str]:
    """The bounds that do not hold."""
    over_all: Counter[Outcome] = sum(results.values(), Counter())
    bounds = [(name, results[name], bound) for name, bound in BOUNDS.items() if name in results]
    return [
        f"{name}: {share(outcomes):.1%} killed, less than {bound:.0%}"
        for name, outcomes, bound in [*bounds, ("over all", over_all, BOUND_OVER_ALL)]
        if share(outcomes) < bound
    ]


def tracked(outcomes: Iterable[Outcome], number: int) -> Iterator[Outcome]:
    """The same, with a bar where someone looks on."""
    if not sys.stderr.isatty():
        return iter(outcomes)
    from rich.console import Console
    from rich.progress import track

    return iter(track(outcomes, "mutants", number, console=Console(stderr=True)))


def arguments_of(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Mutates the engine and shows what no test sees.")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(ROOMS)}; all of them by default")
    many = parser.add_mutually_exclusive_group()
    many.add_argument("--number", type=_positive, default=400, help="how many mutants are drawn (400)")
    many.add_argument("--all", action="store_true", help="all mutants")
    parser.add_argument("--seed", type=int, default=1, help="by which they are drawn (1)")
    parser.add_argument("--jobs", type=_positive, default=2, help="how many at once (2)")
    options = parser.parse_args(given)
    if unknown := [name for name in options.modules if name not in ROOMS]:
        parser.error(f"there is no room {', '.join(unknown)}; known are {', '.join(ROOMS)}")
    return options


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1, not {text!r}")
    return int(text)


def main(given: Sequence[str]) -> int:
    options = arguments_of(given)
    # Here, so that the tests of this file need no mutmut.
    from tests.mutants import mutants_of

    modules = [name for name in ROOMS if name in (options.modules or ROOMS)]
    mutants = [mutant for name in modules for mutant in mutants_of(name, source_of(name).read_text(encoding="utf-8"))]
    survivors = {key: why for key, why in read_survivors().items() if key[0] in modules}
    known = {mutant.key for mutant in mutants}
    complaints = [f"no mutant of the code any more: {key}" for key in survivors if key not in known]
    if not options.all:
        drawn = random.Random(options.seed).sample(range(len(mutants)), min(options.number, len(mutants)))
        mutants = [mutants[at] for at in sorted(drawn)]
    results: dict[str, Counter[Outcome]] = {name: Counter() for name in modules}
    equivalent: Counter[str] = Counter()
    with copy() as folder:
        # Once, not for each mutant.
        subprocess.run([sys.executable, "-m", "compileall", "-q", "recovery", "tests"], cwd=folder, check=True)
        times = measure(folder, modules)
        outcomes = tracked(run_all(folder, mutants, times, options.jobs), len(mutants))
        for mutant, outcome in zip(mutants, outcomes, strict=True):
            if mutant.key in survivors:
                equivalent[mutant.module] += 1
                print(f"{outcome}, changes nothing: {shown(mutant)}\n    {survivors[mutant.key]}", flush=True)
                if outcome is Outcome.KILLED:
                    complaints.append(f"said to change nothing, and killed: {shown(mutant)}")
                continue
            results[mutant.module][outcome] += 1
            if outcome is not Outcome.KILLED:
                print(f"{outcome}: {shown(mutant)}", flush=True)
    print(table(results, equivalent, times))
    slow = {name: took for name, took in times.items() if took > MOST_SECONDS}
    complaints += [f"{name}: its tests take {took:.1f} s, more than {MOST_SECONDS}" for name, took in slow.items()]
    complaints += unmet(results)
    print(*complaints, sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
