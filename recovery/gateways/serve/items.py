"""Events of a chat completion's stream as chunks, those that came at once joined where they differ in their text alone.

May import: `gateways.serve.sse`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

from .sse import data_of

_decode: Final = json.JSONDecoder().raw_decode
# What JSON knows as white space.
_BLANKS: Final = " \t\n\r"


class Item(NamedTuple):
    """One event or several, as they came, and what they say.

    "nothing": no data. "end": the stream's last word. "unknown": what can't be read. Otherwise there is a chunk, and
    its only choice, where that is a piece of text and nothing else.
    """

    events: bytes
    kind: Literal["chunk", "nothing", "end", "unknown"]
    chunk: dict[str, Any]
    piece: dict[str, Any] | None


def items_of(events: Iterable[bytes]) -> Iterator[Item]:
    """The items, which joined are the events."""
    first: Item | None = None
    more: list[Item] = []
    for item in map(_item, events):
        if first is not None and _goes_on(first, item):
            more.append(item)
            continue
        if first is not None:
            yield _joined(first, more)
        first, more = item, []
    if first is not None:
        yield _joined(first, more)


def json_object(data: bytes) -> dict[str, Any] | None:
    """The object; None where this is none, or no JSON."""
    try:
        # What `json.loads` does, less what it does to find out an encoding.
        text = data.decode().strip(_BLANKS)
        value, end = _decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and end == len(text) else None


def _item(event: bytes) -> Item:
    data = data_of(event)
    if data is None:
        return Item(event, "nothing", {}, None)
    if data.strip() == b"[DONE]":
        return Item(event, "end", {}, None)
    chunk = json_object(data)
    return Item(event, "unknown", {}, None) if chunk is None else Item(event, "chunk", chunk, _piece_of(chunk))


def _piece_of(chunk: dict[str, Any]) -> dict[str, Any] | None:
    choices = chunk.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return None
    choice: dict[str, Any] = choices[0]
    delta = choice.get("delta")
    is_piece = isinstance(delta, dict) and len(delta) == 1 and isinstance(delta.get("content"), str)
    return choice if is_piece and choice.get("finish_reason") is None else None


def _goes_on(first: Item, item: Item) -> bool:
    """Whether both are pieces of text of one choice, and nothing else."""
    one, other = first.piece, item.piece
    if one is None or other is None:
        return False
    same = {**item.chunk, "choices": first.chunk["choices"]} == first.chunk
    return same and {**other, "delta": one["delta"]} == one


def _joined(first: Item, more: list[Item]) -> Item:
    if first.piece is None or not more:
        return first
    events = b"".join([first.events, *(item.events for item in more)])
    content = "".join(item.piece["delta"]["content"] for item in (first, *more) if item.piece is not None)
    piece = {**first.piece, "delta": {"content": content}}
    return Item(events, "chunk", {**first.chunk, "choices": [piece]}, piece)
