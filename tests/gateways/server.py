"""A server on loopback that answers the real client libraries as their services would.

A request for a stream gets the transcript that its model names. Any other gets a whole answer that says what the user
said; the model is how the answer ends, as the service names it (`stop`, `max_tokens`, `completed` …).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.gateways.transcripts import read

LIBRARY_OF_PATH = {"/v1/chat/completions": "openai", "/v1/messages": "anthropic"}


def completion(said: Any, end: str) -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": said, "refusal": None}, "finish_reason": end}
    row = {"id": "chatcmpl-7", "object": "chat.completion", "created": 1750000000, "model": "echo"}
    return {**row, "choices": [{"index": index, "logprobs": None, **choice} for index in range(2)]}


def message(said: Any, end: str) -> dict[str, Any]:
    usage = {"input_tokens": 5, "output_tokens": 9}
    content = [{"type": "text", "text": said}] if isinstance(said, str) else said
    row = {"id": "msg_7", "type": "message", "role": "assistant", "model": "echo", "content": content}
    return {**row, "stop_reason": end, "stop_sequence": None, "usage": usage}


def response(said: Any, end: str) -> dict[str, Any]:
    text = {"type": "output_text", "text": said, "annotations": []}
    item = {"type": "message", "id": "msg_7", "role": "assistant", "status": "completed", "content": [text]}
    row = {"id": "resp_7", "object": "response", "created_at": 1750000000, "model": "echo", "status": end}
    more = {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
    return {**row, **more, "output": [{"type": "reasoning", "id": "rs_7", "summary": []}, item]}


WHOLE = {"/v1/chat/completions": completion, "/v1/messages": message, "/v1/responses": response}


class _Handler(BaseHTTPRequestHandler):
    """One request after another."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not request.get("stream"):
            self._answer(request)
            return
        library = LIBRARY_OF_PATH[self.path]
        (transcript,) = [found for found in read(library) if found.name == request["model"]]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for item in transcript.rows_of("in"):
            self._send(item, named=library == "anthropic")
        if transcript.breaks:
            # Without the last chunk of the transfer.
            self.close_connection = True
            return
        if library == "openai":
            self._write(b"data: [DONE]\n\n")
        self._write(b"")

    def _answer(self, request: Any) -> None:
        said = request["input"] if "input" in request else request["messages"][-1]["content"]
        body = json.dumps(WHOLE[self.path](said, request["model"])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        # As each of the services names it.
        self.send_header("request-id" if self.path == "/v1/messages" else "x-request-id", "req_7")
        self.end_headers()
        self.wfile.write(body)

    def _send(self, item: Any, *, named: bool) -> None:
        name = f"event: {item['type']}\n" if named else ""
        self._write(f"{name}data: {json.dumps(item)}\n\n".encode())

    def _write(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *args: Any) -> None:
        """Nothing: a test that fails says what it asked for."""


class Server(ThreadingHTTPServer):
    """Clients may leave early."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[str]:
    """The server's address, while it runs."""
    with Server(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
