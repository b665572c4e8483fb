"""Matrices for the tests of the statistics: the two fixtures of the contract, and runs drawn by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recovery.grading.cell import Matrix
from recovery.grading.statistics.arrays import Ints

# How often each number of successes of four stands among 50 cases.
HISTOGRAM = (14, 12, 10, 4, 10)
_PLACES = (0, 0, 2, 3, 4, 5, 5, 5, 5, 5, 5)


def fixture_one() -> Ints:
    """(50, 4): whether the answer was right."""
    right = np.zeros((50, 4), dtype=np.int64)
    counts = [count for count, cases in enumerate(HISTOGRAM) for _ in range(cases)]
    for case, count in enumerate(counts):
        for success in range(count):
            right[case, (case + success) % 4] = 1
    return right


def fixture_two() -> Ints:
    """(2, 12, 3): the position of the outcome."""
    return np.array(
        [
            [[_PLACES[(3 * i + (4 * m if i % 3 else 0) + 2 * r * (i % 2)) % 11] for r in range(3)] for i in range(12)]
            for m in range(2)
        ]
    )


def matrix(outcomes: Ints, expects_call: Sequence[bool] | None = None, clusters: Sequence[str] | None = None) -> Matrix:
    """The matrix of `outcomes` (models, cases, repeats), −1 for an ungraded cell; models A, B, cases c0, c1, and on."""
    models, cases, _ = outcomes.shape
    names = tuple(f"c{case}" for case in range(cases))
    return Matrix(
        models=tuple("ABCDEFGH"[:models]),
        cases=names,
        clusters=names if clusters is None else tuple(clusters),
        expects_call=(True,) * cases if expects_call is None else tuple(expects_call),
        outcomes=tuple(
            tuple(tuple(None if place < 0 else place for place in row) for row in rows) for rows in outcomes.tolist()
        ),
    )


def draw(
    rng: np.random.Generator,
    cases: int,
    repeats: int,
    rates: Sequence[Sequence[float]],
    *,
    spread: float = 1.0,
    interaction: float = 0.0,
    no_call: float = 0.0,
) -> Matrix:
    """A run drawn by chance. `rates`: by model, the mean rates of the six outcomes on cases that expect a call.

    `spread`: the concentration of a case's own rates, which are Dirichlet's (small: cases that always go one way).
    `interaction`: the share of cases whose rates are drawn anew for each model. `no_call`: the share of cases that
    expect none; there, all failures together are spurious calls.
    """
    mean = np.asarray(rates, dtype=np.float64)
    models = len(mean)
    expects = np.arange(cases) >= round(no_call * cases)
    shares = np.empty((models, cases, 6))
    # From one seed: models of equal rates have equal cases.
    seed, other = rng.integers(2**32, size=2)
    for m in range(models):
        common = np.random.default_rng(seed).standard_gamma(mean[m] * spread, (cases, 6))
        own = np.random.default_rng(other + m).standard_gamma(mean[m] * spread, (cases, 6))
        weight = np.where(rng.random((cases, 1)) < interaction, own, common) + (mean[m] > 0) * 1e-200
        shares[m] = weight / weight.sum(axis=1, keepdims=True)
    chosen = (rng.random((models, cases, repeats, 1)) > shares.cumsum(axis=2)[:, :, None, :5]).sum(axis=3)
    spurious = np.where(chosen == 5, 5, 1)
    called = np.where(chosen == 1, 5, chosen)
    return matrix(np.where(expects[None, :, None], called, spurious), expects.tolist())
