"""Answers that come whole: how those to one request are read, and what in them is the answer.

May import: the public names, `gateways.items`, `gateways.log`, `gateways.request`.
"""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from recovery import Call, Recovery, recover

from .items import is_item
from .log import OnRecovery, Reading
from .request import Offer


class Whole:
    """How the answers to one request are read. `id_prefix` begins the random ids where `make_id` is None.

    Raises `TypeError` for a `make_id` or `on_recovery` that is no function.
    """

    def __init__(
        self,
        offer: Offer,
        *,
        reasoning_open: bool,
        make_id: Callable[[], str] | None,
        on_recovery: OnRecovery | None,
        id_prefix: str = "call",
    ) -> None:
        check_function("make_id", make_id)
        check_function("on_recovery", on_recovery)
        self._offer = offer
        self._reasoning_open = reasoning_open
        self._make_id = make_id or partial(random_id, id_prefix)
        self._on_recovery = on_recovery

    def read(self, answer: str, model: object) -> Recovery:
        """What is recovered; told, unless there was nothing to read. `model`: what the answer has in this field."""
        offer = self._offer
        result = recover(answer, offer.tools, policy=offer.policy, reasoning_open=self._reasoning_open)
        if self._on_recovery is not None and answer:
            name = model if isinstance(model, str) else None
            self._on_recovery(Reading(answer, offer.tools, result, name))
        return result

    def with_ids(self, calls: Sequence[Call]) -> list[tuple[str, Call]]:
        """Each call with an id of its own."""
        return [(self._make_id(), call) for call in calls]


def random_id(prefix: str) -> str:
    """An id for a call, of the form that the services' have."""
    return f"{prefix}_{secrets.token_hex(12)}"


def left_of(result: Recovery) -> str:
    """The text that stays beside calls: white space alone is none."""
    return result.text if result.text.strip() else ""


def text_at_end(items: Sequence[Any], text_of: Callable[[Any], str | None]) -> tuple[int, str] | None:
    """From which item on all is text, to the end, and this text; None where text stands elsewhere too, or nowhere."""
    texts = [text_of(item) for item in items]
    start = next((at for at, text in enumerate(texts) if text is not None), len(texts))
    found = [text for text in texts[start:] if text is not None]
    return (start, "".join(found)) if found and len(found) == len(texts) - start else None


def check_item(item: object, function: str) -> None:
    """Raises `TypeError` where this is neither a dict nor an object of the library's."""
    if not is_item(item):
        hint = ": await it first" if inspect.isawaitable(item) else ""
        raise TypeError(f"{function} takes a dict or a pydantic object, not {type(item).__name__}{hint}")


def check_function(name: str, value: object) -> None:
    """Raises `TypeError` where this is something, but no function."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function, not {type(value).__name__}")
