"""Files of rows, plain or gzip, and what a row must hold: an answer's text, the tools offered with it.

A row that is wrong is a `BadRow` or raises `BadRowError`, and the next one is read. May import: the public names of
the package.
"""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from reprlib import Repr
from typing import Any, Final, NamedTuple, TypeVar

from . import Call, Policy, Recovery, Stream, Toolset, recover

_T = TypeVar("_T")

# What names a row or a toolset.
Id = str | int

# Holds an answer as long as the limit on characters (16 Mi), with every fourth character escaped.
_ROW_BYTES: Final = 64 * 1024 * 1024
# Toolsets that stand in the rows themselves: neighbours often share one.
_RECENT_TOOLSETS: Final = 16
# Characters of a token, as models write them, or a little less.
_DELTA: Final = 4

# What may stand beside the tools, in a row, in its toolset or in both: those of the row are added, and its namespaces
# count in place of others.
_BESIDE_TOOLS: Final[dict[str, type]] = {"aliases": dict, "namespaces": list, "never": list}
_KINDS: Final[dict[type, str]] = {dict: "an object", list: "a list"}

# What stands in a row, for a message: bounded in length and depth, but an id whole.
_short: Final = Repr()
_short.maxstring = 100


class BadRow(NamedTuple):
    """A row that can't be replayed, or the place from which a file can't be read on."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class BadRowError(Exception):
    """Why a row can't be replayed."""


class Line(NamedTuple):
    """One row as it stands in the file, and how many bytes of the file lie behind it."""

    file: str
    number: int
    raw: bytes
    behind: int


def read_lines(file: str) -> Iterator[Line | BadRow]:
    """The rows of one file, plain or gzip. Where the file can't be read on, its last row says so."""
    number = 0
    try:
        # By number, because what stands in for `sys.stdin` may have no bytes.
        with open(0 if file == "-" else file, "rb", closefd=file != "-") as raw:
            stream = gzip.GzipFile(fileobj=raw, mode="rb") if raw.peek(2)[:2] == b"\x1f\x8b" else raw
            while row := stream.readline(_ROW_BYTES):
                number += 1
                is_cut = len(row) == _ROW_BYTES and not row.endswith(b"\n")
                while is_cut and (rest := stream.readline(_ROW_BYTES)) and not rest.endswith(b"\n"):
                    pass
                if is_cut:
                    yield BadRow(file, number, f"longer than {_ROW_BYTES:,} bytes")
                elif row.strip():
                    row = row.removeprefix(codecs.BOM_UTF8) if number == 1 else row
                    yield Line(file, number, row, raw.tell() if raw.seekable() else 0)
    except (OSError, EOFError, zlib.error) as error:
        yield BadRow(file, number + 1, f"can't be read on: {error}")


def attempt(line: Line, read: Callable[[], _T]) -> _T | BadRow:
    """What `read` gives of the row, or why the row is bad."""
    try:
        return read()
    except BadRowError as error:
        return BadRow(line.file, line.number, str(error))
    except RecursionError:
        return BadRow(line.file, line.number, "nested too deep")


def recover_row(line: Line, text: str, tools: Toolset, policy: Policy) -> Recovery:
    """What `recover` gives. Where that raises it is not the row's fault, so no bad row but a RuntimeError naming it."""
    with _naming(line):
        return recover(text, tools, policy=policy)


def commit_row(line: Line, text: str, tools: Toolset, policy: Policy) -> tuple[Call, ...]:
    """The calls that have gone out when a `Stream` that commits by call has read all. Raises as `recover_row` does."""
    with _naming(line):
        stream = Stream(tools, policy=policy, commit="call", make_id=str)
        for at in range(0, len(text), _DELTA):
            stream.feed(text[at : at + _DELTA])
        stream.close()
        return stream.committed


@contextmanager
def _naming(line: Line) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise RuntimeError(f"{line.file}:{line.number}: reading this answer raised, and none may") from error


def read_row(raw: bytes) -> dict[str, Any]:
    """The JSON object that a row is."""
    try:
        row = json.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise BadRowError(f"no UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start} of the row") from None
    except json.JSONDecodeError as error:
        raise BadRowError(f"no JSON, column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise BadRowError(f"no JSON that can be read: {error}") from None
    if not isinstance(row, dict):
        raise BadRowError(f"a row must be a JSON object, not {_short.repr(row)}")
    return row


def read_id(value: object, name: str = "id") -> Id | None:
    """The id of a row or of its toolset, None where it has none."""
    if value is None or (isinstance(value, Id) and not isinstance(value, bool)):
        return value
    raise BadRowError(f"{name} must be a string or a whole number, not {_short.repr(value)}")


def read_text(row: Mapping[str, Any]) -> str:
    """The answer: `text`, or the content of an OpenAI message, which is null where the model called a tool itself."""
    text, message = row.get("text"), row.get("message")
    if text is None:
        if not isinstance(message, dict):
            raise BadRowError("no text and no message")
        text = message.get("content")
    if isinstance(text, str):
        return text
    if text is None:
        return ""
    if text is row.get("text") or not isinstance(text, list):
        raise BadRowError(f"the text must be a string, not {_short.repr(text)}")
    parts: list[str] = []
    for number, part in enumerate(text):
        said = part.get("text", part.get("refusal")) if isinstance(part, dict) else part
        if not isinstance(said, str):
            raise BadRowError(f"message.content[{number}] is no text: {_short.repr(part)}")
        parts.append(said)
    return "".join(parts)


def read_seen(row: Mapping[str, Any]) -> int | None:
    """How often the answer occurred, None where the row does not say."""
    seen = row.get("seen")
    if seen is None or (isinstance(seen, int) and not isinstance(seen, bool) and seen > 0):
        return seen
    raise BadRowError(f"seen must be a whole number of at least 1, not {_short.repr(seen)}")


class Toolsets:
    """The toolsets of the rows: those with an id are built once, of all others the last few are kept.

    What is wrong with a toolset is remembered like the toolset itself.
    """

    def __init__(self, rows: Mapping[Id, bytes]) -> None:
        self._rows = rows
        self._of_id = cache(self._build)
        self._of_row = lru_cache(_RECENT_TOOLSETS)(self._build)

    def of(self, row: Mapping[str, Any]) -> Toolset:
        tools, more, id_ = row.get("tools"), {name: row.get(name) for name in _BESIDE_TOOLS}, None
        if tools is None:
            id_ = read_id(row.get("toolset"), "toolset")
            if id_ is None:
                raise BadRowError("no tools and no toolset")
            if id_ not in self._rows:
                raise BadRowError(f"there is no toolset {_short.repr(id_)}")
        build = self._of_row if tools is not None or any(more.values()) or more["namespaces"] == [] else self._of_id
        found = build(json.dumps([id_, tools, more]))
        if isinstance(found, str):
            raise BadRowError(found)
        return found

    def _build(self, definition: str) -> Toolset | str:
        id_, tools, more = json.loads(definition)
        row = {"tools": tools} if id_ is None else read_row(self._rows[id_])
        place = "" if id_ is None else f"toolset {_short.repr(id_)}: "
        if not isinstance(row.get("tools"), list):
            return f"{place}tools must be a list, not {_short.repr(row.get('tools'))}"
        for name, kind in _BESIDE_TOOLS.items():
            for given in (row.get(name), more[name]):
                if not isinstance(given, kind | None):
                    return f"{place}{name} must be {_KINDS[kind]}, not {_short.repr(given)}"
        aliases = {**(row.get("aliases") or {}), **(more["aliases"] or {})}
        never = [*(row.get("never") or ()), *(more["never"] or ())]
        namespaces = more["namespaces"] if more["namespaces"] is not None else row.get("namespaces")
        prefixes = {} if namespaces is None else {"namespaces": namespaces}
        try:
            return Toolset(row["tools"], aliases=aliases, never=never, **prefixes)
        except (TypeError, ValueError) as error:
            return f"{place}{error}"


def read_toolsets(file: str) -> tuple[dict[Id, bytes], list[BadRow]]:
    """The rows of a file of toolsets by their id, unread, and those that are none.

    Held as bytes: a small part of what they take when read, and most runs need few of them.
    """
    rows: dict[Id, bytes] = {}
    bad: list[BadRow] = []
    for line in read_lines(file):
        if isinstance(line, BadRow):
            bad.append(line)
            continue
        try:
            id_ = read_id(read_row(line.raw).get("id"))
            if id_ is None:
                raise BadRowError("a toolset needs an id")
            if rows.setdefault(id_, line.raw) != line.raw:
                raise BadRowError(f"a second toolset {_short.repr(id_)}, and a different one; the first counts")
        except BadRowError as error:
            bad.append(BadRow(file, line.number, str(error)))
    return rows, bad
