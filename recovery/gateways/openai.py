"""OpenAI's answers: calls that the model wrote as text become tool calls.

`recover_completion` and `recover_response` do it for an answer that is whole, `recover_stream` for the chunks of a chat
completion. May import: the public names, `gateways.answer`, `gateways.completion`, `gateways.items`,
`gateways.iterators`, `gateways.log`, `gateways.request`, `gateways.response`, `gateways.whole`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from typing import Any, Final, TypeVar, overload

from recovery import CallEvent, Policy, Recovery, Stream, Toolset

from .answer import Answer, Commit, Tell
from .completion import ENDS_READING, WHOLE, recover_completion
from .items import around, changed, field, is_item, new, said, without
from .iterators import AdaptedIterator, AsyncAdaptedIterator, Untouched, adapt
from .log import OnRecovery, Reading
from .request import openai_offer
from .response import recover_response
from .whole import check_function

__all__ = ["recover_completion", "recover_response", "recover_stream"]

T = TypeVar("T")

# What a made-up chunk has in common with the one that it comes from.
_FRAME: Final = frozenset(("id", "object", "created", "model", "system_fingerprint", "service_tier"))
# What every chunk has, and no reason to pass one on; obfuscation is padding.
_NO_NEWS: Final = _FRAME | {"choices", "obfuscation"}


@overload
def recover_stream(
    chunks: AsyncIterable[T],
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    commit: Commit = "answer",
    reasoning_open: bool = False,
    make_id: Callable[[], str] | None = None,
    tool_choice: object = None,
    parallel_tool_calls: object = None,
    on_recovery: OnRecovery | None = None,
) -> AsyncAdaptedIterator[T]: ...
@overload
def recover_stream(
    chunks: Iterable[T],
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    commit: Commit = "answer",
    reasoning_open: bool = False,
    make_id: Callable[[], str] | None = None,
    tool_choice: object = None,
    parallel_tool_calls: object = None,
    on_recovery: OnRecovery | None = None,
) -> AdaptedIterator[T]: ...
def recover_stream(  # noqa: PLR0913 - each is an option
    chunks: Any,
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    commit: Commit = "answer",
    reasoning_open: bool = False,
    make_id: Callable[[], str] | None = None,
    tool_choice: object = None,
    parallel_tool_calls: object = None,
    on_recovery: OnRecovery | None = None,
) -> Any:
    """The chunks of a chat completion stream, with the calls that the model wrote as text in place of that text.

    `chunks`: an iterator, plain or async, of dicts or of the library's objects; what comes out is an iterator of the
    same kind and the same items. It has `close` (async: `aclose`) and is a context manager; both close `chunks`.
    `tools` and the rest are as for `Stream`, one for each choice; `tool_choice`, `parallel_tool_calls` and
    `on_recovery` as for `recover_completion`. Where the request leaves no tools all chunks pass.

    - `chunks` are those of `chat.completions.create(…, stream=True)`, not the events of the helper
      `chat.completions.stream`, nor those of the Responses API: these pass as they are.
    - Text is held while it may be a call. All other fields go out at once, and a chunk that is left with nothing is
      dropped.
    - A call is one delta with index, id, type, name and arguments. Where calls went out and the answer was not cut, the
      finish reason is `tool_calls`.
    - An answer that the upstream cuts (any finish reason but `stop` and those of calls, none, an exception) is text:
      what is missing could be an operator or the next call. With `commit="call"` the calls that had gone out stay.
    - Where the model calls tools itself, or refuses (`refusal`), what was held of that choice goes out as text before,
      and the rest passes. If calls had gone out already, the index of its own ones is raised by as many, so that no
      client joins them.

    Raises `TypeError` or `ValueError` as `Stream` does, `TypeError` for a chunk that is neither dict nor object, and
    what `chunks` raises, behind what was held.
    """
    check_function("on_recovery", on_recovery)
    offer = openai_offer(
        tools, policy=policy, commit=commit, tool_choice=tool_choice, parallel_tool_calls=parallel_tool_calls
    )

    def make_stream() -> Stream:
        return Stream(
            offer.tools, policy=offer.policy, commit=offer.commit, reasoning_open=reasoning_open, make_id=make_id
        )

    def tell(answer: str, recovery: Recovery) -> None:
        assert on_recovery is not None
        on_recovery(Reading(answer, offer.tools, recovery, choices.model))

    choices = _Choices(make_stream, tell if on_recovery is not None else None)
    return adapt(chunks, choices if len(offer.tools) else Untouched())


class _Choices:
    """The adapter: chunks in, chunks out."""

    def __init__(self, make_stream: Callable[[], Stream], tell: Tell | None = None) -> None:
        self._make_stream = make_stream
        self._tell = tell
        # What the last chunk that named a model called it.
        self.model: str | None = None
        # The first is made here, so that a wrong policy is found before a chunk comes.
        self._choices = {0: _Choice(make_stream(), tell)}
        # The fields of chunks that have gone out, with what they held last.
        self._told: dict[str, Any] = {}

    def feed(self, chunk: Any) -> list[Any]:
        choices = field(chunk, "choices")
        model = field(chunk, "model")
        if isinstance(model, str):
            self.model = model
        if not choices or not isinstance(choices, list):
            return self._pass(chunk)
        made: list[Any] = []
        left: list[Any] = []
        for choice in choices:
            index = field(choice, "index") or 0
            if not is_item(choice) or not isinstance(index, int):
                left.append(choice)
                continue
            if index not in self._choices:
                self._choices[index] = _Choice(self._make_stream(), self._tell)
            before, rest = self._choices[index].feed(chunk, choice)
            made += before
            left += rest
        if list(map(id, left)) == list(map(id, choices)):
            return [*made, *self._pass(chunk)]
        if left or self._has_news(chunk):
            return [*made, *self._pass(changed(chunk, choices=left))]
        return made

    def end(self) -> list[Any]:
        return [chunk for choice in self._choices.values() for chunk in choice.end()]

    def _pass(self, chunk: Any) -> list[Any]:
        self._told |= {name: value for name, value in said(chunk).items() if name not in _NO_NEWS}
        return [chunk]

    def _has_news(self, chunk: Any) -> bool:
        """Whether the chunk says more than its choices, and not what was said before."""
        news = said(chunk).items()
        return any(name not in _NO_NEWS and self._told.get(name) != value for name, value in news)


class _Choice:
    """One choice of the answer."""

    def __init__(self, stream: Stream, tell: Tell | None = None) -> None:
        self._answer = Answer(stream, tell)
        self._has_role = False
        # The last chunk and choice that had a delta: what is made up takes after them.
        self._chunk: Any = None
        self._choice: Any = None

    def feed(self, chunk: Any, choice: Any) -> tuple[list[Any], list[Any]]:
        """The chunks to go out before this one, and what of the choice is left in it: itself, a copy or nothing."""
        delta = field(choice, "delta")
        if is_item(delta):
            self._chunk, self._choice = chunk, choice
        fields = said(delta) if is_item(delta) else {}
        if not fields.keys().isdisjoint(ENDS_READING):
            return self.end(), [self._finished(self._native(choice))]
        content = fields.pop("content", "")
        if not self._answer.reading:
            return [], [self._finished(choice)]
        if not isinstance(content, str):
            if not isinstance(content, list) or any(field(part, "type") in (None, "text") for part in content):
                return self.end(), [self._finished(choice)]
            # Parts that are no text, such as reasoning, are like other fields.
            fields["content"], content = content, ""
        pieces = self._answer.feed(content) if content else []
        finish = field(choice, "finish_reason")
        if finish in WHOLE:
            pieces += self._answer.finish()
        elif finish:
            pieces += filter(None, [self._answer.give_up()])
        if fields.get("role"):
            # Some upstreams say it in every chunk.
            if self._has_role:
                del fields["role"]
            self._has_role = True
        if any(isinstance(piece, CallEvent) for piece in pieces):
            return self._with_calls(choice, pieces, content, fields)
        return self._with_text(choice, "".join(map(str, pieces)), content, fields)

    def end(self) -> list[Any]:
        """What is held, as text: the answer was cut, or is not to be read any further."""
        text = self._answer.give_up() if self._answer.reading else ""
        return [self._made({"content": text})] if text else []

    def _with_text(
        self, choice: Any, text: str, content: str, fields: Mapping[str, Any]
    ) -> tuple[list[Any], list[Any]]:
        """`text` goes out where `content` came in; `fields` is what else the delta holds."""
        made = []
        if text and not content:
            # Not into a delta that had none: clients look for no content where the answer ends.
            made, text = [self._made({"content": text})], ""
        if not (text or fields or _carries(choice)):
            return made, []
        if text != content:
            delta = field(choice, "delta")
            delta = changed(delta, content=text) if text else without(delta, "content")
            choice = changed(choice, delta=delta)
        return made, [self._finished(choice)]

    def _with_calls(
        self, choice: Any, pieces: Iterable[str | CallEvent], content: str, fields: Mapping[str, Any]
    ) -> tuple[list[Any], list[Any]]:
        """As `_with_text`, but in chunks of their own: what else the delta holds, the pieces, what stands beside it."""
        made = []
        delta = field(choice, "delta")
        if fields:
            made.append(self._around(without(delta, "content") if content else delta))
        # One call a chunk: some clients look at the first of a delta alone.
        made += [
            self._made({"content": piece} if isinstance(piece, str) else {"tool_calls": [_tool_call(piece)]})
            for piece in pieces
        ]
        if not _carries(choice):
            return made, []
        if content or fields:
            choice = changed(choice, delta=new(type(delta), {}))
        return made, [self._finished(choice)]

    def _native(self, choice: Any) -> Any:
        """The choice with its own calls behind those that have gone out."""
        calls = field(field(choice, "delta"), "tool_calls")
        if not (self._answer.calls and isinstance(calls, list)):
            return choice
        calls = [changed(call, index=(field(call, "index") or 0) + self._answer.calls) for call in calls]
        return changed(choice, delta=changed(field(choice, "delta"), tool_calls=calls))

    def _finished(self, choice: Any) -> Any:
        """The choice with the finish reason that the calls ask for which have gone out."""
        if self._answer.calls and field(choice, "finish_reason") in WHOLE:
            return changed(choice, finish_reason="tool_calls")
        return choice

    def _made(self, values: Mapping[str, Any]) -> Any:
        return self._around(new(type(field(self._choice, "delta")), values))

    def _around(self, delta: Any) -> Any:
        """A chunk of this delta alone."""
        return around(self._chunk, _FRAME, choices=[around(self._choice, ("index",), delta=delta, finish_reason=None)])


def _carries(choice: Any) -> bool:
    """Whether more than the delta stands in the choice."""
    return bool(said(choice).keys() - {"index", "delta"})


def _tool_call(event: CallEvent) -> dict[str, Any]:
    return {"index": event.index, **event.call.to_openai_tool_call(event.id)}
