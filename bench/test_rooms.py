"""What `python -m bench compare` times, here with the times of this machine: each room alone, and all of them together.

`recover` on the samples stands in `test_speed.py`, with `ast.parse` beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.cases import BENCHES

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture


@pytest.mark.parametrize("title", [title for title, bench in BENCHES.items() if bench.room != "recover"])
@pytest.mark.benchmark(min_rounds=5, max_time=0.1, min_time=0.00002)
def test_room(title: str, benchmark: BenchmarkFixture) -> None:
    benchmark.group = BENCHES[title].room
    benchmark(BENCHES[title].make())
