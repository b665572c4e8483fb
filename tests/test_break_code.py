"""The tests see each of the four traps: they turn red where the code that meets it is broken; and every break fits.

README.md says how to see that, and more of the kind, by hand.
"""

from __future__ import annotations

import re

import pytest

from recovery import Allowance
from tests.break_code import BREAKS, ROOT, red

pytestmark = pytest.mark.sources


@pytest.mark.parametrize("name", ["trap-triple-opens", "trap-comment", "trap-cr-comment", "trap-comma-calls"])
def test_the_trap_is_seen(name: str) -> None:
    assert red(BREAKS[name], BREAKS[name].cases)


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_broken_stands_just_once(name: str) -> None:
    broken = BREAKS[name]
    assert (ROOT / broken.file).read_text(encoding="utf-8").count(broken.old) == 1


def test_the_table_names_every_break_and_every_allowance() -> None:
    table = [line for line in (ROOT / "tests/README.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    rows = [line.split("|")[1:3] for line in table[table.index("| trap, rule or edge | breaks |") :]]
    rows = rows[: next(number for number, row in enumerate(rows) if "limits, streams" in row[0]) + 1]
    assert sorted(re.findall("`(.*?)`", " ".join(breaks for _, breaks in rows))) == sorted(BREAKS)
    assert sorted(re.findall("`(.*?)`", " ".join(edge for edge, _ in rows))) == sorted(Allowance)
