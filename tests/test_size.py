"""Size: time and memory grow with the length of the answer and no faster, for any text.

A family (`families.py`) is a text of any length made of one repeated piece; it is read whole and in deltas, once and
twice as long (by `growth.py`, which as a program does so from 10 kB to 10 MB). By default the lengths are what two
minutes pay for; with RECOVERY_SLOW set, every family is read at 10 MB too. Time is what this process takes, not what
the clock says. Memory is that of a process of its own: a helper, which is this file run as a program, forks one for
each family.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

import recovery
from recovery import Policy, Reason, Stream, Toolset, recover
from tests.families import FAMILIES, SIGNS_IN_PLACES, TOOLS, Family, Offered
from tests.growth import LONGEST_TOKEN, MOST_GROWTH, READINGS, Timer, read

SLOW_ONLY = pytest.mark.skipif(not os.environ.get("RECOVERY_SLOW"), reason="takes long: set RECOVERY_SLOW")


# One token that a limit bounds: read in small pieces, its beginning must not be looked at again with each.
TOKENS = [
    "long-name",
    "long-name-other-script",
    "long-name-escaped",
    "operator-words",
    "operators-behind-call",
    "digits-as-value",
    "digits-behind-point",
    "zeros-hexadecimal",
    "underscores-in-number",
    "exponents",
    "digits-other-script",
]
# What takes most memory, and what once took too much.
LARGEST = [
    "words",
    "digits-as-value",
    "exponents",
    "openers-round",
    "escapes",
    "same-key-again",
    "keys-of-two-letters",
    "spaces-behind-name",
    "quoted-calls-of-deep-values",
]

# No further round, and no larger text, after so many seconds of the process.
PATIENCE = 3

MEGA = 1_000_000
# What the memory is beyond that of.
ONE_CALL = Family("f(x=1)", " ", "", "recovered")
# Tools take memory of their own, and these families as many as there is text.
MEASURED = [name for name, family in FAMILIES.items() if not isinstance(family, Offered)]
# Bytes for a character, the text itself counted in: 10 MB of any text take at most 400 MB.
MOST_MEMORY = 40
# Bytes besides: the heap grows in steps.
STEP = MEGA
# In deltas each piece is an object of its own, which the stream and the caller hold: that of one wide character takes
# 80 bytes.
MOST_MEMORY_IN_DELTAS = 160

# The text for each reading, which is then read twice as long too.
SIZES = {"whole": 30_000, "deltas-of-4": 4_000, "deltas-of-1": 3_000, "by-call-in-deltas-of-4": 4_000}
LARGE_SIZES = {"whole": 5 * MEGA, "deltas-of-4": MEGA, "deltas-of-1": MEGA // 2, "by-call-in-deltas-of-4": MEGA}


@pytest.fixture(autouse=True, scope="module")
def _without_the_garbage_of_others() -> Iterator[None]:
    """What pytest holds is not looked through again and again while a text is timed."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def check_growth(family: Family, size: int, delta: int) -> None:
    """Twice the text takes about twice the time.

    Where it does not, larger texts are tried: memory comes in steps, and a machine may pay for one of them dearly. What
    grows faster than the text grows so at every length.
    """
    began = time.process_time()
    timer = Timer(family, delta)
    for factor in (1, 2):
        growth = timer.growth(factor * size, PATIENCE)
        if growth <= MOST_GROWTH:
            return
        if time.process_time() - began > PATIENCE:
            break
    taken = timer.best[factor * size] * 1000
    pytest.fail(f"{factor * size:,} characters take {taken:.1f} ms, twice as many {growth:.1f} times as long")


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", FAMILIES)
def test_time_grows_with_the_text(name: str, reading: str) -> None:
    check_growth(FAMILIES[name], SIZES[reading], READINGS[reading])


@pytest.mark.parametrize("name", SIGNS_IN_PLACES)
def test_time_grows_with_a_run_of_signs(name: str) -> None:
    check_growth(SIGNS_IN_PLACES[name], 2_000, 0)
    check_growth(SIGNS_IN_PLACES[name], 500, 1)


@SLOW_ONLY
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", FAMILIES)
def test_time_grows_with_a_text_of_megabytes(name: str, reading: str) -> None:
    check_growth(FAMILIES[name], LARGE_SIZES[reading], READINGS[reading])


@pytest.mark.parametrize("name", TOKENS)
def test_time_grows_with_a_token_in_deltas_of_one_character(name: str) -> None:
    timer = Timer(FAMILIES[name], 1)
    size = LONGEST_TOKEN // 2
    assert timer.growth(size, PATIENCE) <= MOST_GROWTH, f"{size:,} characters take {timer.best[size] * 1000:.1f} ms"


@pytest.mark.parametrize("name", FAMILIES)
def test_deltas_change_nothing(name: str) -> None:
    """Of a token or a line that is longer than what is waited for, too."""
    family = FAMILIES[name]
    text = family.text(2_000)
    whole = read(family, text, 2_000, 0)
    assert read(family, text, 2_000, 1) == whole
    assert read(family, text, 2_000, 4) == whole


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the helper forks")
@pytest.mark.parametrize(
    ("size", "delta", "names"),
    [
        pytest.param(MEGA // 10, 0, MEASURED, id="100-kb"),
        pytest.param(2 * MEGA, 0, LARGEST, id="2-mb"),
        pytest.param(MEGA // 10, 1, MEASURED, id="100-kb-in-deltas", marks=SLOW_ONLY),
        pytest.param(10 * MEGA, 0, MEASURED, id="10-mb", marks=SLOW_ONLY),
    ],
)
def test_memory_grows_with_the_text(size: int, delta: int, names: list[str]) -> None:
    taken = measure_memory(size, delta, names)
    assert len(taken) == len(names)
    allowed = (MOST_MEMORY_IN_DELTAS if delta else MOST_MEMORY) * size + STEP
    too_much = {name: f"{peak / MEGA:.1f} MB" for name, peak in taken.items() if peak > allowed}
    assert too_much == {}, f"{size:,} characters may take {allowed / MEGA:.1f} MB"


@pytest.mark.parametrize("name", ["deep-lists", "deep-parentheses", "deep-tuples", "deep-dicts"])
def test_depth_is_a_refusal(name: str) -> None:
    family = FAMILIES[name]
    text = family.head + family.unit * 100_000
    for result in (recover(text, TOOLS), read(family, text, len(text), 1)):
        assert result.refusal is not None
        assert result.refusal.reason is Reason.TOO_DEEP
        assert result.text == text
        # The span is the bracket that was one too many.
        assert text[result.refusal.span.start : result.refusal.span.end] == family.unit[0]
        assert "too_deep" in result.refusal.explain(text)


@pytest.mark.parametrize(("opener", "closer"), ["[]", "()"])
def test_depth_is_a_refusal_where_all_is_closed(opener: str, closer: str) -> None:
    result = recover(f"f(x={opener * 100_000}{closer * 100_000})", TOOLS)
    assert result.refusal is not None
    assert result.refusal.reason is Reason.TOO_DEEP


def measure_memory(size: int, delta: int, names: list[str]) -> dict[str, int]:
    """Bytes that each family takes at its peak, beyond what the helper takes that reads nothing."""
    command = [sys.executable, __file__, str(size), str(delta), *names]
    paths = (Path(recovery.__file__).parent.parent, Path(__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    measured: dict[str, int] = json.loads(done.stdout)
    base = measured.pop("")
    return {name: peak - base for name, peak in measured.items()}


def main(size: int, delta: int, names: list[str]) -> None:
    """The helper: the peak of a process of its own for each family, as JSON; under "" that of one that reads a call."""
    peaks = {}
    for name in ["", *names]:
        child = os.fork()
        if child == 0:
            # Whatever happens, the child must not go on with the parent's work.
            try:
                family = FAMILIES[name] if name else ONE_CALL
                read_limited(family.text(size), family.tools(size), delta)
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status, usage = os.wait4(child, 0)
        if status:
            sys.exit(f"{name}: the child ended with status {status}")
        peaks[name] = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps(peaks))


def read_limited(text: str, tools: Toolset | list[str], delta: int) -> None:
    """Under the limits that hold by default: they bound memory."""
    if not delta:
        recover(text, tools, policy=Policy.lenient())
        return
    stream = Stream(tools, policy=Policy.lenient())
    for at in range(0, len(text), delta):
        stream.feed(text[at : at + delta])
    stream.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
