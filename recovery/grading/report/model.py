"""A report: everything that a page shows, computed once. The writers turn it into text and pictures, and add nothing.

May import: `grading.outcome`, `grading.provenance`, `grading.verdict`.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from recovery.grading.outcome import Outcome
from recovery.grading.provenance import Block
from recovery.grading.verdict import Verdict

# What the terminal, the page and the JSON call the same thing.
NO_TOOL: Final = "(no call)"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rate(_Part):
    """How often one outcome came up with one model, over the answers in which it could."""

    outcome: Outcome
    count: int
    # Graded answers to the cases that can have this outcome, and how many cases those are.
    of: int
    cases: int
    # The mean over cases and its interval; None where there are no such cases.
    value: float | None
    low: float | None
    high: float | None


class Arrival(_Part):
    """How the calls of one model came, in graded answers to cases that want one."""

    native: int = 0
    recovered: int = 0
    # Written and not read, by `recovery.Reason`: the calls that are lost.
    lost: dict[str, int] = {}
    silent: int = 0
    refusal: int = 0
    truncated: int = 0

    @property
    def answers(self) -> int:
        return self.native + self.recovered + sum(self.lost.values()) + self.silent + self.refusal + self.truncated

    @property
    def written(self) -> int:
        return self.recovered + sum(self.lost.values())


class Lost(_Part):
    """One answer whose written call was refused, as an example."""

    model: str
    case: str
    reason: str
    text: str
    # How many answers of this model were refused for this reason, this one among them.
    alike: int


class ModelPart(_Part):
    """What is known of one model alone."""

    name: str
    rates: tuple[Rate, ...]
    arrival: Arrival
    # By outcome and detail: answers.
    details: dict[str, dict[str, int]]
    # By reason; counted apart, never as wrong.
    ungraded: dict[str, int]
    cells: int
    # The outcomes in which its passes differ by more than chance: it did not stand still.
    drifts: tuple[Outcome, ...] = ()

    def rate(self, outcome: Outcome) -> Rate:
        return next(rate for rate in self.rates if rate.outcome == outcome)


# "noise": smaller than what two runs of the same differ by. "these cases": larger, but not shown to hold for others.
# "no verdict": the run is not valid, so nothing is read of it.
Reading = Literal["identical", "noise", "these cases", "real", "floor unknown", "no verdict"]


class Difference(_Part):
    """The share of one outcome with one model less that with another, on the cases that both have graded."""

    outcome: Outcome
    one: str
    other: str
    cases: int
    value: float
    low: float
    high: float
    # Adjusted over all outcomes and pairs; None where nothing differs.
    p: float | None
    # What run-to-run noise alone explains; None where there was one repeat.
    floor: float | None
    # What a design of this size sees in four of five runs.
    smallest_visible: float | None
    # Where the two are identical: the share of all cases in which they may differ none the less.
    may_differ: float | None
    reading: Reading


class Confusion(_Part):
    """A tool that was wanted, and the other that was called; `NO_TOOL` for none. Answers by model."""

    wanted: str
    called: str
    counts: dict[str, int]


class CasePart(_Part):
    """One case as far as it stands in a list: the outcomes by model, one a repeat ("ungraded" where there is none)."""

    case: str
    query: str
    wanted: str
    outcomes: dict[str, tuple[str, ...]]
    # What the answers called, and how their arguments differ, for a case that every model fails.
    called: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


class Report(_Part):
    """Everything that a page shows of one run. Its numbers are shown through `block.render` alone."""

    block: Block
    models: tuple[ModelPart, ...]
    differences: tuple[Difference, ...]
    confusion: tuple[Confusion, ...]
    flaky: tuple[CasePart, ...]
    # Cases that no model got right in any graded answer.
    unanimous: tuple[CasePart, ...]
    lost: tuple[Lost, ...]
    # None where a run is held against a baseline: the rule says which model to choose, and here there is no choice.
    verdict: Verdict | None
    cases: int
    repeats: int
    # Below this an adjusted p is one of a real difference; the level of the intervals.
    alpha: float
    level: float
