"""A message as the pieces that a client's stream has, dicts, and what a client joins such pieces to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Calls = list[tuple[str, Any]]


@dataclass
class Message:
    """What a client joins what comes out to."""

    text: str = ""
    calls: Calls = field(default_factory=list)
    reason: str | None = None


def chunk(content: str | None = None, finish: str | None = None, *, index: int = 0, **delta: object) -> dict[str, Any]:
    delta |= {} if content is None else {"content": content}
    return {"id": "c", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def chunks(cut: list[str], finish: str | None = "stop", index: int = 0) -> list[dict[str, Any]]:
    first = chunk("", role="assistant", index=index)
    return [first, *(chunk(piece, index=index) for piece in cut), chunk(finish=finish, index=index)]


def join_chunks(items: list[Any]) -> dict[int, Message]:
    """The messages, by choice. No delta is empty, and the calls of a choice are numbered as they come."""
    messages: dict[int, Message] = {}
    ids = []
    for item in items:
        assert item["id"] == "c"
        for choice in item["choices"]:
            message = messages.setdefault(choice["index"], Message())
            delta = choice["delta"]
            assert any(delta.values()) or choice["finish_reason"], item
            assert message.reason is None, "a delta behind the finish reason"
            message.text += delta.get("content") or ""
            for call in delta.get("tool_calls", ()):
                assert call["index"] == len(message.calls)
                ids.append(call["id"])
                message.calls.append((call["function"]["name"], json.loads(call["function"]["arguments"])))
            message.reason = choice["finish_reason"]
    assert len(set(ids)) == len(ids)
    return messages


def events(blocks: list[list[str]], reason: str | None = "end_turn") -> list[dict[str, Any]]:
    """The events of a message with these blocks of text."""
    items: list[dict[str, Any]] = [{"type": "message_start", "message": {"content": []}}]
    for index, block in enumerate(blocks):
        items.append({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}})
        for piece in block:
            delta = {"type": "text_delta", "text": piece}
            items.append({"type": "content_block_delta", "index": index, "delta": delta})
        items.append({"type": "content_block_stop", "index": index})
    return [*items, {"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]


def join_events(items: list[Any]) -> Message:
    """The message. One block is open at a time, they are numbered in order, and none that is text is empty."""
    message = Message()
    starts = 0
    block: dict[str, Any] | None = None
    held = ""
    for item in items:
        if item["type"] == "content_block_start":
            assert block is None
            block, held = item["content_block"], ""
            assert item["index"] == starts
            starts += 1
        elif item["type"] == "content_block_delta":
            assert block is not None
            assert item["index"] == starts - 1
            held += item["delta"]["text" if block["type"] == "text" else "partial_json"]
        elif item["type"] == "content_block_stop":
            assert block is not None
            assert item["index"] == starts - 1
            assert held
            if block["type"] == "text":
                message.text += held
            else:
                message.calls.append((block["name"], json.loads(held)))
            block = None
        elif item["type"] == "message_delta":
            message.reason = item["delta"]["stop_reason"]
    assert block is None
    return message
