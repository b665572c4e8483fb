"""Pieces of a body joined with those that came with them. May import: nothing of the package."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

# So much waits to be taken; then nothing more is asked for.
_MOST: Final = 64 * 1024


async def gathered(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """The pieces, in as few as can be without waiting for any: what is there goes out at once.

    An upstream that is fast is read many events at a time; each on its own would be a write of its own. Raises what
    `pieces` raises, behind what had come. Has to be closed.
    """
    held: list[bytes] = []
    news, room = asyncio.Event(), asyncio.Event()

    async def gather() -> None:
        size = 0
        async for piece in pieces:
            if not held:
                size = 0
                news.set()
            held.append(piece)
            size += len(piece)
            if size >= _MOST:
                room.clear()
                await room.wait()

    # Goes on until it has to wait for a piece: only then is what it has gathered looked at.
    task = asyncio.create_task(gather())
    task.add_done_callback(lambda _: news.set())
    try:
        while not task.done() or held:
            await news.wait()
            news.clear()
            if held:
                data = b"".join(held)
                held.clear()
                room.set()
                yield data
        task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
