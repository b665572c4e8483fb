"""What may stand for an expected value: OMIT, ANY, one of several, nearly a number, a text, a list in any order.

In Python these are objects, in a case file objects of JSON with one key that begins with `$`; `decode` and `encode`
lead from one to the other and back. May import: nothing of the package.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Omit:
    """The argument is left out. In `one_of`: it may be."""

    def __repr__(self) -> str:
        return "OMIT"


@dataclass(frozen=True, slots=True)
class AnyValue:
    """Any value will do, but there must be one; `one_of(ANY, OMIT)` where there need not be."""

    def __repr__(self) -> str:
        return "ANY"


OMIT: Final = Omit()
ANY: Final = AnyValue()


@dataclass(frozen=True, slots=True)
class OneOf:
    """Any one of these, each a value or a matcher."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Approx:
    """A number no further off than the larger of `rel` (a share of the expected one) and `abs`."""

    value: float
    rel: float = 1e-6
    abs: float = 0.0


@dataclass(frozen=True, slots=True)
class Text:
    """A text, compared after what is asked for: case, Unicode form NFC, white space at the ends, runs of it."""

    value: str
    casefold: bool = False
    nfc: bool = False
    strip: bool = False
    collapse: bool = False


@dataclass(frozen=True, slots=True)
class Unordered:
    """A list of these items, values or matchers, in any order."""

    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Regex:
    """A text that the pattern matches as a whole."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Predicate:
    """A value for which the function returns True. Read back from JSON it has its name alone, and can't be asked."""

    name: str
    function: Callable[[Any], bool] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """The value itself, where it would read as a matcher: an object with a key that begins with `$`."""

    value: Any


Matcher: TypeAlias = Omit | AnyValue | OneOf | Approx | Text | Unordered | Regex | Predicate | Literal


def one_of(*values: Any) -> OneOf:
    """Any one of these values or matchers. Raises `ValueError` without any."""
    if not values:
        raise ValueError("one_of needs at least one value")
    return OneOf(tuple(map(decode, values)))


def approx(value: float, *, rel: float = 1e-6, abs: float = 0.0) -> Approx:  # noqa: A002 (as math.isclose has it)
    """A number near this one. Raises `TypeError` or `ValueError` for what is no finite number or is negative."""
    for name, number in (("value", value), ("rel", rel), ("abs", abs)):
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise TypeError(f"approx: {name} must be a number, not {number!r}")
        if not math.isfinite(number) or (name != "value" and number < 0):
            raise ValueError(f"approx: {name} must be finite{'' if name == 'value' else ' and not negative'}")
    return Approx(value, rel, abs)


def text(value: str, *, casefold: bool = False, nfc: bool = False, strip: bool = False, collapse: bool = False) -> Text:
    """A text, compared after what is asked for. Raises `TypeError` for what is no str, or no bool."""
    if not isinstance(value, str):
        raise TypeError(f"text: expected a str, not {value!r}")
    for flag in (casefold, nfc, strip, collapse):
        if not isinstance(flag, bool):
            raise TypeError(f"text: casefold, nfc, strip and collapse are true or false, not {flag!r}")
    return Text(value, casefold, nfc, strip, collapse)


def unordered(items: Iterable[Any]) -> Unordered:
    """A list of these values or matchers in any order. Raises `TypeError` for what is no list."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise TypeError(f"unordered: expected a list, not {items!r}")
    return Unordered(tuple(map(decode, items)))


def regex(pattern: str) -> Regex:
    """A text that the pattern matches as a whole. Raises `TypeError` or `ValueError` for a pattern that is none."""
    if not isinstance(pattern, str):
        raise TypeError(f"regex: expected a str, not {pattern!r}")
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"regex: {pattern!r} is no pattern: {error}") from None
    return Regex(pattern)


def predicate(function: Callable[[Any], bool], name: str = "") -> Predicate:
    """A value for which the function returns True; it must return a bool. Raises `TypeError` for no function."""
    if not callable(function):
        raise TypeError(f"predicate: expected a function, not {function!r}")
    return Predicate(name or getattr(function, "__qualname__", type(function).__name__), function)


# By the key that says which matcher it is: what makes one, of the value behind the key and of the other keys.
_READERS: Final[dict[str, tuple[Callable[..., Any], frozenset[str]]]] = {
    "$one_of": (lambda value: one_of(*_listed("$one_of", value)), frozenset()),
    "$approx": (approx, frozenset(("rel", "abs"))),
    "$text": (text, frozenset(("casefold", "nfc", "strip", "collapse"))),
    "$unordered": (lambda value: unordered(_listed("$unordered", value)), frozenset()),
    "$regex": (regex, frozenset()),
    "$predicate": (Predicate, frozenset()),
    "$literal": (Literal, frozenset()),
    "$any": (lambda value: _flag("$any", value, ANY), frozenset()),
    "$omit": (lambda value: _flag("$omit", value, OMIT), frozenset()),
}


def decode(value: Any) -> Any:
    """The value with what stands for a matcher as that matcher. Raises `TypeError` or `ValueError` saying what."""
    if isinstance(value, Mapping):
        keys = [key for key in value if isinstance(key, str) and key.startswith("$")]
        if not keys:
            return {key: decode(item) for key, item in value.items()}
        reader, options = _READERS.get(keys[0], (None, frozenset()))
        if reader is None or len(keys) > 1:
            raise ValueError(
                f"{', '.join(keys)}: no matcher (they are {', '.join(_READERS)}); "
                'where it is the value itself, write {"$literal": …}'
            )
        rest = {key: item for key, item in value.items() if key != keys[0]}
        if unknown := [str(key) for key in rest if key not in options]:
            raise ValueError(f"{keys[0]} takes {', '.join(sorted(options)) or 'no options'}, not {', '.join(unknown)}")
        return reader(value[keys[0]], **rest)
    if isinstance(value, list | tuple):
        return [decode(item) for item in value]
    return value


def encode(value: Any) -> Any:
    """The value as JSON, with each matcher as the object that `decode` reads."""
    match value:
        case Omit():
            return {"$omit": True}
        case AnyValue():
            return {"$any": True}
        case OneOf(values):
            return {"$one_of": [encode(item) for item in values]}
        case Approx(number, rel, abs_):
            return {"$approx": number, "rel": rel, "abs": abs_}
        case Text(said):
            flags = {name: True for name in ("casefold", "nfc", "strip", "collapse") if getattr(value, name)}
            return {"$text": said, **flags}
        case Unordered(items):
            return {"$unordered": [encode(item) for item in items]}
        case Regex(pattern):
            return {"$regex": pattern}
        case Predicate(name):
            return {"$predicate": name}
        case Literal(inner):
            return {"$literal": inner}
        case dict():
            return {key: encode(item) for key, item in value.items()}
        case list() | tuple():
            return [encode(item) for item in value]
    return value


def _listed(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name} takes a list, not {value!r}")
    return list(value)


def _flag(name: str, value: Any, matcher: Matcher) -> Matcher:
    if value is not True:
        raise ValueError(f"{name} is written {{{name!r}: true}}".replace("'", '"'))
    return matcher
