"""Arguments that a lenient reader would take: "5" where a number belongs, a number where a text does, JSON in a string.

What takes this is not valid, but another fault than arguments that nobody could use. May import: nothing of the
package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

# Nothing was found: None is a value.
_NONE: Final[Any] = object()
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,300}")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?")
_WORDS: Final = {"true": True, "false": False}
# Each round mends what the one before laid bare; more than nested containers need.
_ROUNDS: Final = 50


def coerce(validator: Any, value: Any) -> tuple[bool, Any]:
    """Whether the value can be made to fit the schema of the `jsonschema` validator, and what it is then.

    `value` itself is left as it is.
    """
    for _ in range(_ROUNDS):
        errors = list(validator.iter_errors(value))
        if not errors:
            return True, value
        mended = [(error, found) for error in errors if (found := _mend(validator, error)) is not _NONE]
        if not mended:
            return False, value
        for error, found in mended:
            value = _put(value, list(error.absolute_path), found)
    return False, value


def _mend(validator: Any, error: Any) -> Any:
    """A value that this error would not be raised for, where there is one."""
    if error.validator == "type":
        types = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        return next((found for name in types if (found := _to(name, error.instance)) is not _NONE), _NONE)
    if error.validator in ("anyOf", "oneOf"):
        for branch in error.validator_value:
            fits, found = coerce(validator.evolve(schema=branch), error.instance)
            if fits:
                return found
    return _NONE


def _to(name: str, value: Any) -> Any:
    """The value as one of the type, where it says the same."""
    if isinstance(value, str):
        return _of_text(name, value.strip())
    if name == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    if name == "boolean" and isinstance(value, int) and value in (0, 1):
        return bool(value)
    return _NONE


def _of_text(name: str, text: str) -> Any:
    if name == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    if name == "number" and _NUMBER.fullmatch(text):
        number = int(text) if _INTEGER.fullmatch(text) else float(text)
        return number if abs(number) != float("inf") else _NONE
    if name == "boolean":
        return _WORDS.get(text.lower(), _NONE)
    if name == "null" and text.lower() in ("null", "none", ""):
        return None
    if name in ("array", "object"):
        try:
            found = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return _NONE
        return found if isinstance(found, list if name == "array" else dict) else _NONE
    return _NONE


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """As arguments themselves are read: which of two values of one key is meant, nobody knows."""
    made = dict(pairs)
    return made if len(made) == len(pairs) else _refuse("a key that stands twice")


def _refuse(what: str) -> Any:
    raise ValueError(f"{what} is no JSON")


def _put(value: Any, path: Sequence[Any], found: Any) -> Any:
    """The value with another one at that path; what lies on the way is copied."""
    if not path:
        return found
    made = value.copy()
    made[path[0]] = _put(made[path[0]], path[1:], found)
    return made
