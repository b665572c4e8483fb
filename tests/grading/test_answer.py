from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from recovery.grading import Answer, NativeCall

FUNCTION = {"name": "f", "arguments": '{"a": 1}'}
CALL = NativeCall("f", '{"a": 1}')


def completion(finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "model": "m-2026",
        "system_fingerprint": "fp",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", **message}}],
    }


def anthropic(*content: Any, stop_reason: str = "end_turn") -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "model": "c", "content": list(content), "stop_reason": stop_reason}


def response(*output: Any, **more: Any) -> dict[str, Any]:
    return {"object": "response", "model": "r", "output": list(output), **more}


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (None, Answer()),
        ("f(a=1)", Answer(text="f(a=1)")),
        (("f", {"a": 1}), Answer((NativeCall("f", {"a": 1}),))),
        (("f", None), Answer((NativeCall("f"),))),
        ((None, None), Answer()),
        ((None, {}), Answer()),
        ((None, ""), Answer()),
        ([("f", 1), ("g", 2)], Answer((NativeCall("f", 1), NativeCall("g", 2)))),
        ([], Answer()),
        ({"role": "assistant", "content": "hi", "tool_calls": None}, Answer(text="hi")),
        (
            {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": FUNCTION}]},
            Answer((CALL,)),
        ),
        ({"role": "assistant", "content": "", "function_call": FUNCTION}, Answer((CALL,))),
        ({"role": "assistant", "content": None, "refusal": "I can't."}, Answer(refusal=True)),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            Answer(text="ab"),
        ),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, Answer(refusal=True)),
        # promptfoo PR#10076, #10649, #499: entries without `function`, with a null one, a single object, no list
        ({"role": "assistant", "tool_calls": [{"id": "x"}]}, Answer((NativeCall(""),))),
        ({"role": "assistant", "tool_calls": [{"function": None}]}, Answer((NativeCall(""),))),
        ({"role": "assistant", "tool_calls": [None]}, Answer((NativeCall(""),))),
        ({"role": "assistant", "tool_calls": {"function": FUNCTION}}, Answer((CALL,))),
        ({"role": "assistant", "tool_calls": [FUNCTION]}, Answer((CALL,))),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": 5, "arguments": {}}}]},
            Answer((NativeCall("", {}),)),
        ),
        (
            {"role": "assistant", "tool_calls": [{"type": "custom", "custom": {"name": "f", "input": "x"}}]},
            Answer((NativeCall("f", "x"),)),
        ),
        (completion(content="hi"), Answer(text="hi", returned_model="m-2026", fingerprint="fp")),
        (
            completion("length", content="f(a="),
            Answer(text="f(a=", truncated=True, returned_model="m-2026", fingerprint="fp"),
        ),
        (completion("content_filter", content=""), Answer(refusal=True, returned_model="m-2026", fingerprint="fp")),
        (
            {"message": {"role": "assistant", "content": "f("}, "finish_reason": "length"},
            Answer(text="f(", truncated=True),
        ),
        (anthropic({"type": "text", "text": "hi"}), Answer(text="hi", returned_model="c")),
        (
            anthropic({"type": "thinking", "thinking": "f(a=2)"}, {"type": "tool_use", "name": "f", "input": {"a": 1}}),
            Answer((NativeCall("f", {"a": 1}),), returned_model="c"),
        ),
        (anthropic({"type": "server_tool_use", "name": "web", "input": {}}), Answer(returned_model="c")),
        (anthropic(stop_reason="refusal"), Answer(refusal=True, returned_model="c")),
        (
            anthropic({"type": "text", "text": "f("}, stop_reason="max_tokens"),
            Answer(text="f(", truncated=True, returned_model="c"),
        ),
        (response({"type": "function_call", **FUNCTION}), Answer((CALL,), returned_model="r")),
        (
            response({"type": "custom_tool_call", "name": "f", "input": "{}"}),
            Answer((NativeCall("f", "{}"),), returned_model="r"),
        ),
        (
            response(
                {"type": "reasoning", "summary": []},
                {"type": "message", "content": [{"type": "output_text", "text": "f("}]},
                incomplete_details={"reason": "max_output_tokens"},
            ),
            Answer(text="f(", truncated=True, returned_model="r"),
        ),
        (
            response({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}),
            Answer(refusal=True, returned_model="r"),
        ),
    ],
)
def test_what_call_model_may_return(returned: Any, expected: Answer) -> None:
    answer = Answer.of(returned)
    assert answer == expected
    assert Answer.of(answer) is answer
    again = json.loads(json.dumps(answer.to_json(), allow_nan=False))
    assert Answer.of(again) == expected


def test_objects_are_read_as_dicts_are() -> None:
    function = SimpleNamespace(name="f", arguments='{"a": 1}')
    message = SimpleNamespace(role="assistant", content=None, tool_calls=[SimpleNamespace(function=function)])
    assert Answer.of(message) == Answer((CALL,))
    choice = SimpleNamespace(message=message, finish_reason="tool_calls")
    assert Answer.of(SimpleNamespace(choices=[choice], model="m")) == Answer((CALL,), returned_model="m")


def test_the_objects_of_openai() -> None:
    pytest.importorskip("openai")
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

    given = completion("tool_calls", tool_calls=[{"id": "1", "type": "function", "function": FUNCTION}])
    found = ChatCompletion.model_validate({"id": "x", "created": 0, **given})
    answer = Answer.of(found)
    assert (answer.calls, answer.returned_model) == ((CALL,), "m-2026")
    assert Answer.of(found.choices[0].message).calls == (CALL,)
    assert Answer.of(json.loads(json.dumps(answer.to_json()))) == answer
    item = {"type": "function_call", "call_id": "1", **FUNCTION}
    made = Response.model_construct(**response(item))
    assert Answer.of(made).calls == (CALL,)


def test_the_objects_of_anthropic() -> None:
    pytest.importorskip("anthropic")
    from anthropic.types import Message

    given = anthropic({"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}}, stop_reason="tool_use")
    usage = {"input_tokens": 1, "output_tokens": 1}
    answer = Answer.of(Message.model_validate({"id": "x", "usage": usage, **given}))
    assert answer == Answer((NativeCall("f", {"a": 1}),), returned_model="c")
    assert Answer.of(json.loads(json.dumps(answer.to_json()))) == answer


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (5, "no answer: 5"),
        ({}, "no answer: {}"),
        ({"error": {"message": "no such model"}}, "no answer"),
        (("f",), r"\(tool_name, raw_args\), not 1"),
        ((5, {}), "name of a tool must be a str"),
        ((None, {"a": 1}), "no arguments"),
        ((None, 0), "no arguments"),
        ({"choices": []}, "0 choices"),
        ({"object": "chat.completion", "choices": None}, "no choices"),
        ({"choices": [{"message": {}}, {"message": {}}]}, "2 choices"),
    ],
)
def test_what_is_no_answer_is_a_fault_of_the_caller(returned: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        Answer.of(returned)


def test_what_json_can_not_hold_is_stored_as_what_it_looks_like() -> None:
    assert Answer.of(("f", {"a": float("nan")})).to_json() == {"tool_name": "f", "raw_args": "{'a': nan}"}
