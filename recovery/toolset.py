"""The tools a model was offered, whatever shape they came in, indexed once.

A shape is read by what it holds, never by importing the library it comes from. Everything that is wrong with a
tool is found here, with its place in the caller's list, so a reading never meets a bad one. May import:
`frozen`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from string import ascii_letters, digits
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from .frozen import Frozen

# Where the shapes keep the JSON Schema: OpenAI and bare functions, Anthropic, MCP.
_SCHEMA_KEYS: Final = ("parameters", "input_schema", "inputSchema")

# The prefixes of OpenAI's, Google's and others' own formats, as models leak them.
NAMESPACES: Final = ("functions", "default_api", "tools", "multi_tool_use")

# Escapes that stand for a letter or a digit, or for nothing. Not what stands behind two backslashes: in LaTeX these end
# a line.
_HIDING_ESCAPE: Final = re.compile(
    r"\\(?<![^\\]\\\\)(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{|[0-7]|[\r\n])"
)
# Up to so many it is quicker to look for each than to split the answer into words.
_FEW: Final = 24
# ASCII alone: letters of other scripts may be one word here and two there.
_LETTERS_AND_DIGITS: Final = frozenset(ascii_letters + digits)
_SEGMENT: Final = re.compile(r"[A-Za-z0-9]+")
_TAIL: Final = re.compile(r"(?<![A-Za-z0-9])([A-Za-z0-9]++)[^A-Za-z0-9]*+\Z")
_QUOTED_LIST: Final = re.compile(r"\[\s*['\"\u201c\u2018]")
# What stands behind the last letter or digit of a name: signs, then the "(" of a call or a comment before it; where
# an object of JSON may name it, perhaps the quote that closes the string.
_CALLED: Final = re.compile(r"[\W_]*?[(#]")
_CALLED_OR_QUOTED: Final = re.compile(r"[\W_]*?[(#'\"\u201d\u2019]")

# What `mention` answers.
NOWHERE: Final = 0
SOMEWHERE: Final = 1
AS_CALL: Final = 2

# How many names `repr` shows.
_SHOWN: Final = 3


class Tool(Frozen):
    """One offered function. `parameters` is the JSON Schema of its arguments, `{}` where none was given."""

    __slots__ = ("name", "description", "parameters")

    name: str
    description: str
    parameters: dict[str, Any]

    def __init__(self, name: str, description: str = "", parameters: dict[str, Any] | None = None) -> None:
        self._set(name, description, {} if parameters is None else parameters)

    def __hash__(self) -> int:
        # A dict has no hash; equal tools still hash alike without it.
        return hash((self.name, self.description))


class _Folded(NamedTuple):
    """Names as `fold` leaves them, and how long they are: thousands may end alike, and few lengths are tried then."""

    names: frozenset[str]
    lengths: frozenset[int]

    def end(self, text: str) -> bool:
        """Whether the text ends in one of them."""
        return any(text[len(text) - length :] in self.names for length in self.lengths if length <= len(text))


class Toolset(Frozen):
    """All offered tools. Immutable, picklable, safe to share between threads: build it once and reuse it.

    `tools` is a list of, mixed: OpenAI tools (chat or responses shape), Anthropic tools, MCP tools (dict or object),
    function dicts, pydantic model classes, `openai`'s own objects, plain names, `Tool`s. A built-in tool of the API,
    such as `{"type": "web_search"}`, is passed over: no call to it can be written. `aliases` is the sender's own map
    from original to offered name; `namespaces` are prefixes that a policy may allow to be put before a name.
    `never` are offered names of which a written call is never recovered: an answer that holds one is refused, whatever
    the policy.

    What is done to the list or the map afterwards changes nothing here. The schemas are held, not copied: leave
    them alone. Raises `TypeError` or `ValueError` naming the item and its place.
    """

    __slots__ = (
        "tools",
        "aliases",
        "namespaces",
        "never",
        "_exact",
        "_alias",
        "_folded",
        "_longest_folded",
        "_tails",
        "_sorted",
        "_longest",
    )

    tools: tuple[Tool, ...]
    aliases: Mapping[str, str]
    # What models put before a name, with a dot, that is no part of it.
    namespaces: frozenset[str]
    # Offered, but a call that is written as text is not made.
    never: frozenset[str]
    # By offered name, and by alias; `names` reads them.
    _exact: dict[str, Tool]
    _alias: dict[str, Tool]
    # `fold` of every offered name and alias: tells an answer that means a tool from prose.
    _folded: frozenset[str]
    # The length of the longest of them.
    _longest_folded: int
    # By the last run of letters and digits of the offered names and aliases: what `fold` leaves of these. "" stands for
    # the names that are not ASCII, or that only an escape could write.
    _tails: dict[str, _Folded]
    # Every offered name and alias in order: tells what a name that is not complete may become.
    _sorted: tuple[str, ...]
    # The length of the longest of them.
    _longest: int

    def __init__(
        self,
        tools: Iterable[object],
        *,
        aliases: Mapping[str, str] | None = None,
        namespaces: Iterable[str] = NAMESPACES,
        never: Iterable[str] = (),
    ) -> None:
        prefixes = frozenset(_names(namespaces, "namespaces", "a namespace"))
        exact = _index(tools)
        alias = _index_aliases(aliases if aliases is not None else {}, exact)
        names = (*exact, *alias)
        folded = frozenset(map(fold, names)) - {""}
        self._set(
            tuple(exact.values()),
            MappingProxyType({name: tool.name for name, tool in alias.items()}),
            prefixes,
            _offered(never, "never", exact),
            exact,
            alias,
            folded,
            max(map(len, folded), default=0),
            _by_tail(names),
            tuple(sorted(set(names))),
            max(map(len, names), default=0),
        )

    @classmethod
    def of(cls, tools: Toolset | Iterable[object]) -> Toolset:
        """`tools` itself where it is a toolset already, otherwise one made of it."""
        return tools if isinstance(tools, Toolset) else cls(tools)

    def get(self, name: str) -> Tool | None:
        """The tool offered under exactly this name. Aliases and other spellings are `names`'s to judge."""
        return self._exact.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._exact

    # A toolset is told apart by what it is, not by what it holds.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __len__(self) -> int:
        return len(self.tools)

    def __repr__(self) -> str:
        shown = ", ".join(tool.name for tool in self.tools[:_SHOWN])
        if len(self.tools) > _SHOWN:
            shown += f", … {len(self.tools)} in all"
        aliases = f", {len(self.aliases)} aliases" if self.aliases else ""
        never = f", never {len(self.never)}" if self.never else ""
        return f"<Toolset [{shown}]{aliases}{never}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy can't be pickled, and the index is quicker to build than to load.
        return _rebuild, (self.tools, dict(self.aliases), self.namespaces, self.never)


def _by_tail(names: Iterable[str]) -> dict[str, _Folded]:
    by_tail: dict[str, set[str]] = {}
    for name in names:
        found = _TAIL.search(name) if name.isascii() and name.isprintable() else None
        by_tail.setdefault("" if found is None else found.group(1), set()).add(fold(name))
    return {tail: _Folded(frozenset(folded), frozenset(map(len, folded))) for tail, folded in by_tail.items()}


def mention(answer: str, toolset: Toolset) -> int:
    """How a tool may be named in the answer: NOWHERE, SOMEWHERE, or AS_CALL; it is never more than said here.

    What cheaply turns prose down: the last letters and digits of a name stand in every answer that names it, before a
    "(" where it is called, or beside a name field of JSON. Where an escape in a string could hide a name, it may.
    """
    tails = toolset._tails
    if "" in tails:
        return AS_CALL
    if "\\" in answer and _HIDING_ESCAPE.search(answer) and ("{" in answer or _QUOTED_LIST.search(answer)):
        return AS_CALL
    few = len(tails) <= _FEW
    named = [tail for tail in tails if tail in answer] if few else list(tails.keys() & _SEGMENT.findall(answer))
    if not named:
        return NOWHERE
    behind = _CALLED_OR_QUOTED if _has_fields(answer) else _CALLED
    # At most three characters write a sign: an underscore is escaped for Markdown, and that in a string.
    reach = 3 * toolset._longest
    mentioned = NOWHERE
    for tail, end in _places(answer, named):
        mentioned = SOMEWHERE
        if behind.match(answer, end) is not None and tails[tail].end(fold(answer[max(0, end - reach) : end])):
            return AS_CALL
    return mentioned


def _places(answer: str, tails: list[str]) -> Iterator[tuple[str, int]]:
    """Each of these with the places where it ends in the answer, no letter or digit beside it; of many in one pass."""
    if len(tails) > _FEW:
        wanted = frozenset(tails)
        for found in _SEGMENT.finditer(answer):
            if found.group() in wanted:
                yield found.group(), found.end()
        return
    for tail in tails:
        at = answer.find(tail)
        while at >= 0:
            end = at + len(tail)
            if answer[at - 1 : at] not in _LETTERS_AND_DIGITS and answer[end : end + 1] not in _LETTERS_AND_DIGITS:
                yield tail, end
            at = answer.find(tail, end)


def _has_fields(answer: str) -> bool:
    """Whether an object of JSON may stand in the answer that has a name field."""
    return "{" in answer and ("name" in answer or "function" in answer or "tool" in answer)


def fold(text: str) -> str:
    """The letters and digits of `text`, in their own case: what is left of a name when its signs are put aside."""
    return "".join(filter(str.isalnum, text))


def is_meant(written: str, toolset: Toolset) -> bool:
    """Whether an offered name or alias has the letters and digits of `written`, signs put aside, if these are few.

    But for the last of them, which stand together here as they do there: `mention` looks for these.
    """
    folded = fold(written)
    # Of signs hardly more than of letters, whatever the length of other names.
    if folded not in toolset._folded or len(written) > 2 * len(folded) + 1:
        return False
    found = _TAIL.search(written)
    tails = ("",) if found is None else ("", found.group(1))
    return any(tail in toolset._tails and folded in toolset._tails[tail].names for tail in tails)


def _rebuild(
    tools: tuple[Tool, ...], aliases: dict[str, str], namespaces: frozenset[str], never: frozenset[str] = frozenset()
) -> Toolset:
    return Toolset(tools, aliases=aliases, namespaces=namespaces, never=never)


def _index(tools: Iterable[object]) -> dict[str, Tool]:
    """Every tool by its name, in the caller's order."""
    # All of these can be iterated, or look as if, and none is a list of tools.
    if isinstance(tools, (str, bytes, bytearray, Mapping, Tool, type)) or hasattr(tools, "model_dump"):
        raise TypeError(
            f"tools: pass a list of tools, not {'' if isinstance(tools, type) else 'a single '}{_kind(tools)}"
        )
    if isinstance(tools, Toolset):
        # Iterating it would lose its aliases without a word.
        raise TypeError("tools: this is a Toolset already; for another one pass [*toolset.tools, …] and aliases")
    if not isinstance(tools, Iterable):
        raise TypeError(f"tools: expected a list of tools, got {_kind(tools)}")
    exact: dict[str, Tool] = {}
    places: dict[str, str] = {}
    for number, item in enumerate(tools):
        place = f"tools[{number}]"
        tool = _tool(item, place)
        if tool is None:
            continue
        earlier = exact.setdefault(tool.name, tool)
        if earlier != tool:
            raise ValueError(
                f"{place}: {tool.name!r} was already offered by {places[tool.name]} with a different definition"
            )
        places.setdefault(tool.name, place)
    return exact


def _index_aliases(aliases: Mapping[str, str], exact: dict[str, Tool]) -> dict[str, Tool]:
    """The tool of every alias."""
    if not isinstance(aliases, Mapping):
        raise TypeError(f"aliases: expected a mapping of original to offered names, got {_kind(aliases)}")
    alias: dict[str, Tool] = {}
    for name, target in aliases.items():
        place = f"aliases[{name!r}]"
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"{place}: an alias needs a non-empty name")
        if not isinstance(target, str) or not target.strip():
            raise ValueError(f"{place}: an alias stands for the name of an offered tool, got {target!r}")
        if target not in exact:
            raise ValueError(f"{place}: {target!r} is not among the offered tools")
        alias[str.__str__(name)] = exact[target]
    return alias


def _names(given: Iterable[str], place: str, one: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        single = "a single " if isinstance(given, str) else ""
        raise TypeError(f"{place}: expected a collection of names, got {single}{_kind(given)}")
    names = tuple(given)
    for number, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"{place}[{number}]: {one} must be a str, got {_kind(name)}")
    return names


def _offered(given: Iterable[str], place: str, exact: dict[str, Tool]) -> frozenset[str]:
    """Names of tools, each of which must be offered."""
    names = _names(given, place, "the name of a tool")
    for number, name in enumerate(names):
        if name not in exact:
            raise ValueError(f"{place}[{number}]: {name!r} is not among the offered tools")
    return frozenset(names)


def _tool(item: object, place: str) -> Tool | None:
    """The tool that `item` describes; None for a built-in of the API, which nobody calls by name."""
    if isinstance(item, Tool):
        return _checked(item.name, item.description, item.parameters, place)
    if isinstance(item, str):
        return _checked(item, "", {}, place)
    if isinstance(item, Mapping):
        return _tool_of_mapping(item, place)
    if isinstance(item, type):
        return _tool_of_model(item, place)
    for key in ("inputSchema", "input_schema"):
        # An MCP tool, of the library or the caller's own; before `model_dump`, which would copy the schema.
        if hasattr(item, key):
            description = getattr(item, "description", None)
            return _checked(getattr(item, "name", None), description, getattr(item, key), place)
    dumped = _dumped(item)
    if dumped is None:
        raise TypeError(f"{place}: expected a tool, got {_kind(item)}")
    return _tool_of_mapping(dumped, place)


def _dumped(item: object) -> Mapping[Any, Any] | None:
    """A mapping as it is, an object of pydantic's (all of `openai`'s are) as one; None for anything else."""
    if isinstance(item, Mapping):
        return item
    dump = None if isinstance(item, type) else getattr(item, "model_dump", None)
    dumped = dump() if callable(dump) else None
    return dumped if isinstance(dumped, Mapping) else None


def _tool_of_mapping(item: Mapping[Any, Any], place: str) -> Tool | None:
    body, kind, function = item, item.get("type"), item.get("function")
    if function is not None:
        dumped = _dumped(function)
        if dumped is None:
            raise TypeError(f"{place}: 'function' must be a mapping, got {_kind(function)}")
        body = dumped
    schema = next((body[key] for key in _SCHEMA_KEYS if body.get(key) is not None), None)
    # New built-ins appear all the time, so they are known by what they lack: some have a name (Anthropic's `bash`,
    # OpenAI's free-text `custom`), none has a schema. Anthropic's own tools may say `custom` and do have one.
    # `object` is no tool's type but a schema's: a schema given in place of a tool is a mistake to be told.
    if body is item and isinstance(kind, str) and kind not in ("function", "object") and schema is None:
        return None
    return _checked(body.get("name"), body.get("description"), schema, place)


def _tool_of_model(item: type, place: str) -> Tool:
    """A pydantic model class: the class name is the tool's, the docstring its description."""
    if not hasattr(item, "model_json_schema"):
        raise TypeError(f"{place}: expected a tool, got {_kind(item)}")
    try:
        schema = item.model_json_schema()
    except Exception as error:  # Anything: it is the model's own code that runs here.
        raise ValueError(f"{place}: the model {item.__name__} has no JSON Schema: {error}") from error
    # pydantic puts the docstring there, its indentation taken away.
    description = schema.get("description") if isinstance(schema, Mapping) else None
    return _checked(item.__name__, description, schema, place)


def _checked(name: object, description: object, schema: object, place: str) -> Tool:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{place}: the name of a tool must be a str, got {_kind(name)}")
    if name is None or not name.strip():
        raise ValueError(f"{place}: a tool needs a non-empty name, got {name!r}")
    # The name goes into results, so an enum's member or the like becomes the plain string that it is.
    name = str.__str__(name)
    if description is None:
        description = ""
    if not isinstance(description, str):
        raise TypeError(f"{place}: the description of {name!r} must be a str, got {_kind(description)}")
    if schema is None:
        schema = {}
    if not isinstance(schema, Mapping):
        raise TypeError(f"{place}: the parameters of {name!r} must be a JSON Schema as a mapping, got {_kind(schema)}")
    return Tool(name, description, schema if isinstance(schema, dict) else dict(schema))


def _kind(item: object) -> str:
    return f"the class {item.__name__}" if isinstance(item, type) else type(item).__name__
