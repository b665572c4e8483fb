"""What is counted, for Prometheus. May import: `gateways.log`."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from recovery.gateways.log import Reading

CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The counts of one server."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._answers = Counter(
            "recovery_answers", "Answers that were read, by what became of them.", ["status"], registry=registry
        )
        self._calls = Counter("recovery_calls", "Calls that were recovered.", registry=registry)
        self._refused = Counter(
            "recovery_refused", "Answers that were refused, by reason.", ["reason"], registry=registry
        )
        self._dialects = Counter(
            "recovery_dialects",
            "Calls that were noticed in a dialect that is not read.",
            ["dialect"],
            registry=registry,
        )
        self._unread = Counter(
            "recovery_unread",
            "Requests with tools of which (a part of) an answer was not read.",
            ["why"],
            registry=registry,
        )
        self._seconds = Histogram(
            "recovery_seconds",
            "Seconds spent on reading the answers to a request.",
            buckets=(0.0001, 0.001, 0.01, 0.1, 1.0),
            registry=registry,
        )
        self._requests = Counter("recovery_requests", "Requests, by how they ended.", ["outcome"], registry=registry)
        self.open = Gauge("recovery_open_requests", "Requests that are being answered.", registry=registry)
        for status in ("recovered", "refused", "text"):
            self._answers.labels(status)

    def count_answer(self, reading: Reading) -> None:
        recovery = reading.recovery
        self._answers.labels(recovery.status).inc()
        self._calls.inc(len(recovery.calls))
        if recovery.refusal is not None:
            self._refused.labels(recovery.refusal.reason.value).inc()
            if recovery.refusal.dialect:
                self._dialects.labels(recovery.refusal.dialect).inc()

    def count_reading(self, seconds: float, unread: str) -> None:
        self._seconds.observe(seconds)
        if unread:
            self._unread.labels(unread).inc()

    def count_request(self, outcome: str) -> None:
        self._requests.labels(outcome).inc()

    def page(self) -> bytes:
        page: bytes = generate_latest(self._registry)
        return page
