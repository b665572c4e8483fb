"""What the words around a block say of it: whether they lead to it, go on with it, or speak about it.

A block among prose is a call only where the prose leads to it. An operator at the end of the line before, or at the
beginning of the line behind, makes an expression of both; in brackets that were opened before, it is a part of
something; a key with its colon makes data of a list. All is seen from the nearest few hundred characters. May import:
`text`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

from .text import compiled

# How many characters before a block, and how many of the line behind it, are looked at: some sentences.
REACH: Final = 400

# The blocks of Unicode that hold the signs of mathematics and arrows, and the few such signs of Latin-1.
_MATHS: Final = "\u2190-\u22ff\u27c0-\u27ff\u2900-\u2aff\xac\xb1\xb7\xd7\xf7"
MATHS: Final = frozenset("\xac\xb1\xb7\xd7\xf7").union(
    *(map(chr, range(*block)) for block in ((0x2190, 0x2300), (0x27C0, 0x2800), (0x2900, 0x2B00)))
)
# Info strings of fences that hold maths: what is called there is a function of mathematics.
MATHS_LANGUAGES: Final = frozenset("latex tex katex mathjax math maths asciimath".split())
# A fence of maths that is opened where none counts: behind a sign or a comment.
_OPENS_MATHS: Final = rf"(?:```|~~~)[ \t]*(?:{'|'.join(sorted(MATHS_LANGUAGES))})\Z"
# As LaTeX writes them: `\cdot`.
_COMMAND: Final = r"\\[A-Za-z]+"

# What may begin a line that goes on with the block before it: `goes_on` says whether it does.
SIGNS: Final = frozenset("-+*/%&|^=<>@!?.,;:~\\") | MATHS

# The operator that a line ends in: as a word of its own, or directly behind a value; `C++` ends in none.
_SIGN_AT_END: Final = (
    rf"(?:(?<!\S)(?:[-+*/%&|^=<>@!~{_MATHS}]+|:=|{_COMMAND})"
    rf"|(?<=[\w)\]])(?:[-^&|=/{_MATHS}]|\+(?!\+)|\*\*?|[-+*/%&|^:<>=!]=+|[-=]>))[\s\\]*\Z"
)
# What ends in the same characters and in none: a rule, a row of a table, emphasis, an address.
_NO_SIGN_AT_END: Final = (
    r"\A\s*(?:[-*_=+~]\s*){3,}\Z|\A\s*\|(?:.*\|)?\Z|(?<![\w*])\*{1,3}[^\s*](?:[^*]*[^\s*])?\*{1,3}\s*\Z|/[^\s/]+/\s*\Z"
    r"|<[/!?]?[A-Za-z][^<>]*>\s*\Z"
)
# A comment at the end of a line, or alone on it.
_COMMENT: Final = r"(?<!\S)(?:#|//[ \t]+[^\W\d]).*"
# What a line goes on with: an operator, what separates, or the second half of a condition.
_SIGN_AT_START: Final = rf"[-+*/%&|^=<>@,;{_MATHS}]+|!=+|~(?!~)|\.(?=\w)|\?(?=[ \t.?])|:(?=[ \t])|:=|{_COMMAND}"
# What begins with the same characters and goes on with nothing: a rule, emphasis, a tag, a row of a table.
_NO_SIGN_AT_START: Final = (
    r"(?:[-*_=+~][ \t]*){3,}\Z|\*{1,3}[^\s*](?:.*[^\s*])?\*|<(?:[/|?!]|[A-Za-z][\w:.-]*[ \t/>])|\|[^|].*\|\s*\Z"
)
# Signs before a call on its line, with the numbers before them; not emphasis.
_BEFORE_CALL: Final = (
    rf"(?!\*{{1,3}}[^\s*])(?:(?:\d[\d.,]{{0,40}}[ \t]{{0,40}})?(?:[-+*/%&|^=<>!@.,;~{_MATHS}]{{1,40}}|{_COMMAND})"
    rf"[ \t]{{0,40}}){{0,20}}"
)
# A bullet, an arrow or a quotation: the words behind it tell it from an operator.
_BULLET: Final = r"[-*+>·→⇒➜][ \t]+"
# A bracket, or what opens and closes a string of several lines.
_BRACKETS: Final = r"[\[\](){}]|\"\"\"|'''"

# What may stand around a word of prose.
_AROUND_WORD: Final = "*_`\"'“”‘’,.;:!?()-•❌"
_WORD: Final = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
# Words that join values: beside them two words may be an expression.
_JOINING: Final = frozenset("if else and or not in is for lambda await".split())

# What a line of prose begins with: a bullet or a number of a list, and a word. A comment does not, nor do code or data.
_LINE_OF_PROSE: Final = r"(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+)?[\w*_(“‘«¿¡]"
_SENTENCE_ENDS: Final = r"[.!?…。！？]+[)\"'*_”’»]*\s*\Z"
_TAG: Final = r"<[^<>\s]{1,60}>"
_SENTENCE: Final = r"[.!?…。！？]+[)\"'*_”’»]*\s+"
_CLAUSE: Final = r"[.!?…。！？;,–—]+[)\"'*_”’»]*\s+"
# Words of a lead-in that takes the call back, or shows it, and does not make it. A word too many costs a call, a word
# too few runs what the answer warns of. Recorded answers hold hardly any of them before a call that was wanted;
# `example` in some, and several times as often where none was.
_TAKES_BACK: Final = frozenset(
    "not never don't don’t cannot neither nor nothing wrong wrongly incorrect incorrectly invalid "
    "mistaken example examples e.g".split()
)
_TAKES_BACK_PAIRS: Final = frozenset((("instead", "of"), ("rather", "than"), ("for", "instance"), ("such", "as")))
# Words that do so where a clause begins with them: elsewhere they say how a call is made.
_NAMES_FORM: Final = frozenset("avoid bad format usage syntax template signature".split())
# With these, as they stand here, a statement or a declaration begins.
_OF_CODE: Final = frozenset(
    "if elif else for while with class def lambda match case switch default try except finally return yield "
    "const let var val fn fun func function enum struct interface export import "
    "public private protected static readonly".split()
)


class Lead(NamedTuple):
    """What the words before a block say of it."""

    # It is a part of what was opened before, or is spoken about.
    apart: bool
    # Where, in these words, the operator stands that they end in.
    sign: tuple[int, int] | None
    # Words stand before the block on its line, and end no sentence.
    unfinished: bool


def lead_of(before: str) -> Lead:
    """What `before`, the words up to a block, say of it; what is hidden is not among them."""
    at, line, whole = _last_line_of_code(before)
    sign = _sign_at_end(line)
    if sign is None and "//" in whole:
        # No comment, but a division.
        sign = _sign_at_end(whole)
    apart = takes_back(last_line(before)) or (sign is None and _is_inside(before[: at + len(line)]))
    return Lead(apart, sign and (at + sign[0], at + sign[1]), _is_unfinished(before))


def last_line(before: str) -> str:
    """The last line that is not blank, without the blanks behind it."""
    before = before.rstrip()
    return before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]


def _last_line_of_code(before: str) -> tuple[int, str, str]:
    """The last line that is more than a comment: where it begins, what it is without the comment, and with it."""
    end = len(before)
    while True:
        before = before[:end].rstrip()
        end = max(before.rfind("\n"), before.rfind("\r")) + 1
        line = whole = before[end:]
        if "#" in line or "//" in line:
            line = compiled(_COMMENT).sub("", line).rstrip()
        if line or not end:
            return end, line, whole


def _sign_at_end(line: str) -> tuple[int, int] | None:
    """Where the operator stands that the last line before a block ends in."""
    found = compiled(_SIGN_AT_END).search(line)
    if found is None or compiled(_NO_SIGN_AT_END).search(line):
        return None
    return found.start(), found.start() + len(found.group().rstrip(" \t\f\\"))


def _is_inside(before: str) -> bool:
    """Whether the last line of these goes on within a bracket or a string that they open."""
    last = before.rstrip(" \t\f\\")[-1:]
    if last in ("(", "[", "{"):
        return True
    line = last_line(before)
    if last in ("'", '"', "`") and line.count(last) % 2 and not line.lstrip().startswith("```"):
        return True
    if compiled(_OPENS_MATHS).search(line.lower()):
        return True
    opened = 0
    string = ""
    for found in compiled(_BRACKETS).finditer(before):
        sign = found.group()
        if string or len(sign) == 3:
            string = sign if not string else "" if sign == string else string
        elif sign in "([{":
            opened += 1
        else:
            opened = max(0, opened - 1)
    return string != "" or (opened > 0 and last in (",", ":"))


def goes_on(line: str) -> int:
    """How long the operator is that a line behind a block begins with, and goes on with the block by; 0 where none."""
    found = compiled(_SIGN_AT_START).match(line)
    if found is None or compiled(_NO_SIGN_AT_START).match(line):
        return 0
    bullet = compiled(_BULLET).match(line)
    return 0 if bullet is not None and _holds_words(line[bullet.end() :]) else len(found.group())


def before_call() -> re.Pattern[str]:
    """What makes an expression of the call behind it on its line: signs, and the numbers before them."""
    return compiled(_BEFORE_CALL)


def leads_to_list(line: str) -> bool:
    """Whether the line that ends in a colon before a list is prose, and no code and no key of data.

    Its last sentence holds two words side by side, or is one word with a capital. A statement, "=" or an open bracket
    makes code of it, and a quote before the colon a key.
    """
    start = compiled(_LINE_OF_PROSE).match(line.lstrip())
    words = line[:-1].rstrip()
    if start is None or words[-1:] in ("'", '"', ":") or sum(map(words.count, "([{")) > sum(map(words.count, ")]}")):
        return False
    sentence = compiled(_SENTENCE).split(words)[-1].lstrip("-*+•_ \t")
    if "=" in sentence or not _OF_CODE.isdisjoint(words.lstrip("-*+• \t").split(maxsplit=1)[:1]):
        return False
    word = sentence.strip(_AROUND_WORD)
    is_one_word = word.isalpha() and (word.istitle() or word.isupper() or word.lower() == word.upper())
    return is_one_word or _holds_words(sentence)


def takes_back(line: str) -> bool:
    """Whether the last line before a block leads to it as to what is not called: where its sentence begins, or at last.

    A line whose last sentence has ended leads to nothing.
    """
    if line[-1:] != ":" and compiled(_SENTENCE_ENDS).search(line):
        return False
    clauses = compiled(_CLAUSE).split(compiled(_SENTENCE).split(line.lower())[-1])
    begins, clause = _words(clauses[0])[:2], _words(clauses[-1])
    words = {*(begins[1:] if begins[:1] == ["do"] else begins[:1]), *clause}
    return (
        not _TAKES_BACK.isdisjoint(words)
        or "n't" in clauses[-1]
        or "n’t" in clauses[-1]
        or not _TAKES_BACK_PAIRS.isdisjoint((tuple(begins), *pairwise(clause)))
        or not _NAMES_FORM.isdisjoint(clause[1:2] if clause[:1] == ["the"] else clause[:1])
    )


def _is_unfinished(before: str) -> bool:
    """Whether words stand before a block on its line, and end no sentence. Tags are no words."""
    line = compiled(_TAG).sub("", before[max(before.rfind("\n"), before.rfind("\r")) + 1 :])
    return any(map(str.isalpha, line)) and compiled(_SENTENCE_ENDS).search(line) is None


def _words(text: str) -> list[str]:
    """The words of a text, without the signs around them."""
    return [word for part in text.split() if (word := part.strip(_AROUND_WORD))]


def _holds_words(text: str) -> bool:
    """Whether two words of prose stand side by side."""
    plain = False
    for part in text.split():
        word = part.strip(_AROUND_WORD)
        is_plain = word not in _JOINING and compiled(_WORD).fullmatch(word) is not None
        if plain and is_plain:
            return True
        plain = is_plain and part[-1] != ","
    return False
