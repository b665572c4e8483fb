"""Families of tests: the contract's values, statsmodels, and permutations done by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from recovery.grading.statistics.arrays import Floats, count, mean_and_error
from recovery.grading.statistics.family import benjamini_hochberg, holm, largest_t
from recovery.grading.statistics.paired import sign_flip
from recovery.grading.statistics.resampling import flip_test, label_test, lead
from tests.grading.runs import fixture_two

FOUR = [0.01, 0.04, 0.03, 0.005]
# Benjamini and Hochberg's own example, by way of scipy's documentation.
FIFTEEN = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719]
FIFTEEN += [0.6528, 0.7590, 1.0]
TWO = count(fixture_two())
SHARES = (TWO.hits[0] - TWO.hits[1]) / 3


def test_holm() -> None:
    assert holm(FOUR) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(FIFTEEN)[:9] == pytest.approx([0.0015, 0.0056, 0.0247, 0.114, 0.2211, 0.278, 0.278, 0.278, 0.3213])
    assert holm(FIFTEEN)[9:] == [1.0] * 6
    assert holm([]) == []


def test_benjamini_hochberg() -> None:
    expected = [0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.06385714, 0.06385714, 0.0645, 0.0765, 0.486]
    expected += [0.58118182, 0.714875, 0.75323077, 0.81321429, 1]
    assert benjamini_hochberg(FOUR) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert benjamini_hochberg(FIFTEEN) == pytest.approx(expected, abs=5e-9)


def test_both_are_what_statsmodels_says() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(0).random(40) ** 3
    assert holm(p.tolist()) == pytest.approx(multitest.multipletests(p, method="holm")[1])
    assert benjamini_hochberg(p.tolist()) == pytest.approx(multitest.multipletests(p, method="fdr_bh")[1])


def test_the_largest_t_of_fixture_two() -> None:
    # SPURIOUS_CALL never occurs: it is no part of the family, where the contract has 1.
    assert largest_t(SHARES) == [1.0, None, 0.6875, 1.0, 1.0, 0.734375]


def test_a_bucket_that_never_occurs_does_not_dilute() -> None:
    some = largest_t(SHARES[:, [2, 5]])
    assert largest_t(np.column_stack([SHARES[:, 2], np.zeros((12, 9)), SHARES[:, 5]])) == [
        some[0],
        *[None] * 9,
        some[1],
    ]


def by_hand(d: Floats, labels: list[int], number: int) -> list[float]:
    """Every flip of whole families, with the t of `mean_and_error`."""

    def largest(signs: tuple[int, ...]) -> Floats:
        mean, error, _ = mean_and_error(np.array(signs)[labels][None, :] * d.T, np.array(labels))
        return np.abs(mean) / error

    observed = largest((1,) * number)
    drawn = [largest(signs).max() for signs in itertools.product((1, -1), repeat=number)]
    return [float(np.mean([one >= t * (1 - 1e-9) for one in drawn])) for t in observed]


def test_families_of_unequal_size_flip_as_done_by_hand() -> None:
    rng = np.random.default_rng(0)
    labels = [0, 0, 0, 1, 2, 2, 3, 4, 4, 5]
    d = rng.integers(-3, 5, (10, 3)) / 3
    assert largest_t(d, np.array(labels)) == pytest.approx(by_hand(d, labels, 6))


def test_a_bucket_counts_its_own_cases_alone() -> None:
    rng = np.random.default_rng(1)
    d = rng.integers(-1, 4, (9, 2)) / 3
    counted = np.ones((9, 2), dtype=bool)
    counted[:4, 0] = False
    own = largest_t(d, counted=counted)
    assert own[0] is not None
    alone = largest_t(d[4:, :1])
    assert alone == [sign_flip(d[4:, 0])]
    assert largest_t(d[:, :1], counted=counted[:, :1]) == alone
    assert largest_t(d[:, :1], counted=np.zeros((9, 1), dtype=bool)) == [None]


def test_a_difference_that_is_the_same_on_every_case_is_no_division_by_0() -> None:
    assert largest_t(np.full((5, 1), 0.5)) == [2 / 32]
    assert label_test(np.stack([np.full(5, 0.5), np.zeros(5), np.zeros(5)]), np.ones(5), resamples=999) < 0.2


def test_permuted_labels_of_two_models_are_flipped_signs() -> None:
    rng = np.random.default_rng(0)
    sums = rng.integers(0, 4, (2, 14)) / 3
    exact = flip_test((sums[0] - sums[1])[:, None], np.ones((14, 1)))[0]
    assert label_test(sums, np.ones(14)) == pytest.approx(exact, abs=0.015)


def test_permuted_labels_of_three_models_are_what_is_done_by_hand() -> None:
    rng = np.random.default_rng(4)
    sums, sizes = rng.integers(0, 7, (3, 4)) / 3, np.array([1.0, 2, 2, 3])

    def statistic(shown: Floats) -> float:
        found = 0.0
        for a, b in ((0, 1), (0, 2), (1, 2)):
            d = shown[a] - shown[b]
            mean = d.sum() / sizes.sum()
            error = np.sqrt(4 / 3 * ((d - mean * sizes) ** 2).sum()) / sizes.sum()
            found = max(found, abs(mean) / error)
        return found

    orders = list(itertools.permutations(range(3)))
    drawn = [
        statistic(np.stack([sums[list(order), place] for place, order in enumerate(chosen)], axis=1))
        for chosen in itertools.product(orders, repeat=4)
    ]
    exact = np.mean(np.array(drawn) >= statistic(sums) * (1 - 1e-9))
    assert label_test(sums, sizes) == pytest.approx(exact, abs=0.015)


def test_seven_models_are_permuted_too() -> None:
    rng = np.random.default_rng(0)
    same = rng.integers(0, 4, (7, 30)) / 3
    other = same.copy()
    other[3] += 1.5
    assert label_test(same, np.ones(30), resamples=499) > 0.05
    assert label_test(other, np.ones(30), resamples=499) == 1 / 500
    assert label_test(np.zeros((7, 30)), np.ones(30)) == 1.0


def test_what_leads() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.binomial(3, 0.5, 60) / 3, rng.binomial(3, 0.1, 60) / 3
    bounds = lead(np.stack([second, first, np.zeros(60)], axis=1), np.ones(60))
    assert bounds[1] > 0.2
    assert bounds[1] < first.mean() - second.mean()
    assert max(bounds[0], bounds[2]) < 0
    # Two that are the same on every case: neither leads, by exactly nothing.
    assert lead(np.stack([first, first], axis=1), np.ones(60)).tolist() == [0.0, 0.0]
    assert lead(np.stack([first, second], axis=1)[:1], np.ones(1)).tolist() == [-1.0, -1.0]


def test_copies_of_a_case_do_not_make_a_lead_surer() -> None:
    rng = np.random.default_rng(0)
    shares = rng.multinomial(3, [0.4, 0.25, 0.35], 25)[:, :2] / 3
    once = lead(shares, np.ones(25))
    assert lead(shares * 10, np.full(25, 10.0)) == pytest.approx(once)
