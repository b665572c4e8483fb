"""The figures that a report needs of the statistics: the one place where the report asks for them.

May import: nothing of the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_FLIPS: Final = 9_999


class Interval(NamedTuple):
    value: float
    low: float
    high: float


class Paired(NamedTuple):
    cases: int
    value: float
    low: float
    high: float
    floor: float | None
    smallest_visible: float | None
    # By case that both have graded; the rest is NaN.
    by_case: Floats


def quantile_t(share: float, df: int) -> float:
    z = NormalDist().inv_cdf(share)
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + g1 / df + g2 / df**2 + g3 / df**3


def rate(hits: Floats, level: float) -> Interval | None:
    """Mean over cases of `hits` (cases × repeats, NaN where ungraded), Wilson interval on the effective size."""
    means = _means(hits)
    means = means[~np.isnan(means)]
    n = len(means)
    if n == 0:
        return None
    p = float(means.mean())
    if n == 1:
        return Interval(p, 0.0, 1.0)
    se = float(means.std(ddof=1)) / n**0.5
    size = n if se == 0 else min(float(np.count_nonzero(~np.isnan(hits))), max(1.0, p * (1 - p) / se**2))
    z = quantile_t(0.5 + level / 2, n - 1)
    centre = (p + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * (p * (1 - p) / size + z * z / (4 * size * size)) ** 0.5
    return Interval(p, max(0.0, centre - half), min(1.0, centre + half))


def rerun_floor(hits: Sequence[Floats], level: float) -> float | None:
    """How far the means of two runs (or one run and a fixed number, of one array) differ by run-to-run noise alone."""
    total = 0.0
    for one in hits:
        sizes = np.count_nonzero(~np.isnan(one), axis=1)
        if not (sizes >= 2).any():
            return None
        p, k = _means(one)[sizes >= 2], sizes[sizes >= 2]
        total += float((p * (1 - p) / (k - 1)).mean()) / int(np.count_nonzero(sizes))
    return NormalDist().inv_cdf(0.5 + level / 2) * total**0.5


def paired(one: Floats, other: Floats, level: float, alpha: float, tests: int) -> Paired | None:
    """One less other on the cases that both have graded; None where there is none."""
    by_case = _means(one) - _means(other)
    found = by_case[~np.isnan(by_case)]
    n = len(found)
    if n == 0:
        return None
    both = ~np.isnan(by_case)
    value = float(found.mean())
    se = float(found.std(ddof=1)) / n**0.5 if n > 1 else float("nan")
    half = quantile_t(0.5 + level / 2, n - 1) * se if n > 1 else float("nan")
    seen = NormalDist().inv_cdf(1 - alpha / max(tests, 1) / 2) + NormalDist().inv_cdf(0.8)
    floor = rerun_floor([one[both], other[both]], level)
    return Paired(n, value, value - half, value + half, floor, seen * se if se > 0 else None, by_case)


def family(pairs: Sequence[Sequence[Paired | None]]) -> list[list[float | None]]:
    """Adjusted p by pair of models and outcome: max |t| by sign flips within a pair, Holm over the pairs.

    None where there is nothing to test: no cases, or no difference on any of them.
    """
    rng = np.random.default_rng(8)
    raw = [_max_t(pair, rng) for pair in pairs]
    order = sorted(range(len(raw)), key=lambda at: min((p for p in raw[at] if p is not None), default=1.0))
    adjusted: list[list[float | None]] = [[] for _ in raw]
    for rank, at in enumerate(order):
        adjusted[at] = [None if p is None else min(1.0, p * (len(raw) - rank)) for p in raw[at]]
    return adjusted


def _max_t(pair: Sequence[Paired | None], rng: np.random.Generator) -> list[float | None]:
    live = [at for at, one in enumerate(pair) if one is not None and one.cases > 1 and np.nanmax(abs(one.by_case)) > 0]
    result: list[float | None] = [None] * len(pair)
    if not live:
        return result
    table = np.array([one.by_case for at in live if (one := pair[at]) is not None])
    signs = rng.choice(np.array([-1.0, 1.0]), size=(_FLIPS, table.shape[1]))
    filled, counts = np.nan_to_num(table), np.count_nonzero(~np.isnan(table), axis=1)
    squares = (filled**2).sum(axis=1)

    def t_of(sums: Floats) -> Floats:
        left = np.maximum(squares - sums**2 / counts, 1e-12)
        return np.abs(sums) / np.sqrt(counts * left / (counts - 1))

    seen, drawn = t_of(filled.sum(axis=1)), t_of(signs @ filled.T).max(axis=1)
    for at, t in zip(live, seen, strict=True):
        result[at] = float((np.count_nonzero(drawn >= t - 1e-9) + 1) / (_FLIPS + 1))
    return result


def _means(hits: Floats) -> Floats:
    sizes = np.count_nonzero(~np.isnan(hits), axis=1)
    sums = np.nansum(hits, axis=1)
    return np.divide(sums, sizes, out=np.full(len(hits), np.nan), where=sizes > 0)
