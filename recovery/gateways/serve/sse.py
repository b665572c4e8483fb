"""Server-sent events, as bytes: where each ends, and the data in it. Joined, they are what came.

A line ends with a line feed, a carriage return or both, an event with an empty line. May import: nothing of the
package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# The end of a line, and the empty line behind it.
_END: Final = re.compile(rb"\n(?:\n|\r\n?)|\r\r\n?")
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
# So many bytes before the last one may begin an end.
_BEGUN: Final = 2
_MARK: Final = b"\xef\xbb\xbf"


class Events:
    """Takes bytes in pieces of any size, and gives events: each with the empty line that ends it."""

    __slots__ = ("_held", "_plain", "_searched")

    def __init__(self) -> None:
        self._held = bytearray()
        self._searched = 0
        # Whether no carriage return has come, as hardly ever one does: then an end is found without a pattern.
        self._plain = True

    def __len__(self) -> int:
        """How many bytes of an event that has not ended are held."""
        return len(self._held)

    def feed(self, data: bytes) -> list[bytes]:
        """The events that end in these bytes."""
        held = self._held
        self._plain = self._plain and b"\r" not in data
        if self._plain and not held and data.find(b"\n\n") == len(data) - 2 >= 0:
            return [data]
        held += data
        events = []
        start = 0
        for end in self._plain_ends() if self._plain else self._ends():
            events.append(bytes(held[start:end]))
            start = end
        if start:
            del held[:start]
        self._searched = len(held)
        return events

    # What was searched is not searched again, but for what may have begun at its end.

    def _plain_ends(self) -> Iterator[int]:
        at = self._held.find(b"\n\n", max(self._searched - 1, 0))
        while at >= 0:
            yield at + 2
            at = self._held.find(b"\n\n", at + 2)

    def _ends(self) -> Iterator[int]:
        for found in _END.finditer(self._held, max(self._searched - _BEGUN, 0)):
            if found.end() == len(self._held) and self._held[-1:] == b"\r":
                # A line feed that follows belongs to it.
                return
            yield found.end()

    def rest(self) -> bytes:
        """What is held, given out: the beginning of an event that has not ended."""
        rest = bytes(self._held)
        self._held.clear()
        self._searched = 0
        return rest


def data_of(event: bytes) -> bytes | None:
    """The data of an event, its lines joined by line feeds; None where it has none, as a comment."""
    if event.startswith(b"data: ") and event.find(b"\n") == len(event) - 2 and b"\r" not in event:
        # As almost all are.
        return event[6:-2]
    lines = []
    for line in _LINE_END.split(event.removeprefix(_MARK)):
        name, _, value = line.partition(b":")
        if name == b"data":
            lines.append(value.removeprefix(b" "))
    return b"\n".join(lines) if lines else None


def event_of(data: bytes) -> bytes:
    """An event of this data, which holds no line end."""
    return b"data: %b\n\n" % data
