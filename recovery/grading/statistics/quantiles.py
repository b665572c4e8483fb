"""Tails and quantiles of the normal, t, chi-squared and binomial distributions, in plain Python.

May import: nothing of the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import Final

_TINY: Final = 1e-300
_STEPS: Final = 100_000
_NORMAL: Final = NormalDist()


def normal_quantile(p: float) -> float:
    """The standard normal quantile of `p` in (0, 1)."""
    return _NORMAL.inv_cdf(p)


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for a, b > 0 (continued fraction, DLMF 8.17.22)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_cdf(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a

    def term(step: int) -> float:
        half = step // 2
        if step % 2:
            return -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        return half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))

    return front / _fraction(1.0, term, lambda _: 1.0)


def _fraction(first: float, above: Callable[[int], float], below: Callable[[int], float]) -> float:
    """The continued fraction first + above(1)/(below(1) + above(2)/(below(2) + …)), by Lentz's method."""
    value, c, d = first or _TINY, first or _TINY, 0.0
    for step in range(1, _STEPS):
        over, under = above(step), below(step)
        d = under + over * d
        c = under + over / c
        d = 1 / (d or _TINY)
        c = c or _TINY
        change = c * d
        value *= change
        if abs(change - 1) < 1e-16:
            break
    return value


@lru_cache(maxsize=65536)
def t_upper(t: float, df: float) -> float:
    """P(T ≥ t) of Student's t with `df` > 0 degrees of freedom (DLMF 8.17: half of I_{df/(df+t²)}(df/2, 1/2))."""
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    half = beta_cdf(df / (df + t * t), df / 2, 0.5) / 2
    return half if t >= 0 else 1 - half


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The quantile of `p` in (0, 1) of Student's t; infinite (by the sign) where df < 1: nothing is known then."""
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if df < 1:
        return math.inf
    return _root(lambda t: 1 - p - t_upper(t, df), 0.0, 1.0)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses 0, by bisection; `high` is doubled until it is past the place."""
    while rising(high) < 0:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def chi2_upper(x: float, df: float) -> float:
    """P(X ≥ x) of chi-squared with `df` > 0 (the regularised incomplete gamma function, DLMF 8.7.1 and 8.9.2)."""
    a, x = df / 2, x / 2
    if x <= 0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        total = part = 1 / a
        for step in range(1, _STEPS):
            part *= x / (a + step)
            total += part
            if part < total * 1e-17:
                break
        return 1 - front * total
    return front / _fraction(x + 1 - a, lambda n: -n * (n - a), lambda n: x + 2 * n + 1 - a)


def binomial_upper(successes: int, trials: int, p: float) -> float:
    """P(X ≥ successes) of `trials` draws of chance `p`."""
    return 1.0 if successes <= 0 else beta_cdf(p, successes, trials - successes + 1)


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """The exact two-sided interval of a share of independent draws (Clopper and Pearson 1934)."""
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else _root(lambda p: binomial_upper(successes, trials, p) - tail, 0.0, 1.0)
    high = 1.0
    if successes < trials:
        high = _root(lambda p: binomial_upper(successes + 1, trials, p) - (1 - tail), 0.0, 1.0)
    return low, high
