"""A written name becomes exactly one offered tool, or the reason why not.

Section "Names" of the design to the letter: nothing is folded, cut off or guessed, because with `search` and
`msearch` offered a guess is a wrong call. A look-up is a handful of dict look-ups, however many tools there are.
May import: `policy` (for the names of allowances), `result`, `toolset`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final, NamedTuple

from .policy import Allowance
from .result import Reason
from .toolset import Tool, Toolset

# What makes an expression of the text beside it. A name that holds one is arithmetic: `a-b(x=1)`, `a/b(x=1)`.
OPERATORS: Final[frozenset[str]] = frozenset("+-*/%&|^~<>@!=")

# The name of the wrapper that is written as a call itself, which the grammar reads.
PRINT: Final = "print"
# What else may stand before a call as a wrapper around it.
WRAPPING_WORDS: Final = ("await", "return")

# Words behind which, in some language that models write, a call is an expression or opens a definition: `not f(x=1)`
# says something about `f`, so it can't be taken for `not_f` where both are offered. A word too many costs a call only
# where two such tools are offered and the name is written with a space; a word too few may run the wrong tool.
# fmt: off
_BEFORE_A_CALL: Final[frozenset[str]] = frozenset({
    # Python
    "and", "assert", "async", "await", "case", "class", "def", "del", "elif", "else", "except", "exec", "for", "from",
    "if", "in", "is", "lambda", "match", "not", "or", "print", "raise", "return", "while", "with", "yield",
    # JavaScript, Java, C and their kin
    "default", "delete", "do", "function", "instanceof", "new", "of", "switch", "throw", "typeof", "void",
    # Go, Rust, Swift, Kotlin
    "defer", "fn", "fun", "func", "go", "try",
    # Ruby, PHP, shell, SQL, Basic
    "call", "echo", "puts", "select", "then", "unless", "until", "when", "where",
})
# fmt: on


def resolve(written: str, toolset: Toolset) -> Tool | Reason:
    """The tool that `written` names: words joined by single dots, single spaces or operator signs.

    A reason otherwise: OPERATOR, AMBIGUOUS_NAME, UNKNOWN_TOOL, or NO_TOOLS where nothing is offered.
    """
    tool = toolset._exact.get(written)
    if tool is not None and written not in toolset._alias and written.isidentifier():
        # Nearly every name ends here: in an identifier is neither an operator nor a space.
        return tool
    joined = _joined(written)
    # Likewise no operator where only dots and spaces kept it from being one: spares the walk.
    if not joined.isidentifier() and operator_at(written) >= 0:
        return Reason.OPERATOR
    found = _claim(written, joined, toolset)
    if found is None:
        return Reason.UNKNOWN_TOOL if toolset.tools else Reason.NO_TOOLS
    if " " in written and _is_said_about_another(written, toolset):
        return Reason.AMBIGUOUS_NAME
    return found


# A word that a call is assigned to, as far as it is there.
_ASSIGNS: Final = re.compile(r"[^\W\d](?:\w|\\_)*+[ \t\f]*+(?:=[ \t\f]*+|\Z)")
_BLANKS: Final = " \t\f\r\n"
# What ends the words of a name: more than one blank, or what is one and no space.
_APART: Final = re.compile(r" {2}| ?[\t\f\r\n#\\]")


class Widened(NamedTuple):
    """A tool found by a step away from the strict rules, and how many characters of the written name are not its."""

    tool: Tool
    used: tuple[Allowance, ...]
    skipped: int


def widen(written: str, toolset: Toolset, taken: frozenset[Allowance] = frozenset()) -> Widened | None:
    """The tool that a name means which `resolve` refused, by the allowances for names; None where there is none.

    wrapper: `await f`, `return f`, where neither word is an offered tool. namespace: one of the toolset's prefixes and
    a dot, `functions.f`. exact_operator_name: an offered name or alias that is not words, letter for letter. Each step
    is taken once: `taken` are those that were before.
    """
    word, space, rest = written.partition(" ")
    if space and word in WRAPPING_WORDS and word not in toolset:
        if Allowance.WRAPPER in taken:
            return None
        return _widen_rest(rest, toolset, taken, Allowance.WRAPPER, len(word) + 1)
    prefix, dot, rest = written.partition(".")
    if dot and prefix in toolset.namespaces and Allowance.NAMESPACE not in taken:
        found = _widen_rest(rest, toolset, taken, Allowance.NAMESPACE, 0)
        if found is not None:
            return found
    tool = toolset._exact.get(written)
    alias = toolset._alias.get(written)
    if operator_at(written) < 0 or (tool and alias and tool is not alias):
        return None
    found_tool = tool or alias
    return Widened(found_tool, (Allowance.EXACT_OPERATOR_NAME,), 0) if found_tool else None


def _widen_rest(
    rest: str, toolset: Toolset, taken: frozenset[Allowance], step: Allowance, skipped: int
) -> Widened | None:
    found = resolve(rest, toolset)
    if isinstance(found, Tool):
        return Widened(found, (step,), skipped)
    further = widen(rest, toolset, taken | {step})
    if further is None:
        return None
    return Widened(further.tool, (step, *further.used), skipped + further.skipped)


def may_become_name(written: str, toolset: Toolset, *, wrapped: bool) -> bool:
    """Whether more text could make a call of an offered tool of this: its name, with what may stand before it.

    `written` begins where the name or its wrapper does; `wrapped`: whether a wrapper is read around a call. True where
    in doubt.
    """
    found = _ASSIGNS.match(written) if wrapped else None
    if found is not None:
        written = written[found.end() :]
        if not written:
            return True
    written = written.replace("\\_", "_").removesuffix("\\")
    name, paren, _ = written.partition("(")
    name = name.rstrip(_BLANKS) if paren else name
    apart = None if paren else _APART.search(name)
    if apart is not None:
        name = name[: apart.start()]
        if not name:
            return True
    if paren or apart is not None:
        return (wrapped and name == PRINT) or not isinstance(_find(name, toolset), Reason)
    return _may_become(written, toolset, wrapped=wrapped)


def _find(name: str, toolset: Toolset) -> Tool | Reason:
    found = resolve(name, toolset)
    widened = None if isinstance(found, Tool) else widen(name, toolset)
    return found if widened is None else widened.tool


def _may_become(written: str, toolset: Toolset, *, wrapped: bool) -> bool:
    """Whether a name, that is words so far, begins like one that an offered tool can be written by."""
    names = toolset._sorted
    for spelling in (written, _joined(written)):
        at = bisect_left(names, spelling)
        if at < len(names) and names[at].startswith(spelling):
            return True
    if written[-1:] == " " and isinstance(_find(written[:-1], toolset), Tool):
        # A blank may stand before the "(".
        return True
    before = [f"{prefix}." for prefix in toolset.namespaces]
    if wrapped:
        before += [f"{PRINT} ", *(f"{word} " for word in WRAPPING_WORDS)]
    for token in before:
        rest = written.removeprefix(token)
        if token.startswith(written) or (rest != written and _may_become(rest, toolset, wrapped=False)):
            return True
    return False


def operator_at(written: str) -> int:
    """Where the first operator sign of `written` stands, or -1."""
    return next((at for at, character in enumerate(written) if character in OPERATORS), -1)


def operator_end(written: str, at: int) -> int:
    """Where the operator that begins at `at` ends: `//` is one operator."""
    return next(
        (end for end in range(at, len(written)) if written[end] not in OPERATORS),
        len(written),
    )


def _joined(written: str) -> str:
    """Rule 2: each dot and each space stands for one underscore, and nothing else changes."""
    return written.replace(".", "_").replace(" ", "_")


def _claim(written: str, joined: str, toolset: Toolset) -> Tool | Reason | None:
    """The tool that claims the name as one whole, AMBIGUOUS_NAME if two do, None if none does."""
    exact = toolset._exact
    # An offered name in its own spelling leaves nothing to rule 2: `a.b` is not `a_b` where both are offered.
    tool = exact.get(written) or exact.get(joined)
    alias = toolset._alias.get(written)
    if alias is None or alias is tool:
        return tool
    return alias if tool is None else Reason.AMBIGUOUS_NAME


def _is_said_about_another(written: str, toolset: Toolset) -> bool:
    """Whether the text is also code about the rest of the name: `not f`, `return await f`."""
    word, space, rest = written.partition(" ")
    # Keywords of Basic and SQL come in any case. Only a name that resolved comes here: the walk is as short as it.
    while space and word.lower() in _BEFORE_A_CALL:
        if _claim(rest, _joined(rest), toolset) is not None:
            return True
        word, space, rest = rest.partition(" ")
    return False
