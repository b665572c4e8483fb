"""Times ▶ how many times as long the newer revision takes, how far noise moves that, and whether it is slower.

Of each start there are three processes: two of the old revision and one of the new. What the two of the old differ by
is noise. May import: the standard library.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Final, NamedTuple

# Slower by no more than this is let pass.
TOLERATED: Final = 0.10
# A normal distribution's standard deviation, in medians of how far it is off.
SIGMA: Final = 1.4826


class Start(NamedTuple):
    """The lowest times of a bench in one start of the processes, in seconds."""

    old: float
    again: float
    new: float


class Estimate(NamedTuple):
    """How many times as long the new takes as the old, and how far off that may be, as a part of it."""

    ratio: float
    noise: float

    @property
    def slower(self) -> bool:
        """Whether it is slower by more than is tolerated, however the noise went."""
        return self.ratio > (1 + TOLERATED) * (1 + self.noise)

    @property
    def suspect(self) -> bool:
        """Whether it looks slower, and wants to be measured for longer."""
        return self.ratio > 1 + TOLERATED


def estimate(starts: Sequence[Start]) -> Estimate:
    """The median over the starts, and two standard errors of it.

    The spread is the larger of two: of the starts' ratios among each other, and of the old revision beside itself. The
    place of things in memory, which stays for the life of a process, is in both. It is taken from the median of what
    they are off by, so that a start which something else on the machine met counts no more than any other.
    """
    ratios = [math.log(start.new) - (math.log(start.old) + math.log(start.again)) / 2 for start in starts]
    twins = [math.log(start.again / start.old) for start in starts]
    ratio = statistics.median(ratios)
    spread = SIGMA * max(
        statistics.median(abs(one - ratio) for one in ratios), statistics.median(abs(twin) for twin in twins)
    )
    return Estimate(math.exp(ratio), math.expm1(2 * spread / math.sqrt(len(starts))))


def together(benches: Sequence[Sequence[Start]]) -> list[Start]:
    """Those of a room as one: the geometric mean of its benches, start by start."""
    return [
        Start(*(statistics.geometric_mean(times) for times in zip(*starts, strict=True)))
        for starts in zip(*benches, strict=True)
    ]
