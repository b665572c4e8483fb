"""OpenAI chat completions that come whole: `recover_completion`.

May import: the public names, `gateways.items`, `gateways.log`, `gateways.request`, `gateways.whole`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from recovery import Policy, Toolset

from .items import changed, field, is_item, new, said
from .log import OnRecovery
from .request import openai_offer
from .whole import Whole, check_item, left_of, text_at_end

T = TypeVar("T")

# With these the model says that its answer is whole. Behind any other, or none, more may have followed.
WHOLE: Final = ("stop", "tool_calls", "function_call")
# Beside these no text is read: its own calls win, and what refuses asks for nothing to be run.
ENDS_READING: Final = ("tool_calls", "function_call", "refusal")


def recover_completion(
    completion: T,
    tools: Toolset | Iterable[object],
    *,
    policy: Policy | None = None,
    tool_choice: object = None,
    parallel_tool_calls: object = None,
    reasoning_open: bool = False,
    make_id: Callable[[], str] | None = None,
    on_recovery: OnRecovery | None = None,
) -> T:
    """A chat completion, with the calls that the model wrote as text in `tool_calls` of their message.

    `completion`: a dict or the library's object; what comes back is of the same kind, and `completion` itself where
    nothing was recovered. It is never changed. `tools`, `policy` and `reasoning_open` are as for `recover`,
    `tool_choice` and `parallel_tool_calls` as the request has them. `make_id` gives the id of each call. `on_recovery`
    is called with a `Reading` for each choice that was read; what it raises is raised.

    - Each choice is read for itself. Where calls were recovered its finish reason is `tool_calls`, and its content what
      is left of the text, or None. All other fields stay as they are.
    - A choice passes where the model calls tools itself, or refuses (`refusal`); where the service cut it (any finish
      reason but `stop` and those of calls, or none); where it has no text, or is not of a shape that is known.
    - Content in parts is read where its text parts stand at its end, joined; what is left of them is one part.

    Raises `TypeError` or `ValueError` as `recover` does, and `TypeError` where `completion` is neither dict nor object.
    """
    offer = openai_offer(tools, policy=policy, tool_choice=tool_choice, parallel_tool_calls=parallel_tool_calls)
    whole = Whole(offer, reasoning_open=reasoning_open, make_id=make_id, on_recovery=on_recovery)
    check_item(completion, "recover_completion")
    choices = field(completion, "choices")
    if not len(offer.tools) or not isinstance(choices, list):
        return completion
    model = field(completion, "model")
    made = [_recovered(choice, whole, model) for choice in choices]
    if list(map(id, made)) == list(map(id, choices)):
        return completion
    out: T = changed(completion, choices=made)
    return out


def _recovered(choice: Any, whole: Whole, model: object) -> Any:
    """The choice itself, or a copy with calls."""
    message = field(choice, "message")
    if not (is_item(choice) and is_item(message)) or field(choice, "finish_reason") not in WHOLE:
        return choice
    if not said(message).keys().isdisjoint(ENDS_READING):
        return choice
    content = field(message, "content")
    found = (0, content) if isinstance(content, str) else text_at_end(_parts(content), _text_of_part)
    if found is None:
        return choice
    start, answer = found
    result = whole.read(answer, model)
    if not result.calls:
        return choice
    left: Any = left_of(result) or None
    if not isinstance(content, str):
        left = [*content[:start], *([changed(content[start], text=left)] if left else [])] or None
    calls = [call.to_openai_tool_call(id_) for id_, call in whole.with_ids(result.calls)]
    # What the library makes of them.
    calls = field(new(type(message), {"role": "assistant", "content": None, "tool_calls": calls}), "tool_calls")
    return changed(choice, message=changed(message, content=left, tool_calls=calls), finish_reason="tool_calls")


def _parts(content: object) -> list[Any]:
    return content if isinstance(content, list) else []


def _text_of_part(part: Any) -> str | None:
    text = field(part, "text")
    return text if is_item(part) and field(part, "type") == "text" and isinstance(text, str) else None
