"""Which headers pass, and what an answer's body is packed in.

Headers are pairs of bytes, names in lower case. May import: nothing of the package.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator
from typing import Final

Headers = list[tuple[bytes, bytes]]

# What belongs to one connection alone (RFC 9110, section 7.6.1), and `expect`, which this server answers itself.
_OF_A_CONNECTION: Final = frozenset((
    b"connection", b"expect", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te",
    b"trailer", b"transfer-encoding", b"upgrade",
))  # fmt: skip
# What is no longer true of a body that was changed.
OF_THE_BODY: Final = frozenset((b"content-length", b"content-encoding", b"content-md5", b"content-digest", b"etag"))
# What zlib unpacks.
_PACKED: Final = frozenset((b"gzip", b"x-gzip", b"deflate"))
# So much is unpacked at once, however much it is packed.
_PIECE: Final = 256 * 1024


def passed_on(headers: Iterable[tuple[bytes, bytes]], without: Collection[bytes] = ()) -> Headers:
    """The headers less those of the connection, those that it names, and those without which they should be."""
    pairs = [(name.lower(), value) for name, value in headers]
    named = {word.strip().lower() for name, value in pairs if name == b"connection" for word in value.split(b",")}
    return [
        (name, value)
        for name, value in pairs
        if name not in _OF_A_CONNECTION and name not in named and name not in without
    ]


def value_of(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes:
    """The header's value, less parameters, in lower case; empty where there is none."""
    found = next((value for key, value in headers if key == name), b"")
    return found.partition(b";")[0].strip().lower()


class Unpacked:
    """Unpacks a body that comes in pieces, in pieces of bounded size."""

    def __init__(self) -> None:
        self._packed = zlib.decompressobj(_ANY)

    @staticmethod
    def knows(encoding: bytes) -> bool:
        return encoding in _PACKED

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What is in this piece. Raises `zlib.error` where it is not packed as it says."""
        while data:
            yield self._packed.decompress(data, _PIECE)
            data = self._packed.unconsumed_tail
            if self._packed.eof:
                # One packed body may stand behind another.
                data = self._packed.unused_data
                self._packed = zlib.decompressobj(_ANY)


# Of gzip or zlib, told by what the body begins with.
_ANY: Final = 32 + zlib.MAX_WBITS
