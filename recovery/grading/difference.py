"""What is wrong with a value, and where: a JSON pointer (RFC 6901) and a sentence.

May import: nothing of the package.
"""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import Repr
from typing import Final, NamedTuple

# A value as a sentence shows it: bounded in length and depth.
_short: Final = Repr()
_short.maxstring = _short.maxother = 80


class Difference(NamedTuple):
    """One difference: `pointer` leads to the value in the arguments, "" to the arguments themselves."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.message}"


def to_pointer(path: Iterable[object]) -> str:
    """The JSON pointer of the names and places that lead to a value."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def shown(value: object) -> str:
    """The value for a sentence, cut where it is long."""
    return _short.repr(value)
