"""`Stream`: what goes out, and when. That its result is batch's is held by the vectors and the properties too."""

from __future__ import annotations

import gc
import gzip
import json
import os
import random
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recovery import Allowance, CallEvent, Limits, Policy, Reason, Stream, TextEvent, Toolset, recover
from tests.cases import VECTORS, read
from tests.strategies import TOOLS, answers, examples, pieces, policies
from tests.streams import events_of, is_part, streamed, text_of

STRICT, DEFAULT, LENIENT = Policy.strict(), Policy.default(), Policy.lenient()
OFFERED = Toolset(["f", "g", "magnetic_field", "get_docs", "get-docs"], aliases={"Ask the oracle": "f"})


# What has gone out before the answer is closed, by what was fed.
@pytest.mark.parametrize(
    ("policy", "fed", "out"),
    [
        # Words are held as long as an offered name begins so.
        (STRICT, "magnetic fie", ""),
        (STRICT, "magnetic fie" + "s", "magnetic fies"),
        (STRICT, "magnetic field (", "magnetic field ("),
        (STRICT, "magnetic.field", ""),
        (STRICT, "magnetic_field \t", ""),
        (STRICT, "magnetic  ", "magnetic  "),
        (STRICT, "magnetic_field, ", "magnetic_field, "),
        (STRICT, "Ask the or", ""),
        (STRICT, "Ask him", "Ask him"),
        (STRICT, "I see", "I see"),
        (LENIENT, "functions.f", ""),
        (LENIENT, "functions.x", "functions.x"),
        (LENIENT, "magnetic\\", ""),
        (LENIENT, "magnetic\\_f", ""),
        (LENIENT, "get-do", ""),
        (LENIENT, "get-it", "get-it"),
        (LENIENT, "await mag", ""),
        (LENIENT, "await nothing", "await nothing"),
        # A result can be assigned to any word.
        (LENIENT, "field", ""),
        (LENIENT, "field =", ""),
        (LENIENT, "field = magnetic", ""),
        (LENIENT, "field = magnets", "field = magnets"),
        (LENIENT, "print(f", ""),
        (LENIENT, "print(2,", "print(2,"),
        (LENIENT, "print(x=1,", "print(x=1,"),
        (LENIENT, "print(x: 1,", "print(x: 1,"),
        (LENIENT, "The field", "The field"),
        (STRICT, "field", "field"),
        # Lists and strings in them, JSON.
        (STRICT, "[", ""),
        (STRICT, "[1", "[1"),
        (STRICT, "[f(x=1), g(", ""),
        (STRICT, "[f(x=1), 2,", "[f(x=1), 2,"),
        (LENIENT, '["f(x=', ""),
        (LENIENT, '["Once upon', '["Once upon'),
        (STRICT, '["f', '["f'),
        (LENIENT, '{"name": "magnetic', ""),
        (LENIENT, '{"name": "magnets', '{"name": "magnets'),
        (LENIENT, '{"title', '{"title'),
        (LENIENT, '{"names": 1, "na', '{"names": 1, "na'),
        (DEFAULT, "[fl", "[fl"),
        (LENIENT, "=<tool_c", "="),
        (STRICT, '{"na', '{"na'),
        # Prose, and the line on which a block may begin.
        (LENIENT, "Look:\n", "Look:\n"),
        (LENIENT, "Look:\n  ", "Look:\n"),
        (LENIENT, "Look:\n  [f", "Look:\n"),
        (LENIENT, "Look at this: [f", "Look at this: "),
        (LENIENT, "Look, <", "Look, "),
        (LENIENT, "!<", "!"),
        (LENIENT, "Look<", "Look"),
        (STRICT, "<|im_end|>\nf(x=1", "<|im_end|>\nf(x=1"),
        (LENIENT, "Look, <x", "Look, <x"),
        (DEFAULT, "Look:\n  [f", "Look:\n  [f"),
        (LENIENT, "# first\nf(", "# first\n"),
        # Fences.
        (LENIENT, "``", ""),
        (LENIENT, "```python\nf", ""),
        (LENIENT, "```python\nimport o", "```python\nimport o"),
        (LENIENT, "Look:\n```\nf(x=1)\n", "Look:\n"),
        (LENIENT, "Look:\n```\nimport f\nf(x=1)\n", "Look:\n```\nimport f\nf(x=1)\n"),
        # What is known to be none.
        (STRICT, "f(x=1) + ", "f(x=1) + "),
        (STRICT, "f(x=1) f,", "f(x=1) f,"),
        (STRICT, 'f({"a": 1})', 'f({"a": 1})'),
        (DEFAULT, "f(x=y", ""),
        (DEFAULT, "f(x=y,", "f(x=y,"),
        # Reasoning, and what may be its end.
        (LENIENT, "<think>\nf(x=1)", "<think>\nf(x=1)"),
        (LENIENT, "<think>\nf(x=1)\n</think>\nf(x=", "<think>\nf(x=1)\n</think>\n"),
        (DEFAULT, "I think.\n</think>\nf(x=", "I think.\n</think>\n"),
        # The answer is decided, or too long.
        (STRICT, "f(x=1)\nf(x=2) * 3", "f(x=1)\nf(x=2) * 3"),
        (Policy(limits=Limits(characters=8)), "f(x='aaaaaaa", "f(x='aaaaaaa"),
    ],
)
def test_text_is_out_as_soon_as_nothing_can_make_it_a_call(policy: Policy, fed: str, out: str) -> None:
    whole, by_characters = Stream(OFFERED, policy=policy), Stream(OFFERED, policy=policy)
    assert text_of(whole.feed(fed)) == out
    assert text_of(event for character in fed for event in by_characters.feed(character)) == out


# "|" stands where a call goes out that stands before it: at once behind that character, or when the answer is closed.
@pytest.mark.parametrize(
    ("policy", "marked"),
    [
        (STRICT, "[f(x=1),| g(x=2)]|"),
        (STRICT, "[f(x=1),|\n g(x=(1, 2)),|]"),
        (STRICT, "f(x=1);| g(x=2)|"),
        (STRICT, "f(x=1)|"),
        (STRICT, "f(x=1), g(|x=2)|"),
        (STRICT, "f(x=1), which is what it takes."),
        # An operator at the beginning of the line would make an expression of it.
        (STRICT, "f(x=1)\n\n g(|x=2)|"),
        (STRICT, "f(x=1)\n# and\ng(|x=2)\n|"),
        (STRICT, "[f(x=1)]\n|"),
        # What follows is no block, and the policy allows nothing else.
        (DEFAULT, "```\nf(x=1)\n```\nis wrong"),
        (DEFAULT, "<tool_call>f(x=1)</tool_call>\nis wrong"),
        (DEFAULT, "f(x=1)\n[0] * 2"),
        (STRICT, "f(x=1)\n{\n return"),
        (LENIENT, "[f(x=1)]\n[0] * 2"),
        # Not allowed with prose behind it.
        (DEFAULT, "f(x=1)\nThat was it."),
        (LENIENT, "f(x=1)\nThat was it.|"),
        (LENIENT, "One:\nf(x=1)\n[|"),
        (DEFAULT, "One:\nf(x=1);"),
        (LENIENT, "One:\nf(x=1);|"),
        (LENIENT, "One:\nf(x=1);| g()|"),
        # Indented below prose: a line of a program. A list behind a bare call: they are not mixed.
        (LENIENT, "So.\n    f(x=1); g(x=2)"),
        (LENIENT, "f(x=1)\n[g(|x=1), f(x=2)]"),
        # What leads to it may take it back.
        (LENIENT, "2 +\nf(x=1); g()"),
        (LENIENT, "Do not call this:\nf(x=1); g()"),
        (LENIENT, "```\nf(x=1)\ng(|x=2)\n```|"),
        (LENIENT, "```\nf(x=1)\n```\nT|wo."),
        (LENIENT, "<tool_call>[f(x=1),| g(x=2)]</tool_call>|"),
        # These are calls only if nothing stands behind them.
        (LENIENT, "Do it now: [f(x=1), g(x=2)]||"),
        (LENIENT, "`f(x=1); g(x=2)`||"),
        (LENIENT, "[f(x=1)]\n[f(|x=2)]|"),
        (LENIENT, '["f(x=1)",| "f(x=2)"]|'),
        (LENIENT, '{"name": "f", "arguments": {}}\n{"name":| "g", "arguments": {}}|'),
        (LENIENT, "a = f(x=1);| print(f(x=1))|"),
        (STRICT, "f(x=1) |"),
        (STRICT, "f(x=1) + 1"),
        (STRICT, "f(x=1)\n+ 1"),
        (LENIENT, "[f(x=1)]\n* g(x=2)"),
    ],
)
def test_a_call_is_out_when_what_follows_proves_that_it_ended(policy: Policy, marked: str) -> None:
    stream = Stream(OFFERED, policy=policy, commit="call")
    seen = ""
    for character in marked.replace("|", ""):
        seen += character
        seen += "|" * sum(isinstance(event, CallEvent) for event in stream.feed(character))
    seen += "|" * sum(isinstance(event, CallEvent) for event in stream.close())
    assert seen == marked


def test_a_limit_on_characters_holds_for_prose_whole_and_in_deltas() -> None:
    policy = Policy(limits=Limits(characters=3))
    whole = recover("hi there", OFFERED, policy=policy)
    assert whole.refusal is not None
    assert whole.refusal.reason is Reason.TOO_LONG
    assert streamed(OFFERED, "hi there", policy) == whole


@examples(400)
@given(answers, policies, st.data())
def test_nothing_is_lost_or_given_out_twice_where_calls_go_out_early(
    answer: str, policy: Policy, data: st.DataObject
) -> None:
    stream = Stream(TOOLS, policy=policy, commit="call")
    events = events_of(stream, data.draw(pieces(answer) | st.just(list(answer))))
    result, calls = stream.result, [event.call for event in events if isinstance(event, CallEvent)]
    assert result == recover(answer, TOOLS, policy=policy)
    assert stream.committed == tuple(calls)
    if tuple(calls) == result.calls:
        assert text_of(events) == result.text
    # But where reasoning ends behind calls that were out, all calls are the result's.
    assert not result.calls or tuple(calls) == result.calls or result.used & {Allowance.REASONING}
    # Every character is in the text, or on the lines of a block of which calls went out.
    rest = text_of(events)
    assert is_part(rest, answer)
    assert calls or rest == answer
    written = Counter(answer[call.span.start : call.span.end] for call in calls)
    assert all(rest.count(call) <= answer.count(call) - times for call, times in written.items())


@pytest.mark.parametrize(
    "text",
    ["f(x=1)<|END_ACTION|>,x", "f(x=1)<|END_ACTION|> , \n", "f(x=1)<|END_ACTION|> # a\nx", "f(x=1)<|END_ACTION|>;# a"],
)
def test_what_of_its_line_goes_with_a_block_is_not_told_before_it_is_known(text: str) -> None:
    for place in range(len(text) + 1):
        stream = Stream(OFFERED, policy=LENIENT, commit="call")
        events = events_of(stream, [*text[:place], text[place:]])
        assert text_of(events) == stream.result.text == recover(text, OFFERED, policy=LENIENT).text
        assert len(stream.committed) == 1


@pytest.mark.parametrize("size", [1, 4, 99])
def test_all_calls_of_one_object_go_out_when_it_has_ended(size: int) -> None:
    part = '{"name": "f", "arguments": {"x": 1}}'
    text = f'{{"tool_calls": [{part}, {part}]}}\n{part}'
    stream = Stream(OFFERED, policy=LENIENT, commit="call")
    events_of(stream, [text[at : at + size] for at in range(0, len(text), size)])
    assert len(stream.committed) == 3
    assert stream.committed == stream.result.calls


def test_calls_that_were_out_stay_out_and_the_rest_is_text() -> None:
    stream = Stream(OFFERED, policy=STRICT, commit="call")
    events = events_of(stream, "[f(x=1), g(")
    assert [(event.index, event.call.name) for event in events if isinstance(event, CallEvent)] == [(0, "f")]
    assert text_of(events) == ", g("
    assert stream.result == recover("[f(x=1), g(", OFFERED, policy=STRICT)
    assert (stream.result.status, [call.name for call in stream.committed]) == ("refused", ["f"])


@pytest.mark.parametrize("commit", ["answer", "call"])
def test_text_and_calls_come_in_the_order_of_the_answer(commit: Literal["answer", "call"]) -> None:
    stream = Stream(OFFERED, policy=LENIENT, commit=commit)
    events = events_of(stream, ["One:\nf(x=1)\n\nTwo,\n[g()]\nand that is it.\n"])
    shown = [event.text if isinstance(event, TextEvent) else event.call.name for event in events[:5]]  # type: ignore[union-attr]
    assert shown == ["One:\n", "f", "\nTwo,\n", "g", "and that is it.\n"]


def test_a_call_of_reasoning_that_ends_later_stays_out() -> None:
    stream = Stream(OFFERED, policy=DEFAULT, commit="call")
    events = events_of(stream, "f(x=1)\nf(x=2)\n</think>\nf(x=3)")
    assert [event.index for event in events if isinstance(event, CallEvent)] == [0, 1]
    assert [call.arguments["x"] for call in stream.committed] == [1, 3]
    assert [call.arguments["x"] for call in stream.result.calls] == [3]


def test_no_operand_of_an_operator_goes_out() -> None:
    """A call before a separator may be out when a later one makes an expression; never the one beside the operator."""
    seen = 0
    for case in read(VECTORS):
        batch = recover(case.text, case.toolset, policy=case.policy)
        if batch.refusal is None or batch.refusal.reason is not Reason.OPERATOR:
            continue
        stream = Stream(case.toolset, policy=case.policy, commit="call")
        events_of(stream, case.text)
        for call in stream.committed:
            between = case.text[call.span.end : batch.refusal.span.start]
            assert any(separator in between for separator in ",;\n)"), case
            assert between.strip("]) \t\r\n"), case
        seen += 1
    assert seen > 100


OPEN = [
    ("Hm, f(x=1)?\n</think>\nf(x=2)", [2], "Hm, f(x=1)?\n</think>\n"),
    ("f(x=1)\n</think>", [], None),
    ("f(x=1)", [], None),
    ("[f(x=1)]\n[/THINK][f(x=2)]", [2], "[f(x=1)]\n[/THINK]"),
    ("a <think> b </think>\nf(x=2)", [2], "a <think> b </think>\n"),
    ("", [], None),
    ("</think>f(x=2)", [2], "</think>"),
]


@pytest.mark.parametrize(("text", "calls", "left"), OPEN)
def test_reasoning_that_the_prompt_opened_hides_what_stands_before_its_end(
    text: str, calls: list[int], left: str | None
) -> None:
    whole = recover(text, OFFERED, policy=LENIENT, reasoning_open=True)
    assert [call.arguments["x"] for call in whole.calls] == calls
    assert whole.text == (text if left is None else left)
    for place in range(len(text) + 1):
        assert streamed(OFFERED, (text[:place], text[place:]), LENIENT, reasoning_open=True) == whole
    assert streamed(OFFERED, text, LENIENT, reasoning_open=True) == whole
    # What stands before is out at once.
    early = Stream(OFFERED, policy=LENIENT, reasoning_open=True)
    assert text_of(early.feed("f(x=1)\n")) == "f(x=1)\n"
    assert not recover(text, OFFERED, policy=Policy([Allowance.PROSE_LINES]), reasoning_open=True).calls


def test_close_is_idempotent_and_feeding_afterwards_an_error() -> None:
    stream = Stream(OFFERED)
    with pytest.raises(ValueError, match="call close"):
        _ = stream.result
    stream.feed("f(x=1)")
    assert [type(event).__name__ for event in stream.close()] == ["CallEvent", "EndEvent"]
    assert stream.close() == []
    with pytest.raises(ValueError, match="closed"):
        stream.feed("f")
    with pytest.raises(ValueError, match="closed"):
        stream.feed("")


def test_what_a_caller_gets_wrong_is_said() -> None:
    with pytest.raises(TypeError, match=r"Stream\.feed takes a str, not bytes"):
        Stream(OFFERED).feed(b"f")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="commit must be 'answer' or 'call', not 'later'"):
        Stream(OFFERED, commit="later")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="make_id must be a function that gives a str, not str"):
        Stream(OFFERED, make_id="call_1")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="policy"):
        Stream(OFFERED, policy="strict")  # type: ignore[arg-type]


def test_ids_come_from_the_caller_or_are_unlike_any_other() -> None:
    numbers: Iterator[int] = iter(range(7, 99))
    stream = Stream(OFFERED, make_id=lambda: f"id{next(numbers)}")
    assert [event.id for event in events_of(stream, "[f(), g()]") if isinstance(event, CallEvent)] == ["id7", "id8"]
    assert numbers.__next__() == 9
    ids = [event.id for event in events_of(Stream(OFFERED), "[f(), g()]") if isinstance(event, CallEvent)]
    assert len(set(ids)) == 2


def test_an_id_that_can_not_be_made_loses_nothing() -> None:
    ids = iter(["a"])
    stream = Stream(OFFERED, make_id=lambda: next(ids))
    stream.feed("[f(), g()]")
    with pytest.raises(StopIteration):
        stream.close()
    ids = iter(["b", "c"])
    assert [event.id for event in stream.close() if isinstance(event, CallEvent)] == ["b", "c"]
    assert stream.committed == stream.result.calls


class Watched(Stream):
    __slots__ = ("__weakref__",)


@pytest.mark.parametrize("text", ["[f(x='abc", "Prose, f(x=1)", "f(x=1)\n", '{"name": "f", "argu', "<think>f("])
def test_a_stream_that_is_dropped_leaves_nothing_behind(text: str) -> None:
    gc.collect()
    gc.disable()
    try:
        stream = Watched(OFFERED, policy=LENIENT)
        stream.feed(text)
        parts = [weakref.ref(stream)]
        del stream
        assert [part() for part in parts] == [None]
    finally:
        gc.enable()


def test_a_text_event_is_never_empty_and_empty_deltas_change_nothing() -> None:
    stream = Stream(OFFERED, policy=LENIENT)
    events = [event for delta in ("", "Pro", "", "se.\n", "", "f(", "", "x=1)", "") for event in stream.feed(delta)]
    events += stream.close()
    assert text_of(events) == "Prose.\n"
    assert all(event.text for event in events if isinstance(event, TextEvent))


# -- recorded answers

DATA = os.environ.get("RECOVERY_DATA")
recorded = pytest.mark.skipif(not DATA, reason="RECOVERY_DATA names no folder")
# All are cut at every place where there is time for it.
SLOW = bool(os.environ.get("RECOVERY_SLOW"))


def read_lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(Path(DATA or "") / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@recorded
@pytest.mark.parametrize("policy", [DEFAULT, LENIENT], ids=["default", "lenient"])
def test_recorded_answers_cut_anywhere_give_what_batch_gives(policy: Policy) -> None:
    toolsets = {row["id"]: row["tools"] for row in read_lines("toolsets.jsonl.gz")}
    drawn = random.Random(7).sample(read_lines("answers.jsonl.gz"), 3000)
    for number, row in enumerate(drawn):
        text, toolset = row["text"], Toolset(toolsets[row["toolset"]])
        batch = recover(text, toolset, policy=policy)
        assert streamed(toolset, text, policy) == batch
        assert streamed(toolset, (text[at : at + 4] for at in range(0, len(text), 4)), policy) == batch
        for place in range(len(text)) if SLOW or (number < 400 and len(text) < 300) else ():
            assert streamed(toolset, (text[:place], text[place:]), policy) == batch


@recorded
@pytest.mark.parametrize("policy", [STRICT, DEFAULT, LENIENT], ids=["strict", "default", "lenient"])
def test_little_is_held_of_the_lines_of_texts_that_must_stay_text(policy: Policy) -> None:
    held = characters = lines = long = 0
    for row in read_lines("negatives.jsonl.gz")[:: 1 if SLOW else 5]:
        toolset = Toolset(row["tools"])
        for line in row["text"].split("\n"):
            stream = Stream(toolset, policy=policy)
            out = most = 0
            for fed, character in enumerate(line, 1):
                out += len(text_of(stream.feed(character)))
                held += fed - out
                most = max(most, fed - out)
            characters += len(line)
            lines += 1
            long += most > 40
    assert held <= characters
    # Blanks, ticks, a comment in a bracket, a call of an offered tool: any of them may go on.
    assert long <= lines / 1000
