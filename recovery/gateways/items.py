"""Chunks and events as clients hand them over: dicts, or the client library's pydantic objects, read and copied alike.

What was handed in is never changed. May import: nothing of the package.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

# What a field may hold that says nothing.
_NOTHING: Final[tuple[object, ...]] = (None, "", [], {})


def is_item(value: object) -> bool:
    """Whether this is a dict or an object of pydantic."""
    return isinstance(value, dict) or hasattr(value, "model_copy")


def field(item: Any, name: str) -> Any:
    """The field, known to the library or not; None where there is none."""
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def fields(item: Any) -> dict[str, Any]:
    """The fields that were set, known to the library or not."""
    if isinstance(item, dict):
        return item
    names = (*item.model_fields_set, *(item.model_extra or ()))
    # Objects of LiteLLM count fields as set that they have taken away again.
    return {name: getattr(item, name) for name in names if hasattr(item, name)}


def said(item: Any) -> dict[str, Any]:
    """The fields that hold something."""
    return {name: value for name, value in fields(item).items() if value not in _NOTHING}


def changed(item: Any, **values: Any) -> Any:
    """A copy with these fields changed; the others are shared."""
    return {**item, **values} if isinstance(item, dict) else item.model_copy(update=values)


def without(item: Any, name: str) -> Any:
    """A copy in which the field was never set."""
    if isinstance(item, dict):
        return {key: value for key, value in item.items() if key != name}
    copy = item.model_copy(update={name: None})
    copy.model_fields_set.discard(name)
    return copy


def new(kind: type, values: Mapping[str, Any]) -> Any:
    """An item of this class; what stands in it gets the class that the library has for it."""
    return dict(values) if issubclass(kind, dict) else kind.model_validate(values)  # type: ignore[attr-defined]


def around(item: Any, names: Collection[str], **values: Any) -> Any:
    """An item of the same class that has only these of its fields, and the values, which are items already."""
    values = {name: value for name, value in fields(item).items() if name in names} | values
    if isinstance(item, dict):
        return values
    # Not validated: what an upstream wrote into these fields need not be what the library expects there.
    made = type(item).model_construct(**values)
    if item.__pydantic_private__ is not None:
        # What a library keeps beside the fields, as LiteLLM does the deployment, belongs to this one too.
        made.__pydantic_private__ = dict(item.__pydantic_private__)
    return made


def constructed(item: Any, name: str, value: Any) -> Any:
    """What the library makes of this value in a field of such an item. It may be a list of one of many classes."""
    return value if isinstance(item, dict) else getattr(type(item).model_construct(**{name: value}), name)
