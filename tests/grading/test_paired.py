"""Paired differences: the contract's values, scipy and statsmodels as oracles."""

from __future__ import annotations

import numpy as np
import pytest

from recovery.grading.statistics.arrays import count, mean_and_error
from recovery.grading.statistics.paired import (
    Difference,
    difference,
    difference_bounds,
    equivalence,
    mcnemar,
    sign_flip,
    within_variance,
)
from recovery.grading.statistics.quantiles import t_quantile, t_upper
from tests.grading.runs import fixture_one, fixture_two

TWO = count(fixture_two())
SHARES = (TWO.hits[0] - TWO.hits[1]) / 3


def pair(bucket: int) -> Difference:
    found = difference(TWO.hits[:, :, bucket], TWO.graded)
    assert found is not None
    return found


def test_the_differences_of_fixture_two() -> None:
    tool, right, none = pair(2), pair(5), pair(0)
    assert [tool.estimate, tool.error] == pytest.approx([0.111111, 0.085412], abs=5e-7)
    assert tool.t == pytest.approx(1.30089, abs=5e-6)
    assert tool.p_t == pytest.approx(0.219888, abs=5e-7)
    assert [right.estimate, right.error] == pytest.approx([-0.166667, 0.156239], abs=5e-7)
    assert right.p_t == pytest.approx(0.308943, abs=5e-7)
    assert [none.estimate, none.error] == pytest.approx([0, 0.136083], abs=5e-7)
    exact = [sign_flip(SHARES[:, bucket]) for bucket in (2, 5, 3, 4, 0)]
    assert exact == [0.5, 0.4375, 1.0, 1.0, 1.0]


def test_the_exact_p_is_what_scipy_says() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    samples = [SHARES[:, 2], SHARES[:, 5], rng.integers(-3, 4, 9) / 3, rng.normal(0.5, 1, 11)]
    for d in samples:
        found = stats.permutation_test(
            (d, np.zeros_like(d)),
            lambda a, b, axis: np.mean(a - b, axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
        )
        assert sign_flip(d) == pytest.approx(found.pvalue, abs=1e-12)


def test_monte_carlo_is_near_the_exact_p_and_never_0() -> None:
    d = np.array([-2, -1, -1, 1, 1, 1, 1, 2, 2, 2, 3, -3, 3, 1, -2, 1, 1]) / 3
    signs = 1 - 2 * ((np.arange(2 ** len(d))[:, None] >> np.arange(len(d))) & 1)
    exact = float((np.abs(signs @ d) >= abs(d.sum()) - 1e-9).mean())
    assert sign_flip(d) == pytest.approx(exact, abs=0.012)
    assert sign_flip(d) == sign_flip(d) != sign_flip(d, seed=1)
    assert sign_flip(np.ones(60)) == 1 / 10_000
    # Cases that do not differ change nothing.
    assert sign_flip(np.append(d[:15], np.zeros(30))) == sign_flip(d[:15])


def test_differences_of_whole_numbers() -> None:
    mean, error, number = mean_and_error(np.array([1.0, 2, 3, 4]))
    t = float(mean / error)
    assert t == pytest.approx(3.8729833462, abs=1e-10)
    assert 2 * t_upper(t, number - 1) == pytest.approx(0.0304662917, abs=1e-10)
    reach = t_quantile(0.975, 3) * float(error)
    assert (float(mean) - reach, float(mean) + reach) == pytest.approx((0.4457397432, 4.5542602568), abs=1e-9)
    mean, error, number = mean_and_error(np.array([2.0, 0]))
    assert (float(mean / error), number) == (1.0, 2)
    assert 2 * t_upper(1.0, 1) == pytest.approx(0.5, abs=1e-15)


def test_the_interval_of_fixture_one_against_a_model_that_is_never_right() -> None:
    hits = np.stack([fixture_one().sum(axis=1), np.zeros(50, dtype=np.int64)])
    found = difference(hits, np.full((2, 50), 4))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.3150676, 0.5249324), abs=5e-8)


def test_the_variance_of_a_difference_is_that_of_two_correlated_means() -> None:
    rng = np.random.default_rng(0)
    truth = rng.beta(1, 1, 80)
    hits = rng.binomial(4, np.stack([truth, (truth + rng.beta(1, 1, 80)) / 2]))
    found = difference(hits, np.full((2, 80), 4))
    assert found is not None
    assert found.error is not None
    (_, a, _), (_, b, _) = (mean_and_error(hits[m] / 4) for m in (0, 1))
    correlation = np.asarray(np.corrcoef(hits))[0, 1]
    assert found.error**2 == pytest.approx(a**2 + b**2 - 2 * correlation * a * b)
    # lm-eval's unpaired z throws the pairing away.
    assert found.error < np.hypot(a, b)
    # And it splits into what is between the cases and what is within them.
    assert found.spread is not None
    assert None not in found.noises
    noise = sum(found.noises) / 4  # type: ignore[arg-type]
    assert found.error**2 == pytest.approx((found.spread + noise) / 80)


def test_a_variance_below_0_is_taken_for_0_and_said() -> None:
    # Two halves of the same answers: the cases do not differ, beyond chance.
    rng = np.random.default_rng(3)
    hits = rng.binomial(2, 0.5, (2, 50))
    found = difference(hits, np.full((2, 50), 2))
    assert found is not None
    assert (found.spread, found.truncated) == (0.0, True)


def test_only_cases_graded_for_both_count_and_the_others_are_named() -> None:
    hits, graded = np.array([[1, 3, 0, 2], [0, 1, 0, 0]]), np.array([[1, 3, 0, 2], [3, 2, 3, 0]])
    found = difference(hits, graded, eligible=np.array([True, True, True, True]))
    assert found is not None
    assert (found.cases, found.dropped) == (2, (2, 3))
    assert found.estimate == pytest.approx((1 + 0.5) / 2)
    found = difference(hits, graded, eligible=np.array([True, False, True, False]))
    assert found is not None
    assert (found.cases, found.dropped) == (1, (2,))
    assert (found.error, found.low, found.high, found.t) == (None, -1.0, 1.0, None)
    assert difference(hits, graded, eligible=np.array([False, False, True, True])) is None


def test_identical_on_these_cases_is_not_0_give_or_take_0() -> None:
    found = difference(np.full((2, 30), 2), np.full((2, 30), 3))
    assert found is not None
    assert (found.estimate, found.error, found.p_t) == (0, 0, None)
    assert found.identical_bound == pytest.approx(1 - 0.05 ** (1 / 30)) == pytest.approx(0.095034, abs=5e-7)
    assert pair(1).identical_bound is not None
    assert pair(0).identical_bound is None


def test_with_one_repeat_the_noise_is_unknown() -> None:
    found = difference(np.array([[1, 0, 1], [0, 0, 1]]), np.ones((2, 3), dtype=np.int64))
    assert found is not None
    assert (found.noises, found.spread, found.truncated) == ((None, None), None, False)
    assert within_variance(np.array([1, 1]), np.array([1, 2])) == 0.5


def test_families_are_flipped_whole() -> None:
    # Ten copies of two cases are two families: nothing can be said of them with p < 0.5.
    d = np.repeat([0.5, 1.0], 10)
    assert sign_flip(d, np.repeat([0, 1], 10)) == 0.5
    assert sign_flip(d) is not None
    assert sign_flip(d) < 0.001  # type: ignore[operator]
    assert sign_flip(d, np.zeros(20, dtype=np.int64)) is None
    wide = difference(
        np.stack([np.repeat([3, 6], 10), np.zeros(20, dtype=np.int64)]), np.full((2, 20), 6), np.repeat([0, 1], 10)
    )
    assert wide is not None
    assert wide.families == 2
    assert wide.low == -1.0 or wide.high - wide.low > 1


def test_equal_rates_are_not_yet_shown_to_be_equal() -> None:
    p, equal = equivalence(SHARES[:, 0], 0.20)
    assert p == pytest.approx(0.0848, abs=5e-5)
    assert not equal


def test_two_one_sided_tests_are_what_statsmodels_says() -> None:
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    rng = np.random.default_rng(0)
    for d in (SHARES[:, 0], SHARES[:, 5], rng.normal(0.02, 0.2, 60)):
        expected = weightstats.ttost_paired(d, np.zeros_like(d), -0.2, 0.2)[0]
        assert equivalence(d, 0.20)[0] == pytest.approx(expected, abs=1e-12)


def test_what_is_equal_and_what_is_not() -> None:
    rng = np.random.default_rng(0)
    near = rng.choice([-0.2, 0.0, 0.2], 100)
    assert equivalence(near, 0.10)[1]
    assert not equivalence(near + 0.2, 0.10)[1]
    # No case differs: thirty cases bound the share that could by 0.095, twenty by 0.14.
    assert equivalence(np.zeros(30), 0.10) == (0.0, True)
    assert equivalence(np.zeros(20), 0.10) == (0.0, False)
    # One case of thirty differs: t is sure, and one run in seven with a difference of the margin looks like this.
    one = np.append(1.0, np.zeros(29))
    p, equal = equivalence(one, 0.10)
    assert p is not None
    assert p < 0.05
    assert not equal
    assert difference_bounds(one)[1] > 0.10
    assert equivalence(np.full(40, 0.5), 0.10) == (1.0, False)
    assert equivalence(np.zeros(9), 0.10, np.zeros(9, dtype=np.int64)) == (None, False)
    for margin in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match="margin"):
            equivalence(one, margin)


def test_mcnemar() -> None:
    assert mcnemar(5, 1) == pytest.approx(0.21875)
    assert mcnemar(1, 5) == mcnemar(5, 1)
    assert mcnemar(0, 0) == mcnemar(3, 3) == 1.0
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    for b, c in [(0, 4), (7, 2), (20, 9)]:
        assert mcnemar(b, c) == pytest.approx(tables.mcnemar([[0, b], [c, 0]], exact=True).pvalue)


@pytest.mark.parametrize(("hits", "low", "high"), [(3, 1 - 2 * 0.139108, 1.0), (1, 0.148, 0.426), (0, -0.139, 0.139)])
def test_cases_that_all_say_the_same_leave_room_for_others(hits: int, low: float, high: float) -> None:
    # As lm-eval#3966: an error of exactly 0 is no knowledge without end.
    found = difference(np.array([[hits] * 20, [0] * 20]), np.full((2, 20), 3))
    assert found is not None
    assert found.error == 0
    assert found.estimate == pytest.approx(hits / 3)
    assert (found.low, found.high) == pytest.approx((low, high), abs=2e-3)
