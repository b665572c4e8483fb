"""Answers as bytes, wherever they are cut: those without a call come out as they went in, others as adapted."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recovery import Policy, Toolset, recover
from recovery.gateways import openai
from recovery.gateways.log import Reading
from recovery.gateways.request import Offer
from recovery.gateways.serve.reading import Reader
from tests.gateways.messages import chunk, chunks, join_chunks
from tests.strategies import TOOLS, answers, examples, pieces, policies

answers_in_pieces = answers.flatmap(pieces)
ends = st.sampled_from(["\n", "\r\n"])
CALL = "[f(x=1)]"


def reader(
    tools: Any = ("f",), policy: Policy | None = None, most: int = 2**20, told: list[Reading] | None = None, **more: Any
) -> Reader:
    offer = Offer(Toolset.of(tools), Policy.of(policy), more.pop("commit", "answer"))
    on_reading = (lambda _: None) if told is None else told.append
    return Reader(offer, reasoning_open=False, most=most, on_reading=on_reading)


def as_events(items: list[Any], end: str = "\n", *, done: bool = True) -> bytes:
    rows = [json.dumps(item, ensure_ascii="\\ud" in json.dumps(item)) for item in items]
    return "".join(f"data: {row}{end}{end}" for row in [*rows, *["[DONE]"] * done]).encode()


def through(read: Reader, stream: bytes, size: int = 10**9) -> bytes:
    out = [read.feed(stream[at : at + size]) for at in range(0, len(stream), size)]
    return b"".join([*out, read.end()])


def items_of(stream: bytes) -> list[Any]:
    """What the events hold, but for deltas that say nothing: these pass where nothing was held."""
    events = [event[6:] for event in stream.replace(b"\r\n", b"\n").split(b"\n\n") if event[:5] == b"data:"]
    items = [json.loads(event) for event in events if event != b"[DONE]"]
    return [item for item in items if any(any(c["delta"].values()) or c["finish_reason"] for c in item["choices"])]


@examples(150)
@given(st.lists(answers_in_pieces, min_size=1, max_size=2), policies, ends, st.integers(1, 2000))
def test_a_stream_without_a_call_is_the_same_bytes(cuts: list[list[str]], policy: Policy, end: str, size: int) -> None:
    given = [item for index, cut in enumerate(cuts) for item in chunks(cut, index=index)]
    stream = as_events(given, end)
    read = reader(TOOLS, policy)
    out = through(read, stream, size)
    found = [recover("".join(cut), TOOLS, policy=policy) for cut in cuts]
    if not any(result.calls for result in found):
        assert out == stream
        assert not read.changed
        return
    assert read.changed
    assert out.endswith(b"data: [DONE]" + 2 * end.encode())
    adapted = join_chunks(list(openai.recover_stream(given, TOOLS, policy=policy)))
    assert join_chunks(items_of(out)) == adapted


@examples(100)
@given(answers_in_pieces, policies, st.integers(1, 2000))
def test_each_answer_is_told_once(cut: list[str], policy: Policy, size: int) -> None:
    told: list[Reading] = []
    through(reader(TOOLS, policy, told=told), as_events(chunks(cut)), size)
    answer = "".join(cut)
    found = [(answer, recover(answer, TOOLS, policy=policy))] if answer else []
    assert [(reading.answer, reading.recovery) for reading in told] == found


@examples(100)
@given(answers, policies)
def test_a_whole_answer(answer: str, policy: Policy) -> None:
    message = {"role": "assistant", "content": answer, "refusal": None}
    given = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "x": 1}
    body = json.dumps(given, indent=1).encode()
    told: list[Reading] = []
    read = reader(TOOLS, policy, told=told)
    out = read.whole(body)
    result = recover(answer, TOOLS, policy=policy)
    assert [reading.recovery for reading in told] == [result] * bool(answer)
    if not result.calls:
        assert out == body
        return
    made = json.loads(out)
    (choice,) = made["choices"]
    assert (made["id"], made["x"], choice["finish_reason"]) == ("c", 1, "tool_calls")
    names = [call["function"]["name"] for call in choice["message"]["tool_calls"]]
    assert names == [call.name for call in result.calls]


def test_text_goes_out_as_soon_as_it_is_sure() -> None:
    read = reader()
    for item in chunks(["Well, ", "that is "]):
        event = as_events([item], done=False)
        assert read.feed(event) == event
    read = reader()
    held = as_events(chunks([CALL[:3], CALL[3:]])[:-1], done=False)
    assert read.feed(held) == as_events([chunks([])[0]], done=False)


def test_what_is_held_and_becomes_text_goes_out_as_it_came_with_all_between() -> None:
    between = b': ping\r\n\r\nevent: odd\ndata: {"choices": []}\n\n'
    stream = as_events(chunks(["[f(x"])[:-1], done=False) + between + as_events(chunks(["=1)] + 2"])[1:])
    read = reader()
    assert through(read, stream, 5) == stream
    assert not read.changed


def test_a_comment_behind_held_text_stays_in_its_place_beside_a_call() -> None:
    first, *rest = chunks([CALL])
    stream = as_events([first, rest[0]], done=False) + b": ping\n\n" + as_events(rest[1:])
    out = through(reader(), stream)
    assert out.count(b": ping\n\n") == 1
    assert out.index(b": ping") < out.index(b"tool_calls")


@pytest.mark.parametrize(
    "odd",
    [
        b"data: {nope\n\n",
        b"data: [1]\n\n",
        b"data: \xff\xfe\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
    ],
    ids=["no-json", "no-object", "no-utf-8", "deep"],
)
def test_behind_what_is_not_understood_all_passes(odd: bytes) -> None:
    stream = as_events(chunks([CALL])[:2], done=False) + odd + as_events(chunks([CALL])[2:])
    read = reader()
    assert through(read, stream) == stream
    assert read.unread


def test_a_stream_that_breaks_is_text() -> None:
    stream = as_events(chunks([CALL])[:-1], done=False) + b'data: {"choi'
    read = reader()
    assert through(read, stream, 3) == stream
    assert read.unread == "cut"


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_cut_answer_is_text(finish: str) -> None:
    stream = as_events(chunks([CALL], finish))
    read = reader()
    assert through(read, stream) == stream
    assert read.unread == "cut"


NATIVE = {"name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("beside", "why"),
    [
        ({"tool_calls": [{"index": 0, "id": "n", "function": NATIVE}]}, "own_calls"),
        ({"function_call": NATIVE}, "own_calls"),
        ({"refusal": "No."}, "refusal"),
    ],
)
def test_its_own_calls_win_and_its_refusal(beside: Any, why: str) -> None:
    stream = as_events([*chunks([CALL])[:-1], chunk(**beside), chunk(finish="stop")])
    read = reader()
    assert through(read, stream) == stream
    assert read.unread == why
    message = {"role": "assistant", "content": CALL, **beside}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    read = reader()
    assert read.whole(body) == body
    assert read.unread == why


def test_no_more_is_held_than_is_said() -> None:
    text = '[f(x="' + "y" * 5000
    stream = as_events(chunks([text[at : at + 5] for at in range(0, len(text), 5)]))
    read = reader(most=2000)
    out = b""
    for at in range(0, len(stream), 100):
        out += read.feed(stream[at : at + 100])
        assert at + 100 - len(out) < 2400
    assert out + read.end() == stream
    assert read.unread == "too_large"


@pytest.mark.parametrize("commit", ["answer", "call"])
@pytest.mark.parametrize("begin", ["So.", "f(x=1)\nf(x=2)\n"])
def test_no_more_is_kept_of_a_text_without_end_than_is_said(begin: str, commit: str) -> None:
    words = "It is at noon. " * 10
    stream = as_events(chunks([begin, *[words] * 1000], finish=None), done=False)
    read = reader(policy=Policy.lenient(), most=20_000, commit=commit)
    tracemalloc.start()
    out = b"".join(read.feed(stream[at : at + 1000]) for at in range(0, len(stream), 1000))
    kept = tracemalloc.get_traced_memory()[0] - len(out)
    tracemalloc.stop()
    assert out.count(words.encode()) == 1000
    assert kept < 100_000
    assert read.unread == "too_large"


@pytest.mark.parametrize("commit", ["answer", "call"])
def test_two_choices_of_which_one_is_a_call(commit: str) -> None:
    given = [item for pair in zip(chunks([CALL]), chunks(["Hello"], index=1), strict=True) for item in pair]
    out = join_chunks(items_of(through(reader(commit=commit), as_events(given))))
    assert (out[0].calls, out[0].reason, out[0].text) == ([("f", {"x": 1})], "tool_calls", "")
    assert (out[1].calls, out[1].reason, out[1].text) == ([], "stop", "Hello")


def test_a_call_goes_out_early_where_it_may() -> None:
    given = as_events(chunks(["f(x=1)\n", "f(x=2)"])[:-1], done=False)
    assert b"tool_calls" not in reader().feed(given)
    assert b"tool_calls" in reader(commit="call").feed(given)
