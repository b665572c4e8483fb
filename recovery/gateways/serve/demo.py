"""An upstream to try the proxy with: asked with tools, it writes a call of the first one as text.

May import: nothing of the package.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

# What a model writes for a value of each type.
_VALUES: Final = {
    "string": '"Kilvik"',
    "integer": "2",
    "number": "1.5",
    "boolean": "True",
    "array": "[]",
    "object": "{}",
}
_PROSE: Final = "Low water at Kilvik is at noon."
# Between two pieces of a stream.
_SECONDS: Final = 0.05


def _answer(request: dict[str, Any]) -> str:
    """`[Tide.forecast(port="Kilvik", days=2)]` where `Tide_forecast` is offered; words where nothing is."""
    functions = [tool["function"] for tool in request.get("tools") or [] if "function" in tool]
    if not functions:
        return _PROSE
    properties = (functions[0].get("parameters") or {}).get("properties") or {}
    arguments = ", ".join(f"{key}={_VALUES.get(schema.get('type'), 'None')}" for key, schema in properties.items())
    return f"[{functions[0]['name'].replace('_', '.', 1)}({arguments})]"


async def _complete(request: Request) -> Response:
    asked = await request.json()
    answer = _answer(asked)
    frame = {"id": "chatcmpl-demo", "created": 0, "model": asked.get("model", "demo")}
    if asked.get("stream"):
        return StreamingResponse(_stream(frame, answer), media_type="text/event-stream")
    message = {"role": "assistant", "content": answer}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return JSONResponse({**frame, "object": "chat.completion", "choices": [choice]})


async def _stream(frame: dict[str, Any], answer: str) -> AsyncIterator[str]:
    pieces = [answer[at : at + 4] for at in range(0, len(answer), 4)]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces), {}]
    for delta in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
        yield f"data: {json.dumps({**frame, 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"
        await asyncio.sleep(_SECONDS)
    yield "data: [DONE]\n\n"


@contextmanager
def demo_upstream() -> Iterator[str]:
    """Its address, while it runs in a thread."""
    app = Starlette(routes=[Route("/v1/chat/completions", _complete, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, ws="none"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
