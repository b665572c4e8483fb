"""One answer on its way through an adapter: text goes in, text and calls come out, and what is held can be taken back.

May import: the public names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from recovery import CallEvent, Event, Recovery, Stream, TextEvent

Commit = Literal["answer", "call"]
# Is told an answer that was read to its end.
Tell = Callable[[str, Recovery], object]


class Answer:
    """A `Stream` that can be given up.

    White space alone beside calls is no text, as in `Recovery.to_openai_message`: what text begins with is held until
    more than white space comes, and dropped where calls came and nothing else did.
    """

    __slots__ = ("_blank", "_fed", "_length", "_out", "_stream", "_tell", "calls", "reading", "spoken")

    def __init__(self, stream: Stream, tell: Tell | None = None) -> None:
        self._stream = stream
        self._tell = tell
        # All that was fed, its length, and how much of it the stream has given out as text.
        self._fed: list[str] = []
        self._length = 0
        self._out = 0
        # White space that the stream has given out, before other text.
        self._blank: list[str] = []
        # Whether other text has gone out already.
        self.spoken = False
        # How many calls have gone out.
        self.calls = 0
        # Whether the answer may still become calls; if not, text passes by.
        self.reading = True

    @property
    def holds(self) -> bool:
        """Whether text is held, or may be."""
        # Where calls have gone out, what was cut away around them is not known here.
        return self.reading and (self._out < self._length or bool(self._blank) or self.calls > 0)

    def feed(self, text: str) -> list[str | CallEvent]:
        """The next piece of the answer: what goes out now, in order."""
        self._fed.append(text)
        self._length += len(text)
        return self._pieces(self._stream.feed(text))

    def finish(self) -> list[str | CallEvent]:
        """The answer is whole: what was held, as calls and text."""
        self.reading = False
        pieces = self._pieces(self._stream.close())
        if self._tell is not None and self._length:
            self._tell("".join(self._fed), self._stream.result)
        if self._blank and not self.calls:
            pieces.insert(0, "".join(self._blank))
        return pieces

    def give_up(self) -> str:
        """The answer is not whole, or not to be read: what was held, as text."""
        self.reading = False
        if not self.calls:
            return "".join(self._blank) + "".join(self._fed)[self._out :]
        # The separators around a call that was held are gone: so are those around the calls that went out.
        answer = "".join(self._fed)
        held = [
            event.text if isinstance(event, TextEvent) else answer[slice(*event.call.span)]
            for event in self._stream.close()
            if isinstance(event, TextEvent | CallEvent)
        ]
        text = "".join([*self._blank, *held])
        return text if self.spoken or text.strip() else ""

    def _pieces(self, events: Iterable[Event]) -> list[str | CallEvent]:
        pieces: list[str | CallEvent] = []
        for event in events:
            if isinstance(event, CallEvent):
                self.calls += 1
                pieces.append(event)
            elif isinstance(event, TextEvent):
                self._out += len(event.text)
                if not self.spoken and not event.text.strip():
                    self._blank.append(event.text)
                    continue
                self.spoken = True
                text = "".join([*self._blank, event.text])
                self._blank.clear()
                pieces.append(text)
        return pieces
