"""The application, and the server that runs it.

May import: `gateways.serve.log`, `gateways.serve.metrics`, `gateways.serve.pool`, `gateways.serve.proxy`,
`gateways.serve.settings`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router

from .log import Log, LogHandler
from .metrics import CONTENT_TYPE, Metrics
from .pool import Pool
from .proxy import Proxy
from .settings import Settings


def make_app(settings: Settings, log: Log) -> Router:
    """The ASGI application: `/healthz`, `/metrics`, and all other paths are the upstream's."""
    metrics = Metrics()
    pool = Pool(settings)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def show_metrics(_: Request) -> Response:
        return Response(metrics.page(), headers={"content-type": CONTENT_TYPE})

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        async with pool:
            yield

    return Router(
        [Route("/healthz", health), Route("/metrics", show_metrics)],
        redirect_slashes=False,
        default=Proxy(settings, pool, metrics, log),
        lifespan=lifespan,
    )


def make_server(app: Any, log: Log, *, host: str = "127.0.0.1", port: int = 0, grace: int = 30) -> uvicorn.Server:
    """The server. `grace`: so many seconds at the end may answers take that are under way."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        # The upstream's own pass.
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=grace,
    )
    logger = logging.getLogger("uvicorn.error")
    logger.handlers = [LogHandler(log)]
    logger.propagate = False
    logger.setLevel(logging.INFO)
    return uvicorn.Server(config)
