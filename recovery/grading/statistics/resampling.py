"""Tests by permutation and the bootstrap: swapping labels within a family of cases, drawing families anew.

May import: `grading.statistics.arrays`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from .arrays import Floats

# With the 9,999 of Monte Carlo a p-value of 0.05 is known to 0.004.
RESAMPLES: Final = 9999
# So many families, and every one of their 2^15 flips is taken into account.
_EXACT: Final = 15
# Numbers held at a time.
_BATCH: Final = 2_000_000
# Statistics that are equal but for rounding are ties.
_TIE: Final = 1 - 1e-9
# Shares are whole numbers of repeats: what is less than this is the rounding of a sum that is 0.
_NOTHING: Final = 1e-9


def flip_test(
    sums: Floats, sizes: Floats, *, resamples: int = RESAMPLES, seed: int = 0, studentise: bool = True
) -> Floats:
    """The p of each column by flipping the signs of whole families, against the largest statistic of all columns.

    `sums`, `sizes` (families, columns): a family's sum of differences, and its number of cases in that column. The
    statistic is |t|, or |sum| without `studentise` (for a column alone the two give the same p). A column without a
    difference has p = 1. Exact where `_EXACT` families or fewer differ. Source: Westfall and Young 1993, single step.
    """
    differing = sums.any(axis=1)
    squares, counts = (sums**2).sum(axis=0), (sizes**2).sum(axis=0)
    cases, families = sizes.sum(axis=0), (sizes > 0).sum(axis=0)
    live = sums[differing]
    crossing = live * sizes[differing] if studentise and np.any(sizes > 1) else None

    def statistic(signs: Floats) -> Floats:
        totals = signs @ live
        totals[np.abs(totals) < _NOTHING] = 0.0
        if not studentise:
            return np.abs(totals)
        cross = totals if crossing is None else signs @ crossing
        return t_squared(totals, cross, squares, counts, cases, families)

    observed = statistic(np.ones((1, len(live))))[0] * _TIE
    found, drawn = np.zeros(sums.shape[1]), 0
    exact = len(live) <= _EXACT
    for signs in _all_signs(len(live)) if exact else _drawn_signs(len(live), resamples, seed):
        found += (statistic(signs).max(axis=1)[:, None] >= observed).sum(axis=0)
        drawn += len(signs)
    return np.asarray(found / drawn if exact else (found + 1) / (drawn + 1), dtype=np.float64)


def t_squared(
    totals: Floats, cross: Floats, squares: Floats, counts: Floats, cases: Floats, families: Floats
) -> Floats:
    """t² of sums of differences with an error clustered by family, elementwise: infinite where the error is 0.

    `totals`: Σ D_c; `cross`: Σ D_c n_c; `squares`: Σ D_c²; `counts`: Σ n_c²; `cases`: Σ n_c, with D_c the sum of the
    differences of family c and n_c its cases.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = totals / cases
        left = squares - 2 * mean * cross + mean**2 * counts
        variance = np.where(left > 1e-12 * squares, left, 0.0) * families / (families - 1)
        return np.asarray(np.where(totals == 0, 0.0, totals**2 / variance), dtype=np.float64)


def _all_signs(number: int) -> Iterator[Floats]:
    # The statistic is the same for the opposite signs: the last one may stand.
    bits = (np.arange(2 ** max(0, number - 1))[:, None] >> np.arange(number)) & 1
    yield np.asarray(1.0 - 2.0 * bits, dtype=np.float64)


def _drawn_signs(number: int, resamples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    for rows in _batches(resamples, number):
        bits = np.unpackbits(np.frombuffer(rng.bytes((rows * number + 7) // 8), np.uint8), count=rows * number)
        yield np.asarray(1.0 - 2.0 * bits.reshape(rows, number), dtype=np.float64)


def _batches(resamples: int, width: int) -> Iterator[int]:
    size = max(1, _BATCH // max(1, width))
    for done in range(0, resamples, size):
        yield min(size, resamples - done)


def label_test(sums: Floats, sizes: Floats, *, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """The p of the largest |t| over the pairs of models, by permuting the models' labels within each family.

    `sums` (models, families): a model's sum of shares over the family's cases; `sizes` (families,): its cases. Monte
    Carlo, (b+1)/(B+1). It asks whether the models differ at all; which of them do is for the pairs' own tests.
    """
    models = len(sums)
    pairs = np.triu_indices(models, 1)
    differing = (sums != sums[0]).any(axis=0)
    if not differing.any():
        return 1.0
    live, weights = sums[:, differing], sizes[differing]
    cases, counts, families = (np.asarray(number) for number in (sizes.sum(), (sizes**2).sum(), float(len(sizes))))

    def statistic(shown: Floats) -> Floats:  # (rows, models, families)
        totals, cross = shown.sum(axis=2), shown @ weights
        products = shown @ shown.transpose(0, 2, 1)
        own = np.diagonal(products, axis1=1, axis2=2)
        first, second = pairs
        squares = own[:, first] + own[:, second] - 2 * products[:, first, second]
        apart = (totals[:, first] - totals[:, second], cross[:, first] - cross[:, second], np.maximum(squares, 0.0))
        return np.asarray(t_squared(*apart, counts, cases, families).max(axis=1), dtype=np.float64)

    observed = statistic(live[None])[0] * _TIE
    rng = np.random.default_rng(seed)
    table = np.array(list(itertools.permutations(range(models)))) if models <= 6 else None
    found = 0
    for rows in _batches(resamples, live.size):
        if table is None:
            order = rng.random((rows, live.shape[1], models)).argsort(axis=2)
        else:
            order = table[rng.integers(0, math.factorial(models), (rows, live.shape[1]))]
        shown = np.take_along_axis(live[None], order.transpose(0, 2, 1), axis=1)
        found += int((statistic(shown) >= observed).sum())
    return (found + 1) / (resamples + 1)


def lead(shares: Floats, sizes: Floats, *, alpha: float = 0.05, resamples: int = 2000, seed: int = 0) -> Floats:
    """For each bucket the simultaneous lower bound of its lead over every other, (buckets,), by drawing families anew.

    `shares` (families, buckets): sums over a family's cases of the share in the bucket; `sizes` (families,). A
    bucket's bound is the least of its leads less q times their errors, q being the 1 − α quantile of the largest
    studentised error over all ordered pairs: so it holds for the bucket that was picked as the largest. All −1 with
    fewer than two families. Source: bootstrap of simultaneous bounds (Beran 1988).
    """
    families, buckets = shares.shape
    if families < 2 or buckets < 2:
        return np.full(buckets, -1.0)
    rng = np.random.default_rng(seed)
    means = []
    for rows in _batches(resamples, families):
        places = rng.integers(0, families, (rows, families)) + families * np.arange(rows)[:, None]
        weights = np.bincount(places.ravel(), minlength=places.size).reshape(places.shape).astype(np.float64)
        means.append((weights @ shares) / (weights @ sizes)[:, None])
    drawn = np.concatenate(means)
    seen = shares.sum(axis=0) / sizes.sum()
    contrast = seen[:, None] - seen[None, :]
    centred = shares - seen * sizes[:, None]
    squares = ((centred[:, :, None] - centred[:, None, :]) ** 2).sum(axis=0)
    error = np.sqrt(families / (families - 1) * squares) / sizes.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = (drawn[:, :, None] - drawn[:, None, :] - contrast) / error
    excess[:, error == 0] = 0.0
    quantile = np.quantile(excess.reshape(resamples, -1).max(axis=1), 1 - alpha)
    bound = contrast - max(0.0, float(quantile)) * error
    np.fill_diagonal(bound, np.inf)
    return np.asarray(bound.min(axis=1), dtype=np.float64)
