"""`Stream` in deltas of 4 characters, beside reading the whole text again at every delta, as gateways do.

The lowest of five times counts. What comes of a text is asserted before it is timed. The bounds on time are many times
what a machine of today takes; what they would catch is a cost that grows with the square.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final

import pytest

from recovery import Policy, Stream, TextEvent, Toolset, recover

TOOLS: Final = Toolset(["letter_send", "tide_table"])
DELTA: Final = 4
# How many times as long a text of twice the length may take.
MOST_GROWTH: Final = 2.2
WORDS: Final = "and so the harbour master wrote it down once more, for all to read "


def argument(size: int) -> str:
    """One call with one string of `size` characters."""
    return f'[letter_send(text="{(WORDS * (size // len(WORDS) + 1))[:size]}")]'


def argument_in_json(size: int) -> str:
    return f'{{"name": "letter_send", "arguments": {{"text": "{(WORDS * (size // len(WORDS) + 1))[:size]}"}}}}'


def prose(size: int) -> str:
    return (WORDS * (size // len(WORDS) + 1))[:size]


def prose_in_lines(size: int) -> str:
    return (WORDS.replace(", ", ",\n") * (size // len(WORDS) + 1))[:size]


def many_values(size: int) -> str:
    return f"[tide_table(at=[{'12, ' * (size // 4)}])]"


SHAPES: Final = {
    "argument": argument,
    "argument in JSON": argument_in_json,
    "many values": many_values,
    "prose": prose,
    "prose in lines": prose_in_lines,
}


def lowest(*runs: Callable[[], object]) -> list[float]:
    """The lowest time of each; they take turns, so that what else the machine does meets all alike."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(5):
        for run, taken in zip(runs, times, strict=True):
            begin = time.process_time()
            run()
            taken.append(time.process_time() - begin)
    return [min(taken) for taken in times]


def cut(text: str) -> list[str]:
    return [text[at : at + DELTA] for at in range(0, len(text), DELTA)]


def stream(deltas: list[str], policy: Policy) -> Stream:
    reading = Stream(TOOLS, policy=policy)
    for delta in deltas:
        reading.feed(delta)
    reading.close()
    return reading


def read_again(deltas: list[str], policy: Policy) -> None:
    """What the stream is instead of: all that has arrived is read again at every delta."""
    text = ""
    for delta in deltas:
        text += delta
        recover(text, TOOLS, policy=policy)


@pytest.mark.parametrize("policy", [Policy.default(), Policy.lenient()], ids=["default", "lenient"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_stream_costs_what_its_length_costs(shape: str, policy: Policy, note_growth: Callable[..., None]) -> None:
    texts = [SHAPES[shape](size) for size in (32_000, 64_000, 128_000)]
    assert [bool(recover(text, TOOLS, policy=policy).calls) for text in texts] == ["prose" not in shape] * 3
    pieces = [cut(text) for text in texts]
    assert all(
        stream(deltas, policy).result == recover(text, TOOLS, policy=policy)
        for deltas, text in zip(pieces, texts, strict=True)
    )
    runs = [partial(stream, deltas, policy) for deltas in pieces]
    first, second, third = times = lowest(*runs)
    for _ in range(3):
        if second <= MOST_GROWTH * first and third <= MOST_GROWTH * second:
            break
        # On a busy machine more rounds are needed; a cost that grows faster stays above.
        first, second, third = times = list(map(min, times, lowest(*runs)))
    # An eighth of the length is enough to see where it goes.
    short = pieces[0][: len(pieces[0]) // 8]
    once, again = lowest(partial(stream, short, policy), partial(read_again, short, policy))
    name = f"{shape}, {'default' if policy == Policy.default() else 'lenient'}"
    note_growth(name, first / len(pieces[0]) * 1e6, second / first, third / second, again / once)
    assert second / first <= MOST_GROWTH
    assert third / second <= MOST_GROWTH
    if shape.startswith("argument"):
        assert first < 0.06


@pytest.mark.parametrize("policy", [Policy.default(), Policy.lenient()], ids=["default", "lenient"])
def test_a_delta_of_prose_costs_next_to_nothing(policy: Policy) -> None:
    reading = Stream(TOOLS, policy=policy)
    reading.feed("It is decided: this is prose, and")
    deltas = cut(prose(8_000))

    def feed() -> None:
        for delta in deltas:
            reading.feed(delta)

    assert reading.feed(" on it goes") == [TextEvent(" on it goes")]
    assert lowest(feed)[0] / len(deltas) < 2e-6
