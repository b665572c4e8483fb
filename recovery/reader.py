"""Reads one block: scanner ▶ parser ▶ builder.

The reader answers READING (it needs more of the answer), DONE (a whole block ends at `at`) or FAILED (no block, or one
that is refused, with the leftmost reason in `refusal`). May import: `builder`, `names`, `parser`, `policy`, `result`,
`scanner`, `tables`, `toolset`.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from .builder import Builder, Inner
from .names import OPERATORS, operator_at, operator_end
from .parser import REFUSED, TAKEN, UNEXPECTED, WHOLE, Parser, begins_block
from .policy import Limits
from .result import LIMITED, Call, Reason, Refusal, Span
from .scanner import MORE, Scanner
from .tables import (
    ARGUMENTS,
    COLON_KEY,
    COMMA,
    CONSTANT,
    END,
    KEY,
    LBRACE,
    LSQB,
    NAME,
    NEWLINE,
    OPERATOR,
    PLAIN_CALL,
    RBRACE,
    RPAR,
    RSQB,
    SIGN,
    STRING,
    WORD,
)
from .toolset import Toolset

READING: Final = 0
DONE: Final = 1
FAILED: Final = 2

# Tokens of which the beginning may have been let go by the time it is known what they are.
# Tokens that may be the last of a call, or of what may stand behind it without a separator.
_MAY_GO_ON: Final = frozenset((RPAR, PLAIN_CALL, RBRACE, RSQB, STRING, NEWLINE, LSQB, LBRACE))
_PASSED: Final = frozenset((WORD, CONSTANT, NAME, PLAIN_CALL, KEY, COLON_KEY, ARGUMENTS, STRING))


class Reader:
    """The reading of one block that begins at `offset` in the answer."""

    __slots__ = (
        "_inner",
        "_last",
        "_limits",
        "_parser",
        "_toolset",
        "_unread",
        "at",
        "builder",
        "offset",
        "scanner",
        "stopped_by",
    )

    def __init__(self, toolset: Toolset, limits: Limits, offset: int, *, inner: bool = False) -> None:
        """`inner`: the text is the value of a string, in which no string is read further."""
        self._inner = inner
        self._toolset = toolset
        self._limits = limits
        self.scanner = Scanner(limits, offset)
        # Made for the first token that can begin a block: most answers have none.
        self._parser: Parser | None = None
        self.builder: Builder | None = None
        self.offset = offset
        # Where the reading stopped, and the kind of token there.
        self.at = offset
        self.stopped_by = END
        # The kind of the last token that was taken.
        self._last = END
        self._unread: Refusal | None = None

    def refusal(self) -> Refusal:
        """The leftmost reason to leave the block as text, where it failed or where what follows is no part of it."""
        noted = None if self.builder is None else self.builder.refusal
        return noted or self._unread or self._judge()

    def is_limited(self) -> bool:
        """Whether a limit stopped the reading, so that what follows might be read otherwise by a higher one."""
        unread = self._unread is not None and self._unread.reason in LIMITED
        return unread or (self.builder is not None and self.builder.limited)

    @property
    def end(self) -> int:
        """Where a whole block ends: where the last bracket that was outermost closed; a list may lack it."""
        unclosed = self.builder is not None and self.builder.unclosed
        return self.at if unclosed else self.scanner.closed_at

    def ends_line(self) -> bool:
        """Whether a line ended behind the last bracket that closed."""
        return self.scanner.newline_at >= self.scanner.closed_at

    def rest(self) -> tuple[str, int, int]:
        """What was fed and is not dropped yet, its place in the answer, and where in it to go on.

        A name or a string may have been let go when it turned out not to fit, so behind such a token it goes on.
        """
        return self.scanner.rest(self.at if not self.passed_token() else self.scanner.resumes_at(self.stopped_by))

    def passed_token(self) -> bool:
        """Whether it goes on behind the token that the reading stopped at, not before it."""
        return self._unread is not None or self.stopped_by in _PASSED

    def names_tool(self) -> bool:
        """Whether the first name of the block is a tool's."""
        return self.builder is not None and self.builder.shaped

    def ended_calls(self, after: int) -> tuple[int, int]:
        """Which calls, from one index to another, stand behind place `after` and before a separator or another call.

        Not before a line end, since an operator at the beginning of the next line would make an expression of it; nor
        before a comma outside of a list, since a sentence may go on.
        """
        builder = self.builder
        if builder is None or builder.refusal is not None or not builder.calls:
            return 0, 0
        calls = builder.calls
        end = len(calls)
        if self._last in _MAY_GO_ON or builder.printing or (self._last == COMMA and not builder.is_list):
            # With it all calls of the same object of JSON: they have one span.
            end = bisect_left(calls, calls[-1].span.start, key=_start_of)
        return bisect_left(calls, after, hi=end, key=_start_of), end

    def text_until(self) -> int:
        """Up to where all that was fed is text, where no call is read here: what may be a marker is not."""
        rest = self.scanner.unread()
        fed = self.scanner.fed()
        if rest[:1] == "~":
            return fed - len(rest)
        if rest[:1] in OPERATORS and "<" in rest:
            return fed - len(rest) + rest.index("<")
        # A word may end where a marker begins; and where a quote closes no string, another line begins behind it.
        return fed - (self.scanner.undecided() or rest.endswith("<"))

    def feed(self, text: str, final: bool, at: int = 0) -> int:
        """Read the next piece of the answer, from `at` on where it is the first; `final`: nothing more comes."""
        scanner = self.scanner
        scanner.feed(text, final, at)
        parser = self._parser
        if parser is None:
            kind = scanner.scan()
            if kind < 0:
                return self._unreadable(kind)
            if not begins_block(kind):
                return self._stop(kind, FAILED)
            parser = self._begin()
            if self.builder is not None:
                self.builder.is_list = kind == LSQB
            if parser.push(kind) == REFUSED:
                return self._stop(kind, FAILED)
            self._last = kind
        return self._read(parser)

    def _begin(self) -> Parser:
        """The parser of the block."""
        if self._parser is None:
            # No method of this reader, which would make a ring of it and the builder: it is gone with the answer.
            self.builder = Builder(self.scanner, self._toolset, self._limits, None if self._inner else read_inner)
            self._parser = Parser(self.builder)
        return self._parser

    def _read(self, parser: Parser) -> int:
        scanner = self.scanner
        kind = self._last
        while True:
            last, kind = kind, scanner.scan()
            if kind < 0:
                self._last = last
                return self._unreadable(kind)
            answer = parser.push(kind)
            if answer == UNEXPECTED:
                if not parser.can_end():
                    return self._stop(kind, FAILED)
                parser.end()
                return self._stop(kind, DONE)
            if answer != TAKEN:
                return self._stop(kind, DONE if answer == WHOLE else FAILED)

    def _unreadable(self, kind: int) -> int:
        scanner = self.scanner
        if kind == MORE:
            return READING
        self.at = scanner.start
        self._unread = Refusal(scanner.fault, Span(scanner.start, scanner.bad_end))
        return FAILED

    def _stop(self, kind: int, answer: int) -> int:
        """The token at which the reading stops."""
        self.stopped_by = kind
        self.at = self.scanner.start
        return answer

    def _judge(self) -> Refusal:
        """Why the token that the scanner stands on can't stand there."""
        scanner = self.scanner
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
        elif kind in (WORD, NAME, PLAIN_CALL) and parser.wants_value():
            reason = Reason.NOT_A_LITERAL
        else:
            reason = Reason.SYNTAX
        return Refusal(reason, Span(start, end), parser.expected())


def _start_of(call: Call) -> int:
    return call.span.start


def read_inner(toolset: Toolset, limits: Limits, text: str, wants_object: bool) -> Inner:
    """The value of a string, read as an answer of its own."""
    reader = Reader(toolset, limits, 0, inner=True)
    outcome = reader.feed(text, final=True)
    builder = reader.builder
    is_sound = builder is not None and (builder.refusal is None or builder.is_whole())
    if builder is None or not is_sound or outcome != DONE or reader.stopped_by != END or text[:1] == "[":
        return Inner(None, None, set(), builder is not None and builder.shaped)
    values = limits.values - builder.values_left
    if wants_object:
        return Inner(
            None,
            builder.objects[0] if len(builder.objects) == 1 else None,
            builder.used(),
            values=values,
        )
    call = builder.calls[0] if len(builder.calls) == 1 else None
    return Inner(call, None, builder.used(), builder.shaped, values)
