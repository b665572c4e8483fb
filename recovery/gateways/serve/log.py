"""What is logged: a JSON object a line, without a word of any message; and, where asked for, the answers themselves.

May import: `gateways.log`.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

from recovery.gateways.log import Reading


class Log:
    """`lines` gets a line a request; `content`, where it is given, one an answer, which `recovery replay` reads.

    What can't be written (a full disk, a reader that left) is lost: it costs no answer. `lines` tells of `content`.
    """

    def __init__(self, lines: TextIO | None = None, content: TextIO | None = None) -> None:
        self._lines = lines if lines is not None else sys.stdout
        self._content = content

    def write(self, event: str, **values: Any) -> None:
        _write(self._lines, {"time": _now(), "event": event, **values})

    def write_reading(self, reading: Reading) -> None:
        if self._content is not None and not _write(self._content, {"time": _now(), **reading.to_row()}):
            self.write("server", level="error", message="an answer could not be written to the file of answers")


class LogHandler(logging.Handler):
    """What the server says of itself, on the same lines. Of an exception its name and place: its text may tell more."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        values: dict[str, Any] = {"level": record.levelname.lower(), "message": record.getMessage().strip()}
        if record.exc_info and record.exc_info[0] is not None:
            values["error"] = record.exc_info[0].__name__
            values["at"] = [
                f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(record.exc_info[2])[-5:]
            ]
        self._log.write("server", **values)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _write(file: TextIO, row: dict[str, Any]) -> bool:
    """Whether it is written."""
    try:
        file.write(json.dumps(row) + "\n")
        file.flush()
    except OSError:
        return False
    return True
