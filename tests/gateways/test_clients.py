"""The real clients of OpenAI and Anthropic, plain and async, in front of a server that replays the transcripts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.gateways.server import serving
from tests.gateways.transcripts import Transcript, read

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

TRANSCRIPTS = [*read("openai"), *read("anthropic")]
MESSAGES = [{"role": "user", "content": "When is low water?"}]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as address:
        yield address


def plain_client(library: str, address: str) -> Any:
    if library == "openai":
        return openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
    return anthropic.Anthropic(base_url=address, api_key="none", max_retries=0)


def async_client(library: str, address: str) -> Any:
    if library == "openai":
        return openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
    return anthropic.AsyncAnthropic(base_url=address, api_key="none", max_retries=0)


def ask(client: Any, transcript: Transcript) -> Any:
    """What the client gives, plain or to be awaited."""
    request = {"model": transcript.name, "messages": MESSAGES, "stream": True}
    if transcript.library == "openai":
        return client.chat.completions.create(**request)
    return client.messages.create(**request, max_tokens=99)


def take_plain(transcript: Transcript, address: str) -> tuple[list[Any], Exception | None]:
    """All that comes, and what is raised behind it."""
    items: list[Any] = []
    with plain_client(transcript.library, address) as client:
        try:
            items += transcript.adapt(ask(client, transcript))
        except Exception as error:  # noqa: BLE001  # each library has its own
            return items, error
    return items, None


def take_async(transcript: Transcript, address: str) -> tuple[list[Any], Exception | None]:
    items: list[Any] = []

    async def take() -> Exception | None:
        async with async_client(transcript.library, address) as client:
            try:
                async for item in transcript.adapt(await ask(client, transcript)):
                    items.append(item)  # noqa: PERF401  # those before an error count
            except Exception as error:  # noqa: BLE001
                return error
        return None

    return items, asyncio.run(take())


def module_of(library: str) -> str:
    return "openai.types.chat" if library == "openai" else "anthropic.types"


@pytest.mark.parametrize("take", [take_plain, take_async], ids=["plain", "async"])
@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=str)
def test_a_transcript(
    transcript: Transcript, take: Callable[[Transcript, str], tuple[list[Any], Exception | None]], address: str
) -> None:
    items, error = take(transcript, address)
    expected = transcript.rows_of("out")
    # The client keeps pings to itself, some versions also events that they do not know, and raises errors.
    raised = [item for item in expected if item.get("type") == "error"]
    assert [item.to_dict(warnings=False) for item in items if getattr(item, "type", None) != "weather"] == [
        item for item in expected if item.get("type") not in ("ping", "error", "weather")
    ]
    assert (error is not None) == (transcript.breaks or bool(raised)), error
    assert all(type(item).__module__.startswith(module_of(transcript.library)) for item in items)


@pytest.mark.parametrize(
    "transcript", [found for found in TRANSCRIPTS if found.name not in ("broken", "error")], ids=str
)
def test_the_objects_that_came_in_are_not_changed(transcript: Transcript, address: str) -> None:
    with plain_client(transcript.library, address) as client:
        items = list(ask(client, transcript))
    before = [item.to_json(warnings=False) for item in items]
    assert list(transcript.adapt(items))
    assert [item.to_json(warnings=False) for item in items] == before


@pytest.mark.parametrize("transcript", [found for found in TRANSCRIPTS if found.name == "call"], ids=str)
def test_closing_early_closes_the_response(transcript: Transcript, address: str) -> None:
    with plain_client(transcript.library, address) as client:
        upstream = ask(client, transcript)
        with transcript.adapt(upstream) as items:
            next(items)
            assert not upstream.response.is_closed
        assert upstream.response.is_closed
        assert list(items) == []


@pytest.mark.parametrize("transcript", [found for found in TRANSCRIPTS if found.name == "call"], ids=str)
def test_closing_early_closes_the_response_async(transcript: Transcript, address: str) -> None:
    async def run() -> None:
        async with async_client(transcript.library, address) as client:
            upstream = await ask(client, transcript)
            async with transcript.adapt(upstream) as items:
                await anext(items)
                assert not upstream.response.is_closed
            assert upstream.response.is_closed
            assert [item async for item in items] == []

    asyncio.run(run())


def test_calls_have_the_classes_of_the_library(address: str) -> None:
    found = {str(transcript): transcript for transcript in TRANSCRIPTS}
    chunks, _ = take_plain(found["openai-call"], address)
    (call,) = [call for chunk in chunks for choice in chunk.choices for call in choice.delta.tool_calls or ()]
    assert (call.index, call.id, call.function.name) == (0, "id_1", "Tide_forecast")
    events, _ = take_plain(found["anthropic-call"], address)
    (block,) = [event.content_block for event in events if event.type == "content_block_start"]
    assert isinstance(block, anthropic.types.ToolUseBlock)
    assert (block.id, block.name) == ("id_1", "Tide_forecast")


@pytest.mark.parametrize("name", ["calls", "left-text", "unknown-fields", "commit-call-native"])
def test_the_library_joins_the_chunks_to_a_message(name: str, address: str) -> None:
    streaming = pytest.importorskip("openai.lib.streaming.chat")
    (transcript,) = [found for found in TRANSCRIPTS if str(found) == f"openai-{name}"]
    state = streaming.ChatCompletionStreamState()
    chunks, _ = take_plain(transcript, address)
    for chunk in chunks:
        state.handle_chunk(chunk)
    (choice,) = state.get_final_completion().choices
    assert choice.finish_reason == "tool_calls"
    assert [call.id for call in choice.message.tool_calls] == [
        call["id"]
        for item in transcript.rows_of("out")
        for choice in item["choices"]
        for call in choice["delta"].get("tool_calls", ())
        if "id" in call
    ]
