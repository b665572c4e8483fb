"""What needs the schema of a tool: how arguments without keys are to be read.

The schema decides between readings of the text; it never judges a call: an unknown key, a missing one, a type it
does not want are the caller's to judge. May import: nothing of the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def names_arguments(parameters: Mapping[str, Any], value: dict[str, Any]) -> bool:
    """Whether the one dict of `f({…})` names the arguments of a tool with these `parameters`.

    It does, but where the tool's first property could be that dict as well: then only if the schema fits the dict as
    the arguments and does not fit it as that property.
    """
    properties = parameters.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return True
    first = next(iter(properties.values()))
    return not fits(first, {}, shallow=True) or (fits(parameters, value) and not fits(first, value))


def fits(schema: object, value: object, *, shallow: bool = False) -> bool:
    """Whether a JSON Schema takes the value. `shallow` looks at the type alone.

    Looks at `type`, `enum`, `const`, `anyOf`, `oneOf`, `properties`, `required` and `items`; a keyword beyond these is
    taken to be content. A property that the schema does not declare does not fit where it declares any: that is what
    tells readings apart.
    """
    if not isinstance(schema, Mapping):
        return True
    for word in ("anyOf", "oneOf"):
        choices = schema.get(word)
        if isinstance(choices, list) and not any(fits(choice, value, shallow=shallow) for choice in choices):
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
        return all(fits(schema.get("items"), item) for item in value)
    return not isinstance(value, dict) or _fits_object(schema, value)


def _fits_object(schema: Mapping[str, Any], value: dict[str, Any]) -> bool:
    properties = schema.get("properties")
    required = schema.get("required")
    if isinstance(required, list) and not all(key in value for key in required):
        return False
    if not isinstance(properties, Mapping) or not properties:
        return True
    return all(key in properties and fits(properties[key], item) for key, item in value.items())


def _fits_type(names: object, value: object) -> bool:
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, list):
        return True
    # A type that is none of JSON Schema's says nothing.
    return any(name not in _TYPES or _is(value, name) for name in names)


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _same(value: object, choice: object) -> bool:
    """Equal as JSON: 1 is not true."""
    return isinstance(value, bool) == isinstance(choice, bool) and value == choice
