"""What stands around blocks: white space, code fences, markers, reasoning, prose. One walk, forwards.

An answer is a sequence of segments. Where a block may begin, the text goes to a `Reader`; where that stops, the
envelope goes on, never back. A line that begins like a call of an offered tool commits: if no whole block comes of
it, the answer is refused, and what follows does not matter. The envelope knows no policy: each step away from the
strict form puts its label on the result. May import: `builder`, `markers`, `names`, `policy`, `prose`, `reader`,
`result`, `tables`, `text`, `toolset`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from . import markers, prose
from .builder import Builder
from .names import OPERATORS
from .policy import Allowance, Limits
from .prose import Lead
from .reader import DONE, READING, Reader
from .result import Call, Reason, Refusal, Span
from .tables import ARGUMENTS, COLON_KEY, CONSTANT, END, KEY, NAME, PLAIN_CALL, WORD
from .text import end_of
from .toolset import AS_CALL, Toolset, mention

_BLANKS: Final = re.compile(r"[ \t\f\r\n]*")
_SPACES: Final = re.compile(r"[ \t\f]*")
_IN_LINE: Final = re.compile(r"[^\r\n]*")
_LINE_HEAD: Final = re.compile(r"[^\r\n]{0,%d}" % prose.REACH)
# Behind the opening of a fence: what may be an info string, and what follows it on the line.
_INFO_STRING: Final = re.compile(r"[ \t]*([^\s`\[\]{}()]*)[ \t]*")
# An info string beyond this is decided without seeing its end.
_INFO_LENGTH: Final = 300
# A code span has fewer ticks than a fence, and no info string.
_FENCE_TICKS: Final = 3
# What an info string begins with, seen as a token.
_INFO_KINDS: Final = (WORD, CONSTANT, KEY, COLON_KEY, ARGUMENTS)
_OPERATORS: Final = OPERATORS | prose.MATHS
# What a call begins with.
_CALL_LIKE: Final = (NAME, PLAIN_CALL, KEY, ARGUMENTS)


# Info strings behind which a list may stand on the same line. Any other word there could be subscripted by the list.
_LANGUAGES: Final = frozenset(
    "python py python3 json text txt plaintext plain code tool_code tool_call tool_calls function_call function_calls "
    "javascript js typescript ts java bash sh".split()
)
# What in a line of prose may be more than prose: its end, a marker that no quote stands before, a list behind a colon.
# All that it begins with comes first, as one class: `re` looks for that much faster than for alternatives.
MORE_THAN_PROSE: Final = r"[\r\n<\[\\$`'\":]"
_IN_PROSE: Final = re.compile(
    MORE_THAN_PROSE + r"(?:(?<=[\r\n<\[])|(?<=\\)(?=[\[(b]|\Z)|(?<=\$)(?=\$|\Z)"
    r"|(?<=[`'\"])(?:[<\[\\$]|\Z)|(?<=:)[ \t]{0,80}(?=\[|\Z))"
)
# A line that may begin with a call: up to its first "(" or "=" nothing that is part of no name.
NO_HEAD: Final = r"(=\r\n,;:?'\"`\[\]{}"
_LINE_OF_CALL: Final = re.compile(rf"[^{NO_HEAD}]{{1,300}}[(=]")
_MAY_BE_LINE_OF_CALL: Final = re.compile(rf"[^{NO_HEAD}]{{0,300}}\Z")
# Where in the answer the walk is. Plain numbers, since an Enum is slow to look up by.
_LEAD: Final = 0  # before anything but white space and comments, of the answer or of its fence
_LINE: Final = 1  # where a line begins, behind other segments
_TICKS: Final = 2  # in the ticks that open a fence or a code span
_INFO: Final = 3  # behind them, where an info string may stand
_INFO_LINE: Final = 4  # in an info string, up to the end of its line
_BLOCK: Final = 5  # in a block
_BEHIND: Final = 6  # behind a block, before what closes its fence or marker, or the next segment
_CLOSING: Final = 7  # in the ticks that close the fence
_AFTER: Final = 8  # on the rest of the line of a segment that is closed
_PROSE: Final = 9  # in a line of prose
_CODE: Final = 10  # in a fence that holds no calls
_CODE_TICKS: Final = 11  # where a line of that fence begins
_THINKING: Final = 12  # in reasoning
_OVER: Final = 13  # nothing that follows matters


def _width(blanks: str) -> int:
    """How many columns these blanks take, a tab eight."""
    return len(blanks) + 7 * blanks.count("\t")


class Block(NamedTuple):
    """One block that was read: the stretch of the answer with its fence and markers, and how it is labelled."""

    start: int
    end: int
    calls: list[Call]
    used: frozenset[Allowance]
    # What it takes to read the block with prose beside it, and on its own.
    beside_prose: Allowance
    alone: Allowance | None

    def step(self, prose: bool, several: bool) -> Allowance | None:
        """The step that it takes by what stands beside it: prose, several blocks in all."""
        return self.beside_prose if prose or (several and self.alone) else self.alone


class Envelope:
    """The walk over one answer."""

    # What is not set by the constructor begins as said here: that spares each answer the setting.

    # What was fed last, its place in the answer, and where in it the walk is; and how much was fed in all.
    _text = ""
    _base = 0
    _at = 0
    _seen = 0
    _final = False
    _place = _LEAD
    # How far the line is indented that the walk is on, and up to where that is known; whether the walk is in a comment;
    # the column of the first comment, or -1.
    _indent = 0
    _indent_end = 0
    _in_comment = False
    _comment_column = -1
    # The fence: its character, how many of them opened it, how many were met where it closes.
    _tick = ""
    _ticks = 0
    _closing = 0
    # The marker before the block; what ends what is hidden, and the place behind that where it is known.
    _begins = ""
    _close_by = markers.ENDS_REASONING
    _behind_hidden = 0
    # The block being read: where it begins with its fence and marker; whether an info string could stand there too;
    # whether it stands behind a colon within its line.
    _reader: Reader | None = None
    _start = 0
    _may_be_info = False
    _within_line = False
    # Where the sign stands that begins the line and goes on with the block before it, or -1.
    _sign_at = -1
    # The last block had neither fence nor marker, and nothing was passed over since; nothing but blanks and markers
    # stands behind the last block so far.
    _unseparated = False
    _only_blanks = False
    # Words stand before the last block on its line, and end no sentence; something hidden stands behind it there.
    _in_sentence = False
    _is_broken = False
    # What the words before the block say of it that is being read, once that was asked.
    _led: Lead | None = None
    # Where the words begin that may stand before the next block, behind a block or what is hidden; and those before
    # what is hidden, each with its place.
    _words_at = 0
    _earlier: deque[tuple[int, str]] | tuple[()] = ()
    _earlier_length = 0
    # Where a turn token stands that the answer begins with, or -1.
    _lead_start = -1
    # The column in which the block begins, and the leftmost in which a line of prose does.
    _column = 0
    _prose_column = 1_000_000
    # The first place where a block was looked for, and its reader; -1 while nothing but white space was met.
    _first: Reader | None = None
    block_at = -1
    # Whether that block went to the end of the answer, if only its names were offered.
    parsed = False
    # What `mention` says of the answer, where that was asked.
    _mentioned: int | None = None
    # Whether text was passed over as prose.
    prose = False
    # Why a line that began like a call makes the whole answer text; why something behind a begin marker is no block,
    # which makes it text where there are blocks besides: all or nothing.
    committed: Refusal | None = None
    spoiled: Refusal | None = None

    def __init__(
        self,
        toolset: Toolset,
        limits: Limits,
        answer: str | None = None,
        *,
        reasoning_open: bool = False,
    ) -> None:
        """`answer`: the whole of it where it is known, which allows to turn prose down unread.

        `reasoning_open`: the answer begins inside reasoning, which the prompt opened.
        """
        self._toolset = toolset
        self._limits = limits
        self._answer = answer
        self._calls_left = limits.calls
        self._values_left = limits.values
        self.blocks: list[Block] = []
        # All that was fed: what stands before a block may be let go before it is whole.
        self._pieces: list[str] = []
        # The steps taken outside of blocks.
        self.steps: set[Allowance] = {Allowance.REASONING} if reasoning_open else set()
        if reasoning_open:
            self._place = _THINKING

    @property
    def over(self) -> bool:
        """Whether nothing that follows can matter any more."""
        return self._place == _OVER

    @property
    def start(self) -> int:
        """Where the last block begins, with its fence and marker."""
        return self._start

    @property
    def seen(self) -> int:
        """How much was fed in all."""
        return self._seen

    def rest(self) -> str:
        """What was fed and not walked over yet."""
        return self._text[self._at :]

    def first_refusal(self) -> Refusal | None:
        """Why the first block that was looked for is none."""
        return None if self._first is None else self._first.refusal()

    def mention(self, answer: str) -> int:
        """What `toolset.mention` says of the whole answer: asked once."""
        if self._mentioned is None:
            self._mentioned = mention(answer, self._toolset)
        return self._mentioned

    def used(self) -> frozenset[Allowance]:
        """The steps away from the strict reading that were taken."""
        if not (self.steps or self.prose) and len(self.blocks) == 1 and self.blocks[0].alone is None:
            return self.blocks[0].used
        used = set(self.steps)
        several = len(self.blocks) > 1
        for block in self.blocks:
            used |= block.used
            step = block.step(self.prose, several)
            if step is not None:
                used.add(step)
        return frozenset(used)

    def feed(self, text: str, final: bool) -> None:
        """Walk over the next piece of the answer; `final`: nothing more comes."""
        limit = self._limits.characters
        too_long = self._seen + len(text) > limit
        if too_long:
            # What was within the limit is read to its end, so that it makes no difference where the answer is cut.
            text = text[: limit - self._seen]
        self._seen += len(text)
        self._pieces.append(text)
        if self._at < len(self._text):
            text = self._text[self._at :] + text
        self._text = text
        self._base = self._seen - len(text)
        self._at = 0
        self._final = final and not too_long
        while _STEPS[self._place](self):
            pass
        if too_long and not self.over:
            self._commit(Refusal(Reason.TOO_LONG, Span(limit, limit + 1)))
        if final:
            self._place = _OVER

    # Each step goes on as far as it can; it answers whether there is more to do with what was fed.

    def _over(self) -> bool:
        self._at = len(self._text)
        return False

    def _lead(self) -> bool:
        """Up to the first character that is neither white space nor in a comment."""
        text = self._text
        at = self._at
        first = text[at : at + 1]
        if self._comment_column < 0 and (first.isalpha() or (first == "[" and "a" <= text[at + 1 : at + 2] < "u")):
            # Most answers begin like this: nothing is to be passed over, and no marker to be looked for.
            return self._begin_block()
        if self._base + at == 0 and text.startswith("\ufeff"):
            # A byte order mark at the start is no part of the answer.
            at = 1
        while True:
            if self._in_comment:
                at = end_of(_IN_LINE, text, at)
                self._in_comment = at == len(text)
            self._at = at
            if not self._skip_blanks():
                return False
            at = self._at
            column = self._indent + self._base + at - self._indent_end
            if text[at] != "#":
                break
            self._in_comment = True
            if self._comment_column < 0:
                self._comment_column = column
        if 0 <= self._comment_column < column:
            # Indented below a comment: an excerpt of a program, and Python would not read it either.
            self.prose = True
            if not self._ticks:
                return self._retract()
            self._place = _CODE
            return True
        if self._ticks:
            return self._begin_block()
        if self._comment_column < 0 and text[at] in "`~":
            return self._begin_ticks()
        return self._marker_or(self._begin_words)

    def _line(self) -> bool:
        """A line begins, behind other segments: most are prose, and only few may begin a block."""
        if not self._skip_blanks():
            return False
        text = self._text
        at = self._at
        first = text[at]
        if first in "`~":
            return self._begin_ticks()
        return self._marker_or(self._begin_words)

    def _begin_words(self) -> bool:
        """A line begins, of the answer or within it, and not with a marker."""
        text = self._text
        at = behind = self._at
        first = text[at]
        if first in prose.SIGNS or first.isdigit():
            line_end = end_of(_LINE_HEAD, text, at)
            if line_end == len(text) and not self._final and line_end - at < prose.REACH:
                return False
            sign = prose.goes_on(text[at:line_end])
            if sign and self._only_blanks:
                begin = self._base + at
                self._commit(Refusal(Reason.OPERATOR, Span(begin, begin + sign)))
                return True
            if sign or first.isdigit() or self._only_blanks:
                behind = end_of(prose.before_call(), text, at)
        if behind == at and self._place == _LEAD:
            return self._begin_block()
        if text[behind : behind + 1] in ("{", "[") or _LINE_OF_CALL.match(text, behind) is not None:
            self._sign_at = -1
            if behind > at:
                self._sign_at = self._base + next((n for n in range(at, behind) if text[n] in _OPERATORS), at)
            self._at = behind
            return self._begin_block()
        if not self._final and _MAY_BE_LINE_OF_CALL.match(text, behind) is not None:
            return False
        return self._begin_prose() if self._place == _LINE else self._begin_block()

    def _marker_or(self, otherwise: Callable[[], bool]) -> bool:
        """Pass the marker that stands here; where none does, go on otherwise."""
        text = self._text
        start = self._at
        if text[start] not in markers.FIRST:
            return otherwise()
        found = markers.ANY.match(text, start)
        if self._may_become_marker():
            return False
        if found is None:
            return otherwise()
        token = found.group()
        kind = markers.KINDS[token]
        self._at = found.end()
        if kind == markers.BEGINS:
            self._begins = token
            self._start = self._base + start
            self._place = _LEAD
            self._comment_column = -1
        elif kind == markers.THINKS:
            self._close_by = markers.closer(token)
            self.steps.add(Allowance.REASONING)
            self._earlier = ()
            self._place = _THINKING
            self.parsed = False
        elif kind == markers.THOUGHT:
            self._forget()
        elif kind == markers.HIDES:
            self._hide(token, start)
        else:
            self.steps.add(Allowance.MARKER)
            if self.block_at < 0 and not self.prose and self._lead_start < 0:
                self._lead_start = self._base + start
            if self._only_blanks:
                self.blocks[-1] = self.blocks[-1]._replace(end=self._base + self._at)
            self._place = _AFTER if self.blocks or self.prose else _LEAD
        return True

    def _hide(self, token: str, start: int) -> None:
        """Pass what this token opens as prose; but what stands on both sides of a comment stands side by side."""
        is_comment = token in markers.COMMENTS
        self._close_by = markers.closer(token)
        if is_comment:
            self._keep_words(self._base + start)
        else:
            self._earlier = ()
        self._only_blanks = self._only_blanks and is_comment
        self._is_broken = self._place == _AFTER
        # A formula is a part of its line.
        if self._place == _PROSE or token[0] in "\\$":
            self._behind_hidden = _PROSE
        else:
            self._behind_hidden = _AFTER if self._place == _AFTER and is_comment else 0
        self._note_prose(self._indent)
        self.parsed = False
        self._place = _OVER if self._is_prose_alone() else _THINKING

    def _may_become_marker(self) -> bool:
        """Whether more text could make a marker, or a longer one, of all that is left."""
        rest = len(self._text) - self._at
        return not self._final and rest < markers.LONGEST and markers.may_become_marker(self._text[self._at :])

    def _forget(self) -> None:
        """The end of reasoning that began before the answer: all so far was a part of it."""
        self.steps = {Allowance.REASONING}
        self.blocks = []
        self.spoiled = None
        self._lead_start = -1
        self._only_blanks = False
        self.prose = self._unseparated = self.parsed = False
        self._first = None
        self.block_at = -1
        self._begins = ""
        self._ticks = 0
        self._comment_column = -1
        self._place = _LEAD

    def _begin_ticks(self) -> bool:
        self._tick = self._text[self._at]
        self._ticks = 0
        if not self._begins:
            self._start = self._base + self._at
        self._place = _TICKS
        return True

    def _in_ticks(self) -> bool:
        self._ticks += self._pass_ticks()
        if self._at == len(self._text) and not self._final:
            return False
        if self._ticks >= _FENCE_TICKS or (self._tick == "`" and self.block_at < 0 and not self.prose):
            self.parsed = self._only_blanks = False
            self._place = _INFO
            return True
        # No fence: operators, or code within a line of prose.
        if self._at < self._ticks:
            self._text = self._tick * self._ticks + self._text[self._at :]
            self._base = self._seen - len(self._text)
            self._at = self._ticks
        self._at -= self._ticks
        self._ticks = 0
        self._place = _LEAD if self.block_at < 0 and not self.prose else _LINE
        return self._begin_words()

    def _in_info(self) -> bool:
        """The block begins behind the line end; or at a list; or at a word, which may turn out to be the info."""
        self._place = _LEAD
        self._comment_column = -1
        if self._ticks < _FENCE_TICKS:
            return True
        text = self._text
        info = _INFO_STRING.match(text, self._at)
        assert info is not None
        end = info.end()
        if end == len(text) and end - self._at < _INFO_LENGTH and not self._final:
            self._place = _INFO
            return False
        word = info.group(1)
        decided = end - self._at < _INFO_LENGTH
        if word.lower() in prose.MATHS_LANGUAGES:
            self._note_prose(self._prose_column)
            self._place = _OVER if self._is_prose_alone() else _CODE
        elif decided and (
            text[end : end + 1] in ("", "\n", "\r") or (text[end] == "[" and (not word or self._is_language(info)))
        ):
            self._at = end
        else:
            self._at = info.start(1)
            self._may_be_info = True
        return True

    def _is_language(self, info: re.Match[str]) -> bool:
        return info.group(1) in _LANGUAGES and info.end(1) < info.end()

    def _in_info_line(self) -> bool:
        self._at = end_of(_IN_LINE, self._text, self._at)
        if self._at == len(self._text):
            return False
        self._place = _LEAD
        return True

    def _begin_block(self) -> bool:
        self.parsed = self._only_blanks = False
        self._led = None
        at = self._base + self._at
        reader = Reader(self._toolset, self._limits, at)
        if self.block_at < 0 and not self.prose:
            self.block_at = at if self._sign_at < 0 else self._sign_at
            self._first = reader
        self._reader = reader
        self._column = self._indent
        self._place = _BLOCK
        if not (self._ticks or self._begins):
            # A turn token before the block goes with it.
            self._start = at if self._lead_start < 0 or self.prose else self._lead_start
        return True

    def _in_block(self) -> bool:
        reader = self._reader
        assert reader is not None
        outcome = reader.feed(self._text, self._final, self._at)
        if outcome == READING:
            self._at = len(self._text)
            return False
        builder = reader.builder
        whole = builder is not None and outcome == DONE and builder.is_whole()
        if (
            builder is not None
            and whole
            and builder.refusal is None
            and reader is self._first
            and reader.stopped_by == END
            and not (self._ticks or self._begins)
            and self._sign_at < 0
        ):
            # Most answers are one block and nothing else.
            self._add_block(builder, reader.end)
            self._place = _OVER
            return False
        if whole and self._within_line:
            whole = prose.leads_to_list(prose.last_line(self._text_before(reader.offset)))
        # The reader may have held some of the answer back: what it has is what is left.
        self._text, self._base, self._at = reader.rest()
        if reader.ends_line():
            before = self._text_before(self._base + self._at)
            line = before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
            self._indent = _width(line[: end_of(_SPACES, line, 0)])
        if self._sign_at >= 0:
            return self._behind_sign(reader)
        if outcome == DONE and reader.stopped_by == END:
            span = 0 < self._ticks < _FENCE_TICKS
            if reader is self._first and not self.prose and builder is not None and builder.names:
                # Whether or not the names are offered; a code span that is not closed is none.
                self.parsed = not span
            if not whole:
                self._reject(reader)
            elif span:
                end = self._seen
                self._commit(
                    Refusal(
                        Reason.TRUNCATED,
                        Span(end, end),
                        (f"'{self._tick * self._ticks}'",),
                    )
                )
            else:
                self._accept(reader.end)
        elif whole or (outcome == DONE and self._ticks):
            self._place = _BEHIND
        else:
            self._reject(reader)
        return True

    def _behind_sign(self, reader: Reader) -> bool:
        """What signs before it on its line make of a call of an offered tool: an expression, and so of all others."""
        at, self._sign_at = self._sign_at, -1
        if reader.builder is not None and reader.builder.commits():
            refusal = Refusal(Reason.OPERATOR, Span(at, at + 1))
            if self.blocks or reader is self._first:
                self._commit(refusal)
                return True
            self.spoiled = self.spoiled or refusal
        self._pass_over(reader)
        return True

    def _behind(self) -> bool:
        """A whole block, and something behind it: what closes its fence, a marker, another line, or what spoils it."""
        reader = self._reader
        assert reader is not None
        text = self._text
        at = self._at
        if reader.passed_token():
            return self._behind_word(reader)
        first = text[at : at + 1]
        if self._ticks:
            if first == self._tick:
                self._closing = 0
                self._place = _CLOSING
            else:
                self._reject(reader)
            return True
        if first == "<" or (first == "[" and reader.ends_line()):
            found = markers.ANY.match(text, at)
            if self._may_become_marker():
                return False
            if found is not None:
                self._accept(reader.end)
                if not self.over:
                    self.blocks[-1] = self.blocks[-1]._replace(end=self._base + at)
                return True
        if not reader.ends_line():
            self._reject(reader)
            return True
        self._accept(reader.end)
        if not self.over:
            self._place = _LINE
        return True

    def _behind_word(self, reader: Reader) -> bool:
        """A whole block, and a word, a name or a string behind it, which are passed already."""
        if self._ticks or not reader.ends_line():
            self._reject(reader)
        elif reader.stopped_by in _CALL_LIKE:
            # A call behind a list: they are not mixed.
            self._commit(reader.refusal())
        else:
            self._accept(reader.end)
            if not self.over:
                self._begin_prose()
        return True

    def _accept(self, end: int) -> None:
        """The block is whole: it is one of the answer's."""
        reader = self._reader
        assert reader is not None
        builder = reader.builder
        assert builder is not None
        plain = not (self._ticks or self._begins)
        if plain and self._column > self._prose_column and not self._within_line:
            # Indented below a line that is no call: a line of a program, or of an example, as all around it may be.
            self._retract()
            return
        if self.prose and not self._is_led_to():
            return
        if plain and self._unseparated and not self._within_line:
            # Lists and bare calls are not mixed.
            self._commit(
                Refusal(
                    Reason.TRAILING_TEXT,
                    Span(reader.offset, reader.offset + 1),
                    ("the end",),
                )
            )
            return
        if builder.unclosed and not self._may_be_unclosed(reader):
            self._commit(reader.refusal())
            return
        if builder.refusal is not None:
            # A tool that is never recovered.
            self._commit(builder.refusal)
            return
        self._calls_left -= len(builder.calls)
        if self._calls_left < 0:
            self._commit(Refusal(Reason.TOO_MANY_CALLS, builder.calls[self._calls_left].span))
            return
        self._values_left -= self._limits.values - builder.values_left
        if self._values_left < 0:
            self._commit(Refusal(Reason.TOO_MANY_VALUES, Span(self._start, end)))
            return
        self._add_block(builder, end)
        self._unseparated = plain
        self._only_blanks = True
        self._within_line = 0 < self._ticks < _FENCE_TICKS
        self._is_broken = False
        self._ticks = 0
        self._begins = ""
        self._may_be_info = False
        self._place = _AFTER

    def _is_led_to(self) -> bool:
        """Whether the words before the block leave it what it is."""
        lead = self.lead()
        self._in_sentence = self._begins != "" and lead.unfinished
        if lead.apart:
            self._retract()
        elif lead.sign is not None:
            self._commit(Refusal(Reason.OPERATOR, self._place_of(lead.sign)))
        return not lead.apart and lead.sign is None

    def is_surely_led_to(self) -> bool:
        """Whether, whatever follows the block that is being read, the words before leave it what it is."""
        lead = self.lead()
        return not lead.apart and lead.sign is None and (self._ticks > 0 or not lead.unfinished)

    def lead(self) -> Lead:
        """What the words before the block that is being read say of it. Asked once."""
        if self._led is None:
            self._led = prose.lead_of("".join(words for _, words in self._words_before(self._start)))
        return self._led

    def _words_before(self, at: int) -> tuple[tuple[int, str], ...]:
        """The words before this place of the answer, each stretch with its place, as far as they are looked at.

        Back to the block before, and without what is hidden among them.
        """
        last = (max(self._words_at, at - prose.REACH), self._text_before(at))
        reach = prose.REACH - len(last[1])
        kept = []
        for begin, words in reversed(self._earlier):
            if reach > 0:
                kept.append((begin + max(0, len(words) - reach), words[-reach:]))
            reach -= len(words)
        return (*reversed(kept), last)

    def _keep_words(self, at: int) -> None:
        """Note the words before this place, as far as they are looked at, for what stands behind the comment there."""
        words = self._text_before(at)
        if not words:
            return
        if not self._earlier:
            self._earlier = deque()
            self._earlier_length = 0
        self._earlier.append((max(self._words_at, at - prose.REACH), words))
        self._earlier_length += len(words)
        while self._earlier_length - len(self._earlier[0][1]) >= prose.REACH:
            self._earlier_length -= len(self._earlier.popleft()[1])

    def _place_of(self, words: tuple[int, int]) -> Span:
        """Where in the answer this part of the words before the block stands."""
        start, end = words
        for begin, text in self._words_before(self._start):
            if start < len(text):
                return Span(begin + start, begin + end)
            start, end = start - len(text), end - len(text)
        raise AssertionError

    def _text_before(self, at: int) -> str:
        begin = max(self._words_at, at - prose.REACH)
        if begin >= self._base:
            return self._text[begin - self._base : at - self._base]
        parts: list[str] = []
        place = self._seen
        for piece in reversed(self._pieces):
            place -= len(piece)
            if place < at:
                parts.append(piece[max(0, begin - place) : at - place])
            if place <= begin:
                break
        return "".join(reversed(parts))

    def _retract(self) -> bool:
        """The whole answer is text: what it holds of calls is a part of something else, or spoken about."""
        self.blocks = []
        self._place = _OVER
        return True

    def _add_block(self, builder: Builder, end: int) -> None:
        self._words_at = end
        self._earlier = ()
        self.blocks.append(self.block_to(builder, end))

    def block_to(self, builder: Builder, end: int) -> Block:
        """The block that is being read, if it ends there."""
        used = builder.used()
        alone = None
        beside = Allowance.PROSE_LIST if builder.is_list else Allowance.PROSE_LINES
        if self._begins:
            used.add(Allowance.MARKER)
        if self._ticks:
            alone = Allowance.FENCE
            beside = Allowance.PROSE_FENCE
        return Block(self._start, end, builder.calls, frozenset(used), beside, alone)

    def _may_be_unclosed(self, reader: Reader) -> bool:
        """A list may lack its end only where the answer ends, or the fence or marker around it does."""
        return reader.stopped_by == END or self._ticks > 0 or self._text[self._at : self._at + 1] == "<"

    def _reject(self, reader: Reader) -> None:
        """No block: prose, but where the line was committed to being a call."""
        builder = reader.builder
        if builder is None and self._may_be_info and (reader.stopped_by in _INFO_KINDS or reader.passed_token()):
            self._may_be_info = False
            self._place = _INFO_LINE
            return
        if builder is not None and builder.commits() and not self._within_line:
            self._commit(reader.refusal())
            return
        if self._begins and builder is not None and self.spoiled is None:
            self.spoiled = reader.refusal()
        self._pass_over(reader)

    def _pass_over(self, reader: Reader) -> None:
        """What was read is prose."""
        if reader.is_limited():
            # What stands behind would be read otherwise if the limit were higher.
            self._retract()
            return
        in_fence = self._ticks >= _FENCE_TICKS
        self._note_prose(self._prose_column if in_fence or self._within_line else self._column)
        self._may_be_info = False
        if self._is_prose_alone():
            self._place = _OVER
        elif in_fence:
            self._place = _CODE
        else:
            self._ticks = 0
            self._place = _LINE if reader.ends_line() and not reader.passed_token() else _PROSE

    def _commit(self, refusal: Refusal) -> None:
        self.committed = refusal
        self._place = _OVER

    def _in_closing(self) -> bool:
        reader = self._reader
        assert reader is not None
        self._closing += self._pass_ticks()
        rest = self._at < len(self._text)
        if not rest and not self._final:
            return False
        span = self._ticks < _FENCE_TICKS
        if self._closing != self._ticks if span else self._closing < self._ticks:
            self._reject(reader)
            return True
        builder = reader.builder
        if builder is None or not builder.is_whole():
            parsed = reader is self._first and not self.prose and builder is not None and builder.names > 0
            self._ticks = 0
            self._reject(reader)
            if not self.over or parsed:
                self.parsed = parsed
                self._place = _AFTER
            return True
        self._accept(self._base + self._at)
        return True

    def _after(self) -> bool:
        """On the line of a segment that is closed: nothing, or a marker, or text that is prose or spoils the block."""
        text = self._text
        self._at = at = end_of(_SPACES, text, self._at)
        if at == len(text):
            return False
        # Behind a code span, to the end of the answer, nothing may stand; behind a fence nothing on its line.
        span = self._within_line
        if text[at] in "\r\n":
            if span:
                self._at = end_of(_BLANKS, text, at)
                return self._spoil() if self._at < len(text) else False
            self._place = _LINE
            return True
        if text[at] in "<[" and not span:
            return self._marker_or(self._begin_prose)
        if self._only_blanks and (self.blocks[-1].alone or self._is_broken or text[at] in _OPERATORS):
            return self._spoil()
        if self._only_blanks and self._in_sentence:
            return self._retract()
        return self._begin_prose()

    def _spoil(self) -> bool:
        at = self._base + self._at
        reason = Reason.OPERATOR if self._text[self._at] in _OPERATORS else Reason.TRAILING_TEXT
        self._commit(Refusal(reason, Span(at, at + 1), ("the end",)))
        return True

    def _note_prose(self, column: int) -> None:
        """Text is passed over that begins in this column: it is nobody's marker's, and apart from the block before."""
        self.prose = True
        self._begins = ""
        self._unseparated = self._within_line = False
        self._prose_column = min(self._prose_column, column)

    def _begin_prose(self) -> bool:
        self._note_prose(self._indent)
        self.parsed = self._only_blanks = False
        self._place = _OVER if self._is_prose_alone() else _PROSE
        return True

    def _is_prose_alone(self) -> bool:
        """Whether it is known that no block can follow: no tool is named, and no reasoning ends. A no is for good."""
        answer = self._answer
        if answer is None:
            return False
        if self.blocks or self.mention(answer) == AS_CALL or markers.may_end_reasoning(answer, self._base + self._at):
            self._answer = None
            return False
        return True

    def _in_prose(self) -> bool:
        """Up to the end of the line, or to a marker or a list within it."""
        text = self._text
        found = _IN_PROSE.search(text, self._at)
        if found is None:
            self._at = len(text)
            return False
        self._at = found.start()
        sign = text[self._at]
        if sign in "\r\n":
            self._place = _LINE
            return True
        if sign in "`'\"":
            # A marker in quotes is talked about.
            if found.end() == self._at + 1:
                return False
            self._at = found.end()
            return True
        if sign == ":":
            if found.end() == len(text):
                return False
            self._at = found.end()
            self._within_line = True
            return self._begin_block()
        return self._marker_or(self._pass_sign)

    def _pass_sign(self) -> bool:
        self._at += 1
        return True

    def _in_code(self) -> bool:
        """In a fence that holds no calls: up to the end of the line."""
        self._at = end_of(_IN_LINE, self._text, self._at)
        if self._at == len(self._text):
            return False
        self._closing = 0
        self._place = _CODE_TICKS
        return True

    def _in_code_ticks(self) -> bool:
        """Where a line of that fence begins: ticks may close it."""
        if not self._closing and not self._skip_blanks():
            return False
        self._closing += self._pass_ticks()
        if self._at == len(self._text) and not self._final:
            return False
        closes = self._closing >= self._ticks
        self._place = _PROSE if closes else _CODE
        if closes:
            self._ticks = 0
        return True

    def _thinking(self) -> bool:
        close = self._close_by.search(self._text, self._at)
        if close is None:
            self._at = max(self._at, len(self._text) - markers.LONGEST + 1)
            return False
        self._at = close.end()
        self._words_at = self._base + self._at
        self._comment_column = -1
        self._place = self._behind_hidden or (_LINE if self.prose or self.blocks else _LEAD)
        self._behind_hidden = 0
        return True

    def _skip_blanks(self) -> bool:
        text = self._text
        begin = self._at
        self._at = at = end_of(_BLANKS, text, begin)
        line_end = max(text.rfind("\n", begin, at), text.rfind("\r", begin, at))
        if line_end >= 0:
            self._indent = 0
            begin = line_end + 1
        if line_end >= 0 or self._base + begin == self._indent_end:
            self._indent += _width(text[begin:at])
            self._indent_end = self._base + at
        return at < len(text)

    def _pass_ticks(self) -> int:
        text = self._text
        at = self._at
        while text[self._at : self._at + 1] == self._tick:
            self._at += 1
        return self._at - at


# By place.
_STEPS: Final[tuple[Callable[[Envelope], bool], ...]] = (
    Envelope._lead,
    Envelope._line,
    Envelope._in_ticks,
    Envelope._in_info,
    Envelope._in_info_line,
    Envelope._in_block,
    Envelope._behind,
    Envelope._in_closing,
    Envelope._after,
    Envelope._in_prose,
    Envelope._in_code,
    Envelope._in_code_ticks,
    Envelope._thinking,
    Envelope._over,
)
