"""How does text reach SQLite? One writer and many readers a store, transactions, and errors that say the remedy."""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from brain.errors import LocationError, StoreError, StoreReplacedError, StoreUnavailableError
from brain.store.statements import load

MEMORY = ":memory:"
BUSY_SECONDS = 60.0
"""How long a writer waits for another one's transaction."""
APPLICATION_ID = 0x42524E31
"""Marks a file as ours ("BRN1"); the first migration writes it."""
OLDEST_SQLITE = (3, 35, 0)
"""The first version with RETURNING."""

Row = tuple[Any, ...]


class Connection:
    """One writer, one transaction at a time, and as many readers as read at once; in memory only the writer."""

    def __init__(self, path: str, location: str) -> None:
        self._path, self._location = path, location
        self._statements = load(Path(__file__).parent, "*.sql")
        self._writing, self._active = threading.RLock(), threading.local()
        self._idle: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()
        self._closed, self._process = False, os.getpid()
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} is too old; 3.35 or newer is needed. Upgrade Python.", location
            )
        if path != MEMORY:
            _make_folder(Path(path).parent, location)
        with self._errors():
            self._writer = self._open()
            self._check_ours()
            self._use_write_ahead_log()
        self._file = self._identity()

    def close(self) -> None:
        """Closes the file; closing twice is fine."""
        with self._writing:
            self._closed = True
            self._writer.close()
            while not self._idle.empty():
                self._idle.get().close()

    @contextmanager
    def transaction(self, mode: str, *, wait: bool = True) -> Iterator[None]:
        """One transaction: "write" takes the write lock at once, "read" gives one view of the file.

        With `wait=False` a write fails at once if another process is writing. A read inside a write sees what was
        committed before; in memory, where there is one connection, what the write has done so far.
        """
        if os.getpid() != self._process:
            raise StoreError(
                f"{self._location} was opened by another process. Open the brain after the fork.", self._location
            )
        self._check_place(mode)
        with self._errors(), self._connection_for(mode) as connection:
            outer = getattr(self._active, "now", None)
            if outer and outer[0] is connection and mode == "read":
                yield
                return
            if not wait:
                connection.execute("PRAGMA busy_timeout = 0")
            try:
                connection.execute("BEGIN IMMEDIATE" if mode == "write" else "BEGIN")
                self._active.now = connection, mode
                yield
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._active.now = outer
                if not wait:
                    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")

    @contextmanager
    def _connection_for(self, mode: str) -> Iterator[sqlite3.Connection]:
        if mode == "write" or self._path == MEMORY:
            with self._writing:
                yield self._writer
            return
        if self._closed:
            raise sqlite3.ProgrammingError("Cannot operate on a closed database.")
        try:
            reader = self._idle.get_nowait()
        except queue.Empty:
            reader = self._open()
        try:
            yield reader
        finally:
            if self._closed:
                reader.close()
            else:
                self._idle.put(reader)

    def _check_place(self, mode: str) -> None:
        """A file that was removed is still read, for it may be put back; one that another took the place of is not."""
        now = self._identity()
        if now == self._file:
            return
        if now is not None:
            raise StoreReplacedError(
                f"{self._location} was replaced by another file while it was open. Open the brain again.",
                self._location,
            )
        if mode == "write":
            raise StoreUnavailableError(
                f"{self._location} was removed while it was open. Put it back, or open the brain again.", self._location
            )

    def _identity(self) -> tuple[int, int] | None:
        """Which file the path names now; None if there is none, or it is in memory."""
        try:
            found = os.stat(self._path)  # noqa: PTH116  # in every transaction: a Path takes three times as long
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _check_ours(self) -> None:
        """Refuses another program's database before anything in it is touched."""
        (mark,) = self._writer.execute("PRAGMA application_id").fetchone()
        (tables,) = self._writer.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and mark != APPLICATION_ID:
            self._writer.close()
            raise LocationError(
                f"{self._location} is another program's database. Choose a file of its own.", self._location
            )

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def rows(self, name: str, **parameters: Any) -> list[Row]:
        """All rows of a named statement. Call it inside a transaction."""
        return self._run(name, parameters).fetchall()

    def records(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """As `rows`, each a dictionary by column."""
        cursor = self._run(name, parameters)
        columns = [column[0] for column in cursor.description]
        return [dict(zip(columns, row, strict=True)) for row in cursor]

    def many(self, name: str, rows: Iterable[dict[str, Any]]) -> None:
        """Runs a named statement once for each row of parameters, as they come; all rows name the same."""
        given = iter(rows)
        first = next(given, None)
        if first is not None:
            connection, mode = self._active.now
            statement = self._statements[name]
            statement.check(first, mode)
            connection.executemany(statement.text, chain([first], given))

    def script(self, pieces: tuple[str, ...]) -> None:
        """Runs the statements of a migration inside the open transaction. A trigger comes in several pieces."""
        text = ""
        for piece in pieces:
            text += f"{piece};\n"
            if sqlite3.complete_statement(text):
                self._active.now[0].execute(text)
                text = ""

    def raw(self, text: str, *values: Any) -> list[Row]:
        """Rows of a statement about the schema itself."""
        rows: list[Row] = self._active.now[0].execute(text, values).fetchall()
        return rows

    def _run(self, name: str, parameters: dict[str, Any]) -> sqlite3.Cursor:
        connection, mode = self._active.now
        statement = self._statements[name]
        statement.check(parameters, mode)
        cursor: sqlite3.Cursor = connection.execute(statement.text, parameters)
        return cursor

    def _use_write_ahead_log(self) -> None:
        """Switching needs the file for itself; another process that opens it at the same moment is waited for."""
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._writer.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreUnavailableError(f"{self._location}: {error}. {_remedy(str(error))}", self._location) from error
        except sqlite3.ProgrammingError as error:
            raise StoreError(f"{self._location}: {error} Open the brain again.", self._location) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"{self._location}: {error}. Check that the path names a file that brain made; "
                "restore it from a copy if it is damaged.",
                self._location,
            ) from error


def _make_folder(folder: Path, location: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LocationError(
            f"{location}: the folder cannot be made ({error}). Choose another path.", location
        ) from error


def _remedy(message: str) -> str:
    if "locked" in message:
        return f"Another process held the file for {BUSY_SECONDS:.0f} s; end it, or try again."
    if "full" in message:
        return "Free some disk space."
    if "readonly" in message or "unable to open" in message:
        return "Check that the path is a file in a folder that you may write."
    return "Check the path and its permissions."
