"""What stands around a block: white space, and a code fence. Walks over the answer once, forwards.

Where a block may begin, the text goes to a `Reader`; where that stops, the envelope goes on, never back. It knows no
policy: a fence puts its label on the result. May import: `builder`, `names`, `policy`,
`reader`, `result`, `tables`, `text`, `toolset`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, Final

from .builder import Builder
from .names import OPERATORS
from .policy import Allowance, Limits
from .reader import DONE, FAILED, READING, Reader
from .result import Call, Reason, Refusal, Span
from .tables import CONSTANT, END, KEY, WORD
from .text import end_of
from .toolset import Toolset

_BLANKS: Final = re.compile(r"[ \t\f\r\n]*")
_IN_LINE: Final = re.compile(r"[^\r\n]*")
# Behind the opening of a fence: what may be an info string, and what follows it on the line.
_INFO_STRING: Final = re.compile(r"[ \t]*([^\s`\[\]{}()]*)[ \t]*")
# An info string beyond this is decided without seeing its end.
_INFO_LENGTH: Final = 300
# A code span has fewer ticks than a fence, and no info string.
_FENCE_TICKS: Final = 3
# What an info string begins with, seen as a token.
_INFO_KINDS: Final = (WORD, CONSTANT, KEY)


# Info strings behind which a list may stand on the same line. Any other word there could be subscripted by the list.
_LANGUAGES: Final = frozenset(
    "python py python3 json text txt plaintext plain code tool_code tool_call tool_calls function_call function_calls "
    "javascript js typescript ts java bash sh".split()
)


# Where in the answer the walk is. Plain numbers, since an Enum is slow to look up by.
_LEAD: Final = 0  # before anything but white space and comments, of the answer or of its fence
_TICKS: Final = 1  # in the ticks that open a fence or a code span
_INFO: Final = 2  # behind them, where an info string may stand
_INFO_LINE: Final = 3  # in an info string, up to the end of its line
_BLOCK: Final = 4  # in the block
_CLOSING: Final = 5  # in the ticks that close the fence
_TAIL: Final = 6  # behind everything but white space
_OVER: Final = 7  # nothing that follows matters


class Envelope:
    """The walk over one answer."""

    __slots__ = (
        "_closing",
        "_comment_column",
        "_final",
        "_in_comment",
        "_limits",
        "_line_at",
        "_may_be_info",
        "_place",
        "_reader",
        "_refusal",
        "_seen",
        "_text",
        "_tick",
        "_ticks",
        "_toolset",
        "block_at",
        "end",
        "start",
        "whole",
    )

    def __init__(self, toolset: Toolset, limits: Limits) -> None:
        self._toolset = toolset
        self._limits = limits
        # What was fed and is not passed yet, and how much was fed in all.
        self._text = ""
        self._seen = 0
        self._final = False
        self._place = _LEAD
        # Where the line began that the walk is on; whether it is in a comment; the column of the first comment, or -1.
        self._line_at = 0
        self._in_comment = False
        self._comment_column = -1
        # The fence: its character, how many of them opened it, how many were met where it closes.
        self._tick = ""
        self._ticks = 0
        self._closing = 0
        # Whether the block began where an info string could stand too.
        self._may_be_info = False
        self._reader: Reader | None = None
        self._refusal: Refusal | None = None
        # Where the block was looked for; -1 while nothing but white space was met.
        self.block_at = -1
        # The stretch of the answer that the block and its fence take.
        self.start = 0
        self.end = 0
        # Whether the answer is a block and what may stand around it, and nothing else.
        self.whole = False

    @property
    def over(self) -> bool:
        """Whether nothing that follows can matter any more."""
        return self._place == _OVER

    @property
    def calls(self) -> list[Call]:
        builder = self._builder
        return [] if builder is None else builder.calls

    @property
    def _builder(self) -> Builder | None:
        return None if self._reader is None else self._reader.builder

    def used(self) -> frozenset[Allowance]:
        """The steps away from the strict reading that were taken."""
        builder = self._builder
        used = [] if builder is None else builder.used()
        if self._ticks:
            used.append(Allowance.FENCE)
        return frozenset(used)

    @property
    def shaped(self) -> bool:
        """Whether the first name that was read is an offered tool's."""
        builder = self._builder
        return builder is not None and builder.shaped

    def refusal(self) -> Refusal | None:
        """The leftmost reason to leave the answer as text; None where it is whole and no name was refused."""
        builder = self._builder
        noted = None if builder is None else builder.refusal
        if noted or self.whole or self._reader is None:
            return noted
        return self._refusal or self._reader.refusal()

    def feed(self, text: str, final: bool) -> None:
        """Walk over the next piece of the answer; `final`: nothing more comes."""
        limit = self._limits.characters
        too_long = self._seen + len(text) > limit
        if too_long:
            # What was within the limit is read to its end, so that it makes no difference where the answer is cut.
            text = text[: limit - self._seen]
        self._seen += len(text)
        self._text = self._text + text if self._text else text
        self._final = final and not too_long
        while self._STEPS[self._place](self):
            pass
        if too_long and not self.over:
            self._refusal = Refusal(Reason.TOO_LONG, Span(limit, limit + 1))
            self._place = _OVER
        if final:
            self._place = _OVER

    # Each step goes on as far as it can; it answers whether there is more to do with what was fed.

    def _over(self) -> bool:
        self._text = ""
        return False

    def _lead(self) -> bool:
        """Up to the first character that is neither white space nor in a comment."""
        text = self._text
        if self._comment_column < 0 and (text[:1] == "[" or text[:1].isalpha()):
            # Most answers begin like this: nothing is to be passed over.
            self._begin_block()
            return True
        passed = self._at()
        # A byte order mark at the start is no part of the answer.
        at = 1 if passed == 0 and text.startswith("\ufeff") else 0
        while True:
            if self._in_comment:
                at = end_of(_IN_LINE, text, at)
                self._in_comment = at == len(text)
            begin = at
            at = end_of(_BLANKS, text, at)
            line_end = max(text.rfind("\n", begin, at), text.rfind("\r", begin, at))
            if line_end >= 0:
                self._line_at = passed + line_end + 1
            if at == len(text):
                self._text = ""
                return False
            column = passed + at - self._line_at
            if text[at] != "#":
                break
            self._in_comment = True
            if self._comment_column < 0:
                self._comment_column = column
        self._text = text[at:]
        if 0 <= self._comment_column < column:
            # Indented below a comment: an excerpt of a program, and Python would not read it either.
            self._place = _OVER
        elif text[at] in "`~" and not self._ticks and self._comment_column < 0:
            self._tick = text[at]
            self.start = passed + at
            self._place = _TICKS
        else:
            self._begin_block()
        return True

    def _in_ticks(self) -> bool:
        self._ticks += self._pass_ticks()
        if not self._text and not self._final:
            return False
        if self._ticks < _FENCE_TICKS and self._tick == "~":
            # No fence: operators, which the block begins with.
            self._text = self._tick * self._ticks + self._text
            self._ticks = 0
            self._begin_block()
        else:
            self._place = _INFO
        return True

    def _in_info(self) -> bool:
        """The block begins behind the line end; or at a list; or at a word, which may turn out to be the info."""
        self._place = _LEAD
        if self._ticks < _FENCE_TICKS:
            return True
        text = self._text
        info = _INFO_STRING.match(text)
        assert info is not None
        end = info.end()
        if end == len(text) < _INFO_LENGTH and not self._final:
            self._place = _INFO
            return False
        word = info.group(1)
        if text[end : end + 1] in ("", "\n", "\r") or (text[end] == "[" and (not word or self._is_language(info))):
            self._text = text[end:]
        else:
            self._text = text[info.start(1) :]
            self._may_be_info = True
        return True

    def _is_language(self, info: re.Match[str]) -> bool:
        return info.group(1) in _LANGUAGES and info.end(1) < info.end()

    def _in_info_line(self) -> bool:
        self._text = self._text[end_of(_IN_LINE, self._text, 0) :]
        if not self._text:
            return False
        self._place = _LEAD
        return True

    def _begin_block(self) -> None:
        self.block_at = self._at()
        self._reader = Reader(self._toolset, self._limits, self.block_at)
        self._place = _BLOCK
        if not self._ticks:
            self.start = self.block_at

    def _in_block(self) -> bool:
        reader = self._reader
        assert reader is not None
        outcome = reader.feed(self._text, self._final)
        self._text = ""
        if outcome == READING:
            return False
        self.end = reader.end
        if outcome == FAILED and self._may_be_info and reader.builder is None and reader.stopped_by in _INFO_KINDS:
            self._may_be_info = False
            self._text = reader.rest()
            self._place = _INFO_LINE
            return True
        self._place = _OVER
        if outcome == DONE:
            if reader.stopped_by == END:
                self._end_unclosed()
            elif self._ticks:
                self._text = reader.rest()
                self._place = _CLOSING
        return True

    def _end_unclosed(self) -> None:
        """The answer ends behind the block: a fence may be left open, a code span is none then."""
        if 0 < self._ticks < _FENCE_TICKS:
            self._refusal = Refusal(Reason.TRUNCATED, Span(self._seen, self._seen), (f"'{self._tick * self._ticks}'",))
        else:
            self.whole = True

    def _in_closing(self) -> bool:
        self._closing += self._pass_ticks()
        if not self._text and not self._final:
            return False
        closes = self._closing >= self._ticks if self._ticks >= _FENCE_TICKS else self._closing == self._ticks
        if closes:
            self.end = self._at()
        # Else what stopped the block is the reason.
        self._place = _TAIL if closes else _OVER
        return True

    def _tail(self) -> bool:
        if self._skip_blanks():
            at = self._at()
            reason = Reason.OPERATOR if self._text[0] in OPERATORS else Reason.TRAILING_TEXT
            self._refusal = Refusal(reason, Span(at, at + 1), ("the end",))
            self._place = _OVER
            return True
        self.whole = self._final
        return False

    def _at(self) -> int:
        """The place in the answer of what is not passed yet."""
        return self._seen - len(self._text)

    def _skip_blanks(self) -> bool:
        self._text = self._text[end_of(_BLANKS, self._text, 0) :]
        return bool(self._text)

    def _pass_ticks(self) -> int:
        rest = self._text.lstrip(self._tick)
        passed = len(self._text) - len(rest)
        self._text = rest
        return passed

    # By place.
    _STEPS: ClassVar[tuple[Callable[[Envelope], bool], ...]] = (
        _lead,
        _in_ticks,
        _in_info,
        _in_info_line,
        _in_block,
        _in_closing,
        _tail,
        _over,
    )
