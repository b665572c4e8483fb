"""Tool names that an API takes, made of the names that tools have, and the way back.

`sanitize` gives every tool a name of its own that the API allows, and the map from the original to it: the `aliases` of
a `Toolset`, so that a call written under the name that stands in the model's prompt finds its tool where the rule of
dots and spaces can't, as for `math/add`. May import: the public names, `gateways.items`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from recovery import Tool, Toolset

from .items import changed


class Rule(NamedTuple):
    """What an API allows: the characters of a name, as they stand in a class of a regular expression, and how many."""

    first: str
    rest: str
    length: int


# None of these folds case, as far as they say; MCP says that it does not. So names are told apart by case here too.
RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        # `FunctionDefinition` in OpenAI's API description; ^[a-zA-Z0-9_-]+$ in the API's error (vercel/ai#1972). The
        # same for the Responses API.
        "openai": Rule(r"\w-", r"\w-", 64),
        # ^[a-zA-Z0-9_-]{1,128}$ in the API's error (modelcontextprotocol#1345); 64 until 2025.
        "anthropic": Rule(r"\w-", r"\w-", 128),
        # The API's error (kaitranntt/ccs#25), and `FunctionDeclaration` of google-genai: a letter or an underscore
        # first, then also dots, colons and dashes. Until late in 2025 no colon (gemini-cli#7869).
        "gemini": Rule(r"A-Za-z_", r"\w.:-", 64),
        # `GoogleCloudAiplatformV1FunctionDeclaration`: no colon. A version between took it, and 128 characters.
        "vertex": Rule(r"A-Za-z_", r"\w.-", 64),
        # Converse, `ToolSpecification` of bedrock-runtime: [a-zA-Z0-9_-]+, 1 to 64.
        "bedrock": Rule(r"\w-", r"\w-", 64),
        # Specification 2025-11-25, server/tools, "Tool Names": should be 1 to 128 of these.
        "mcp": Rule(r"\w.-", r"\w.-", 128),
    }
)

# As many hexadecimal digits of a digest as are readable; where they don't tell two names apart, others are taken.
_DIGITS: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """The names of some tools for one API. Immutable, picklable, safe to share between threads.

    `offered`: original ▶ name for the API, of every tool, in their order. `aliases`: those of them that differ, for
    `Toolset(names.tools(tools), aliases=names.aliases)`: a call written under an original then is a call of its tool,
    and of no other. Where the original is words joined by single dots or spaces, that is the strict form; where
    operators stand between them (`math/add`, `get-docs`), it takes the allowance `exact_operator_name`; any other
    (`ns:tool`) can be written in a JSON call alone. Two readings are left to the engine: where `f` is a tool too,
    `not f(x=1)` is ambiguous, whatever the names; and a blank at the end of a name is none of it in `f (x=1)`.
    """

    api: str
    offered: Mapping[str, str]
    aliases: Mapping[str, str]
    _originals: Mapping[str, str]

    def original(self, offered: str) -> str | None:
        """The name that the tool had which is offered under this one; None where none is, as for a built-in tool."""
        return self._originals.get(offered)

    def tools(self, tools: Iterable[object]) -> list[Any]:
        """The same tools under their offered names; what is handed in is not changed.

        Names become names; mappings dicts (what is changed is copied, the rest shared), objects of pydantic objects of
        their class; model classes, and what else a `Toolset` takes and can't be copied, `Tool`s. A built-in tool of
        the API, and what keeps its name, is passed on as it is. Raises what `Toolset` raises, and `ValueError` for a
        tool that was not among the names.
        """
        renamed = []
        for number, (item, tool) in enumerate(_read(tools)):
            if tool is not None and tool.name not in self.offered:
                raise ValueError(f"tools[{number}]: {tool.name!r} is none of the names that were sanitised")
            renamed.append(item if tool is None else _renamed(item, tool, self.offered[tool.name]))
        return renamed

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy can't be pickled.
        return _names, (self.api, dict(self.offered))


def sanitize(tools: Iterable[object], *, api: str) -> Names:
    """Names for these tools, in any shape that `Toolset` takes, that `api` (a key of `RULES`) allows.

    - A name that is allowed stays as it is, unless another's spelling would be taken for it: a dot and a space stand
      for an underscore, so `a_b` can't stay where `a.b` is a tool too and the API takes no dot.
    - In any other each character that is not allowed becomes an underscore; one is put before it where it may not begin
      as it does. So `Tide.forecast` is `Tide_forecast`.
    - A digest of the original is put behind where that would not tell it from others: another comes out as it, or
      could be taken for it; it is too long, and cut; or it holds what is not ASCII.

    So no two tools get one name, and none depends on the order of the tools. A tool that is added can change the name
    of another only where it comes out as it or could be taken for it: keep `Names` as long as the messages that were
    written with them.

    A built-in tool of the API gets no name; the one that it has is given to no other. Raises what `Toolset` raises for
    these tools, naming the place; `ValueError` also for an unknown `api`, and for a tool that has a built-in's name.
    """
    if api not in RULES:
        raise ValueError(f"api: expected one of {', '.join(RULES)}, got {api!r}")
    places: dict[str, str] = {}
    built_in: dict[str, str] = {}
    for number, (item, tool) in enumerate(_read(tools)):
        name = _name_of_built_in(item) if tool is None else tool.name
        if name is not None:
            (built_in if tool is None else places).setdefault(name, f"tools[{number}]")
    for name in places.keys() & built_in.keys():
        raise ValueError(f"{places[name]}: {name!r} is the name of a built-in tool, {built_in[name]}")
    return _names(api, _offered(list(places), RULES[api], built_in.keys()))


def _names(api: str, offered: dict[str, str]) -> Names:
    aliases = {original: name for original, name in offered.items() if original != name}
    originals = {name: original for original, name in offered.items()}
    return Names(api, MappingProxyType(offered), MappingProxyType(aliases), MappingProxyType(originals))


def _offered(originals: list[str], rule: Rule, built_in: Iterable[str]) -> dict[str, str]:
    """Each original with its name, in their order.

    What must hold so that the rules for written names find the right tool: a name is neither another original that is
    not offered as it is, nor what dots and spaces as underscores make of such a one.
    """
    allowed = re.compile(f"[{rule.first}][{rule.rest}]{{0,{rule.length - 1}}}", re.ASCII)
    changing = {original: _stem(original, rule) for original in originals if not allowed.fullmatch(original)}
    meant = {original: re.sub("[. ]", "_", original) for original in changing}
    staying = set(originals) - changing.keys() - set(meant.values())
    # What could do without a digest.
    plain = {original: stem for original, stem in changing.items() if len(stem) <= rule.length and original.isascii()}
    claims = Counter([*originals, *built_in])
    claims.update(claim for original, said in meant.items() for claim in {said, plain.get(original, said)})
    offered = {original: original for original in staying}
    offered |= {original: stem for original, stem in plain.items() if claims[stem] == 1}
    taken = set(claims)
    # In an order of their own: it tells who comes first should two digests be one.
    for original in sorted(set(originals) - offered.keys()):
        names = _digested(original, changing.get(original, original), rule)
        offered[original] = next(name for name in names if name not in taken)
        taken.add(offered[original])
    return {original: offered[original] for original in originals}


def _stem(original: str, rule: Rule) -> str:
    stem = re.sub(f"[^{rule.rest}]", "_", original, flags=re.ASCII)
    return stem if re.match(f"[{rule.first}]", stem, re.ASCII) else f"_{stem}"


def _digested(original: str, stem: str, rule: Rule) -> Iterator[str]:
    """Names with a digest of the original, without end."""
    text = original
    while True:
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
        yield f"{stem[: rule.length - _DIGITS - 1]}_{digest}"
        text += "\0"


def _read(tools: Iterable[object]) -> Iterator[tuple[Any, Tool | None]]:
    """Each item with what a toolset makes of it: None of a built-in tool."""
    items = list(tools) if isinstance(tools, Iterator) else tools
    # All at once for the mistakes, which it tells with their place.
    Toolset(items)
    for item in items:
        yield item, next(iter(Toolset([item]).tools), None)


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _name_of_built_in(item: Any) -> str | None:
    """The name that a call to it would have: that of the item, or of what stands in it under its type."""
    body = item if isinstance(item, Mapping) else item.model_dump()
    for holder in (body, body.get(body["type"])):
        name = _field(holder, "name")
        if isinstance(name, str):
            return name
    return None


def _renamed(item: Any, tool: Tool, name: str) -> Any:
    if tool.name == name:
        return item
    if isinstance(item, str):
        return name
    function = _field(item, "function")
    body = item if function is None else function
    if not (_is_copyable(item) and _is_copyable(body)):
        return Tool(name, tool.description, tool.parameters)
    return _with_name(item, name) if body is item else changed(_plain(item), function=_with_name(body, name))


def _is_copyable(item: Any) -> bool:
    return isinstance(item, Mapping) or (hasattr(item, "model_copy") and not isinstance(item, type))


def _with_name(item: Any, name: str) -> Any:
    return changed(_plain(item), name=name)


def _plain(item: Any) -> Any:
    return dict(item) if isinstance(item, Mapping) else item
