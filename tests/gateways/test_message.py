"""Anthropic messages that come whole, as dicts; and what a stream of one honours and tells."""

from __future__ import annotations

from copy import deepcopy
from itertools import count
from typing import Any

import pytest
from hypothesis import given

from recovery import Policy, Reason
from recovery.gateways.anthropic import recover_message, recover_stream
from recovery.gateways.log import Reading
from tests.gateways.messages import events, join_events
from tests.strategies import TOOLS, answers, examples, pieces, policies

Row = dict[str, Any]
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
SINGLE = {"type": "auto", "disable_parallel_tool_use": True}


def text(said: Any, **more: Any) -> Row:
    return {"type": "text", "text": said, **more}


def use(number: int, name: str = "f", **arguments: Any) -> Row:
    return {"type": "tool_use", "id": f"id_{number}", "name": name, "input": arguments}


def message(*blocks: Any, reason: Any = "end_turn") -> Row:
    row: Row = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(blocks)}
    return {**row, "stop_reason": reason, "stop_sequence": None, "usage": {"output_tokens": 9}}


def recovered(given: Any, tools: Any = ("f", "g"), **options: Any) -> Any:
    """What comes of it, with ids in order; what was given is as before."""
    before, numbers = deepcopy(given), count(1)
    out = recover_message(given, tools, make_id=lambda: f"id_{next(numbers)}", **options)
    assert given == before
    return out


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([text("f(x=1)")], [use(1, x=1)]),
        ([text("[f(x=1), g()]", citations=None)], [use(1, x=1), use(2, "g")]),
        ([text("So.\nf(x=1)", citations=[])], [text("So.\n", citations=[]), use(1, x=1)]),
        ([THINKING, text(" f(x=1)\n")], [THINKING, use(1, x=1)]),
        ([{"type": "server_tool_use", "id": "s"}, text("f()")], [{"type": "server_tool_use", "id": "s"}, use(1)]),
    ],
)
@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence", "tool_use"])
def test_a_message(blocks: list[Row], expected: list[Row], reason: str) -> None:
    told: list[Reading] = []
    out = recovered(message(*blocks, reason=reason), policy=Policy.lenient(), on_recovery=told.append)
    assert out == message(*expected, reason="tool_use")
    assert [(reading.answer, reading.model) for reading in told] == [(blocks[-1]["text"], "m")]


CUT: tuple[Any, ...] = ("max_tokens", "refusal", "pause_turn", None, "", 5, ["end_turn"], {})


@pytest.mark.parametrize(
    "given",
    [
        message(text("f(x=1)"), use(7)),
        message(use(7), text("f(x=1)")),
        *(message(text("f(x=1)"), reason=reason) for reason in CUT),
        message(text("So."), text("f(x=1)")),
        message(text("f(x=1)"), THINKING),
        message(text("f(x=1)", citations=[{"type": "char_location"}])),
        message(text("")),
        message(text(5)),
        message(text(None)),
        message({"type": ["text"], "text": "f(x=1)"}),
        message({"text": "f(x=1)"}),
        message("f(x=1)"),
        message(None),
        message(THINKING),
        message(),
        {**message(), "content": "f(x=1)"},
        {**message(), "content": None},
        {"type": "error", "error": {"type": "overloaded_error"}},
        {},
    ],
)
def test_what_passes_is_the_same_object(given: Any) -> None:
    told: list[Reading] = []
    assert recovered(given, on_recovery=told.append) is given
    assert told == []


@pytest.mark.parametrize(
    "options",
    [
        {"tools": []},
        {"tool_choice": {"type": "none"}},
        {"tool_choice": {"type": "tool", "name": "g"}},
        {"tool_choice": {"type": "tool", "name": "gone"}},
    ],
)
def test_the_request_is_honoured(options: Row) -> None:
    given = message(text("f(x=1)"))
    assert recovered(given, **options) is given
    tools = options.get("tools", ["f", "g"])
    blocks = events([["f(", "x=1)"]])
    out = list(recover_stream(blocks, tools, tool_choice=options.get("tool_choice")))
    assert join_events(out) == join_events(blocks)


def test_several_calls_where_one_may_be_are_text_with_the_reason() -> None:
    told: list[Reading] = []
    given = message(text("[f(x=1), g()]"))
    assert recovered(given, tool_choice=SINGLE, on_recovery=told.append) is given
    blocks = events([["[f(x=1), ", "g()]"]])
    out = recover_stream(blocks, ["f", "g"], commit="call", tool_choice=SINGLE, on_recovery=told.append)
    assert join_events(list(out)).text == "[f(x=1), g()]"
    for reading in told:
        assert reading.recovery.refusal is not None
        assert reading.recovery.refusal.reason is Reason.TOO_MANY_CALLS
    assert len(told) == 2
    assert recovered(message(text("g()")), tool_choice=SINGLE)["content"] == [use(1, "g")]


@pytest.mark.parametrize("reason", ["max_tokens", None, 5, ["end_turn"]])
def test_a_cut_stream_is_not_told(reason: Any) -> None:
    told: list[Reading] = []
    out = list(recover_stream(events([["f(x=1)"]], reason), ["f"], on_recovery=told.append))
    assert join_events(out).text == "f(x=1)"
    assert told == []


@examples(300)
@given(answers.flatmap(pieces), policies)
def test_whole_and_streaming_say_the_same(cut: list[str], policy: Policy) -> None:
    told: list[Reading] = []
    again: list[Reading] = []
    out = recovered(message(text("".join(cut))), TOOLS, policy=policy, on_recovery=told.append)
    blocks = events([cut] if any(cut) else [])
    blocks[0]["message"]["model"] = "m"
    streamed = join_events(list(recover_stream(blocks, TOOLS, policy=policy, on_recovery=again.append)))
    assert streamed.text == "".join(block["text"] for block in out["content"] if block["type"] == "text")
    assert streamed.calls == [(block["name"], block["input"]) for block in out["content"] if block["type"] != "text"]
    assert streamed.reason == out["stop_reason"]
    assert told == again


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, ["f"], {}), "recover_message takes a dict or a pydantic object, not NoneType"),
        (({}, "f", {}), "tools: pass a list of tools"),
        (({}, ["f"], {"policy": "strict"}), "policy must be a Policy"),
        (({}, ["f"], {"make_id": "id"}), "make_id must be a function, not str"),
        (({}, ["f"], {"on_recovery": 5}), "on_recovery must be a function, not int"),
    ],
)
def test_a_callers_mistake_is_told(arguments: Any, message: str) -> None:
    given, tools, options = arguments
    with pytest.raises(TypeError, match=message):
        recover_message(given, tools, **options)
    if "on_recovery" in options:
        with pytest.raises(TypeError, match=message):
            recover_stream([], tools, **options)


def test_ids_are_made_up_as_the_service_makes_them() -> None:
    (block,) = recover_message(message(text("f()")), ["f"])["content"]
    assert block["id"].startswith("toolu_")
