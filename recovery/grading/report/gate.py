"""Gates for CI: a check fails where a number is worse by more than noise explains, so that a rerun says the same.

May import: `grading.outcome`, `grading.report.model`, `grading.report.sheets`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from enum import StrEnum
from typing import Final, NamedTuple

from recovery.grading.outcome import OUTCOMES, Outcome

from .model import Difference, ModelPart, Rate, Report
from .sheets import READINGS, Show, word

# More ungraded cells than this share, and nothing is decided.
MOST_UNGRADED: Final = 0.05

PASSED_STATUS: Final = 0
FAILED_STATUS: Final = 1
UNDECIDED_STATUS: Final = 3

_FORM: Final = re.compile(r"(?:(?P<model>.+):)?(?P<outcome>[a-z_]+)\s*(?P<sign><=|>=)\s*(?P<bound>[0-9.]+)(?P<per>%?)")


class State(StrEnum):
    """What became of a gate: undecided is neither of the two others."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Bound(NamedTuple):
    """`outcome` at least or at most `bound`, a share, with one model or (None) with each."""

    outcome: Outcome
    at_least: bool
    bound: float
    model: str | None = None

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{f'{self.model}:' if self.model else ''}{self.outcome} {sign} {self.bound:.1%}"


class Check(NamedTuple):
    """One gate and what became of it, with a sentence that says why."""

    name: str
    model: str
    state: State
    message: str


def parse_bound(text: str) -> Bound:
    """Read `no_call<=10%`, `correct>=0.8` or, of one model alone, `MODEL:no_call<=10%`. Raises `ValueError`."""
    found = _FORM.fullmatch(text.strip())
    if found is None or found["outcome"] not in set(OUTCOMES):
        names = ", ".join(OUTCOMES)
        raise ValueError(f"{text!r} is no gate: write OUTCOME<=SHARE, OUTCOME>=SHARE or MODEL:OUTCOME<=SHARE; {names}")
    try:
        bound = float(found["bound"]) / (100 if found["per"] else 1)
    except ValueError:
        raise ValueError(f"{text!r} is no gate: {found['bound']} is no number") from None
    if not 0 <= bound <= 1:
        raise ValueError(f"{text!r} is no gate: a share lies between 0 and 1, or 0% and 100%")
    return Bound(Outcome(found["outcome"]), found["sign"] == ">=", bound, found["model"])


def check_bounds(report: Report, bounds: Iterable[Bound], now: date | None = None) -> list[Check]:
    """Hold shares against bounds. One fails where its whole interval lies beyond; where it only may, it passes.

    Raises `ValueError` for a model that the report does not have.
    """
    show, checks = Show(report.block, now), []
    names = [model.name for model in report.models]
    for bound in bounds:
        if bound.model is not None and bound.model not in names:
            raise ValueError(f"{bound}: there is no model {bound.model!r}; there are {', '.join(names)}")
        for model in report.models:
            if bound.model in {None, model.name}:
                state, why = _held(model, model.rate(bound.outcome), bound, show)
                checks.append(Check(str(bound), model.name, state, f"{model.name}: {why}"))
    return checks


def _held(model: ModelPart, rate: Rate, bound: Bound, show: Show) -> tuple[State, str]:
    if unfit := _unfit([model], show):
        return State.UNDECIDED, unfit
    if rate.value is None or rate.low is None or rate.high is None:
        return State.UNDECIDED, f"no graded case can have {word(bound.outcome)}"
    said = f"{word(bound.outcome)} {show.share(rate.value)} ({show.span(rate.low, rate.high)})"
    limit = f"{'at least' if bound.at_least else 'at most'} {show.share(bound.bound)}"
    if rate.high < bound.bound if bound.at_least else rate.low > bound.bound:
        return State.FAILED, f"{said}, and {limit} was wanted: the whole interval lies beyond"
    if rate.value < bound.bound if bound.at_least else rate.value > bound.bound:
        return State.PASSED, f"{said}; {limit} was wanted, and the interval holds it: not shown to be missed"
    return State.PASSED, f"{said}; {limit} was wanted"


def check_differences(
    differences: Sequence[Difference], models: Sequence[ModelPart], show: Show, tolerance: float = 0.0
) -> list[Check]:
    """Hold a new run (`one`) against a baseline (`other`), outcome by outcome.

    A check fails where the new run is worse by more than the noise floor, the difference is real over the cases too,
    and it is larger than `tolerance`, a share.
    """
    unfit = _unfit(models, show)
    return [_compared(one, show, tolerance, unfit) for one in differences]


def _compared(one: Difference, show: Show, tolerance: float, unfit: str) -> Check:
    worse = one.value * (-1 if one.outcome is Outcome.CORRECT else 1)
    said = f"{word(one.outcome)} {show.points(one.value)} points, {READINGS[one.reading]}"
    if one.p is not None:
        said += f"; noise floor {show.points(one.floor, '.1f')} points, adjusted p {show.chance(one.p)}"
    state = State.PASSED
    if unfit:
        state, said = State.UNDECIDED, unfit
    elif one.reading in {"floor unknown", "no verdict"}:
        state = State.UNDECIDED
    elif one.reading == "real" and worse > tolerance:
        state = State.FAILED
    return Check(f"{one.outcome} no worse than the baseline", one.one, state, f"{one.one}: {said}")


def _unfit(models: Iterable[ModelPart], show: Show) -> str:
    """Why nothing can be decided, or nothing."""
    if show.expired:
        return f"{show.count(0)}: run again"
    for model in models:
        if model.drifts:
            names = ", ".join(map(word, model.drifts))
            return f"the passes of {model.name} differ in {names} by more than chance: it did not stand still"
        ungraded = sum(model.ungraded.values())
        if ungraded > MOST_UNGRADED * model.cells:
            most = show.share(MOST_UNGRADED)
            share = f"{show.count(ungraded)} of {show.count(model.cells)} answers"
            return f"{share} are ungraded: with more than {most} nothing is decided"
    return ""


def status(checks: Iterable[Check]) -> int:
    """The exit status: a failed check, else one that could not be decided, else none."""
    states = {check.state for check in checks}
    if State.FAILED in states:
        return FAILED_STATUS
    return UNDECIDED_STATUS if State.UNDECIDED in states else PASSED_STATUS
