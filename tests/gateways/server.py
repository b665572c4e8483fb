"""A server on loopback that replays the transcripts to the real client libraries, as their services would send them."""

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


class _Handler(BaseHTTPRequestHandler):
    """The transcript that the request's model names."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
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

    def _send(self, item: Any, *, named: bool) -> None:
        name = f"event: {item['type']}\n" if named else ""
        self._write(f"{name}data: {json.dumps(item)}\n\n".encode())

    def _write(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *args: Any) -> None:
        """Nothing: a test that fails says what it asked for."""


class _Server(ThreadingHTTPServer):
    """Clients may leave early."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[str]:
    """The server's address, while it runs."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
