"""An iterator, plain or async, of what an adapter makes of another iterator's items.

The adapter is fed and asked; it knows nothing of iterators, so there is one for both kinds. May import:
`gateways.items`.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, Generic, NoReturn, Protocol, Self, TypeVar

from .items import is_item

T = TypeVar("T")


class Adapter(Protocol):
    """What goes out for each item that came in, and at the end of them, whether it came in good order or not."""

    def feed(self, item: Any, /) -> list[Any]: ...

    def end(self) -> list[Any]: ...


class Untouched:
    """The adapter where no tools are offered."""

    def feed(self, item: Any) -> list[Any]:
        return [item]

    def end(self) -> list[Any]:
        return []


class _Adapted(Generic[T]):
    """What both kinds have in common: items that are ready, and how it ended upstream."""

    def __init__(self, upstream: object, adapter: Adapter) -> None:
        self._upstream = upstream
        self._adapter = adapter
        self._ready: deque[T] = deque()
        self._taken = 0
        self._over = False
        self._error: Exception | None = None

    @property
    def response(self) -> Any:
        """What the client's own stream has under this name: the HTTP response. `AttributeError` where it has none."""
        return self._upstream.response  # type: ignore[attr-defined]

    def _take(self, item: T) -> None:
        self._taken += 1
        if not is_item(item):
            raise TypeError(
                f"recover_stream: item {self._taken} is {type(item).__name__}, neither a dict nor a pydantic object"
            )
        self._ready.extend(self._adapter.feed(item))

    def _end(self, error: Exception | None = None) -> None:
        # Once: an adapter that failed in `end` is not asked again.
        self._over, self._error = True, error
        self._ready.extend(self._adapter.end())

    def _abandon(self) -> None:
        self._over, self._error = True, None
        self._ready.clear()

    def _raise(self, stop: Exception) -> NoReturn:
        error, self._error = self._error, None
        raise stop if error is None else error


class AdaptedIterator(_Adapted[T], Iterator[T]):
    """The items as the adapter gives them.

    What the upstream iterator raises comes when all that was held has gone out. `close`, or leaving the `with` block,
    closes the upstream iterator, and gives nothing more.
    """

    def __init__(self, upstream: Iterable[T], adapter: Adapter) -> None:
        super().__init__(upstream, adapter)
        self._items = iter(upstream)

    def __next__(self) -> T:
        while not self._ready:
            if self._over:
                self._raise(StopIteration())
            try:
                item = next(self._items)
            except StopIteration:
                self._end()
            except Exception as error:  # noqa: BLE001  # raised again behind what was held
                self._end(error)
            else:
                self._take(item)
        return self._ready.popleft()

    def close(self) -> None:
        self._abandon()
        for closing in _closings(self._items, self._upstream, "close"):
            closing()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncAdaptedIterator(_Adapted[T], AsyncIterator[T]):
    """As `AdaptedIterator`; `aclose`, also named `close`, and `async with` close the upstream iterator."""

    def __init__(self, upstream: AsyncIterable[T], adapter: Adapter) -> None:
        super().__init__(upstream, adapter)
        self._items = aiter(upstream)

    async def __anext__(self) -> T:
        while not self._ready:
            if self._over:
                self._raise(StopAsyncIteration())
            try:
                item = await anext(self._items)
            except StopAsyncIteration:
                self._end()
            except Exception as error:  # noqa: BLE001  # raised again behind what was held
                self._end(error)
            else:
                self._take(item)
        return self._ready.popleft()

    async def aclose(self) -> None:
        self._abandon()
        for closing in _closings(self._items, self._upstream, "aclose", "close"):
            done = closing()
            if inspect.isawaitable(done):
                await done

    # The name that the clients' own streams have for it.
    close = aclose

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _closings(items: object, upstream: object, *names: str) -> Iterator[Any]:
    """What closes the iterator and what it was made from, by the first of the names that each has."""
    for closed in (items,) if items is upstream else (items, upstream):
        methods = [getattr(closed, name) for name in names if hasattr(closed, name)]
        yield from methods[:1]


def adapt(upstream: object, adapter: Adapter) -> Any:
    """An iterator of the kind that `upstream` is. Raises `TypeError` where it is none."""
    if isinstance(upstream, AsyncIterable):
        return AsyncAdaptedIterator(upstream, adapter)
    if isinstance(upstream, Iterable) and not isinstance(upstream, dict | str | bytes):
        return AdaptedIterator(upstream, adapter)
    hint = ": await it first" if inspect.isawaitable(upstream) else ""
    raise TypeError(f"recover_stream takes an iterator, plain or async, not {type(upstream).__name__}{hint}")
