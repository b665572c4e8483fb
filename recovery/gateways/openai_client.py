"""OpenAI's client, with calls that the model wrote as text recovered: `wrap`.

May import: the public names, `gateways.answer`, `gateways.client`, `gateways.items`, `gateways.log`, `gateways.openai`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from recovery import Policy, Toolset

from .answer import Commit
from .client import Options, adapt_method, twin_of
from .items import is_item
from .log import OnRecovery
from .openai import recover_completion, recover_response, recover_stream

C = TypeVar("C")


def wrap(
    client: C,
    *,
    policy: Policy | None = None,
    commit: Commit = "answer",
    reasoning_open: bool = False,
    aliases: Mapping[str, str] | None = None,
    never: Iterable[str] = (),
    make_id: Callable[[], str] | None = None,
    on_recovery: OnRecovery | None = None,
) -> C:
    """The client, with written calls of the tools that a request offers in place of their text.

    `client`: an `OpenAI`, an `AsyncOpenAI`, or a client of a class of these. What comes back is a copy of it, of the
    same class and over the same connections; `client` itself stays as it is. `policy` and `reasoning_open` are as for
    `recover`, `commit` as for `Stream`. `aliases` and `never` are as for `Toolset`; of these each request has those
    that are about a tool it offers. `make_id` and `on_recovery` are as for `recover_completion`.

    - `chat.completions.create` gives what `recover_completion` makes of its answer, with `stream=True` what
      `recover_stream` does (with the `response` of the client's own stream); the helper `chat.completions.stream` rests
      on it. `responses.create` gives what `recover_response` makes of its answer, where that is no stream.
    - `tool_choice` and `parallel_tool_calls` of the request are honoured.
    - The answer passes where the last message of the request is the model's own: it may be the end of that one alone.
    - All else of the client is as ever, also `chat.completions.parse`, and the raw responses, which hold what came.
    - A request with tools of a shape that is not known is logged (logger `recovery.gateways`), and its answer passes.

    Raises `TypeError` or `ValueError` naming the argument.
    """
    options = Options(
        policy=policy,
        commit=commit,
        reasoning_open=reasoning_open,
        aliases=aliases,
        never=never,
        make_id=make_id,
        on_recovery=on_recovery,
    )
    return _wrapped(client, options)


def _wrapped(client: C, options: Options) -> C:
    twin = twin_of(client, ("chat", "responses"), partial(_wrapped, options=options))
    resources: Any = twin
    adapt_method(resources.chat.completions, "create", options, partial(_completed, options))
    adapt_method(resources.responses, "create", options, partial(_responded, options))
    return twin


def _completed(options: Options, answer: Any, tools: Toolset, request: Mapping[str, Any]) -> Any:
    if is_item(answer):
        return recover_completion(answer, tools, **_choosing(request), **options.reading)
    # Neither of these is a raw response.
    if isinstance(answer, AsyncIterable | Iterable):
        return recover_stream(answer, tools, commit=options.commit, **_choosing(request), **options.reading)
    return answer


def _responded(options: Options, answer: Any, tools: Toolset, request: Mapping[str, Any]) -> Any:
    return recover_response(answer, tools, **_choosing(request), **options.reading) if is_item(answer) else answer


def _choosing(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: request.get(name) for name in ("tool_choice", "parallel_tool_calls")}
