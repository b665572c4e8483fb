"""Pieces of a body: joined where they come at once, never waited for, and no more than is taken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing
from typing import Any

import pytest

from recovery.gateways.serve.gathered import gathered


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(main, 10))


async def of(*pieces: bytes | None, error: Exception | None = None) -> AsyncIterator[bytes]:
    """The pieces; None stands for a moment in which there is none."""
    for piece in pieces:
        if piece is None:
            await asyncio.sleep(0.01)
        else:
            yield piece
    if error is not None:
        raise error


def test_what_comes_at_once_is_joined() -> None:
    async def main() -> None:
        got = [data async for data in gathered(of(b"a", b"b", None, b"c", None, None, b"d", b"e"))]
        assert got == [b"ab", b"c", b"de"]
        assert [data async for data in gathered(of())] == []

    run(main())


def test_an_error_comes_behind_what_had_come() -> None:
    async def main() -> None:
        pieces = gathered(of(b"a", None, b"b", b"c", error=ConnectionError()))
        assert [await anext(pieces), await anext(pieces)] == [b"a", b"bc"]
        with pytest.raises(ConnectionError):
            await anext(pieces)

    run(main())


def test_what_is_not_taken_stops_the_upstream() -> None:
    asked = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal asked
        while True:
            asked += 1
            yield b"x" * 1000

    async def main() -> None:
        async with aclosing(gathered(endless())) as pieces:
            for times in range(1, 5):
                taken = len(await anext(pieces))
                assert 64_000 < taken < 70_000
                await asyncio.sleep(0.01)
                assert asked < 140 * times

    run(main())


@pytest.mark.parametrize("begun", [0, 1])
def test_closing_ends_the_wait_for_the_upstream(begun: int) -> None:
    ended = False

    async def stalled() -> AsyncIterator[bytes]:
        nonlocal ended
        try:
            yield b"a"
            await asyncio.sleep(60)
        finally:
            ended = True

    async def main() -> None:
        pieces = gathered(stalled())
        for _ in range(begun):
            await anext(pieces)
        await pieces.aclose()
        assert ended == bool(begun)

    run(main())
