"""The real client libraries against a server on loopback: what is sent, what is hashed, what an answer keeps."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("pydantic")
pytest.importorskip("openai")
pytest.importorskip("anthropic")

from pydantic import ValidationError

from recovery.grading import Case, run_matrix
from recovery.grading.calling import Asked, Reply, ask
from recovery.grading.endpoints import Endpoint, EndpointError, Endpoints
from recovery.grading.fingerprint import bytes_digest, tools_digest
from recovery.grading.outcome import Ungraded
from recovery.grading.report import report_of
from recovery.grading.verdict import Kind
from tests.grading.server import Service, completion, message, serving, tool_call

SCHEMA = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}
TOOLS = [{"name": "weather", "description": "Of a city – today.", "inputSchema": SCHEMA}, "noon"]


def answering(path: str, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    if path == "/v1/chat/completions":
        return 200, completion(body["model"], tool_calls=tool_call("weather", {"city": "Oslo"})), {}
    use = {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Oslo"}}
    return 200, message(body["model"], use), {}


def put(endpoints: Endpoints, model: str, **more: Any) -> Asked:
    async def once() -> Asked:
        try:
            return await ask(endpoints, model, "Weather in Oslo?", **{"timeout": 5.0, "retries": 0, **more})
        finally:
            await endpoints.aclose()

    return asyncio.run(once())


def of(service: Service, **more: Any) -> dict[str, Endpoint]:
    return {
        "one": Endpoint(base_url=f"{service.address}/v1", **more),
        "two": Endpoint(base_url=service.address, api="anthropic", model="two-latest", **more),
    }


def test_both_clients_send_the_same_tools_and_the_hashes_are_of_what_was_sent() -> None:
    with serving(answering) as service:
        endpoints = Endpoints(of(service), TOOLS, system="Be brief.")
        replies = [put(endpoints, name).reply for name in endpoints.endpoints]
    one, two = service.received
    assert one.body["tools"] == [
        {
            "type": "function",
            "function": {"name": "weather", "description": "Of a city – today.", "parameters": SCHEMA},
        },
        {
            "type": "function",
            "function": {"name": "noon", "description": "", "parameters": {"type": "object", "properties": {}}},
        },
    ]
    assert [tool["name"] for tool in two.body["tools"]] == ["weather", "noon"]
    assert one.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather in Oslo?"},
    ]
    assert (two.body["system"], two.body["model"], two.body["max_tokens"]) == ("Be brief.", "two-latest", 1024)
    for received, reply in zip(service.received, replies, strict=True):
        assert reply.tools_sha256 == tools_digest(TOOLS) == endpoints.stimulus().tools_sha256
        # The bytes themselves stand in the request.
        start = received.raw.index(b'"tools":') + len(b'"tools":')
        sent = json.loads(received.raw)["tools"]
        found = next(
            received.raw[start:end]
            for end in range(start + 1, len(received.raw) + 1)
            if bytes_digest(received.raw[start:end]) == reply.tools_bytes_sha256
        )
        assert json.loads(found) == sent


def test_an_answer_keeps_what_the_endpoint_said_of_itself() -> None:
    with serving(answering) as service:
        endpoints = Endpoints(of(service), TOOLS)
        one, two = (put(endpoints, name).reply for name in endpoints.endpoints)
    assert isinstance(one, Reply)
    assert (one.returned_model, one.fingerprint) == ("one-0101", "fp_1")
    assert one.answer == completion("one", tool_calls=tool_call("weather", {"city": "Oslo"}))
    assert (two.returned_model, two.fingerprint) == ("two-latest-0101", None)
    assert one.tokens == {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    assert two.tokens == {"input_tokens": 10, "output_tokens": 5}


def test_parameters_are_sent_and_described_and_nothing_else_is() -> None:
    with serving(answering) as service:
        endpoints = Endpoints(
            of(service, parameters={"temperature": 0.5, "top_k": 3, "max_tokens": 64}), TOOLS, tool_choice="required"
        )
        for name in endpoints.endpoints:
            put(endpoints, name)
    for received in service.received:
        assert (received.body["temperature"], received.body["top_k"], received.body["max_tokens"]) == (0.5, 3, 64)
    one, two = service.received
    assert (one.body["tool_choice"], two.body["tool_choice"]) == ("required", {"type": "any"})
    assert set(one.body) == {"model", "messages", "tools", "tool_choice", "temperature", "top_k", "max_tokens"}
    assert endpoints.describe("one").parameters == {"temperature": 0.5, "top_k": 3, "max_tokens": 64}
    assert endpoints.stimulus().tool_choice == "required"


def test_what_is_not_given_is_not_sent_and_said_so() -> None:
    with serving(answering) as service:
        endpoints = Endpoints(of(service), [])
        put(endpoints, "one")
    assert set(service.received[0].body) == {"model", "messages"}
    assert endpoints.stimulus().tool_choice == "not sent"
    assert endpoints.describe("one").parameters == {}
    assert endpoints.describe("two").parameters == {"max_tokens": 1024}
    assert endpoints.describe("one").host == service.address.removeprefix("http://")


@pytest.mark.parametrize("name", ["one", "two"])
def test_the_clients_own_retries_are_off(name: str) -> None:
    with serving(lambda *_: (429, {"error": {"message": "slow down"}}, {"retry-after": "0.01"})) as service:
        asked = put(Endpoints(of(service), TOOLS), name)
        assert (asked.ungraded, asked.attempts, len(service.received)) == (Ungraded.TRANSPORT, 1, 1)
        asked = put(Endpoints(of(service), TOOLS), name, retries=2, backoff=0.001)
        assert (asked.ungraded, asked.attempts, len(service.received)) == (Ungraded.TRANSPORT, 3, 4)


@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (400, {"error": {"message": "no such parameter"}}, Ungraded.CALL_ERROR),
        (401, {"error": {"message": "bad key"}}, Ungraded.CALL_ERROR),
        (500, {"error": {"message": "overloaded"}}, Ungraded.TRANSPORT),
        (200, b"<html>a proxy's page</html>", Ungraded.CALL_ERROR),
        (200, b"[]", Ungraded.CALL_ERROR),
    ],
)
def test_a_fault_of_the_endpoint_is_one_cell_s(name: str, status: int, body: Any, reason: Ungraded) -> None:
    with serving(lambda *_: (status, body, {})) as service:
        asked = put(Endpoints(of(service), TOOLS), name)
    assert (asked.ungraded, asked.attempts) == (reason, 1)
    assert asked.problem


def test_a_server_that_is_not_there_is_a_fault_of_the_transport() -> None:
    with serving(answering) as service:
        pass
    asked = put(Endpoints(of(service), TOOLS), "one", retries=1, backoff=0.001)
    assert (asked.ungraded, asked.attempts) == (Ungraded.TRANSPORT, 2)


def test_the_key_of_a_service_is_not_sent_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the-service's")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the-service's")
    monkeypatch.setenv("MINE", "my-own")
    with serving(answering) as service:
        for more in ({}, {"key_env": "MINE"}):
            endpoints = Endpoints(of(service, **more), TOOLS)
            for name in endpoints.endpoints:
                put(endpoints, name)
    sent = [json.dumps(received.headers) for received in service.received]
    assert not any("the-service" in headers for headers in sent)
    assert ["my-own" in headers for headers in sent] == [False, False, True, True]


def test_a_missing_key_is_told_before_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EndpointError, match=r"^gpt: .* OPENAI_API_KEY holds no key"):
        Endpoints({"gpt": Endpoint()}, TOOLS)
    with pytest.raises(EndpointError, match="NO_SUCH_KEY"):
        Endpoints({"local": Endpoint(base_url="http://127.0.0.1/v1", key_env="NO_SUCH_KEY")}, TOOLS)


def test_what_is_the_same_for_all_is_not_set_for_one() -> None:
    with pytest.raises(ValidationError, match="tools: the same for all models"):
        Endpoint(parameters={"tools": [], "temperature": 0})


def test_one_server_has_one_limit() -> None:
    one, two = Endpoint(base_url="http://a/v1"), Endpoint(base_url="http://b/v1")
    endpoints = Endpoints({"x": one, "y": one, "z": two}, [])
    assert endpoints.endpoint_of("x") == endpoints.endpoint_of("y") != endpoints.endpoint_of("z")


def test_a_run_of_both_apis_shows_the_same_tools_in_other_bytes_and_is_valid() -> None:
    cases = [Case("Weather in Oslo?", "weather", {"city": "Oslo"})]
    with serving(answering) as service:
        run = run_matrix(cases, ["one", "two"], Endpoints(of(service), TOOLS), repeats=2)
    one, two = run.block.models
    assert one.tools_sha256 == two.tools_sha256 == tools_digest(TOOLS)
    assert one.tools_bytes_sha256 != two.tools_bytes_sha256
    assert report_of(run).verdict.kind is Kind.NO_FAILURE  # type: ignore[union-attr]


def test_a_model_that_never_answered_is_not_said_to_have_been_shown_other_tools() -> None:
    def half(path: str, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        return answering(path, body) if path == "/v1/chat/completions" else (400, {}, {})

    with serving(half) as service:
        run = run_matrix([Case("Hello!")], ["one", "two"], Endpoints(of(service), TOOLS), repeats=2)
    verdict = report_of(run).verdict
    assert verdict is not None
    assert verdict.kind is Kind.INVALID_RUN
    assert verdict.reasons == ("2 of the 2 cells of two are ungraded, more than 5%",)
