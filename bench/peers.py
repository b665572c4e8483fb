"""What else reads such answers, side by side with `recover` on the same texts; all of it as a ratio to `ast.parse`.

Each program is written here in the manner of what it stands for, no more than its reading: none of them looks at what
is offered. All take turns on the same few texts in one process, so that what else the machine does meets all alike,
and the lowest time of each counts. May import: `recovery`, `bench.shapes`.
"""

from __future__ import annotations

import ast
import gc
import json
import re
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from bench.shapes import SHAPES, TOOLS, check, text_of
from recovery import Policy, Toolset, recover

Calls = list[tuple[str, dict[str, Any]]]

# What a text that is no call makes `ast` raise.
UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)


class Text(NamedTuple):
    """A text, what is offered and allowed with it, the mode of `ast.parse`, and its calls in JSON where it has any."""

    text: str
    tools: Toolset
    policy: Policy = Policy.strict()
    mode: str = "exec"
    json: str = ""


def parse(text: str, mode: str = "exec") -> ast.AST | None:
    """Python's parser alone."""
    try:
        return ast.parse(text, mode=mode)
    except UNREADABLE:
        return None


def walk(text: str, mode: str = "exec") -> Calls | None:
    """As gateways do: parse, take names and keywords off the tree, and evaluate the values; None where it is text."""
    tree = parse(text, mode)
    if isinstance(tree, ast.Module) and all(isinstance(statement, ast.Expr) for statement in tree.body):
        values = [statement.value for statement in tree.body if isinstance(statement, ast.Expr)]
    elif isinstance(tree, ast.Expression):
        values = [tree.body]
    else:
        return None
    calls: Calls = []
    for value in values:
        for call in value.elts if isinstance(value, ast.List | ast.Tuple) else [value]:
            if not isinstance(call, ast.Call) or call.args:
                return None
            name = _dotted(call.func)
            if not name:
                return None
            try:
                calls.append((name, {str(key.arg): ast.literal_eval(key.value) for key in call.keywords}))
            except UNREADABLE:
                return None
    return calls or None


def _dotted(function: ast.expr) -> str:
    if isinstance(function, ast.Name):
        return function.id
    if isinstance(function, ast.Attribute):
        before = _dotted(function.value)
        return f"{before}.{function.attr}" if before else ""
    return ""


# A list of calls with keywords, as a well-known server asks for before it parses: from the first key to the last
# bracket anything may stand, over lines too. That server's pattern spells each argument and each call out, goes back
# over the text where one does not fit, and is given up after a second; this one lets the same texts pass in one step.
GATE: Final = re.compile(
    r"\[[a-zA-Z]\w*\((?:\)\s*,\s*[a-zA-Z]\w*\()*(?:[a-zA-Z]\w*=.*)?\)\s*\]",
    re.DOTALL,
)


def gate_and_walk(text: str, mode: str = "exec") -> Calls | None:
    """As that server does: what the pattern does not match is text, the rest is parsed and walked."""
    return walk(text, mode) if GATE.match(text) else None


def run_parse(item: Text) -> object:
    return parse(item.text, item.mode)


def run_recover(item: Text) -> object:
    return recover(item.text, item.tools, policy=item.policy).calls


def run_walk(item: Text) -> object:
    return walk(item.text, item.mode)


def run_gate(item: Text) -> object:
    return gate_and_walk(item.text, item.mode)


def run_json(item: Text) -> object:
    return json.loads(item.json)


BASE: Final = "ast.parse"
FLOOR: Final = "json.loads"
PROGRAMS: Final[dict[str, Callable[[Text], object]]] = {
    BASE: run_parse,
    "recover": run_recover,
    "ast.parse, walk": run_walk,
    "pattern, ast.parse, walk": run_gate,
    FLOOR: run_json,
}

# A round times each program on so many texts at a time; so many seconds go into a text, at least, in all rounds.
CHUNK: Final = 100
ROUNDS: Final = 7
SECONDS: Final = 0.001


def measure(items: Sequence[Text], names: Sequence[str] = tuple(PROGRAMS), rounds: int = ROUNDS) -> dict[str, float]:
    """By program: how many times as long it takes as `ast.parse` alone. The floor is there where all have calls."""
    programs = {name: PROGRAMS[name] for name in names if name != FLOOR or all(item.json for item in items)}
    chunks = [items[at : at + CHUNK] for at in range(0, len(items), CHUNK)]
    lowest = {name: [float("inf")] * len(chunks) for name in programs}
    gc.collect()
    gc.freeze()  # the texts are no garbage of any
    with warnings.catch_warnings(action="ignore"):
        loops = [_loops(chunk) for chunk in chunks]
        for _ in range(rounds):
            for number, chunk in enumerate(chunks):
                for name, run in programs.items():
                    lowest[name][number] = min(lowest[name][number], _time(run, chunk, loops[number]))
    gc.unfreeze()
    times = {name: sum(taken) for name, taken in lowest.items()}
    return {name: taken / times[BASE] for name, taken in times.items()}


def _time(run: Callable[[Text], object], chunk: Sequence[Text], loops: int) -> float:
    begin = time.process_time()
    for _ in range(loops):
        for item in chunk:
            run(item)
    return (time.process_time() - begin) / loops


def _loops(chunk: Sequence[Text]) -> int:
    return max(round(SECONDS / _time(run_parse, chunk, 1)), 1)


def misses(items: Sequence[Text], name: str) -> float:
    """The part of the texts with calls of which the program makes none: then it is quick for another reason."""
    with warnings.catch_warnings(action="ignore"):
        found = [bool(PROGRAMS[name](item)) for item in items if item.json]
    return found.count(False) / len(found) if found else 0.0


def as_json(calls: Calls) -> str:
    return json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls])


def sample(name: str) -> Text:
    """A sample, once it is asserted what comes of it."""
    text, policy = text_of(name), SHAPES[name].policy
    check(name, text)
    calls = [(call.name, call.arguments) for call in recover(text, TOOLS, policy=policy).calls]
    return Text(text, TOOLS, policy, json=as_json(calls) if calls else "")


def rows() -> dict[str, Callable[[], Sequence[Text]]]:
    """The rows of the table, each made when it is measured."""
    return {name: partial(_alone, name) for name in SHAPES}


def _alone(name: str) -> list[Text]:
    return [sample(name)]
