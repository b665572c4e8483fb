"""Tools with schemas, drawn; and answers that call them as the schemas say, in each form that a call can have.

Where `strategies.py` writes what may be a call, this writes what is one: the calls and the allowance that each answer
takes are known.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy  # noqa: TC002  # `st.composite` asks for them

from recovery import Allowance, Toolset

_NAMES: Final = "tide tide_table berth_book quay_light_show read_gauge f x1".split()
_KEYS: Final = ("port", "days", "at_noon", "from", "名", "note", "k1")
# No type's name, no constant and no word that stands for something else.
_WORDS: Final = ("kelp", "Arbo", "north_quay", "low water", "élan")

Schema = dict[str, Any]
# The schema of a property, and the values that fit it.
_KINDS: Final[dict[str, tuple[Schema, SearchStrategy[Any]]]] = {
    "string": ({"type": "string"}, st.sampled_from([*_WORDS, "", "it's", 'a "b"', "f(x=1)", "3", "a\nb", "\\", "🐝"])),
    "enum": ({"enum": list(_WORDS)}, st.sampled_from(_WORDS)),
    "integer": ({"type": "integer"}, st.integers(-999, 10**20)),
    "number": ({"type": "number"}, st.floats(allow_nan=False, allow_infinity=False)),
    "boolean": ({"type": "boolean"}, st.booleans()),
    "array": ({"type": "array", "items": {"type": "integer"}}, st.lists(st.integers(0, 9), max_size=3)),
    "object": (
        {"type": "object", "properties": {"deep": {"type": "integer"}}},
        st.fixed_dictionaries({"deep": st.integers(0, 9)}),
    ),
}

FORMS: Final[tuple[Allowance | None, ...]] = (
    *(None, Allowance.POSITIONAL, Allowance.SINGLE_DICT, Allowance.JSON, Allowance.COLON, Allowance.QUOTED),
    *(Allowance.BARE_WORD, Allowance.LEADING_ZERO),
)


class Written(NamedTuple):
    """An answer, what is offered, the calls that it is, and the one allowance that it takes, or none."""

    answer: str
    toolset: Toolset
    calls: list[tuple[str, dict[str, Any]]]
    form: Allowance | None


@st.composite
def _tools(draw: DrawFn) -> dict[str, dict[str, str]]:
    """By name: the kind of each property."""
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=4, unique=True))
    kinds = st.dictionaries(st.sampled_from(_KEYS), st.sampled_from(sorted(_KINDS)), min_size=1, max_size=4)
    return {name: draw(kinds) for name in names}


@st.composite
def written(draw: DrawFn) -> Written:
    """An answer of one form."""
    tools = draw(_tools())
    form = draw(st.sampled_from(FORMS))
    texts, calls = [], []
    for name in draw(st.lists(st.sampled_from(sorted(tools)), min_size=1, max_size=3)):
        text, arguments = draw(_call(name, tools[name], form))
        texts.append(text)
        calls.append((name, arguments))
    as_list = form is Allowance.QUOTED or draw(st.booleans())
    offered = [
        {"name": name, "parameters": {"properties": {key: _KINDS[kind][0] for key, kind in kinds.items()}}}
        for name, kinds in tools.items()
    ]
    return Written(f"[{', '.join(texts)}]" if as_list else "\n".join(texts), Toolset(offered), calls, form)


@st.composite
def _call(draw: DrawFn, name: str, kinds: dict[str, str], form: Allowance | None) -> tuple[str, dict[str, Any]]:
    """One call as text, and its arguments."""
    spelled = draw(_spelled(name))
    arguments = {key: draw(_KINDS[kind][1]) for key, kind in kinds.items()}
    if form is Allowance.JSON:
        return json.dumps({"name": spelled, "arguments": arguments}, ensure_ascii=draw(st.booleans())), arguments
    if form is Allowance.QUOTED:
        text = f"{spelled}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
        return draw(st.sampled_from([repr, json.dumps]))(text), arguments
    if form is Allowance.SINGLE_DICT and next(iter(kinds.values())) != "object":
        return f"{spelled}({arguments!r})", arguments
    if form is Allowance.POSITIONAL and "object" not in kinds.values():
        placed = draw(st.integers(1, len(arguments)))
        parts = [f"{'' if n < placed else f'{key}='}{value!r}" for n, (key, value) in enumerate(arguments.items())]
        return f"{spelled}({', '.join(parts)})", arguments
    sign = ": " if form is Allowance.COLON else "="
    parts = []
    for key, kind in kinds.items():
        value = repr(arguments[key])
        if form is Allowance.BARE_WORD and kind in ("string", "enum"):
            arguments[key] = value = draw(st.sampled_from([word for word in _WORDS if " " not in word]))
        elif form is Allowance.LEADING_ZERO and kind in ("string", "integer"):
            value = "007"
            arguments[key] = 7 if kind == "integer" else value
        parts.append(f"{key}{sign}{value}")
    return f"{spelled}({', '.join(parts)})", arguments


@st.composite
def _spelled(draw: DrawFn, name: str) -> str:
    """The name with a dot or a space for any of its underscores."""
    words = name.split("_")
    return words[0] + "".join(draw(st.sampled_from("_. ")) + word for word in words[1:])
