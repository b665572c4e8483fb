"""Events as bytes: where they end, whatever ends a line and wherever the bytes are cut."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recovery.gateways.serve.sse import Events, data_of, event_of
from tests.strategies import examples


def plain_reading(stream: bytes) -> list[bytes]:
    """The data of each event, by the words of the standard: lines first, then events. Ended ones alone."""
    lines = stream.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]
    found, data = [], []
    for line in lines:
        if line:
            name, _, value = line.partition(b":")
            data += [value.removeprefix(b" ")] if name == b"data" else []
        elif data:
            found.append(b"\n".join(data))
            data = []
    return found


lines = st.sampled_from(
    [b"data: {}", b"data:x", b"data", b"data:  two", b": ping", b"event: e", b"id: 1", b"", b"", b"datax: 1"]
)
ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
streams = st.lists(st.tuples(lines, ends)).map(lambda rows: b"".join(line + end for line, end in rows))


@examples(500)
@given(streams, st.booleans(), st.data())
def test_events_are_those_of_the_standard(stream: bytes, marked: bool, data: st.DataObject) -> None:
    stream = b"\xef\xbb\xbf" * marked + stream
    events, out, at = Events(), [], 0
    while at < len(stream):
        to = data.draw(st.integers(at + 1, min(at + 7, len(stream))))
        out += events.feed(stream[at:to])
        at = to
    rest = events.rest()
    assert b"".join([*out, rest]) == stream
    if rest.endswith((b"\r\r", b"\n\r")):
        # It has ended, but for a line feed that may follow.
        out.append(rest)
    found = [data_of(event) for event in out]
    assert [item for item in found if item is not None] == plain_reading(stream)


@pytest.mark.parametrize(
    ("event", "data"),
    [
        (b"data: a\n\n", b"a"),
        (b"data:a\r\n\r\n", b"a"),
        (b"data: a\ndata: b\n\n", b"a\nb"),
        (b"\xef\xbb\xbfdata: a\n\n", b"a"),
        (b"event: x\ndata:  a\rid: 3\n\n", b" a"),
        (b": comment\n\n", None),
        (b"\n", None),
    ],
)
def test_the_data_of_an_event(event: bytes, data: bytes | None) -> None:
    assert data_of(event) == data
    if data is not None and b"\n" not in data:
        assert data_of(event_of(data)) == data


@pytest.mark.parametrize("begin", [b"", b": a carriage return\r\n\r\n"])
def test_one_long_line_is_searched_once(begin: bytes) -> None:
    events, piece = Events(), b"x" * 1000
    events.feed(begin)
    began = time.process_time()
    for _ in range(10_000):
        assert events.feed(piece) == []
    # A tenth of a second, and a minute where it is searched from its beginning again and again.
    assert time.process_time() - began < 5
    assert len(events) == 10_000_000
