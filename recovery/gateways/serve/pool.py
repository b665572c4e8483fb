"""The connections to the upstream. May import: `gateways.serve.settings`."""

from __future__ import annotations

import ssl
from contextlib import AsyncExitStack
from itertools import cycle
from typing import Final, Self

import httpx

from .settings import Settings

# A pool of httpx looks at all its connections twice for each request, at each idle one by a call of the system: so
# there are several, by turns.
_POOLS: Final = 16
# Idle connections that each keeps, and for how many seconds.
_IDLE: Final = 16
_SECONDS: Final = 30


class Pool:
    """Connections to one upstream, as many as are asked for; `async with` closes them."""

    def __init__(self, settings: Settings) -> None:
        # The certificates that the system trusts; without TLS none are read, which takes time.
        trusted = ssl.create_default_context() if settings.upstream.startswith("https:") else False
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=_IDLE, keepalive_expiry=_SECONDS)
        self._pools = [httpx.AsyncHTTPTransport(verify=trusted, limits=limits) for _ in range(_POOLS)]
        self._turns = cycle(self._pools)
        self._closing = AsyncExitStack()

    async def ask(self, request: httpx.Request) -> httpx.Response:
        """The answer, of which the body is still to come. Raises `httpx.TransportError`."""
        return await next(self._turns).handle_async_request(request)

    async def __aenter__(self) -> Self:
        for pool in self._pools:
            await self._closing.enter_async_context(pool)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._closing.aclose()
