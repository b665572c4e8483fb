"""Rates, their intervals and reliability: the contract's values, statsmodels, and what went wrong elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from recovery.grading.statistics.arrays import count, families, mean_and_error
from recovery.grading.statistics.floor import flip_share, intraclass
from recovery.grading.statistics.quantiles import normal_quantile
from recovery.grading.statistics.rates import Rate, covariance, pass_at, pass_hat, rate, wilson
from tests.grading.runs import fixture_one, fixture_two

Z = normal_quantile(0.975)
RIGHT = fixture_one()
HITS, FOUR = RIGHT.sum(axis=1), np.full(50, 4)
TWO = count(fixture_two())


def known(found: Rate | None) -> Rate:
    assert found is not None
    return found


def test_fixture_one_is_what_its_recipe_says() -> None:
    assert RIGHT.mean(axis=0).tolist() == [0.42, 0.40, 0.42, 0.44]


def test_the_rate_of_fixture_one() -> None:
    found = known(rate(HITS, FOUR))
    assert found.estimate == pytest.approx(0.42)
    assert found.error == pytest.approx(0.0522161911, abs=1e-10)
    assert (found.hits, found.graded, found.cases, found.families) == (84, 200, 50, 50)
    # Without the small-sample factor, and with every answer taken for a case of its own.
    assert found.error * np.sqrt(49 / 50) == pytest.approx(0.0516913919, abs=1e-10)
    assert RIGHT.ravel().std(ddof=1) / np.sqrt(200) == pytest.approx(0.0349874349, abs=1e-10)


def test_the_clustered_error_is_what_statsmodels_says() -> None:
    api = pytest.importorskip("statsmodels.api")
    groups = np.repeat(np.arange(50), 4)
    for corrected, expected in ((True, 0.0522161911), (False, 0.0516913919)):
        fit = api.OLS(RIGHT.ravel(), np.ones(200)).fit(
            cov_type="cluster", cov_kwds={"groups": groups, "use_correction": corrected}
        )
        factor = 1.0 if corrected else np.sqrt(49 / 50)
        # statsmodels corrects by (N−1)/(N−k) too, which is 1 here.
        assert fit.bse[0] == pytest.approx(expected, abs=1e-9)
        assert known(rate(HITS, FOUR)).error * factor == pytest.approx(fit.bse[0], abs=1e-9)  # type: ignore[operator]


def test_families_one_level_up() -> None:
    values, labels = np.arange(20.0), np.arange(20) % 4
    mean, error, number = mean_and_error(values, labels)
    assert [float(mean), number] == [9.5, 4]
    assert error == pytest.approx(0.6454972244, abs=1e-10)
    assert error * np.sqrt(3 / 4) == pytest.approx(0.5590169944, abs=1e-10)


def test_families_of_unequal_size_are_what_statsmodels_says() -> None:
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(0)
    labels, hits = rng.integers(0, 9, 40), rng.binomial(3, 0.4, 40)
    fit = api.OLS(hits / 3, np.ones(40)).fit(cov_type="cluster", cov_kwds={"groups": labels})
    assert known(rate(hits, np.full(40, 3), labels)).error == pytest.approx(fit.bse[0], abs=1e-9)


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_a_case_without_a_family_is_an_error(missing: object) -> None:
    with pytest.raises(ValueError, match="case 1 has no cluster"):
        families(["a", missing, "a"])


def test_families_are_numbered() -> None:
    assert families(["b", "a", "b"]).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [
        (0, 10, 0, 0.277533),
        (0, 30, 0, 0.113513),
        (1, 10, 0.017876, 0.404150),
        (10, 20, 0.299298, 0.700702),
        (81, 263, 0.255289, 0.366210),
    ],
)
def test_wilson(hits: int, trials: int, low: float, high: float) -> None:
    found = wilson(np.array(hits / trials), np.array(float(trials)), Z)
    assert [float(bound) for bound in found] == pytest.approx([low, high], abs=5e-7)


def test_wilson_is_what_statsmodels_says() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for hits, trials in [(0, 7), (3, 7), (7, 7), (120, 900)]:
        low, high = wilson(np.array(hits / trials), np.array(float(trials)), Z)
        assert (low, high) == pytest.approx(proportion.proportion_confint(hits, trials, method="wilson"), abs=1e-9)


def test_the_rates_of_fixture_two() -> None:
    assert TWO.hits.sum(axis=1).tolist() == [[9, 0, 5, 2, 2, 18], [9, 0, 1, 1, 1, 24]]
    errors = [[known(rate(TWO.hits[m, :, b], TWO.graded[m])).error for b in range(6)] for m in range(2)]
    assert errors[0] == pytest.approx([0.109521, 0, 0.086635, 0.037456, 0.037456, 0.126464], abs=5e-7)
    assert errors[1] == pytest.approx([0.109521, 0, 0.027778, 0.027778, 0.027778, 0.108556], abs=5e-7)
    for bucket, low, high in [(0, 0.090381, 0.527912), (1, 0, 0.287594), (5, 0.256799, 0.743201)]:
        found = known(rate(TWO.hits[0, :, bucket], TWO.graded[0]))
        assert (found.low, found.high) == pytest.approx((low, high), abs=5e-7)
    assert known(rate(TWO.hits[0, :, 0], TWO.graded[0])).effective == pytest.approx(15.632, abs=5e-4)


def test_the_covariance_of_the_six_rates() -> None:
    found = covariance(TWO.hits[0], TWO.graded[0])
    assert found is not None
    assert found == pytest.approx(np.cov((TWO.hits[0] / 3).T, ddof=1) / 12)
    assert np.abs(found.sum(axis=1)).max() < 1e-15
    assert np.linalg.matrix_rank(found) <= 5
    assert np.sqrt(np.diag(found)) == pytest.approx([0.109521, 0, 0.086635, 0.037456, 0.037456, 0.126464], abs=5e-7)
    # A difference of two buckets of one model is not the difference of two independent rates.
    apart = (TWO.hits[0, :, 5] - TWO.hits[0, :, 0]) / 3
    assert found[5, 5] + found[0, 0] - 2 * found[0, 5] == pytest.approx(apart.var(ddof=1) / 12)
    assert covariance(TWO.hits[0], TWO.graded[0], np.zeros(12, dtype=np.int64)) is None
    assert covariance(TWO.hits[0], np.zeros(12, dtype=np.int64)) is None


def test_identical_repeats_do_not_make_it_surer_and_fresh_ones_do() -> None:
    # inspect_ai#1113, #1118, #1251
    rng = np.random.default_rng(0)
    truth = rng.beta(1, 1, 60)
    once = rng.binomial(1, truth)
    one = known(rate(once, np.ones(60, dtype=np.int64)))
    again = known(rate(once * 5, np.full(60, 5)))
    assert again.error == one.error
    assert (again.low, again.high) == pytest.approx((one.low, one.high), rel=0.05)
    fresh = known(rate(rng.binomial(10, truth), np.full(60, 10)))
    assert fresh.error is not None
    assert one.error is not None
    assert fresh.error < 0.85 * one.error


def test_an_error_of_0_is_never_an_interval_of_nothing() -> None:
    # lm-evaluation-harness#3966: groups published with an error of exactly 0.
    for hits in (0, 3):
        found = known(rate(np.full(20, hits), np.full(20, 3)))
        assert found.error == 0
        assert found.high - found.low > 0.1
    # Every case is right in two of three repeats: no spread over the cases either.
    found = known(rate(np.full(20, 2), np.full(20, 3)))
    assert found.error == 0
    assert [found.estimate, found.effective] == pytest.approx([2 / 3, 20])
    assert found.high - found.low > 0.3


def test_the_error_belongs_to_the_mean_that_is_shown() -> None:
    # lm-evaluation-harness PR#3882. Unequal repeats: each case weighs the same, in the mean and in the error.
    hits, graded = np.array([9, 0, 1, 2]), np.array([9, 3, 1, 4])
    found = known(rate(hits, graded))
    shares = np.array([1, 0, 1, 0.5])
    assert found.estimate == shares.mean() != hits.sum() / graded.sum()
    assert found.error == pytest.approx(shares.std(ddof=1) / 2)


def test_nothing_of_nothing_is_not_applicable() -> None:
    # deepeval#2242, #2968; tau2-bench#493. Neither 1 nor 0, and not dropped into another's denominator.
    none = np.zeros(4, dtype=np.int64)
    assert rate(none, none) is None
    assert rate(none[:0], none[:0]) is None
    assert pass_hat(none[:0], none[:0], 1) is None
    assert flip_share(none, none) is None


def test_an_ungraded_case_leaves_the_rate_and_is_seen() -> None:
    # inspect_ai#3707, #2914: 80 of 100 shown as 88.9 %, without a word.
    found = known(rate(np.array([1, 0, 0]), np.array([1, 1, 0])))
    assert (found.estimate, found.cases, found.graded) == (0.5, 2, 2)


def test_half_points_are_no_successes() -> None:
    # olmo-eval#338: rates above 1.
    with pytest.raises(ValueError, match="than were graded"):
        rate(np.array([3]), np.array([2]))


def test_one_family_says_nothing_of_others() -> None:
    found = known(rate(np.array([1, 2]), np.array([3, 3]), np.array([0, 0])))
    assert (found.error, found.low, found.high, found.families) == (None, 0.0, 1.0, 1)


def test_pass_hat_of_fixture_one() -> None:
    assert [pass_hat(HITS, FOUR, k) for k in (1, 2, 3, 4)] == pytest.approx([0.42, 0.273333, 0.22, 0.20], abs=5e-7)
    assert [pass_at(HITS, FOUR, k) for k in (1, 2, 3, 4)] == pytest.approx([0.42, 0.566667, 0.66, 0.72], abs=5e-7)
    # promptfoo PR#8108: the rate to the power of k, here case by case, says too much.
    assert ((HITS / 4) ** 4).mean() == pytest.approx(0.23875, abs=5e-6)


def test_pass_of_three_in_four() -> None:
    three, four = np.array([3]), np.array([4])
    assert [pass_hat(three, four, k) for k in (1, 2, 3, 4)] == [0.75, 0.5, 0.25, 0]
    assert [pass_at(three, four, k) for k in (1, 2, 3, 4)] == [0.75, 1, 1, 1]


def test_pass_hat_wants_k_surviving_repeats_of_every_case() -> None:
    # inspect PR#3911: 1.0 where fewer than k survived.
    assert pass_hat(np.array([4, 3]), np.array([4, 3]), 4) is None
    assert pass_at(np.array([4, 3]), np.array([4, 3]), 4) is None
    assert pass_hat(np.array([4, 3]), np.array([4, 3]), 3) == 1
    assert pass_hat(np.array([4, 3]), np.array([4, 3]), 0) is None


@pytest.mark.parametrize(
    ("cases", "passes", "icc", "flips"),
    [
        pytest.param(50, (0.420, 0.273, 0.220, 0.200), 0.405, 0.52, id="gpt-4o airline"),
        pytest.param(115, (0.604, 0.491, 0.430, 0.383), 0.530, 0.43, id="gpt-4o retail"),
    ],
)
def test_what_tau_bench_published_of_four_trials(
    cases: int, passes: tuple[float, float, float, float], icc: float, flips: float
) -> None:
    # tau-bench#57. pass^1 to pass^4 give back how many cases had which number of successes of four.
    one, two, three, h4 = passes
    h3 = 4 * (three - h4)
    h2 = 6 * (two - h4 - h3 / 2)
    h1 = 4 * (one - h4 - 0.75 * h3 - h2 / 2)
    numbers = [round(share * cases) for share in (h1, h2, h3, h4)]
    hits, four = np.repeat([0, 1, 2, 3, 4], [cases - sum(numbers), *numbers]), np.full(cases, 4)
    assert [pass_hat(hits, four, k) for k in (1, 2, 3, 4)] == pytest.approx(passes, abs=0.003)
    assert intraclass(hits, four) == pytest.approx(icc, abs=0.005)
    assert flip_share(hits, four) == pytest.approx(flips, abs=0.005)


@pytest.mark.parametrize(("one", "two", "icc"), [(0.460, 0.326, 0.465), (0.692, 0.576, 0.456)])
def test_what_tau_bench_published_of_more_trials(one: float, two: float, icc: float) -> None:
    # sonnet, airline and retail: no whole numbers of successes of four give these, but the moments give the ICC.
    assert (two - one**2) / (one * (1 - one)) == pytest.approx(icc, abs=0.005)
