"""The noise floor, drift, and the cases that flip: the contract's values, oracles, and what went wrong elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from recovery.grading.statistics.arrays import count
from recovery.grading.statistics.floor import (
    Floor,
    drift,
    flaky,
    flip_share,
    floor,
    identical_repeats,
    intraclass,
    rerun_floor,
    unanimous,
)
from tests.grading.runs import fixture_one, fixture_two

RIGHT = fixture_one()
HITS, FOUR = RIGHT.sum(axis=1), np.full(50, 4)
TWO = count(fixture_two())


def known(found: Floor | None) -> Floor:
    assert found is not None
    return found


def test_the_floor_of_fixture_one() -> None:
    found = known(floor(HITS, FOUR))
    assert found.noise == pytest.approx(0.1466666667, abs=1e-10)
    assert found.one_pass == pytest.approx(0.0541602560, abs=1e-10)
    assert found.mean == pytest.approx(0.0270801280, abs=1e-10)
    # The contract's 0.0750622852 takes 1.96 for 1.959964.
    assert rerun_floor(found, found) == pytest.approx(0.0750622852 * 1.9599639845 / 1.96, abs=1e-10)
    # tau-bench#57, tau2-bench#540: two single passes must lie 15 points apart, where the four shown lie within 4.
    once = Floor(found.noise, found.one_pass, found.one_pass)
    assert rerun_floor(once, once) == pytest.approx(0.150, abs=5e-4)
    assert np.ptp(RIGHT.mean(axis=0)) == pytest.approx(0.04)


def test_how_alike_the_repeats_of_a_case_are() -> None:
    icc = intraclass(HITS, FOUR)
    assert icc == pytest.approx(0.4045843690, abs=1e-10)
    assert icc is not None
    assert 1 + 3 * icc == pytest.approx(2.2137531, abs=5e-8)
    assert flip_share(HITS, FOUR) == 0.52


def test_the_within_variance_is_the_mean_square_of_the_residuals() -> None:
    within = ((RIGHT - RIGHT.mean(axis=1, keepdims=True)) ** 2).sum() / (50 * 3)
    assert known(floor(HITS, FOUR)).noise == pytest.approx(within)


def test_icc_of_unequal_repeats_is_that_of_analysis_of_variance() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    graded = rng.integers(1, 5, 30)
    hits = rng.binomial(graded, rng.beta(1, 1, 30))
    groups = [[1.0] * h + [0.0] * (g - h) for h, g in zip(hits, graded, strict=True)]
    f = stats.f_oneway(*groups).statistic
    k = (graded.sum() - (graded**2).sum() / graded.sum()) / 29
    assert intraclass(hits, graded) == pytest.approx((f - 1) / (f + k - 1))


def test_with_one_repeat_the_floor_is_unknown_and_not_0() -> None:
    one = np.ones(5, dtype=np.int64)
    assert floor(one, one) is None
    assert rerun_floor(None, known(floor(HITS, FOUR))) is None
    assert intraclass(np.array([1, 0, 1]), np.ones(3, dtype=np.int64)) is None
    assert intraclass(np.array([3, 3]), np.array([3, 3])) is None
    assert floor(np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64)) is None


def test_the_floor_of_unequal_repeats() -> None:
    hits, graded = np.array([1, 2, 1, 0]), np.array([2, 4, 1, 0])
    found = known(floor(hits, graded))
    assert found.noise == pytest.approx((0.5 + 4 / 3 * 0.25) / 2)
    assert found.mean == pytest.approx(np.sqrt(found.noise * (1 / 2 + 1 / 4 + 1)) / 3)


def test_the_drift_of_fixture_one() -> None:
    found = drift(RIGHT.astype(bool))
    assert found is not None
    assert found.q == pytest.approx(0.2727272727, abs=1e-10)
    assert found.p_high == pytest.approx(0.9650733889, abs=1e-10)
    # As alike as four passes are once in thirty times.
    assert found.p_low == pytest.approx(0.035, abs=5e-4)
    assert (found.passes, found.informative) == (4, 26)


def test_cochrans_q_is_what_statsmodels_says() -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    rng = np.random.default_rng(0)
    for cases, passes, rate in [(30, 3, 0.4), (200, 10, 0.05), (12, 2, 0.5)]:
        member = rng.random((cases, passes)) < rate
        expected = tables.cochrans_q(member.astype(int))
        found = drift(member)
        assert found is not None
        assert (found.q, found.p_high) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def test_passes_that_drift_apart_and_passes_that_stand_too_still() -> None:
    moved = drift(np.repeat([[False, False, True]], 20, axis=0))
    assert moved is not None
    assert moved.p_high < 1e-8
    # Every pass has each case's one success in another place: the passes agree to the last answer.
    still = drift(np.tile(np.eye(10, dtype=bool), (20, 1)))
    assert still is not None
    assert still.p_low < 1e-12


def test_what_has_no_drift() -> None:
    assert drift(np.ones((5, 3), dtype=bool)) is None
    assert drift(np.zeros((5, 3), dtype=bool)) is None
    assert drift(np.ones((5, 1), dtype=bool)) is None
    assert drift(np.zeros((0, 3), dtype=bool)) is None
    assert drift(np.zeros((0, 0), dtype=bool)) is None


def test_repeats_from_a_cache_are_seen() -> None:
    # promptfoo#360, lm-evaluation-harness#3046
    assert identical_repeats(np.array([[5, 5, 5], [0, 0, 0]]))
    assert identical_repeats(np.array([[5, -1, 5], [0, 0, 0], [-1, -1, 3]]))
    assert not identical_repeats(np.array([[5, 5, 5], [0, 0, 5]]))
    # One repeat says nothing.
    assert not identical_repeats(np.array([[5, -1], [0, -1]]))
    assert not identical_repeats(np.zeros((0, 3), dtype=np.int64))


def test_the_cases_that_flip() -> None:
    found = flaky(TWO.hits)
    assert found[0].model == 0
    # The repeats of the even cases are alike by the recipe, and those of case 9 are all correct.
    assert {one.case for one in found} == {1, 3, 5, 7, 11}
    assert all(sum(one.counts) == 3 and max(one.counts) < 3 for one in found)
    assert flaky(TWO.hits[:, ::2]) == []


def test_the_cases_that_all_models_fail_in_one_way() -> None:
    # gorilla#1133: the expected arguments were wrong, and every model was blamed.
    outcomes = np.array([[[4, 4], [0, 0], [5, 5], [4, 4], [2, -1]], [[4, 4], [0, 4], [5, 5], [-1, -1], [2, 2]]])
    counts = count(outcomes)
    assert unanimous(counts.hits, counts.graded, range(5)) == [(0, 4), (4, 2)]


def test_counts() -> None:
    counts = count(np.array([[[0, 5, 5], [-1, -1, 3]]]))
    assert counts.graded.tolist() == [[3, 1]]
    assert counts.hits.tolist() == [[[1, 0, 0, 0, 0, 2], [0, 0, 0, 1, 0, 0]]]
