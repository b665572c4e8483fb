"""What the proxy is told at its start. May import: the public names, `gateways.answer`."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from recovery import Policy
from recovery.gateways.answer import Commit

_PORTS = range(65536)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Sizes are in bytes, times in seconds. Raises `ValueError` for an upstream that is no http(s) URL."""

    # What stands before the path of each request: `http://127.0.0.1:8000`, with a path of its own or without.
    upstream: str
    policy: Policy = field(default_factory=Policy.default)
    commit: Commit = "answer"
    reasoning_open: bool = False
    # Of these offered tools no written call is recovered.
    never: frozenset[str] = frozenset()
    # A larger request is answered with 413. Images stand in requests as base64.
    max_request: int = 32 * 2**20
    # A larger answer, or a larger event of one, passes unread; so much at most is held of an answer.
    max_answer: int = 8 * 2**20
    connect_timeout: float = 10.0
    # Until the next byte; a model may think for minutes before its first.
    read_timeout: float = 600.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.upstream)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"upstream: expected http://host:port or https://host, got {self.upstream!r}")
        if parts.username is not None:
            raise ValueError("upstream: a name or password does not belong here; clients send Authorization themselves")
        if parts.port is not None and parts.port not in _PORTS:
            raise ValueError(f"upstream: there is no port {parts.port}")
