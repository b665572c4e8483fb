"""One question: asked again after a fault of the transport alone, in bounds, within a time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("pydantic")

from recovery.grading.calling import Asked, Reply, TransportError, ask, message_of, reason_of
from recovery.grading.outcome import Ungraded


class StatusError(Exception):
    def __init__(self, status_code: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code
        self.response = type("Response", (), {"headers": headers or {}, "status_code": status_code})()


def put(call_model: Callable[[str, str], Any], **more: Any) -> Asked:
    return asyncio.run(ask(call_model, "m", "q", **{"timeout": 5.0, "retries": 2, "backoff": 0.001, **more}))


class Failing:
    """Raises so many times, then answers."""

    def __init__(self, error: Exception, times: int) -> None:
        self.error, self.times, self.calls = error, times, 0

    def __call__(self, model: str, query: str) -> str:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return f"{model} {query}"


def test_every_kind_of_function_is_asked() -> None:
    async def coroutine(model: str, query: str) -> str:
        await asyncio.sleep(0)
        return f"{model} {query}"

    class Async:
        async def __call__(self, model: str, query: str) -> str:
            return await coroutine(model, query)

    around: Callable[[str, str], Awaitable[str]] = lambda model, query: coroutine(model, query)  # noqa: E731, PLW0108
    for function in (coroutine, Async(), around, lambda model, query: f"{model} {query}"):
        asked = put(function)
        assert (asked.reply, asked.ungraded, asked.attempts) == ("m q", None, 1)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TransportError("lost"), Ungraded.TRANSPORT),
        (ConnectionResetError(), Ungraded.TRANSPORT),
        (StatusError(429), Ungraded.TRANSPORT),
        (StatusError(503), Ungraded.TRANSPORT),
        (StatusError(400), Ungraded.CALL_ERROR),
        (StatusError(401), Ungraded.CALL_ERROR),
        (StatusError(404), Ungraded.CALL_ERROR),
        (TimeoutError(), Ungraded.TIMEOUT),
        (type("ReadTimeout", (type("TimeoutException", (Exception,), {}),), {})(), Ungraded.TIMEOUT),
        (type("ConnectTimeout", (type("TimeoutException", (Exception,), {}),), {})(), Ungraded.TRANSPORT),
        (KeyError("choices"), Ungraded.CALL_ERROR),
        (FileNotFoundError("prompt.txt"), Ungraded.CALL_ERROR),
        (StopIteration(), Ungraded.CALL_ERROR),
    ],
)
def test_only_the_transport_is_tried_again(error: Exception, reason: Ungraded) -> None:
    assert reason_of(error) == reason
    call_model = Failing(error, times=9)
    asked = put(call_model)
    assert asked.ungraded == reason
    assert asked.attempts == call_model.calls == (3 if reason is Ungraded.TRANSPORT else 1)


# promptfoo#7727: `maxRetries: 0` was not honoured on 429, and a run hung for a day.
def test_no_retries_are_no_retries() -> None:
    # Nor is there a wait for the attempt that doesn't come.
    call_model = Failing(StatusError(429, {"retry-after": "30"}), times=1)
    start = time.monotonic()
    asked = put(call_model, retries=0)
    assert (call_model.calls, asked.attempts, asked.ungraded) == (1, 1, Ungraded.TRANSPORT)
    assert time.monotonic() - start < 10


def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    call_model = Failing(StatusError(429, {"retry-after": "3600"}), times=1)
    start = time.monotonic()
    assert put(call_model, retries=5).attempts == 1
    assert time.monotonic() - start < 2


def test_a_server_that_asks_for_a_moment_gets_it() -> None:
    call_model = Failing(StatusError(429, {"retry-after": "0.2"}), times=1)
    start = time.monotonic()
    asked = put(call_model)
    assert (asked.reply, asked.attempts) == ("m q", 2)
    assert time.monotonic() - start >= 0.2
    assert asked.seconds < 0.2


def test_an_answer_is_never_asked_again() -> None:
    for answer in (None, "", "I can't.", (None, None), Reply("")):
        calls: list[int] = []

        def call_model(*_: str, answer: Any = answer, calls: list[int] = calls) -> Any:
            calls.append(1)
            return answer

        assert put(call_model).reply is answer
        assert len(calls) == 1


def test_an_answer_that_takes_too_long_is_left() -> None:
    async def slow(*_: str) -> str:
        await asyncio.sleep(60)
        return "late"

    release = threading.Event()
    start = time.monotonic()
    for function in (slow, lambda *_: release.wait(60)):
        asked = put(function, timeout=0.05)
        assert (asked.ungraded, asked.attempts) == (Ungraded.TIMEOUT, 1)
        assert 0.04 <= asked.seconds < 5
    release.set()
    assert time.monotonic() - start < 10


def test_a_spent_budget_asks_no_more() -> None:
    call_model = Failing(TransportError(), times=9)
    assert put(call_model, may_call=lambda: False) == Asked(
        None, Ungraded.NOT_RUN, "the budget of calls is spent", attempts=0
    )
    assert call_model.calls == 0
    asked = put(call_model, may_call=lambda: call_model.calls < 2)
    assert (call_model.calls, asked.attempts, asked.ungraded) == (2, 2, Ungraded.TRANSPORT)


def test_a_function_that_ends_its_thread_ends_one_cell() -> None:
    def leaves(*_: str) -> str:
        raise SystemExit(3)

    asked = put(leaves)
    assert (asked.ungraded, asked.problem) == (Ungraded.CALL_ERROR, "RuntimeError: SystemExit: 3")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Incorrect API key provided: sk-abc***6789.", "Incorrect API key provided: ***"),
        ("Authorization: Bearer abc.def.ghi, no", "Authorization: Bearer ***, no"),
        ("{'api_key': 'f00dcafe'}", "{'api_key': '***'}"),
        ("a\nb", "a b"),
        ("tokens: too many", "tokens: too many"),
        ("x" * 600, "x" * (500 - len("ValueError: "))),
    ],
)
def test_a_message_holds_no_key(said: str, expected: str) -> None:
    assert message_of(ValueError(said)) == f"ValueError: {expected}"


def test_a_fault_without_words_is_its_kind() -> None:
    assert message_of(ValueError()) == "ValueError"


def test_a_cancellation_that_a_client_lets_out_is_one_cells_and_the_runs_own_goes_through() -> None:
    async def cancelled(*_: str) -> None:
        raise asyncio.CancelledError("a scope of its own")

    asked = put(cancelled)
    assert (asked.ungraded, asked.attempts) == (Ungraded.CALL_ERROR, 1)
    assert asked.problem == "RuntimeError: CancelledError: a scope of its own"

    async def stopped() -> None:
        async def waits(*_: str) -> None:
            await asyncio.sleep(5)

        task = asyncio.create_task(ask(waits, "m", "q", timeout=5.0, retries=2))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())
