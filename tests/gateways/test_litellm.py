"""The real proxy of LiteLLM, in a process of its own, before a server that answers as it is asked to (`echo.py`)."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from recovery import Policy, Toolset, recover
from tests.cases import VECTORS, read
from tests.gateways.echo import EchoServer, echoing, says

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="litellm is not installed")
openai = pytest.importorskip("openai")
yaml = pytest.importorskip("yaml")

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("Tide_forecast", "berth_book", "delete_all")
]
CALL = '[Tide.forecast(port="Kilvik", days=2)]'
CALLS = [("Tide_forecast", {"port": "Kilvik", "days": 2})]
NATIVE = {"id": "call_own", "type": "function", "function": {"name": "berth_book", "arguments": "{}"}}
KEY = f"sk-{secrets.token_hex(16)}"
# Longer than the proxy takes to start on a machine that is busy.
PATIENCE = 120

CALLBACK = {"litellm_settings": {"callbacks": ["recovery.gateways.litellm.callback"]}}
OWN = """
from recovery.gateways import litellm, openai

callback = litellm.WrittenCalls()
feed = openai._Choices.feed

def breaking_feed(self, chunk):
    if "late" in (chunk.choices[0].delta.content or "") or chunk.choices[0].finish_reason:
        raise RuntimeError("secret words of the answer")
    return feed(self, chunk)

def breaking(*args, **options):
    raise RuntimeError("secret words of the answer")

openai._Choices.feed = breaking_feed
litellm.recover_completion = breaking
"""


class Proxy:
    """A proxy that runs: its address, and what it wrote."""

    def __init__(self, folder: Path, address: str) -> None:
        self.address = address
        self.log = folder / "log"

    def client(self, *, kind: str = "OpenAI") -> Any:
        return getattr(openai, kind)(base_url=f"{self.address}/v1", api_key=KEY, max_retries=0)


def configure(folder: Path, upstream: EchoServer, config: dict[str, Any]) -> Path:
    base = f"http://127.0.0.1:{upstream.server_port}"
    models = {
        "echo": {"model": "openai/echo", "api_base": f"{base}/v1", "api_key": "none"},
        # One of which LiteLLM makes messages of Anthropic's API.
        "messages": {"model": "hosted_vllm/echo", "api_base": f"{base}/v1", "api_key": "none"},
        # A provider that LiteLLM gives no tools.
        "toolless": {"model": "perplexity/sonar", "api_base": base, "api_key": "none"},
    }
    listed = [{"model_name": name, "litellm_params": params} for name, params in models.items()]
    # JSON is YAML too.
    (folder / "config.yaml").write_text(json.dumps({**config, "model_list": config.get("model_list", []) + listed}))
    return folder


def start(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Without the first it asks a server for prices, and for a key it would ask nobody.
    environment = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}
    command = [str(Path(sys.executable).with_name("litellm")), "--config", "config.yaml", "--host", "127.0.0.1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port)], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    return process, port


@contextmanager
def proxy(folder: Path) -> Iterator[Proxy]:
    """One with the configuration that stands in the folder."""
    process, port = start(folder)
    try:
        deadline = time.monotonic() + PATIENCE
        while not is_ready(port):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.1)
        yield Proxy(folder, f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(PATIENCE)


def is_ready(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health/liveliness")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


@pytest.fixture(scope="module")
def upstream() -> Iterator[EchoServer]:
    with echoing() as server:
        yield server


@pytest.fixture(scope="module")
def with_callback(upstream: EchoServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """One as the example has it, with models and an alias more."""
    config = yaml.safe_load((ROOT / "examples/litellm.yaml").read_text())
    config["litellm_settings"]["drop_params"] = True
    config["callback_settings"]["recovery"]["aliases"]["Reserve a berth"] = "berth_book"
    with proxy(configure(tmp_path_factory.mktemp("proxy"), upstream, config)) as running:
        yield running


Message = dict[str, Any]


def whole(running: Proxy, **request: Any) -> list[Message]:
    """The choices, each as its fields with the calls as pairs."""
    with running.client() as client:
        return joined(client.chat.completions.create(**({"model": "echo", "tools": TOOLS} | request)))


def whole_async(running: Proxy, **request: Any) -> list[Message]:
    async def ask() -> Any:
        async with running.client(kind="AsyncOpenAI") as client:
            return await client.chat.completions.create(**({"model": "echo", "tools": TOOLS} | request))

    return joined(asyncio.run(ask()))


def streamed(running: Proxy, **request: Any) -> list[Message]:
    with running.client() as client:
        chunks = client.chat.completions.create(**({"model": "echo", "tools": TOOLS, "stream": True} | request))
        return joined_chunks(list(chunks))


def streamed_async(running: Proxy, **request: Any) -> list[Message]:
    async def ask() -> list[Any]:
        async with running.client(kind="AsyncOpenAI") as client:
            given = {"model": "echo", "tools": TOOLS, "stream": True} | request
            return [chunk async for chunk in await client.chat.completions.create(**given)]

    return joined_chunks(asyncio.run(ask()))


def joined(completion: Any) -> list[Message]:
    assert completion.usage.total_tokens == 3
    return [
        message(choice.message.content, choice.message.tool_calls or (), choice.finish_reason)
        for choice in completion.choices
    ]


def joined_chunks(chunks: list[Any]) -> list[Message]:
    """The library's own joining, which is strict about indexes."""
    from openai.lib.streaming.chat import ChatCompletionStreamState

    state = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(chunk)
    return [
        message(choice.message.content, choice.message.tool_calls or (), choice.finish_reason)
        for choice in state.current_completion_snapshot.choices
    ]


def message(content: str | None, calls: Any, finish: str) -> Message:
    ids = [call.id for call in calls]
    assert len(set(ids)) == len(ids)
    pairs = [(call.function.name, json.loads(call.function.arguments)) for call in calls]
    return {"content": content or None, "calls": pairs, "finish": finish}


Ask = Callable[..., list[Message]]
every_way = pytest.mark.parametrize("ask", [whole, whole_async, streamed, streamed_async])
both_ways = pytest.mark.parametrize("ask", [whole, streamed])


@every_way
def test_a_written_call_becomes_a_tool_call(ask: Ask, with_callback: Proxy) -> None:
    assert ask(with_callback, messages=says(CALL)) == [{"content": None, "calls": CALLS, "finish": "tool_calls"}]


@both_ways
def test_several_calls(ask: Ask, with_callback: Proxy) -> None:
    answer = "Tide.forecast(days=1)\nTide.forecast(days=2)\n"
    calls = [("Tide_forecast", {"days": 1}), ("Tide_forecast", {"days": 2})]
    assert ask(with_callback, messages=says(answer)) == [{"content": None, "calls": calls, "finish": "tool_calls"}]


@both_ways
def test_prose_passes(ask: Ask, with_callback: Proxy) -> None:
    answer = "Low water is at noon (see Tide.forecast).\n\nEvery day."
    assert ask(with_callback, messages=says(answer)) == [{"content": answer, "calls": [], "finish": "stop"}]


@both_ways
@pytest.mark.parametrize(
    ("request_", "calls"),
    [
        ({"tools": openai.NOT_GIVEN}, []),
        ({"tool_choice": "none"}, []),
        ({"tool_choice": "auto"}, CALLS),
        ({"tool_choice": "required"}, CALLS),
        ({"tool_choice": {"type": "function", "function": {"name": "Tide_forecast"}}}, CALLS),
        ({"tool_choice": {"type": "function", "function": {"name": "berth_book"}}}, []),
        ({"parallel_tool_calls": False}, CALLS),
    ],
)
def test_the_request_is_honoured(ask: Ask, request_: Any, calls: Any, with_callback: Proxy) -> None:
    (found,) = ask(with_callback, messages=says(CALL), **request_)
    expected = {"content": None, "finish": "tool_calls"} if calls else {"content": CALL, "finish": "stop"}
    assert found == {**expected, "calls": calls}


@both_ways
def test_what_goes_on_with_a_message_stays_text(ask: Ask, with_callback: Proxy) -> None:
    (message,) = says(CALL)
    (found,) = ask(with_callback, messages=[*says("Hm."), {**message, "role": "assistant"}])
    assert found == {"content": CALL, "calls": [], "finish": "stop"}


@both_ways
def test_parallel_calls_that_the_request_forbids_stay_text(ask: Ask, with_callback: Proxy) -> None:
    answer = "[Tide.forecast(days=1), Tide.forecast(days=2)]"
    (found,) = ask(with_callback, messages=says(answer), parallel_tool_calls=False)
    assert found == {"content": answer, "calls": [], "finish": "stop"}


@both_ways
def test_own_calls_win(ask: Ask, with_callback: Proxy) -> None:
    (found,) = ask(with_callback, messages=says(CALL, finish="tool_calls", tool_calls=[NATIVE]))
    assert found == {"content": CALL, "calls": [("berth_book", {})], "finish": "tool_calls"}


@both_ways
def test_a_tool_that_is_never_recovered(ask: Ask, with_callback: Proxy) -> None:
    (found,) = ask(with_callback, messages=says("delete_all()"))
    assert found == {"content": "delete_all()", "calls": [], "finish": "stop"}


@both_ways
def test_an_alias(ask: Ask, with_callback: Proxy) -> None:
    (found,) = ask(with_callback, messages=says("Reserve a berth(nights=3)"))
    assert found == {"content": None, "calls": [("berth_book", {"nights": 3})], "finish": "tool_calls"}


@both_ways
def test_an_answer_that_is_cut_stays_text(ask: Ask, with_callback: Proxy) -> None:
    (found,) = ask(with_callback, messages=says(CALL, finish="length"))
    assert found == {"content": CALL, "calls": [], "finish": "length"}


def test_every_choice_of_a_whole_answer(with_callback: Proxy) -> None:
    first, second = whole(with_callback, messages=says(CALL, "No call."), n=2)
    assert first == {"content": None, "calls": CALLS, "finish": "tool_calls"}
    assert second == {"content": "No call.", "calls": [], "finish": "stop"}


def test_a_stream_that_breaks_is_an_error_behind_its_text(with_callback: Proxy) -> None:
    with with_callback.client() as client:
        chunks = client.chat.completions.create(
            model="echo", tools=TOOLS, stream=True, messages=says(CALL, ends="breaks")
        )
        deltas: list[Any] = []
        with pytest.raises(openai.APIError):
            deltas.extend(chunk.choices[0].delta for chunk in chunks)
        assert "".join(delta.content or "" for delta in deltas) == CALL
        assert not any(delta.tool_calls for delta in deltas)


@both_ways
def test_tools_that_the_provider_does_not_get_count(ask: Ask, with_callback: Proxy, upstream: EchoServer) -> None:
    upstream.requests.clear()
    (found,) = ask(with_callback, model="toolless", messages=says(CALL))
    (request,) = upstream.requests
    assert "tools" not in request
    assert found == {"content": None, "calls": CALLS, "finish": "tool_calls"}


@pytest.mark.parametrize("stream", [False, True])
def test_other_routes_pass(stream: bool, with_callback: Proxy) -> None:
    body = {"model": "messages", "max_tokens": 99, "messages": says("[berth.book()]"), "stream": stream}
    tools = [{"name": "berth_book", "input_schema": {"type": "object"}}]
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    given = json.dumps({**body, "tools": tools}).encode()
    with urlopen(Request(f"{with_callback.address}/v1/messages", given, headers)) as response:
        answer = response.read().decode()
    assert "[bert" in answer
    assert "tool_use" not in answer
    assert "the answer passes as it came" not in with_callback.log.read_text()


def cases() -> list[tuple[str, Toolset]]:
    """Some of the vectors, one of many, whose text can be sent, and each tool of which has a schema that can."""
    found = []
    for case in read(VECTORS)[::40]:
        try:
            json.dumps([case.text, case.row["tools"]]).encode().decode()
            case.text.encode()
        except UnicodeError:
            continue
        # LiteLLM takes reasoning out itself; what is never recovered is an option of the proxy.
        if len(case.text) < 2000 and "<think>" not in case.text and not {"aliases", "never"} & case.row.keys():
            found.append((case.text, case.toolset))
    assert len(found) > 20
    return found


def test_vectors(with_callback: Proxy) -> None:
    """What comes through the proxy is what `recover` says."""
    for text, toolset in cases():
        tools = [
            {"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}}
            for tool in toolset.tools
        ]
        result = recover(text, toolset, policy=Policy.default())
        expected = {
            "content": (result.text if result.text.strip() or not result.calls else "") or None,
            "calls": [(call.name, call.arguments) for call in result.calls],
            "finish": "tool_calls" if result.calls else "stop",
        }
        for ask in (whole, streamed):
            given = {"tools": tools} if tools else {"tools": openai.NOT_GIVEN}
            assert ask(with_callback, messages=says(text), **given) == [expected], text


def test_an_error_of_ours_never_breaks_the_answer(upstream: EchoServer, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    with proxy(configure(tmp_path, upstream, {"litellm_settings": {"callbacks": ["own.callback"]}})) as running:
        for answer in (CALL, "It is noon.\nTide.forecast(days=1) is late, as ever.", "Noon."):
            for ask in (whole, streamed):
                assert ask(running, messages=says(answer)) == [{"content": answer, "calls": [], "finish": "stop"}]
        log = running.log.read_text()
        assert "the answer passes as it came: RuntimeError in breaking" in log
        assert "secret words" not in log


def test_a_wrong_option_ends_the_start(upstream: EchoServer, tmp_path: Path) -> None:
    process, _ = start(
        configure(tmp_path, upstream, {**CALLBACK, "callback_settings": {"recovery": {"polciy": "strict"}}})
    )
    try:
        assert process.wait(PATIENCE) != 0
    finally:
        process.kill()
        process.wait()
    assert "callback_settings: recovery: there is no option 'polciy'" in (tmp_path / "log").read_text()


def test_the_model_of_the_example(with_callback: Proxy) -> None:
    request: Any = {
        "model": "demo",
        "messages": [{"role": "user", "content": "The ferns are cold."}],
        "tools": [{"type": "function", "function": {"name": "Greenhouse_setClimate"}}],
    }
    with with_callback.client() as client:
        (choice,) = client.chat.completions.create(**request).choices
        deltas = [chunk.choices[0].delta for chunk in client.chat.completions.create(**request, stream=True)]
    for calls in (choice.message.tool_calls, [call for delta in deltas for call in delta.tool_calls or ()]):
        found = [(call.function.name, json.loads(call.function.arguments)) for call in calls]
        assert found == [("Greenhouse_setClimate", {"zone": "ferns", "temperature": 19})]


def test_the_log_of_the_readme(upstream: EchoServer, tmp_path: Path) -> None:
    (own,) = (block for block in CODE.findall((ROOT / "README.md").read_text()) if "WrittenCalls" in block)
    (tmp_path / "own.py").write_text(own)
    with proxy(configure(tmp_path, upstream, {"litellm_settings": {"callbacks": ["own.callback"]}})) as running:
        for ask in (whole, streamed):
            for answer in (CALL, f"```\n{CALL}\n```", "delete_all()", "Noon."):
                ask(running, messages=says(answer))
    log = (tmp_path / "log.jsonl").read_text()
    rows = [json.loads(line) for line in log.splitlines()]
    told = [("recovered", None), ("refused", "not_allowed"), ("refused", "never_recovered"), ("text", None)]
    assert [(row["status"], row["reason"]) for row in rows] == told * 2
    assert {row["model"] for row in rows} == {"echo"}
    done = subprocess.run(
        [sys.executable, "-m", "recovery", "replay", "log.jsonl", "--policy", "strict"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_objects_of_the_library_are_taken_without_the_proxy(upstream: EchoServer, tmp_path: Path) -> None:
    program = """
import asyncio, json, sys
import litellm
from recovery.gateways.openai import recover_completion, recover_stream

model = {"model": "openai/echo", "api_base": sys.argv[1], "api_key": "none", "tools": json.loads(sys.argv[2])}
request = {**model, "messages": json.loads(sys.argv[3])}

async def ask():
    chunks = await litellm.acompletion(**request, stream=True)
    return [chunk async for chunk in recover_stream(chunks, request["tools"])]

def show(calls):
    print([(call.function.name, call.function.arguments) for call in calls])

show(recover_completion(litellm.completion(**request), request["tools"]).choices[0].message.tool_calls)
stream = litellm.completion(**request, stream=True)
chunks = list(recover_stream((chunk for chunk in stream), request["tools"]))
for some in (chunks, asyncio.run(ask())):
    show([call for chunk in some for call in chunk.choices[0].delta.tool_calls or ()])
"""
    command = [sys.executable, "-c", program, f"http://127.0.0.1:{upstream.server_port}/v1"]
    environment = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        [*command, json.dumps(TOOLS), json.dumps(says(CALL))],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    call = [("Tide_forecast", '{"port": "Kilvik", "days": 2}')]
    assert done.stdout.splitlines() == [str(call)] * 3, done.stderr
