"""What do all parts of the store stand on? `Scope`: one namespace of one database, and how a write begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from brain.store.base import Clock
from brain.store.location import without_password
from brain.store.neo4j.connection import Connection, Transaction
from brain.store.neo4j.skills import Lock, Skills, Stored

Result = TypeVar("Result")
Work = Callable[[Skills, Lock, dict[str, Stored]], Result]


class Scope:
    """One namespace of one database. `_lists` is the dimension of vectors that are kept as lists too, 0 for none."""

    def __init__(self, location: str, namespace: str, clock: Clock, auth: Any) -> None:
        self.location, self.namespace, self.clock = without_password(location), namespace, clock
        self._connection = Connection(location, self.location, namespace, auth)
        self._lists = 0

    def _skills(self, tx: Transaction) -> Skills:
        return Skills(tx, self.namespace, self.location, self.clock(), lists=bool(self._lists))

    def _write(self, work: Work[Result], operation: str, skill_ids: Sequence[str] = ()) -> Result:
        """Runs `work` in a transaction that holds the namespace's lock; it gets what is stored under some ids."""

        def locked(tx: Transaction) -> Result:
            skills = self._skills(tx)
            return work(skills, *skills.lock(operation, skill_ids))

        return self._connection.write(locked)

    def _set(self, statement: str, rows: Sequence[dict[str, Any]], operation: str) -> None:
        """Replaces properties of skills, a row each."""

        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> None:
            if not lock.repeated:
                skills.tell(lock, skills.tx.value(statement, rows=list(rows)) or ())

        self._write(work, operation)
