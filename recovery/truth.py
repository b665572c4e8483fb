"""Whether calls are what a question wanted: the calls read against a ground truth of accepted values.

The truth is a call for each that is wanted: its name, and by argument the values that are accepted; an empty string
among them says that the argument may be left out. Lenient where spelling says nothing (case, spaces, `,./-_*^`), as the
leaderboards are that publish such truths. May import: the public names of the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from . import Call

_SAYS_NOTHING: Final = re.compile(r"[ ,./\-_*^]")


class Wanted(NamedTuple):
    """One call of a ground truth: `allowed` holds, by argument, the accepted values."""

    name: str
    allowed: dict[str, list[Any]]


def is_right(calls: Sequence[Call], wanted: Sequence[Wanted]) -> bool:
    """Whether the calls are the wanted ones: as many, in any order, each wanted one met by a call of its own."""
    if len(calls) != len(wanted):
        return False
    taken_by: dict[int, int] = {}

    def place(at: int, tried: set[int]) -> bool:
        # A call that has its place gives it up where it finds another.
        for place_, want in enumerate(wanted):
            if place_ not in tried and _meets(calls[at], want):
                tried.add(place_)
                if place_ not in taken_by or place(taken_by[place_], tried):
                    taken_by[place_] = at
                    return True
        return False

    return all(place(at, set()) for at in range(len(calls)))


def _meets(call: Call, want: Wanted) -> bool:
    return call.name == want.name and _meets_keys(call.arguments, want.allowed)


def _meets_keys(values: dict[str, Any], allowed: dict[str, list[Any]]) -> bool:
    if not all(key in allowed and _is_accepted(value, allowed[key]) for key, value in values.items()):
        return False
    return all(key in values or "" in accepted for key, accepted in allowed.items())


def _is_accepted(value: object, accepted: Iterable[object]) -> bool:
    return any(_is_same(value, item) for item in accepted)


def _is_same(value: object, item: object) -> bool:
    if isinstance(value, bool) or isinstance(item, bool):
        return value is item
    if isinstance(value, str) and isinstance(item, str):
        return _folded(value) == _folded(item)
    if isinstance(value, list) and isinstance(item, list):
        return len(value) == len(item) and all(map(_is_same, value, item))
    if isinstance(value, dict) and isinstance(item, dict):
        # Some truths hold a list of accepted values for each key in here too, others the value itself.
        nested = {key: accepted if isinstance(accepted, list) else [accepted] for key, accepted in item.items()}
        if _meets_keys(value, nested):
            return True
        return value.keys() == item.keys() and all(_is_same(value[key], item[key]) for key in item)
    return value == item


def _folded(text: str) -> str:
    return _SAYS_NOTHING.sub("", text).lower()
