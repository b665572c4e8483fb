"""What OpenAI's Responses API answers, whole: `recover_response`.

May import: the public names, `gateways.items`, `gateways.log`, `gateways.request`, `gateways.whole`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from recovery import Policy, Toolset

from .items import changed, constructed, field, is_item
from .log import OnRecovery
from .request import openai_offer
from .whole import Whole, check_item, left_of, text_at_end

T = TypeVar("T")

# What may stand beside the answer: what the model thought, and what the service has done already. All else is a call of
# the model's own, or may be one.
_BESIDE: Final = (
    "message",
    "reasoning",
    "compaction",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_list_tools",
    "mcp_call",
)


def recover_response(
    response: T,
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    tool_choice: object = None,
    parallel_tool_calls: object = None,
    reasoning_open: bool = False,
    make_id: Callable[[], str] | None = None,
    on_recovery: OnRecovery | None = None,
) -> T:
    """An answer of the Responses API, with the calls that the model wrote as text as items of its output.

    All as for `recover_completion`; `make_id` gives the `call_id` of each call. The items made up have no `id`: it
    would stand for something that the service has stored.

    - The calls are items `function_call` behind the message, which keeps what is left of the text, or is left out.
    - The response passes where its status is not `completed`; where its output holds a call of the model's own, or an
      item that is not known; and where its text is not all in one message, the last item, without refusal and
      annotations.

    Raises as `recover_completion` does.
    """
    offer = openai_offer(tools, policy=policy, tool_choice=tool_choice, parallel_tool_calls=parallel_tool_calls)
    whole = Whole(offer, reasoning_open=reasoning_open, make_id=make_id, on_recovery=on_recovery)
    check_item(response, "recover_response")
    output = field(response, "output")
    if not len(offer.tools) or not isinstance(output, list) or field(response, "status") != "completed":
        return response
    found = text_at_end(output, _text_of_item)
    if found is None or found[0] != len(output) - 1 or any(field(item, "type") not in _BESIDE for item in output):
        return response
    result = whole.read(found[1], field(response, "model"))
    if not result.calls:
        return response
    calls = [
        {
            "type": "function_call",
            "call_id": id_,
            "name": call.name,
            "arguments": call.to_json_arguments(),
            "status": "completed",
        }
        for id_, call in whole.with_ids(result.calls)
    ]
    out: T = changed(
        response, output=[*output[:-1], *_left(output[-1], left_of(result)), *constructed(response, "output", calls)]
    )
    return out


def _text_of_item(item: Any) -> str | None:
    """What a message says; None for an item that is no message, or one that holds more than text."""
    content = field(item, "content")
    if not is_item(item) or field(item, "type") != "message" or not isinstance(content, list):
        return None
    found = text_at_end(content, _text_of_part)
    return found[1] if found is not None and found[0] == 0 else None


def _text_of_part(part: Any) -> str | None:
    text = field(part, "text")
    is_text = is_item(part) and field(part, "type") == "output_text" and not field(part, "annotations")
    return text if is_text and isinstance(text, str) else None


def _left(message: Any, text: str) -> list[Any]:
    """The message with this text alone, where there is any."""
    return [changed(message, content=[changed(field(message, "content")[0], text=text)])] if text else []
