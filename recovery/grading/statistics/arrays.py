"""The arrays that the statistics work on: counts by case, and sums over the cases of one family.

May import: nothing of the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
# The number of the bucket, or below 0 for an ungraded cell.
Outcomes = NDArray[np.integer]


class Counts(NamedTuple):
    """What was seen, by case; all else is derived from it."""

    # (models, cases, buckets): how many graded repeats fell in the bucket.
    hits: Ints
    # (models, cases): how many repeats were graded.
    graded: Ints


def count(outcomes: Outcomes, buckets: int = 6) -> Counts:
    """The counts of `outcomes` (models, cases, repeats): the number of the bucket, or below 0 for an ungraded cell."""
    hits = np.stack([(outcomes == bucket).sum(axis=-1) for bucket in range(buckets)], axis=-1)
    return Counts(hits.astype(np.int64), (outcomes >= 0).sum(axis=-1).astype(np.int64))


def families(clusters: Sequence[object]) -> Ints:
    """(cases,): the number of each case's family, from 0. A missing id raises `ValueError`: it is no family of its own.

    That two cases without an id belong together is as wrong as that they don't.
    """
    for place, name in enumerate(clusters):
        if name is None or name == "" or name != name:  # noqa: PLR0124 (nan)
            raise ValueError(f"case {place} has no cluster: give it one, its own id by default")
    return np.unique(np.asarray([str(name) for name in clusters]), return_inverse=True)[1].astype(np.int64)


def family_sums(values: Floats, labels: Ints | None) -> Floats:
    """Sums over the cases of each family: (…, cases) → (…, families). Without labels each case is its own family."""
    if labels is None:
        return values
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    return np.asarray(np.add.reduceat(values[..., order], starts, axis=-1), dtype=np.float64)


def mean_and_error(values: Floats, labels: Ints | None = None) -> tuple[Floats, Floats, int]:
    """Mean, its standard error clustered by family, and the number of families, over the last axis (cases ≥ 1).

    √(C/(C−1) · Σ_c (Σ_{i∈c} (x_i − x̄))²) / n: with every case its own family, sd(x, ddof=1)/√n. One family: NaN.
    Source: Miller 2024, "Adding error bars to evals", with the small-sample factor (statsmodels `use_correction`).
    """
    n = values.shape[-1]
    mean = values.mean(axis=-1)
    # Thirds that cancel leave 1e-18.
    mean = np.asarray(np.where(np.abs(mean) < 1e-14, 0.0, mean), dtype=np.float64)
    sums = family_sums(values - mean[..., None], labels)
    number = sums.shape[-1]
    if number < 2:
        return mean, np.full_like(mean, np.nan), number
    # Rounding leaves 1e-17 where every value is the same, and a t of 1e16 behind it.
    squares = (sums**2).sum(axis=-1)
    squares = np.where(squares < 1e-24 * n, 0.0, squares)
    return mean, np.sqrt(number / (number - 1) * squares) / n, number
