"""What goes wrong upstream, or before the proxy: the client sees what the upstream said, and the proxy goes on."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from tests.gateways.messages import chunks
from tests.serve.servers import (
    CALL,
    CHAT,
    EVENTS,
    Asked,
    Running,
    ask,
    both,
    completion,
    head,
    proxy,
    request,
    sse,
    streamed,
    text_stream,
    upstream,
    whole,
)

CALLED = json.dumps(completion(CALL)).encode()
HELD = text_stream(CALL)[:-60]


def goes_on(before: Running) -> None:
    assert ask(before.address, "/healthz", method="GET").status == 200
    assert before.metrics()["recovery_open_requests"] == 0


@contextmanager
def left_early(before: Running, *, until: bytes, **more: object) -> Iterator[None]:
    """A client that goes away when it has this much of its answer."""
    host, port = before.address.removeprefix("http://").split(":")
    body = json.dumps(request(stream=True, **more)).encode()
    with socket.create_connection((host, int(port))) as client:
        client.sendall(
            b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (CHAT.encode(), len(body), body)
        )
        got = b""
        while until not in got:
            got += client.recv(65536)
    yield


# The upstream breaks


@pytest.mark.parametrize("text", [CALL, "Low water is at noon."])
@pytest.mark.parametrize("cut", [60, 20, 5])
def test_a_stream_that_breaks_breaks_for_the_client_behind_all_that_came(text: str, cut: int) -> None:
    stream = text_stream(text)[:-cut] if cut > 20 else text_stream(text)[: -cut - 140]
    with both(streamed([stream], end=False)) as (_, before):
        got = ask(before.address, stream=True)
        assert (got.status, got.body, got.broke) == (200, stream, True)
        assert before.log()[0]["outcome"] == "upstream_broken"
        goes_on(before)


@pytest.mark.parametrize("path", [CHAT, "/v1/models"])
def test_a_whole_answer_that_breaks_breaks_for_the_client(path: str) -> None:
    with both(streamed([CALLED[:50]], end=False, kind="application/json")) as (_, before):
        got = ask(before.address, path)
        assert (got.status, got.body, got.broke) == (200, CALLED[:50], True)
        goes_on(before)


def test_a_stream_that_ends_without_its_last_event_is_text() -> None:
    stream = text_stream(CALL)[:-80]
    with both(streamed([stream])) as (_, before):
        got = ask(before.address, stream=True)
        assert (got.body, got.broke) == (stream, False)
        assert before.log()[0]["unread"] == "cut"


def test_an_upstream_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with proxy(f"http://127.0.0.1:{port}") as before:
        got = ask(before.address)
        assert (got.status, json.loads(got.body)["error"]["type"]) == (502, "upstream_broken")
        goes_on(before)


def test_an_upstream_that_closes_without_a_word_or_speaks_no_http() -> None:
    async def close(_: Asked, __: asyncio.StreamReader, ___: asyncio.StreamWriter) -> None:
        raise ConnectionError

    async def babble(_: Asked, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\r\n\r\n")

    with both(close) as (behind, before):
        assert ask(before.address).status == 502
        behind.answer = babble
        assert ask(before.address).status == 502
        goes_on(before)


def test_an_error_in_the_middle_of_a_stream_passes() -> None:
    stream = HELD + b'data: {"error": {"message": "overloaded"}}\n\ndata: [DONE]\n\n'
    with both(streamed([stream])) as (_, before):
        assert ask(before.address, stream=True).body == stream


@pytest.mark.parametrize("odd", [b"data: {nope\n\n", b"data: \xff\xfe\n\n", b"\x00\n\n", b"data: [[[\r\n\r\n"])
def test_a_malformed_event_passes_with_all_around_it(odd: bytes) -> None:
    stream = text_stream(CALL)
    at = stream.index(b"\n\n", 300) + 2
    stream = stream[:at] + odd + stream[at:]
    with both(streamed([stream[:at], stream[at:]])) as (_, before):
        got = ask(before.address, stream=True)
        # What is no event says nothing: the answer around it is read.
        assert got.body == stream or (odd[0] == 0 and b"tool_calls" in got.body)
        goes_on(before)


def test_answers_that_are_not_understood_pass() -> None:
    for body in (b"", b"[]", b"{nope", b"\xff\xfe", b'{"choices": 5}', b'{"choices": [5]}', b"[" * 99_999):
        with both(whole(body)) as (_, before):
            assert ask(before.address).body == body
            goes_on(before)


def test_text_that_is_no_utf_8_passes() -> None:
    body = CALLED.replace(b"Kilvik", b"K\xf8benhavn")
    stream = text_stream(CALL, 99).replace(b"Kilvik", b"K\xf8benhavn")
    with both(whole(body)) as (behind, before):
        assert ask(before.address).body == body
        behind.answer = streamed([stream])
        assert ask(before.address, stream=True).body == stream


def test_what_says_that_it_is_packed_and_is_not() -> None:
    with both(whole(CALLED, ("Content-Encoding", "gzip"))) as (behind, before):
        assert ask(before.address).body == CALLED
        behind.answer = streamed([b"nothing packed"], ("Content-Encoding", "gzip"))
        assert ask(before.address, stream=True).broke
        goes_on(before)


# Too slow, too large


def test_an_upstream_that_stalls() -> None:
    async def nothing(_: Asked, reader: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)

    async def half(_: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, [("Content-Type", EVENTS)]) + HELD)
        await reader.readexactly(1)

    with both(nothing, read_timeout=0.2) as (behind, before):
        got = ask(before.address)
        assert (got.status, json.loads(got.body)["error"]["type"]) == (504, "upstream_timeout")
        assert behind.left.wait(5)
        behind.answer = half
        got = ask(before.address, stream=True)
        assert (got.status, got.body, got.broke) == (200, HELD, True)
        assert [row["outcome"] for row in before.log(2)] == 2 * ["upstream_timeout"]
        goes_on(before)


def test_a_slow_stream_is_not_stalled_and_comes_as_it_is_sent() -> None:
    stream = text_stream("It is at noon.")
    pieces = [stream[at : at + 200] for at in range(0, len(stream), 200)]
    with both(streamed(pieces, pause=0.2), read_timeout=0.5) as (_, before):
        began = time.perf_counter()
        assert ask(before.address, stream=True).body == stream
        assert time.perf_counter() - began > 0.2 * len(pieces) > 0.5


@pytest.mark.parametrize("path", [CHAT, "/v1/files"])
def test_a_request_that_is_too_large(path: str) -> None:
    with both(whole(b"{}"), max_request=1000) as (behind, before):
        for content in (b"x" * 1001, iter([b"x" * 600, b"y" * 600])):
            got = ask(before.address, path, content=content)
            assert (got.status, json.loads(got.body)["error"]["type"]) == (413, "request_too_large")
        assert [asked.body for asked in behind.asked] == []
        assert ask(before.address, path, content=b"x" * 1000).status == 200
        goes_on(before)


def test_a_request_that_does_not_arrive() -> None:
    with both(whole(b"{}"), read_timeout=0.2) as (behind, before):
        host, port = before.address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{" % CHAT.encode())
            assert client.recv(65536).startswith(b"HTTP/1.1 408 ")
        assert behind.asked == []
        goes_on(before)


@pytest.mark.parametrize("end", [b"\n\n", b""], ids=["ended", "open"])
def test_ten_megabytes_in_one_line(end: bytes) -> None:
    line = b'data: {"choices": [{"index": 0, "delta": {"content": "' + b"x" * 10_000_000 + b'"}}]}' + end
    stream = HELD + line + text_stream(CALL)
    with both(streamed([HELD, line, text_stream(CALL)]), max_answer=2**20) as (behind, before):
        assert ask(before.address, stream=True).body == stream
        assert before.log()[0]["unread"] == "too_large"
        behind.answer = whole(b'{"choices": "' + b"x" * 10_000_000 + b'"}')
        assert len(ask(before.address).body) == 10_000_015
        assert before.log(2)[1]["unread"] == "too_large"
        goes_on(before)


def test_what_is_packed_into_little_is_not_unpacked_without_end() -> None:
    packed = zlib.compress(b" " * 50_000_000)
    with both(whole(packed, ("Content-Encoding", "deflate")), max_answer=2**20) as (_, before):
        tracemalloc.start()
        assert ask(before.address).body == packed
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert before.log()[0]["unread"] == "encoding"
    assert most < 10_000_000


# The client goes away


@pytest.mark.parametrize(
    ("sent", "first"), [(text_stream("Hello, you"), b"Hell"), (HELD, b'"role"')], ids=["text", "held"]
)
def test_a_client_that_goes_away_ends_the_upstreams_answer(sent: bytes, first: bytes) -> None:
    async def then_wait(_: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, [("Content-Type", EVENTS)]) + sent[:-60])
        await reader.readexactly(1)

    with both(then_wait) as (behind, before):
        with left_early(before, until=first):
            assert behind.left.wait(5)
        assert before.log()[0]["outcome"] == "client_gone"
        goes_on(before)


def test_a_client_that_goes_away_before_an_answer_ends_the_request() -> None:
    async def wait(_: Asked, reader: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)

    with both(wait) as (behind, before), left_early(before, until=b""):
        assert behind.left.wait(5)
        assert before.log()[0]["outcome"] == "client_gone"
        goes_on(before)


def test_clients_that_go_away_leave_nothing_behind() -> None:
    held = sse(chunks(['[Tide_forecast(x="' + "y" * 50_000])[:-1])[:-14]

    async def then_wait(_: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, [("Content-Type", EVENTS)]) + held)
        await reader.readexactly(1)

    with both(then_wait) as (_, before):

        def leave(times: int, logged: int) -> int:
            for _ in range(times):
                with left_early(before, until=b'"role"'):
                    pass
            before.log(logged)
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        leave(5, 5)
        tracemalloc.start()
        first = leave(10, 15)
        grown = leave(40, 55) - first
        tracemalloc.stop()
        # Each held more than 100 kB, of the event and of the text.
        assert grown < 40 * 5_000
        goes_on(before)


def test_a_client_that_does_not_read_stops_the_upstream() -> None:
    gone = 0

    async def flood(_: Asked, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal gone
        writer.write(head(200, [("Content-Type", EVENTS)]))
        event = sse(chunks(["word " * 2000])[1:2])[:-14]
        while True:
            writer.write(event)
            await writer.drain()
            gone += len(event)

    with both(flood) as (behind, before):
        host, port = before.address.removeprefix("http://").split(":")
        body = json.dumps(request(stream=True)).encode()
        with socket.create_connection((host, int(port))) as client:
            client.sendall(
                b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (CHAT.encode(), len(body), body)
            )
            at = -1
            while at != gone:
                at = gone
                time.sleep(0.5)
            # What the sockets hold, on both sides of the proxy.
            assert 0 < gone < 40_000_000
        assert behind.left.wait(5)
        goes_on(before)


# The end


def test_at_the_end_open_answers_are_finished() -> None:
    stream = text_stream("It is at noon.")
    pieces = [stream[at : at + 300] for at in range(0, len(stream), 300)]
    found = []
    with upstream(streamed(pieces, pause=0.2)) as behind:
        with proxy(behind.address, grace=10) as before:
            client = Thread(target=lambda: found.append(ask(before.address, stream=True)))
            client.start()
            while not behind.asked:
                time.sleep(0.01)
        client.join()
    assert (found[0].body, found[0].broke) == (stream, False)


def test_at_the_end_answers_that_take_too_long_are_stopped() -> None:
    async def then_wait(_: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, [("Content-Type", EVENTS)]) + text_stream("Hello")[:-60])
        await reader.readexactly(1)

    found = []
    with upstream(then_wait) as behind:
        with proxy(behind.address, grace=1) as before:
            client = Thread(target=lambda: found.append(ask(before.address, stream=True)))
            client.start()
            while not behind.asked:
                time.sleep(0.01)
        client.join()
        assert behind.left.wait(5)
        assert before.log()[0]["outcome"] == "stopped"
    assert found[0].broke
