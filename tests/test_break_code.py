"""The tests see each of the four traps: they turn red where the code that meets it is broken; and every break fits.

README.md says how to see that, and more of the kind, by hand.
"""

from __future__ import annotations

import pytest

from tests.break_code import BREAKS, ROOT, red


@pytest.mark.parametrize("name", ["trap-triple-opens", "trap-comment", "trap-cr-comment", "trap-comma-calls"])
def test_the_trap_is_seen(name: str) -> None:
    assert red(BREAKS[name], BREAKS[name].cases)


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_broken_stands_just_once(name: str) -> None:
    broken = BREAKS[name]
    assert (ROOT / broken.file).read_text(encoding="utf-8").count(broken.old) == 1
