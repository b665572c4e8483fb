"""What Python's own `json` makes of a text: the oracle for values, and for answers that are JSON.

`recovery` reads every value that `json` reads, and as `json` does. Where the two differ, and why:

- `NaN`, `Infinity`, floats out of range and integers beyond the limit are refused: the standard of JSON has none.
- Of a key that stands twice `json` takes the last; which one is meant is a guess, and refused.
- A lone surrogate is refused, escaped or raw.
- Values nested deeper than the limit are refused.
- `\\/` is an escape of JSON alone: in the arguments of a call, which are Python's, the backslash stays.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final

from recovery import Allowance, Limits, Policy, Toolset, recover

_STRICT: Final = Policy.strict(Limits(depth=300))
_JSON: Final = Policy({Allowance.JSON}, Limits(depth=300))


def exact(value: object) -> str:
    """Tells 1, 1.0 and True apart."""
    return json.dumps(value, sort_keys=True)


def json_reads(text: str) -> Any:
    """The value. Raises `ValueError` where `json` can't read it, or reads what is refused for a reason above."""
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse, parse_float=_float)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        return _refuse("too deep for json")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    return read if len(read) == len(pairs) else _refuse("a key twice")


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _refuse(what: str) -> Any:
    raise ValueError(what)


def held_against_json(text: str, toolset: Toolset, name: str) -> str:
    """What `json` made of it, once the reading of it as a value and as an answer was found to agree.

    `name`: an offered tool that declares no properties.
    """
    result = recover(text, toolset, policy=_JSON)
    try:
        value = json_reads(text)
    except ValueError:
        return "no JSON"
    # A bracket of the call is around it; those in strings are counted too.
    if "\\/" not in text and text.count("[") + text.count("{") < 300:
        (call,) = recover(f"{name}(x={text})", toolset, policy=_STRICT).calls
        assert exact(call.arguments) == exact({"x": value})
    held = {exact(item) for item in _objects(value)}
    for call in result.calls:
        assert exact(call.arguments) in held
    wanted = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
    if wanted and all(_is_call(item, name) for item in wanted):
        assert [exact(call.arguments) for call in result.calls] == [exact(item["arguments"]) for item in wanted]
        return "calls"
    return "a value"


def _is_call(item: Any, name: str) -> bool:
    """Whether an object is a call whatever else the rules say: of arguments that nothing takes for declarations."""
    if not isinstance(item, dict) or item.keys() != {"name", "arguments"} or item["name"] != name:
        return False
    arguments = item["arguments"]
    return isinstance(arguments, dict) and any(isinstance(value, int) for value in arguments.values())


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in the value, and in its strings."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            try:
                item = json_reads(item)
            except ValueError:
                continue
        if isinstance(item, dict):
            yield item
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
