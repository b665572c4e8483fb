"""A table of ratios at the end of `pytest bench`: times alone say more about the machine than about the code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# As in tests/: behind all that is installed.
sys.path.append(str(Path(__file__).parent.parent))

# By name: how many times as long as `ast.parse` alone, and where a bound is promised, the bound.
Ratio = tuple[float, float | None]
RATIOS = pytest.StashKey[dict[str, Ratio]]()
# By name: microseconds a delta, what doubling the text twice does to the time, what reading it again and again costs.
Growth = tuple[float, float, float, float]
GROWTH = pytest.StashKey[dict[str, Growth]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RATIOS] = {}
    config.stash[GROWTH] = {}
    # pytest-benchmark's table of times; `--benchmark-verbose` brings it back.
    config.option.benchmark_quiet = True


@pytest.fixture
def note_ratio(pytestconfig: pytest.Config) -> Callable[..., None]:
    """Puts one line into the table."""

    def note(name: str, ratio: float, bound: float | None = None) -> None:
        pytestconfig.stash[RATIOS][name] = ratio, bound

    return note


@pytest.fixture
def note_growth(pytestconfig: pytest.Config) -> Callable[..., None]:
    """Puts one line into the table of streams."""

    def note(name: str, delta: float, second: float, third: float, again: float) -> None:
        pytestconfig.stash[GROWTH][name] = delta, second, third, again

    return note


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash[RATIOS]:
        show_ratios(terminalreporter, config.stash[RATIOS])
    if config.stash[GROWTH]:
        show_growth(terminalreporter, config.stash[GROWTH])


def show_growth(terminalreporter: pytest.TerminalReporter, growth: dict[str, Growth]) -> None:
    terminalreporter.section("Stream, in deltas of 4 characters")
    width = max(map(len, growth))
    for name, (delta, second, third, again) in growth.items():
        terminalreporter.write_line(
            f"{name:{width}} {delta:6.2f} us a delta; twice as long: {second:.2f}, {third:.2f} times as long; "
            f"4,000 characters read again at every delta: {again:.0f} times as long"
        )


def show_ratios(terminalreporter: pytest.TerminalReporter, ratios: dict[str, Ratio]) -> None:
    terminalreporter.section("recover, with ast.parse alone as 1")
    width = max(map(len, ratios))
    for name, (ratio, bound) in ratios.items():
        promised = "" if bound is None else f"   at most {bound}"
        terminalreporter.write_line(f"{name:{width}} {ratio:8.2f}{promised}")
