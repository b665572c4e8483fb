"""What a request lets be recovered from its answer: the tools that it leaves to choose from, and how many calls.

May import: the public names, `gateways.answer`, `gateways.items`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from recovery import Limits, Policy, Toolset

from .answer import Commit
from .items import field

# As a word, or as the type of an object.
_ALL: Final = frozenset(("auto", "required", "any"))


class Offer(NamedTuple):
    """What may be recovered from the answers to one request.

    `tools`: an empty toolset where nothing may be, so that answers pass untouched. Where the request leaves some tools
    alone, a call of another is never recovered (`Toolset.never`). Where the request forbids parallel
    calls, `policy` has a limit of one call, and `commit` is "answer": a first call can't go out before it is known that
    there is no second.
    """

    tools: Toolset
    policy: Policy
    commit: Commit


def openai_offer(
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    commit: Commit = "answer",
    tool_choice: object = None,
    parallel_tool_calls: object = None,
) -> Offer:
    """What a request to OpenAI's API offers, a chat completion or the Responses API.

    `tool_choice` and `parallel_tool_calls` as the request has them, None (or the library's own "not given") where it
    has none. A choice of one function leaves that alone, `allowed_tools` leave those; a choice that is not known, or of
    what is no function, leaves nothing. Raises `TypeError` or `ValueError` as `Toolset` and `Policy.of` do.
    """
    chosen = _openai_names(tool_choice) if tool_choice else None
    return _offer(tools, policy, commit, chosen, is_single=parallel_tool_calls is False)


def anthropic_offer(
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    commit: Commit = "answer",
    tool_choice: object = None,
) -> Offer:
    """What a request to Anthropic's API offers.

    All as for `openai_offer`; `disable_parallel_tool_use` of `tool_choice` forbids parallel calls.
    """
    chosen = _anthropic_names(tool_choice) if tool_choice else None
    is_single = field(tool_choice, "disable_parallel_tool_use") is True
    return _offer(tools, policy, commit, chosen, is_single=is_single)


def request_toolset(
    tools: Toolset | Iterable[object], *, aliases: Mapping[str, str] | None = None, never: Iterable[str] = ()
) -> Toolset:
    """The tools of one request, with those of a gateway's aliases and of its `never` that are about one of them.

    Raises `TypeError` or `ValueError` as `Toolset` does.
    """
    offered = Toolset.of(tools)
    more = {alias: name for alias, name in (aliases or {}).items() if offered.get(name)}
    kept_back = {name for name in never if offered.get(name)}
    if not (more or kept_back):
        return offered
    return Toolset(
        offered.tools,
        aliases={**offered.aliases, **more},
        namespaces=offered.namespaces,
        never=offered.never | kept_back,
    )


def goes_on(messages: object) -> bool:
    """Whether the last of a request's messages is the model's own: nothing may be recovered of the answers then.

    Most servers have the model go on with such a message. The answer is its end alone, and `f(x=1)` behind a beginning
    as `2 *` or `Do not run:` is no call.
    """
    return isinstance(messages, list | tuple) and bool(messages) and field(messages[-1], "role") == "assistant"


def _offer(
    tools: Toolset | Iterable[object],
    policy: Policy | None,
    commit: Commit,
    chosen: set[str] | None,
    *,
    is_single: bool,
) -> Offer:
    toolset, policy = Toolset.of(tools), Policy.of(policy)
    if chosen is not None:
        names = {tool.name for tool in toolset.tools}
        # Kept back, not put aside: with `a.b` and `a_b` offered, `a.b(x=1)` is no call of the `a_b` that was chosen.
        toolset = request_toolset(toolset, never=names - chosen) if names & chosen else Toolset([])
    if is_single:
        limits = {name: getattr(policy.limits, name) for name in Limits.__slots__}
        policy, commit = Policy(policy.allow, Limits(**{**limits, "calls": 1})), "answer"
    return Offer(toolset, policy, commit)


def _openai_names(choice: object) -> set[str] | None:
    """The names that the choice leaves, or None for all."""
    kind = _kind(choice)
    if kind in _ALL:
        return None
    if kind == "function":
        return _names_of_functions([choice])
    if kind == "allowed_tools":
        # Chat completions have an object more around the list.
        allowed = field(field(choice, "allowed_tools") or choice, "tools")
        return _names_of_functions(allowed if isinstance(allowed, list | tuple) else ())
    return set()


def _names_of_functions(items: Iterable[object]) -> set[str]:
    # Chat completions have an object more around the name.
    names = [field(field(item, "function") or item, "name") for item in items if _kind(item) == "function"]
    return {name for name in names if isinstance(name, str)}


def _kind(choice: object) -> str | None:
    kind = choice if isinstance(choice, str) else field(choice, "type")
    return kind if isinstance(kind, str) else None


def _anthropic_names(choice: object) -> set[str] | None:
    kind = _kind(choice)
    if kind in _ALL:
        return None
    name = field(choice, "name")
    return {name} if kind == "tool" and isinstance(name, str) else set()
