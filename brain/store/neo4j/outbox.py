"""What does a mirror still have to follow? `Outbox`: the part of the store that a mirror asks."""

from __future__ import annotations

from functools import partial

from brain.model.text import parse_time
from brain.store.neo4j.scope import Scope
from brain.store.neo4j.skills import Lock, Skills, Stored
from brain.store.values import OutboxEntry, Waiting, new_operation

OUTBOX_BATCH = 5_000
"""Skills put into the outbox by one statement when a mirror is noted."""


class Outbox(Scope):
    """See `brain.store.base.Store`, "A mirror"."""

    def set_mirror(self, target: str | None, *, operation: str) -> bool:
        """Notes it in one transaction, and fills or empties the outbox in as many as it takes.

        Changes from now on are in the outbox in any case. What an end in the middle left out, the first comparison of
        both sides finds, with which every mirror begins.
        """

        def note(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> bool:
            row = skills.tx.row("note_mirror", target=target)
            return bool(row and row["news"]) or lock.repeated

        news = self._write(note, operation)
        if target is None:
            while self._write(_clear, new_operation()):
                pass
        elif news:
            after = ""
            while after := self._write(partial(_fill, after), new_operation()):
                pass
        return news

    def mirror(self) -> str | None:
        row = self._connection.ask(lambda tx: tx.row("mirror"))
        return row["mirror"] if row else None

    def outbox(self, limit: int) -> list[OutboxEntry]:
        rows = self._connection.ask(lambda tx: tx.rows("outbox", size=limit))
        return [  # an entry that is taken out meanwhile may still have the number that stands in the index, and no more
            OutboxEntry(row["number"], row["skill_id"], parse_time(row["noted_at"].to_native()))
            for row in rows
            if row["skill_id"] and row["noted_at"]
        ]

    def delivered(self, number: int, *, operation: str) -> None:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> None:
            skills.tx.rows("empty_outbox", number=number)

        self._write(work, operation)

    def waiting(self) -> Waiting:
        row = self._connection.ask(lambda tx: tx.row("waiting"))
        assert row
        return Waiting(row["entries"], parse_time(row["since"].to_native()) if row["since"] else None)


def _fill(after: str, skills: Skills, lock: Lock, stored: dict[str, Stored]) -> str:
    """Puts the stored skills behind an id into the outbox, as many as one batch holds; the last one's id."""
    ids = [row["id"] for row in skills.tx.rows("page_of_stored", after=after, size=OUTBOX_BATCH)]
    skills.tell(lock, ids)
    return ids[-1] if ids else ""


def _clear(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> bool:
    """Takes entries out, as many as one batch holds; whether there were any."""
    return bool(skills.tx.value("clear_outbox", size=OUTBOX_BATCH))
