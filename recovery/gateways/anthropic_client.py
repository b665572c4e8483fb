"""Anthropic's client, with calls that the model wrote as text recovered: `wrap`.

May import: the public names, `gateways.answer`, `gateways.anthropic`, `gateways.client`, `gateways.items`,
`gateways.log`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from recovery import Policy, Toolset

from .answer import Commit
from .anthropic import recover_message, recover_stream
from .client import Options, adapt_method, twin_of
from .items import is_item
from .log import OnRecovery

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

    `client`: an `Anthropic`, an `AsyncAnthropic`, or a client of a class of these. All arguments are as for
    `openai_client.wrap`, and what comes back is a copy too.

    - `messages.create` gives what `recover_message` makes of its answer, with `stream=True` what `recover_stream` does
      (with the `response` of the client's own stream). `tool_choice` of the request is honoured.
    - The answer passes where the last message of the request is the model's own: it may be the end of that one alone.
    - All else of the client is as ever, also the helper `messages.stream`, `beta`, and the raw responses, which hold
      what came.
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
    twin = twin_of(client, ("messages",), partial(_wrapped, options=options))
    resources: Any = twin
    adapt_method(resources.messages, "create", options, partial(_created, options))
    return twin


def _created(options: Options, answer: Any, tools: Toolset, request: Mapping[str, Any]) -> Any:
    choice = request.get("tool_choice")
    if is_item(answer):
        return recover_message(answer, tools, tool_choice=choice, **options.reading)
    # Neither of these is a raw response.
    if isinstance(answer, AsyncIterable | Iterable):
        return recover_stream(answer, tools, commit=options.commit, tool_choice=choice, **options.reading)
    return answer
