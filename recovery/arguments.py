"""What needs the schema of a tool: how arguments without keys are to be read.

The schema decides between readings of the text; it never judges a call: an unknown key, a missing one, a type it
does not want are the caller's to judge. May import: `policy` (for the names of
allowances).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .policy import Allowance

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


# No enum or string schema makes a word of these: they are the constants and types of some language.
_NEVER_WORDS: Final = frozenset(
    "nan inf infinity none undefined nil nullptr "
    "str int float bool list dict tuple set any string integer number boolean array object bytes char double".split()
)
# Only an enum that holds it makes a word of one of these: constants in the spelling of other languages, what names the
# object that is spoken of, and what stands where a value is still to be put.
_STAND_INS: Final = frozenset(
    "null true false void notimplemented ellipsis self cls this super todo tbd tba fixme placeholder".split()
)
_YOURS: Final = "your_"
# Schemas that clients make are nested a dozen deep; Python's own stack allows three hundred.
_MOST_DEPTH: Final = 100


def place(
    parameters: Mapping[str, Any], positions: list[Any], arguments: dict[str, Any]
) -> tuple[dict[str, Any], Allowance] | None:
    """Arguments without keys ▶ arguments by key, and the step that was taken; None where they can't be placed.

    single_dict: one dict, and nothing else, whose keys are the arguments'. positional: by the order of the schema's
    properties, each value of its property's type, none of them given by key too. Where one dict could be either, the
    schema decides: the reading that fits, if just one does. A dict with a key of the tool's own is never positional.
    """
    properties = _properties(parameters)
    keys = list(properties)[: len(positions)]
    placed = None
    if (
        len(positions) <= len(properties)
        and not any(key in arguments for key in keys)
        and not any(isinstance(value, dict) and any(key in properties for key in value) for value in positions)
        and all(fits(properties[key], value) for key, value in zip(keys, positions, strict=True))
    ):
        placed = {**dict(zip(keys, positions, strict=True)), **arguments}
    if len(positions) == 1 and not arguments and isinstance(positions[0], dict):
        first = next(iter(properties.values()), False)
        if first is False or not fits(first, {}, shallow=True):
            return positions[0], Allowance.SINGLE_DICT
        as_arguments = fits(parameters, positions[0])
        if (placed is not None) == as_arguments or fits(first, positions[0]) == as_arguments:
            return None
        if placed is None:
            return positions[0], Allowance.SINGLE_DICT
    return None if placed is None else (placed, Allowance.POSITIONAL)


def is_bare_word(parameters: Mapping[str, Any], key: str, word: str) -> bool:
    """Whether a word without quotes is the value of `key`: an enum that holds it, or else a schema that says string.

    A word that is its own key is a variable, `f(city=city)`, and never a value.
    """
    schema = _properties(parameters).get(key)
    folded = word.lower()
    if not isinstance(schema, Mapping) or word == key or folded in _NEVER_WORDS or not word.isidentifier():
        return False
    if isinstance(allowed := schema.get("enum"), list):
        return word in allowed
    return _is_string(schema.get("type")) and folded not in _STAND_INS and not folded.startswith(_YOURS)


def takes_keys(parameters: Mapping[str, Any], arguments: dict[str, Any]) -> bool:
    """Whether every argument is a property that the tool declares, where it declares any; and is no declaration."""
    properties = _properties(parameters)
    if properties:
        return all(key in properties for key in arguments) and not _are_types(arguments)
    return not _is_declaration(arguments)


def _is_declaration(arguments: dict[str, Any]) -> bool:
    """Whether this declares arguments, as JSON Schema or like it, and gives none."""
    kinds = [value.get("type") for value in arguments.values() if isinstance(value, dict)]
    schema = arguments.get("type") == "object" or isinstance(arguments.get("properties"), dict)
    return schema or any(isinstance(kind, str) for kind in kinds) or _are_types(arguments)


def _are_types(arguments: dict[str, Any]) -> bool:
    """Whether every value is the name of a type."""
    return arguments != {} and all(isinstance(v, str) and v.lower() in _NEVER_WORDS for v in arguments.values())


def read_leading_zero(parameters: Mapping[str, Any], key: str, lexeme: str) -> str | int:
    """An integer with a leading zero: a string where the schema allows one, else an integer."""
    schema = _properties(parameters).get(key)
    return lexeme if isinstance(schema, Mapping) and fits(schema, lexeme) and "type" in schema else int(lexeme)


def _is_string(names: object) -> bool:
    return names == "string" or (isinstance(names, list) and "string" in names)


def _properties(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = parameters.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def fits(schema: object, value: object, *, shallow: bool = False, depth: int = _MOST_DEPTH) -> bool:
    """Whether a JSON Schema takes the value. `shallow` looks at the type alone.

    Looks at `type`, `enum`, `const`, `anyOf`, `oneOf`, `properties`, `required` and `items`; a keyword beyond these is
    taken to be content. A property that the schema does not declare does not fit where it declares any: that is what
    tells readings apart. `depth`: how far it is looked into; what stands deeper says nothing.
    """
    if not isinstance(schema, Mapping) or depth == 0:
        return True
    depth -= 1
    for word in ("anyOf", "oneOf"):
        choices = schema.get(word)
        if isinstance(choices, list) and not any(fits(one, value, shallow=shallow, depth=depth) for one in choices):
            return False
    if not _fits_type(schema.get("type"), value):
        return False
    if shallow:
        return True
    if isinstance(allowed := schema.get("enum"), list) and not any(_same(value, choice) for choice in allowed):
        return False
    if "const" in schema and not _same(value, schema["const"]):
        return False
    if isinstance(value, list):
        return all(fits(schema.get("items"), item, depth=depth) for item in value)
    return not isinstance(value, dict) or _fits_object(schema, value, depth)


def _fits_object(schema: Mapping[str, Any], value: dict[str, Any], depth: int) -> bool:
    properties = schema.get("properties")
    required = schema.get("required")
    if isinstance(required, list) and not all(key in value for key in required if isinstance(key, str)):
        return False
    if not isinstance(properties, Mapping) or not properties:
        return True
    return all(key in properties and fits(properties[key], item, depth=depth) for key, item in value.items())


def _fits_type(names: object, value: object) -> bool:
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, list):
        return True
    # A type that is none of JSON Schema's says nothing, whatever stands there.
    return any(not isinstance(name, str) or name not in _TYPES or _is(value, name) for name in names)


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _same(value: object, choice: object) -> bool:
    """Equal as JSON: 1 is not true."""
    return isinstance(value, bool) == isinstance(choice, bool) and value == choice
