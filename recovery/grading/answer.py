"""Whatever `call_model` returned, as an `Answer`: calls of the API, text, whether it is a refusal, whether it was cut.

Messages are read by what they hold, as dicts or objects: no client library is imported. May import:
`grading.difference`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .difference import shown

# With these an API says that the answer was cut at a limit on its length, and that it was withheld.
_CUT: Final = frozenset(("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"))
_WITHHELD: Final = frozenset(("refusal", "content_filter"))
_TEXT_PARTS: Final = frozenset(("text", "output_text", "input_text"))


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A call of the API: the name as it came, "" where there was none, and the arguments as they came."""

    name: str
    raw_args: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a model. `text` is what may hold written calls; it counts only where there are no `calls`."""

    calls: tuple[NativeCall, ...] = ()
    text: str = ""
    refusal: bool = False
    truncated: bool = False
    # What the endpoint said of itself.
    returned_model: str | None = None
    fingerprint: str | None = None
    # The message as it came, where it was one.
    source: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, returned: object) -> Answer:
        """The answer that `call_model` returned, or that `to_json` made.

        None; text; `(tool_name, raw_args)`, the name None where no tool was called; a list of these; an OpenAI chat
        completion, its choice or its message; an OpenAI response; an Anthropic message. Raises `TypeError` for what is
        none of these, `ValueError` for one without an answer in it, or with several.
        """
        if isinstance(returned, Answer):
            return returned
        if returned is None or isinstance(returned, str):
            return cls(text=returned or "")
        if isinstance(returned, tuple):
            return cls(calls=_pair(returned))
        if isinstance(returned, list):
            calls = [
                call for item in returned for call in (_pair(item) if isinstance(item, tuple) else (_entry(item),))
            ]
            return cls(calls=tuple(calls))
        if isinstance(returned, Mapping):
            if "tool_name" in returned:
                return cls(calls=_pair((returned["tool_name"], returned.get("raw_args"))))
            if isinstance(returned.get("calls"), list):
                return cls(calls=tuple(map(_stored, returned["calls"])))
            if isinstance(returned.get("text"), str) and "type" not in returned:
                return cls(text=returned["text"])
        return _of_message(returned, returned)

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON that `of` reads: `text`, `message`, `tool_name` with `raw_args`, or several `calls`."""
        if self.source is not None:
            return {"message": _storable(_dumped(self.source))}
        calls = [{"tool_name": call.name, "raw_args": _storable(call.raw_args)} for call in self.calls]
        if len(calls) == 1:
            return calls[0]
        return {"calls": calls} if calls else {"text": self.text}


def _pair(pair: tuple[Any, ...]) -> tuple[NativeCall, ...]:
    if len(pair) != 2:
        raise TypeError(f"an answer is (tool_name, raw_args), not {len(pair)} things: {shown(pair)}")
    name, raw_args = pair
    if name is None:
        if raw_args or (raw_args is not None and not isinstance(raw_args, str | Mapping | list)):
            raise ValueError(f"an answer that calls no tool has no arguments: {shown(raw_args)}")
        return ()
    if not isinstance(name, str):
        raise TypeError(f"the name of a tool must be a str or None, not {shown(name)}")
    return (NativeCall(name, raw_args),)


def _stored(call: object) -> NativeCall:
    if not isinstance(call, Mapping) or not isinstance(call.get("tool_name"), str):
        raise TypeError(f"a call is an object with tool_name and raw_args, not {shown(call)}")
    return NativeCall(call["tool_name"], call.get("raw_args"))


def _of_message(item: object, source: object, reason: object = None) -> Answer:
    """The answer of a message, or of what a message stands in; `reason`: why it ended, where that is known already."""
    kind = _get(item, "type")
    choices = _get(item, "choices")
    if choices is not None or _get(item, "object") == "chat.completion":
        if not isinstance(choices, Sequence) or len(choices) != 1:
            number = len(choices) if isinstance(choices, Sequence) else "no"
            raise ValueError(f"a completion of {number} choices: one answer has one")
        return _named(item, _of_message(choices[0], source))
    if (message := _get(item, "message")) is not None and not isinstance(message, str):
        return _of_message(message, source, _get(item, "finish_reason"))
    output = _get(item, "output")
    if isinstance(output, list):
        details = _get(item, "incomplete_details")
        return _named(item, _of_blocks(output, source, _get(details, "reason")))
    content = _get(item, "content")
    if kind == "message" and isinstance(content, list):
        return _named(item, _of_blocks(content, source, _get(item, "stop_reason")))
    if _get(item, "role") is None and content is None and _get(item, "tool_calls") is None:
        raise TypeError(f"call_model returned what is no answer: {shown(item)}")
    calls = _entries(_get(item, "tool_calls"))
    if (legacy := _get(item, "function_call")) is not None and not calls:
        calls = (_function(legacy),)
    blocks = _of_blocks(content if isinstance(content, list) else [], source, reason)
    return Answer(
        calls=(*calls, *blocks.calls),
        text=content if isinstance(content, str) else blocks.text,
        refusal=blocks.refusal or bool(_get(item, "refusal")),
        truncated=blocks.truncated,
        source=source,
    )


def _of_blocks(blocks: Sequence[Any], source: object, reason: object) -> Answer:
    """The answer of a list of blocks, as Anthropic's content, OpenAI's parts of a content and items of a response."""
    calls: list[NativeCall] = []
    said: list[str] = []
    refusal = reason in _WITHHELD
    for block in blocks:
        kind = _get(block, "type")
        if isinstance(block, str):
            said.append(block)
        elif kind == "tool_use":
            calls.append(NativeCall(_name(_get(block, "name")), _get(block, "input")))
        elif kind in ("function_call", "custom_tool_call"):
            calls.append(_function(block))
        elif kind == "refusal":
            refusal = True
        elif kind == "message":
            inner = _of_blocks(_get(block, "content") or [], None, None)
            said.append(inner.text)
            refusal = refusal or inner.refusal
        elif kind in _TEXT_PARTS and isinstance(_get(block, "text"), str):
            said.append(_get(block, "text"))
    return Answer(tuple(calls), "".join(said), refusal, reason in _CUT, source=source)


def _named(item: object, answer: Answer) -> Answer:
    """The answer with what the endpoint said of itself."""
    model, fingerprint = _get(item, "model"), _get(item, "system_fingerprint")
    return Answer(
        answer.calls,
        answer.text,
        answer.refusal,
        answer.truncated,
        model if isinstance(model, str) else None,
        fingerprint if isinstance(fingerprint, str) else None,
        answer.source,
    )


def _entries(calls: object) -> tuple[NativeCall, ...]:
    """OpenAI's `tool_calls`: a list, though some send a single one without."""
    if calls is None:
        return ()
    return tuple(map(_entry, calls)) if isinstance(calls, list | tuple) else (_entry(calls),)


def _entry(call: object) -> NativeCall:
    for key in ("function", "custom"):
        if (inner := _get(call, key)) is not None:
            return _function(inner)
    # Some send the name and the arguments without the object around them; one without either has no name.
    return _function(call)


def _function(item: object) -> NativeCall:
    raw_args = next((found for key in ("arguments", "input") if (found := _get(item, key)) is not None), None)
    return NativeCall(_name(_get(item, "name")), raw_args)


def _name(name: object) -> str:
    return name if isinstance(name, str) else ""


def _get(item: object, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _dumped(item: object) -> Any:
    dump = getattr(item, "model_dump", None)
    return item if dump is None else dump(mode="json", warnings=False)


def _storable(value: Any) -> Any:
    """The value, or what it looks like where JSON can't hold it."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return shown(value)
    return value
