"""The machine behind `recover`: `feed` the answer as it arrives, `close` it, take the `result`.

Lets the envelope walk over the answer, and gives out what is certain: text that can be no part of a block, and calls.
May import: `certain`, `envelope`, `frozen`, `markers`, `policy`, `result`, `toolset`, `verdict`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from math import inf
from typing import Final, Literal

from .certain import awaited_sign, ended_calls, text_until
from .envelope import Block, Envelope
from .frozen import Frozen
from .markers import ENDS_REASONING
from .policy import Policy
from .result import Call, Recovery, Span, random_id
from .toolset import Toolset
from .verdict import BLANK_SIGNS, awaited_behind, judge, lines_of, may_recover

Commit = Literal["answer", "call"]
_COMMITS: Final = ("answer", "call")


class TextEvent(Frozen):
    """Text for the user."""

    __slots__ = ("text",)

    text: str

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "text", text)


class CallEvent(Frozen):
    """A recovered call, its place among those that were given out, and an id."""

    __slots__ = ("index", "id", "call")

    index: int
    id: str
    call: Call

    def __init__(self, index: int, id: str, call: Call) -> None:  # noqa: A002  # the name of the field in every API
        self._set(index, id, call)


class EndEvent(Frozen):
    """The answer is over: the whole result."""

    __slots__ = ("recovery",)

    recovery: Recovery

    def __init__(self, recovery: Recovery) -> None:
        self._set(recovery)


Event = TextEvent | CallEvent | EndEvent


class Stream:
    """Reads one answer in pieces of any size, at a cost that grows with its length alone.

    Text goes out at the first place where nothing that may follow makes it part of a block. What happens from there on
    is said by `commit`:

    - "answer": all is held until the answer is closed, or surely text. Text events joined, and call events in order,
      are what `result` holds, wherever the answer was cut.
    - "call": a call goes out when what follows proves that it has ended: a comma in a list, `;` or the beginning of the
      next line behind a bare call; the last one when the list, its fence and its line have ended and the next line does
      not go on with it. What follows can still make the answer one that is refused, as `[f(x=1), g(` does when nothing
      more comes, or end reasoning in which the call stood: then `result` does not hold it, `committed` does, and what
      was not taken for a call goes out as text. How much is out by then depends on how the answer was cut.
    """

    __slots__ = (
        "_answer",
        "_awaited",
        "_awaited_behind",
        "_begins_line",
        "_beside",
        "_blocks",
        "_by_call",
        "_committed",
        "_committed_from",
        "_committed_to",
        "_envelope",
        "_fed",
        "_held_at",
        "_held_from",
        "_holds",
        "_holds_blanks",
        "_known",
        "_lost",
        "_make_id",
        "_most",
        "_policy",
        "_result",
        "_toolset",
        "_rest",
        "_taken_to",
        "_walked",
    )

    def __init__(
        self,
        tools: Toolset | Iterable[object],
        *,
        policy: Policy | None = None,
        commit: Commit = "answer",
        reasoning_open: bool = False,
        make_id: Callable[[], str] | None = None,
    ) -> None:
        """`tools`: a `Toolset`, or anything `Toolset` takes. Raises `TypeError` or `ValueError` as `Toolset` does.

        `reasoning_open`: as for `recover`. `make_id` gives the id of each call, which nothing checks; random ones where
        it is None.
        """
        if commit not in _COMMITS:
            raise ValueError(f"commit must be 'answer' or 'call', not {commit!r}")
        if make_id is not None and not callable(make_id):
            raise TypeError(f"make_id must be a function that gives a str, not {type(make_id).__name__}")
        self._toolset = Toolset.of(tools)
        self._policy = Policy.of(policy)
        self._envelope = Envelope(self._toolset, self._policy.limits, reasoning_open=reasoning_open)
        self._by_call = commit == "call"
        self._make_id = make_id or random_id
        self._result: Recovery | None = None
        # The whole answer, how long it is, and how many pieces of it the envelope has walked over.
        self._answer: list[str] = []
        self._fed = 0
        self._walked = 0
        # What has not gone out: the rest of a piece, and the pieces from one on; where in the answer it begins, up to
        # where it is blanks that begin a line, whether it is blanks alone, and whether only blanks stand before it on
        # its line.
        self._rest = ""
        self._held_at = 0
        self._held_from = 0
        self._taken_to = 0
        self._holds_blanks = False
        self._begins_line = True
        # Whether nothing can be recovered of what was walked over so far; of how many blocks of which list that was
        # asked, and whether prose and other blocks stood beside them then.
        self._lost = False
        self._known = 0
        self._blocks = self._envelope.blocks
        self._beside = (False, False)
        # What has to come before it is known what of its line goes with the last block whose calls are out.
        self._awaited_behind: re.Pattern[str] | None = None
        # The signs before which there is nothing to walk over, whether anything is held until then, and how much of the
        # answer can wait for them: what is beyond the limit has to be said.
        self._awaited: re.Pattern[str] | None = None
        self._holds = False
        self._most: float = self._policy.limits.characters
        self._committed: list[Call] = []
        # Where the last of them ends, and the block begins in which it stands.
        self._committed_from = self._committed_to = 0

    @property
    def result(self) -> Recovery:
        """The result of the whole answer, as `recover` gives it. Raises `ValueError` before `close`."""
        if self._result is None:
            raise ValueError("Stream.result is there once the stream is closed: call close() first")
        return self._result

    @property
    def committed(self) -> tuple[Call, ...]:
        """The calls that have gone out so far."""
        return tuple(self._committed)

    def feed(self, delta: str) -> list[Event]:
        """Take the next piece of the answer. Raises `TypeError` for what is no str, `ValueError` once closed."""
        if not isinstance(delta, str):
            raise TypeError(f"Stream.feed takes a str, not {type(delta).__name__}")
        if self._result is not None:
            raise ValueError("Stream.feed: the stream is closed")
        if not delta:
            return []
        self._answer.append(delta)
        self._fed += len(delta)
        awaited = self._awaited
        if awaited is not None and awaited.search(delta) is None and self._fed <= self._most:
            if self._holds:
                return []
            self._held_from = self._fed
            self._held_at += 1
            return [TextEvent(delta)]
        events = self._read_on()
        self._holds = self._held_from < self._fed
        self._awaited = awaited_sign(self._envelope, self._toolset, lost=self._lost, holds=self._holds)
        return events

    def _read_on(self) -> list[Event]:
        """Walk over what was not walked over yet, and give out what is certain now."""
        self._walk(final=False)
        delta = self._answer[-1]
        if self._holds_blanks and not self._lost and not delta.strip(BLANK_SIGNS):
            return []
        if self._awaited_behind is not None and self._awaited_behind.search(delta) is None and not self._lost:
            return []
        self._awaited_behind = None
        calls = (
            ended_calls(self._envelope, self._policy, self._committed_to) if self._by_call and not self._lost else []
        )
        # Before anything is noted: `make_id` is the caller's, and may raise.
        ids = [self._make_id() for _ in calls]
        if calls:
            self._committed_from = self._envelope.start
            self._committed_to = calls[-1].span.end
        return self._events(self._text_to(self._certain_until()), ids, calls)

    def close(self) -> list[Event]:
        """The answer is over: all that was not given out yet, and the result. A second call gives nothing."""
        if self._result is not None:
            return []
        self._walk(final=True)
        answer = "".join(self._answer)
        result = judge(self._envelope, answer, self._toolset, self._policy)
        calls = [call for call in result.calls if call.span.start >= self._committed_to]
        ids = [self._make_id() for _ in calls]
        self._result = result
        texts, _ = self._take(len(answer), self._envelope.blocks if result.calls else [])
        return [*self._events(texts, ids, calls), EndEvent(result)]

    def _walk(self, *, final: bool) -> None:
        envelope = self._envelope
        envelope.feed("".join(self._answer[self._walked :]), final)
        self._walked = len(self._answer)
        if envelope.over:
            self._most = inf
        blocks, beside = envelope.blocks, (envelope.prose, len(envelope.blocks) > 1)
        if blocks is not self._blocks or beside != self._beside:
            self._blocks, self._beside, self._known = blocks, beside, 0
        self._lost = envelope.over or not may_recover(envelope, self._policy, self._known)
        self._known = len(blocks)

    def _events(self, texts: list[tuple[int, str]], ids: list[str], calls: list[Call]) -> list[Event]:
        """Texts, each with its place in the answer, and calls, in the order in which they stand there."""
        events: list[Event] = []
        texts.reverse()
        for id_, call in zip([*ids, ""], [*calls, None], strict=True):
            parts = []
            while texts and (call is None or texts[-1][0] <= call.span.start):
                parts.append(texts.pop()[1])
            if text := "".join(parts):
                events.append(TextEvent(text))
            if call is not None:
                events.append(CallEvent(len(self._committed), id_, call))
                self._committed.append(call)
        return events

    def _certain_until(self) -> int:
        """Up to where the answer is text, but for blocks of which all calls have gone out."""
        envelope = self._envelope
        if self._lost:
            # Behind the end of reasoning that is not walked over yet all begins anew.
            rest = envelope.rest()
            ended = ENDS_REASONING.search(rest)
            return self._fed if ended is None else self._fed - len(rest) + ended.end()
        until = text_until(envelope, self._toolset, self._policy)
        blocks = envelope.blocks
        if blocks and not self._by_call:
            return min(until, blocks[0].start)
        for block in reversed(blocks):
            if block.calls[-1].span.end > self._committed_to:
                until = min(until, block.start)
                continue
            if block.start >= self._held_from and block is blocks[-1]:
                begin = self._held_from
                self._awaited_behind = awaited_behind(self._text_held(), block.end - begin, until - begin)
                if self._awaited_behind is not None:
                    return block.start
            break
        return until

    def _text_to(self, until: int) -> list[tuple[int, str]]:
        """What has not gone out up to there, as text, less what stands for calls that have gone out.

        Blanks that begin a line are held with what stands behind them: a block takes them with it.
        """
        if until <= self._held_from or (until <= self._taken_to and not self._lost):
            # What is held may be long: it is joined only where some of it can go out.
            self._holds_blanks = False
            return []
        blocks: list[Block] = []
        for block in reversed(self._envelope.blocks if self._by_call and not self._lost else []):
            if block.start < self._held_from:
                break
            if block.start < until:
                blocks.append(block)
        texts, rest = self._take(until, blocks[::-1])
        place, text = texts.pop()
        if not self._lost:
            words = text.rstrip(BLANK_SIGNS)
            if words[-1:] in ("\n", "\r") if words else self._begins_line:
                text, rest = words, text[len(words) :] + rest
        if text:
            self._begins_line = text[-1] in "\r\n"
        self._holds_blanks = self._begins_line and not rest.strip(BLANK_SIGNS)
        self._rest = rest
        self._taken_to = until
        self._held_at = len(self._answer)
        self._held_from = self._fed - len(rest)
        return [*texts, (place, text)]

    def _take(self, until: int, blocks: list[Block]) -> tuple[list[tuple[int, str]], str]:
        """The text that is held up to there, less the lines of the blocks, in pieces by place; and the rest."""
        text = self._text_held()
        begin = self._held_from
        spans = [Span(block.start - begin, block.end - begin) for block in blocks if block.start >= begin]
        limits = [*(span.start for span in spans[1:]), until - begin]
        texts: list[tuple[int, str]] = []
        done = 0
        for span, limit in zip(spans, limits, strict=False):
            gone = lines_of(text, span, done, limit, begins_line=self._begins_line)
            texts.append((begin + done, text[done : gone.start]))
            done = gone.end
            self._begins_line = True
        if begin + done < self._committed_to <= until:
            # Calls that have gone out, of a block that turned out to be none.
            texts.append((begin + done, text[done : max(done, self._committed_from - begin)]))
            done = self._committed_to - begin
            self._begins_line = False
        texts.append((begin + done, text[done : until - begin]))
        return texts, text[until - begin :]

    def _text_held(self) -> str:
        return "".join([self._rest, *self._answer[self._held_at :]])
