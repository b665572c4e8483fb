"""Mutations that know what an input is made of, beside libFuzzer's own: half of the time the one, half the other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any, Final

import atheris

from fuzz.inputs import text_of

Mutate = Callable[[bytes, int, int], bytes]

# Words, runs of blanks, single signs: pieces are put in between these.
_TOKENS: Final = re.compile(r"\w+|[ \t]+|[\s\S]")
_PIECES: Final = [
    *["f(x=1)", "g()", "heat('fan', unit=C)", "get.weather(city='a')", "[f(x=1), g()]", "f(x=1), g()", "f(x: 1)"],
    *["x=1", "y='a b'", "where={'a': [1, -2.5]}", "n=None", "unit=07", "mode=fan", "a\\_b=true", '{"x": 1}', "'a' 'b'"],
    *["+", "-", "*", "/", "==", " and ", " or ", "not ", "2*", "- ", "-1", " + 1", "[0]", ".a", "=", ":"],
    *["# c\n", "#", "\\\n", "\n", "\r\n", "\r", "; ", ", ", ",", "(", ")", "[", "]", "'", '"', "'''", "\\", "\\u00e9"],
    *["print(", "return ", "await ", "r = ", "functions.", "```python\n", "\n```\n", "```", "`", "So: ", "\n\nDone.\n"],
    *["<think>", "</think>", "<tool_call>", "</tool_call>", "<|python_start|>", "<|python_end|>", "<|im_end|>"],
    *['{"name": "f", "arguments": {"x": 1}}', '{"name": "get_weather", "parameters": {}}', "“a”", "'it's'", "'a\nb'"],
]
_AROUND: Final = [
    *[("[", "]"), ("(", ")"), ("print(", ")"), ("```\n", "\n```"), ("`", "`"), ("<tool_call>", "</tool_call>")],
    *[("<think>", "</think>"), ("'", "'"), ('["', '"]'), ("f(x=", ")"), ("I call ", ". Done."), ("# ", "\n")],
]
_VALUES: Final[list[Any]] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "f",
    "g-h",
    " ",
    "\ud800",
    "name",
    [],
    {},
    ["f"],
    [{}],
    {"name": "f"},
]


def of_text(head: int = 0) -> Mutate:
    """Pieces of answers put in, put around, dropped, doubled and moved, at the borders of tokens behind the head."""

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)
        if len(data) <= head or random.random() < 0.5:
            return bytes(atheris.Mutate(data, most))
        tokens = _TOKENS.findall(text_of(data[head:]))
        for _ in range(random.choice([1, 1, 2, 3])):
            tokens = _edited(tokens, random)
        return (data[:head] + "".join(tokens).encode("utf-8", "surrogateescape"))[:most]

    return mutate


def _edited(tokens: list[str], random: Random) -> list[str]:
    start, end = sorted(random.randrange(len(tokens) + 1) for _ in range(2))
    before, run, behind = tokens[:start], tokens[start:end], tokens[end:]
    edit = random.randrange(6)
    if edit < 2:
        return [*before, random.choice(_PIECES), *run, *behind]
    if edit == 2:
        opening, closing = random.choice(_AROUND)
        return [*before, opening, *run, closing, *behind]
    if edit == 3:
        return [*before, *run[: len(run) // 2], *behind]
    if edit == 4:
        return [*before, *run, *run, *behind]
    return [*before, random.choice(_PIECES), *behind]


def of_json(data: bytes, most: int, seed: int) -> bytes:
    """One value of the JSON replaced, doubled, dropped or put under another key; each line is a document."""
    random = Random(seed)
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    if random.random() < 0.5:
        return bytes(atheris.Mutate(data, most))
    try:
        document = json.loads(lines[at])
    except (ValueError, RecursionError):
        return bytes(atheris.Mutate(data, most))
    places = _places(document)
    if not places:
        lines[at] = json.dumps(random.choice(_VALUES)).encode()
        return b"\n".join(lines)[:most]
    container, key = random.choice(places)
    other, its = random.choice(places)
    edit = random.randrange(4)
    if edit == 0:
        container[key] = random.choice(_VALUES)
    elif edit == 1:
        # As it stands there now: no value holds itself.
        container[key] = json.loads(json.dumps(other[its]))
    elif edit == 2:
        del container[key]
    elif isinstance(container, list):
        container.insert(key, container[key])
    else:
        container[random.choice([*other] if isinstance(other, dict) else ["name"])] = container[key]
    lines[at] = json.dumps(document).encode()
    return b"\n".join(lines)[:most]


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every value in the document but itself: what holds it, and under what key."""
    found, waiting = [], [document]
    while waiting:
        value = waiting.pop()
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, held in items:
            found.append((value, key))
            waiting.append(held)
    return found
