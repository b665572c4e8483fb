"""Planning: the contract's values."""

from __future__ import annotations

import math

import pytest

from recovery.grading.statistics.plan import best_repeats, calls, cases_wanted, smallest_difference, variance

TABLE = {
    20: (41.8, 33.0, 29.5, 26.4, 23.8),
    50: (26.4, 20.9, 18.7, 16.7, 15.1),
    100: (18.7, 14.8, 13.2, 11.8, 10.6),
    200: (13.2, 10.4, 9.3, 8.4, 7.5),
    400: (9.3, 7.4, 6.6, 5.9, 5.3),
}


def test_the_cases_of_the_papers_headline() -> None:
    wanted = cases_wanted(0.03, 1, noises=(0.0, 0.0))
    assert wanted == pytest.approx(968.997, abs=5e-4)
    assert math.ceil(wanted) == 969
    assert math.ceil(cases_wanted(0.03, 1)) == 3876


@pytest.mark.parametrize("cases", TABLE)
def test_the_smallest_difference_of_the_table(cases: int) -> None:
    found = [smallest_difference(cases, repeats) for repeats in (1, 2, 3, 5, 10)]
    assert [round(100 * (one or 0), 1) for one in found] == pytest.approx(TABLE[cases], abs=0.0501)


def test_the_smallest_difference_of_198_cases() -> None:
    assert smallest_difference(198, 1) == pytest.approx(0.1327, abs=5e-5)
    assert smallest_difference(198, 10) == pytest.approx(0.0757, abs=5e-5)


def test_the_two_are_each_others_inverse() -> None:
    seen = smallest_difference(70, 4, spread=0.05, noises=(0.1, 0.2), alpha=0.04, power=0.9, tests=3)
    assert seen is not None
    assert cases_wanted(seen, 4, spread=0.05, noises=(0.1, 0.2), alpha=0.04, power=0.9, tests=3) == pytest.approx(70)


def test_power_is_what_statsmodels_says_of_many_cases() -> None:
    power = pytest.importorskip("statsmodels.stats.power")
    wanted = power.NormalIndPower(ddof=0).solve_power(
        0.05 / math.sqrt(variance(1 / 9, (1 / 6, 1 / 6), 3)), alpha=0.05 / 6, power=0.8, ratio=0
    )
    assert cases_wanted(0.05, 3, tests=6) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(("repeats", "less"), [(2, 1 / 3), (4, 1 / 2), (6, 5 / 9), (10**9, 2 / 3)])
def test_what_repeats_take_off_the_variance(repeats: int, less: float) -> None:
    # Uniform difficulty: 1/12 + 1/(6K).
    assert 1 - variance(1 / 12, (1 / 6,), repeats) / variance(1 / 12, (1 / 6,), 1) == pytest.approx(less)


def test_the_best_repeats_give_the_smallest_error_for_a_budget() -> None:
    best = best_repeats(8.0, 1.0)
    assert best == pytest.approx(math.sqrt(8 * 3))

    def error(repeats: float) -> float:
        cases = 1000 / (8.0 + 1.0 * repeats)
        return (1 / 9 + 1 / 3 / repeats) / cases

    assert error(best) < min(error(best * 0.99), error(best * 1.01))
    assert best_repeats(1.0, 1.0, spread=0.0) == math.inf


def test_what_varies_in_nothing_says_nothing() -> None:
    assert smallest_difference(20, 3, spread=0.0, noises=(0.0, 0.0)) is None


def test_the_number_of_calls() -> None:
    assert calls(20, 4, 3) == 240


def test_what_cannot_be_planned() -> None:
    with pytest.raises(ValueError, match="difference must be above 0"):
        cases_wanted(0.0, 3)
    with pytest.raises(ValueError, match="repeats must be 1"):
        cases_wanted(0.1, 0)
    with pytest.raises(ValueError, match="cases must be 1"):
        smallest_difference(0, 3)
    with pytest.raises(ValueError, match="must cost"):
        best_repeats(1.0, 0.0)
