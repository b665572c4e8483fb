"""Shows how the time to read a text grows with its length: families of texts, along the doublings from 10 kB to 10 MB.

    python tests/growth.py                          # every family, whole and in deltas: estimate first, it takes hours
    python tests/growth.py --estimate               # only say how long that takes
    python tests/growth.py commas fences            # these families
    python tests/growth.py 'json-*' --reading deltas-of-1 --to 1000000
    python tests/growth.py '*' 'signs:*-in-json'    # and a sign again and again in some place

Twice the text may take 2.5 times as long, and a quadratic step takes four times. The lowest of up to five times counts,
and rounds are added only where the bound does not hold. It is the time of the process that counts, so other work on
the machine does little harm. Ends with 0 if every doubling holds, 1 if one does not, 2 if it was not asked rightly.
`test_size.py` holds the same at moderate sizes. May import: `tests.families`.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

# Behind all that is installed, as in conftest.py.
sys.path.append(str(Path(__file__).resolve().parent.parent))

from recovery import Limits, Policy, Recovery, Stream, recover
from tests.families import FAMILIES, SIGNS_IN_PLACES, Family

T = TypeVar("T")

# A limit would end the reading early and hide how it grows; depth is left, since nothing can be as deep as long.
LIFTED: Final = Limits(characters=10**9, calls=10**9, values=10**9)
POLICY: Final = Policy.lenient(LIFTED)
# Characters: the limit on the digits of a number, which is above that on a name. A longer text has its family's status.
LONGEST_TOKEN: Final = Limits().digits

# Twice the text may take this much longer. A quadratic step takes four times.
MOST_GROWTH: Final = 2.5
# Seconds of the process below which a ratio says more about the clock.
FLOOR: Final = 0.005
# The lowest times of up to so many rounds: caches are shared with what else the machine does.
ROUNDS: Final = 5

# How many characters a delta has, 0 for the whole; below 0 with calls that go out one by one.
READINGS: Final = {"whole": 0, "deltas-of-4": 4, "deltas-of-1": 1, "by-call-in-deltas-of-4": -4}
# What begins the name of a sign in a place, where families are asked for.
SIGNS: Final = "signs:"
# A family is estimated at this size.
PROBE: Final = 10_000


def read(family: Family, text: str, size: int, delta: int) -> Recovery:
    """As READINGS has it; `size` is that which the text was made for."""
    tools = family.tools(size)
    if not delta:
        return recover(text, tools, policy=POLICY)
    stream = Stream(tools, policy=POLICY, commit="answer" if delta > 0 else "call")
    for at in range(0, len(text), abs(delta)):
        stream.feed(text[at : at + abs(delta)])
    stream.close()
    return stream.result


def check_result(family: Family, text: str, result: Recovery) -> None:
    """It is what becomes of the family; what is not recovered is the same text, and a refusal lies in it."""
    if len(text) > LONGEST_TOKEN and family.status:
        assert result.status == family.status, f"{result.status}, not {family.status}"
    if result.status != "recovered":
        assert result.text == text
    if result.refusal is not None:
        assert 0 <= result.refusal.span.start <= result.refusal.span.end <= len(text)


class Timer:
    """The lowest times that the texts of a family took so far, in seconds of the process, by size."""

    def __init__(self, family: Family, delta: int) -> None:
        self._family = family
        self._delta = delta
        self.best: dict[int, float] = {}
        self._lengths: dict[int, int] = {}

    def time(self, size: int) -> float:
        """Read the text of this size once more; the lowest time."""
        text = self._family.text(size)
        self._lengths[size] = len(text)
        gc.collect()
        start = time.process_time()
        result = read(self._family, text, size, self._delta)
        taken = time.process_time() - start
        check_result(self._family, text, result)
        self.best[size] = min(taken, self.best.get(size, taken))
        return self.best[size]

    def growth(self, size: int, patience: float = math.inf) -> float:
        """How many times as long twice the text takes; 1 where it takes next to nothing.

        Where a piece is so long that the text is not just twice as long, that is allowed for. More rounds are made only
        where the growth is beyond the bound, and none after so many seconds of the process.
        """
        began = time.process_time()
        for number in range(ROUNDS):
            for part in (size, 2 * size):
                if number or part not in self.best:
                    self.time(part)
            twice = self.best[2 * size]
            growth = 2 * (twice / self._lengths[2 * size]) / (self.best[size] / self._lengths[size])
            if twice <= FLOOR:
                return 1.0
            if growth <= MOST_GROWTH or time.process_time() - began > patience:
                break
        return growth


class Row(NamedTuple):
    """A family in one reading: its costs in microseconds for 1,000 characters, and the steepest doubling."""

    name: str
    reading: str
    first: float
    last: float
    growth: float
    # The size that was doubled there.
    size: int
    # Why it could not be measured.
    fault: str = ""


def measure(name: str, reading: str, sizes: Sequence[int]) -> Row:
    """Every doubling from each size to the next."""
    timer = Timer(family_of(name), READINGS[reading])
    # What is there already is not looked through while a text is timed.
    gc.collect()
    gc.freeze()
    steepest = (0.0, sizes[0])
    fault = ""
    try:
        for size in sizes[:-1]:
            steepest = max(steepest, (timer.growth(size), size), key=lambda pair: pair[0])
            if steepest[0] > MOST_GROWTH:
                # What follows would take four times as long with each step.
                break
    except (AssertionError, RecursionError) as error:
        fault = f"{type(error).__name__}: {error}"
    costs = [1e9 * taken / size for size, taken in sorted(timer.best.items())] or [0.0]
    return Row(name, reading, costs[0], costs[-1], *steepest, fault)


def probe(name: str, reading: str, sizes: Sequence[int]) -> float:
    """The seconds that `measure` will take: every text is read once."""
    timer = Timer(family_of(name), READINGS[reading])
    try:
        return timer.time(PROBE) / PROBE * sum(sizes)
    except (AssertionError, RecursionError):
        return 0.0


def family_of(name: str) -> Family:
    return SIGNS_IN_PLACES[name.removeprefix(SIGNS)] if name.startswith(SIGNS) else FAMILIES[name]


def chosen(patterns: Sequence[str]) -> list[str]:
    """The families that these name, in order; all but the signs where there are none. Raises `ValueError`."""
    names = [*FAMILIES, *(SIGNS + name for name in SIGNS_IN_PLACES)]
    found: dict[str, None] = {}
    for pattern in patterns:
        fitting = [n for n in names if fnmatchcase(n, pattern) and n.startswith(SIGNS) == pattern.startswith(SIGNS)]
        if not fitting:
            raise ValueError(f"no family is named {pattern!r}: --list shows all")
        found.update(dict.fromkeys(fitting))
    return list(found) or list(FAMILIES)


def doublings(least: int, most: int) -> list[int]:
    """Sizes, each twice the one before; the last is the first that is no less than `most`."""
    return [least << step for step in range(math.ceil(math.log2(most / least)) + 1)]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    purpose, _, behind = (__doc__ or "").partition("\n\n")
    examples, _, meaning = behind.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=purpose,
        epilog=f"{examples}\n\n{meaning.partition(' May import')[0]}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "families",
        nargs="*",
        metavar="FAMILY",
        help=f"a name, or a pattern in quotes; {SIGNS}NAME for a sign in a place",
    )
    parser.add_argument("--from", dest="least", type=int, default=10_000, metavar="N", help="characters; 10,000")
    parser.add_argument("--to", dest="most", type=int, default=10_000_000, metavar="N", help="characters; 10,000,000")
    parser.add_argument("--reading", action="append", choices=READINGS, help="may be repeated; all of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes; one a core")
    parser.add_argument("--list", action="store_true", help="print the names of the families, and end")
    parser.add_argument("--estimate", action="store_true", help="print how long it will take, and end")
    options = parser.parse_args(arguments)
    if options.least < 1 or options.most < 2 * options.least:
        parser.error("--to must be at least twice --from, which is at least 1")
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    try:
        options.families = chosen(options.families)
    except ValueError as error:
        parser.error(str(error))
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.list:
        print("\n".join([*FAMILIES, *(SIGNS + name for name in SIGNS_IN_PLACES)]))
        return 0
    sizes = doublings(options.least, options.most)
    tasks = [(name, reading) for name in options.families for reading in options.reading or READINGS]
    with ProcessPoolExecutor(options.jobs) as pool:
        probes = [pool.submit(probe, *task, sizes) for task in tasks]
        seconds = sum(taken.result() for taken in followed(probes, "estimating"))
        print(
            f"{len(options.families):,} families, {len(tasks):,} readings, {sizes[0]:,} to {sizes[-1]:,} characters: "
            f"about {spelled(seconds / options.jobs)} with {options.jobs} processes",
            flush=True,
        )
        if options.estimate:
            return 0
        # What takes longest first, so that no process is left with it at the end.
        costs = {task: taken.result() for task, taken in zip(tasks, probes, strict=True)}
        order = sorted(tasks, key=lambda task: costs[task], reverse=True)
        rows = [done.result() for done in followed([pool.submit(measure, *task, sizes) for task in order], "measuring")]
    rows.sort(key=lambda row: tasks.index((row.name, row.reading)))
    show(rows)
    return 1 if any(row.fault or row.growth > MOST_GROWTH for row in rows) else 0


def followed(futures: Sequence[Future[T]], what: str) -> Iterator[Future[T]]:
    """As they are done; a bar on stderr shows how far that is, on a terminal that has `rich`."""
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        yield from as_completed(futures)
        return
    console = Console(stderr=True)
    yield from track(as_completed(futures), what, len(futures), console=console, disable=not console.is_terminal)


def show(rows: Sequence[Row]) -> None:
    print(f"\n{'':3}{'family':52}{'reading':24}{'µs/1,000 characters':>22}   steepest doubling")
    for row in rows:
        mark = "-- " if row.fault or row.growth > MOST_GROWTH else "ok "
        cost = f"{row.first:,.0f} … {row.last:,.0f}"
        print(f"{mark}{row.name:52}{row.reading:24}{cost:>22}   {row.fault or f'{row.growth:.2f} at {row.size:,}'}")
    beyond = sum(bool(row.fault) or row.growth > MOST_GROWTH for row in rows)
    print(f"\n{len(rows) - beyond:,} of {len(rows):,} grow at most {MOST_GROWTH} times with each doubling")


def spelled(seconds: float) -> str:
    minutes = math.ceil(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


if __name__ == "__main__":
    sys.exit(main())
