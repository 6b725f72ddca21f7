"""Which schema does the database have, and how does it get the present one? Files applied under a lock of their own."""

from __future__ import annotations

from datetime import datetime

from brain.store import migrations
from brain.store.migrations import MigrationFile
from brain.store.neo4j.connection import Connection, Transaction
from brain.store.statements import data_folder
from brain.store.values import Migration


class Schema:
    """The schema of one database."""

    def __init__(self, connection: Connection, location: str) -> None:
        self._connection, self._location = connection, location

    def migrations(self) -> list[Migration]:
        """See `Store.migrations`."""
        return self._connection.ask(self._migrations)

    def migrate(self, now: datetime) -> list[Migration]:
        """See `Store.migrate`."""
        if not any(m.state == "pending" for m in migrations.usable(self.migrations(), self._location)):
            return []
        self._connection.schema(self._connection.statement("migration_version_constraint").text)
        return self._connection.write(lambda tx: self._apply_pending(tx, now))

    def _migrations(self, tx: Transaction) -> list[Migration]:
        rows = tx.rows("migration_history")
        history = [migrations.Applied(row["version"], row["name"], row["checksum"]) for row in rows]
        return migrations.analyse(_files(), history)

    def _apply_pending(self, tx: Transaction, now: datetime) -> list[Migration]:
        """Holds the lock of the history in `tx` while each statement of a file runs in transactions of its own."""
        tx.rows("lock_migrations")
        files = migrations.pending(_files(), migrations.usable(self._migrations(tx), self._location))
        for file in files:
            for text in file.statements:
                self._connection.schema(text)
            tx.rows("record_migration", version=file.version, name=file.name, checksum=file.checksum, now=now)
        return [Migration(file.version, file.name, file.checksum, "applied") for file in files]


def _files() -> tuple[MigrationFile, ...]:
    return migrations.load(data_folder("migrations") / "neo4j")
