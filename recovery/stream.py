"""The machine behind `recover`: `feed` the answer as it arrives, `close` it, take the `result`.

Holds the answer, lets the envelope walk over it, and says what is certain. May import: `envelope`, `frozen`,
`policy`, `result`, `toolset`, `verdict`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from .envelope import Envelope
from .frozen import Frozen
from .policy import Policy
from .result import Call, Recovery
from .toolset import Toolset
from .verdict import judge


class TextEvent(Frozen):
    """Text for the user."""

    __slots__ = ("text",)

    text: str

    def __init__(self, text: str) -> None:
        self._set(text)


class CallEvent(Frozen):
    """A recovered call, and its place among the calls of the answer."""

    __slots__ = ("index", "call")

    index: int
    call: Call

    def __init__(self, index: int, call: Call) -> None:
        self._set(index, call)


class EndEvent(Frozen):
    """The answer is over: the whole result."""

    __slots__ = ("recovery",)

    recovery: Recovery

    def __init__(self, recovery: Recovery) -> None:
        self._set(recovery)


Event = TextEvent | CallEvent | EndEvent


class Stream:
    """Reads one answer in pieces of any size.

    Nothing is given out before it is certain: text as soon as no block can come any more, calls when the answer is
    closed. Text events joined, and call events in order, are what `result` holds, wherever the answer was cut.
    """

    __slots__ = ("_deltas", "_envelope", "_policy", "_released", "_result", "_toolset")

    def __init__(
        self, tools: Toolset | Iterable[object], *, policy: Policy | None = None, commit: Literal["answer"] = "answer"
    ) -> None:
        """`tools`: a `Toolset`, or anything `Toolset` takes. Raises `TypeError` or `ValueError` as `Toolset` does."""
        if commit != "answer":
            raise ValueError(f"commit must be 'answer', not {commit!r}")
        self._toolset = Toolset.of(tools)
        self._policy = Policy.of(policy)
        self._envelope = Envelope(self._toolset, self._policy.limits)
        self._deltas: list[str] = []
        # How many of the deltas have gone out as text.
        self._released = 0
        self._result: Recovery | None = None

    @property
    def result(self) -> Recovery:
        """The result of the whole answer. Raises `ValueError` before `close`."""
        if self._result is None:
            raise ValueError("Stream.result is there once the stream is closed: call close() first")
        return self._result

    def feed(self, delta: str) -> list[Event]:
        """Take the next piece of the answer. Raises `TypeError` for what is no str, `ValueError` once closed."""
        if not isinstance(delta, str):
            raise TypeError(f"Stream.feed takes a str, not {type(delta).__name__}")
        if self._result is not None:
            raise ValueError("Stream.feed: the stream is closed")
        self._advance(delta, final=False)
        return self._release() if self._envelope.over else []

    def close(self) -> list[Event]:
        """The answer is over: all that was not given out yet, and the result. A second call gives nothing."""
        if self._result is not None:
            return []
        self._advance("", final=True)
        result = self.result
        if result.status != "recovered":
            return [*self._release(), EndEvent(result)]
        events: list[Event] = [TextEvent(result.text)] if result.text else []
        events += [CallEvent(number, call) for number, call in enumerate(result.calls)]
        return [*events, EndEvent(result)]

    def _advance(self, delta: str, *, final: bool) -> None:
        self._deltas.append(delta)
        self._envelope.feed(delta, final)
        if final:
            self._result = judge(self._envelope, "".join(self._deltas), self._toolset, self._policy)

    def _release(self) -> list[Event]:
        """What has not gone out yet, as text."""
        text = "".join(self._deltas[self._released :])
        self._released = len(self._deltas)
        return [TextEvent(text)] if text else []
