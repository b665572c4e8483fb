"""A server on loopback that answers chat completions as the request's last message says, streaming or not.

That message is JSON: `choices`, each a message's fields with its `finish_reason`, and `ends`: "done", or "breaks",
where a stream ends in the middle.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import Any

from tests.gateways.server import Server

FRAME = {"id": "chatcmpl-echo", "created": 1750000000, "model": "echo"}
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
# Characters a chunk.
PIECE = 5


def says(*answers: str, finish: str = "stop", ends: str = "done", **fields: Any) -> list[dict[str, str]]:
    """The messages of a request that is answered so."""
    choices = [{"role": "assistant", "content": answer, "finish_reason": finish, **fields} for answer in answers]
    return [{"role": "user", "content": json.dumps({"choices": choices, "ends": ends})}]


class EchoServer(Server):
    """Keeps the requests that came."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: EchoServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        asked = json.loads(request["messages"][-1]["content"])
        if request.get("stream"):
            self._stream(asked)
        else:
            self._whole(asked)

    def _whole(self, asked: dict[str, Any]) -> None:
        choices = [
            {"index": index, "message": choice, "finish_reason": choice.pop("finish_reason")}
            for index, choice in enumerate(asked["choices"])
        ]
        body = json.dumps({**FRAME, "object": "chat.completion", "choices": choices, "usage": USAGE}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, asked: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for delta in _deltas(asked["choices"], breaks=asked["ends"] == "breaks"):
            frame = {**FRAME, "object": "chat.completion.chunk"}
            self._write(f"data: {json.dumps(frame | delta)}\n\n".encode())
        if asked["ends"] == "breaks":
            # Without the last chunk of the transfer.
            self.close_connection = True
            return
        self._write(b"data: [DONE]\n\n")
        self._write(b"")

    def _write(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *args: Any) -> None:
        """Nothing: a test that fails says what it asked for."""


def _deltas(choices: list[dict[str, Any]], *, breaks: bool) -> Iterator[dict[str, Any]]:
    for index, choice in enumerate(choices):
        finish, content = choice.pop("finish_reason"), choice.pop("content")
        pieces = [content[start : start + PIECE] for start in range(0, len(content), PIECE)]
        calls = [{"index": at, **call} for at, call in enumerate(choice.pop("tool_calls", ()))]
        deltas = [{**choice, "content": ""}, *({"content": piece} for piece in pieces)]
        deltas += [{"tool_calls": [call]} for call in calls]
        for delta in deltas:
            yield {"choices": [{"index": index, "delta": delta, "finish_reason": None}]}
        if breaks:
            return
        yield {"choices": [{"index": index, "delta": {}, "finish_reason": finish}]}
    yield {"choices": [], "usage": USAGE}


@contextmanager
def echoing() -> Iterator[EchoServer]:
    with EchoServer() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
