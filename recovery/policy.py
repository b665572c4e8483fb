"""What a caller allows: the allowances by name, the limits, the presets.

The reading labels what it did with `Allowance`s and knows no policy; the policy only compares. So a larger
policy can't change what a smaller one recovers. May import: `frozen`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from .frozen import Frozen


class Allowance(StrEnum):
    """One named step away from the strict reading."""

    FENCE = "fence"
    PROSE_FENCE = "prose_fence"
    PROSE_LIST = "prose_list"
    PROSE_LINES = "prose_lines"
    QUOTED = "quoted"
    JSON = "json"
    POSITIONAL = "positional"
    SINGLE_DICT = "single_dict"
    BARE_WORD = "bare_word"
    MARKDOWN_ESCAPE = "markdown_escape"
    WRAPPER = "wrapper"
    UNCLOSED_LIST = "unclosed_list"
    SEPARATE_LISTS = "separate_lists"
    RAW_NEWLINE = "raw_newline"
    NAMESPACE = "namespace"
    COLON = "colon"
    LEADING_ZERO = "leading_zero"
    QUOTE_REPAIR = "quote_repair"
    SMART_QUOTES = "smart_quotes"
    EXACT_OPERATOR_NAME = "exact_operator_name"
    MARKER = "marker"
    REASONING = "reasoning"


# What has not earned to be on by default, by recorded answers and by recorded texts that must stay text
# (docs/evidence.md). Every other allowance made no call of such a text but together with one of these (fence and
# single_dict did so once each), nor read an answer wrongly. No recorded answer takes raw_newline, smart_quotes,
# exact_operator_name or reasoning: these rest on their rule and its cases alone.
_NOT_BY_DEFAULT: Final = frozenset(
    (
        # "Here is an example of how to call it:", and the example; snippets of programs in a chat.
        Allowance.PROSE_FENCE,
        Allowance.PROSE_LIST,
        # The lines of a program that happen to be whole calls, below lines that are none.
        Allowance.PROSE_LINES,
        # `return f()`, `x = f()`: programs are written like that, seldom calls.
        Allowance.WRAPPER,
        # Made no call of a text, but a word without quotes may be a variable as well.
        Allowance.BARE_WORD,
        # Neither, but where names are escaped, a backslash in a string may be one for Markdown as well.
        Allowance.MARKDOWN_ESCAPE,
    )
)

# Python refuses to read or write an integer of more decimal digits unless told otherwise, and so does `json`.
_MOST_DIGITS: Final = 4_300
# What `json` writes, and `==` compares, well below Python's bound on recursion.
_MOST_DEPTH: Final = 300


class Limits(Frozen):
    """How much one answer may hold. Each field is a positive whole number; each has a `Reason` of its own.

    Raises `TypeError` or `ValueError` naming the field, for a value that is no positive whole number, or for
    more `digits` than Python itself reads and writes.
    """

    __slots__ = ("characters", "depth", "calls", "values", "digits", "name")

    # Far above any model's output; bounds what a stream holds.
    characters: int
    # Deeper than any schema in use, shallow enough for every JSON reader behind the gateway.
    depth: int
    # A model that writes more calls than this in one answer is in a loop.
    calls: int
    # Bounds the memory of the arguments to some tens of megabytes.
    values: int
    # Python's own bound: a longer integer can't be written as JSON afterwards.
    digits: int
    # The longest name any API accepts is 128.
    name: int

    def __init__(
        self,
        characters: int = 16 * 1024 * 1024,
        depth: int = 100,
        calls: int = 1_000,
        values: int = 200_000,
        digits: int = _MOST_DIGITS,
        name: int = 256,
    ) -> None:
        self._set(characters, depth, calls, values, digits, name)
        for field in self.__slots__:
            value = getattr(self, field)
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"Limits.{field} must be an int, not {type(value).__name__}")
            if value < 1:
                raise ValueError(f"Limits.{field} must be at least 1, not {value}")
        if depth > _MOST_DEPTH:
            raise ValueError(f"Limits.depth must be at most {_MOST_DEPTH}, what `json` can write, not {depth}")
        if digits > _MOST_DIGITS:
            raise ValueError(f"Limits.digits must be at most {_MOST_DIGITS}, Python's own bound, not {digits}")


class Policy(Frozen):
    """Which allowances are on, and the limits. Immutable, hashable, picklable.

    `allow` takes `Allowance`s or their names; raises `ValueError` naming the one that does not exist.
    """

    __slots__ = ("allow", "limits")

    allow: frozenset[Allowance]
    limits: Limits

    def __init__(self, allow: Iterable[Allowance | str] = (), limits: Limits | None = None) -> None:
        if isinstance(allow, str) or not isinstance(allow, Iterable):
            raise TypeError(f"Policy.allow must be a collection of allowances, not {type(allow).__name__}")
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"Policy.limits must be a Limits, not {type(limits).__name__}")
        self._set(
            frozenset(map(_allowance, allow)),
            limits if limits is not None else Limits(),
        )

    @classmethod
    def strict(cls, limits: Limits | None = None) -> Policy:
        """Nothing but the strict form (README, "What is recovered")."""
        return cls((), limits)

    @classmethod
    def default(cls, limits: Limits | None = None) -> Policy:
        """The allowances that have earned it: no recorded text that must stay text became a call by them.

        And none of what they newly recovered and was read was read wrongly. Four of them no recorded answer takes
        (docs/evidence.md, "no answer was read"): they rest on their rule alone.
        """
        return cls(frozenset(Allowance) - _NOT_BY_DEFAULT, limits)

    @classmethod
    def lenient(cls, limits: Limits | None = None) -> Policy:
        """Every allowance."""
        return cls(Allowance, limits)

    @classmethod
    def of(cls, policy: Policy | None) -> Policy:
        """`policy` itself, or the default where there is none. Raises `TypeError` for anything else."""
        if policy is None:
            return _DEFAULT
        if not isinstance(policy, Policy):
            raise TypeError(f"policy must be a Policy, not {type(policy).__name__}")
        return policy


def _allowance(item: Allowance | str) -> Allowance:
    try:
        return Allowance(item)
    except ValueError:
        known = ", ".join(member.value for member in Allowance)
        raise ValueError(f"Policy.allow: there is no allowance {item!r}; known are {known}") from None


_DEFAULT: Final = Policy.default()
