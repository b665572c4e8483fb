"""The proxy of LiteLLM: calls that a model behind it wrote as text become tool calls, in chat completions.

In the proxy's configuration:

    litellm_settings:
      callbacks: [recovery.gateways.litellm.callback]
    callback_settings:
      recovery:
        policy: strict
        never: [delete_all]

The section `recovery`, and every option in it, may be left out; `gateways.options` tells what they mean. The proxy
reads it before it imports this module, so what is wrong in it ends the proxy's start with a sentence that says so.
Another way, for what YAML can't say, is a module of your own beside the configuration, named there in place of this
one:

    from recovery.gateways.litellm import WrittenCalls
    callback = WrittenCalls({"policy": "strict"}, on_recovery=print)

What holds:

- Chat completions, streaming or not, every choice, whatever the provider. The tools, `tool_choice` and
  `parallel_tool_calls` are those that the client sent, also where the provider takes none and the proxy keeps them back
  (`drop_params`) or writes them into the prompt. Answers of other routes (`/v1/messages`, `/v1/responses`, plain
  completions) pass, and so do requests with `functions`, which the API has left behind.
- The model's own calls win: such a choice passes. So does an answer that may go on with the request's last message.
- An error in here is logged (logger `recovery.litellm`, with no text of the answer), and the answer passes as it came.
- What the proxy logs and caches is the answer as the model wrote it; the next reader of the cache gets it recovered.
- Guardrails run before callbacks on a whole answer: they see the text. On a stream the order is that of the
  configuration.
- LiteLLM says `stop` itself where a provider ends a stream without a finish reason, so such an answer counts as whole
  here, cut or not. A connection that breaks is an error, and the answer text.

Without the proxy, the objects of `litellm.completion` and `acompletion` are taken by `recover_completion` and
`recover_stream` of `gateways.openai`: nothing here is needed, and setting `litellm.callbacks` does nothing. The stream
of `completion` can be iterated both ways and would be taken for an async one: hand over `(chunk for chunk in stream)`.

May import: `gateways.items`, `gateways.log`, `gateways.openai`, `gateways.options`, `gateways.request`; and litellm.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

import litellm
from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import ModelResponse, ModelResponseStream

from .items import field
from .log import OnRecovery, Reading
from .openai import recover_completion, recover_stream
from .options import Options
from .request import goes_on

_log: Final = logging.getLogger("recovery.litellm")


class WrittenCalls(CustomLogger):
    """The callback. One object serves all requests.

    `options`: a mapping, as the section of the configuration. `on_recovery`: as for `recover_stream`; what it raises is
    logged. Raises `TypeError` or `ValueError` naming the option.
    """

    def __init__(
        self,
        options: Mapping[str, Any] | None = None,
        *,
        on_recovery: OnRecovery | None = None,
        place: str = "WrittenCalls",
    ) -> None:
        super().__init__()
        self._options = Options.of(options if options is not None else {}, place)
        self._on_recovery = on_recovery

    async def async_post_call_success_hook(self, data: Any, user_api_key_dict: object, response: Any) -> Any:
        """The whole answer: a recovered one, or None, which leaves it as it is."""
        try:
            if not isinstance(response, ModelResponse) or not _is_read(data):
                return None
            return recover_completion(response, **self._of_request(data))
        except Exception as error:  # noqa: BLE001  # whatever it is, the answer passes
            _report("the answer passes as it came", error)
            return None

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: object, response: Any, request_data: Any
    ) -> AsyncIterator[Any]:
        """The chunks of the answer, those of written calls replaced."""
        upstream = _Upstream(response)
        try:
            adapted: AsyncIterator[Any] = upstream
            if _is_read(request_data) and await upstream.is_chat():
                adapted = recover_stream(upstream, commit=self._options.commit, **self._of_request(request_data))
            async for chunk in adapted:
                upstream.note_out(chunk)
                yield chunk
        except Exception as error:
            if error is upstream.error:
                raise
            _report("the answer passes as it came", error)
            for chunk in upstream.missing():
                yield chunk
            async for chunk in upstream:
                yield chunk

    def _of_request(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What the two kinds of answers are recovered with."""
        options = self._options
        return {
            "tools": options.toolset(data["tools"]),
            "policy": options.policy,
            "tool_choice": data.get("tool_choice"),
            "parallel_tool_calls": data.get("parallel_tool_calls"),
            "reasoning_open": options.reasoning_open,
            "on_recovery": self._tell if self._on_recovery is not None else None,
        }

    def _tell(self, reading: Reading) -> None:
        assert self._on_recovery is not None
        try:
            self._on_recovery(reading)
        except Exception as error:  # noqa: BLE001  # what is told is no part of the answer
            _report("on_recovery failed", error)


class _Upstream:
    """The chunks as they come, with what of their text has not gone out, and how they ended."""

    def __init__(self, chunks: Any) -> None:
        self._chunks = aiter(chunks)
        self.error: Exception | None = None
        # The first chunk, looked at and not taken; the chunk that is being read, and the last that had a choice.
        self._ahead: Any = None
        self._read: Any = None
        self._frame: Any = None
        # By choice, the pieces of its text before that chunk, and how much of it has gone out.
        self._taken: dict[int, list[str]] = {}
        self._out: dict[int, int] = {}

    def __aiter__(self) -> _Upstream:
        return self

    async def __anext__(self) -> Any:
        for index, text in _texts(self._read):
            self._frame = self._read
            self._taken.setdefault(index, []).append(text)
        self._read, self._ahead = self._ahead, None
        if self._read is not None:
            return self._read
        try:
            self._read = await anext(self._chunks)
        except StopAsyncIteration:
            raise
        except Exception as error:
            self.error = error
            raise
        return self._read

    async def is_chat(self) -> bool:
        """Whether the first chunk is one of a chat completion."""
        first = await anext(self, None)
        self._ahead, self._read = first, None
        return isinstance(first, ModelResponseStream)

    def note_out(self, chunk: Any) -> None:
        for index, text in _texts(chunk):
            self._out[index] = self._out.get(index, 0) + len(text)

    def missing(self) -> Iterator[Any]:
        """What was held when the reading broke off, and the chunk at which it did.

        Where calls had gone out, their text comes too: nothing tells it from what was held.
        """
        for index, texts in self._taken.items():
            if held := "".join(texts)[self._out.get(index, 0) :]:
                choice = {"index": index, "delta": {"content": held}}
                frame = self._frame
                yield ModelResponseStream(id=frame.id, created=frame.created, model=frame.model, choices=[choice])
        if self._read is not None:
            yield self._read


def _is_read(data: Mapping[str, Any]) -> bool:
    """Whether the request lets anything be recovered."""
    return bool(data.get("tools")) and not goes_on(data.get("messages"))


def _texts(chunk: Any) -> Iterator[tuple[int, str]]:
    """The text of each choice of a chunk of a chat completion."""
    if isinstance(chunk, ModelResponseStream):
        for choice in chunk.choices:
            text = field(field(choice, "delta"), "content")
            if isinstance(text, str):
                yield choice.index, text


def _report(what: str, error: Exception) -> None:
    # The kind alone, and where: a message may quote the answer.
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" in {trace.tb_frame.f_code.co_qualname}, line {trace.tb_lineno}"
    _log.error("%s: %s%s", what, type(error).__name__, place)


callback: Final = WrittenCalls((litellm.callback_settings or {}).get("recovery"), place="callback_settings: recovery")
