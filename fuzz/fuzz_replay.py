"""Invariant: of a file of any bytes each row is an answer or a bad row with its place, and nothing raises."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fuzz.mutators import of_json
from fuzz.target import Target, run
from recovery import Policy
from recovery.replay import Baseline, Plan, replay
from recovery.rows import BadRow, read_toolsets
from tests.cases import VECTORS, read

_FOLDER: Final = Path(tempfile.mkdtemp(prefix="fuzz-replay-"))


def one_input(data: bytes) -> None:
    file = _FOLDER / "rows.jsonl"
    file.write_bytes(data)
    # The same file as rows, as their toolsets and as the baseline.
    toolsets, bad_toolsets = read_toolsets(str(file))
    plan = Plan(Policy.lenient(), toolsets, by=("model", "n"), protect=(("model", "a"),), by_call=True, record=True)
    bad: list[BadRow] = []
    records: list[str] = []
    report = replay([str(file)], plan, on_bad=bad.append, on_record=records.append)
    assert report.bad == len(bad)
    assert report.tally.total.answers == len(records)
    if data[:2] != b"\x1f\x8b":
        rows = sum(bool(row.strip()) for row in data.split(b"\n"))
        assert len(bad) + len(records) == rows, (len(bad), len(records), rows)
    last = data.count(b"\n") + 1
    for row in [*bad, *bad_toolsets]:
        assert row.file == str(file)
        assert row.line >= 1
        assert row.line <= last or data[:2] == b"\x1f\x8b"
        assert row.message
    is_baseline(str(file))
    # Held against itself, nothing changed.
    baseline_file = _FOLDER / "baseline.jsonl"
    baseline_file.write_text("".join(f"{record}\n" for record in records), encoding="utf-8")
    baseline = Baseline(str(baseline_file))
    assert [json.loads(record)["file"] for record in records] == [str(file)] * len(records)
    replay([str(file)], plan, baseline=baseline)
    assert not baseline.changes
    assert not baseline.new_answers
    assert not list(baseline.missing())


def is_baseline(file: str) -> None:
    """Or it is said where it is none."""
    try:
        Baseline(file)
    except ValueError as error:
        message = str(error)
    else:
        return
    assert message.startswith(f"{file}:"), message


def seeds() -> Iterator[bytes]:
    """Rows of each form, good and bad, and the vectors as rows."""
    forms = [
        b'{"id": "a", "text": "f(x=1)", "tools": ["f"], "seen": 2, "model": "a"}\n',
        b'{"id": "t", "tools": ["f"], "aliases": {"g": "f"}}\n{"text": "g()", "toolset": "t"}\n',
        b'{"message": {"content": [{"text": "f(x=1)"}, "b"]}, "tools": ["f"]}\n\n{"message": {"content": null}}\n',
        b'\xef\xbb\xbf{"text": "f(", "tools": 7}\r\n[1]\n{"text": 1, "tools": []}\n\xff\n{"id": 1.5, "text": ""}',
        b'{"id": 1, "text": "f(x=1)-1", "tools": ["f"], "n": [1]}\n{"id": 1, "text": "f()", "tools": ["f"]}\n',
    ]
    yield from forms
    rows = {
        json.dumps({"text": case.text, "tools": case.row["tools"], "aliases": case.row.get("aliases")}, sort_keys=True)
        for case in read(VECTORS)
        if len(case.text) < 200
    }
    for number, row in enumerate(sorted(rows)):
        if number % 8 == 0:
            yield f"{row}\n".encode()


TARGET = Target(one_input, seeds, mutate=of_json)

if __name__ == "__main__":
    run(TARGET)
