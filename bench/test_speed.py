"""`recover` beside `ast.parse` alone, on the samples: a file for each shape of answer.

What a text gives is asserted before it is timed. The toolset is built beforehand, as a gateway does; the policy is
strict but where a sample is no call by it (`shapes.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from bench.shapes import SAMPLES, SHAPES, TOOLS, check, text_of
from recovery import recover

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture


def test_every_sample_has_its_line() -> None:
    assert {path.stem for path in SAMPLES.iterdir()} == set(SHAPES)


# `ast.parse` first: the ratio is noted when both were timed.
@pytest.mark.parametrize("what", ["ast.parse", "recover"])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.benchmark(min_rounds=20, max_time=0.1, min_time=0.00002)
def test_speed(
    name: str,
    what: str,
    benchmark: BenchmarkFixture,
    best: dict[tuple[str, str], float],
    note_ratio: Callable[..., None],
) -> None:
    text = text_of(name)
    benchmark.group = name
    if what == "ast.parse":
        benchmark(parse_alone, text)
    else:
        check(name, text)
        benchmark(recover, text, TOOLS, policy=SHAPES[name].policy)
    if benchmark.stats is not None:  # None with --benchmark-disable
        best[name, what] = benchmark.stats.stats.min
        if what == "recover" and (name, "ast.parse") in best:
            note_ratio(name, best[name, "recover"] / best[name, "ast.parse"])


@pytest.fixture(scope="module")
def best() -> dict[tuple[str, str], float]:
    """The lowest time of each sample and program."""
    return {}


def parse_alone(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None
