"""Reads one block: scanner ▶ parser ▶ builder.

The reader answers READING (it needs more of the answer), DONE (a whole block ends at `at`) or FAILED (no block, or one
that is refused, with the leftmost reason in `refusal`). May import: `builder`, `names`, `parser`, `policy`, `result`,
`scanner`, `tables`, `toolset`.
"""

from __future__ import annotations

from typing import Final

from .builder import Builder
from .names import operator_at, operator_end
from .parser import TAKEN, UNEXPECTED, WHOLE, Parser, begins_block
from .policy import Limits
from .result import Reason, Refusal, Span
from .scanner import MORE, Scanner
from .tables import END, NAME, OPERATOR, SIGN, WORD
from .toolset import Toolset

READING: Final = 0
DONE: Final = 1
FAILED: Final = 2


class Reader:
    """The reading of one block that begins at `offset` in the answer."""

    __slots__ = ("_limits", "_parser", "_scanner", "_toolset", "_unread", "at", "builder", "stopped_by")

    def __init__(self, toolset: Toolset, limits: Limits, offset: int) -> None:
        self._toolset = toolset
        self._limits = limits
        self._scanner = Scanner(limits, offset)
        # Made for the first token that can begin a block: most answers have none.
        self._parser: Parser | None = None
        self.builder: Builder | None = None
        # Where the reading stopped, and the kind of token there.
        self.at = offset
        self.stopped_by = END
        self._unread: Refusal | None = None

    def refusal(self) -> Refusal:
        """The leftmost reason to leave the block as text, where it failed or where what follows is no part of it."""
        noted = None if self.builder is None else self.builder.refusal
        return noted or self._unread or self._judge()

    @property
    def end(self) -> int:
        """Where the last bracket that was outermost closed: the end of a whole block."""
        return self._scanner.closed_at

    def rest(self) -> str:
        """What was fed and stands at `at` or behind it."""
        return self._scanner.rest(self.at)

    def feed(self, text: str, final: bool) -> int:
        """Read the next piece of the answer; `final`: nothing more comes."""
        scan = self._scanner.scan
        self._scanner.feed(text, final)
        if self._parser is None:
            kind = scan()
            if kind < 0:
                return self._unreadable(kind)
            if not begins_block(kind):
                return self._stop(kind, FAILED)
            self._begin().push(kind)
        return self._read(self._begin())

    def _begin(self) -> Parser:
        """The parser of the block."""
        if self._parser is None:
            self.builder = Builder(self._scanner, self._toolset, self._limits)
            self._parser = Parser(self.builder)
        return self._parser

    def _read(self, parser: Parser) -> int:
        scan = self._scanner.scan
        push = parser.push
        while True:
            kind = scan()
            if kind < 0:
                return self._unreadable(kind)
            answer = push(kind)
            if answer == UNEXPECTED:
                return self._stop(kind, DONE if parser.can_end() else FAILED)
            if answer != TAKEN:
                self.at = self._scanner.start
                return DONE if answer == WHOLE else FAILED

    def _unreadable(self, kind: int) -> int:
        scanner = self._scanner
        if kind == MORE:
            return READING
        self.at = scanner.start
        self._unread = Refusal(scanner.fault, Span(scanner.start, scanner.end(END)))
        return FAILED

    def _stop(self, kind: int, answer: int) -> int:
        """A token that can't continue the block: the block ends before it, or there is none."""
        self.stopped_by = kind
        self.at = self._scanner.start
        return answer

    def _judge(self) -> Refusal:
        """Why the token that the scanner stands on can't stand there."""
        scanner = self._scanner
        parser = self._begin()
        kind = self.stopped_by
        start, end = scanner.start, scanner.end(kind)
        if kind == WORD and (sign := operator_at(scanner.name)) >= 0:
            start, end = start + sign, start + operator_end(scanner.name, sign)
            reason = Reason.OPERATOR
        elif kind in (SIGN, OPERATOR):
            reason = Reason.OPERATOR
        elif kind == END or (kind == WORD and scanner.exhausted() and parser.wants_word()):
            # The last word could have become a key, a name, a constant.
            reason = Reason.TRUNCATED
        elif parser.can_end():
            reason = Reason.TRAILING_TEXT
        elif kind in (WORD, NAME) and parser.wants_value():
            reason = Reason.NOT_A_LITERAL
        else:
            reason = Reason.SYNTAX
        return Refusal(reason, Span(start, end), parser.expected())
