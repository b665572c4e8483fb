"""The tool parser in the layers of vLLM's server that ask it; no model runs.

vLLM composes its parser around ours, reads whole answers and the steps of a stream by it, and says the finish reason:
all that is vLLM's own, with a real tokenizer whose tokens are bytes. What an engine would write is given.
"""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recovery
from recovery import Policy, Toolset, recover
from recovery.gateways.options import Options
from tests.cases import VECTORS, read

if importlib.util.find_spec("vllm") is None:
    pytest.skip("vllm is not installed", allow_module_level=True)
with warnings.catch_warnings():
    # Of its own, and of what it imports.
    warnings.simplefilter("ignore")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    from vllm.entrypoints.openai.chat_completion.message_assembly import assemble_chat_message_fields
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.entrypoints.openai.chat_completion.stream_processor import ChatStreamProcessor
    from vllm.entrypoints.serve.utils.tool_calls_utils import resolve_finish_reason
    from vllm.parser.parser_manager import ParserManager
    from vllm.tool_parsers.abstract_tool_parser import ToolParserManager

    from recovery.gateways import vllm_plugin

pytestmark = pytest.mark.filterwarnings("ignore")

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("Tide_forecast", "berth_book")
]
CALL = '[Tide.forecast(port="Kilvik", days=2)]'
CALLS = [("Tide_forecast", {"port": "Kilvik", "days": 2})]
TWO = "[Tide.forecast(days=1), berth.book()]"
NAMED = {"type": "function", "function": {"name": "berth_book"}}
Message = dict[str, Any]


def make_tokenizer() -> Any:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={sign: at for at, sign in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", additional_special_tokens=["<eot>"])


TOKENIZER = make_tokenizer()
EOS, EOT = TOKENIZER.convert_tokens_to_ids(["<eos>", "<eot>"])


@pytest.fixture(autouse=True)
def options(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets them, for this test."""
    return lambda **given: monkeypatch.setattr(vllm_plugin.WrittenCalls, "options", Options.of(given, "options"))


def composed() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ParserManager.get_parser("recovery", enable_auto_tools=True, tokenizer=TOKENIZER)


def asked(**request: Any) -> Any:
    messages = [{"role": "user", "content": "When is low water?"}]
    return ChatCompletionRequest.model_validate({"model": "m", "messages": messages, "tools": TOOLS} | request)


def whole(answer: str, *, finish: str = "stop", **request: Any) -> Message:
    """As `OpenAIServingChat` makes a choice of a whole answer, which comes without its tokens."""
    given, parser_class = asked(**request), composed()
    parser = parser_class(TOKENIZER, given.tools)
    reasoning, content, calls = parser.parse(answer, given, enable_auto_tools=True)
    fields = assemble_chat_message_fields(
        given, reasoning, content, calls, enable_auto_tools=True, parser_cls=parser_class
    )
    return message(fields.content, fields.tool_calls, resolve_finish_reason(finish, given, bool(fields.tool_calls)))


def streamed(answer: str, *, finish: str = "stop", last: int | None = EOS, size: int = 3, **request: Any) -> Message:
    """As `OpenAIServingChat` makes the chunks of a choice; each of the engine's steps has `size` characters."""
    given, parser_class = asked(**request), composed()
    parser = parser_class(TOKENIZER, given.tools)
    processor = ChatStreamProcessor(given, parser, enable_auto_tools=True, parser_cls=parser_class)
    pieces = [answer[at : at + size] for at in range(0, len(answer), size)]
    steps: list[tuple[str, list[int], str | None]] = [(piece, TOKENIZER.encode(piece), None) for piece in pieces]
    if last is None:
        piece, tokens, _ = steps.pop()
        steps.append((piece, tokens, finish))
    else:
        steps.append(("", [last], finish))
    content, reason = "", None
    calls: list[Any] = []
    for piece, tokens, ends in steps:
        delta, reason = processor.step(piece, tokens, ends, [1, 2, 3])
        if delta is not None:
            content += delta.content or ""
            calls += delta.tool_calls or []
    return message(content, joined(calls), reason)


def joined(deltas: list[Any]) -> list[Any]:
    """The calls, of which vLLM's own forms come in pieces."""
    calls: list[Any] = []
    for delta in deltas:
        if delta.index == len(calls):
            calls.append(delta)
        else:
            calls[delta.index].function.arguments += delta.function.arguments
    return calls


def message(content: str | None, calls: list[Any], finish: str | None) -> Message:
    ids = [call.id for call in calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    pairs = [(call.function.name, json.loads(call.function.arguments)) for call in calls]
    return {"content": content or None, "calls": pairs, "finish": finish}


Ask = Callable[..., Message]
both_ways = pytest.mark.parametrize("ask", [whole, streamed])


@both_ways
def test_a_written_call_becomes_a_tool_call(ask: Ask) -> None:
    assert ask(CALL) == {"content": None, "calls": CALLS, "finish": "tool_calls"}


@both_ways
def test_several_calls(ask: Ask) -> None:
    calls = [("Tide_forecast", {"days": 1}), ("berth_book", {})]
    assert ask(TWO) == {"content": None, "calls": calls, "finish": "tool_calls"}


@both_ways
def test_prose_passes(ask: Ask) -> None:
    answer = "Low water is at noon (see Tide.forecast).\n\nEvery day."
    assert ask(answer) == {"content": answer, "calls": [], "finish": "stop"}


@both_ways
@pytest.mark.parametrize(
    "request_",
    [
        {"tools": None},
        {"tool_choice": "none"},
        # Here vLLM asks a parser, and drops the calls.
        {"tool_choice": None},
    ],
)
def test_what_is_not_asked_for_stays_text(ask: Ask, request_: Any) -> None:
    assert ask(CALL, **request_) == {"content": CALL, "calls": [], "finish": "stop"}


@both_ways
def test_parallel_calls_that_the_request_forbids_stay_text(ask: Ask) -> None:
    assert ask(CALL, parallel_tool_calls=False) == {"content": None, "calls": CALLS, "finish": "tool_calls"}
    assert ask(TWO, parallel_tool_calls=False) == {"content": TWO, "calls": [], "finish": "stop"}


@both_ways
def test_what_vllm_has_written_as_json_is_its_own(ask: Ask) -> None:
    calls = [("berth_book", {"nights": 3}), ("Tide_forecast", {})]
    answer = json.dumps([{"name": name, "parameters": given} for name, given in calls])
    found = ask(answer, tool_choice="required")
    assert found == {"content": None, "calls": calls, "finish": "tool_calls"}
    found = ask('{"nights": 3}', tool_choice=NAMED)
    assert found == {"content": None, "calls": calls[:1], "finish": "stop"}


@both_ways
def test_options(ask: Ask, options: Callable[..., None]) -> None:
    options(policy="strict", aliases={"Book a berth": "berth_book", "other": "not_offered"}, never=["Tide_forecast"])
    assert ask("Book a berth(nights=3)")["calls"] == [("berth_book", {"nights": 3})]
    for answer in (CALL, "berth_book(3)", "```\nberth_book()\n```"):
        assert ask(answer) == {"content": answer, "calls": [], "finish": "stop"}


@both_ways
def test_a_list_that_is_not_closed(ask: Ask) -> None:
    """It may be cut: only the last token of a stream says that it is not."""
    answer = CALL[:-1]
    calls = CALLS if ask is streamed else []
    found = ask(answer)
    assert (found["calls"], found["content"]) == (calls, None if calls else answer)


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize(
    ("last", "finish", "request_", "is_whole"),
    [
        (EOS, "stop", {}, True),
        (EOT, "stop", {}, True),
        (TOKENIZER.encode("!")[0], "stop", {"stop_token_ids": TOKENIZER.encode("!")}, True),
        # A stop string of the request, and the limit of tokens.
        (None, "stop", {"stop": ["\n"]}, False),
        (None, "length", {}, False),
        (EOS, "length", {"ignore_eos": True, "stop": ["\n"]}, True),
    ],
)
def test_a_stream_that_is_cut_stays_text(last: Any, finish: str, request_: Any, is_whole: bool, size: int) -> None:
    found = streamed(CALL, size=size, last=last, finish=finish, **request_)
    if is_whole:
        assert (found["content"], found["calls"]) == (None, CALLS)
    else:
        assert found == {"content": CALL, "calls": [], "finish": finish}


def test_versions_that_tell_of_no_end_give_the_calls_at_the_end_token() -> None:
    parser = vllm_plugin.WrittenCalls(TOKENIZER)
    given = asked()
    assert parser.extract_tool_calls_streaming("", CALL, CALL, [], [1], [1], given) is None
    delta = parser.extract_tool_calls_streaming(CALL, CALL, "", [1], [1, EOS], [EOS], given)
    (call,) = delta.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == CALLS[0]
    assert parser.finish_streaming() is None


def test_a_file_is_a_plugin_too() -> None:
    path = Path(recovery.__file__).parent / "gateways/vllm_plugin.py"
    ToolParserManager.import_tool_parser(str(path))
    try:
        found = ToolParserManager.get_tool_parser("recovery")
        assert found is not vllm_plugin.WrittenCalls
        assert found.extract_tool_calls(found(TOKENIZER), CALL, asked()).tools_called
    finally:
        ToolParserManager.register_module("recovery", module=vllm_plugin.WrittenCalls)


def test_the_name_of_the_module_is_a_plugin() -> None:
    ToolParserManager.import_tool_parser("recovery.gateways.vllm_plugin")
    assert ToolParserManager.get_tool_parser("recovery") is vllm_plugin.WrittenCalls


def cases() -> Iterator[tuple[str, Toolset, list[Any]]]:
    for case in read(VECTORS)[::10]:
        tools = [
            {"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}}
            for tool in case.toolset.tools
        ]
        # A tokenizer takes no lone surrogates.
        is_text = not any("\ud800" <= sign <= "\udfff" for sign in case.text)
        if (
            is_text
            and len(case.text) < 500
            and tools
            and case.text
            and not case.row.get("aliases")
            and not case.row.get("never")
        ):
            yield case.text, case.toolset, tools


def test_vectors() -> None:
    """What comes is what `recover` says."""
    seen = 0
    for text, toolset, tools in cases():
        result = recover(text, toolset, policy=Policy.default())
        made = result.to_openai_message()
        expected = {
            "content": made["content"] or None,
            "calls": [(call.name, call.arguments) for call in result.calls],
            "finish": "tool_calls" if result.calls else "stop",
        }
        assert streamed(text, tools=tools) == expected, text
        if "unclosed_list" not in {allowance.value for allowance in result.used}:
            assert whole(text, tools=tools) == expected, text
        seen += 1
    assert seen > 20
