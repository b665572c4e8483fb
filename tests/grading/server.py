"""A server on loopback that answers as OpenAI's and Anthropic's services do, by a function that a test gives."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

# Of a request's path and body: a status, the answer's body, and headers.
Answering = Callable[[str, dict[str, Any]], tuple[int, Any, dict[str, str]]]


@dataclass
class Received:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.raw)
        return found


@dataclass
class Service:
    """Where it is, and what it has been asked."""

    address: str
    received: list[Received] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)


def completion(model: str, **message: Any) -> dict[str, Any]:
    """An answer of `/v1/chat/completions`."""
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": f"{model}-0101",
        "system_fingerprint": "fp_1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": None, **message},
                "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def tool_call(name: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """The `tool_calls` of a message."""
    return [{"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]


def message(model: str, *content: dict[str, Any]) -> dict[str, Any]:
    """An answer of `/v1/messages`."""
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": f"{model}-0101",
        "content": list(content),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


class _Server(ThreadingHTTPServer):
    """Clients may leave early."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(answering: Answering) -> Iterator[Service]:
    """The service, while it runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            with service.lock:
                service.received.append(Received(self.path, dict(self.headers), raw))
            status, body, headers = answering(self.path, json.loads(raw))
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers, "Content-Length": len(sent)}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *args: Any) -> None:
            """Nothing: a test that fails says what it asked for."""

    with _Server(("127.0.0.1", 0), Handler) as server:
        service = Service(f"http://127.0.0.1:{server.server_port}")
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
