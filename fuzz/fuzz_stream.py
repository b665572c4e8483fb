"""Invariant: whatever the text, the tools, the policy and the cuts, a stream gives out what `recover` gives on the whole."""

from __future__ import annotations

from fuzz.inputs import HEAD, answer_seeds, read_answer
from fuzz.target import Target, run
from recovery import CallEvent, Stream, recover
from tests.streams import events_of, streamed, text_of


def one_input(data: bytes) -> None:
    answer = read_answer(data)
    if answer is None:
        return
    text, toolset, policy, reasoning_open = answer.text, answer.toolset, answer.policy, answer.reasoning_open
    batch = recover(text, toolset, policy=policy, reasoning_open=reasoning_open)
    assert streamed(toolset, answer.pieces, policy, reasoning_open=reasoning_open) == batch
    assert streamed(toolset, text, policy, reasoning_open=reasoning_open) == batch
    early = Stream(toolset, policy=policy, commit="call", reasoning_open=reasoning_open)
    events = events_of(early, answer.pieces)
    assert early.result == batch
    if tuple(event.call for event in events if isinstance(event, CallEvent)) == batch.calls:
        assert text_of(events) == batch.text


TARGET = Target(one_input, answer_seeds, answer=read_answer, head=HEAD)

if __name__ == "__main__":
    run(TARGET)
