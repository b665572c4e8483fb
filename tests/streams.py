"""A stream run to its end, its events held against its result."""

from __future__ import annotations

from collections.abc import Iterable

from recovery import CallEvent, EndEvent, Event, Policy, Recovery, Stream, TextEvent, Toolset


def events_of(stream: Stream, deltas: Iterable[str]) -> list[Event]:
    """All that comes out, less the `EndEvent`, which is the last and holds the result."""
    events = [event for delta in deltas for event in stream.feed(delta)] + stream.close()
    assert events.pop() == EndEvent(stream.result)
    assert not any(isinstance(event, EndEvent) or (isinstance(event, TextEvent) and not event.text) for event in events)
    return events


def text_of(events: Iterable[Event]) -> str:
    """The text events, joined."""
    return "".join(event.text for event in events if isinstance(event, TextEvent))


def streamed(toolset: Toolset, deltas: Iterable[str], policy: Policy, *, reasoning_open: bool = False) -> Recovery:
    """The result of a stream that commits by answer; what it gave out on the way is the same."""
    stream = Stream(toolset, policy=policy, reasoning_open=reasoning_open)
    events = events_of(stream, deltas)
    result = stream.result
    calls = [event for event in events if isinstance(event, CallEvent)]
    assert text_of(events) == result.text
    assert [(event.index, event.call) for event in calls] == list(enumerate(result.calls))
    assert len({event.id for event in calls}) == len(calls)
    assert stream.committed == result.calls
    return result


def is_part(part: str, text: str) -> bool:
    """Whether the text becomes this where characters are dropped."""
    characters = iter(text)
    return all(character in characters for character in part)
