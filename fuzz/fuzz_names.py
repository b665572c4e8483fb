"""Invariant: a written name is exactly one tool or a reason, by the rules of names; what can become a name is seen so.

An input is lines: the written name, then what is offered, an alias as `alias TAB offered name`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fuzz.inputs import text_of
from fuzz.target import Target, run
from recovery import Reason, Tool, Toolset
from recovery.names import _BEFORE_A_CALL, OPERATORS, may_become_name, resolve
from tests.cases import VECTORS, read

_MOST: Final = 64
# What a scanner reads as one name; others are asked for their tool alone.
_WRITTEN: Final = re.compile(r"\w+(?:[. ]\w+)*")


def one_input(data: bytes) -> None:
    written, *offered = text_of(data).split("\n")
    if not written or len(offered) > _MOST:
        return
    pairs = [line.split("\t", 1) for line in offered if line.strip()]
    names = {pair[0] for pair in pairs if len(pair) == 1 and pair[0].strip()}
    aliases = {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[0].strip() and pair[1] in names}
    toolset = Toolset(sorted(names), aliases=aliases)
    found = resolve(written, toolset)
    wanted = by_the_rules(written, names, aliases)
    assert (found.name if isinstance(found, Tool) else found) == wanted, (found, wanted)
    if isinstance(found, Tool) and _WRITTEN.fullmatch(written):
        for wrapped in (False, True):
            for end in range(1, len(written) + 1):
                assert may_become_name(written[:end], toolset, wrapped=wrapped), (written[:end], wrapped)
            assert may_become_name(f"{written}(", toolset, wrapped=wrapped)


def by_the_rules(written: str, names: set[str], aliases: dict[str, str]) -> str | Reason:
    """The offered name, or the reason for none (design, "Names")."""
    # A hyphen never stands for an underscore: with a sign it is arithmetic.
    if any(sign in written for sign in OPERATORS):
        return Reason.OPERATOR
    claims = claimed_by(written, names, aliases)
    if not claims:
        return Reason.UNKNOWN_TOOL if names else Reason.NO_TOOLS
    if len(claims) > 1:
        return Reason.AMBIGUOUS_NAME
    # `not f(x=1)`: two readings of the text, where both are offered.
    words = written.split(" ")
    for number, word in enumerate(words[:-1], 1):
        if word.lower() not in _BEFORE_A_CALL:
            break
        if claimed_by(" ".join(words[number:]), names, aliases):
            return Reason.AMBIGUOUS_NAME
    return claims.pop()


def claimed_by(written: str, names: set[str], aliases: dict[str, str]) -> set[str]:
    """The offered names that claim this one."""
    # 1. Written exactly; 2. otherwise each dot and each space stands for one underscore.
    joined = "".join("_" if character in ". " else character for character in written)
    claims = {written} & names or {joined} & names
    # An alias is an exact spelling too, and where rule 2 says another tool, two claim the name.
    return claims | ({aliases[written]} if written in aliases else set())


def seeds() -> Iterator[bytes]:
    """The names of the vectors, each as the answer spells it, with what is offered there."""
    lines = set()
    for case in read(VECTORS):
        offered = [*(tool.name for tool in case.toolset.tools), *map("\t".join, case.toolset.aliases.items())]
        for call in case.expect.get("calls") or ():
            lines.add("\n".join([call.get("written", call["name"]), *offered[:_MOST]]))
        lines.add("\n".join([case.text.partition("(")[0].strip("[\n "), *offered[:_MOST]]))
    return (line.encode("utf-8", "surrogatepass") for line in sorted(lines) if len(line) < 500)


TARGET = Target(one_input, seeds)

if __name__ == "__main__":
    run(TARGET)
