"""What a gateway's own configuration says of recovery: read once, and held to the tools of each request.

May import: the public names, `gateways.answer`, `gateways.request`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, get_args

from recovery import Policy, Toolset

from .answer import Commit
from .request import request_toolset

_PRESETS: Final[dict[str, Callable[[], Policy]]] = {
    "strict": Policy.strict,
    "default": Policy.default,
    "lenient": Policy.lenient,
}


class Options(NamedTuple):
    """How written calls are recovered in one gateway, whatever tools a request offers."""

    policy: Policy
    commit: Commit
    reasoning_open: bool
    # For every request: of these, those hold whose tool it offers.
    aliases: Mapping[str, str]
    never: frozenset[str]

    @classmethod
    def of(cls, given: object, place: str) -> Options:
        """The options that a mapping of these names holds, each of which may be left out.

        `policy`: "strict", "default" (which holds where none is given), "lenient", or a list of allowances. `commit`:
        "answer" or "call". `reasoning_open`: as for `recover`. `aliases`: original name to offered name. `never`: names
        of tools of which a written call is never made.

        Raises `TypeError` or `ValueError` that begins with `place` and names the option.
        """
        if not isinstance(given, Mapping):
            raise TypeError(f"{place}: expected a mapping of options, got {type(given).__name__}")
        for name in given:
            if name not in cls._fields:
                raise ValueError(f"{place}: there is no option {name!r}; known are {', '.join(cls._fields)}")
        commit = given.get("commit", "answer")
        if commit not in get_args(Commit):
            raise ValueError(f"{place}: commit must be 'answer' or 'call', not {commit!r}")
        reasoning_open = given.get("reasoning_open", False)
        if not isinstance(reasoning_open, bool):
            raise TypeError(f"{place}: reasoning_open must be true or false, not {reasoning_open!r}")
        aliases = given.get("aliases") or {}
        if not isinstance(aliases, Mapping) or not _are_names(name for pair in aliases.items() for name in pair):
            raise TypeError(f"{place}: aliases must map original names to offered names, not {aliases!r}")
        never = given.get("never") or ()
        if isinstance(never, str) or not isinstance(never, Iterable) or not _are_names(never):
            raise TypeError(f"{place}: never must be a list of names, not {never!r}")
        policy = _policy(given.get("policy", "default"), place)
        return cls(policy, commit, reasoning_open, dict(aliases), frozenset(never))

    def toolset(self, tools: Iterable[object]) -> Toolset:
        """The tools of one request, with what the options say of them. Raises as `Toolset` does."""
        return request_toolset(tools, aliases=self.aliases, never=self.never)


def _are_names(given: Iterable[object]) -> bool:
    return all(isinstance(name, str) for name in given)


def _policy(given: object, place: str) -> Policy:
    if isinstance(given, Policy):
        return given
    if isinstance(given, str):
        if given not in _PRESETS:
            raise ValueError(f"{place}: policy must be one of {', '.join(_PRESETS)}, or a list, not {given!r}")
        return _PRESETS[given]()
    try:
        return Policy(given)  # type: ignore[arg-type]  # says so itself, of what is no list
    except (TypeError, ValueError) as error:
        raise type(error)(f"{place}: policy: {error}") from None
