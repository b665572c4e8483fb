"""A `call_model` for endpoints that speak the API of OpenAI or of Anthropic, on their own client libraries.

Every model is shown the same tools and the same system prompt; what was sent is hashed from the request itself. May
import: `grading.calling`, `grading.fingerprint`, `grading.provenance`, the public names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from recovery import Toolset

from .calling import Reply
from .fingerprint import NO_ARGUMENTS, bytes_digest, sent_tools, tools_digest
from .provenance import ModelEntry, Stimulus

ToolChoice = Literal["auto", "required", "none"]

# What the request says besides; parameters of a model must not.
_OWN: Final = frozenset(("model", "messages", "system", "tools", "tool_choice", "stream", "n"))
_KEYS: Final = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_ANTHROPIC_CHOICE: Final = {"auto": "auto", "required": "any", "none": "none"}
# Anthropic's API wants one.
_MAX_TOKENS: Final = 1024


class EndpointError(ValueError):
    """An endpoint that can't be asked as it is described: its key or its client library is missing."""


class Endpoint(BaseModel):
    """Where a model is, and what is sent to it besides the question and the tools."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    api: Literal["openai", "anthropic"] = "openai"
    # As the endpoint calls it; by default the name it has in the run.
    model: str | None = None
    # By default the client library's own, which is the service itself.
    base_url: str | None = None
    # The environment variable that holds the key. By default the library's own; for another `base_url` no key is sent.
    key_env: str | None = None
    # Of the request: temperature, max_tokens, seed and so on; what doesn't stand here is not sent.
    parameters: dict[str, Any] = {}
    # For the record: who runs it, by which server and quantisation, and when it is withdrawn.
    provider: str | None = None
    engine: str | None = None
    deprecated_on: date | None = None

    @field_validator("parameters")
    @classmethod
    def _leaves_the_rest(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        if own := sorted(_OWN & set(parameters)):
            raise ValueError(f"{', '.join(own)}: the same for all models, and not to be set for one")
        return parameters


def load_endpoints(path: str | Path) -> dict[str, Endpoint]:
    """The endpoints of a file, YAML or JSON: an object, by name in the run. Raises `EndpointError` naming the place."""
    try:
        # JSON is YAML.
        given = yaml.safe_load(Path(path).read_bytes())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise EndpointError(f"{path}: can't be read: {' '.join(str(error).split())}") from None
    if not isinstance(given, dict) or not given:
        raise EndpointError(f"{path}: expected an object, the name of a model to its endpoint")
    found = {}
    for name, fields in given.items():
        if not isinstance(name, str) or not name:
            raise EndpointError(f"{path}: {name!r}: the name of a model must be a text")
        try:
            found[name] = Endpoint.model_validate({} if fields is None else fields)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            place = ".".join(map(str, (name, *fault["loc"])))
            raise EndpointError(f"{path}: {place}: {fault['msg'].removeprefix('Value error, ')}") from None
    return found


class Endpoints:
    """A `call_model(model, query)`, asynchronous, for these models. Use one in one event loop at a time.

    `endpoints`: by the name that a model has in the run. `tools`: what all of them are offered, in any shape that
    `Toolset` takes. Retries are the run's: the client libraries' own are off, so that each one is counted. Raises
    `EndpointError` for a key or a library that is missing.
    """

    def __init__(
        self,
        endpoints: Mapping[str, Endpoint],
        tools: Toolset | Iterable[object],
        *,
        system: str | None = None,
        tool_choice: ToolChoice | None = None,
    ) -> None:
        self.endpoints: Final = dict(endpoints)
        self.tools: Final = Toolset.of(tools)
        self._system = system
        self._tool_choice = tool_choice
        self._clients: dict[tuple[str, str | None, str | None], Any] = {}
        for name, endpoint in self.endpoints.items():
            _key(name, endpoint)
            _library(name, endpoint)

    def stimulus(self) -> Stimulus:
        """What every model is shown."""
        return Stimulus(
            tools_sha256=tools_digest(self.tools),
            system_sha256=None if self._system is None else bytes_digest(self._system.encode()),
            tool_choice=self._tool_choice or "not sent",
            tools_as="sent",
        )

    def describe(self, model: str) -> ModelEntry:
        """What is known of a model before it answers."""
        endpoint = self.endpoints[model]
        parameters = dict(endpoint.parameters)
        if endpoint.api == "anthropic":
            parameters = {"max_tokens": _MAX_TOKENS, **parameters}
        return ModelEntry(
            name=model,
            requested=endpoint.model or model,
            host=urlsplit(endpoint.base_url).netloc.rpartition("@")[2] if endpoint.base_url else f"{endpoint.api} API",
            provider=endpoint.provider or endpoint.api,
            engine=endpoint.engine,
            parameters=parameters,
            deprecated_on=endpoint.deprecated_on,
        )

    def endpoint_of(self, model: str) -> str:
        """By what calls are limited: one server has one limit, however many models it serves."""
        endpoint = self.endpoints[model]
        return f"{endpoint.api} {endpoint.base_url}"

    async def __call__(self, model: str, query: str) -> Reply:
        endpoint = self.endpoints[model]
        ask = self._ask_openai if endpoint.api == "openai" else self._ask_anthropic
        raw = await ask(endpoint, endpoint.model or model, query)
        answer = json.loads(raw.http_response.content)
        if not isinstance(answer, dict):
            raise ValueError(f"the endpoint answered with {type(answer).__name__}, not with an object")
        sent = sent_tools(raw.http_response.request.content)
        usage = answer.get("usage")
        return Reply(
            answer,
            returned_model=_text(answer.get("model")),
            fingerprint=_text(answer.get("system_fingerprint")),
            tools_sha256=tools_digest(json.loads(sent) if sent else []),
            tools_bytes_sha256=bytes_digest(sent or b""),
            tokens={name: count for name, count in (usage or {}).items() if isinstance(count, int)},
        )

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.close()

    async def _ask_openai(self, endpoint: Endpoint, model: str, query: str) -> Any:
        request: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": query}]}
        if self._system is not None:
            request["messages"].insert(0, {"role": "system", "content": self._system})
        if self.tools.tools:
            request["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters or NO_ARGUMENTS,
                    },
                }
                for tool in self.tools.tools
            ]
            if self._tool_choice is not None:
                request["tool_choice"] = self._tool_choice
        client = self._client(endpoint)
        return await client.chat.completions.with_raw_response.create(**request, extra_body=endpoint.parameters)

    async def _ask_anthropic(self, endpoint: Endpoint, model: str, query: str) -> Any:
        request: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "user", "content": query}],
            "max_tokens": endpoint.parameters.get("max_tokens", _MAX_TOKENS),
        }
        if self._system is not None:
            request["system"] = self._system
        if self.tools.tools:
            request["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters or NO_ARGUMENTS,
                }
                for tool in self.tools.tools
            ]
            if self._tool_choice is not None:
                request["tool_choice"] = {"type": _ANTHROPIC_CHOICE[self._tool_choice]}
        client = self._client(endpoint)
        return await client.messages.with_raw_response.create(**request, extra_body=endpoint.parameters)

    def _client(self, endpoint: Endpoint) -> Any:
        place = (endpoint.api, endpoint.base_url, endpoint.key_env)
        if place not in self._clients:
            library = _library(endpoint.api, endpoint)
            make = library.AsyncOpenAI if endpoint.api == "openai" else library.AsyncAnthropic
            key = _key(endpoint.api, endpoint)
            self._clients[place] = make(api_key=key, base_url=endpoint.base_url, max_retries=0)
        return self._clients[place]


def _key(name: str, endpoint: Endpoint) -> str:
    if endpoint.key_env is None and endpoint.base_url is not None:
        # The key of the service is nothing that another server should see; most local ones want none.
        return "none"
    variable = endpoint.key_env or _KEYS[endpoint.api]
    key = os.environ.get(variable)
    if not key:
        raise EndpointError(f"{name}: the environment variable {variable} holds no key")
    return key


def _library(name: str, endpoint: Endpoint) -> Any:
    try:
        if endpoint.api == "openai":
            import openai

            return openai
        import anthropic
    except ModuleNotFoundError as missing:
        if missing.name != endpoint.api:
            raise
        raise EndpointError(f"{name}: needs the client library: pip install 'recovery[{endpoint.api}]'") from None
    return anthropic


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
