"""Answers as bytes: those without a recovered call come out byte for byte as they went in.

`Reader` reads the answers to one request, whole or as a stream of events. May import: the public names,
`gateways.completion`, `gateways.items`, `gateways.log`, `gateways.openai`, `gateways.request`, `gateways.serve.items`,
`gateways.serve.sse`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from recovery import CallEvent, Recovery, Stream
from recovery.gateways.completion import ENDS_READING, WHOLE, recover_completion
from recovery.gateways.items import field
from recovery.gateways.log import OnRecovery, Reading
from recovery.gateways.openai import _NO_NEWS, _Choice, _Choices
from recovery.gateways.request import Offer

from .items import Item, items_of, json_object
from .sse import Events, event_of


class Reader:
    """What the readings of one request share: the offer, the time they took, and why something was not read."""

    def __init__(self, offer: Offer, *, reasoning_open: bool, most: int, on_reading: OnRecovery) -> None:
        """`most`: of how many bytes an answer, or an event of one, is read."""
        self._offer = offer
        self._reasoning_open = reasoning_open
        self._most = most
        self._on_reading = on_reading
        self.seconds = 0.0
        # Why (a part of) the answers passed unread, in a word; empty where all was read.
        self.unread = ""
        # Whether what goes out is not what came.
        self.changed = False
        self._begin()

    def whole(self, body: bytes) -> bytes:
        """The body of an answer that is no stream: itself, or another with calls."""
        began = time.perf_counter()
        try:
            return self._whole(body)
        finally:
            self.seconds += time.perf_counter() - began

    def _whole(self, body: bytes) -> bytes:
        completion = json_object(body)
        if completion is None:
            self.unread = "malformed"
            return body
        try:
            made = recover_completion(
                completion,
                self._offer.tools,
                policy=self._offer.policy,
                reasoning_open=self._reasoning_open,
                on_recovery=self._on_reading,
            )
            self.unread = next(filter(None, map(_why_passed, completion.get("choices") or ())), "")
            if made is not completion:
                body = _json_bytes(made)
                self.changed = True
        except Exception as error:  # noqa: BLE001  # whatever an upstream sends, its client gets it
            self.unread = type(error).__name__
        return body

    # A stream

    def _begin(self) -> None:
        self._events = Events()
        self._choices = _Choices(self._make_stream, self._tell)
        # The choices that have ended.
        self._ended: set[int] = set()
        # Events that wait until what they hold is known to be text: as they came, and what would go out instead.
        self._held: list[bytes] = []
        self._instead: list[bytes | Any] = []
        self._held_size = 0
        self._passing = False

    def _make_stream(self) -> Stream:
        offer = self._offer
        return Stream(offer.tools, policy=offer.policy, commit=offer.commit, reasoning_open=self._reasoning_open)

    def feed(self, data: bytes) -> bytes:
        """The next bytes of a stream of events: what goes out now."""
        passing = self._passing
        if passing:
            return data
        began = time.perf_counter()
        out: list[bytes] = []
        for item in items_of(self._events.feed(data)):
            out += self._take(item)
        if not self._passing and max(len(self._events) + self._held_size, self._kept()) > self._most:
            out += self._give_up("too_large")
        if self._passing:
            out.append(self._events.rest())
        self.seconds += time.perf_counter() - began
        return b"".join(out)

    def end(self) -> bytes:
        """The upstream is over, in good order or not: the rest."""
        if self._passing:
            return b""
        cut = any(choice._answer.reading for choice in self._choices._choices.values())
        return b"".join([*self._give_up("cut" if cut else ""), self._events.rest()])

    def _take(self, item: Item) -> list[bytes]:
        events, kind, chunk, piece = item
        if self._passing:
            return [events]
        if kind == "nothing":
            return self._pass(events)
        if kind == "end":
            return [*self._give_up(""), events]
        if kind == "unknown":
            # It may have been a part of an answer.
            return [*self._give_up("malformed"), events]
        try:
            made = self._feed(chunk, piece)
        except Exception as error:  # noqa: BLE001  # whatever an upstream sends, its client gets it
            return [*self._give_up(type(error).__name__), events]
        holds = self._holds()
        instead = [events if one is chunk else one for one in made]
        if self.changed:
            return self._release(instead)
        if not holds and not self._held:
            return [events]
        self._hold(events, instead)
        return [] if holds else self._release()

    def _feed(self, chunk: dict[str, Any], piece: dict[str, Any] | None) -> list[Any]:
        """What the adapter makes of it: at once where it is a piece of text that is text for sure, as most are."""
        if piece is None or not chunk.keys() <= _NO_NEWS:
            return self._choices.feed(chunk)
        choice = self._choices._choices.get(piece.get("index") or 0)
        if choice is None or not choice._answer.reading:
            return self._choices.feed(chunk)
        content = piece["delta"]["content"]
        choice._chunk, choice._choice = chunk, piece
        pieces = choice._answer.feed(content) if content else []
        if len(pieces) == 1 and pieces[0] == content:
            return [chunk]
        if any(isinstance(one, CallEvent) for one in pieces):
            made, left = choice._with_calls(piece, pieces, content, {})
        else:
            made, left = choice._with_text(piece, "".join(map(str, pieces)), content, {})
        return [*made, *([{**chunk, "choices": left}] if left else [])]

    def _pass(self, event: bytes) -> list[bytes]:
        """An event that says nothing goes out in its place."""
        if not self._held:
            return [event]
        self._hold(event, [event])
        return []

    def _hold(self, event: bytes, instead: list[bytes | Any]) -> None:
        self._held.append(event)
        self._held_size += len(event)
        self._instead += instead

    def _release(self, more: list[bytes | Any] | None = None) -> list[bytes]:
        """What was held, and more: as it came, unless a call was recovered."""
        out = self._held
        if self.changed:
            out = [item if isinstance(item, bytes) else event_of(_json_bytes(item)) for item in self._instead]
            out += [item if isinstance(item, bytes) else event_of(_json_bytes(item)) for item in more or ()]
        self._held, self._instead, self._held_size = [], [], 0
        return out

    def _kept(self) -> int:
        """How much text is kept of what is being read: all of it, whether it has gone out or not."""
        answers = (choice._answer for choice in self._choices._choices.values())
        return sum(answer._length for answer in answers if answer.reading)

    def _give_up(self, why: str) -> list[bytes]:
        """The rest of the stream passes, behind what is held."""
        self._passing = True
        self.unread = why or self.unread
        return self._release(self._choices.end() if self.changed else None)

    def _holds(self) -> bool:
        """Whether any choice holds text; notes what became of those that have ended."""
        holds = False
        for index, choice in self._choices._choices.items():
            answer = choice._answer
            holds = holds or answer.holds
            self.changed = self.changed or answer.calls > 0
            if not answer.reading and index not in self._ended:
                self._ended.add(index)
                self.unread = self.unread or _why_unread(choice)
        return holds

    def _tell(self, answer: str, recovery: Recovery) -> None:
        self._on_reading(Reading(answer, self._offer.tools, recovery, self._choices.model))


def _why_unread(choice: _Choice) -> str:
    """Why a choice that has ended was not read to its end; empty where it was."""
    if choice._answer._stream._result is not None:
        return ""
    return _why_beside(field(choice._choice, "delta")) or "cut"


def _why_passed(choice: object) -> str:
    """As `_why_unread`, of a choice that came whole."""
    beside = _why_beside(field(choice, "message"))
    return beside or ("" if field(choice, "finish_reason") in WHOLE else "cut")


def _why_beside(said: object) -> str:
    """Why a delta or message is not read for what stands beside its text; empty where nothing does."""
    found = next((name for name in ENDS_READING if field(said, name)), "")
    return found if found in ("", "refusal") else "own_calls"


def _json_bytes(value: Mapping[str, Any]) -> bytes:
    # `NaN` and `Infinity`, which some upstreams send among log probabilities, go out as they came.
    return json.dumps(value, separators=(",", ":")).encode()
