"""What the statistics promise, held against runs drawn by chance: intervals that cover, verdicts that are seldom false.

A few draws of each by default; with RECOVERY_SLOW set, so many that a promise is known to half a point, and `-s` shows
the figures.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from recovery.grading.outcome import OUTCOMES
from recovery.grading.statistics.arrays import mean_and_error
from recovery.grading.statistics.paired import equivalence
from recovery.grading.statistics.quantiles import t_quantile
from recovery.grading.statistics.rates import carriers, effective_size, wilson
from recovery.grading.statistics.resampling import lead
from recovery.grading.verdict import Kind, Verdict, decide
from tests.grading.runs import draw

SLOW = bool(os.environ.get("RECOVERY_SLOW"))
# Enough that a level of 5 % or less is told from one of 7 %.
RUNS = 300 if SLOW else 10

# Cases, the Beta distribution of their true rates, and what the contract's table says of Wilson at 3 repeats.
GRID = [
    (10, 1.0, 1.0, 0.973),
    (10, 0.3, 2.7, 0.984),
    (10, 0.05, 0.95, 0.979),
    (20, 0.05, 0.95, 0.970),
    (50, 0.05, 0.95, 0.913),
    (50, 0.3, 2.7, 0.954),
    (100, 1.0, 1.0, 0.944),
]


@pytest.mark.parametrize(("cases", "a", "b", "table"), GRID)
def test_intervals_cover(cases: int, a: float, b: float, table: float) -> None:
    rng = np.random.default_rng([cases, round(100 * a)])
    draws = 40_000 if SLOW else 6_000
    for repeats in (3, 4, 5, 10):
        covered = coverage(rng, cases, repeats, (a, b), draws)
        print(f"coverage: {cases} cases × {repeats}, Beta({a}, {b}): {covered:.4f} (table, K=3: {table})")
        assert covered >= 0.91
        assert covered >= table - 0.015


@pytest.mark.parametrize("cases", [20, 50, 100, 200])
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.3, 2.7), (0.05, 0.95), (0.02, 0.98)])
def test_intervals_cover_beside_the_grid_too(cases: int, a: float, b: float) -> None:
    rng = np.random.default_rng([cases, round(100 * a), 1])
    for repeats in (3, 5, 7, 10):
        covered = coverage(rng, cases, repeats, (a, b), 20_000 if SLOW else 2_000)
        print(f"coverage: {cases} cases × {repeats}, Beta({a}, {b}): {covered:.4f}")
        assert covered >= 0.91


def coverage(rng: np.random.Generator, cases: int, repeats: int, beta: tuple[float, float], draws: int) -> float:
    shares = rng.binomial(repeats, rng.beta(*beta, (draws, cases))) / repeats
    mean, error, families = mean_and_error(shares)
    size = effective_size(mean, error, cases * repeats, families, carriers(shares))
    low, high = wilson(mean, size, t_quantile(0.975, families - 1))
    truth = beta[0] / sum(beta)
    return float(((low <= truth) & (truth <= high)).mean())


# The same rates for every model. `plain`: one failure leads; `rare`: few failures; `inter`: half of the cases are
# harder for one model and easier for another, as it falls; `mixed`: two failures lead, and three cases of ten expect
# no call.
NO_DIFFERENCE: dict[str, dict[str, Any]] = {
    "plain": {"rates": (0.3, 0, 0.1, 0.05, 0.05, 0.5), "spread": 2.0},
    "rare": {"rates": (0.08, 0, 0.02, 0.01, 0.01, 0.88), "spread": 0.7},
    "inter": {"rates": (0.25, 0, 0.1, 0.1, 0.05, 0.5), "spread": 1.0, "interaction": 0.5},
    "mixed": {"rates": (0.15, 0, 0.15, 0.1, 0.1, 0.5), "spread": 3.0, "interaction": 0.2, "no_call": 0.3},
}


@pytest.mark.parametrize("name", NO_DIFFERENCE)
def test_a_false_verdict_under_no_difference_is_rare(name: str) -> None:
    """The drift gate counts, and so does every pair of the table whose adjusted p says that it differs."""
    total: Counter[str] = Counter()
    runs = 0
    for cases, models, repeats in designs():
        found: Counter[str] = Counter()
        for verdict in verdicts(name, cases, models, repeats):
            findings = {finding.kind for finding in verdict.findings}
            invalid, varies = verdict.kind is Kind.INVALID_RUN, Kind.VARIES in findings
            table = any(pair.p is not None and pair.p < verdict.alpha_compared for pair in verdict.pairs)
            found.update({"drift": invalid, "varies": varies, "verdict": invalid or varies, "table": table})
            found.update({"either": invalid or varies or table, f"kind {verdict.kind}": 1})
        print(f"no difference: {name}, {cases} cases, {models} models, {repeats} repeats: {shown(found, RUNS)}")
        # Of one design: what a chance of 5 % exceeds in one of ten thousand series.
        assert found["verdict"] <= most(RUNS, 0.05, 1e-4)
        total += found
        runs += RUNS
    print(f"no difference: {name}, all {runs}: {shown(total, runs)}")
    limit = 0.05 * runs if SLOW else most(runs, 0.05, 1e-3)
    assert total["verdict"] <= limit
    assert total["either"] <= limit


def designs() -> Iterator[tuple[int, int, int]]:
    """Cases, models, repeats."""
    if not SLOW:
        yield from [(20, 2, 3), (50, 3, 3), (20, 4, 10), (200, 2, 3)]
        return
    yield from [(cases, models, repeats) for cases in (20, 50, 200) for models in (2, 3, 4) for repeats in (3, 10)]


def verdicts(name: str, cases: int, models: int, repeats: int) -> Iterator[Verdict]:
    settings = dict(NO_DIFFERENCE[name])
    rates = [settings.pop("rates")] * models
    rng = np.random.default_rng([cases, models, repeats])
    for seed in range(RUNS):
        # A p-value of Monte Carlo is exact for any number of resamples: 199 let more runs be drawn.
        yield decide(draw(rng, cases, repeats, rates, **settings), resamples=199, seed=seed)


def shown(found: Counter[str], runs: int) -> str:
    return ", ".join(f"{key} {100 * number / runs:.2f} %" for key, number in found.items())


def most(runs: int, chance: float, beyond: float) -> int:
    """The number that so many runs of this chance exceed with a probability of less than `beyond`."""
    draws = np.random.default_rng(0).binomial(runs, chance, 200_000)
    return int(np.quantile(draws, 1 - beyond))


@pytest.mark.parametrize(
    "rates",
    [
        pytest.param((0.25, 0.25, 0, 0, 0.5), id="two"),
        pytest.param((0.15, 0.15, 0.15, 0.15, 0.4), id="four"),
        pytest.param((0.05, 0.05, 0.02, 0, 0.88), id="rare"),
    ],
)
@pytest.mark.parametrize("cases", [20, 50, 200])
def test_a_failure_that_ties_with_another_seldom_leads(cases: int, rates: Sequence[float]) -> None:
    rng = np.random.default_rng(cases)
    runs = 1000 if SLOW else 30
    false = 0
    for seed in range(runs):
        weight = rng.standard_gamma(np.asarray(rates) * 2, (cases, 5)) + 1e-300
        shares = rng.multinomial(3, weight / weight.sum(axis=1, keepdims=True)) / 3
        seen = shares[:, :4].any(axis=0)
        false += bool((lead(shares[:, :4][:, seen], np.ones(cases), seed=seed) > 0).any())
    print(f"a false lead: {cases} cases, {rates}: {100 * false / runs:.2f} %")
    assert false <= most(runs, 0.05, 1e-3)


@pytest.mark.parametrize("cases", [20, 30, 50, 100, 200])
def test_models_that_differ_by_the_margin_are_seldom_called_equal(cases: int) -> None:
    """Dense: most cases differ a little; sparse: one case in ten differs by all, where t alone says equal too often."""
    rng = np.random.default_rng(cases)
    runs = 3000 if SLOW else 200
    for kind in ("dense", "sparse", "both ways"):
        false = alone = 0
        for _ in range(runs):
            if kind == "dense":
                first = rng.beta(1, 2, cases)
                d = (rng.binomial(5, 0.1 + 0.8 * first) - rng.binomial(5, 0.8 * first)) / 5
            elif kind == "sparse":
                d = (rng.random(cases) < 0.1).astype(np.float64)
            else:
                d = rng.choice([1.0, -1.0, 0.0], cases, p=[0.15, 0.05, 0.8])
            p, equal = equivalence(d, 0.10)
            false += equal
            alone += p is not None and p < 0.05
        print(f"a false EQUAL: {cases} cases, {kind}: {100 * false / runs:.2f} % (t alone {100 * alone / runs:.2f} %)")
        assert false <= most(runs, 0.05, 1e-3)


def test_a_real_difference_is_found() -> None:
    rates = [(0.1, 0, 0.05, 0.02, 0.03, 0.8), (0.5, 0, 0.05, 0.02, 0.03, 0.4)]
    rng = np.random.default_rng(0)
    found = [decide(draw(rng, 60, 3, rates, spread=2.0), resamples=499) for _ in range(20)]
    assert sum(verdict.kind is Kind.VARIES for verdict in found) >= 18
    assert {verdict.bucket for verdict in found if verdict.kind is Kind.VARIES} == {OUTCOMES[0]}
    assert all(verdict.sentence.startswith("no_call is the largest failure") for verdict in found if verdict.bucket)


def test_an_endpoint_that_changes_is_caught() -> None:
    """From the third pass on another model answers."""
    rng = np.random.default_rng(0)
    before, after = (0.1, 0, 0.1, 0.05, 0.05, 0.7), (0.6, 0, 0.1, 0.05, 0.05, 0.2)
    invalid = 0
    for _ in range(20):
        own, other = (draw(rng, 60, 2, [rates] * 2, spread=2.0) for rates in (before, after))
        joined = own.model_copy(
            update={
                "outcomes": tuple(
                    tuple(x + y for x, y in zip(a, b, strict=True))
                    for a, b in zip(own.outcomes, other.outcomes, strict=True)
                )
            }
        )
        invalid += decide(joined, resamples=199).kind is Kind.INVALID_RUN
    assert invalid >= 18
