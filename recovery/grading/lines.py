"""The rows of a file of JSON lines, plain or gzip, one after the other.

May import: `grading.documents`, `grading.rawargs`.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .documents import Document, Problem
from .rawargs import read_arguments

# No answer of a model is near it; more is no file of rows.
_ROW_BYTES: Final = 64 * 1024 * 1024


class BadFieldError(ValueError):
    """What is wrong with a row: the field, and a sentence."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        self.message = message
        super().__init__(f"{field}: {message}")


def read_rows(path: str | Path) -> Iterator[Document | Problem]:
    """The objects of the file; in place of a row that is none, and where the file can't be read on, what is wrong."""
    number = 0
    try:
        with Path(path).open("rb") as raw:
            stream = gzip.GzipFile(fileobj=raw, mode="rb") if raw.peek(2)[:2] == b"\x1f\x8b" else raw
            while line := stream.readline(_ROW_BYTES):
                number += 1
                if len(line) == _ROW_BYTES and not line.endswith(b"\n"):
                    yield Problem(
                        str(path), number, "", f"longer than {_ROW_BYTES:,} bytes, and nothing behind it is read"
                    )
                    return
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if line.strip():
                    yield _row(str(path), number, line)
    except (OSError, EOFError, zlib.error) as error:
        yield Problem(str(path), number + 1 if number else 0, "", f"can't be read on: {error}")


def _row(path: str, number: int, line: bytes) -> Document | Problem:
    read = read_arguments(line)
    if read.problem is not None:
        return Problem(path, number, "", read.problem.message.removeprefix("malformed arguments: "))
    return Document(path, number, read.value, {})
