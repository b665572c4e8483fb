"""The base of values that never change: fields by slot, compared, hashed, shown and pickled by them.

What a frozen dataclass gives, without the import of `dataclasses`, which takes longer than all the rest of the
package. May import: nothing of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Self


class Frozen:
    """A subclass names its fields in `__slots__`, in the order of its constructor, and sets them by `_set`."""

    __slots__: tuple[str, ...] = ()

    def _set(self, *values: object) -> None:
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} never changes: can't set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} never changes: can't delete {name!r}")

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._values())

    def __copy__(self) -> Self:
        return self


def setters(cls: type[Frozen]) -> Iterator[Callable[[Frozen, object], None]]:
    """What sets each field of a value of this class, in their order: twice as quick as `_set` where there are many."""
    return (getattr(cls, name).__set__ for name in cls.__slots__)


def _restore(cls: type[Frozen], values: tuple[Any, ...]) -> Frozen:
    # Not by the constructor: what it was given and what it made of that can differ.
    value = cls.__new__(cls)
    value._set(*values)
    return value
