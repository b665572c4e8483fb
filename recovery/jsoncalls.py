"""A JSON object ▶ the call it is: which keys hold the name and the arguments.

A closed table: an object with any other key is no call, so that the declaration of a tool, or an answer that happens
to have a name, is not taken for one. May import: nothing of the package.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

NAME_KEYS: Final = (
    "name",
    "tool_name",
    "function",
    "function_name",
    "tool",
    "recipient_name",
)
_ARGUMENT_KEYS: Final = (
    "arguments",
    "parameters",
    "args",
    "params",
    "input",
    "kwargs",
    "action_input",
    "tool_input",
)
# The one key of an object that holds a list of calls.
_LIST_KEYS: Final = ("tool_calls", "function_calls", "tool_uses")
# What may stand beside them, with the only values that mean nothing more: the envelopes of OpenAI's own format.
_TYPES: Final = ("function", "tool_use", "function_call", "tool_call")
_IDS: Final = ("id", "call_id", "tool_call_id")
# Every key that an object at the top may have.
KEYS: Final = frozenset((*NAME_KEYS, *_ARGUMENT_KEYS, *_LIST_KEYS, *_IDS, "type"))


class JsonCall(NamedTuple):
    """The name as written, and the arguments: a dict, or the text of one."""

    name: str
    arguments: dict[str, Any] | str


def read_json_call(value: dict[str, Any]) -> JsonCall | None:
    """The call that the object is; None where it is none."""
    rest = {key: item for key, item in value.items() if key not in _IDS}
    kind = rest.pop("type", "function")
    if kind not in _TYPES:
        return None
    function = rest.get("function")
    if isinstance(function, dict) and len(rest) == 1:
        if function.get("parameters") == {}:
            # That is how a tool without parameters is declared.
            return None
        rest = function
    if len(rest) != 2:
        return None
    names = [key for key in rest if key in NAME_KEYS]
    arguments = [key for key in rest if key in _ARGUMENT_KEYS]
    if len(names) != 1 or len(arguments) != 1:
        return None
    name, given = rest[names[0]], rest[arguments[0]]
    if not isinstance(name, str) or not isinstance(given, dict | str):
        return None
    return JsonCall(name, given)


def calls_of(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects that an object at the top holds as calls: those of `{"tool_calls": [{…}, …]}`, or itself."""
    if len(value) == 1:
        ((key, inner),) = value.items()
        if key in _LIST_KEYS and isinstance(inner, list) and all(isinstance(item, dict) for item in inner):
            return inner
    return [value]


def json_names(value: dict[str, Any]) -> list[str]:
    """What stands in the name fields of an object that is perhaps not complete."""
    return [name for key in NAME_KEYS if isinstance(name := value.get(key), str)]
