"""How long 200 streams at once take through `recovery serve`, beside a bare proxy built from the same libraries.

    python -m bench.load                    # needs the extra `serve`; some two minutes
    python -m bench.load --streams 50 --deltas 100 --rounds 2
    python -m bench.load --pace 0.02        # an upstream that writes a delta every 20 ms

The upstream and each proxy are processes of their own, and this one asks: by turns, round after round. Every answer is
compared with what the upstream sent for it: byte for byte where it holds no call, and where it holds one, its text and
its call. Exit status: 1 where an answer is wrong, or the ratio is above --most.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"What {name} does.",
            "parameters": {"type": "object", "properties": {"port": {"type": "string"}, "days": {"type": "integer"}}},
        },
    }
    for name in ("Tide_forecast", "berth_book", "ferry_times", "note_write", "depth_at")
]
WORDS: Final = (
    "The tide at Kilvik is low (see the table) and the ferry leaves at noon; a berth is free, and so on. ".split()
)
# Of every so many streams one ends in a call.
CALLING: Final = 4
_BUFFER: Final = 2**20


# The answers


def pieces_of(number: int, deltas: int) -> tuple[list[str], str]:
    """The deltas of an answer, no two alike, and its call, where it has one."""
    if number % CALLING:
        return [f"{WORDS[(number + at) % len(WORDS)]} {number}:{at} " for at in range(deltas)], ""
    call = f'[berth_book(port="Kilvik", days={number}, note="{" ".join(map(str, range(deltas * 2)))}")]'
    size = -(-len(call) // deltas)
    return [call[at : at + size] for at in range(0, len(call), size)], call


def events_of(number: int, deltas: int) -> list[bytes]:
    """What the upstream sends, an event a delta."""
    frame = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    pieces, _ = pieces_of(number, deltas)
    made: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces), {}]
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None} for delta in made
    ]
    choices[-1]["finish_reason"] = "stop"
    rows = [json.dumps({**frame, "choices": [choice]}) for choice in choices]
    return [f"data: {row}\n\n".encode() for row in [*rows, "[DONE]"]]


def check(number: int, deltas: int, body: bytes, *, is_read: bool) -> str:
    """What is wrong with an answer; empty where nothing is."""
    sent = b"".join(events_of(number, deltas))
    _, call = pieces_of(number, deltas)
    if not (is_read and call):
        return "" if body == sent else f"stream {number}: {len(body)} bytes, and not the {len(sent)} that were sent"
    rows = [json.loads(row[6:]) for row in body.decode().split("\n\n") if row.startswith("data: {")]
    found = [choice for row in rows for choice in row["choices"]]
    calls = [one["function"] for choice in found for one in choice["delta"].get("tool_calls", ())]
    text = "".join(choice["delta"].get("content") or "" for choice in found)
    wanted = {"port": "Kilvik", "days": number, "note": " ".join(map(str, range(deltas * 2)))}
    is_right = [(one["name"], json.loads(one["arguments"])) for one in calls] == [("berth_book", wanted)]
    ended = [choice["finish_reason"] for choice in found if choice["finish_reason"]]
    return "" if is_right and not text and ended == ["tool_calls"] else f"stream {number}: no call of it"


# The upstream, and the bare proxy


async def run_upstream(deltas: int, pace: float) -> None:
    answers: dict[int, list[bytes]] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            number = int(json.loads(await reader.readexactly(length))["model"])
            if number not in answers:
                answers[number] = events_of(number, deltas)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for event in answers[number]:
                writer.write(b"%x\r\n%b\r\n" % (len(event), event))
                await writer.drain()
                await asyncio.sleep(pace)
            writer.write(b"0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def run_bare(address: str) -> None:
    """A pass-through proxy as one writes it from these libraries: nothing is read, nothing can be recovered."""
    import httpx
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import Response, StreamingResponse
    from starlette.routing import Route

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    client = httpx.AsyncClient(base_url=address, limits=limits, timeout=600, trust_env=False)

    async def answer(request: Any) -> Response:
        headers = [pair for pair in request.headers.raw if pair[0] != b"host"]
        asked = client.build_request(request.method, request.url.path, headers=headers, content=await request.body())
        got = await client.send(asked, stream=True)

        async def pieces() -> AsyncIterator[bytes]:
            try:
                async for piece in got.aiter_raw():
                    yield piece
            finally:
                await got.aclose()

        kept = {"content-type": got.headers["content-type"]}
        return StreamingResponse(pieces(), status_code=got.status_code, headers=kept)

    app = Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", ws="none"))
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        server.run(sockets=[listening])


# The processes


@contextmanager
def started(*command: str) -> Iterator[tuple[str, int]]:
    """The address that a process tells, and its number."""
    with (
        tempfile.TemporaryFile("w+") as out,
        subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT, stdout=out) as process,
    ):
        try:
            while True:
                out.seek(0)
                told = [word for word in out.read().split() if word.startswith("http://127.0.0.1:")]
                if told:
                    yield told[0], process.pid
                    return
                if process.poll() is not None:
                    raise SystemExit(f"{' '.join(command)} has ended")
                time.sleep(0.05)
        finally:
            process.kill()


def processor_seconds(process: int) -> float:
    """What a process has taken so far; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# The client


async def ask_all(address: str, streams: int) -> tuple[float, list[bytes]]:
    """Ask for so many streams at once: the seconds to the end of the last, and the bodies."""
    host, port = address.removeprefix("http://").split(":")
    began = time.perf_counter()
    bodies = await asyncio.gather(*(_ask(host, int(port), number) for number in range(streams)))
    return time.perf_counter() - began, bodies


async def _ask(host: str, port: int, number: int) -> bytes:
    reader, writer = await asyncio.open_connection(host, port, limit=_BUFFER)
    asked = {"model": str(number), "stream": True, "messages": [{"role": "user", "content": "?"}], "tools": TOOLS}
    body = json.dumps(asked).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}Content-Type: application/json\r\nConnection: close\r\n\r\n".encode() + body)
    await reader.readuntil(b"\r\n\r\n")
    raw = await reader.read()
    writer.close()
    return raw


def unchunked(raw: bytes) -> bytes:
    """The body of a transfer in chunks; what of it came where the end is missing."""
    out, at = [], 0
    while (end := raw.find(b"\r\n", at)) >= 0:
        size = int(raw[at:end], 16)
        out.append(raw[end + 2 : end + 2 + size])
        at = end + 4 + size
    return b"".join(out)


def measure(options: argparse.Namespace) -> int:
    upstream = ["bench.load", "upstream", "--deltas", str(options.deltas), "--pace", str(options.pace)]
    wrong: list[str] = []
    seconds: dict[str, list[float]] = {"bare": [], "serve": []}
    taken: dict[str, list[float]] = {"bare": [], "serve": []}
    with (
        started(*upstream) as (behind, _),
        started("bench.load", "bare", behind) as bare,
        started("recovery", "serve", "--upstream", behind, "--port", "0") as serve,
    ):
        for turn in range(-1, options.rounds):
            for name, (address, process) in {"bare": bare, "serve": serve}.items():
                before = processor_seconds(process)
                elapsed, bodies = asyncio.run(ask_all(address, options.streams))
                cost = processor_seconds(process) - before
                for number, raw in enumerate(bodies):
                    told = check(number, options.deltas, unchunked(raw), is_read=name == "serve")
                    wrong += [f"{name}: {told}"] if told else []
                if turn < 0:
                    # The first is for what is loaded and opened once.
                    continue
                seconds[name].append(elapsed)
                taken[name].append(cost)
                print(f"{name:5}  {elapsed:7.2f} s  {cost:7.2f} s of the processor", flush=True)
    for line in wrong[:10]:
        print(line)
    ratios = [after / before for before, after in zip(seconds["bare"], seconds["serve"], strict=True)]
    ratio = median(ratios)
    print(f"{options.streams} streams of {options.deltas} deltas: {len(wrong)} wrong answers")
    print(f"time, serve to bare: {ratio:.2f} (rounds: {' '.join(f'{one:.2f}' for one in ratios)})")
    if all(taken["bare"]):
        print(f"time of the processor, serve to bare: {median(taken['serve']) / median(taken['bare']):.2f}")
    return 1 if wrong or ratio > options.most else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("role", nargs="?", choices=["measure", "upstream", "bare"], default="measure")
    parser.add_argument("address", nargs="?", help="for `bare`: of the upstream")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--deltas", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pace", type=float, default=0.0, help="seconds between two deltas of a stream")
    parser.add_argument("--most", type=float, default=1.2, help="the ratio of times that is still fine")
    options = parser.parse_args()
    if options.role == "upstream":
        asyncio.run(run_upstream(options.deltas, options.pace))
    elif options.role == "bare":
        run_bare(options.address)
    else:
        return measure(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
