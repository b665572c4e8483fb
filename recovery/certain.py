"""What is certain while the answer is still being written: which of it is text, and which calls have ended.

A stretch is text where nothing that may follow makes it part of a block. The reading alone does not tell, since a run
of words may be a name: so the words are held against the offered names, one by one. May import: `builder`, `envelope`,
`jsoncalls`, `lexemes`, `markers`, `names`, `policy`, `prose`, `reader`, `result`, `toolset`, `verdict`.
"""

from __future__ import annotations

import re
from typing import Final

from . import envelope as places
from . import markers, prose
from .builder import Builder
from .envelope import Envelope
from .jsoncalls import KEYS, NAME_KEYS, json_names
from .lexemes import PREFIXES, QUOTES
from .names import may_become_name
from .policy import Allowance, Policy
from .reader import Reader
from .result import Call
from .toolset import Toolset
from .verdict import is_allowed

# Where a segment has begun that may be a block, or a part of one.
_BEGUN: Final = frozenset((places._TICKS, places._INFO, places._INFO_LINE, places._BEHIND, places._CLOSING))
# Where all that was read is text, whatever follows.
_TEXT: Final = frozenset((places._CODE, places._CODE_TICKS, places._THINKING, places._OVER))
# What a segment begins with that is no bare call.
_BEGINNINGS: Final = frozenset("[`{")
_NOTHING: Final = re.compile(r"(?!)")
_ENDS_REASONING: Final = re.compile(r"[<\[]")
_ENDS_STRING: Final = {quote: re.compile(rf"[{quote}\\]") for quote in "'\"\u201d\u2019"}
# Words that are no name of a tool; the head of a line that is none.
_ENDS_WORDS: Final = re.compile(r"[^\w .]")
_ENDS_HEAD: Final = re.compile(rf"[{places.NO_HEAD}{re.escape(''.join(sorted(markers.FIRST)))}]")
# By place.
_ENDS: Final = {
    places._PROSE: re.compile(places.MORE_THAN_PROSE),
    places._CODE: re.compile(r"[\r\n]"),
    places._THINKING: re.compile("|".join(map(re.escape, sorted(markers.CLOSERS_FIRST)))),
}
# How much of a string is looked at beyond the longest name.
_MORE_THAN_NAME: Final = 24


def text_until(envelope: Envelope, toolset: Toolset, policy: Policy) -> int:
    """Up to which place of the answer all is text, but for the blocks that are whole."""
    place = envelope._place
    if place in _TEXT:
        return envelope.seen
    if place == places._BLOCK:
        reader = envelope._reader
        assert reader is not None
        # Behind signs nothing becomes a call.
        if envelope._sign_at < 0 and (envelope._may_be_info or may_be_calls(reader, toolset, policy)):
            return envelope.start
        return reader.text_until()
    if place in _BEGUN or envelope._begins or (place == places._LEAD and envelope._ticks):
        return envelope.start
    if place == places._LEAD and envelope._lead_start >= 0 and envelope.block_at < 0 and not envelope.prose:
        return envelope._lead_start
    rest = envelope.rest()
    begin = envelope.seen - len(rest)
    if place == places._PROSE:
        return begin if rest[:1] in markers.FIRST else envelope.seen
    wrapped = Allowance.WRAPPER in policy.allow
    first = rest[:1]
    # What begins with a sign is no call, unless it is an underscore that is escaped.
    is_signed = (first in prose.SIGNS or first.isdigit()) and not "\\_".startswith(rest[:2])
    if not is_signed and (
        place != places._LINE or first in _BEGINNINGS or may_become_name(rest, toolset, wrapped=wrapped)
    ):
        return begin
    if markers.ANY.match(rest) or markers.may_become_marker(rest):
        return begin
    # Whether the line is prose is open; where it is, calls may stand in it: in a list, behind a marker or reasoning.
    for found in markers.before_calls().finditer(rest):
        if found[0][0] != ":":
            return begin + found.start()
        inside = rest[found.end() + 1 :].lstrip()
        is_string = inside[:1] in PREFIXES and inside[1:2] in QUOTES
        if not inside[:1].isalnum() or is_string or may_become_name(inside, toolset, wrapped=wrapped):
            return begin + found.end()
    at = markers.may_end_in_marker(rest)
    return envelope.seen if at < 0 else begin + at


def awaited_sign(envelope: Envelope, toolset: Toolset, *, lost: bool, holds: bool) -> re.Pattern[str] | None:
    """What has to come before anything changes; None where any character may change something.

    `lost`: nothing that was read can be recovered, so that only the end of reasoning counts; `holds`: some of what was
    read may be part of a block. Up to such a sign nothing has to be looked at but for it, which is what makes a long
    string, or prose, cost next to nothing.
    """
    if envelope.over:
        return _NOTHING
    place = envelope._place
    reader = envelope._reader
    reading = reader.scanner if place == places._BLOCK and reader is not None else None
    rest = envelope.rest() if reading is None else reading.unread()
    if lost:
        return None if rest else _ENDS_REASONING
    if reading is not None:
        settled = not holds or (reader is not None and reader.names_tool())
        quote = reading.closing_sign(0 if settled else toolset._longest + _MORE_THAN_NAME)
        if quote:
            return _ENDS_STRING[quote]
        return _ENDS_WORDS if rest and not holds and _ENDS_WORDS.search(rest) is None else None
    if place == places._LINE and not holds and not envelope._unseparated:
        return _ENDS_HEAD if rest else None
    sign = _ENDS.get(place)
    return sign if sign is not None and sign.search(rest) is None else None


def may_be_calls(reader: Reader, toolset: Toolset, policy: Policy) -> bool:
    """Whether what the reader has seen so far may be the beginning of calls."""
    builder = reader.builder
    if builder is not None:
        if builder.refusal is not None or not builder.steps <= policy.allow:
            return False
        if builder.calls or builder.shaped:
            return True
        if builder.scanner.json:
            return Allowance.JSON in policy.allow and _may_be_json_call(reader, toolset)
    # One wrapper a call: not where a result is assigned already.
    wrapped = Allowance.WRAPPER in policy.allow and not (builder is not None and builder.stack)
    quoted = builder is not None and builder.is_list and Allowance.QUOTED in policy.allow
    inside = reader.scanner.open_string(toolset._longest + _MORE_THAN_NAME)
    if inside is not None:
        # A string of a list is a call, or nothing in it is.
        # What an escape stands for is not known here.
        inside = inside.partition("\\")[0].lstrip()
        return quoted and (inside[:1] in ("", "{") or may_become_name(inside, toolset, wrapped=wrapped))
    rest = reader.scanner.unread()
    if quoted and rest.rstrip("'\"") in PREFIXES:
        return True
    if builder is not None and builder.printing and builder.has_arguments():
        return False
    return not rest or (quoted and rest[0] in QUOTES) or may_become_name(rest, toolset, wrapped=wrapped)


def _may_be_json_call(reader: Reader, toolset: Toolset) -> bool:
    """Whether an object that is not complete may be a call: by its keys, and by the name in it."""
    builder = reader.builder
    assert builder is not None
    stack = builder.stack
    begun = bool(stack) and isinstance(stack[0], dict)
    whole = stack[0] if begun else {}
    if not KEYS.issuperset(whole):
        return False
    pending = stack[begun:]
    if pending and isinstance(pending[0], str) and pending[0] not in KEYS:
        return False
    # More of a name than this is no tool's, however the name goes on.
    most = 2 * toolset._longest + max(map(len, toolset.namespaces), default=0) + 2
    if not all(may_become_name(f"{name[:most]}(", toolset, wrapped=False) for name in json_names(whole)):
        return False
    inside = reader.scanner.open_string(toolset._longest + _MORE_THAN_NAME)
    if inside is None or "\\" in inside:
        return True
    if not pending:
        return any(key.startswith(inside) for key in KEYS)
    if len(pending) == 1 and pending[0] in NAME_KEYS and pending[0] != "function":
        return may_become_name(inside, toolset, wrapped=False)
    return True


def ended_calls(envelope: Envelope, policy: Policy, after: int) -> list[Call]:
    """The calls behind place `after` that have ended, as what was read behind them proves, and that the policy allows.

    Of a block that is whole all, once something stands behind it that is no part of it. Of one that is still read those
    behind which a separator stands; not of a list behind a colon, nor of a code span, since these are calls only if
    nothing follows on their line.
    """
    calls: list[Call] = []
    reader = envelope._reader
    if envelope._place == places._BLOCK and reader is not None and not _may_be_taken_back(envelope):
        begin, end = reader.ended_calls(after)
        if begin < end and reader.builder is not None and _is_allowed_so_far(reader.builder, envelope, policy):
            calls = reader.builder.calls[begin:end]
    waits = _may_go_on(envelope, policy)
    for block in reversed(envelope.blocks):
        if block.end <= after:
            break
        calls = calls if waits else [*(call for call in block.calls if call.span.start >= after), *calls]
        waits = False
    return calls


def _may_go_on(envelope: Envelope, policy: Policy) -> bool:
    """Whether what stands behind the last whole block may make an expression of it, or is nothing that is allowed."""
    if envelope._sign_at >= 0:
        return True
    if envelope._place == places._BLOCK:
        reader = envelope._reader
        return reader is None or not reader.names_tool()
    if not envelope._only_blanks:
        return False
    words = envelope._place == places._LINE and envelope.rest()[:1].isidentifier()
    return not (words and envelope.blocks and envelope.blocks[-1].beside_prose in policy.allow)


def _is_allowed_so_far(builder: Builder, envelope: Envelope, policy: Policy) -> bool:
    """Whether the policy allows what the block that is being read has taken until now."""
    block = envelope.block_to(builder, envelope.seen)
    return is_allowed(block, envelope.prose, bool(envelope.blocks), policy)


def _may_be_taken_back(envelope: Envelope) -> bool:
    """Whether what stands before or behind the block that is being read may make text of it, whole as it is."""
    if envelope._within_line or envelope._may_be_info or envelope._sign_at >= 0:
        return True
    if envelope.prose and not envelope.is_surely_led_to():
        return True
    if envelope._ticks or envelope._begins:
        return envelope._ticks in (1, 2)
    return envelope._unseparated or envelope._column > envelope._prose_column
