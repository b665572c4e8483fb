"""One request in, the same to the upstream, its answer back: unchanged, but for calls that were written as text.

May import: `gateways.log`, `gateways.request`, `gateways.serve.gathered`, `gateways.serve.headers`,
`gateways.serve.log`, `gateways.serve.metrics`, `gateways.serve.pool`, `gateways.serve.reading`,
`gateways.serve.request`, `gateways.serve.settings`.
"""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Final

import httpx
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from recovery.gateways.log import Reading
from recovery.gateways.request import goes_on, openai_offer, request_toolset

from .gathered import gathered
from .headers import OF_THE_BODY, Headers, Unpacked, passed_on, value_of
from .log import Log
from .metrics import Metrics
from .pool import Pool
from .reading import Reader
from .request import Body, GoneError, TooLargeError
from .settings import Settings

_CHAT: Final = "/chat/completions"
# These stand in the request to the upstream in another form.
_HOST: Final = frozenset((b"host",))
_HOST_AND_PACKING: Final = frozenset((b"host", b"accept-encoding"))


class Proxy:
    """The ASGI application that passes requests on."""

    def __init__(self, settings: Settings, pool: Pool, metrics: Metrics, log: Log) -> None:
        self.settings = settings
        self.pool = pool
        self.metrics = metrics
        self.log = log
        self.url = httpx.URL(settings.upstream)
        self.prefix = self.url.raw_path.rstrip(b"/")
        read = settings.read_timeout
        self.timeout = {"connect": settings.connect_timeout, "read": read, "write": read, "pool": None}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await WebSocketClose()(scope, receive, send)
            return
        await _Exchange(self, scope, receive, send).run()


class _Exchange:
    """One request and its answer."""

    def __init__(self, proxy: Proxy, scope: Scope, receive: Receive, send: Send) -> None:
        self._proxy = proxy
        self._scope = scope
        self._send = send
        self._body = Body(receive, proxy.settings.max_request)
        self._reader: Reader | None = None
        self._status = 0
        self._sent = 0
        # Whether the answer is out, and whether it was stopped because the client went away.
        self._is_over = False
        self._is_gone = False
        self._outcome = "passed"
        self._unread = ""
        self._answers: list[dict[str, Any]] = []

    async def run(self) -> None:
        self._proxy.metrics.open.inc()
        began = time.perf_counter()
        task = asyncio.current_task()
        assert task is not None
        watcher = asyncio.create_task(self._watch(task))
        try:
            await self._exchange()
        except asyncio.CancelledError:
            if not self._is_gone:
                self._outcome = "stopped"
                raise
            task.uncancel()
            self._outcome = "client_gone"
        except GoneError:
            self._outcome = "client_gone"
        except TooLargeError:
            most = self._proxy.settings.max_request
            await self._fail(413, "request_too_large", f"the request is larger than {most:,} bytes")
        except TimeoutError:
            await self._fail(408, "request_timeout", "the request did not arrive in time")
        except httpx.TimeoutException:
            await self._fail(504, "upstream_timeout", "the upstream did not answer in time")
        except (httpx.TransportError, zlib.error) as error:
            broken = "broke off" if self._status else "could not be reached, or broke off before it answered"
            await self._fail(502, "upstream_broken", f"the upstream {broken} ({type(error).__name__})")
        finally:
            watcher.cancel()
            self._conclude(time.perf_counter() - began)

    async def _watch(self, task: asyncio.Task[Any]) -> None:
        await self._body.gone()
        if not self._is_over:
            self._is_gone = True
            task.cancel()

    async def _exchange(self) -> None:
        headers: Headers = self._scope["headers"]
        length = value_of(headers, b"content-length")
        if length.isdigit() and int(length) > self._proxy.settings.max_request:
            raise TooLargeError
        content: bytes | Body | None = None
        if self._scope["method"] == "POST" and self._scope["path"].endswith(_CHAT):
            async with asyncio.timeout(self._proxy.settings.read_timeout):
                content = await self._body.read()
            self._reader = self._make_reader(content)
        elif length not in (b"", b"0") or value_of(headers, b"transfer-encoding"):
            content = self._body
        else:
            await self._body.read()
        response = await self._proxy.pool.ask(self._request(headers, content))
        try:
            await self._answer(response)
        finally:
            await response.aclose()

    def _request(self, headers: Headers, content: bytes | Body | None) -> httpx.Request:
        kept = passed_on(headers, _HOST)
        if self._reader is not None:
            # What is packed as the client likes it might not be to be read here.
            kept = [*passed_on(headers, _HOST_AND_PACKING), (b"accept-encoding", b"identity")]
        target = self._proxy.prefix + self._scope["raw_path"]
        if self._scope["query_string"]:
            target += b"?" + self._scope["query_string"]
        # The path by itself, as it was written: a URL would be put into a form of its own.
        extensions = {"timeout": self._proxy.timeout, "target": target}
        return httpx.Request(
            self._scope["method"], self._proxy.url, headers=kept, content=content, extensions=extensions
        )

    def _make_reader(self, body: bytes) -> Reader | None:
        """What reads the answers to this request; None where nothing can be recovered of them."""
        settings = self._proxy.settings
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            return None
        tools = request.get("tools") if isinstance(request, dict) else None
        if not isinstance(tools, list) or not tools:
            return None
        if goes_on(request.get("messages")):
            self._unread = "goes_on"
            return None
        try:
            offer = openai_offer(
                request_toolset(tools, never=settings.never),
                policy=settings.policy,
                commit=settings.commit,
                tool_choice=request.get("tool_choice"),
                parallel_tool_calls=request.get("parallel_tool_calls"),
            )
        except (TypeError, ValueError):
            self._unread = "tools"
            return None
        if not len(offer.tools):
            return None
        return Reader(
            offer, reasoning_open=settings.reasoning_open, most=settings.max_answer, on_reading=self._on_reading
        )

    def _on_reading(self, reading: Reading) -> None:
        self._proxy.metrics.count_answer(reading)
        self._proxy.log.write_reading(reading)
        recovery = reading.recovery
        row: dict[str, Any] = {"status": recovery.status}
        if recovery.calls:
            row |= {"calls": len(recovery.calls), "used": sorted(recovery.used)}
        if recovery.refusal is not None:
            row["reason"] = recovery.refusal.reason.value
            row |= {"dialect": recovery.refusal.dialect} if recovery.refusal.dialect else {}
        self._answers.append(row)

    # The answer

    async def _answer(self, response: httpx.Response) -> None:
        headers = passed_on(response.headers.raw)
        kind, encoding = value_of(headers, b"content-type"), value_of(headers, b"content-encoding")
        is_packed = encoding not in (b"", b"identity")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        pieces = aiter(response.stream)
        is_read = self._reader is not None and response.status_code == 200
        if is_read and is_packed and not Unpacked.knows(encoding):
            self._unread = "encoding"
        elif is_read and kind == b"text/event-stream":
            await self._start(response.status_code, passed_on(headers, OF_THE_BODY))
            await self._stream(_unpacked(pieces) if is_packed else pieces)
            return
        elif is_read and kind == b"application/json":
            await self._whole(headers, pieces, is_packed=is_packed)
            return
        await self._start(response.status_code, headers)
        await self._pass(pieces)

    async def _pass(self, pieces: AsyncIterator[bytes]) -> None:
        async for piece in pieces:
            await self._write(piece)
        await self._finish()

    async def _stream(self, pieces: AsyncIterator[bytes]) -> None:
        assert self._reader is not None
        try:
            async with aclosing(gathered(pieces)) as joined:
                async for piece in joined:
                    await self._write(self._reader.feed(piece))
        except (httpx.TransportError, zlib.error):
            await self._write(self._reader.end())
            raise
        await self._finish(self._reader.end())

    async def _whole(self, headers: Headers, pieces: AsyncIterator[bytes], *, is_packed: bool) -> None:
        assert self._reader is not None
        most = self._proxy.settings.max_answer
        held = bytearray()
        try:
            while len(held) <= most:
                held += await anext(pieces)
        except StopAsyncIteration:
            pass
        except httpx.TransportError:
            await self._start(200, headers)
            await self._write(bytes(held))
            raise
        else:
            self._unread = "too_large"
            await self._start(200, headers)
            await self._write(bytes(held))
            await self._pass(pieces)
            return
        body = bytes(held)
        text = _unpack(body, most) if is_packed else body
        if text is None:
            self._unread = "encoding"
        else:
            made = self._reader.whole(text)
            if self._reader.changed:
                body = made
                headers = [*passed_on(headers, OF_THE_BODY), (b"content-length", b"%d" % len(body))]
        await self._start(200, headers)
        await self._finish(body)

    async def _start(self, status: int, headers: Headers) -> None:
        self._status = status
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def _write(self, data: bytes) -> None:
        """Waits while the client takes no more: meanwhile nothing is asked of the upstream."""
        if data:
            self._sent += len(data)
            await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def _finish(self, data: bytes = b"") -> None:
        self._sent += len(data)
        self._is_over = True
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def _fail(self, status: int, outcome: str, message: str) -> None:
        """Say what went wrong; where the answer has begun already, the server breaks it off."""
        self._outcome = outcome
        if self._status:
            return
        body = json.dumps({"error": {"message": message, "type": outcome, "param": None, "code": None}}).encode()
        await self._start(status, [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))])
        await self._finish(body)

    def _conclude(self, seconds: float) -> None:
        metrics, reader = self._proxy.metrics, self._reader
        metrics.open.dec()
        if reader is not None and reader.changed and self._outcome == "passed":
            self._outcome = "recovered"
        metrics.count_request(self._outcome)
        unread = self._unread or (reader.unread if reader is not None else "")
        if reader is not None or unread:
            metrics.count_reading(reader.seconds if reader is not None else 0.0, unread)
        row: dict[str, Any] = {"method": self._scope["method"], "path": self._scope["path"], "status": self._status}
        row |= {"outcome": self._outcome, "seconds": round(seconds, 6), "bytes": self._sent}
        if reader is not None:
            row |= {"answers": self._answers, "reading_seconds": round(reader.seconds, 6)}
        if unread:
            row["unread"] = unread
        self._proxy.log.write("request", **row)


async def _unpacked(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    unpacked = Unpacked()
    async for packed in pieces:
        for piece in unpacked.feed(packed):
            yield piece


def _unpack(body: bytes, most: int) -> bytes | None:
    """The body unpacked; None where it is too large, or not packed as it says."""
    held = bytearray()
    try:
        for piece in Unpacked().feed(body):
            held += piece
            if len(held) > most:
                return None
    except zlib.error:
        return None
    return bytes(held)
