"""The cells of a run in one SQLite file: each is durable when it is written, and a run goes on from what is there.

A file belongs to one question: what the cases, the metric, the stimulus, the models' settings and the number of repeats
were is written when it is made, and cells made under another question are refused. May import: `grading.cell`,
`grading.provenance`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from pydantic import ValidationError

from .cell import Cell
from .provenance import Block, canonical, differing

# "rcvr", in the header of the file: tells a run from any other database.
_APPLICATION: Final = 0x72637672
# Raised with every change of the tables, or of what stands in a row.
VERSION: Final = 1

_TABLES: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE cells (
    model TEXT NOT NULL, case_id TEXT NOT NULL, repeat INTEGER NOT NULL, row TEXT NOT NULL,
    PRIMARY KEY (model, case_id, repeat)
) WITHOUT ROWID;
"""


class StoreError(ValueError):
    """A file that can't be used as it is; it is left as it was. The message names it and says what to do."""


class OtherQuestionError(StoreError):
    """The file's cells were made under another question. `differing`: the fields, as dotted paths."""

    def __init__(self, path: Path, differing: Iterable[str]) -> None:
        self.differing = tuple(differing)
        super().__init__(
            f"{path}: its cells were made under another question, and would be blended with yours; they differ in "
            f"{', '.join(self.differing)}. Give a new file, or what the run was begun with."
        )


class Store:
    """An open file of cells; one process at a time. A context manager: leaving it closes the file.

    Make one by `create` or `resume`; `read` gives what a file holds and changes nothing.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    def create(cls, path: str | Path, identity: Mapping[str, Any], about: Mapping[str, Any] | None = None) -> Self:
        """A new file for this question. `about`: what else a reader needs. Raises `StoreError` if it exists."""
        store = cls(Path(path), _connect(Path(path)))
        with store._closed_on_error():
            if not store._is_empty():
                raise StoreError(
                    f"{path}: exists already; go on with it by --resume (resume=True), or give another name"
                )
            store._make(identity, about or {})
        return store

    @classmethod
    def resume(cls, path: str | Path, identity: Mapping[str, Any], about: Mapping[str, Any] | None = None) -> Self:
        """Open a file to go on; one that isn't there, or is empty, is made.

        Of the identity's `models`, an object by name, more than before may be given; all else must be the same. Raises
        `OtherQuestionError`, and `StoreError` for a file that is no run, or of another version.
        """
        path = Path(path)
        store = cls(path, _connect(path))
        with store._closed_on_error():
            if store._is_empty():
                # Killed before anything was in it, perhaps.
                store._make(identity, about or {})
                return store
            store._check()
            known = store._meta("identity")
            wanted = json.loads(canonical(identity))
            shared = {name: entry for name, entry in wanted["models"].items() if name in known["models"]}
            if found := differing(known, {**wanted, "models": shared}):
                raise OtherQuestionError(path, found)
            if wanted["models"] != known["models"]:
                store._put("identity", identity)
        return store

    @classmethod
    def read(cls, path: str | Path) -> tuple[dict[str, Any], list[Cell], Block | None]:
        """What is in a file: what was written as `about`, the cells, and the block if the run has ended.

        Raises `StoreError`.
        """
        path = Path(path)
        if not path.exists():
            raise StoreError(f"{path}: there is no such file")
        # Where nothing can be written there is no lock to take either, and no other process that writes.
        store = cls(path, _connect(path) if os.access(path.absolute().parent, os.W_OK) else _connect_to_read(path))
        with store:
            store._check()
            return store._meta("about"), store.cells(), store.block()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def add(self, *cells: Cell) -> None:
        """Write cells, in one transaction: when this returns they are on the disk. One of the same key is replaced."""
        rows = [(cell.model, cell.case_id, cell.repeat, _json(cell.model_dump())) for cell in cells]
        with self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?)", rows)
            # What was said of fewer cells is said no more.
            connection.execute("DELETE FROM meta WHERE name = 'block'")

    def cells(self) -> list[Cell]:
        """Every cell, by model, case and repeat."""
        return [
            self._cell(key, row)
            for *key, row in self._connection.execute(
                "SELECT model, case_id, repeat, row FROM cells ORDER BY model, case_id, repeat"
            )
        ]

    def block(self) -> Block | None:
        try:
            found = self._connection.execute("SELECT value FROM meta WHERE name = 'block'").fetchone()
            return None if found is None else Block.from_json(found[0])
        except ValueError as error:
            raise StoreError(f"{self.path}: its provenance block can't be read: {error}") from None

    def finish(self, block: Block) -> None:
        """Write what stands behind the run's numbers."""
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('block', ?)", (block.to_json(),))

    def note(self, name: str, value: Any) -> None:
        """Write a fact that isn't known before the run, such as when it started; `noted` reads it."""
        self._put(f"note {name}", value)

    def noted(self, name: str) -> Any:
        """The fact, or None."""
        return self._meta(f"note {name}")

    def _make(self, identity: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        # One wait for the disk at each commit, in place of three.
        self._connection.execute("PRAGMA journal_mode = WAL")
        with self._transaction() as connection:
            # A script would commit on its own: a kill between two statements must not leave half a file.
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            rows = {"identity": identity, "about": about}
            connection.executemany("INSERT INTO meta VALUES (?, ?)", [(name, _json(row)) for name, row in rows.items()])

    def _is_empty(self) -> bool:
        try:
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError as error:
            raise _unusable(self.path, error) from None
        return not tables

    def _check(self) -> None:
        try:
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            (state,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.DatabaseError as error:
            raise _unusable(self.path, error) from None
        if application != _APPLICATION:
            raise StoreError(f"{self.path}: a SQLite database, but not of a run of recovery")
        if version != VERSION:
            raise StoreError(
                f"{self.path}: written by another version of recovery (format {version}; this one reads {VERSION}). "
                "It was left as it is: read it with the version that wrote it, or begin a new file."
            )
        if state != "ok":
            raise StoreError(f"{self.path}: the file is damaged ({state})")

    def _meta(self, name: str) -> Any:
        found = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    def _put(self, name: str, value: Any) -> None:
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, _json(value)))

    def _cell(self, key: list[Any], row: str) -> Cell:
        try:
            cell = Cell.model_validate(json.loads(row))
        except (ValueError, ValidationError) as error:
            raise StoreError(f"{self.path}: the cell {key} can't be read: {error}") from None
        if [cell.model, cell.case_id, cell.repeat] != key:
            raise StoreError(f"{self.path}: the cell {key} says that it is another, and was changed")
        return cell

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise _unusable(self.path, error) from None

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._connection.close()
            raise


def _connect(path: Path) -> sqlite3.Connection:
    """A connection that holds the file for itself, and whose commits are on the disk when they return."""
    try:
        # Python's own transactions are off: what begins and ends one stands in `_transaction` alone.
        connection = sqlite3.connect(path, isolation_level=None, timeout=0.2)
    except sqlite3.OperationalError as error:
        raise _unusable(path, error) from None
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA synchronous = FULL")
        # Takes the lock, before anything is looked at.
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _unusable(path, error) from None
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection to a file on a disk that takes no writing, such as a baseline beside the tests."""
    if path.with_name(f"{path.name}-wal").exists():
        raise StoreError(f"{path}: was not closed, and can't be read as it is: copy it, and its -wal, to read it")
    try:
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, error: sqlite3.Error) -> StoreError:
    if "locked" in str(error):
        return StoreError(f"{path}: another process works with it")
    return StoreError(f"{path}: {error}")


def _json(value: Any) -> str:
    # Escaped to ASCII: an answer may hold half of a surrogate pair, which is no UTF-8.
    return json.dumps(value)
