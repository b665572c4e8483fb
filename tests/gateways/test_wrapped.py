"""The real clients, wrapped, plain and async, in front of the server."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from recovery import Policy, Reason
from recovery.gateways import anthropic_client, openai_client
from recovery.gateways.log import Reading
from tests.gateways.server import serving
from tests.gateways.test_clients import MESSAGES, TRANSCRIPTS, async_client, plain_client
from tests.gateways.transcripts import Transcript

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

ROOT = Path(__file__).parent.parent.parent
WRAP: dict[str, Any] = {"openai": openai_client.wrap, "anthropic": anthropic_client.wrap}
SAID = "[Tide.forecast(port='Arbo'), berth_book()]"


def offer(library: str, names: Any) -> list[dict[str, Any]]:
    """The tools as the library takes them."""
    schema = {"type": "object", "properties": {"port": {"type": "string"}}}
    if library == "anthropic":
        return [{"name": name, "input_schema": schema} for name in names]
    return [{"type": "function", "function": {"name": name, "parameters": schema}} for name in names]


CHAT: dict[str, Any] = {"model": "stop", "tools": offer("openai", ["Tide_forecast", "berth_book"])}
RESPONSE: dict[str, Any] = {
    "model": "completed",
    "tools": [{"type": "function", **tool["function"]} for tool in CHAT["tools"]],
}
MESSAGE: dict[str, Any] = {
    "model": "end_turn",
    "tools": offer("anthropic", ["Tide_forecast", "berth_book"]),
    "max_tokens": 9,
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture
def chat(address: str) -> Iterator[Any]:
    with plain_client("openai", address) as client:
        yield client


@pytest.fixture
def claude(address: str) -> Iterator[Any]:
    with plain_client("anthropic", address) as client:
        yield client


def user(said: Any = SAID) -> list[dict[str, Any]]:
    return [{"role": "user", "content": said}]


def ask_chat(client: Any, said: Any = SAID, **options: Any) -> Any:
    return client.chat.completions.create(messages=user(said), **{**CHAT, **options})


def ask_response(client: Any, said: Any = SAID, **options: Any) -> Any:
    return client.responses.create(input=said, **{**RESPONSE, **options})


def ask_message(client: Any, said: Any = SAID, **options: Any) -> Any:
    return client.messages.create(messages=user(said), **{**MESSAGE, **options})


ASK: list[Any] = [
    pytest.param("openai", ask_chat, id="chat"),
    pytest.param("openai", ask_response, id="response"),
    pytest.param("anthropic", ask_message, id="message"),
]
BOTH = pytest.mark.parametrize(("library", "ask"), ASK)


def calls_of(answer: Any) -> list[tuple[str, Any]]:
    """The calls of an answer of any kind, of its first choice, by name and arguments."""
    if answer.to_dict().get("type") == "message":
        return [
            (block.name, block.input) for block in answer.content if isinstance(block, anthropic.types.ToolUseBlock)
        ]
    if answer.object == "response":
        kind = openai.types.responses.ResponseFunctionToolCall
        return [(item.name, json.loads(item.arguments)) for item in answer.output if isinstance(item, kind)]
    calls = answer.choices[0].message.tool_calls or ()
    return [(call.function.name, json.loads(call.function.arguments)) for call in calls]


CALLS: list[tuple[str, Any]] = [("Tide_forecast", {"port": "Arbo"}), ("berth_book", {})]


@BOTH
def test_create_returns_calls(library: str, ask: Any, address: str) -> None:
    with plain_client(library, address) as client:
        assert calls_of(ask(WRAP[library](client))) == CALLS
        # The client that was given is as before.
        assert calls_of(ask(client)) == []


@BOTH
def test_create_returns_calls_where_it_is_awaited(library: str, ask: Any, address: str) -> None:
    async def run() -> Any:
        async with WRAP[library](async_client(library, address)) as client:
            return await ask(client)

    assert calls_of(asyncio.run(run())) == CALLS


def test_a_completion_has_the_classes_of_the_library(chat: Any) -> None:
    numbers = count(1)
    answer = ask_chat(openai_client.wrap(chat, make_id=lambda: f"id_{next(numbers)}"))
    assert isinstance(answer, openai.types.chat.ChatCompletion)
    assert answer._request_id == "req_7"
    assert [choice.finish_reason for choice in answer.choices] == ["tool_calls"] * 2
    assert answer.choices[1].message.to_dict() == {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "tool_calls": [
            {
                "id": "id_3",
                "type": "function",
                "function": {"name": "Tide_forecast", "arguments": '{"port": "Arbo"}'},
            },
            {"id": "id_4", "type": "function", "function": {"name": "berth_book", "arguments": "{}"}},
        ],
    }
    for call in answer.choices[0].message.tool_calls:
        assert type(call).__module__.startswith("openai.types.chat")
    # It can be checked, and sent back.
    assert type(answer).model_validate(answer.to_dict()) == answer
    again = {**CHAT, "messages": [answer.choices[0].message, *user("No call.")]}
    assert chat.chat.completions.create(**again).choices[0].message.content == "No call."


def test_a_response_has_the_classes_of_the_library(chat: Any) -> None:
    numbers = count(1)
    wrapped = openai_client.wrap(chat, make_id=lambda: f"id_{next(numbers)}", policy=Policy.lenient())
    answer = ask_response(wrapped, f"So.\n{SAID}")
    assert isinstance(answer, openai.types.responses.Response)
    assert answer._request_id == "req_7"
    assert [item.type for item in answer.output] == ["reasoning", "message", "function_call", "function_call"]
    assert answer.output_text == "So.\n"
    assert answer.output[2].to_dict() == {
        "type": "function_call",
        "call_id": "id_1",
        "name": "Tide_forecast",
        "arguments": '{"port": "Arbo"}',
        "status": "completed",
    }
    # It can be sent back. Its class wanted an id at first, which a made-up one can't have.
    again = chat.responses.create(**{**RESPONSE, "input": [*answer.output, *user("No call.")]})
    assert again.output[1].content[0].text[-1]["content"] == "No call."


def test_a_message_has_the_classes_of_the_library(claude: Any) -> None:
    wrapped = anthropic_client.wrap(claude, policy=Policy.lenient())
    answer = ask_message(wrapped, f"So.\n{SAID}")
    assert isinstance(answer, anthropic.types.Message)
    assert answer._request_id == "req_7"
    assert [block.type for block in answer.content] == ["text", "tool_use", "tool_use"]
    assert (answer.content[0].text, answer.stop_reason) == ("So.\n", "tool_use")
    assert answer.content[1].id.startswith("toolu_")
    assert type(answer).model_validate(answer.to_dict()).content == answer.content


@BOTH
def test_what_has_no_call_is_what_the_client_gives(library: str, ask: Any, address: str) -> None:
    with plain_client(library, address) as client:
        wrapped = WRAP[library](client)
        cut = {"openai": "length", "anthropic": "max_tokens"}[library]
        cases: list[tuple[str, dict[str, Any]]] = [
            ("When is low water?", {}),
            (SAID, {"tools": []}),
            (SAID, {"model": cut}),
            (SAID, {"tool_choice": {"type": "none"} if library == "anthropic" else "none"}),
        ]
        for said, options in cases:
            assert ask(wrapped, said, **options) == ask(client, said, **options)


def test_the_request_is_honoured(chat: Any, claude: Any) -> None:
    told: list[Reading] = []
    wrapped = openai_client.wrap(chat, on_recovery=told.append)
    assert calls_of(ask_chat(wrapped, parallel_tool_calls=False)) == []
    assert calls_of(ask_response(wrapped, parallel_tool_calls=False)) == []
    single = {"type": "auto", "disable_parallel_tool_use": True}
    assert calls_of(ask_message(anthropic_client.wrap(claude, on_recovery=told.append), tool_choice=single)) == []
    reasons = [reading.recovery.refusal.reason for reading in told if reading.recovery.refusal is not None]
    # A chat completion has two choices here.
    assert reasons == [Reason.TOO_MANY_CALLS] * 4
    assert {reading.model for reading in told} == {"echo"}
    named = {"type": "function", "function": {"name": "berth_book"}}
    assert calls_of(ask_chat(wrapped, "berth_book()", tool_choice=named)) == [("berth_book", {})]
    assert calls_of(ask_chat(wrapped, tool_choice=named)) == []


def test_what_goes_on_with_a_message_is_not_read(chat: Any, claude: Any) -> None:
    # The server says what the last message says.
    ends = [*user("Which calls?"), {"role": "assistant", "content": SAID}]
    for messages, calls in ((ends, []), (iter(ends), []), ([*ends, *user()], CALLS), (iter(user()), CALLS)):
        assert calls_of(openai_client.wrap(chat).chat.completions.create(messages=messages, **CHAT)) == calls
    for messages, calls in ((ends, []), ([*ends, *user()], CALLS)):
        assert calls_of(anthropic_client.wrap(claude).messages.create(messages=messages, **MESSAGE)) == calls


def test_what_is_not_given_is_not_there(chat: Any, claude: Any) -> None:
    given = {"tool_choice": openai.NOT_GIVEN, "parallel_tool_calls": openai.NOT_GIVEN}
    assert calls_of(ask_chat(openai_client.wrap(chat), **given)) == CALLS
    assert calls_of(ask_chat(openai_client.wrap(chat), **given, tools=openai.NOT_GIVEN)) == []
    assert calls_of(ask_message(anthropic_client.wrap(claude), tool_choice=anthropic.NOT_GIVEN)) == CALLS


@BOTH
def test_tools_may_come_one_by_one(library: str, ask: Any, address: str) -> None:
    tools = {ask_chat: CHAT, ask_response: RESPONSE, ask_message: MESSAGE}[ask]["tools"]
    with plain_client(library, address) as client:
        assert calls_of(ask(WRAP[library](client), tools=iter(tools))) == CALLS
        assert calls_of(ask(WRAP[library](client), tools=tuple(tools))) == CALLS


@BOTH
def test_tools_of_an_unknown_shape_are_logged(
    library: str, ask: Any, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    with plain_client(library, address) as client, caplog.at_level(logging.WARNING):
        assert calls_of(ask(WRAP[library](client), tools=[{"name": ""}])) == []
    (record,) = [record for record in caplog.records if record.name == "recovery.gateways"]
    assert "tools[0]: a tool needs a non-empty name" in record.getMessage()


@BOTH
def test_what_a_gateway_says_of_all_requests(library: str, ask: Any, address: str) -> None:
    told: list[Reading] = []
    options = {"aliases": {"Book!": "berth_book", "x": "gone"}, "never": {"Tide_forecast", "gone"}}
    with plain_client(library, address) as client:
        wrapped = WRAP[library](client, on_recovery=told.append, **options)
        assert calls_of(ask(wrapped)) == []
        assert calls_of(ask(wrapped, '{"name": "Book!", "arguments": {}}')) == [("berth_book", {})]
    assert told[0].recovery.refusal is not None
    assert told[0].recovery.refusal.reason is Reason.NEVER_RECOVERED


@BOTH
def test_all_else_of_the_client_is_there(library: str, ask: Any, address: str) -> None:
    with plain_client(library, address) as client:
        wrapped = WRAP[library](client)
        assert type(wrapped) is type(client)
        assert (wrapped.base_url, wrapped.api_key, wrapped.max_retries) == (client.base_url, "none", 0)
        assert wrapped.models is not None
        # A copy that the client makes recovers too.
        assert calls_of(ask(wrapped.with_options(max_retries=1))) == CALLS
        assert wrapped.copy(max_retries=3).max_retries == 3
        assert calls_of(ask(WRAP[library](wrapped))) == CALLS
    assert wrapped.is_closed()


def test_raw_responses_hold_what_came(chat: Any, claude: Any) -> None:
    completions = openai_client.wrap(chat).chat.completions
    raw = completions.with_raw_response.create(messages=user(), **CHAT)
    assert raw.parse().choices[0].message.content == SAID
    with completions.with_streaming_response.create(messages=user(), **CHAT) as raw:
        assert raw.parse().choices[0].message.content == SAID
    raw = anthropic_client.wrap(claude).messages.with_raw_response.create(messages=user(), **MESSAGE)
    assert raw.parse().content[0].text == SAID


def wrapped_for(transcript: Transcript, client: Any) -> Any:
    numbers = count(1)
    options: dict[str, Any] = {
        name: transcript.head[name] for name in ("commit", "reasoning_open") if name in transcript.head
    }
    if "policy" in transcript.head:
        options["policy"] = Policy(transcript.head["policy"])
    return WRAP[transcript.library](client, make_id=lambda: f"id_{next(numbers)}", **options)


def ask_for(transcript: Transcript, client: Any) -> Any:
    tools = offer(transcript.library, transcript.head["tools"])
    request: dict[str, Any] = {"model": transcript.name, "messages": MESSAGES, "stream": True, "tools": tools}
    if transcript.library == "openai":
        return client.chat.completions.create(**request)
    return client.messages.create(**request, max_tokens=99)


STREAMS = pytest.mark.parametrize(
    "transcript", [found for found in TRANSCRIPTS if found.name not in ("broken", "error")], ids=str
)


@STREAMS
def test_a_stream_is_the_transcript(transcript: Transcript, address: str) -> None:
    with plain_client(transcript.library, address) as client:
        items = list(ask_for(transcript, wrapped_for(transcript, client)))
        plain = list(transcript.adapt(ask_for(transcript, client)))
    assert [item.to_dict(warnings=False) for item in items] == [item.to_dict(warnings=False) for item in plain]


@STREAMS
def test_an_async_stream_is_the_transcript(transcript: Transcript, address: str) -> None:
    async def run() -> tuple[list[Any], list[Any]]:
        async with async_client(transcript.library, address) as client:
            items = [item async for item in await ask_for(transcript, wrapped_for(transcript, client))]
            return items, [item async for item in transcript.adapt(await ask_for(transcript, client))]

    items, plain = asyncio.run(run())
    assert [item.to_dict(warnings=False) for item in items] == [item.to_dict(warnings=False) for item in plain]


def test_a_stream_has_the_response_and_is_closed(chat: Any) -> None:
    (transcript,) = [found for found in TRANSCRIPTS if str(found) == "openai-call"]
    with ask_for(transcript, openai_client.wrap(chat)) as items:
        next(items)
        assert items.response.status_code == 200
        assert not items.response.is_closed
    assert items.response.is_closed


def test_a_stream_without_tools_is_the_librarys_own(chat: Any, claude: Any) -> None:
    (transcript,) = [found for found in TRANSCRIPTS if str(found) == "openai-no-tools"]
    with ask_for(transcript, openai_client.wrap(chat)) as items:
        assert isinstance(items, openai.Stream)
    (transcript,) = [found for found in TRANSCRIPTS if str(found) == "anthropic-no-tools"]
    with ask_for(transcript, anthropic_client.wrap(claude)) as items:
        assert isinstance(items, anthropic.Stream)


def test_the_librarys_own_stream_helper_sees_the_calls(chat: Any) -> None:
    if not hasattr(chat.chat.completions, "stream"):
        pytest.skip("of a later version")
    (transcript,) = [found for found in TRANSCRIPTS if str(found) == "openai-call"]
    tools = offer("openai", transcript.head["tools"])
    # The helper wants tools that are strict.
    for tool in tools:
        tool["function"]["strict"] = True
    with openai_client.wrap(chat).chat.completions.stream(model="call", messages=MESSAGES, tools=tools) as stream:
        kinds = {event.type for event in stream}
        (choice,) = stream.get_final_completion().choices
    assert "tool_calls.function.arguments.done" in kinds
    assert [call.function.name for call in choice.message.tool_calls] == ["Tide_forecast"]


def test_what_the_readme_says(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"(?ms)^```py\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"))
    (block,) = (block for block in blocks if "openai_client" in block)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    tools = offer("openai", ["Tide_forecast", "delete_all"])
    for said, printed in [("Tide.forecast()", "name='Tide_forecast'"), ("delete_all()", "None\n")]:
        names: dict[str, Any] = {"model": "stop", "messages": user(said), "tools": tools}
        exec(compile(block, "README.md", "exec"), names)
        names["client"].close()
        assert printed in capsys.readouterr().out


@pytest.mark.parametrize("library", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"policy": "strict"}, TypeError, "policy must be a Policy, not str"),
        ({"commit": "calls"}, ValueError, "commit must be 'answer' or 'call', not 'calls'"),
        ({"aliases": ["f"]}, TypeError, "aliases must map original to offered names, not be list"),
        ({"never": "f"}, TypeError, "never must be a collection of names, not str"),
        ({"make_id": "id"}, TypeError, "make_id must be a function, not str"),
        ({"on_recovery": 5}, TypeError, "on_recovery must be a function, not int"),
    ],
)
def test_a_callers_mistake_is_told(
    library: str, options: dict[str, Any], error: type[Exception], message: str, address: str
) -> None:
    with plain_client(library, address) as client, pytest.raises(error, match=message):
        WRAP[library](client, **options)
    with pytest.raises(TypeError, match="wrap takes a client of the library, not object: it has no "):
        WRAP[library](object())
