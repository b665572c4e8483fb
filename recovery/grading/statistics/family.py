"""Many comparisons at once: what a p-value is worth among its family.

May import: `grading.statistics.arrays`, `grading.statistics.resampling`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import Bools, Floats, Ints, family_sums
from .resampling import RESAMPLES, flip_test


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values (1979), in the order given: the chance of one false finding or more stays below α."""
    order = sorted(range(len(p)), key=lambda place: p[place])
    adjusted, highest = [0.0] * len(p), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = highest
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's (1995) adjusted p-values: for tables to explore, never for a verdict."""
    order = sorted(range(len(p)), key=lambda place: p[place], reverse=True)
    adjusted, lowest = [0.0] * len(p), 1.0
    for rank, place in enumerate(order):
        lowest = min(lowest, p[place] * len(p) / (len(p) - rank))
        adjusted[place] = lowest
    return adjusted


def largest_t(
    differences: Floats,
    labels: Ints | None = None,
    *,
    counted: Bools | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[float | None]:
    """Adjusted p of one pair of models, by bucket: against the largest |t| of all buckets under flips of families.

    `differences` (cases, buckets): A − B of the shares; `counted` (cases, buckets): whether the case is one of the
    bucket's (eligible, and graded for both). It keeps what binds the buckets: they sum to 1. None for a bucket in which
    nothing differs on any case or with fewer than two families: it is no part of the family. Source: Westfall and
    Young 1993, single step.
    """
    counted = np.ones(differences.shape, dtype=bool) if counted is None else counted
    sums = family_sums(np.where(counted, differences, 0.0).T, labels).T
    sizes = family_sums(counted.astype(np.float64).T, labels).T
    tested = np.flatnonzero(((sizes > 0).sum(axis=0) > 1) & np.where(counted, differences, 0.0).any(axis=0))
    adjusted: list[float | None] = [None] * differences.shape[1]
    if len(tested):
        p = flip_test(sums[:, tested], sizes[:, tested], resamples=resamples, seed=seed)
        for place, value in zip(tested.tolist(), p.tolist(), strict=True):
            adjusted[place] = value
    return adjusted
