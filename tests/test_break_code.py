"""The tests see each of the four traps: they turn red where the code that meets it is broken.

README.md says how to see that, and more of the kind, by hand.
"""

from __future__ import annotations

import pytest

from tests.break_code import BREAKS, red


@pytest.mark.parametrize("name", ["trap-triple-opens", "trap-comment", "trap-cr-comment", "trap-comma-calls"])
def test_the_trap_is_seen(name: str) -> None:
    assert red(BREAKS[name], BREAKS[name].cases)
