"""Tails and quantiles, held against the contract's values and against scipy."""

from __future__ import annotations

import math

import pytest

from recovery.grading.statistics.quantiles import (
    beta_cdf,
    binomial_upper,
    chi2_upper,
    clopper_pearson,
    normal_quantile,
    t_quantile,
    t_upper,
)


@pytest.mark.parametrize(
    ("df", "expected"),
    [
        (1, 12.706204736),
        (2, 4.302652730),
        (4, 2.776445105),
        (9, 2.262157163),
        (10, 2.228138852),
        (30, 2.042272456),
        (1000, 1.962339081),
    ],
)
def test_the_quantiles_of_t_that_inspect_tests(df: int, expected: float) -> None:
    assert t_quantile(0.975, df) == pytest.approx(expected, abs=1e-8)
    assert t_quantile(0.025, df) == -t_quantile(0.975, df)


def test_with_one_case_nothing_is_known() -> None:
    assert t_quantile(0.975, 0) == math.inf


def test_the_median_is_0() -> None:
    assert t_quantile(0.5, 7) == pytest.approx(0, abs=1e-12)
    assert t_upper(0.0, 7) == 0.5


def test_shares_of_independent_draws() -> None:
    assert clopper_pearson(0, 30) == pytest.approx((0.0, 0.115703), abs=5e-7)
    assert clopper_pearson(0, 30, level=0.90)[1] == pytest.approx(0.095034, abs=5e-7)
    assert clopper_pearson(30, 30)[1] == 1.0
    assert binomial_upper(3, 15, 0.1) == pytest.approx(0.1840610691, abs=1e-10)
    assert binomial_upper(0, 15, 0.1) == 1.0


@pytest.mark.parametrize("df", [1, 2, 3, 7, 11, 49, 199, 5000])
def test_t_is_what_scipy_says(df: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    for p in (0.5001, 0.6, 0.9, 0.95, 0.975, 0.995, 0.99999):
        assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-9)
    for t in (-40.0, -3.0, -0.1, 0.2, 1.0, 2.5, 9.0, 60.0):
        assert t_upper(t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-9, abs=1e-300)
    assert t_upper(math.inf, df) == 0.0
    assert t_upper(-math.inf, df) == 1.0


@pytest.mark.parametrize("df", [1, 2, 4, 9])
def test_chi_squared_is_what_scipy_says(df: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    for x in (0.0, 0.01, 0.5, 1.0, 3.0, 8.0, 20.0, 80.0, 300.0):
        assert chi2_upper(x, df) == pytest.approx(stats.chi2.sf(x, df), rel=1e-9)


def test_the_rest_is_what_scipy_says() -> None:
    stats = pytest.importorskip("scipy.stats")
    special = pytest.importorskip("scipy.special")
    for a, b, x in [(0.5, 0.5, 0.3), (2, 7, 0.9), (40, 0.5, 0.2), (300, 200, 0.61), (1, 1, 0.25)]:
        assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-10)
    assert (beta_cdf(-1, 2, 2), beta_cdf(2, 2, 2)) == (0.0, 1.0)
    for p in (0.01, 0.5, 0.8, 0.975):
        assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), abs=1e-12)
    for hits, trials in [(1, 10), (5, 12), (29, 30), (200, 1000)]:
        low, high = stats.binomtest(hits, trials).proportion_ci(0.95, method="exact")
        assert clopper_pearson(hits, trials) == pytest.approx((low, high), abs=1e-9)
