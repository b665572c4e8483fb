"""Invariant: what a client joins what an adapter gives out to is what `recover` gives of the text, however it is cut.

So is an answer that comes whole. Items that are no chunks or events pass, or are a clear TypeError: an input whose
fourth byte is odd is JSON, a list of items.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fuzz.inputs import HEAD, Answer, answer_seeds, read_answer
from fuzz.target import Target, run
from recovery import recover
from recovery.gateways import anthropic, openai
from tests.gateways.messages import chunks, events, join_chunks, join_events
from tests.gateways.transcripts import LIBRARIES, read


def one_input(data: bytes) -> None:
    answer = read_answer(data)
    if answer is None:
        return
    if not answer.reasoning_open:
        joined_as_recovered(answer)
        return
    try:
        items = json.loads(data[HEAD:])
    except (ValueError, RecursionError):
        return
    if isinstance(items, list):
        for library in LIBRARIES:
            passes(library, items, answer)


def joined_as_recovered(answer: Answer) -> None:
    pieces, toolset, policy = answer.pieces, answer.toolset, answer.policy
    result = recover(answer.text, toolset, policy=policy)
    calls = [(call.name, json.dumps(call.arguments)) for call in result.calls]
    # White space alone beside calls is no text.
    text = result.text if result.text.strip() or not calls else ""
    (message,) = join_chunks(list(openai.recover_stream(chunks(pieces), toolset, policy=policy))).values()
    assert (message.text, _exact(message.calls)) == (text, calls)
    assert message.reason == ("tool_calls" if calls else "stop")
    given = events([pieces] if pieces else [])
    message = join_events(list(anthropic.recover_stream(given, toolset, policy=policy)))
    assert (message.text, _exact(message.calls)) == (text, calls)
    assert message.reason == ("tool_use" if calls else "end_turn")
    is_recovered_whole(answer, text, calls)


def is_recovered_whole(answer: Answer, text: str, calls: list[tuple[str, str]]) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": answer.text}, "finish_reason": "stop"}
    given: dict[str, Any] = {"id": "c", "choices": [choice]}
    made = openai.recover_completion(given, answer.toolset, policy=answer.policy)
    assert calls or made is given
    (choice,) = made["choices"]
    functions = [call["function"] for call in choice["message"].get("tool_calls", [])]
    assert _exact([(call["name"], json.loads(call["arguments"])) for call in functions]) == calls
    assert (choice["message"]["content"] or "") == text


def _exact(calls: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(name, json.dumps(arguments)) for name, arguments in calls]


def passes(library: str, items: list[Any], answer: Answer) -> None:
    """Any items: what is neither dict nor object is a TypeError that names it, and the rest goes through."""
    before = json.dumps(items)
    for item in items:
        if isinstance(item, dict):
            json.dumps(openai.recover_completion(item, answer.toolset, policy=answer.policy))
            json.dumps(openai.recover_response(item, answer.toolset, policy=answer.policy))
            json.dumps(anthropic.recover_message(item, answer.toolset, policy=answer.policy))
    out = LIBRARIES[library].recover_stream(
        iter(items), answer.toolset, policy=answer.policy, commit="call" if answer.by_call else "answer"
    )
    wrong = next((number for number, item in enumerate(items, 1) if not isinstance(item, dict)), None)
    try:
        for item in out:
            json.dumps(item)
    except TypeError as error:
        told = str(error)
    else:
        told = ""
    assert bool(told) == (wrong is not None), told
    assert told.startswith(f"recover_stream: item {wrong} is ") or not told, told
    assert json.dumps(items) == before, "what came in was changed"


def seeds() -> Iterator[bytes]:
    """The vectors, and the transcripts of tests/gateways."""
    yield from answer_seeds()
    for library in LIBRARIES:
        for transcript in read(library):
            items = json.dumps(transcript.rows_of("in"), ensure_ascii=False)
            for flags in (b"\x01", b"\x03"):
                yield b"\xff\xff\xff" + flags + b"\x00\x00" + items.encode()


TARGET = Target(one_input, seeds, head=HEAD)

if __name__ == "__main__":
    run(TARGET)
