"""A table of ratios at the end of `pytest bench`: times alone say more about the machine than about the code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

# By name: how many times as long as `ast.parse` alone, and where a bound is promised, the bound.
Ratio = tuple[float, float | None]
RATIOS = pytest.StashKey[dict[str, Ratio]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RATIOS] = {}
    # pytest-benchmark's table of times; `--benchmark-verbose` brings it back.
    config.option.benchmark_quiet = True


@pytest.fixture
def note_ratio(pytestconfig: pytest.Config) -> Callable[..., None]:
    """Puts one line into the table."""

    def note(name: str, ratio: float, bound: float | None = None) -> None:
        pytestconfig.stash[RATIOS][name] = ratio, bound

    return note


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    ratios = config.stash[RATIOS]
    if not ratios:
        return
    terminalreporter.section("recover, with ast.parse alone as 1")
    width = max(map(len, ratios))
    for name, (ratio, bound) in ratios.items():
        promised = "" if bound is None else f"   at most {bound}"
        terminalreporter.write_line(f"{name:{width}} {ratio:8.2f}{promised}")
