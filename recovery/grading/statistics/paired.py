"""The difference of two models on the same cases: its error, its p-value, and whether it is shown to be small.

May import: `grading.statistics.arrays`, `grading.statistics.quantiles`, `grading.statistics.rates`,
`grading.statistics.resampling`.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints, family_sums, mean_and_error
from .quantiles import binomial_upper, t_quantile, t_upper
from .rates import carriers, effective_size, wilson
from .resampling import RESAMPLES, flip_test

# Of equal numbers the mean may be off by so much, and then the error is not nought.
_ROUNDING: Final = 1e-12


class Difference(NamedTuple):
    """A − B in one bucket, as shares of 1, over the cases that both models have graded answers to."""

    estimate: float
    # Clustered by family; None with one family alone, and then `low` and `high` are −1 and 1.
    error: float | None
    low: float
    high: float
    cases: int
    families: int
    # The cases' numbers that fell out, since one of the two models has no graded answer.
    dropped: tuple[int, ...]
    # Mean variance of one answer within its case, by model (σ²_A, σ²_B); None where no case has two graded repeats.
    noises: tuple[float | None, float | None]
    # Variance over cases of the true difference (ω²); 0 and `truncated` where the estimate came out negative.
    spread: float | None
    truncated: bool
    # Where the two are identical on every case: the exact one-sided bound of the share of cases that could differ.
    identical_bound: float | None
    level: float

    @property
    def t(self) -> float | None:
        """The t statistic; None where there is no error, or it is 0."""
        return self.estimate / self.error if self.error else None

    @property
    def p_t(self) -> float | None:
        """Two-sided p of t with families − 1 degrees of freedom: beside the exact one, never instead of it."""
        return None if self.t is None else 2 * t_upper(abs(self.t), self.families - 1)


def difference(
    hits: Ints, graded: Ints, labels: Ints | None = None, *, eligible: Bools | None = None, level: float = 0.95
) -> Difference | None:
    """The paired difference of two models in one bucket, or None where no case is graded for both.

    `hits`, `graded` (2, cases); `labels`, `eligible` (cases,). d_i is the difference of the case's two shares; the
    interval is t's with families − 1 degrees of freedom; where no case differs from another it is not nought wide, but
    as wide as the cases that could be otherwise make it. ω̂² = s²_d − σ̂²_A/K_A − σ̂²_B/K_B, with the harmonic mean of
    the repeats where they are unequal. Source: Miller 2024.
    """
    wanted = np.ones(hits.shape[-1], dtype=bool) if eligible is None else eligible
    kept = wanted & (graded > 0).all(axis=0)
    dropped = tuple(np.flatnonzero(wanted & ~kept).tolist())
    if not kept.any():
        return None
    labels = None if labels is None else labels[kept]
    hits, graded = hits[:, kept], graded[:, kept]
    d = hits[0] / graded[0] - hits[1] / graded[1]
    mean, error, number = mean_and_error(d, labels)
    noises = (within_variance(hits[0], graded[0]), within_variance(hits[1], graded[1]))
    spread = None
    if len(d) > 1 and noises[0] is not None and noises[1] is not None:
        shares = zip(noises, (1 / graded).mean(axis=1), strict=True)
        spread = float(d.var(ddof=1)) - sum((noise or 0.0) * float(inverse) for noise, inverse in shares)
    # Where all cases say the same: of so many at most could others say something else, and that could be ±1.
    others = 1 - (1 - level) ** (1 / number)
    if number < 2:
        low, high = -1.0, 1.0
    elif error < _ROUNDING:
        low, high = float(mean) - others * (1 + float(mean)), float(mean) + others * (1 - float(mean))
    else:
        reach = t_quantile((1 + level) / 2, number - 1) * float(error)
        low, high = max(-1.0, float(mean) - reach), min(1.0, float(mean) + reach)
    return Difference(
        estimate=float(mean),
        error=None if number < 2 else float(error),
        low=low,
        high=high,
        cases=len(d),
        families=number,
        dropped=dropped,
        noises=noises,
        spread=None if spread is None else max(0.0, spread),
        truncated=spread is not None and spread < 0,
        identical_bound=None if d.any() else others,
        level=level,
    )


def within_variance(hits: Ints, graded: Ints) -> float | None:
    """σ̂²_w, the mean variance of one answer within its case: mean of K/(K−1) · p̂_i(1−p̂_i).

    `hits`, `graded` (cases,). Over the cases with two graded repeats or more; None where there is none: unknown, not 0.
    """
    kept = graded > 1
    if not kept.any():
        return None
    shares = hits[kept] / graded[kept]
    return float((graded[kept] / (graded[kept] - 1) * shares * (1 - shares)).mean())


def sign_flip(
    differences: Floats, labels: Ints | None = None, *, resamples: int = RESAMPLES, seed: int = 0
) -> float | None:
    """Two-sided p of d_i (cases,) by swapping the two models' labels within a family; None with fewer than two.

    Exact where 15 families or fewer differ, else Monte Carlo, (b+1)/(B+1). Source: Fisher 1935; Phipson and Smyth 2010.
    """
    sums = family_sums(differences, labels)
    if sums.shape[-1] < 2:
        return None
    sizes = family_sums(np.ones_like(differences), labels)
    return float(flip_test(sums[:, None], sizes[:, None], resamples=resamples, seed=seed, studentise=False)[0])


def equivalence(
    differences: Floats, margin: float, labels: Ints | None = None, *, alpha: float = 0.05
) -> tuple[float | None, bool]:
    """Whether d (cases,) is shown to lie within ±margin: the p-value of two one-sided t tests, and the finding.

    The p is Schuirmann's (1987). Where few cases differ at all t is too sure of itself: of 30 cases of which one in ten
    differs by 1, a true difference of 0.10, one time in five one case or none differs, and p < 0.05. So the finding
    asks for more: `difference_bounds` of level 1 − 2α must lie within ±margin too, and where no case differs, the
    exact bound of the share that could. None with one family.
    """
    if not 0 < margin < 1:
        raise ValueError(f"the margin must lie between 0 and 1, not {margin}")
    mean, error, number = mean_and_error(differences, labels)
    if number < 2:
        return None, False
    if not error:
        low_p = high_p = 0.0 if abs(mean) < margin else 1.0
    else:
        low_p = t_upper(float((mean + margin) / error), number - 1)
        high_p = t_upper(float((margin - mean) / error), number - 1)
    p = max(low_p, high_p)
    if not differences.any() and 1 - alpha ** (1 / number) >= margin:
        return p, False
    low, high = difference_bounds(differences, labels, level=1 - 2 * alpha)
    return p, p < alpha and -margin < low and high < margin


def difference_bounds(differences: Floats, labels: Ints | None = None, *, level: float = 0.90) -> tuple[float, float]:
    """An interval of the mean of d (cases,) that stays honest where few cases differ.

    Gains (the positive parts of d) and losses are rates of their own with Wilson bounds on an effective number of
    cases; the two are joined by the method of variance estimates recovery (Newcombe 1998; Zou and Donner 2008).
    """
    bounds = []
    for part in (np.maximum(differences, 0.0), np.maximum(-differences, 0.0)):
        mean, error, number = mean_and_error(part, labels)
        size = effective_size(mean, error, len(part), number, carriers(part, labels))
        bounds.append((float(mean), *map(float, wilson(mean, size, t_quantile((1 + level) / 2, number - 1)))))
    (gain, gain_low, gain_high), (loss, loss_low, loss_high) = bounds
    middle = gain - loss
    return (
        middle - math.hypot(gain - gain_low, loss_high - loss),
        middle + math.hypot(gain_high - gain, loss - loss_low),
    )


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact two-sided p where each case has one answer a model: the cases that only A, and only B, has in the bucket.

    Source: McNemar 1947, exact binomial form. For one repeat alone: repeats of a case are not independent.
    """
    if only_a + only_b == 0:
        return 1.0
    return min(1.0, 2 * binomial_upper(max(only_a, only_b), only_a + only_b, 0.5))
