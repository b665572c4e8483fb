"""The arguments of a call as the model or its API gave them: absent, an object, or malformed.

May import: `grading.difference`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from .difference import Difference, shown, to_pointer

# As deep as recovered calls may be, by default and more.
_MOST_DEPTH: Final = 300
# A whole number of more bits has more digits than Python writes, and so no JSON.
_MOST_BITS: Final = 14_000


class RawArgs(NamedTuple):
    """`value` are the arguments, {} where they are absent or malformed; `problem` says what is malformed."""

    state: Literal["absent", "object", "malformed"]
    value: dict[str, Any]
    problem: Difference | None = None


class _MalformedError(Exception):
    """What keeps a text from being an object of JSON."""


def read_arguments(raw: Any) -> RawArgs:
    """What the raw arguments of a call are. Never raises.

    None and a text without a sign are absent: many APIs say so where a tool takes none. An object is a mapping, or a
    text that is one object of JSON. All else is malformed: text that is not JSON, a key that stands twice, NaN, a list,
    `null`, an object written as a string in a string.
    """
    if raw is None:
        return RawArgs("absent", {})
    if isinstance(raw, bytes | bytearray):
        try:
            raw = raw.decode()
        except UnicodeDecodeError:
            return _malformed("bytes that are not UTF-8")
    if isinstance(raw, str):
        if not raw.strip():
            return RawArgs("absent", {})
        try:
            value = _loads(raw)
        except _MalformedError as error:
            return _malformed(str(error))
        if isinstance(value, dict):
            # Deeper than this there must be more brackets; to count them costs nothing.
            deep = raw.count("[") + raw.count("{") > _MOST_DEPTH
            problem = _not_json(value) if deep else None
            return RawArgs("object", value) if problem is None else RawArgs("malformed", {}, problem)
        if isinstance(value, str) and _is_object(value):
            return _malformed("an object that is encoded twice: the text holds a string with the object in it")
        return _malformed(f"must be an object, not {shown(value)}")
    if isinstance(raw, Mapping):
        problem = _not_json(raw)
        return RawArgs("object", dict(raw)) if problem is None else RawArgs("malformed", {}, problem)
    return _malformed(f"must be an object, not {shown(raw)}")


def _malformed(message: str) -> RawArgs:
    return RawArgs("malformed", {}, Difference("", f"malformed arguments: {message}"))


def _is_object(text: str) -> bool:
    try:
        return isinstance(_loads(text), dict)
    except _MalformedError:
        return False


def _loads(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except json.JSONDecodeError as error:
        raise _MalformedError(f"no JSON: {error.msg}, line {error.lineno}, column {error.colno}") from None
    except ValueError as error:
        # A number of more digits than Python reads.
        raise _MalformedError(f"no JSON that can be read: {error}") from None
    except RecursionError:
        raise _MalformedError("nested too deep") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _MalformedError(f"the key {shown(twice)} stands twice in one object")
    return made


def _constant(name: str) -> Any:
    raise _MalformedError(f"{name} is no JSON")


def _float(written: str) -> float:
    number = float(written)
    if math.isinf(number):
        raise _MalformedError(f"{shown(written)} is more than a float holds")
    return number


def _not_json(value: Any, path: tuple[object, ...] = ()) -> Difference | None:
    """The first thing in the value that JSON can't hold, None where there is none."""
    if value is None or isinstance(value, str | bool):
        return None
    if isinstance(value, int):
        return None if value.bit_length() <= _MOST_BITS else _at(path, "a number of too many digits")
    if isinstance(value, float):
        return None if math.isfinite(value) else _at(path, f"{value} is no JSON")
    if len(path) > _MOST_DEPTH:
        return _at((), "nested too deep")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                return _at(path, f"the key {shown(key)} is no text")
            if (found := _not_json(item, (*path, key))) is not None:
                return found
        return None
    if isinstance(value, list):
        for at, item in enumerate(value):
            if (found := _not_json(item, (*path, at))) is not None:
                return found
        return None
    return _at(path, f"a {type(value).__name__} is no JSON")


def _at(path: tuple[object, ...], message: str) -> Difference:
    return Difference(to_pointer(path), f"malformed arguments: {message}")
