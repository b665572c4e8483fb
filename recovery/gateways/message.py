"""Anthropic messages that come whole: `recover_message`.

May import: the public names, `gateways.items`, `gateways.log`, `gateways.request`, `gateways.whole`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from recovery import Policy, Toolset

from .items import changed, constructed, field, is_item
from .log import OnRecovery
from .request import anthropic_offer
from .whole import Whole, check_item, left_of, text_at_end

T = TypeVar("T")

# With these the model says that its answer is whole. Behind any other, or none, more may have followed.
WHOLE: Final = ("end_turn", "stop_sequence", "tool_use")


def recover_message(
    message: T,
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    tool_choice: object = None,
    reasoning_open: bool = False,
    make_id: Callable[[], str] | None = None,
    on_recovery: OnRecovery | None = None,
) -> T:
    """A message, with the calls that the model wrote as text as blocks of tool use.

    `message`: a dict or the library's object; what comes back is of the same kind, and `message` itself where nothing
    was recovered. It is never changed. `tools`, `policy` and `reasoning_open` are as for `recover`, `tool_choice` as
    the request has it. `make_id` gives the id of each call; the default ids begin with `toolu_`. `on_recovery` is
    called with a `Reading` where the message was read; what it raises is raised.

    - The calls are blocks behind the text, which keeps what is left of it, or is left out. The stop reason is
      `tool_use` then.
    - The message passes where the model uses tools itself; where the service cut it (any stop reason but `end_turn`,
      `stop_sequence` and `tool_use`, or none); and where its text is not all in one block, the last, without citations.

    Raises `TypeError` or `ValueError` as `recover` does, and `TypeError` where `message` is neither dict nor object.
    """
    offer = anthropic_offer(tools, policy=policy, tool_choice=tool_choice)
    whole = Whole(offer, reasoning_open=reasoning_open, make_id=make_id, on_recovery=on_recovery, id_prefix="toolu")
    check_item(message, "recover_message")
    blocks = field(message, "content")
    if not len(offer.tools) or not isinstance(blocks, list) or field(message, "stop_reason") not in WHOLE:
        return message
    found = text_at_end(blocks, _text_of)
    if found is None or found[0] != len(blocks) - 1 or any(field(block, "type") == "tool_use" for block in blocks):
        return message
    result = whole.read(found[1], field(message, "model"))
    if not result.calls:
        return message
    left = left_of(result)
    calls = [
        {"type": "tool_use", "id": id_, "name": call.name, "input": call.arguments}
        for id_, call in whole.with_ids(result.calls)
    ]
    texts = [changed(blocks[-1], text=left)] if left else []
    content = [*blocks[:-1], *texts, *constructed(message, "content", calls)]
    out: T = changed(message, content=content, stop_reason="tool_use")
    return out


def _text_of(block: Any) -> str | None:
    text = field(block, "text")
    is_text = is_item(block) and field(block, "type") == "text" and not field(block, "citations")
    return text if is_text and isinstance(text, str) else None
