"""JSON Schemas as tools spell them, made into JSON Schemas: `dict`, `float`, `STRING`, `nullable`.

May import: `grading.difference`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .difference import shown, to_pointer

_TYPES: Final = frozenset(("string", "number", "integer", "boolean", "object", "array", "null"))

# Types of other languages and of other schemas, by their name in small letters; "" is any.
_OTHER_TYPES: Final = {
    **dict.fromkeys(("str", "char", "text"), "string"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("int", "long", "short", "byte", "bigint"), "integer"),
    "bool": "boolean",
    **dict.fromkeys(("dict", "map", "hashmap", "hashtable"), "object"),
    **dict.fromkeys(("list", "tuple", "set", "arraylist"), "array"),
    **dict.fromkeys(("none", "nonetype"), "null"),
    "any": "",
}

# Where a schema holds further ones: by name, in a list, alone. Not in `default`, `enum`, `const`, `examples`.
_BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_IN_LIST: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_ALONE: Final = (
    "items additionalProperties contains not if then else propertyNames unevaluatedProperties unevaluatedItems".split()
)
# What may allow more properties than `properties` names.
_OPEN: Final = frozenset(
    "additionalProperties patternProperties unevaluatedProperties $ref allOf anyOf oneOf if dependentSchemas".split()
)


class SchemaError(ValueError):
    """A schema that arguments can't be checked with; the message names the tool and the place. No fault of a model."""


def to_json_schema(schema: Mapping[str, Any] | bool, path: tuple[object, ...] = ()) -> dict[str, Any] | bool:
    """The schema in JSON Schema's own words; the given one is left as it is.

    Raises `SchemaError` for what is no schema, with the pointer to it.
    """
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, Mapping):
        raise SchemaError(f"{to_pointer(path) or '/'}: a schema must be an object, not {shown(schema)}")
    made = dict(schema)
    if "type" in made:
        types = _types(made.pop("type"), path)
        if types:
            made["type"] = types[0] if len(types) == 1 else types
    if made.pop("nullable", False) is True and "type" in made:
        given = made["type"] if isinstance(made["type"], list) else [made["type"]]
        made["type"] = [*given, *(["null"] if "null" not in given else [])]
    for key in _BY_NAME:
        if key in made:
            if not isinstance(made[key], Mapping):
                raise SchemaError(f"{to_pointer((*path, key))}: must be an object, not {shown(made[key])}")
            made[key] = {name: to_json_schema(item, (*path, key, name)) for name, item in made[key].items()}
    for key in _IN_LIST:
        if key in made:
            if not isinstance(made[key], list | tuple):
                raise SchemaError(f"{to_pointer((*path, key))}: must be a list, not {shown(made[key])}")
            made[key] = [to_json_schema(item, (*path, key, at)) for at, item in enumerate(made[key])]
    for key in _ALONE:
        if key in made and isinstance(made[key], Mapping):
            made[key] = to_json_schema(made[key], (*path, key))
    return made


def close(schema: dict[str, Any] | bool) -> dict[str, Any] | bool:
    """The schema of a tool's arguments, without arguments that it does not name, where it doesn't speak of these."""
    if isinstance(schema, bool) or "properties" not in schema or not _OPEN.isdisjoint(schema):
        return schema
    return {**schema, "additionalProperties": False}


def _types(given: Any, path: tuple[object, ...]) -> list[str]:
    """The types that `type` names; none where any will do."""
    types: list[str] = []
    for name in given if isinstance(given, list | tuple) else [given]:
        if not isinstance(name, str):
            raise SchemaError(f"{to_pointer((*path, 'type'))}: a type is a name, not {shown(name)}")
        plain = name.strip().lower()
        found = plain if plain in _TYPES else _OTHER_TYPES.get(plain)
        if found is None:
            raise SchemaError(f"{to_pointer((*path, 'type'))}: {name!r} is no type of JSON Schema")
        if not found:
            return []
        if found not in types:
            types.append(found)
    return types
