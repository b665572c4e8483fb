"""Whether arguments are the expected ones: a list of differences, empty where they are.

Also the matching of several calls to several expected ones. May import: `grading.case`, `grading.difference`,
`grading.matchers`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from .case import Rules
from .difference import Difference, shown, to_pointer
from .matchers import (
    OMIT,
    AnyValue,
    Approx,
    Literal,
    Omit,
    OneOf,
    Predicate,
    Regex,
    Text,
    Unordered,
    decode,
)

_NO_SCHEMA: Final[Mapping[str, Any]] = {}
# A `$ref` of a `$ref`, and so on, is followed so far.
_MOST_REFERENCES: Final = 20

Path = tuple[object, ...]


def args_match(
    expected: Mapping[str, Any],
    actual: Mapping[str, Any] | BaseModel,
    *,
    rules: Rules | None = None,
    schema: Mapping[str, Any] | None = None,
) -> list[Difference]:
    """Where the arguments are not the expected ones; an empty list where they are.

    `expected`: values, and matchers in any place. `actual`: JSON values, or a model's instance, taken as the JSON that
    it was made of. `schema`: the tool's JSON Schema, for defaults and for which numbers are whole. Raises `TypeError`
    or `ValueError` for a matcher that is none, and what a predicate raises.
    """
    if isinstance(actual, BaseModel):
        actual = actual.model_dump(mode="json", by_alias=True, exclude_unset=True)
    matching = _Matching(Rules() if rules is None else rules, schema or _NO_SCHEMA)
    return matching.of_objects(
        {name: decode(item) for name, item in expected.items()}, actual, (), matching.resolve(schema or _NO_SCHEMA)
    )


class _Matching:
    """One comparison: the rules, and the schema that references lead into."""

    def __init__(self, rules: Rules, root: Mapping[str, Any]) -> None:
        self._rules = rules
        self._root = root
        self._text = Text("", rules.casefold, rules.nfc, rules.strip, rules.collapse)

    def of_objects(
        self, expected: Mapping[str, Any], actual: Mapping[str, Any], path: Path, schema: Mapping[str, Any]
    ) -> list[Difference]:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping):
            properties = _NO_SCHEMA
        found: list[Difference] = []
        for name, want in expected.items():
            inner = self.resolve(properties.get(name))
            if name in actual:
                found += self.of_values(want, actual[name], (*path, name), inner)
            elif may_be_omitted(want):
                continue
            elif self._rules.defaults and "default" in inner:
                found += self.of_values(want, inner["default"], (*path, name), inner)
            else:
                found.append(Difference(to_pointer((*path, name)), f"is missing; expected {describe(want)}"))
        for name, value in actual.items():
            if name in expected or self._rules.extra_args == "ignore":
                continue
            inner = self.resolve(properties.get(name))
            if self._rules.defaults and "default" in inner and not self.of_values(inner["default"], value, (), inner):
                continue
            found.append(Difference(to_pointer((*path, name)), f"is not expected; got {shown(value)}"))
        return found

    def of_values(self, want: Any, value: Any, path: Path, schema: Mapping[str, Any]) -> list[Difference]:
        match want:
            case dict():
                if isinstance(value, Mapping):
                    return self.of_objects(want, value, path, schema)
            case list() | tuple():
                if isinstance(value, list):
                    return self._of_lists(want, value, path, schema)
            case str():
                if isinstance(value, str) and (want == value or _is_same_text(want, value, self._text)):
                    return []
            case None | bool():
                if value is want:
                    return []
            case int() | float():
                return self._of_numbers(want, value, path, schema)
            case _:
                return self._of_matcher(want, value, path, schema)
        return _differ(want, value, path)

    def _of_matcher(self, want: Any, value: Any, path: Path, schema: Mapping[str, Any]) -> list[Difference]:
        ok = False
        match want:
            case AnyValue():
                ok = True
            case Omit():
                # An explicit default says nothing more than leaving it out.
                ok = (
                    self._rules.defaults
                    and "default" in schema
                    and not self.of_values(schema["default"], value, path, schema)
                )
            case OneOf(values):
                ok = any(not self.of_values(item, value, path, schema) for item in values)
            case Literal(inner):
                return self.of_values(inner, value, path, schema)
            case Approx(number, rel, abs_):
                ok = _is_number(value) and _is_near(number, value, rel, abs_)
            case Text(said):
                ok = isinstance(value, str) and _is_same_text(said, value, want)
            case Regex(pattern):
                ok = isinstance(value, str) and re.fullmatch(pattern, value) is not None
            case Unordered(items):
                if isinstance(value, list):
                    return self._of_sets(items, value, path, schema)
            case Predicate():
                ok = _ask(want, value)
            case _:
                raise TypeError(f"{to_pointer(path) or '/'}: {shown(want)} is no JSON and no matcher")
        return [] if ok else _differ(want, value, path)

    def _of_numbers(self, want: float, value: Any, path: Path, schema: Mapping[str, Any]) -> list[Difference]:
        if not _is_number(value):
            return _differ(want, value, path)
        if isinstance(want, int) and isinstance(value, int):
            return [] if want == value else _differ(want, value, path)
        if _is_whole(schema.get("type")) and type(want) is not type(value):
            return [Difference(to_pointer(path), f"expected {want!r}, got {value!r}: the schema says integer")]
        is_near = _is_near(want, value, self._rules.rel, self._rules.abs)
        return [] if is_near else _differ(want, value, path)

    def _of_lists(
        self, want: Sequence[Any], value: list[Any], path: Path, schema: Mapping[str, Any]
    ) -> list[Difference]:
        if self._rules.unordered:
            return self._of_sets(want, value, path, schema)
        if len(want) != len(value):
            return [Difference(to_pointer(path), f"expected {len(want)} items, got {len(value)}")]
        found: list[Difference] = []
        for at, (one, other) in enumerate(zip(want, value, strict=True)):
            found += self.of_values(one, other, (*path, at), self._item(schema, at))
        return found

    def _of_sets(
        self, want: Sequence[Any], value: list[Any], path: Path, schema: Mapping[str, Any]
    ) -> list[Difference]:
        if len(want) != len(value):
            return [Difference(to_pointer(path), f"expected {len(want)} items, got {len(value)}")]
        inner = self._item(schema, 0)
        partner = match_all(
            len(want), len(value), lambda one, other: not self.of_values(want[one], value[other], path, inner)
        )
        return [
            Difference(to_pointer(path), f"no item is {describe(want[at])}")
            for at, found in enumerate(partner)
            if found is None
        ]

    def _item(self, schema: Mapping[str, Any], at: int) -> Mapping[str, Any]:
        first = schema.get("prefixItems")
        if isinstance(first, list) and at < len(first):
            return self.resolve(first[at])
        return self.resolve(schema.get("items"))

    def resolve(self, schema: object) -> Mapping[str, Any]:
        """The schema itself, where it is a reference into the tool's schema what it leads to; {} where nothing does."""
        for _ in range(_MOST_REFERENCES):
            if not isinstance(schema, Mapping):
                return _NO_SCHEMA
            branches = [item for item in schema.get("anyOf", ()) if item != {"type": "null"}]
            if len(branches) == 1:
                # What may also be null.
                schema = {**branches[0], **{key: item for key, item in schema.items() if key != "anyOf"}}
                continue
            reference = schema.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#/"):
                return schema
            target: Any = self._root
            for part in reference[2:].split("/"):
                name = part.replace("~1", "/").replace("~0", "~")
                target = target.get(name) if isinstance(target, Mapping) else None
            # What stands beside the reference, such as a default, holds too.
            beside = {key: item for key, item in schema.items() if key != "$ref"}
            schema = {**target, **beside} if isinstance(target, Mapping) else None
        return _NO_SCHEMA


def match_all(wanted: int, offered: int, fits: Callable[[int, int], bool]) -> list[int | None]:
    """For each of `wanted` the one of `offered` that it is matched with, or None: as many pairs as there can be.

    Not the first that fits: one that has its place gives it up where it finds another. `fits` is asked once a pair.
    """
    fits = cache(fits)
    partner: list[int | None] = [None] * wanted
    taken_by: dict[int, int] = {}
    for start in range(wanted):
        # From whom each was reached, on the shortest way to one that is free.
        came: dict[int, int] = {}
        queue = [start]
        free = None
        for one in queue:
            for other in range(offered):
                if other not in came and fits(one, other):
                    came[other] = one
                    if other not in taken_by:
                        free = other
                        break
                    queue.append(taken_by[other])
            if free is not None:
                break
        while free is not None:
            one = came[free]
            taken_by[free] = one
            partner[one], free = free, partner[one]
    return partner


def may_be_omitted(want: Any) -> bool:
    """Whether the argument may be left out."""
    return want == OMIT or (isinstance(want, OneOf) and any(map(may_be_omitted, want.values)))


def describe(want: Any) -> str:
    """What is expected, in words for a sentence."""
    match want:
        case AnyValue():
            return "any value"
        case Omit():
            return "nothing"
        case OneOf(values):
            return " or ".join(map(describe, values[:5])) + (" or …" if len(values) > 5 else "")
        case Approx(number, rel, abs_):
            return f"{number!r} ± {max(rel * abs(number), abs_):g}"
        case Text(said):
            return shown(said)
        case Unordered(items):
            return f"{shown(list(items))} in any order"
        case Regex(pattern):
            return f"what matches {shown(pattern)}"
        case Predicate(name):
            return f"what passes {name}"
        case Literal(inner):
            return shown(inner)
    return shown(want)


def _differ(want: Any, value: Any, path: Path) -> list[Difference]:
    return [Difference(to_pointer(path), f"expected {describe(want)}, got {shown(value)}")]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(given: object) -> bool:
    """Whether a schema's `type` takes no number but whole ones."""
    types = given if isinstance(given, list) else [given]
    return "integer" in types and "number" not in types


def _is_near(want: float, value: float, rel: float, abs_: float) -> bool:
    try:
        return abs(value - want) <= max(rel * abs(want), abs_)
    except OverflowError:
        # A whole number that no float can hold, and a float.
        return False


def _is_same_text(one: str, other: str, asked: Text) -> bool:
    return _form(one, asked) == _form(other, asked)


def _form(text: str, asked: Text) -> str:
    if asked.nfc:
        text = unicodedata.normalize("NFC", text)
    if asked.casefold:
        text = text.casefold()
    if asked.collapse:
        text = re.sub(r"\s+", " ", text)
    return text.strip() if asked.strip else text


def _ask(predicate: Predicate, value: Any) -> bool:
    if predicate.function is None:
        raise TypeError(f"predicate {predicate.name} was read from JSON, and has no function")
    said = predicate.function(value)
    if not isinstance(said, bool):
        raise TypeError(f"predicate {predicate.name} must return a bool, not {shown(said)}")
    return said
