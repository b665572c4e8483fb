"""What a request lets be recovered, by its `tool_choice` and by whether it forbids parallel calls."""

from __future__ import annotations

from typing import Any

import pytest

from recovery import Limits, Policy, Reason, Toolset, recover
from recovery.gateways.request import Offer, anthropic_offer, goes_on, openai_offer, request_toolset

TOOLS = Toolset(["f", "g", "h"], aliases={"x": "g"})


def names(offer: Offer) -> list[str]:
    """What a written call may be made of."""
    return [tool.name for tool in offer.tools.tools if tool.name not in offer.tools.never]


class NotGiven:
    """As the library's own: false, and neither dict nor object of pydantic."""

    def __bool__(self) -> bool:
        return False


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


@pytest.mark.parametrize(
    ("choice", "left"),
    [
        (None, "f g h"),
        (NotGiven(), "f g h"),
        ("auto", "f g h"),
        ("required", "f g h"),
        ("any", "f g h"),
        ({"type": "auto"}, "f g h"),
        ("none", ""),
        ({"type": "none"}, ""),
        (function("g"), "g"),
        ({"type": "function", "name": "g"}, "g"),
        # Not by an alias: what the request names is what it offers.
        (function("x"), ""),
        (function("gone"), ""),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [function("h"), function("f")]}}, "f h"),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}, "f"),
        ({"type": "allowed_tools", "tools": [function("gone"), function("f"), {"type": "mcp", "name": "g"}]}, "f"),
        ({"type": "web_search_preview"}, ""),
        ({"type": "custom", "custom": {"name": "f"}}, ""),
        ({"type": "mcp", "server_label": "s", "name": "f"}, ""),
        # What nobody knows.
        ("sometimes", ""),
        (5, ""),
        ({"type": 5}, ""),
        ({"type": []}, ""),
        ({"function": {"name": "f"}}, ""),
        ({"type": "function", "function": {"name": ["f"]}}, ""),
        ({"type": "function", "function": 5}, ""),
        ({"type": "allowed_tools", "allowed_tools": 5}, ""),
        ({"type": "allowed_tools", "tools": [5, None, {"type": "function"}]}, ""),
    ],
)
def test_what_a_choice_leaves(choice: Any, left: str) -> None:
    assert names(openai_offer(TOOLS, tool_choice=choice)) == left.split()


@pytest.mark.parametrize(
    ("choice", "left"),
    [
        (None, "f g h"),
        (NotGiven(), "f g h"),
        ({"type": "auto"}, "f g h"),
        ({"type": "any"}, "f g h"),
        ({"type": "none"}, ""),
        ({"type": "tool", "name": "g"}, "g"),
        ({"type": "tool", "name": "gone"}, ""),
        ({"type": "tool", "name": ["g"]}, ""),
        ({"type": ["tool"]}, ""),
        ({"type": "later"}, ""),
        (5, ""),
    ],
)
def test_what_a_choice_of_anthropic_leaves(choice: Any, left: str) -> None:
    assert names(anthropic_offer(TOOLS, tool_choice=choice)) == left.split()


def test_what_is_left_keeps_what_belongs_to_it() -> None:
    offer = openai_offer(TOOLS, tool_choice=function("g"), policy=Policy.strict(), commit="call")
    assert (dict(offer.tools.aliases), sorted(offer.tools.never)) == ({"x": "g"}, ["f", "h"])
    assert (offer.policy, offer.commit) == (Policy.strict(), "call")
    assert openai_offer(TOOLS).tools is TOOLS


def test_what_a_gateway_keeps_back_is_kept_back_where_it_is_chosen() -> None:
    kept_back = Toolset(["f", "g"], never={"g"})
    assert names(openai_offer(kept_back, tool_choice=function("g"))) == []


def test_a_tool_that_was_not_chosen_still_has_its_name() -> None:
    tools = ["a.b", "a_b"]
    offer = openai_offer(tools, tool_choice=function("a_b"))
    for answer, called in (("a.b(x=1)", []), ("[a_b(x=1), a.b()]", []), ("a_b(x=1)", ["a_b"])):
        assert [call.name for call in recover(answer, offer.tools).calls] == called


@pytest.mark.parametrize(
    "offer",
    [
        openai_offer(TOOLS, policy=Policy.lenient(Limits(depth=7)), commit="call", parallel_tool_calls=False),
        anthropic_offer(
            TOOLS,
            policy=Policy.lenient(Limits(depth=7)),
            commit="call",
            tool_choice={"type": "auto", "disable_parallel_tool_use": True},
        ),
    ],
    ids=["openai", "anthropic"],
)
def test_where_calls_may_not_be_parallel_several_are_text(offer: Offer) -> None:
    assert offer == Offer(TOOLS, Policy.lenient(Limits(depth=7, calls=1)), "answer")
    refusal = recover("[f(), g()]", offer.tools, policy=offer.policy).refusal
    assert refusal is not None
    assert refusal.reason is Reason.TOO_MANY_CALLS
    assert len(recover("[f()]", offer.tools, policy=offer.policy).calls) == 1


@pytest.mark.parametrize("given", [None, True, NotGiven(), 0])
def test_only_false_forbids_parallel_calls(given: Any) -> None:
    assert openai_offer(TOOLS, parallel_tool_calls=given).policy == Policy.default()


def test_a_gateways_own_names_are_held_to_the_tools_of_the_request() -> None:
    tools = request_toolset(["f", "g"], aliases={"a": "f", "b": "gone"}, never=["g", "gone"])
    assert (dict(tools.aliases), sorted(tools.never)) == ({"a": "f"}, ["g"])
    kept_back = Toolset(["f", "g", "h"], aliases={"x": "g"}, never={"h"})
    assert request_toolset(kept_back, never=["gone"]) is kept_back
    assert request_toolset(Toolset(["f"], namespaces=["api"]), never=["f"]).namespaces == {"api"}
    more = request_toolset(kept_back, never=["f"])
    assert (dict(more.aliases), sorted(more.never)) == ({"x": "g"}, ["f", "h"])


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Do not run:"}], True),
        (({"role": "assistant", "content": "2 *"},), True),
        ([{"role": "assistant", "content": "Hi"}, {"role": "user", "content": "Hi"}], False),
        ([{"role": "assistant", "tool_calls": []}, {"role": "tool", "content": "5"}], False),
        ([], False),
        (None, False),
        ("assistant", False),
        ([5], False),
        (NotGiven(), False),
    ],
)
def test_an_answer_may_be_the_end_of_a_message(messages: object, expected: bool) -> None:
    assert goes_on(messages) is expected
