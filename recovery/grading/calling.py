"""One question to one model: whatever function asks, within a time, again after a fault of the transport and no other.

May import: `grading.outcome`.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import math
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, Final, TypeVar

from .outcome import Ungraded

T = TypeVar("T")

# A server that asks for more patience than this is told no: the run has other cells to fill.
_LONGEST_WAIT: Final = 60.0
# Seconds before the second attempt, doubled for each further one.
BACKOFF: Final = 0.5
# Too early, too often, and what a lock or a proxy on the way answers. Every 5xx besides.
_PASSING: Final = frozenset((408, 409, 425, 429))
# The names under which client libraries know a way that failed, and a wait that was too long; none is imported to ask.
_TRANSPORT: Final = frozenset(
    (
        "APIConnectionError",
        "ConnectError",
        "ConnectTimeout",
        "ConnectionError",
        "NetworkError",
        "PoolTimeout",
        "ProtocolError",
        "ProxyError",
        "URLError",
    )
)
_TIMEOUT: Final = frozenset(("APITimeoutError", "TimeoutError", "TimeoutException", "Timeout"))
_LONGEST_MESSAGE: Final = 500
# What looks like a key: the word before it stays.
_SECRET: Final = re.compile(
    r"""(?ix) (\b(?:bearer|basic)\s+ | (?:api[-_]?key|token|secret)["']?\s*[=:]\s*["']?) [^\s"',;)}]+
      | \b(?:sk|pk|key)[-_][\w*.-]{6,}"""
)


class TransportError(Exception):
    """For a `call_model` to raise: the answer was lost on the way, and asking again is no second chance for the model.

    `retry_after`: seconds that the other side asked for.
    """

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True)
class Reply:
    """An answer with what the endpoint said of itself, and what it was sent. What a `call_model` may return."""

    # As any other `call_model` returns it: text, a message, or a tool's name and its raw arguments.
    answer: Any
    returned_model: str | None = None
    fingerprint: str | None = None
    # Of the tools as they stood in the request, in any shape (`fingerprint.tools_digest`), and of their bytes.
    tools_sha256: str | None = None
    tools_bytes_sha256: str | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """What came of one question: a reply, or why there is none."""

    reply: Any
    ungraded: Ungraded | None = None
    problem: str = ""
    # Of the last attempt.
    seconds: float = 0.0
    attempts: int = 1


async def ask(
    call_model: Callable[[str, str], Any],
    model: str,
    query: str,
    *,
    timeout: float,  # noqa: ASYNC109 (each attempt has its own)
    retries: int,
    backoff: float = BACKOFF,
    may_call: Callable[[], bool] = lambda: True,
) -> Asked:
    """Ask, at most `retries` times more, and only after a fault of the transport.

    `timeout`: seconds for each attempt; one that took too long is not asked again, since a hard question takes longer,
    and would have more chances. `may_call` is asked before each attempt: False ends it, without an attempt at first.
    """
    loop = asyncio.get_running_loop()
    asked = Asked(None, Ungraded.NOT_RUN, "the budget of calls is spent", attempts=0)
    for attempt in range(1, retries + 2):
        if not may_call():
            break
        start = loop.time()
        try:
            reply = await asyncio.wait_for(_call(call_model, model, query), timeout)
        except Exception as error:  # noqa: BLE001 (whatever a caller's function raises is one cell's, not the run's)
            reason = reason_of(error)
            asked = Asked(None, reason, message_of(error), loop.time() - start, attempt)
            pause = _pause(error, attempt, backoff)
            if reason is not Ungraded.TRANSPORT or attempt > retries or pause is None:
                break
            await asyncio.sleep(pause)
        else:
            return Asked(reply, None, "", loop.time() - start, attempt)
    return asked


def reason_of(error: BaseException) -> Ungraded:
    """Whether it was the transport, which may be tried again, the time, or the call itself."""
    # A client's own error stands before that of the library it sends with.
    names = {kind.__name__ for one in (error, error.__cause__) for kind in type(one).__mro__}
    status = _status(error)
    if status is not None:
        return Ungraded.TRANSPORT if status in _PASSING or status >= 500 else Ungraded.CALL_ERROR
    # Before the way, of which the clients take a time-out for a kind; but a connection that took too long is the way.
    if names & _TIMEOUT and not names & {"ConnectTimeout", "PoolTimeout"}:
        return Ungraded.TIMEOUT
    return Ungraded.TRANSPORT if isinstance(error, TransportError) or names & _TRANSPORT else Ungraded.CALL_ERROR


def message_of(error: BaseException) -> str:
    """The fault in a line, without what looks like a key."""
    said = _SECRET.sub(lambda found: f"{found[1] or ''}***", " ".join(str(error).split()))
    return f"{type(error).__name__}: {said}"[:_LONGEST_MESSAGE] if said else type(error).__name__


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Call it in a thread of its own, which ends with the process if it never returns.

    A pool would lose a thread to each call that hangs, and be waited for at the end.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(result: tuple[Any, BaseException | None]) -> None:
        if not future.done():
            future.set_result(result)

    def work() -> None:
        try:
            result: tuple[Any, BaseException | None] = context.run(function, *arguments), None
        except BaseException as error:  # noqa: BLE001 (it is raised where it is waited for)
            result = None, error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(deliver, result)

    Thread(target=work, daemon=True, name="recovery-call").start()
    value, error = await future
    if isinstance(error, Exception):
        raise error
    if error is not None:
        # Raised as it is, the end of that thread would be taken for the end of the run.
        raise RuntimeError(f"{type(error).__name__}: {error}") from error
    return value  # type: ignore[no-any-return]


async def _call(call_model: Callable[[str, str], Any], model: str, query: str) -> Any:
    try:
        return await _answer(call_model, model, query)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # A library's own, let out by mistake: it would end what fills the cells, and the rest be left without a word.
        raise RuntimeError(message_of(error)) from error


async def _answer(call_model: Callable[[str, str], Any], model: str, query: str) -> Any:
    if inspect.iscoroutinefunction(call_model) or inspect.iscoroutinefunction(getattr(call_model, "__call__", None)):  # noqa: B004
        return await call_model(model, query)
    answer = await in_thread(call_model, model, query)
    # A lambda around a coroutine, for one.
    return await answer if isinstance(answer, Awaitable) else answer


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
                return status
    return None


def _pause(error: BaseException, attempt: int, backoff: float) -> float | None:
    """Seconds to wait; None where the other side wants more than we give."""
    wanted: Any = getattr(error, "retry_after", None)
    if wanted is None:
        headers: Any = getattr(getattr(error, "response", None), "headers", None)
        wanted = headers.get("retry-after") if hasattr(headers, "get") else None
    try:
        seconds = float(wanted)
    except (TypeError, ValueError):
        seconds = -1.0
    if not math.isfinite(seconds) or seconds > _LONGEST_WAIT:
        return None
    # Some chance, so that many cells that failed together don't come back together.
    own = min(backoff * 2.0 ** (attempt - 1), _LONGEST_WAIT) * random.uniform(0.5, 1.0)  # noqa: S311
    return max(seconds, own)
