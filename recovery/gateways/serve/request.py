"""The client's side of an exchange: its body, bounded, and whether it is still there.

May import: nothing of the package.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from starlette.types import Receive


class TooLargeError(Exception):
    """The body of the request is larger than the limit."""


class GoneError(Exception):
    """The client went away before its request was whole."""


class Body:
    """The body of a request, in pieces, and what comes behind it."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._most = most
        self._size = 0
        self._is_whole = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Raises `TooLargeError` and `GoneError`."""
        while not self._is_whole.is_set():
            message: Any = await self._receive()
            if message["type"] == "http.disconnect":
                raise GoneError
            piece = message.get("body", b"")
            self._size += len(piece)
            if self._size > self._most:
                raise TooLargeError
            if not message.get("more_body", False):
                self._is_whole.set()
            if piece:
                yield piece

    async def read(self) -> bytes:
        return b"".join([piece async for piece in self])

    async def gone(self) -> None:
        """Come back when the client goes away behind its whole request, or has its whole answer."""
        await self._is_whole.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
