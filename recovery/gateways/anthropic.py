"""Anthropic messages: calls that the model wrote as text become blocks of tool use.

`recover_message` does it for a message that is whole, `recover_stream` for the events of a stream. May import: the
public names, `gateways.answer`, `gateways.items`, `gateways.iterators`, `gateways.log`, `gateways.message`,
`gateways.request`, `gateways.whole`.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterable, Callable, Iterable
from functools import partial
from typing import Any, TypeVar, overload

from recovery import CallEvent, Policy, Recovery, Stream, Toolset

from .answer import Answer, Commit, Tell
from .items import changed, field, new
from .iterators import AdaptedIterator, AsyncAdaptedIterator, Untouched, adapt
from .log import OnRecovery, Reading
from .message import WHOLE, recover_message
from .request import anthropic_offer
from .whole import check_function, random_id

__all__ = ["recover_message", "recover_stream"]

T = TypeVar("T")


@overload
def recover_stream(
    events: AsyncIterable[T],
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    commit: Commit = "answer",
    reasoning_open: bool = False,
    make_id: Callable[[], str] | None = None,
    tool_choice: object = None,
    on_recovery: OnRecovery | None = None,
) -> AsyncAdaptedIterator[T]: ...
@overload
def recover_stream(
    events: Iterable[T],
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    commit: Commit = "answer",
    reasoning_open: bool = False,
    make_id: Callable[[], str] | None = None,
    tool_choice: object = None,
    on_recovery: OnRecovery | None = None,
) -> AdaptedIterator[T]: ...
def recover_stream(
    events: Any,
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    commit: Commit = "answer",
    reasoning_open: bool = False,
    make_id: Callable[[], str] | None = None,
    tool_choice: object = None,
    on_recovery: OnRecovery | None = None,
) -> Any:
    """The events of a message stream, with the calls that the model wrote as text in place of that text.

    `events`: an iterator, plain or async, of raw events (what `messages.create(stream=True)` gives), dicts or the
    library's objects; what comes out is an iterator of the same kind and the same items. It has `close` (async:
    `aclose`) and is a context manager; both close `events`. `tools` and the rest are as for `Stream`; the default ids
    begin with `toolu_`. `tool_choice` and `on_recovery` are as for `recover_message`. Where the request leaves no tools
    all events pass.

    - `events` are those of `messages.create(…, stream=True)`. What the helper `messages.stream` makes of them beside
      (its `text` events, its final message) holds the text as it came.
    - The text blocks of a message are read as one answer, the end of a block as nothing. Text is held while it may be a
      call, and so is the start of its block; a block that was calls alone never starts.
    - A call is a block of its own: start, one delta with the whole input, stop. Blocks behind it move up. Where calls
      went out, the stop reason is `tool_use`.
    - If anything but more text comes while text is held (another block, also of text, the model's own tool use, a
      citation), what was held goes out as text before it, and the rest of the message passes; its own tool use always
      ends the reading.
    - An answer that the upstream cuts (any stop reason but `end_turn`, `stop_sequence` and `tool_use`, none, an
      exception) is text: what is missing could be an operator or the next call. With `commit="call"` the calls that had
      gone out stay.

    Raises `TypeError` or `ValueError` as `Stream` does, `TypeError` for an event that is neither dict nor object, and
    what `events` raises, behind what was held.
    """
    check_function("on_recovery", on_recovery)
    offer = anthropic_offer(tools, policy=policy, commit=commit, tool_choice=tool_choice)
    stream = Stream(
        offer.tools,
        policy=offer.policy,
        commit=offer.commit,
        reasoning_open=reasoning_open,
        make_id=make_id or partial(random_id, "toolu"),
    )

    def tell(answer: str, recovery: Recovery) -> None:
        assert on_recovery is not None
        on_recovery(Reading(answer, offer.tools, recovery, message.model))

    message = _Message(stream, tell if on_recovery is not None else None)
    return adapt(events, message if len(offer.tools) else Untouched())


class _Message:
    """The adapter: events in, events out."""

    def __init__(self, stream: Stream, tell: Tell | None = None) -> None:
        self._answer = Answer(stream, tell)
        # What its start calls the model.
        self.model: str | None = None
        # How many blocks have gone out, and as which of them each block of the upstream passes.
        self._blocks = 0
        self._numbers: dict[int, int] = {}
        # The last block of text: its start, its last piece, its stop where that is held, and whether it had any text.
        self._start: Any = None
        self._delta: Any = None
        self._stop: Any = None
        self._has_text = False
        # As which block its text goes out at present.
        self._open: int | None = None

    def feed(self, event: Any) -> list[Any]:
        kind = field(event, "type")
        if kind == "message_delta":
            return self._on_reason(event)
        if kind == "message_start":
            model = field(field(event, "message"), "model")
            self.model = model if isinstance(model, str) else None
            return [event]
        if kind in ("message_stop", "error"):
            return [*self.end(), event]
        index = field(event, "index")
        if not isinstance(index, int):
            return [event]
        if kind == "content_block_start":
            return self._on_start(event)
        if self._start is None or index != field(self._start, "index"):
            return [_numbered(event, self._numbers.get(index, index))]
        if kind == "content_block_stop":
            return self._on_stop(event)
        return self._on_delta(event)

    def end(self) -> list[Any]:
        """What is held, as text: the message was cut, or is not to be read any further."""
        text = self._answer.give_up() if self._answer.reading else ""
        made = self._say(text) if text else []
        if self._stop is not None:
            made += self._close(self._stop)
        return made

    def _on_start(self, event: Any) -> list[Any]:
        block = field(event, "content_block")
        kind = field(block, "type")
        made = []
        if kind == "tool_use" or self._answer.holds or field(block, "text"):
            made = self.end()
        if kind == "text" and self._answer.reading:
            self._start, self._has_text, self._open = event, False, None
            # White space alone is no block either: it could not be sent back.
            self._answer.spoken = False
            return made
        number = self._numbers[field(event, "index")] = self._next()
        return [*made, _numbered(event, number)]

    def _on_delta(self, event: Any) -> list[Any]:
        """For the block of text: a piece of it, or what belongs to it, as a citation does."""
        delta = field(event, "delta")
        text = field(delta, "text")
        if field(delta, "type") != "text_delta" or not isinstance(text, str):
            made = self.end() if self._answer.holds else []
            made += self._begin()
            return [*made, _numbered(event, self._open)]
        self._delta = event
        self._has_text = self._has_text or bool(text)
        return self._put(self._answer.feed(text) if self._answer.reading else [text])

    def _on_stop(self, event: Any) -> list[Any]:
        if self._answer.holds:
            self._stop = event
            return []
        return self._close(event)

    def _on_reason(self, event: Any) -> list[Any]:
        delta = field(event, "delta")
        reason = field(delta, "stop_reason")
        if reason is None:
            return [event]
        made: list[Any] = []
        if self._answer.reading and reason in WHOLE:
            made = self._put(self._answer.finish())
        made += self.end()
        if self._answer.calls and reason in WHOLE:
            event = changed(event, delta=changed(delta, stop_reason="tool_use"))
        return [*made, event]

    def _put(self, pieces: Iterable[str | CallEvent]) -> list[Any]:
        made: list[Any] = []
        for piece in pieces:
            made += self._say(piece) if isinstance(piece, str) else self._call(piece)
        return made

    def _say(self, text: str) -> list[Any]:
        """A piece of text, in the block that is open or one that begins with it."""
        made = self._begin()
        event, delta = self._delta, field(self._delta, "delta")
        if text != field(delta, "text"):
            event = changed(event, delta=changed(delta, text=text))
        return [*made, _numbered(event, self._open)]

    def _begin(self) -> list[Any]:
        """The start of the block of text, where it is not open."""
        if self._open is not None:
            return []
        self._open = self._next()
        return [_numbered(self._start, self._open)]

    def _close(self, stop: Any) -> list[Any]:
        """The end of the block of text, if it ever began; one that came empty passes."""
        made = [] if self._has_text else self._begin()
        if self._open is not None:
            made.append(_numbered(stop, self._open))
        self._open = self._stop = self._start = None
        return made

    def _call(self, event: CallEvent) -> list[Any]:
        """A call, as a block of its own."""
        made = []
        kinds = type(self._start), type(self._delta), _kind_of_stop(self._start)
        if self._open is not None:
            made.append(new(kinds[2], {"type": "content_block_stop", "index": self._open}))
            self._open, self._answer.spoken = None, False
        index = self._next()
        block = {"type": "tool_use", "id": event.id, "name": event.call.name, "input": {}}
        arguments = event.call.to_json_arguments()
        delta = {"type": "input_json_delta", "partial_json": arguments}
        return [
            *made,
            new(kinds[0], {"type": "content_block_start", "index": index, "content_block": block}),
            new(kinds[1], {"type": "content_block_delta", "index": index, "delta": delta}),
            new(kinds[2], {"type": "content_block_stop", "index": index}),
        ]

    def _next(self) -> int:
        self._blocks += 1
        return self._blocks - 1


def _numbered(event: Any, index: int | None) -> Any:
    return event if field(event, "index") == index else changed(event, index=index)


def _kind_of_stop(start: Any) -> type:
    """The class of a stop: with objects, what the library has beside the class of this start.

    A call may go out before any block has stopped.
    """
    kind = type(start)
    if issubclass(kind, dict):
        return kind
    beside = sys.modules[kind.__module__.rpartition(".")[0]]
    found: type = getattr(beside, kind.__name__.replace("Start", "Stop"))
    return found
