"""What the engine's reader makes of a text, held against the grammar run alone under Lark (grammar/oracle.py).

Both give the same verdict on every text, and the same place of the first error. Left out is what is decided by values
and not by structure: where the reader stops at a token that it can read but does not take (a bad escape, a number that
JSON can't hold, a key that stands twice, a limit, a string that is no call, an object that is none), the grammar must
have found nothing wrong before. Names are resolved by nobody here, since no tool is offered. Where a quote is content,
the grammar must have found no block. Characters on which Python's `\\w`, which the grammar's patterns use, and
`str.isidentifier`, which the scanner asks, differ (such as `²`) are avoided.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from unittest.mock import patch

import recovery.reader
from grammar.oracle import first_error, parser
from recovery import Limits, Toolset
from recovery.parser import REFUSED, Parser
from recovery.reader import DONE, FAILED, Reader
from recovery.tables import END

NO_TOOLS = Toolset([])
STRING = re.compile(parser().get_terminal("STRING").pattern.to_regexp())
_TOKEN = re.compile(f"{STRING.pattern}|{parser().get_terminal('NAME').pattern.to_regexp()}")


class Watched(Parser):
    """A parser that tells whether the builder refused what it took."""

    __slots__ = ()
    refused = False

    def push(self, kind: int) -> int:
        answer = super().push(kind)
        Watched.refused = answer == REFUSED
        return answer


class Stop(NamedTuple):
    """Where the reader stops: the place of the first error, None for a block; what is decided by values."""

    place: int | None
    # Whether the token there was read and not taken.
    at_value: bool
    # Whether a quote was taken for content, which is no matter of patterns.
    repaired: bool


def reader_stops(text: str) -> Stop:
    reader = Reader(NO_TOOLS, Limits(), 0)
    Watched.refused = False
    with patch.object(recovery.reader, "Parser", Watched):
        outcome = reader.feed(text, True)
    assert outcome in (DONE, FAILED)
    repaired = reader.scanner.quote_repair
    if outcome == DONE and reader.stopped_by == END:
        return Stop(None, False, repaired)
    unreadable = reader._unread is not None and reader.at < len(text)
    return Stop(reader.at, Watched.refused or unreadable, repaired)


def compare(text: str) -> str:
    """Hold the two against each other; says what came of it."""
    wanted = first_error(text)
    # The faster way through the tables reads what the rest of the grammar reads.
    assert first_error(text, shortcut=False) == wanted
    place, at_value, repaired = reader_stops(text)
    if repaired:
        # Only where the strict reading of the string fails.
        assert wanted is not None
        assert place is None or at_value or wanted <= place
        return "repaired"
    if at_value and place != wanted:
        assert place is not None
        # An escape may be bad in a string that can't stand there at all, and so may a name's "(" be too deep.
        inside = wanted is not None and (token := _TOKEN.match(text, wanted)) is not None and place < token.end()
        assert wanted is None or wanted > place or inside, (text, place, wanted)
        return "value"
    assert place == wanted, (text, place, wanted)
    return "block" if wanted is None else "end" if wanted == len(text) else "error"


def comparable(text: str) -> bool:
    """Whether the grammar's patterns and the scanner agree on what each character is."""
    return all(
        character.isascii()
        or ((character.isalnum(), character.isalpha()) == (f"a{character}".isidentifier(), character.isidentifier()))
        for character in set(text)
    )
