"""How does text reach SQLite? One connection a store, transactions, and errors that say the remedy."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brain.errors import LocationError, StoreError, StoreUnavailableError
from brain.store.statements import Statement, load

MEMORY = ":memory:"
BUSY_SECONDS = 60.0
"""How long a writer waits for another one's transaction."""
OLDEST_SQLITE = (3, 35, 0)
"""The first version with RETURNING."""

Row = tuple[Any, ...]


class Connection:
    """One SQLite connection, shared by the threads of this process, one transaction at a time."""

    def __init__(self, path: str, location: str) -> None:
        self._location, self._lock = location, threading.RLock()
        self._statements = load(Path(__file__).parent, "*.sql")
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} is too old; 3.35 or newer is needed. Upgrade Python.", location
            )
        if path != MEMORY:
            _make_folder(Path(path).parent, location)
        with self._errors():
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._use_write_ahead_log()
            self._connection.execute("PRAGMA synchronous = NORMAL")

    def close(self) -> None:
        """Closes the file; closing twice is fine."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self, mode: str) -> Iterator[None]:
        """One transaction: "write" takes the write lock at once, "read" gives one view of the file."""
        with self._lock, self._errors():
            self._connection.execute("BEGIN IMMEDIATE" if mode == "write" else "BEGIN")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, name: str, **parameters: Any) -> list[Row]:
        """All rows of a named statement. Call it inside a transaction."""
        return self._connection.execute(self._text(name), parameters).fetchall()

    def records(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """As `rows`, each a dictionary by column."""
        cursor = self._connection.execute(self._text(name), parameters)
        columns = [column[0] for column in cursor.description]
        return [dict(zip(columns, row, strict=True)) for row in cursor]

    def script(self, statements: tuple[str, ...]) -> None:
        """Runs the statements of a migration inside the open transaction."""
        for statement in statements:
            self._connection.execute(statement)

    def raw(self, text: str, *values: Any) -> list[Row]:
        """Rows of a statement about the schema itself."""
        return self._connection.execute(text, values).fetchall()

    def statement(self, name: str) -> Statement:
        """A named statement."""
        return self._statements[name]

    def _text(self, name: str) -> str:
        return self._statements[name].text

    def _use_write_ahead_log(self) -> None:
        """Switching needs the file for itself; another process that opens it at the same moment is waited for."""
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
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
