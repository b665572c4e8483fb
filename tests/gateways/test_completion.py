"""Answers of OpenAI's API that come whole, as dicts: chat completions and the Responses API."""

from __future__ import annotations

from copy import deepcopy
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recovery import Policy, Reason, recover
from recovery.gateways.log import Reading
from recovery.gateways.openai import recover_completion, recover_response, recover_stream
from tests.gateways.messages import chunks, join_chunks
from tests.strategies import TOOLS, answers, examples, pieces, policies

Row = dict[str, Any]
TEXT = {"type": "text", "text": "f(x=1)"}
# No word of the service for an answer that is whole.
CUT: tuple[Any, ...] = ("length", "content_filter", None, "", "error", 5, ["stop"], {})
NATIVE = [{"id": "call_n", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


def choice(content: Any, finish: Any = "stop", **message: Any) -> Row:
    message = {"role": "assistant", "content": content, **message}
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}


def completion(*choices: Any) -> Row:
    return {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": list(choices),
        "usage": {"total_tokens": 9},
    }


def call(number: int, arguments: str = '{"x": 1}', name: str = "f") -> Row:
    return {"id": f"id_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def recovered(given: Any, function: Any = recover_completion, tools: Any = ("f", "g"), **options: Any) -> Any:
    """What comes of it, with ids in order; what was given is as before."""
    before, numbers = deepcopy(given), count(1)
    out = function(given, tools, make_id=lambda: f"id_{next(numbers)}", **options)
    assert given == before
    return out


def test_every_choice_is_read() -> None:
    given = completion(choice("f(x=1)"), choice("No."), choice("[f(x=1), f(x=2)]", reasoning_content="Hm."))
    out = recovered(given)
    assert out == completion(
        choice(None, "tool_calls", tool_calls=[call(1)]),
        choice("No."),
        choice(None, "tool_calls", reasoning_content="Hm.", tool_calls=[call(2), call(3, '{"x": 2}')]),
    )
    assert out["choices"][1] is given["choices"][1]


def test_what_is_left_stays() -> None:
    out = recovered(completion(choice("So.\nf(x=1)", refusal=None)), policy=Policy.lenient())
    assert out == completion(choice("So.\n", "tool_calls", refusal=None, tool_calls=[call(1)]))


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ([TEXT], None),
        ([{"type": "thinking", "thinking": "Hm."}, TEXT], [{"type": "thinking", "thinking": "Hm."}]),
        ([{"type": "text", "text": "f(x="}, {"type": "text", "text": "1)", "more": 1}], None),
        (
            [{"type": "image"}, {"type": "text", "text": "So.\n", "more": 1}, TEXT],
            [{"type": "image"}, {"type": "text", "text": "So.\n", "more": 1}],
        ),
    ],
)
def test_content_in_parts(content: Any, left: Any) -> None:
    out = recovered(completion(choice(content)), policy=Policy.lenient())
    assert out == completion(choice(left, "tool_calls", tool_calls=[call(1)]))


@pytest.mark.parametrize(
    "given",
    [
        # Its own calls win.
        choice("f(x=1)", tool_calls=NATIVE),
        choice("f(x=1)", function_call={"name": "f", "arguments": "{}"}),
        # Cut, or not known to be whole.
        *(choice("f(x=1)", finish) for finish in CUT),
        # No text.
        *(choice(content) for content in ("", None, [], 5, {"text": "f(x=1)"}, [None], ["f(x=1)"])),
        choice(None, refusal="I won't."),
        # It refuses.
        choice("f(x=1)", refusal="I won't."),
        choice([{"type": "refusal", "refusal": "f(x=1)"}]),
        # Text that more stands behind, or between.
        choice([TEXT, {"type": "thinking", "thinking": "Hm."}]),
        choice([{"type": "text", "text": "f("}, {"type": "image"}, {"type": "text", "text": "x=1)"}]),
        choice([{"type": "text", "text": 5}]),
        {"index": 0, "finish_reason": "stop"},
        {"index": 0, "finish_reason": "stop", "message": "f(x=1)"},
        {"index": 0, "finish_reason": "stop", "message": None},
        {"index": 0, "finish_reason": "stop", "text": "f(x=1)"},
        "f(x=1)",
        None,
    ],
)
def test_what_passes_is_the_same_object(given: Any) -> None:
    given = completion(given)
    told: list[Reading] = []
    assert recovered(given, on_recovery=told.append) is given
    assert told == []


@pytest.mark.parametrize("choices", [None, {}, "f(x=1)", 5, []])
def test_what_has_no_choices_passes(choices: Any) -> None:
    given = {"choices": choices, "error": "busy"}
    assert recovered(given) is given
    assert recovered({}) == {}


def test_an_empty_tool_calls_is_no_call() -> None:
    out = recovered(completion(choice("f(x=1)", tool_calls=[], function_call=None)))
    assert out == completion(choice(None, "tool_calls", tool_calls=[call(1)], function_call=None))


@pytest.mark.parametrize(
    "options",
    [
        {"tools": []},
        {"tool_choice": "none"},
        {"tool_choice": {"type": "function", "function": {"name": "g"}}},
        {"tool_choice": {"type": "function", "function": {"name": "gone"}}},
    ],
)
def test_the_request_is_honoured(options: Row) -> None:
    given = completion(choice("f(x=1)"))
    assert recovered(given, **options) is given


def test_several_calls_where_one_may_be_are_text_with_the_reason() -> None:
    given = completion(choice("[f(x=1), g()]"), choice("f(x=1)"))
    told: list[Reading] = []
    out = recovered(given, parallel_tool_calls=False, on_recovery=told.append)
    assert out["choices"][0] is given["choices"][0]
    assert out["choices"][1]["message"]["tool_calls"] == [call(1)]
    refusal = told[0].recovery.refusal
    assert refusal is not None
    assert refusal.reason is Reason.TOO_MANY_CALLS


def test_each_answer_is_told() -> None:
    told: list[Reading] = []
    recovered(completion(choice("f(x=1)"), choice("No."), choice("")), on_recovery=told.append)
    assert [(reading.answer, reading.recovery.status, reading.model) for reading in told] == [
        ("f(x=1)", "recovered", "m"),
        ("No.", "text", "m"),
    ]
    assert told[0].recovery == recover("f(x=1)", ["f", "g"])
    recovered({**completion(choice("f(x=1)")), "model": 5}, on_recovery=told.append)
    assert told[2].model is None


def test_reasoning_that_the_prompt_opened() -> None:
    given = completion(choice("f(x=1)"))
    assert recovered(given, reasoning_open=True) is given
    out = recovered(completion(choice("Hm.</think>f(x=1)")), reasoning_open=True)
    assert out["choices"][0]["message"]["content"] == "Hm.</think>"


@examples(300)
@given(st.lists(answers.flatmap(pieces), min_size=1, max_size=3), policies)
def test_whole_and_streaming_say_the_same(cuts: list[list[str]], policy: Policy) -> None:
    given = completion(*({**choice("".join(cut)), "index": index} for index, cut in enumerate(cuts)))
    whole = recovered(given, tools=TOOLS, policy=policy)
    told: list[Reading] = []
    items = [item for index, cut in enumerate(cuts) for item in chunks(cut, index=index)]
    streamed = join_chunks(
        list(recover_stream([{**item, "model": "m"} for item in items], TOOLS, policy=policy, on_recovery=told.append))
    )
    for index, out in enumerate(whole["choices"]):
        message = out["message"]
        assert streamed[index].text == (message["content"] or "")
        assert [name for name, _ in streamed[index].calls] == [
            made["function"]["name"] for made in message.get("tool_calls", ())
        ]
        assert streamed[index].reason == out["finish_reason"]
    again: list[Reading] = []
    recovered(given, tools=TOOLS, policy=policy, on_recovery=again.append)
    assert told == again


def test_a_stream_honours_the_request() -> None:
    given = chunks(["[f(x=1), ", "g()]"])
    told: list[Reading] = []
    out = list(recover_stream(given, ["f", "g"], commit="call", parallel_tool_calls=False, on_recovery=told.append))
    assert join_chunks(out)[0].text == "[f(x=1), g()]"
    assert [reading.recovery.refusal and reading.recovery.refusal.reason for reading in told] == [Reason.TOO_MANY_CALLS]
    assert list(recover_stream(given, ["f", "g"], tool_choice="none")) == given
    assert (
        list(recover_stream(chunks(["f(", ")"]), ["f", "g"], tool_choice={"type": "allowed_tools"}))[1:3]
        == (chunks(["f(", ")"])[1:3])
    )


@pytest.mark.parametrize("finish", ["length", None])
def test_a_cut_stream_is_not_told(finish: str | None) -> None:
    told: list[Reading] = []
    list(recover_stream(chunks(["f(x=1)"], finish), ["f"], on_recovery=told.append))
    assert told == []


@pytest.mark.parametrize("finish", [5, ["stop"], {"a": 1}])
@pytest.mark.parametrize("index", [None, "0", [1], {}])
def test_malformed_chunks_pass(finish: Any, index: Any) -> None:
    given = chunks(["f(x=1)"], finish)
    given[1]["choices"][0]["index"] = index
    out = list(recover_stream(given, ["f"]))
    said = "".join(item["choices"][0]["delta"].get("content", "") for item in out)
    assert said == "f(x=1)"


def message(*parts: Any, **fields: Any) -> Row:
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": list(parts),
        **fields,
    }


def said(text: Any, **fields: Any) -> Row:
    return {"type": "output_text", "text": text, "annotations": [], **fields}


def response(*output: Any, **fields: Any) -> Row:
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": list(output), **fields}


def item(number: int, arguments: str = '{"x": 1}', name: str = "f") -> Row:
    row = {"type": "function_call", "call_id": f"id_{number}", "name": name, "arguments": arguments}
    return {**row, "status": "completed"}


REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ([message(said("f(x=1)"))], [item(1)]),
        ([REASONING, message(said("[f(x=1), g()]"))], [REASONING, item(1), item(2, "{}", "g")]),
        ([message(said("f(x="), said("1)"))], [item(1)]),
        ([message(said("So.\n", logprobs=[]), said("f(x=1)"))], [message(said("So.\n", logprobs=[])), item(1)]),
        ([{"type": "web_search_call", "id": "ws_1"}, message(said("f(x=1)"))],
         [{"type": "web_search_call", "id": "ws_1"}, item(1)]),
    ],
)  # fmt: skip
def test_a_response(output: list[Any], expected: list[Any]) -> None:
    told: list[Reading] = []
    out = recovered(response(*output), recover_response, policy=Policy.lenient(), on_recovery=told.append)
    assert out == response(*expected)
    assert [(reading.recovery.status, reading.model) for reading in told] == [("recovered", "m")]


@pytest.mark.parametrize(
    "given",
    [
        response(message(said("f(x=1)")), item(7)),
        response(item(7), message(said("f(x=1)"))),
        response({"type": "custom_tool_call"}, message(said("f(x=1)"))),
        response({"type": "brand_new"}, message(said("f(x=1)"))),
        *(response(message(said("f(x=1)")), status=status) for status in ("incomplete", *CUT)),
        response(message(said("f(x=1)")), message(said("f(x=1)"))),
        response(message({"type": "refusal", "refusal": "No."}, said("f(x=1)"))),
        response(message(said("f(x=1)", annotations=[{"type": "url_citation"}]))),
        response(message(said("f(x=1)")), REASONING),
        response(message(said(5))),
        response(message()),
        response(message(None)),
        response({"type": "message", "content": "f(x=1)"}),
        response(None),
        response(["message"], message(said("f(x=1)"))),
        response({"type": ["message"]}, message(said("f(x=1)"))),
        response(),
        {"output": "f(x=1)", "status": "completed"},
        {"status": "completed"},
        {},
    ],
)
def test_a_response_that_passes(given: Any) -> None:
    told: list[Reading] = []
    assert recovered(given, recover_response, on_recovery=told.append) is given
    assert told == []


def test_a_response_honours_the_request() -> None:
    given = response(message(said("[f(x=1), g()]")))
    assert recovered(given, recover_response, parallel_tool_calls=False) is given
    assert recovered(given, recover_response, tool_choice={"type": "function", "name": "f"}) is given
    assert recovered(given, recover_response, tools=[]) is given


@pytest.mark.parametrize("function", [recover_completion, recover_response])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, ["f"], {}), "takes a dict or a pydantic object, not NoneType"),
        (([], ["f"], {}), "takes a dict or a pydantic object, not list"),
        (({}, "f", {}), "tools: pass a list of tools"),
        (({}, ["f"], {"policy": "strict"}), "policy must be a Policy"),
        (({}, ["f"], {"make_id": "id"}), "make_id must be a function, not str"),
        (({}, ["f"], {"on_recovery": 5}), "on_recovery must be a function, not int"),
    ],
)
def test_a_callers_mistake_is_told(function: Any, arguments: Any, message: str) -> None:
    given, tools, options = arguments
    with pytest.raises(TypeError, match=message):
        function(given, tools, **options)


def test_what_was_not_awaited_is_told() -> None:
    async def create() -> Row:
        return {}

    waiting: Any = create()
    with pytest.raises(TypeError, match="not coroutine: await it first"):
        recover_completion(waiting, ["f"])
    waiting.close()


def test_a_stream_wants_a_function_too() -> None:
    with pytest.raises(TypeError, match="on_recovery must be a function, not int"):
        recover_stream([], ["f"], on_recovery=5)  # type: ignore[call-overload]
