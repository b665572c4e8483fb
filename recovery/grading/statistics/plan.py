"""How many cases and repeats a difference takes, and the smallest that a design can see.

Variances are of shares (0 to 1). `spread`: ω², the variance over cases of the true difference of two models;
`noise`: σ², the mean variance of one answer within its case. The defaults are those of cases whose difficulty is
uniform (Miller 2024). May import: `grading.statistics.quantiles`.
"""

from __future__ import annotations

import math
from typing import Final

from .quantiles import normal_quantile

SPREAD: Final = 1 / 9
NOISE: Final = 1 / 6


def variance(spread: float, noises: tuple[float, ...], repeats: int) -> float:
    """The variance of one case's mean (one noise) or difference of means (two): ω² + Σ σ²/K."""
    if repeats < 1:
        raise ValueError(f"repeats must be 1 or more, not {repeats}")
    return spread + sum(noise / repeats for noise in noises)


def cases_wanted(
    difference: float,
    repeats: int,
    *,
    spread: float = SPREAD,
    noises: tuple[float, float] = (NOISE, NOISE),
    alpha: float = 0.05,
    power: float = 0.80,
    tests: int = 1,
) -> float:
    """The cases that a paired difference of this size takes, before rounding up: (z_{1−α/2L} + z_power)² · var / δ².

    `difference`: a share above 0; `tests`: L, how many comparisons share α (the worst step of Holm).
    """
    if difference <= 0:
        raise ValueError(f"the difference must be above 0, not {difference}")
    return _reach(alpha, power, tests) ** 2 * variance(spread, noises, repeats) / difference**2


def smallest_difference(
    cases: int,
    repeats: int,
    *,
    spread: float = SPREAD,
    noises: tuple[float, float] = (NOISE, NOISE),
    alpha: float = 0.05,
    power: float = 0.80,
    tests: int = 1,
) -> float | None:
    """The smallest paired difference that the design sees with this power: (z + z) · √(var / n), a share.

    None, not estimable, where all variances are 0: then the answers at hand say nothing of how much they vary.
    """
    if cases < 1:
        raise ValueError(f"cases must be 1 or more, not {cases}")
    total = variance(spread, noises, repeats)
    return None if total <= 0 else _reach(alpha, power, tests) * math.sqrt(total / cases)


def best_repeats(
    case_cost: float, call_cost: float, *, spread: float = SPREAD, noises: tuple[float, float] = (NOISE, NOISE)
) -> float:
    """The repeats that give the smallest error for a budget, before rounding: √((c_case/c_call) · (σ²_A + σ²_B)/ω²).

    `case_cost`: of writing one more case; `call_cost`: of one more answer of each of the two models. Infinite where
    the cases do not differ. Source: the optimum of two-stage sampling (Cochran 1977, 10.6).
    """
    if case_cost < 0 or call_cost <= 0:
        raise ValueError("a case must cost 0 or more, and a call more than 0")
    return math.inf if spread <= 0 else math.sqrt(case_cost / call_cost * sum(noises) / spread)


def calls(cases: int, models: int, repeats: int) -> int:
    """How many calls the design makes, retries apart."""
    return cases * models * repeats


def _reach(alpha: float, power: float, tests: int) -> float:
    return normal_quantile(1 - alpha / (2 * tests)) + normal_quantile(power)
