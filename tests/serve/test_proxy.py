"""The proxy on loopback: what passes, and what is recovered; the real client of OpenAI before it."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import zlib
from typing import Any

import pytest

from recovery import recover
from recovery.gateways.serve.settings import Settings
from tests.gateways.messages import chunk, chunks, join_chunks
from tests.serve.servers import (
    CALL,
    CHAT,
    EVENTS,
    TOOLS,
    Asked,
    ask,
    both,
    completion,
    events_in,
    head,
    proxy,
    sse,
    streamed,
    text_stream,
    upstream,
    whole,
)

BODIES = [b"", b"{}", b'{"a": NaN, "a": "\xff"}', bytes(range(256)) * 300]
TEXT = json.dumps(completion("Low water is at noon. [f(x=1)]"), indent=2).encode()
CALLED = json.dumps(completion(CALL)).encode()


# Unchanged


@pytest.mark.parametrize("body", BODIES, ids=["empty", "json", "odd", "bytes"])
@pytest.mark.parametrize("status", [200, 201, 400, 401, 404, 429, 500, 503])
def test_an_answer_passes_with_status_headers_and_body(status: int, body: bytes) -> None:
    headers = [("X-One", "1"), ("Set-Cookie", "a=b"), ("Set-Cookie", "c=d"), ("Retry-After", "3"), ("Date", "today")]
    with both(whole(body, *headers, status=status)) as (_, before):
        got = ask(before.address)
    assert (got.status, got.body, got.broke) == (status, body, False)
    expected = [("content-type", "application/json"), ("content-length", str(len(body)))]
    assert got.headers.multi_items() == [*expected, *((name.lower(), value) for name, value in headers)]


@pytest.mark.parametrize(
    "path", ["/", "/v1/models", "/v1/%2e%2E/a%2Fb%20c/%C3%BC?x=%41&y=+;&&z", CHAT + "?api-version=1"]
)
@pytest.mark.parametrize("base", ["", "/openai", "/openai/"])
def test_a_request_passes_as_it_was_written(path: str, base: str) -> None:
    raw = path.encode("utf-8")
    sent = (
        b"POST %b HTTP/1.1\r\nHost: me\r\nAuthorization: Bearer k\r\nX-Odd: \xe9\r\nX-Twice: 1\r\nX-Twice: 2\r\n"
        b"Connection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\nAccept-Encoding: br\r\nContent-Length: 4\r\n\r\n{no}"
    )
    with upstream(whole(b"{}")) as behind, proxy(behind.address + base) as before:
        host, port = before.address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(sent % raw)
            while client.recv(65536):
                pass
        (asked,) = behind.asked
    assert asked.line == b"POST %b%b HTTP/1.1" % (base.rstrip("/").encode(), raw)
    assert asked.body == b"{no}"
    kept = [pair for pair in asked.headers if pair[0] not in (b"host", b"connection")]
    assert kept == [
        (b"authorization", b"Bearer k"),
        (b"x-odd", b"\xe9"),
        (b"x-twice", b"1"),
        (b"x-twice", b"2"),
        (b"accept-encoding", b"br"),
        (b"content-length", b"4"),
    ]
    assert dict(asked.headers)[b"host"] == behind.address.removeprefix("http://").encode()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_every_method_passes(method: str) -> None:
    with both(whole(b"yes")) as (behind, before):
        content = b"x" if method in ("PUT", "PATCH") else None
        assert ask(before.address, "/v1/files/1", method=method, content=content).body == b"yes"
        assert behind.asked[0].line.startswith(method.encode())
        assert behind.asked[0].body == (content or b"")


def test_an_upload_in_pieces_passes() -> None:
    with both(whole(b"{}")) as (behind, before):
        ask(before.address, "/v1/files", content=iter([b"a" * 70_000, b"b"]))
        ask(before.address, CHAT, content=iter([b'{"model"', b': "m"}']))
        assert [asked.body for asked in behind.asked] == [b"a" * 70_000 + b"b", b'{"model": "m"}']


@pytest.mark.parametrize(
    "more",
    [{"tools": []}, {"tools": None}, {"tool_choice": "none"}, {"tools": [{"type": "web_search"}]}, {"tools": "f"}],
    ids=["empty", "null", "none", "built-in", "no-list"],
)
def test_without_a_tool_that_may_be_called_nothing_is_read(more: dict[str, Any]) -> None:
    with both(whole(CALLED)) as (_, before):
        assert ask(before.address, **more).body == CALLED
        assert "reading_seconds" not in before.log()[0]
    stream = text_stream(CALL)
    with both(streamed([stream])) as (_, before):
        assert ask(before.address, stream=True, **more).body == stream


@pytest.mark.parametrize("content", [b"", b"{nope", b"[]", b"\xff\xfe", b'{"tools": 3}', b"[" * 100_000])
def test_a_request_that_is_not_understood_passes(content: bytes) -> None:
    with both(whole(CALLED)) as (behind, before):
        assert ask(before.address, content=content).body == CALLED
        assert behind.asked[0].body == content


def test_a_request_with_tools_that_are_none_passes_and_is_counted() -> None:
    tools = [*TOOLS, {**TOOLS[0], "function": {"name": "Tide_forecast", "description": "another"}}]
    with both(whole(CALLED)) as (_, before):
        assert ask(before.address, tools=tools).body == CALLED
        assert before.log()[0]["unread"] == "tools"
        assert before.metrics()['recovery_unread_total{why="tools"}'] == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("size", [1, 7, 10**6])
def test_a_stream_without_a_call_is_the_same_bytes(end: str, size: int) -> None:
    items = chunks(["[Tide", ".fore", "cast(x=1)", "] + 2", " ünd so"])
    items[2]["usage"] = None
    stream = f": begins{end}{end}event: x{end}".encode() + sse(items, end) + f": ends{end}".encode()
    with both(streamed(stream[at : at + size] for at in range(0, len(stream), size))) as (_, before):
        got = ask(before.address, stream=True)
    assert (got.status, got.body, got.broke) == (200, stream, False)
    assert got.headers["content-type"] == EVENTS


def test_a_whole_answer_without_a_call_is_the_same_bytes() -> None:
    with both(whole(TEXT)) as (_, before):
        got = ask(before.address)
        assert (got.body, got.headers["content-length"]) == (TEXT, str(len(TEXT)))
        assert before.log()[0]["answers"] == [{"status": "text"}]


# Recovered


def test_a_whole_answer_with_a_call() -> None:
    with both(whole(CALLED, ("ETag", "x"), ("X-Id", "7"))) as (behind, before):
        got = ask(before.address)
        assert dict(behind.asked[0].headers)[b"accept-encoding"] == b"identity"
        assert json.loads(behind.asked[0].body)["tools"] == TOOLS
    (choice,) = json.loads(got.body)["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert [call["function"] for call in choice["message"]["tool_calls"]] == [
        {"name": "Tide_forecast", "arguments": '{"port": "Kilvik"}'}
    ]
    assert got.headers.multi_items() == [
        ("content-type", "application/json"),
        ("x-id", "7"),
        ("content-length", str(len(got.body))),
    ]


@pytest.mark.parametrize("size", [1, 30, 10**6])
def test_a_stream_with_a_call(size: int) -> None:
    stream = text_stream(CALL)
    with both(streamed(stream[at : at + size] for at in range(0, len(stream), size))) as (_, before):
        got = ask(before.address, stream=True)
    (message,) = join_chunks(events_in(got.body)).values()
    assert (message.text, message.calls, message.reason) == ("", [("Tide_forecast", {"port": "Kilvik"})], "tool_calls")
    assert got.body.endswith(b"data: [DONE]\n\n")


def test_two_choices() -> None:
    with both(whole(json.dumps(completion(CALL, "Noon.")).encode())) as (_, before):
        first, second = json.loads(ask(before.address, n=2).body)["choices"]
        assert [first["finish_reason"], second["finish_reason"]] == ["tool_calls", "stop"]
        assert second["message"]["content"] == "Noon."
    items = [item for pair in zip(chunks([CALL]), chunks(["Noon."], index=1), strict=True) for item in pair]
    with both(streamed([sse(items)])) as (_, before):
        out = join_chunks(events_in(ask(before.address, n=2, stream=True).body))
        assert [len(out[0].calls), out[1].text, out[1].reason] == [1, "Noon.", "stop"]
        assert sorted(row["status"] for row in before.log()[0]["answers"]) == ["recovered", "text"]


def test_what_the_request_says_of_its_tools_holds() -> None:
    one = {"type": "function", "function": {"name": "berth_book"}}
    two = json.dumps(completion(f"{CALL[1:-1]}\nberth_book()")).encode()
    with both(whole(two)) as (_, before):
        assert ask(before.address, tool_choice=one).body == two
        assert ask(before.address, parallel_tool_calls=False).body == two
        assert before.log(2)[1]["answers"] == [{"status": "refused", "reason": "too_many_calls"}]
        assert len(json.loads(ask(before.address).body)["choices"][0]["message"]["tool_calls"]) == 2


def test_what_goes_on_with_a_message_is_not_read() -> None:
    messages = [{"role": "user", "content": "Which call?"}, {"role": "assistant", "content": "Do not make this one:"}]
    with both(whole(CALLED)) as (_, before):
        assert ask(before.address, messages=messages).body == CALLED
        assert before.log()[0]["unread"] == "goes_on"
    stream = text_stream(CALL)
    with both(streamed([stream])) as (_, before):
        assert ask(before.address, stream=True, messages=messages).body == stream


def test_a_tool_that_is_never_recovered_is_not() -> None:
    with both(whole(CALLED), never=frozenset(["Tide_forecast", "not_offered"])) as (_, before):
        assert ask(before.address).body == CALLED
        assert before.log()[0]["answers"] == [{"status": "refused", "reason": "never_recovered"}]


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
def test_a_packed_answer_is_read(packing: str) -> None:
    def pack(data: bytes) -> bytes:
        # The same bytes at any time.
        return gzip.compress(data, mtime=0) if packing == "gzip" else zlib.compress(data)

    with both(whole(pack(CALLED), ("Content-Encoding", packing))) as (_, before):
        got = ask(before.address)
        assert "content-encoding" not in got.headers
        assert json.loads(got.body)["choices"][0]["finish_reason"] == "tool_calls"
    with both(whole(pack(TEXT), ("Content-Encoding", packing))) as (_, before):
        got = ask(before.address)
        assert (got.headers["content-encoding"], got.body) == (packing, pack(TEXT))
    packed = pack(text_stream(CALL))
    with both(streamed([packed[:40], packed[40:]], ("Content-Encoding", packing))) as (_, before):
        got = ask(before.address, stream=True)
        assert "content-encoding" not in got.headers
        assert b"tool_calls" in got.body
    packed = pack(text_stream("Noon.")[:90]) + pack(text_stream("Noon.")[90:])
    with both(streamed([packed], ("Content-Encoding", packing))) as (_, before):
        assert ask(before.address, stream=True).body == text_stream("Noon.")


def test_what_is_packed_otherwise_passes() -> None:
    with both(whole(b"\x1bpacked", ("Content-Encoding", "br"))) as (_, before):
        got = ask(before.address)
        assert (got.headers["content-encoding"], got.body) == ("br", b"\x1bpacked")
        assert before.log()[0]["unread"] == "encoding"


# What is told


def test_metrics() -> None:
    with both(whole(CALLED)) as (behind, before):
        ask(before.address)
        refused = completion("Tide_forecast(x=1) + 2", '<function=Tide_forecast>{"a": 1}</function>')
        behind.answer = whole(json.dumps(refused).encode())
        ask(before.address)
        behind.answer = whole(TEXT, status=500)
        ask(before.address)
        before.log(3)
        metrics = before.metrics()
    assert metrics['recovery_answers_total{status="recovered"}'] == 1
    assert metrics['recovery_answers_total{status="refused"}'] == 2
    assert metrics["recovery_calls_total"] == 1
    assert metrics['recovery_refused_total{reason="operator"}'] == 1
    assert metrics['recovery_refused_total{reason="other_dialect"}'] == 1
    dialect = recover(refused["choices"][1]["message"]["content"], ["Tide_forecast"]).refusal
    assert dialect is not None
    assert metrics[f'recovery_dialects_total{{dialect="{dialect.dialect}"}}'] == 1
    assert metrics["recovery_seconds_count"] == 3
    assert metrics["recovery_seconds_sum"] > 0
    assert metrics['recovery_requests_total{outcome="recovered"}'] == 1
    assert metrics['recovery_requests_total{outcome="passed"}'] == 2
    assert metrics["recovery_open_requests"] == 0


def test_health() -> None:
    with both(whole(b"{}")) as (behind, before):
        got = ask(before.address, "/healthz", method="GET")
        assert (got.status, json.loads(got.body)) == (200, {"status": "ok"})
        assert behind.asked == []


def test_no_word_of_a_message_is_logged_unless_asked() -> None:
    with both(whole(CALLED)) as (behind, before):
        ask(before.address, f"{CHAT}?key=secret-query")
        behind.answer = streamed([text_stream("a secret answer")])
        ask(before.address, stream=True)
        behind.answer = streamed([b"data: secret\n\n"], end=False)
        ask(before.address, stream=True)
        before.log(3)
        lines = before.lines.getvalue()
        assert "secret" not in lines
        assert "Kilvik" not in lines
        rows = [json.loads(row) for row in before.content.getvalue().splitlines()]
    assert [row["text"] for row in rows] == [CALL, "a secret answer"]
    assert "secret-key" not in before.content.getvalue()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("ftp://x", "expected http"),
        ("localhost:8000", "expected http"),
        ("http://", "expected http"),
        ("http://x/?a=1", "expected http"),
        ("http://user:pw@x", "does not belong here"),
    ],
)
def test_an_upstream_that_is_none_is_told(url: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Settings(upstream=url)


# The real client


def test_the_real_client_gets_tool_calls() -> None:
    openai = pytest.importorskip("openai")
    with both(whole(CALLED)) as (behind, before):
        client = openai.OpenAI(base_url=f"{before.address}/v1", api_key="none", max_retries=0)
        messages = [{"role": "user", "content": "When is low water?"}]
        message = client.chat.completions.create(model="m", messages=messages, tools=TOOLS).choices[0].message
        assert (message.content, message.tool_calls[0].function.name) == (None, "Tide_forecast")
        behind.answer = streamed([text_stream(CALL)])
        stream = client.chat.completions.create(model="m", messages=messages, tools=TOOLS, stream=True)
        deltas = [choice.delta for item in stream for choice in item.choices]
        assert [call.function.name for delta in deltas for call in delta.tool_calls or ()] == ["Tide_forecast"]
        behind.answer = whole(b'{"error": {"message": "slow down", "type": "rate"}}', status=429)
        with pytest.raises(openai.RateLimitError, match="slow down"):
            client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
        client.close()


def test_the_real_client_gets_text_and_its_models_own_calls() -> None:
    openai = pytest.importorskip("openai")
    native = chunk(tool_calls=[{"index": 0, "id": "n", "type": "function", "function": {"name": "f", "arguments": ""}}])
    with both(streamed([sse([*chunks(["Well. "])[:-1], native, chunk(finish="tool_calls")])])) as (_, before):

        async def run() -> list[Any]:
            async with openai.AsyncOpenAI(base_url=f"{before.address}/v1", api_key="none", max_retries=0) as client:
                stream = await client.chat.completions.create(model="m", messages=[], tools=TOOLS, stream=True)
                return [item.choices[0].delta async for item in stream]

        deltas = asyncio.run(run())
        assert "".join(delta.content or "" for delta in deltas) == "Well. "
        assert [call.id for delta in deltas for call in delta.tool_calls or ()] == ["n"]
        assert before.log()[0]["unread"] == "own_calls"


def test_a_head_has_no_body() -> None:
    async def answer(_: Asked, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, [("Content-Length", "5")]))

    with both(answer) as (_, before):
        got = ask(before.address, "/v1/models", method="HEAD")
        assert (got.status, got.headers["content-length"], got.body) == (200, "5", b"")
