"""The noise floor: how far two runs of the same cases lie apart by chance, and whether a run stood still meanwhile.

May import: `grading.statistics.arrays`, `grading.statistics.paired`, `grading.statistics.quantiles`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .arrays import Bools, Ints, Outcomes
from .paired import within_variance
from .quantiles import chi2_upper, normal_quantile


class Floor(NamedTuple):
    """Rerun noise of one model in one bucket, as shares of 1."""

    # σ̂²_w, the mean variance of one answer within its case.
    noise: float
    # Standard deviation of one pass over the cases, and of the mean of all the passes.
    one_pass: float
    mean: float


def floor(hits: Ints, graded: Ints) -> Floor | None:
    """The rerun noise of one bucket; `hits`, `graded` (cases,). None, not estimable (never 0), where no case has two.

    √(σ̂²_w/n) and √(σ̂²_w Σ 1/K_i)/n, which is √(σ̂²_w/(nK)) with equal repeats. Source: Miller 2024.
    """
    kept = graded > 0
    noise = within_variance(hits[kept], graded[kept])
    if noise is None:
        return None
    n = int(kept.sum())
    return Floor(noise, math.sqrt(noise / n), math.sqrt(noise * float((1 / graded[kept]).sum())) / n)


def rerun_floor(a: Floor | None, b: Floor | None, *, level: float = 0.95) -> float | None:
    """F: two means differ by rerun noise alone up to this share, z · √(SD²_A + SD²_B); None where either is unknown."""
    if a is None or b is None:
        return None
    return normal_quantile((1 + level) / 2) * math.hypot(a.mean, b.mean)


def intraclass(hits: Ints, graded: Ints) -> float | None:
    """ICC(1), the share of the variance that lies between cases; the design effect of K repeats is 1 + (K − 1) · ICC.

    `hits`, `graded` (cases,); one-way analysis of variance, K₀ for unequal repeats (Shrout and Fleiss 1979). None
    where it is 0/0: no variance at all, one case, or no repeats.
    """
    kept = graded > 0
    k, n = graded[kept].astype(np.float64), int(kept.sum())
    cells = float(k.sum())
    if n < 2 or cells <= n:
        return None
    shares = hits[kept] / k
    grand = float(hits[kept].sum()) / cells
    between = float((k * (shares - grand) ** 2).sum()) / (n - 1)
    within = float((k * shares * (1 - shares)).sum()) / (cells - n)
    typical = (cells - float((k**2).sum()) / cells) / (n - 1)
    total = between + (typical - 1) * within
    return (between - within) / total if total > 0 else None


def flip_share(hits: Ints, graded: Ints) -> float | None:
    """The share of cases that fall in the bucket in some repeats and not in others; None where no case has two."""
    kept = graded > 1
    return float(((hits[kept] > 0) & (hits[kept] < graded[kept])).mean()) if kept.any() else None


class Drift(NamedTuple):
    """Cochran's Q over the passes of one model in one bucket."""

    q: float
    passes: int
    # Cases with an answer in the bucket in some passes and not in others: all that Q rests on.
    informative: int
    # P(Q ≥ q): small, and the passes differ by more than the noise within cases, so the run did not stand still.
    p_high: float
    # P(Q ≤ q): small, and they differ by less than they should, as repeats from a cache do.
    p_low: float


def drift(member: Bools) -> Drift | None:
    """Whether the passes of `member` (cases, passes) agree as far as chance lets them.

    `member`: whether the answer fell in the bucket; only cases that are graded in every pass. None, not estimable, with
    fewer than two passes or where no case has an answer both in and out of the bucket. Q against chi-squared with
    K − 1 degrees of freedom. Source: Cochran 1950.
    """
    k = member.shape[1] if member.ndim == 2 else 0
    rows = member.sum(axis=1) if k else np.zeros(0)
    informative = int(((rows > 0) & (rows < k)).sum())
    if k < 2 or not informative:
        return None
    columns, total = np.asarray(member.sum(axis=0)), int(rows.sum())
    q = (k - 1) * (k * float((columns**2).sum()) - total**2) / (k * total - float((rows**2).sum()))
    upper = chi2_upper(q, k - 1)
    return Drift(q, k, informative, upper, 1 - upper)


def identical_repeats(outcomes: Outcomes) -> bool:
    """Whether every case gave one and the same outcome in all its graded repeats, of which some case has two or more.

    `outcomes` (cases, repeats), below 0 where ungraded. At a temperature above 0 that smells of a cache.
    """
    graded = outcomes >= 0
    high = np.where(graded, outcomes, -1).max(axis=1, initial=-1)
    low = np.where(graded, outcomes, 127).min(axis=1, initial=127)
    several = graded.sum(axis=1) > 1
    return bool(several.any()) and bool(np.all((high == low) | ~several))


class Flaky(NamedTuple):
    """A case that one model answers now this way and now that."""

    model: int
    case: int
    # By bucket: how many of the repeats.
    counts: tuple[int, ...]


def flaky(hits: Ints) -> list[Flaky]:
    """The cases with more than one outcome over their repeats, by model; `hits` (models, cases, buckets)."""
    models, cases = np.nonzero((hits > 0).sum(axis=2) > 1)
    places = zip(models.tolist(), cases.tolist(), strict=True)
    return [Flaky(model, case, tuple(hits[model, case].tolist())) for model, case in places]


def unanimous(hits: Ints, graded: Ints, failures: Sequence[int]) -> list[tuple[int, int]]:
    """(case, bucket) where every graded answer of every model fell in one bucket of `failures`: look at the case first.

    `hits` (models, cases, buckets), `graded` (models, cases). Every model must have an answer to it.
    """
    answered = np.asarray((graded > 0).all(axis=0))
    everywhere = (hits == graded[:, :, None]).all(axis=0) & answered[:, None]
    cases, buckets = np.nonzero(everywhere)
    pairs = zip(cases.tolist(), buckets.tolist(), strict=True)
    return [(case, bucket) for case, bucket in pairs if bucket in failures]
