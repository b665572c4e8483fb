"""Invariant: of any JSON comes a Toolset that works, or a TypeError or ValueError that names the item and its place."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator
from typing import Any, Final

from fuzz.mutators import of_json
from fuzz.target import Target, run
from recovery import Policy, Toolset, recover
from tests.cases import VECTORS, read

# What a message begins with: the argument, and in it the place.
_PLACE: Final = re.compile(r"\w+: (?:tools|aliases|namespaces|never)(?:\[.*\])?: \S", re.DOTALL)
_LENIENT: Final = Policy.lenient()


def one_input(data: bytes) -> None:
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return
    arguments: dict[str, Any] = {"tools": given}
    if isinstance(given, dict) and "tools" in given:
        arguments = {name: given[name] for name in ("tools", "aliases", "namespaces", "never") if name in given}
    try:
        toolset = Toolset(**arguments)
    except (TypeError, ValueError) as error:
        message = f"{type(error).__name__}: {error}"
    else:
        works(toolset)
        return
    assert _PLACE.match(message), message


def works(toolset: Toolset) -> None:
    """It tells what it holds, survives pickling, and reads calls of its tools, whatever their schemas are."""
    again = pickle.loads(pickle.dumps(toolset))
    for name in ("tools", "aliases", "namespaces", "never"):
        assert getattr(again, name) == getattr(toolset, name)
    assert len(toolset) == len(toolset.tools)
    assert repr(toolset)
    spelled = {**{tool.name: tool.name for tool in toolset.tools}, **toolset.aliases}
    for name in (tool.name for tool in toolset.tools):
        assert name in toolset
        assert toolset.get(name) is not None
        keys = [key for key in _properties(toolset, name) if key.isidentifier()]
        values = ["'a', 1, b, 07", "{'a': 1}", *(f"{key}={value}" for key in keys[:3] for value in ("a", "07", "[1]"))]
        for value in values:
            recover(f"{name}({value})", toolset, policy=_LENIENT)
        recover(f'{{"name": "{name}", "arguments": {{"a": 1}}}}', toolset, policy=_LENIENT)
        if name.isidentifier() and len(name) <= _LENIENT.limits.name and spelled[name] == name:
            calls = recover(f"{name}(x=1)", toolset, policy=Policy.strict()).calls
            assert [(call.name, call.arguments) for call in calls] == [(name, {"x": 1})] * (name not in toolset.never)


def _properties(toolset: Toolset, name: str) -> list[str]:
    tool = toolset.get(name)
    properties = tool.parameters.get("properties") if tool else None
    return [key for key in properties if isinstance(key, str)] if isinstance(properties, dict) else []


def seeds() -> Iterator[bytes]:
    """What the vectors offer, and the shapes in which clients hand tools over."""
    schema = {"type": "object", "properties": {"x": {"enum": ["a", "07"]}, "y": {"type": ["string", "null"]}}}
    shapes: list[Any] = [
        [{"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}}],
        [{"type": "function", "name": "f", "parameters": schema, "strict": True}],
        [{"name": "f", "input_schema": schema}, {"name": "g", "inputSchema": schema, "description": None}],
        [{"type": "web_search"}, {"type": "custom", "name": "h"}, {"name": "k", "parameters": {"$ref": "#/$defs/a"}}],
        {"tools": ["f", "g-h"], "aliases": {"g.h": "g-h"}, "namespaces": ["api"], "never": ["f"]},
        {"tools": ["f", {"name": "f", "description": "another"}]},
    ]
    shapes += [{"tools": case.row["tools"], "aliases": case.row.get("aliases")} for case in read(VECTORS)]
    return (text.encode() for text in sorted({json.dumps(shape, ensure_ascii=False) for shape in shapes}))


TARGET = Target(one_input, seeds, mutate=of_json)

if __name__ == "__main__":
    run(TARGET)
