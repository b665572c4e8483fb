"""Cells are durable when they are written, and a file that is not for this question is refused and left as it was."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")

from recovery.grading.cell import Cell, Grade
from recovery.grading.outcome import Outcome, Ungraded
from recovery.grading.run import Run
from recovery.grading.store import VERSION, OtherQuestionError, Store, StoreError
from tests.grading.test_provenance import block

IDENTITY: dict[str, Any] = {
    "scope": {"cases_sha256": "c"},
    "metric": {"grader_sha256": "g"},
    "stimulus": {"tools_sha256": "t"},
    "models": {"m": {"parameters": {"temperature": 0}}},
    "run": {"planned_repeats": 3},
}


def cell(case_id: str = "a", repeat: int = 0, **more: Any) -> Cell:
    return Cell(**{"case_id": case_id, "model": "m", "repeat": repeat, "grade": Grade(outcome=Outcome.CORRECT), **more})


def test_cells_read_back_as_they_were(tmp_path: Path) -> None:
    cells = [
        cell("a", 1, answer={"text": "half a pair \ud83d, NUL \0, NaN", "raw_args": float("inf")}),
        cell("a", 0, grade=None, ungraded=Ungraded.TRANSPORT, problem="no route", attempts=3),
    ]
    with Store.create(tmp_path / "run.db", IDENTITY, {"cases": [1]}) as store:
        store.add(*cells)
    about, read, ended = Store.read(tmp_path / "run.db")
    assert about == {"cases": [1]}
    assert read == sorted(cells, key=lambda found: found.repeat)
    assert ended is None


def test_the_block_is_kept_until_another_cell_comes(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run.db", IDENTITY) as store:
        store.add(cell())
        store.finish(block())
        store.note("started", "2026-12-07")
    assert Store.read(tmp_path / "run.db")[2] == block()
    with Store.resume(tmp_path / "run.db", IDENTITY) as store:
        assert store.noted("started") == "2026-12-07"
        assert store.noted("ended") is None
        store.add(cell("b"))
    assert Store.read(tmp_path / "run.db")[2] is None


def test_a_changed_block_is_told(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run.db", IDENTITY) as store:
        store.finish(block())
    with sqlite3.connect(tmp_path / "run.db") as raw:
        raw.execute("UPDATE meta SET value = replace(value, '[4,3,4]', '[4,4,4]') WHERE name = 'block'")
    raw.close()
    with pytest.raises(StoreError, match=r"run\.db: its provenance block .* was changed"):
        Store.read(tmp_path / "run.db")


def test_a_file_is_not_begun_twice(tmp_path: Path) -> None:
    Store.create(tmp_path / "run.db", IDENTITY).__exit__()
    before = (tmp_path / "run.db").read_bytes()
    with pytest.raises(StoreError, match="exists already"):
        Store.create(tmp_path / "run.db", IDENTITY)
    assert (tmp_path / "run.db").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"stimulus": {"tools_sha256": "T"}}, ["stimulus.tools_sha256"]),
        ({"metric": {"grader_sha256": "G", "validation": "lax"}}, ["metric.grader_sha256", "metric.validation"]),
        ({"scope": {"cases_sha256": "C"}}, ["scope.cases_sha256"]),
        ({"run": {"planned_repeats": 5}}, ["run.planned_repeats"]),
        ({"models": {"m": {"parameters": {"temperature": 1}}}}, ["models.m.parameters.temperature"]),
        ({"models": {"n": {}}}, ["models.m"]),
    ],
)
def test_cells_of_another_question_are_refused_with_the_fields(
    tmp_path: Path, change: dict[str, Any], expected: list[str]
) -> None:
    with Store.create(tmp_path / "run.db", IDENTITY) as store:
        store.add(cell())
    before = (tmp_path / "run.db").read_bytes()
    with pytest.raises(OtherQuestionError, match=expected[0]) as refused:
        Store.resume(tmp_path / "run.db", {**IDENTITY, **change})
    assert list(refused.value.differing) == expected
    assert (tmp_path / "run.db").read_bytes() == before


def test_a_model_may_be_added(tmp_path: Path) -> None:
    more = {**IDENTITY, "models": {**IDENTITY["models"], "n": {"parameters": {}}}}
    Store.create(tmp_path / "run.db", IDENTITY).__exit__()
    Store.resume(tmp_path / "run.db", more).__exit__()
    with pytest.raises(OtherQuestionError, match=r"models\.n"):
        Store.resume(tmp_path / "run.db", IDENTITY)


def test_a_file_that_is_not_there_is_begun_by_resume(tmp_path: Path) -> None:
    Store.resume(tmp_path / "run.db", IDENTITY).__exit__()
    (tmp_path / "empty.db").touch()
    # Killed when nothing but the header was written.
    with sqlite3.connect(tmp_path / "header.db") as raw:
        raw.execute("PRAGMA journal_mode = WAL")
    raw.close()
    assert (tmp_path / "header.db").stat().st_size
    for name in ("empty.db", "header.db"):
        Store.resume(tmp_path / name, IDENTITY).__exit__()
        assert Store.read(tmp_path / name) == ({}, [], None)


def spoil(path: Path, kind: str) -> None:
    if kind == "no database":
        path.write_bytes(b"model,case\n" * 200)
        return
    with sqlite3.connect(path) as raw:
        if kind == "another program's":
            raw.execute("CREATE TABLE t (x)")
        else:
            raw.execute(f"PRAGMA user_version = {VERSION + 1}")
    raw.close()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("no database", "not a database"),
        ("another program's", "not of a run of recovery"),
        ("another version", rf"another version of recovery \(format {VERSION + 1}; this one reads {VERSION}\)"),
    ],
)
def test_what_is_no_run_of_this_version_is_refused_and_left_alone(tmp_path: Path, kind: str, message: str) -> None:
    path = tmp_path / "run.db"
    if kind == "another version":
        with Store.create(path, IDENTITY) as store:
            store.add(cell())
    spoil(path, kind)
    before = path.read_bytes()
    for use in (lambda: Store.resume(path, IDENTITY), lambda: Store.read(path)):
        with pytest.raises(StoreError, match=message) as refused:
            use()
        assert str(path) in str(refused.value)
    assert path.read_bytes() == before


def test_a_cell_of_other_fields_names_its_place(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run.db", IDENTITY) as store:
        store.add(cell())
    with sqlite3.connect(tmp_path / "run.db") as raw:
        raw.execute("UPDATE cells SET row = '{}'")
    raw.close()
    with pytest.raises(StoreError, match=r"run\.db: the cell \['m', 'a', 0\]"):
        Store.read(tmp_path / "run.db")


def test_a_cell_that_stands_in_another_s_place_is_refused(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run.db", IDENTITY) as store:
        store.add(cell(), cell("b"))
    with sqlite3.connect(tmp_path / "run.db") as raw:
        raw.execute("UPDATE cells SET row = (SELECT row FROM cells WHERE case_id = 'a')")
    raw.close()
    with pytest.raises(StoreError, match=r"the cell \['m', 'b', 0\] says that it is another"):
        Store.read(tmp_path / "run.db")


def test_cases_that_can_not_be_read_are_told(tmp_path: Path) -> None:
    for about in ({}, {"cases": [{"quiz": 1}]}):
        path = tmp_path / f"{len(about)}.db"
        with Store.create(path, IDENTITY, about) as store:
            store.finish(block())
        with pytest.raises(StoreError, match=rf"{path.name}: its cases can't be read"):
            Run.load(path)


def test_a_file_is_read_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a run?.db"
    with Store.create(path, IDENTITY) as store:
        store.add(cell())

    def refuse(path: Path) -> sqlite3.Connection:
        raise AssertionError(f"{path} is locked for writing")

    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("recovery.grading.store._connect", refuse)
    assert Store.read(path)[1] == [cell()]
    assert list(tmp_path.iterdir()) == [path]
    path.with_name("a run?.db-wal").touch()
    with pytest.raises(StoreError, match="was not closed"):
        Store.read(path)


def test_a_folder_or_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open"):
        Store.create(tmp_path / "nowhere" / "run.db", IDENTITY)
    with pytest.raises(StoreError, match="no such file"):
        Store.read(tmp_path / "run.db")


def test_two_processes_do_not_write_one_file(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run.db", IDENTITY), pytest.raises(StoreError, match="another process"):
        Store.resume(tmp_path / "run.db", IDENTITY)


WRITER = """
    import sys
    from recovery.grading.store import Store
    from tests.grading.test_store import IDENTITY, cell
    with Store.create(sys.argv[1], IDENTITY) as store:
        for number in range(100_000):
            store.add(cell(str(number), answer={"text": "x" * 3000}))
            print(number, flush=True)
"""


@pytest.mark.parametrize("told", [1, 7, 40, 41, 42])
def test_a_cell_that_was_written_survives_a_kill(tmp_path: Path, told: int) -> None:
    # Killed while it writes on: all that it said was written is there, and at most the one that it hadn't told yet.
    root = Path(__file__).parent.parent.parent
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(tmp_path / "run.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as writer:
        assert writer.stdout is not None
        for _ in range(told):
            writer.stdout.readline()
        os.kill(writer.pid, signal.SIGKILL)
        written = told + len(writer.stdout.read().splitlines())
    with Store.resume(tmp_path / "run.db", IDENTITY) as store:
        found = {int(one.case_id) for one in store.cells()}
    assert found >= set(range(written))
    assert len(found) <= written + 1
