"""What every target has in common: how libFuzzer is started, and what becomes of a failure.

`python -m fuzz` starts targets with FOUND set: then what fails is kept
(failures.py) and the run goes on, so that one defect does not hide the next. Without it the first failure ends the run,
as ClusterFuzzLite and OSS-Fuzz want it.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import atheris

import fuzz.instrumented  # noqa: F401
from fuzz.failures import keep
from fuzz.inputs import Answer

# Names the folder where failures are kept; the run goes on behind one.
FOUND: Final = "RECOVERY_FUZZ_FOUND"
# No input is longer, in bytes. libFuzzer's default is the longest seed.
LONGEST: Final = 4096

OneInput = Callable[[bytes], None]


@dataclass(frozen=True)
class Target:
    """One invariant. `one_input` raises where it does not hold; `seeds` are the inputs to begin with."""

    one_input: OneInput
    seeds: Callable[[], Iterable[bytes]]
    # The answer that an input holds, where that is what an input is; so a finding can be written as a vector.
    answer: Callable[[bytes], Answer | None] | None = None
    # How many bytes stand before the text; they are made smaller bit by bit, not cut.
    head: int = 0
    # Makes another input of one: the input, the most bytes, a seed.
    mutate: Callable[[bytes, int, int], bytes] | None = None


def keeping(one_input: OneInput, folder: Path) -> OneInput:
    """`one_input`, but what fails is kept in the folder instead of raised."""

    def keeps(data: bytes) -> None:
        try:
            one_input(data)
        except Exception as error:  # noqa: BLE001  # whatever is raised is a finding, and the run goes on
            keep(data, error, folder)

    return keeps


def run(target: Target) -> None:
    """Fuzz, with libFuzzer's options and corpora as the arguments of the program."""
    one_input = target.one_input
    if FOUND in os.environ:
        one_input = keeping(one_input, Path(os.environ[FOUND]))
    hooks: dict[str, Any] = {} if target.mutate is None else {"custom_mutator": target.mutate}
    atheris.Setup([_command(), f"-max_len={LONGEST}", *sys.argv[1:]], one_input, **hooks)
    atheris.Fuzz()


def _command() -> str:
    """How the shell starts this program again, as libFuzzer does when it merges corpora."""
    if getattr(sys, "frozen", False):
        return sys.argv[0]
    return f"{shlex.quote(sys.executable)} -m fuzz.{Path(sys.argv[0]).stem}"
