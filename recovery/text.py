"""What several rooms need of plain text. May import: nothing of the package."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

# For patterns that few answers take: compiled where they are met, since compiling is what start-up takes longest for.
compiled: Final = cache(re.compile)

# All that is neither letter nor digit.
SIGNS: Final = re.compile(r"[\W_]*")


def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the match of `pattern` at `at` ends; `at` where there is none."""
    found = pattern.match(text, at)
    return at if found is None else found.end()
