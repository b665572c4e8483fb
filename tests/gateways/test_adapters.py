"""What holds for the adapters whatever the answer and its pieces, with dicts; and how the iterators behave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from copy import deepcopy
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recovery import CallEvent, Policy, Stream, TextEvent, recover
from recovery.gateways import anthropic, openai
from tests.gateways.messages import Message, chunk, chunks, events, join_chunks, join_events
from tests.gateways.transcripts import LIBRARIES, asynchronous
from tests.strategies import TOOLS, answers, examples, pieces, policies

Commit = Literal["answer", "call"]

answers_in_pieces = answers.flatmap(pieces)
commits = st.sampled_from(["answer", "call"])


def expected(cut: list[str], policy: Policy, commit: Commit, *, with_calls: str, without: str) -> Message:
    """What the stream says, as a message, with the reason for each case."""
    stream = Stream(TOOLS, policy=policy, commit=commit)
    said = [event for piece in cut for event in stream.feed(piece)] + stream.close()
    text = "".join(event.text for event in said if isinstance(event, TextEvent))
    calls = [(event.call.name, event.call.arguments) for event in said if isinstance(event, CallEvent)]
    # White space alone beside calls is no text.
    return Message(text if text.strip() or not calls else "", calls, with_calls if calls else without)


@examples(300)
@given(answers_in_pieces, policies, commits)
def test_chunks_say_what_the_stream_says(cut: list[str], policy: Policy, commit: Commit) -> None:
    given = chunks(cut)
    before = deepcopy(given)
    out = join_chunks(list(openai.recover_stream(given, TOOLS, policy=policy, commit=commit)))
    assert given == before
    assert out == {0: expected(cut, policy, commit, with_calls="tool_calls", without="stop")}


@examples(300)
@given(answers_in_pieces, policies, commits)
def test_events_say_what_the_stream_says(cut: list[str], policy: Policy, commit: Commit) -> None:
    given = events([cut] if any(cut) else [])
    before = deepcopy(given)
    out = join_events(list(anthropic.recover_stream(given, TOOLS, policy=policy, commit=commit)))
    assert given == before
    wanted = expected(cut, policy, commit, with_calls="tool_use", without="end_turn")
    if commit == "call" and wanted.calls:
        # A block of white space alone is dropped, also where another block has words.
        assert out.text.split() == wanted.text.split()
        wanted.text = out.text
    assert out == wanted


@examples(150)
@given(answers_in_pieces, policies)
def test_what_is_recovered_is_what_recover_recovers(cut: list[str], policy: Policy) -> None:
    result = recover("".join(cut), TOOLS, policy=policy)
    message = result.to_openai_message()
    (out,) = join_chunks(list(openai.recover_stream(chunks(cut), TOOLS, policy=policy))).values()
    assert out.text == (message["content"] or "")
    assert out.calls == [(call.name, call.arguments) for call in result.calls]


@examples(150)
@given(st.lists(answers_in_pieces, min_size=2, max_size=3), policies, st.randoms(use_true_random=False))
def test_choices_are_apart(choices: list[list[str]], policy: Policy, random: Any) -> None:
    waiting = [chunks(cut, index=index) for index, cut in enumerate(choices)]
    given = []
    while any(waiting):
        given.append(random.choice([left for left in waiting if left]).pop(0))
    out = join_chunks(list(openai.recover_stream(given, TOOLS, policy=policy)))
    for index, cut in enumerate(choices):
        (alone,) = join_chunks(list(openai.recover_stream(chunks(cut), TOOLS, policy=policy))).values()
        assert out[index] == alone


@examples(150)
@given(answers_in_pieces, policies, st.sampled_from(["length", "content_filter", None]))
def test_a_cut_answer_is_text(cut: list[str], policy: Policy, finish: str | None) -> None:
    given = chunks(cut, finish)
    if finish is None:
        given.pop()
    (out,) = join_chunks(list(openai.recover_stream(given, TOOLS, policy=policy))).values()
    assert out == Message("".join(cut), [], finish)
    reason = {"length": "max_tokens", "content_filter": "refusal", None: None}[finish]
    blocks = events([cut] if any(cut) else [], reason)
    message = join_events(list(anthropic.recover_stream(blocks, TOOLS, policy=policy)))
    assert message == Message("".join(cut), [], reason)


@examples(150)
@given(answers_in_pieces, answers_in_pieces, policies)
def test_its_own_calls_win(before: list[str], behind: list[str], policy: Policy) -> None:
    native = chunk(tool_calls=[{"index": 0, "id": "call_n", "function": {"name": "f", "arguments": "{}"}}])
    given = [*chunks(before)[:-1], native, *chunks(behind, "tool_calls")[1:]]
    out = list(openai.recover_stream(given, TOOLS, policy=policy))
    assert any(item is native for item in out)
    at = next(at for at, item in enumerate(out) if item is native)
    text = [
        "".join(c["delta"].get("content") or "" for item in part for c in item["choices"])
        for part in (out[:at], out[at:])
    ]
    assert text == ["".join(before), "".join(behind)]
    assert out[at:] == given[given.index(native) :]


@examples(150)
@given(st.lists(answers_in_pieces.filter(any), min_size=2, max_size=3), policies)
def test_no_text_of_several_blocks_is_lost(blocks: list[list[str]], policy: Policy) -> None:
    out = join_events(list(anthropic.recover_stream(events(blocks), TOOLS, policy=policy)))
    if not out.calls:
        assert out == Message("".join(map("".join, blocks)), [], "end_turn")
        return
    # Calls come of what all of it says.
    result = recover("".join(map("".join, blocks)), TOOLS, policy=policy)
    assert out.calls == [(call.name, call.arguments) for call in result.calls]
    assert out.text.split() == result.text.split()


class Closing:
    """An upstream that tells whether it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    def __iter__(self) -> Iterator[Any]:
        return iter(chunks(["f(", "x=1)"]))

    def close(self) -> None:
        self.closed += 1


class AsyncClosing:
    """An async one, as OpenAI's older streams are."""

    def __init__(self) -> None:
        self.closed = 0

    def __aiter__(self) -> AsyncIterator[Any]:
        return asynchronous(iter(chunks(["f(", "x=1)"])))

    async def close(self) -> None:
        self.closed += 1


class AsyncClosingTwice(AsyncClosing):
    """One with the name that generators have for it too."""

    async def aclose(self) -> None:
        await self.close()


def test_closing_closes_the_upstream() -> None:
    upstream = Closing()
    items = openai.recover_stream(upstream, ["f"])
    assert next(items)["choices"][0]["delta"]["role"] == "assistant"
    items.close()
    assert upstream.closed == 1
    assert list(items) == []


def test_what_was_ready_is_dropped_by_closing() -> None:
    items = anthropic.recover_stream(events([["f()"]]), ["f"])
    assert [next(items)["type"] for _ in range(2)] == ["message_start", "content_block_start"]
    items.close()
    assert list(items) == []


def test_leaving_the_block_closes_the_upstream_even_where_nothing_was_asked_for() -> None:
    upstream = Closing()
    with openai.recover_stream(upstream, ["f"]):
        pass
    assert upstream.closed == 1


def test_a_generator_is_closed() -> None:
    closed = []

    def generate() -> Iterator[Any]:
        try:
            yield from chunks(["f()"])
        finally:
            closed.append(True)

    items = openai.recover_stream(generate(), ["f"])
    next(items)
    items.close()
    assert closed == [True]


@pytest.mark.parametrize("kind", [AsyncClosing, AsyncClosingTwice])
def test_closing_closes_an_async_upstream(kind: type[AsyncClosing]) -> None:
    async def run() -> None:
        upstream = kind()
        async with openai.recover_stream(upstream, ["f"]) as items:
            await anext(items)
            assert upstream.closed == 0
        assert upstream.closed == 1
        assert [item async for item in items] == []

    asyncio.run(run())


def test_what_the_upstream_raises_comes_once_and_is_the_same() -> None:
    error = ConnectionError("gone")

    def generate() -> Iterator[Any]:
        yield chunk("f(x=1)")
        raise error

    items = openai.recover_stream(generate(), ["f"])
    assert next(items)["choices"][0]["delta"] == {"content": "f(x=1)"}
    with pytest.raises(ConnectionError) as raised:
        next(items)
    assert raised.value is error
    assert list(items) == []


def test_ids_are_made_up_as_the_service_makes_them() -> None:
    out = list(openai.recover_stream(chunks(["f()"]), ["f"]))
    assert out[1]["choices"][0]["delta"]["tool_calls"][0]["id"].startswith("call_")
    events_out = list(anthropic.recover_stream(events([["f()"]]), ["f"]))
    assert events_out[1]["content_block"]["id"].startswith("toolu_")


@pytest.mark.parametrize("library", LIBRARIES)
def test_misuse_is_told_at_once(library: str) -> None:
    recover_stream = LIBRARIES[library].recover_stream
    with pytest.raises(ValueError, match="commit"):
        recover_stream([], ["f"], commit="never")
    with pytest.raises(TypeError, match="policy"):
        recover_stream([], ["f"], policy="strict")
    with pytest.raises(ValueError, match="f"):
        recover_stream([], [{"name": "f"}, {"name": "f", "description": "another"}])
    with pytest.raises(TypeError, match="takes an iterator, plain or async, not int"):
        recover_stream(7, ["f"])
    with pytest.raises(TypeError, match="not dict"):
        recover_stream({"id": "c"}, ["f"])
    items = recover_stream([{}, "data: {}"], ["f"])
    with pytest.raises(TypeError, match="item 2 is str"):
        list(items)

    async def create() -> None: ...

    waiting = create()
    with pytest.raises(TypeError, match="await it first"):
        recover_stream(waiting, ["f"])
    waiting.close()


@pytest.mark.parametrize(
    "item", [{}, {"choices": None}, {"choices": [None]}, {"choices": [{"delta": "x"}]}, {"error": {}}]
)
def test_what_is_no_chunk_passes(item: Any) -> None:
    assert list(openai.recover_stream([item], ["f"])) in ([item], [])


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"type": "content_block_delta"},
        {"type": "content_block_delta", "index": 4, "delta": None},
        {"type": "content_block_stop", "index": 4},
        {"type": "message_delta", "delta": None},
        {"type": "message_delta"},
        {"type": "content_block_start"},
    ],
)
def test_what_is_no_event_passes(item: Any) -> None:
    assert list(anthropic.recover_stream([item], ["f"])) == [item]
