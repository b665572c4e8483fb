"""Characters ▶ tokens: hand-written, resumable at every character, total on any text.

The text arrives in pieces. `scan` gives the kind of the next token, or `MORE` where only what is still to come can
tell; nothing that was looked at is looked at again, but for the start of a token that can't be long (a name, a number,
an operator). A blank, a comment and a string can be long, so each is left where the piece ends and gone on with.

Which token is which is decided by characters alone, never by what the grammar expects: the same rules stand as
patterns in grammar/calls.lark, and a test holds the two equal. May import: `lexemes`, `literals`, `policy`, `result`,
`tables`, `text`.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from .lexemes import (
    ASCII_NAME,
    COMMENT,
    DIGITS,
    FIRST,
    HEX_MORE,
    JOINT,
    LONGEST_OPERATOR,
    LONGEST_PAIR,
    LONGEST_PLAIN_NUMBER,
    LONGEST_RESERVED,
    MAY_BE_BLANK,
    NAME_LIKE,
    NAMED,
    NUMBER_LIKE,
    NUMBER_MORE,
    NUMBER_PATTERN,
    OPERATOR_PATTERN,
    OTHERWISE,
    PLAIN_ARGUMENT,
    PLAIN_CONSTANT,
    PLAIN_INTEGER,
    PLAIN_ITEM,
    PLAIN_LIST,
    PLAIN_STRINGS,
    PREFIXES,
    QUOTES,
    RESERVED,
    SMART_QUOTES,
    SPACES,
    SPACES_AND_LINE_ENDS,
    STRING_LIKE,
    end_of_line_join,
    end_of_word,
    name_surely_ends,
)
from .literals import (
    CONSTANTS,
    Fault,
    LeadingZero,
    breaks_line,
    decode_number,
    decode_string,
    is_unfinished,
)
from .policy import Limits
from .result import Reason
from .tables import (
    ARGUMENTS,
    COLON_KEY,
    COMMA,
    CONSTANT,
    END,
    KEY,
    LBRACE,
    LPAR,
    NAME,
    NEWLINE,
    NUMBER,
    OPERATOR,
    OTHER,
    PLAIN_CALL,
    RBRACE,
    RPAR,
    SIGN,
    STRING,
    WORD,
)
from .text import end_of

# Instead of a kind: the text so far does not tell; or a token that can't be read, with the reason in `fault`.
MORE: Final = -1
BAD: Final = -2

# What a literal, a word or a sign gives.
Json = str | int | float | bool | LeadingZero | None
# What an argument is that is read in one step.
Argument = Json | list[Json]
# Behind the sign that makes a word a key: what makes another sign of it.
_NO_KEY: Final = {"=": ("=",), ":": (":", "=")}


class Scanner:
    """Reads one block. After `scan`, the token begins at `start`; `end` tells where it ends."""

    __slots__ = (
        "_ahead",
        "_at",
        "_behind_name",
        "_body",
        "_body_start",
        "_final",
        "_in_comment",
        "_limits",
        "_line_ended",
        "_name_end",
        "_number_known",
        "_offset",
        "_quote",
        "_raw",
        "_text",
        "arguments",
        "bad_end",
        "call_end",
        "closed_at",
        "depth",
        "escaped",
        "fault",
        "json",
        "key",
        "leading_zeros",
        "name",
        "newline_at",
        "quote_repair",
        "raw_newline",
        "refused_at",
        "smart_quotes",
        "start",
        "string_at",
        "value",
    )

    def __init__(self, limits: Limits, offset: int) -> None:
        """`offset` is the place in the answer of the first character that will be fed."""
        self._limits = limits
        self._text = ""
        self._at = 0
        # Place in the answer of `_text[0]`.
        self._offset = offset
        self._final = False
        # How many brackets are open, and where the last outermost one closed.
        self.depth = 0
        self.closed_at = offset
        # Where the last NEWLINE stands, or -1.
        self.newline_at = -1
        # Line ends outside brackets are one NEWLINE, with all blanks and comments behind it; there is none before
        # the first token.
        self._line_ended = True
        self._in_comment = False
        # Whether a name was read whose "(" or "=" is still looked for.
        self._behind_name = False
        # The delimiter of the string being read, or "".
        self._quote = ""
        self._raw = False
        # How far a number was looked at that may go on.
        self._number_known = -1
        self._body: list[str] = []
        self._body_start = offset

        # Where the last token begins, and the last string.
        self.start = offset
        self.string_at = offset
        # Where the last name, key, word or constant ends, without the sign that makes it one.
        self._name_end = offset
        # A name or word as written; a key with its escapes taken away; the value of a literal, or a sign.
        self.name = ""
        self.key = ""
        self.value: Json = None
        # Of ARGUMENTS: where each begins, its key, its value.
        self.arguments: list[tuple[int, str, Argument]] = []
        # Where those end that were read behind a name, or 0; where a PLAIN_CALL ends; where an argument was refused.
        self._ahead = 0
        self.call_end = offset
        self.refused_at = -1
        # Whether strings have JSON's escapes: said by the builder, where it reads JSON.
        self.json = False
        # What was met so far: an escaped underscore in a name or key; in strings a raw line break, quotes as content,
        # smart quotes; how many integers with a leading zero.
        self.escaped = False
        self.raw_newline = False
        self.quote_repair = False
        self.smart_quotes = False
        self.leading_zeros = 0
        # Why the token is BAD, and where what is bad in it ends.
        self.fault = Reason.SYNTAX
        self.bad_end = offset

    def feed(self, text: str, final: bool, at: int = 0) -> None:
        """Give the next piece of the answer; `final`: nothing more comes. `at`: where in the first the block begins."""
        self._final = final
        if at:
            self._text = text
            self._at = at
            self._offset -= at
            return
        rest = self._text[self._at :]
        self._offset += self._at
        self._at = 0
        self._text = rest + text if rest else text

    def fed(self) -> int:
        """Up to which place of the answer text was fed."""
        return self._offset + len(self._text)

    def exhausted(self) -> bool:
        """Whether the answer is closed and nothing stands behind the last token."""
        return self._final and self._at == len(self._text)

    def unread(self) -> str:
        """What was fed and is no whole token yet. Behind a name, blanks are two, and a comment is its sign alone."""
        if self._behind_name:
            blanks = "  " if self._offset + self._at > self._name_end else ""
            return self.name + ("#" if self._in_comment else blanks)
        return "" if self._quote or self._in_comment else self._text[self._at :]

    def undecided(self) -> int:
        """How many characters were fed from a quote on of which it is not known yet whether it ends the string."""
        return len(self._text) - self._at if self._quote else 0

    def closing_sign(self, length: int) -> str:
        """The quote that alone, but for an escape, ends the string being read, if that is so long; else nothing."""
        long = self._offset + self._at >= self._body_start + length
        return self._quote[:1] if long and self._at == len(self._text) else ""

    def open_string(self, length: int) -> str | None:
        """The beginning of the string that is being read, of about this length at most; None where none is."""
        if not self._quote:
            return None
        inside = ""
        for part in islice(self._body, length):
            inside += part[:length]
            if len(inside) >= length:
                break
        return inside

    def rest(self, at: int) -> tuple[str, int, int]:
        """The text that is held, its place in the answer, and where in it place `at` of the answer is."""
        return self._text, self._offset, at - self._offset

    def resumes_at(self, kind: int) -> int:
        """Where to go on behind the last token; of ARGUMENTS and PLAIN_CALL it is where it is, wherever text is cut."""
        if self.refused_at >= 0:
            return self.refused_at
        if kind == PLAIN_CALL:
            return self._name_end + 1
        if kind == COLON_KEY:
            # At its colon: behind that a list may stand.
            return self._offset + self._at - 1
        return self._name_end if kind == ARGUMENTS else self._offset + self._at

    def end(self, kind: int) -> int:
        """Where the token of this kind that was scanned last ends; a name ends before its "(", a key before its "="."""
        return self._name_end if kind in NAMED else self._offset + self._at

    def scan(self) -> int:
        """The kind of the next token (`tables`), or `MORE`, or `BAD`."""
        if self._quote or self._behind_name or self._in_comment:
            return self._resume()
        text = self._text
        at = self._at
        character = text[at : at + 1]
        if character == " ":
            # By far the most frequent blank, behind a comma.
            self._at = at = at + 1
            character = text[at : at + 1]
        if not character:
            return self._at_end()
        if character in MAY_BE_BLANK:
            if not self._skip_blanks():
                return self._at_end()
            at = self._at
            character = text[at]
        self._line_ended = False
        self.start = self._offset + at
        kind = FIRST.get(character, OTHERWISE)
        if kind < 0:
            if kind == NAME_LIKE or (kind == OTHERWISE and character.isidentifier()):
                return self._scan_name(at)
            if kind == STRING_LIKE:
                return self._open_string(at, False)
            return self._scan_number(at) if kind == NUMBER_LIKE else self._scan_operator(at)
        if kind == COMMA:
            pass
        elif RPAR <= kind <= RBRACE:
            if self.depth > 1:
                self.depth -= 1
            else:
                self.depth = 0
                self.closed_at = self.start + 1
        elif LPAR <= kind <= LBRACE:
            if self.depth >= self._limits.depth:
                return self._bad(Reason.TOO_DEEP, at, at + 1)
            self.depth += 1
        elif kind == NEWLINE:
            self._line_ended = True
            self.newline_at = self.start
        elif kind == SIGN:
            self.value = character
        self._at = at + 1
        return kind

    def _resume(self) -> int:
        """Go on with what the last piece ended in."""
        if self._quote:
            return self._scan_string()
        if self._behind_name:
            return self._scan_behind_name()
        return self.scan() if self._skip_blanks() else self._at_end()

    def _at_end(self) -> int:
        """What stands where the text ends."""
        self.start = self._offset + self._at
        return END if self._final else MORE

    def _bad(self, reason: Reason, start: int, end: int) -> int:
        """A token that can't be read; places in `_text`."""
        self.fault = reason
        self.start = self._offset + start
        self.bad_end = self._offset + end
        return BAD

    def _skip_blanks(self) -> bool:
        """Move to the next character that is no blank; False where the text so far has none.

        A line end outside brackets is no blank, but for those behind a NEWLINE. A backslash is left standing where
        it joins no lines.
        """
        text = self._text
        at = self._at
        size = len(text)
        while True:
            if self._in_comment:
                at = end_of(COMMENT, text, at)
                self._in_comment = at == size
            inside = self.depth > 0 or self._line_ended
            at = end_of(SPACES_AND_LINE_ENDS if inside else SPACES, text, at)
            self._at = at
            if at == size:
                return False
            if text[at] == "#":
                self._in_comment = True
            elif text[at] == "\\":
                behind = end_of_line_join(text, at, self._final)
                if behind == at:
                    return True
                if behind < 0:
                    return False
                at = behind
            else:
                return True

    def _scan_operator(self, at: int) -> int:
        """An operator, or one character that no rule takes."""
        text = self._text
        end = end_of(OPERATOR_PATTERN, text, at)
        if end == len(text) and not self._final and end - at < LONGEST_OPERATOR:
            return MORE
        kind = OPERATOR
        if end == at:
            kind = OTHER
            end += 1
        self._at = end
        return kind

    # -- numbers

    def _scan_number(self, at: int) -> int:
        text = self._text
        if text[at] == ".":
            if at + 1 == len(text) and not self._final:
                return MORE
            if text[at + 1 : at + 2] not in DIGITS:
                return self._scan_operator(at)
        digits = self._limits.digits
        # Where the last piece ended within the number it goes on, from the last character that is no sign (`1e` `+5`).
        known = self._number_known - self._offset - 1
        if known > at + 2 and not text[at : known + 1].isascii():
            end = known + 1
        elif known > at + 2:
            known -= text[known] in "+-"
            is_hex = text[at] == "0" and text[at + 1] in "xXoObB"
            end = end_of(HEX_MORE if is_hex else NUMBER_MORE, text, known)
        else:
            end = end_of(NUMBER_PATTERN, text, at)
        while end < len(text) and text[end].isalnum() and end - at <= digits:
            # A digit or letter of another script is no part of any number, and no end of one either.
            end += 1
        self._number_known = self._offset + end
        if end == len(text) and not self._final and end - at <= digits:
            return MORE
        lexeme = text[at : min(end, at + digits + 1)]
        value = decode_number(lexeme, digits)
        if isinstance(value, Fault):
            self._at = end
            if value.reason is Reason.BAD_NUMBER and end == len(text) and is_unfinished(lexeme):
                return self._bad(Reason.TRUNCATED, end, end)
            return self._bad(value.reason, at + value.start, at + value.end)
        if isinstance(value, LeadingZero):
            self.leading_zeros += 1
        self.value = value
        self._at = end
        return NUMBER

    # -- names, keys, constants

    def _scan_arguments(self, at: int) -> bool:
        """Whether keys and plain literals begin at `at`: they are one token."""
        ahead, self._ahead = self._ahead, 0
        # Behind a name they may have been read already.
        end = ahead - self._offset if ahead else self._plain_arguments(at)
        if end == at:
            return False
        self._name_end = self.start + len(self.arguments[0][1])
        self._at = end
        return True

    def _plain_arguments(self, at: int) -> int:
        """Where the plain arguments end that begin at `at`: what was read is in `arguments`."""
        text = self._text
        limits = self._limits
        offset = self._offset
        arguments: list[tuple[int, str, Argument]] = []
        end = at
        while True:
            found = PLAIN_ARGUMENT.match(text, at)
            if found is None:
                break
            form = found.lastindex or 0
            key, literal = found.group(1, form)
            if len(key) > limits.name:
                break
            if form <= PLAIN_STRINGS:
                value: Argument = literal
            elif form == PLAIN_CONSTANT:
                value = CONSTANTS[literal]
            elif form == PLAIN_LIST:
                if self.depth + 2 > limits.depth or limits.digits < LONGEST_PLAIN_NUMBER:
                    # It may be too much for a limit: the place of that is found token by token.
                    break
                value = [_plain_value(item) for item in PLAIN_ITEM.findall(literal)]
            elif len(literal) > limits.digits:
                break
            else:
                value = int(literal) if form == PLAIN_INTEGER else float(literal)
            arguments.append((offset + at, key, value))
            end = found.end(form) + (form <= PLAIN_STRINGS)
            at = found.end()
            if at == end:
                break
        self.arguments = arguments
        return end

    def _scan_name(self, at: int) -> int:
        """A name with its "(", a key with its "=", a constant, or a word that is none of them."""
        text = self._text
        found = ASCII_NAME.match(text, at)
        if found is not None:
            end = found.end()
            if end + 1 < len(text) and end - at <= self._limits.name:
                behind = text[end]
                name = found.group()
                if behind == "(":
                    self._name_end = self._offset + end
                    return self._take_name(name, end + 1)
                if behind == "=" and text[end + 1] != "=" and name.isidentifier():
                    if self.depth and self._scan_arguments(at):
                        return ARGUMENTS
                    self._name_end = self._offset + end
                    return self._take_key(name, end + 1, KEY)
                if name_surely_ends(name, text[end : end + 2], self.depth):
                    self._name_end = self._offset + end
                    return self._take_word(name, end)
        end = self._name_ends(at, at if found is None else found.end())
        if end == at:
            # A backslash that escapes no underscore and joins no lines.
            return self._scan_operator(at)
        if end < 0:
            return MORE
        if end - at > self._limits.name:
            self._at = end = at + self._limits.name + 1
            return self._bad(Reason.NAME_TOO_LONG, at, end)
        name = text[at:end]
        if name in PREFIXES and text[end : end + 1] in QUOTES:
            return self._open_string(end, name in "rR")
        self.name = name
        self._name_end = self._offset + end
        self._at = end
        self._behind_name = True
        return self._scan_behind_name()

    def _name_ends(self, at: int, end: int) -> int:
        """Where the longest run of joined words that begins at `at` ends; -1 where more text could make it longer.

        It is known to reach to `end`, and may go on there.
        """
        text = self._text
        size = len(text)
        most = at + self._limits.name
        behind = end
        while end <= most:
            word_end = end_of_word(text, behind, self._final)
            if word_end < 0:
                # Of two characters the first is of the word or not, whatever comes.
                return -1 if size <= max(most, behind + 1) else size
            if word_end == behind and behind != end:
                return end
            end = behind = word_end
            joint = JOINT.match(text, end) if end > at else None
            if joint is not None:
                behind = joint.end()
            if behind == size and not self._final:
                return -1 if end <= most else end
            if joint is None:
                return end
        return end

    def _scan_behind_name(self) -> int:
        """The token that begins with `name`: what stands behind it and its blanks decides."""
        complete = self._skip_blanks()
        if not complete and not self._final:
            return MORE
        at = self._at
        text = self._text
        name = self.name
        if complete and text[at] in "=:" and at + 1 == len(text) and not self._final:
            return MORE
        self._behind_name = False
        self.start = self._name_end - len(name)
        if complete:
            apart = self._offset + at > self._name_end
            if text[at] == "(" and not (apart and " " in name):
                return self._take_name(name, at + 1)
            if text[at] in "=:" and text[at + 1 : at + 2] not in _NO_KEY[text[at]]:
                key = name.replace("\\_", "_")
                if key.isidentifier():
                    self.escaped = self.escaped or key != name
                    return self._take_key(key, at + 1, KEY if text[at] == "=" else COLON_KEY)
        return self._take_word(name, at)

    def _take_name(self, name: str, behind: int) -> int:
        """A name with its "(", which ends at `behind`; or a whole call, if nothing but plain arguments follow."""
        if self.depth >= self._limits.depth:
            return self._bad(Reason.TOO_DEEP, behind - 1, behind)
        self.name = name
        end = self._plain_arguments(behind)
        if self._text[end : end + 1] == ")" and "\\" not in name:
            self._at = end + 1
            self.call_end = self._offset + end + 1
            return PLAIN_CALL
        self._ahead = self._offset + end if end > behind else 0
        self.depth += 1
        self._at = behind
        return NAME

    def _take_key(self, key: str, behind: int, kind: int) -> int:
        self.key = key
        self._at = behind
        return kind

    def _take_word(self, name: str, behind: int) -> int:
        """A name that neither "(" nor "=" follows."""
        self._at = behind
        if name in CONSTANTS:
            self.value = CONSTANTS[name]
            return CONSTANT
        self.name = name
        self.value = name
        return WORD

    # -- strings

    def _open_string(self, quote_at: int, raw: bool) -> int:
        """A string whose opening quote stands at `quote_at`; a prefix may stand before it."""
        self.string_at = self.start
        text = self._text
        quote = text[quote_at]
        delimiter = text[quote_at : quote_at + 3]
        if quote in SMART_QUOTES:
            self.smart_quotes = True
            delimiter = quote = SMART_QUOTES[quote]
        elif delimiter != quote * 3:
            if len(delimiter) < 3 and not self._final and delimiter == quote * len(delimiter):
                return MORE
            delimiter = quote
            close = text.find(quote, quote_at + 1)
            if 0 <= close < len(text) - 1 and not text[close + 1].isalnum():
                body = text[quote_at + 1 : close]
                if body.isascii() and not ("\\" in body or "\n" in body or "\r" in body):
                    self._at = close + 1
                    self.value = body
                    return STRING
        self._quote = delimiter
        self._raw = raw
        self._body = []
        self._at = quote_at + len(delimiter)
        self._body_start = self._offset + self._at
        return self._scan_string()

    def _scan_string(self) -> int:
        """Go on with the open string."""
        text = self._text
        size = len(text)
        quote = self._quote
        begin = at = self._at
        close = text.find(quote, at)
        while True:
            slash = text.find("\\", at, close if close >= 0 else size)
            if slash >= 0:
                at = slash + 2
                if at > size:
                    return self._hold_string(begin, slash)
                if 0 <= close < at:
                    close = text.find(quote, at)
                continue
            if close < 0:
                break
            behind = self._quote_in_content(begin, close)
            if behind == close:
                self._body.append(text[begin:close])
                return self._close_string(close)
            if behind < 0:
                return self._hold_string(begin, close)
            self.quote_repair = True
            at = behind
            close = text.find(quote, at)
        # The first quotes of three may stand at the end of the piece.
        keep = size
        while len(quote) == 3 and keep > max(at, size - 2) and text[keep - 1] == quote[0]:
            keep -= 1
        return self._hold_string(begin, keep)

    def _quote_in_content(self, begin: int, at: int) -> int:
        """Whether the quote at `at` is content: where the content goes on then; `at` where it closes; -1 for not yet.

        Directly behind a string no letter or digit can stand, so that the strict reading fails where one does. Then a
        quote is content between two letters or digits, and where it opens a pair around words: a space or the opening
        quote stands before it, and behind the second quote a space and a word, or the closing quote. Any other quote
        closes. The piece being read begins at `begin`.
        """
        text = self._text
        if len(self._quote) == 3:
            return at
        behind = text[at + 1 : at + 3]
        if not self._final and len(behind) < 2 and (not behind or behind in PREFIXES):
            return -1
        if not behind[:1].isalnum() or (behind[0] in PREFIXES and behind[1:] in QUOTES):
            return at
        before = text[at - 1] if at > begin else self._body[-1][-1:] if self._body else ""
        if before.isalnum() or before in ("", " "):
            # `'x'or'y'` is an expression, and `'x'b'y'` holds bytes.
            word_end = text.find(self._quote, at + 1, at + 1 + LONGEST_RESERVED)
            if word_end < 0 and len(text) < at + 1 + LONGEST_RESERVED and not self._final:
                return -1
            if word_end >= 0 and text[at + 1 : word_end].strip() in RESERVED:
                return at
        if before.isalnum():
            return at + 1
        if before not in ("", " "):
            return at
        second = text.find(self._quote, at + 1, at + 1 + LONGEST_PAIR)
        if second < 0:
            return -1 if len(text) <= at + LONGEST_PAIR and not self._final else at
        behind = text[second + 1 : second + 3]
        if not self._final and len(behind) < 2 and behind[:1] in ("", " "):
            return -1
        closes = behind[:1] == self._quote or (behind[:1] == " " and behind[1:].isalnum())
        return second + 1 if closes else at

    def _hold_string(self, begin: int, keep: int) -> int:
        """The piece ends inside the string; what stands behind `keep` is looked at again with the next."""
        if self._final:
            self._at = size = len(self._text)
            return self._bad(Reason.TRUNCATED, size, size)
        if keep > begin:
            self._body.append(self._text[begin:keep])
        self._at = keep
        return MORE

    def _close_string(self, close: int) -> int:
        body = "".join(self._body)
        quote = self._quote
        self._quote = ""
        self._body = []
        self._at = close + len(quote)
        value = decode_string(body, self._raw, self.json)
        if isinstance(value, Fault):
            at = self._body_start - self._offset
            return self._bad(value.reason, at + value.start, at + value.end)
        if len(quote) == 1 and breaks_line(body):
            self.raw_newline = True
        self.value = value
        return STRING


def _plain_value(item: str) -> Json:
    """The value of an item of a plain list."""
    if item[0] in QUOTES:
        return item[1:-1]
    if item in CONSTANTS:
        return CONSTANTS[item]
    return float(item) if "." in item else int(item)
