"""The numbers of a matrix, each a record with what it rests on: rates, paired differences, floors, drift.

May import: `grading.cell`, `grading.outcome`, `grading.statistics.arrays`, `grading.statistics.family`,
`grading.statistics.floor`, `grading.statistics.paired`, `grading.statistics.plan`, `grading.statistics.rates`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from .cell import Matrix
from .outcome import OUTCOMES, Outcome
from .statistics import plan
from .statistics.arrays import Bools, Counts, Floats, Ints, Outcomes, count, families
from .statistics.family import holm, largest_t
from .statistics.floor import drift, flip_share, floor, intraclass, rerun_floor
from .statistics.paired import difference, equivalence
from .statistics.rates import Rate, covariance, rate

# The failures in the order of the outcomes: all but the last.
FAILURES: Final = tuple(outcome for outcome in OUTCOMES if outcome is not Outcome.CORRECT)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RateOf(_Record):
    """The rate of one bucket over its eligible cases. All but the counts is None for 0/0: not applicable."""

    # None: over all models, each with the same weight.
    model: str | None
    bucket: Outcome
    estimate: float | None
    error: float | None
    low: float | None
    high: float | None
    effective: float | None
    # Answers in the bucket, graded answers to eligible cases, such cases, and the families they come in.
    hits: int
    graded: int
    cases: int
    families: int


class FloorOf(_Record):
    """Rerun noise of one model in one bucket; None: not estimable (one repeat, or nothing eligible), never 0."""

    model: str
    bucket: Outcome
    # Variance of one answer within its case; standard deviations of one pass and of the mean of all passes.
    noise: float | None
    one_pass: float | None
    mean: float | None
    intraclass: float | None
    # Share of the cases that fall in the bucket in some repeats and not in others.
    flips: float | None


class PairOf(_Record):
    """`a` − `b` in one bucket, over the eligible cases that both have graded answers to."""

    a: str
    b: str
    bucket: Outcome
    estimate: float
    error: float | None
    low: float
    high: float
    # F: what rerun noise alone explains; None: unknown.
    floor: float | None
    # Adjusted over the buckets of the pair and over the pairs; None: nothing differs, no part of the family.
    p: float | None
    # Of two one-sided t tests at ±margin, and whether the difference is shown to lie within the margin.
    p_equal: float | None
    equal: bool
    # The smallest difference that these cases and repeats see with a power of 0.80; None: not estimable.
    visible: float | None
    # Where no case differs: the bound of the share of cases that could.
    identical_bound: float | None
    spread: float | None
    # The estimate of `spread` came out below 0 and was taken for 0.
    truncated: bool
    noises: tuple[float | None, float | None]
    cases: int
    dropped: tuple[str, ...]


class DriftOf(_Record):
    """Cochran's Q over the passes of one model in one bucket."""

    model: str
    bucket: Outcome
    q: float
    passes: int
    informative: int
    # Adjusted by Holm over all models and buckets: small, and the run did not stand still.
    p: float
    # Unadjusted chance of passes as much alike as these: small, and the repeats may come from a cache.
    p_alike: float


class Counted(NamedTuple):
    """A matrix as arrays. Raises `ValueError` where a model, a case or an outcome is out of place."""

    matrix: Matrix
    outcomes: Outcomes  # (models, cases, repeats), −1: ungraded
    counts: Counts
    labels: Ints | None  # (cases,), None where each case is its own family
    eligible: Bools  # (buckets, cases)

    @property
    def repeats(self) -> int:
        return int(self.outcomes.shape[2])


def count_matrix(matrix: Matrix) -> Counted:
    """The arrays of a matrix; an outcome that its case cannot have is an error: it would leave its denominator."""
    n, k = len(matrix.cases), matrix.repeats
    for what, names in (("model", matrix.models), ("case", matrix.cases)):
        if len(set(names)) != len(names):
            raise ValueError(f"the matrix names a {what} twice")
    if not len(matrix.clusters) == len(matrix.expects_call) == n or len(matrix.outcomes) != len(matrix.models):
        raise ValueError("the matrix has other numbers of cases, clusters, expectations and rows of outcomes")
    outcomes = np.full((len(matrix.models), n, k), -1, dtype=np.int8)
    for m, rows in enumerate(matrix.outcomes):
        if len(rows) != n:
            raise ValueError(f"model {matrix.models[m]!r} has {len(rows)} rows of outcomes for {n} cases")
        for i, row in enumerate(rows):
            outcomes[m, i, : len(row)] = [-1 if outcome is None else outcome for outcome in row]
    if outcomes.size and not -1 <= int(outcomes.min()) <= int(outcomes.max()) < len(OUTCOMES):
        raise ValueError(f"an outcome is the position in OUTCOMES, 0 to {len(OUTCOMES) - 1}, or None")
    wanted = np.asarray(matrix.expects_call, dtype=bool)
    eligible = np.stack([_eligible(outcome, wanted) for outcome in OUTCOMES])
    counts = count(outcomes, len(OUTCOMES))
    wrong = np.argwhere((counts.hits > 0) & ~eligible.T)
    if len(wrong):
        m, i, b = wrong[0]
        expected = "a call" if wanted[i] else "no call"
        raise ValueError(
            f"model {matrix.models[m]!r}, case {matrix.cases[i]!r}: {OUTCOMES[b]} is no outcome of a case that expects "
            f"{expected}"
        )
    labels = families(matrix.clusters)
    return Counted(matrix, outcomes, counts, None if len(set(matrix.clusters)) == n else labels, eligible)


def _eligible(outcome: Outcome, wanted: Bools) -> Bools:
    if outcome is Outcome.CORRECT:
        return np.ones_like(wanted)
    return ~wanted if outcome is Outcome.SPURIOUS_CALL else wanted


def rates_of(counted: Counted, *, level: float = 0.95) -> list[RateOf]:
    """Every model's rates, bucket by bucket, and then those over all models (model None)."""
    found = []
    hits, graded = counted.counts
    for m, model in enumerate([*counted.matrix.models, None]):
        for b, bucket in enumerate(OUTCOMES):
            keep = counted.eligible[b]
            labels = None if counted.labels is None else counted.labels[keep]
            # Over all models: the sums, in which each model weighs the same as long as its repeats are all there.
            own = hits[:, keep, b].sum(axis=0) if model is None else hits[m, keep, b]
            all_ = graded[:, keep].sum(axis=0) if model is None else graded[m, keep]
            found.append(_rate_of(model, bucket, rate(own, all_, labels, level=level)))
    return found


def _rate_of(model: str | None, bucket: Outcome, own: Rate | None) -> RateOf:
    if own is None:
        none = dict.fromkeys(("estimate", "error", "low", "high", "effective"))
        return RateOf(model=model, bucket=bucket, **none, hits=0, graded=0, cases=0, families=0)
    fields = own._asdict()
    del fields["level"]
    return RateOf(model=model, bucket=bucket, **fields)


def covariance_of(counted: Counted, model: int) -> list[list[float]] | None:
    """The 6×6 covariance of one model's rates over all its cases, in the order of OUTCOMES; None with one family."""
    found = covariance(counted.counts.hits[model], counted.counts.graded[model], counted.labels)
    return None if found is None else found.tolist()


def floors_of(counted: Counted) -> list[FloorOf]:
    """The rerun noise of every model and bucket, over the eligible cases."""
    found = []
    for m, model in enumerate(counted.matrix.models):
        for b, bucket in enumerate(OUTCOMES):
            keep = counted.eligible[b]
            hits, graded = counted.counts.hits[m, keep, b], counted.counts.graded[m, keep]
            own = floor(hits, graded)
            noise, one_pass, mean = (None, None, None) if own is None else own
            found.append(
                FloorOf(
                    model=model,
                    bucket=bucket,
                    noise=noise,
                    one_pass=one_pass,
                    mean=mean,
                    intraclass=intraclass(hits, graded),
                    flips=flip_share(hits, graded),
                )
            )
    return found


class Design(NamedTuple):
    """How the comparisons are made."""

    margin: float
    # Of the interval that is shown, 1 − α; of the tests of equality, α; of the family of differences.
    level: float
    alpha: float
    resamples: int
    seed: int
    # Number of a model that all others are compared with; None: every two.
    control: int | None = None


def pair_numbers(models: int, control: int | None) -> list[tuple[int, int]]:
    """The pairs of models that are compared: each other model with the control, or every two."""
    if control is not None:
        return [(m, control) for m in range(models) if m != control]
    return [(a, b) for a in range(models) for b in range(a + 1, models)]


def pairs_of(counted: Counted, design: Design) -> list[PairOf]:
    """Every pair's difference in every bucket that has eligible cases graded for both."""
    found = []
    pairs = pair_numbers(len(counted.matrix.models), design.control)
    for a, b in pairs:
        hits, graded = counted.counts.hits[[a, b]], counted.counts.graded[[a, b]]
        both = np.asarray((graded > 0).all(axis=0))
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where(both[:, None], hits[0] / graded[0][:, None] - hits[1] / graded[1][:, None], 0.0)
        usable = counted.eligible.T & both[:, None]
        adjusted = largest_t(shares, counted.labels, counted=usable, resamples=design.resamples, seed=design.seed)
        for bucket, outcome in enumerate(OUTCOMES):
            p = adjusted[bucket]
            # Bonferroni, not Holm: a step of Holm past a pair is only safe if every bucket of that pair was rejected.
            p = None if p is None else min(1.0, p * len(pairs))
            one = _pair_of(counted, (a, b), outcome, design, len(pairs), p, shares[:, bucket])
            found.extend([] if one is None else [one])
    return found


def _pair_of(
    counted: Counted,
    pair: tuple[int, int],
    outcome: Outcome,
    design: Design,
    tests: int,
    p: float | None,
    shares: Floats,
) -> PairOf | None:
    bucket, models, cases = OUTCOMES.index(outcome), counted.matrix.models, counted.matrix.cases
    keep = counted.eligible[bucket]
    hits, graded = counted.counts.hits[[*pair], :, bucket], counted.counts.graded[[*pair]]
    own = difference(hits, graded, counted.labels, eligible=keep, level=design.level)
    if own is None:
        return None
    usable = keep & (graded > 0).all(axis=0)
    labels = None if counted.labels is None else counted.labels[usable]
    p_equal, equal = equivalence(shares[usable], design.margin, labels, alpha=design.alpha)
    known = own.spread is not None and own.noises[0] is not None and own.noises[1] is not None
    visible = None
    if known:
        visible = plan.smallest_difference(
            own.cases,
            counted.repeats,
            spread=own.spread or 0.0,
            noises=(own.noises[0] or 0.0, own.noises[1] or 0.0),
            alpha=design.alpha,
            tests=tests,
        )
    floors = [floor(hits[side][keep], graded[side][keep]) for side in (0, 1)]
    return PairOf(
        a=models[pair[0]],
        b=models[pair[1]],
        bucket=outcome,
        floor=rerun_floor(*floors),
        p=p,
        p_equal=p_equal,
        equal=equal,
        visible=visible,
        dropped=tuple(cases[place] for place in own.dropped),
        **{name: getattr(own, name) for name in ("estimate", "error", "low", "high", "identical_bound", "spread")},
        **{name: getattr(own, name) for name in ("truncated", "noises", "cases")},
    )


def drifts_of(counted: Counted) -> list[DriftOf]:
    """Cochran's Q of every model and bucket, over the eligible cases graded in every pass, where it can be had."""
    found = []
    for m, model in enumerate(counted.matrix.models):
        whole = np.asarray((counted.outcomes[m] >= 0).all(axis=1))
        for b, bucket in enumerate(OUTCOMES):
            one = drift(counted.outcomes[m][whole & counted.eligible[b]] == b)
            if one is not None:
                found.append((model, bucket, one))
    adjusted = holm([one.p_high for _, _, one in found])
    return [
        DriftOf(
            model=model, bucket=bucket, q=one.q, passes=one.passes, informative=one.informative, p=p, p_alike=one.p_low
        )
        for (model, bucket, one), p in zip(found, adjusted, strict=True)
    ]
