"""An upstream on loopback that sends the bytes a test wants, the proxy before it, and requests to both."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import httpx

from recovery.gateways.serve.app import make_app, make_server
from recovery.gateways.serve.log import Log
from recovery.gateways.serve.settings import Settings
from tests.gateways.messages import chunks

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("Tide_forecast", "berth_book")
]
CHAT = "/v1/chat/completions"
CALL = '[Tide.forecast(port="Kilvik")]'
JSON = "application/json"
EVENTS = "text/event-stream"


@dataclass
class Asked:
    """A request as the upstream got it."""

    line: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes


Answer = Callable[[Asked, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Upstream:
    """`answer` writes the answers; `asked` are the requests; `left` is set when the proxy closed a connection."""

    answer: Answer
    address: str = ""
    asked: list[Asked] = field(default_factory=list)
    left: Event = field(default_factory=Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _read(reader):
                self.asked.append(request)
                await self.answer(request, reader, writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    head = await reader.readuntil(b"\r\n\r\n")
    line, *rest = head[:-4].split(b"\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (row.partition(b":") for row in rest)]
    length = dict(headers).get(b"content-length")
    body = b""
    if length:
        body = await reader.readexactly(int(length))
    elif dict(headers).get(b"transfer-encoding") == b"chunked":
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    return Asked(line, headers, body)


def head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def whole(body: bytes, *headers: tuple[str, str], status: int = 200, kind: str = JSON) -> Answer:
    """Answers with this body."""

    async def answer(_: Asked, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head(status, [("Content-Type", kind), ("Content-Length", str(len(body))), *headers]) + body)

    return answer


def streamed(
    pieces: Iterable[bytes], *headers: tuple[str, str], end: bool = True, pause: float = 0, kind: str = EVENTS
) -> Answer:
    """Answers with these pieces, each a chunk of the transfer; without `end` the connection breaks behind them."""
    cut = list(pieces)

    async def answer(_: Asked, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, [("Content-Type", kind), ("Transfer-Encoding", "chunked"), *headers]))
        for piece in cut:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(pause)
        if not end:
            raise ConnectionError
        writer.write(b"0\r\n\r\n")

    return answer


def sse(items: Iterable[Any], end: str = "\n") -> bytes:
    rows = [*(json.dumps(item, ensure_ascii=False) for item in items), "[DONE]"]
    return "".join(f"data: {row}{end}{end}" for row in rows).encode()


def text_stream(text: str, size: int = 4) -> bytes:
    return sse(chunks([text[at : at + size] for at in range(0, len(text), size)]))


def completion(*texts: str, finish: str = "stop") -> dict[str, Any]:
    choices = [
        {"index": index, "message": {"role": "assistant", "content": text, "refusal": None}, "finish_reason": finish}
        for index, text in enumerate(texts)
    ]
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}


@contextmanager
def upstream(answer: Answer) -> Iterator[Upstream]:
    """The upstream, while it runs."""
    found = Upstream(answer)
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(found.serve, "127.0.0.1", 0, limit=2**26))
    found.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    thread = Thread(target=loop.run_forever)
    thread.start()

    async def stop() -> None:
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    try:
        yield found
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@dataclass
class Running:
    """The proxy: its address, and what it has logged."""

    address: str
    lines: io.StringIO
    content: io.StringIO

    def log(self, count: int = 1) -> list[dict[str, Any]]:
        """The rows of so many requests; waits for them, as they are written behind the answer."""
        for _ in range(500):
            rows = [row for row in map(json.loads, self.lines.getvalue().splitlines()) if row["event"] == "request"]
            if len(rows) >= count:
                return rows
            time.sleep(0.01)
        raise AssertionError(self.lines.getvalue())

    def metrics(self) -> dict[str, float]:
        page = httpx.get(f"{self.address}/metrics", trust_env=False).text
        rows = (line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in rows}


@contextmanager
def proxy(address: str, *, grace: int = 1, **settings: Any) -> Iterator[Running]:
    """The proxy before this upstream, while it runs."""
    lines, content = io.StringIO(), io.StringIO()
    log = Log(lines, content)
    server = make_server(make_app(Settings(upstream=address, **settings), log), log, grace=grace)
    thread = Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Running(f"http://127.0.0.1:{port}", lines, content)
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def both(answer: Answer, **settings: Any) -> Iterator[tuple[Upstream, Running]]:
    with upstream(answer) as behind, proxy(behind.address, **settings) as before:
        yield behind, before


def request(**more: Any) -> dict[str, Any]:
    """The body of a request with tools."""
    return {"model": "m", "messages": [{"role": "user", "content": "secret question"}], "tools": TOOLS, **more}


@dataclass
class Got:
    """An answer as it arrived: the body not unpacked; whether the connection broke in it."""

    status: int
    headers: httpx.Headers
    body: bytes
    broke: bool


def ask(
    address: str, path: str = CHAT, *, method: str = "POST", content: Any = None, timeout: float = 20, **more: Any
) -> Got:
    """Send `content`, or a request with tools and `more` fields."""
    if content is None and method == "POST":
        content = json.dumps(request(**more)).encode()
    body, broke = b"", False
    with (
        httpx.Client(trust_env=False, timeout=timeout) as client,
        client.stream(method, address + path, content=content, headers={"authorization": "Bearer secret-key"}) as got,
    ):
        try:
            for piece in got.iter_raw():
                body += piece
        except httpx.RemoteProtocolError:
            broke = True
    return Got(got.status_code, got.headers, body, broke)


def events_in(body: bytes) -> list[Any]:
    rows = [line[6:] for line in body.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(row) for row in rows if row != "[DONE]"]
