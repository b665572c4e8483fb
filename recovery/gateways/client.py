"""What the wrapped clients have in common: a copy of a client in which the answers of one method are recovered.

May import: the public names, `gateways.answer`, `gateways.log`, `gateways.request`, `gateways.whole`.
"""

from __future__ import annotations

import copy
import functools
import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar, get_args

from recovery import Policy, Toolset

from .answer import Commit
from .log import OnRecovery
from .request import goes_on, request_toolset
from .whole import check_function

C = TypeVar("C")

# What becomes of an answer, by the tools that its request offers and all else that stands there.
Adapt = Callable[[Any, Toolset, Mapping[str, Any]], Any]

_log: Final = logging.getLogger("recovery.gateways")


class Options:
    """How calls are recovered behind one client, whatever tools a request offers.

    `toolset` is for one request. `reading` are the options that the adapters of whole answers and of streams
    share. Raises `TypeError` or `ValueError` naming the option.
    """

    def __init__(
        self,
        *,
        policy: Policy | None,
        commit: Commit,
        reasoning_open: bool,
        aliases: Mapping[str, str] | None,
        never: Iterable[str],
        make_id: Callable[[], str] | None,
        on_recovery: OnRecovery | None,
    ) -> None:
        if commit not in get_args(Commit):
            raise ValueError(f"commit must be 'answer' or 'call', not {commit!r}")
        if not isinstance(aliases, Mapping | None):
            raise TypeError(f"aliases must map original to offered names, not be {type(aliases).__name__}")
        if isinstance(never, str) or not isinstance(never, Iterable):
            raise TypeError(f"never must be a collection of names, not {type(never).__name__}")
        check_function("make_id", make_id)
        check_function("on_recovery", on_recovery)
        self.commit: Commit = commit
        self.reading: dict[str, Any] = {
            "policy": Policy.of(policy),
            "reasoning_open": reasoning_open,
            "make_id": make_id,
            "on_recovery": on_recovery,
        }
        self._aliases = dict(aliases or {})
        self._never = frozenset(never)

    def toolset(self, tools: Iterable[object]) -> Toolset:
        """The tools of a request, none where they are of a shape that is not known: that is the service's to judge."""
        try:
            return request_toolset(tools, aliases=self._aliases, never=self._never)
        except (TypeError, ValueError) as error:
            _log.warning("the answer passes unread, for what tools the request offers is not known: %s", error)
            return Toolset([])


def twin_of(client: C, resources: Iterable[str], wrap: Callable[[C], C]) -> C:
    """A copy of the client, over the same connections, that has these resources for itself.

    `wrap` is for the copies that the client itself makes. Raises `TypeError` where it has no such resources.
    """
    twin = copy.copy(client)
    for name in resources:
        resource = getattr(client, name, None)
        if resource is None:
            raise TypeError(f"wrap takes a client of the library, not {type(client).__name__}: it has no {name!r}")
        setattr(twin, name, type(resource)(twin))
    for name in ("copy", "with_options"):
        setattr(twin, name, _wrapping(getattr(client, name), wrap))
    return twin


def adapt_method(resource: Any, name: str, options: Options, adapt: Adapt) -> None:
    """Let the method of this object, plain or async, give what `adapt` makes of its answers to requests with tools."""
    method = getattr(resource, name)

    @functools.wraps(method)
    def adapted(*args: Any, **request: Any) -> Any:
        for read_twice in ("tools", "messages", "input"):
            if isinstance(request.get(read_twice), Iterator):
                request[read_twice] = list(request[read_twice])
        answer = method(*args, **request)
        return later(answer, request) if inspect.isawaitable(answer) else now(answer, request)

    def now(answer: Any, request: Mapping[str, Any]) -> Any:
        is_read = not any(goes_on(request.get(name)) for name in ("messages", "input"))
        tools = options.toolset(request.get("tools") or () if is_read else ())
        return adapt(answer, tools, request) if len(tools) else answer

    async def later(answer: Any, request: Mapping[str, Any]) -> Any:
        return now(await answer, request)

    setattr(resource, name, adapted)


def _wrapping(method: Callable[..., C], wrap: Callable[[C], C]) -> Callable[..., C]:
    @functools.wraps(method)
    def wrapped(*args: Any, **options: Any) -> C:
        return wrap(method(*args, **options))

    return wrapped
