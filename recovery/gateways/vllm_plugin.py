"""A tool parser for the server of vLLM: calls that a model wrote as text become tool calls, streaming or not.

    vllm serve MODEL --enable-auto-tool-choice --tool-parser-plugin recovery.gateways.vllm_plugin \\
        --tool-call-parser recovery

Where a version takes a file alone, the path of this one. Options stand in the environment, as JSON, and
`gateways.options` tells what they mean: `RECOVERY_VLLM='{"policy": "strict", "never": ["delete_all"]}'`.

vLLM asks a parser where `tool_choice` is "auto", as it is where a request has tools and no choice. What the model must
call by `required` or a named choice, vLLM has it write as JSON and reads itself; with "none" or null nothing is a call.
Where the model writes its calls in a format of its own, that format's parser is the one to take; there is one for a
server.

What the interface allows, and what not. The tests run the layers of vLLM 0.33's server that ask a parser, with answers
that are given: they need no GPU, and no model has run behind this.


- A parser is made for each choice of a stream. Text is held while it may be a call, as in the other gateways.
- It is not told whether an answer was cut. In a stream, the last token tells: one that ends the turn says that the
  answer is whole. Behind any other (`max_tokens`, also a stop string of the request) what was held goes out as text. A
  whole answer comes without tokens: there a call may be one of which the end is missing, so a list that is not closed
  is never read, whatever the policy; the finish reason, `length`, is what the client can see.
- The end of a stream is told by `finish_streaming`, which vLLM calls on parsers with `engine_based_streaming`. Where a
  version does not call it, the tokenizer's end token tells, or one of the request's `stop_token_ids`; what is held when
  such a stream ends otherwise is lost, and this can't be helped from here.
- Text and calls of one delta have no order between them.
- With `parallel_tool_calls` false, vLLM would keep the first of several calls; here such an answer is text.

May import: the public names, `gateways.answer`, `gateways.options`, `gateways.request`; and vllm. Absolute, for vLLM
may load it as a file.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from vllm.tool_parsers.abstract_tool_parser import (
    DeltaMessage,
    ExtractedToolCallInformation,
    ToolParser,
    ToolParserManager,
)

from recovery import Allowance, CallEvent, Policy, Stream, Toolset, recover
from recovery.gateways.answer import Answer
from recovery.gateways.options import Options
from recovery.gateways.request import Offer, openai_offer

_log: Final = logging.getLogger("recovery.vllm")


class WrittenCalls(ToolParser):
    """The parser. `options` may be another's in a class that is registered under a name of its own."""

    options: ClassVar[Options] = Options.of(json.loads(os.environ.get("RECOVERY_VLLM") or "{}"), "RECOVERY_VLLM")

    def __init__(self, tokenizer: Any, *args: Any, **more: Any) -> None:
        super().__init__(tokenizer, *args, **more)
        self._answer: Answer | None = None
        self._last_token: int | None = None

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """The calls and the text of a whole answer. Keeps nothing: vLLM asks one parser for several choices."""
        offer = self._offer(request)
        policy = Policy(offer.policy.allow - {Allowance.UNCLOSED_LIST}, offer.policy.limits)
        result = recover(model_output, offer.tools, policy=policy, reasoning_open=self.options.reasoning_open)
        if not result.calls:
            return ExtractedToolCallInformation(tools_called=False, tool_calls=[], content=model_output)
        message = result.to_openai_message()
        return ExtractedToolCallInformation(
            tools_called=True, tool_calls=message["tool_calls"], content=message["content"]
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        """What goes out for this delta, which is all that is read of the text: None where nothing does."""
        if self._answer is None:
            self._answer = self._begin(request)
            # So that `finish_streaming` is called. Said of the class, vLLM would no longer join the text of a stream,
            # which its own reading of what `required` brings rests on.
            self.engine_based_streaming = True
        if delta_token_ids:
            self._last_token = delta_token_ids[-1]
        if not self._answer.reading:
            return self._delta([delta_text])
        pieces = self._answer.feed(delta_text) if delta_text else []
        if self._last_token in self._ends(request):
            pieces += self._answer.finish()
        return self._delta(pieces)

    def finish_streaming(self) -> Any:
        """What was held to the end of the stream."""
        if self._answer is None or not self._answer.reading:
            return None
        if self._last_token in getattr(self.model_tokenizer, "all_special_ids", ()):
            return self._delta(self._answer.finish())
        return self._delta([self._answer.give_up()])

    def _offer(self, request: Any) -> Offer:
        """What may be recovered; nothing where the request's tools can't be read."""
        options, choice = self.options, request.tool_choice
        if choice is None or getattr(request, "continue_final_message", False):
            # With null vLLM asks, and then drops the calls: their text would be lost. And what goes on with a message
            # is the end of one alone.
            choice = "none"
        try:
            tools = options.toolset([tool.model_dump(exclude_none=True) for tool in request.tools or ()])
            return openai_offer(
                tools,
                policy=options.policy,
                commit=options.commit,
                tool_choice=choice if isinstance(choice, str) else choice.model_dump(),
                parallel_tool_calls=request.parallel_tool_calls,
            )
        except (TypeError, ValueError) as error:
            _log.error("the answer passes as it comes: %s", error)
            return Offer(Toolset([]), options.policy, options.commit)

    def _begin(self, request: Any) -> Answer:
        tools, policy, commit = self._offer(request)
        answer = Answer(Stream(tools, policy=policy, commit=commit, reasoning_open=self.options.reasoning_open))
        if not len(tools):
            answer.give_up()
        return answer

    def _ends(self, request: Any) -> set[int | None]:
        """The tokens behind which nothing comes."""
        if getattr(request, "ignore_eos", False):
            return set()
        stops = getattr(request, "stop_token_ids", None) or ()
        return {getattr(self.model_tokenizer, "eos_token_id", None), *stops} - {None}

    def _delta(self, pieces: Sequence[str | CallEvent]) -> Any:
        text = "".join(piece for piece in pieces if isinstance(piece, str))
        calls = []
        for piece in pieces:
            if isinstance(piece, str):
                continue
            call = piece.call.to_openai_tool_call(piece.id)
            calls.append({"index": piece.index, **call})
            # By these the serving layer knows that a call was made, and that nothing of it is missing.
            self.prev_tool_call_arr.append(call["function"])
            self.streamed_args_for_tool.append(call["function"]["arguments"])
        if not (text or calls):
            return None
        return DeltaMessage(content=text or None, tool_calls=calls)


ToolParserManager.register_module("recovery", module=WrittenCalls)
