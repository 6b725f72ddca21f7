"""How does SQLite keep skills? `SqliteStore`: documents with the columns beside them that statements need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from brain.errors import ConflictError, StoreUnavailableError
from brain.model.relations import Edge, Relation
from brain.model.skill import Skill, SkillTransferRecord, utc_now
from brain.store import migrations
from brain.store.base import MARKS_KEPT, PAGE, Clock, batches, count_use, mean_confidence, was_counted
from brain.store.documents import read_edge, read_edges, read_entries
from brain.store.migrations import MigrationFile
from brain.store.sqlite import listing, moving
from brain.store.sqlite.connection import Connection, Row
from brain.store.sqlite.learning import Learning
from brain.store.sqlite.rows import Columns, Written, microseconds, read_shape, seen_trace, time
from brain.store.sqlite.skills import WRITE_BATCH, Skills, Stored
from brain.store.statements import data_folder
from brain.store.values import (
    Changes,
    Counted,
    Draft,
    EmbeddingStamp,
    KeptSkill,
    Learned,
    LearnOrder,
    Migration,
    OutboxEntry,
    RecallEntry,
    SeenTrace,
    SkillRow,
    Waiting,
)
from brain.store.walk import breadth_first

T = TypeVar("T")


class SqliteStore:
    """The store of one namespace in one SQLite file. See `brain.store.base.Store` for what each method does.

    A commit either happened or raised, so no operation has to be remembered.
    """

    def __init__(self, path: str, location: str, namespace: str, clock: Clock = utc_now) -> None:
        self.location, self.namespace, self.clock = location, namespace, clock
        self._connection = Connection(path, location)
        self._skills = Skills(self._connection, namespace, location, lambda: self.clock())

    def close(self) -> None:
        self._connection.close()

    # Schema

    def migrations(self) -> list[Migration]:
        with self._connection.transaction("read"):
            return self._migrations()

    def migrate(self) -> list[Migration]:
        if not any(m.state == "pending" for m in migrations.usable(self.migrations(), self.location)):
            return []
        with self._connection.transaction("write"):
            found = migrations.usable(self._migrations(), self.location)
            files = migrations.pending(self._files(), found)
            self._connection.raw(
                "CREATE TABLE IF NOT EXISTS migration "
                "(version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)"
            )
            for file in files:
                self._connection.script(file.statements)
                self._connection.raw(
                    "INSERT INTO migration VALUES (?, ?, ?, ?)",
                    file.version,
                    file.name,
                    file.checksum,
                    self.clock().isoformat(),
                )
            return [Migration(file.version, file.name, file.checksum, "applied") for file in files]

    def _files(self) -> tuple[MigrationFile, ...]:
        return migrations.load(data_folder("migrations") / "sqlite")

    def _migrations(self) -> list[Migration]:
        exists = self._connection.raw("SELECT 1 FROM sqlite_master WHERE name = 'migration'")
        rows = self._connection.raw("SELECT version, name, checksum FROM migration ORDER BY version") if exists else []
        return migrations.analyse(self._files(), [migrations.Applied(*row) for row in rows])

    # Writes

    def learn(self, orders: Sequence[LearnOrder], *, operation: str) -> list[Learned]:
        with self._connection.transaction("write"):
            return Learning(self._skills, self.clock()).carry_out(orders)

    def feedback(self, skill_id: str, record: SkillTransferRecord, *, ttl: bool, operation: str) -> Counted | None:
        with self._connection.transaction("write"):
            found = self._skills.live([skill_id])
            if not found:
                return None
            skill = found[0]
            if was_counted(skill, record):
                return Counted(skill, repeated=True)
            count_use(skill, record.success, record.timestamp, ttl, record)
            skill.version += 1
            self._skills.note_use(skill, self._skills.raise_version(), skill.transfer_history[-1])
            return Counted(skill)

    def save(self, draft: Draft, *, expected_version: int | None, operation: str) -> Skill:
        skill_id = draft.skill.id
        with self._connection.transaction("write"):
            stored = self._skills.stored([skill_id])
            actual = _live_version(stored.get(skill_id))
            if expected_version is not None and expected_version != (actual or 0):
                raise ConflictError(skill_id, expected_version, actual)
            written = Written.saved(draft, (actual or 0) + 1)
            self._skills.write([written], stored, self._skills.raise_version())
            return draft.skill.model_copy(update={"version": written.version, "namespace": self.namespace})

    def save_many(self, drafts: Sequence[Draft], *, operation: str) -> None:
        with self._connection.transaction("write"):
            version = self._skills.raise_version()
            for batch in batches(drafts, WRITE_BATCH):
                stored = self._skills.stored([draft.skill.id for draft in batch])
                written = [Written.saved(d, (_live_version(stored.get(d.skill.id)) or 0) + 1) for d in batch]
                self._skills.write(written, stored, version)

    def delete(self, skill_id: str, *, operation: str) -> bool:
        with self._connection.transaction("write"):
            stored = self._skills.stored([skill_id]).get(skill_id)
            if _live_version(stored) is None:
                return False
            assert stored
            self._skills.note_deletion(skill_id)
            self._skills.remove([stored.number])
            return True

    def add_edge(self, edge: Edge, *, operation: str) -> None:
        with self._connection.transaction("write"):
            self._skills.must_live([edge.source, edge.target])
            self._skills.note_write()
            self._skills.put_edges([edge])

    def remove_edge(self, edge: Edge, *, operation: str) -> bool:
        with self._connection.transaction("write"):
            if len(self._skills.live([edge.source, edge.target])) < 2:
                return False
            self._skills.note_write()
            return bool(self._run("remove_edge", source=edge.source, relation=edge.relation.value, target=edge.target))

    def sweep(self, limit: int, *, operation: str) -> int:
        with self._connection.transaction("read"):
            if not self._run("any_expired", now=self._skills.now()):
                return 0
        with self._connection.transaction("write"):
            self._skills.note_write()
            numbers = [row[0] for row in self._run("expired_numbers", now=self._skills.now(), size=limit)]
            self._skills.remove(numbers)
            return len(numbers)

    def claim_sweep(self, interval: timedelta, *, operation: str) -> bool:
        now = self.clock()
        try:
            with self._connection.transaction("write", wait=False):
                self._skills.make_namespace()
                return bool(self._run("note_sweep", now=microseconds(now), before=microseconds(now - interval)))
        except StoreUnavailableError:  # somebody is writing: the next recall asks again
            return False

    # Reads

    def get_many(self, skill_ids: Sequence[str]) -> list[Skill]:
        with self._connection.transaction("read"):
            return self._skills.live(skill_ids)

    def pages(self, tag: str | None = None, size: int = PAGE) -> Iterator[list[Skill]]:
        yield from self._pages(self._skills.live, tag, size)

    def _pages(self, read: Callable[[Sequence[str]], list[T]], tag: str | None, size: int) -> Iterator[list[T]]:
        """What `read` gives for the ids of the live skills, a page at a time."""
        name, parameters = ("page_of_skills", {}) if tag is None else ("page_of_tagged_skills", {"tag": tag})
        after = ""
        while True:
            with self._connection.transaction("read"):
                ids = [row[0] for row in self._run(name, **parameters, after=after, now=self._skills.now(), size=size)]
                page = read(ids)
            if not ids:
                return
            yield page
            after = ids[-1]

    def rows(self, skill_ids: Sequence[str] | None = None, size: int = PAGE) -> Iterator[list[SkillRow]]:
        return listing.rows(self._connection, self._skills, self.location, skill_ids, size)

    def edges(self, skill_id: str) -> list[Edge]:
        with self._connection.transaction("read"):
            rows = self._records("edges_of", id=skill_id)
        return read_edges(skill_id, rows, self.location)

    def related(self, skill_id: str, relation: Relation | None, max_depth: int) -> list[tuple[Skill, int]]:
        with self._connection.transaction("read"):
            if not self._skills.live([skill_id]):
                return []
            found = breadth_first(skill_id, max_depth, lambda ids: self._skills.neighbours(ids, relation))
            distance = {other: d for d, other in found}
            return [(skill, distance[skill.id]) for skill in self._skills.live(list(distance))]

    def summary(self, top: int) -> dict[str, Any]:
        with self._connection.transaction("read"):
            rows = self._run("summary", now=self._skills.now())
            ids = [row[0] for row in self._run("top_skills", now=self._skills.now(), size=top)]
            skills = self._skills.live(ids)
        total, transferable, transfers, confidence = rows[0] if rows else (0, 0, 0, 0)
        return {
            "total_skills": total,
            "transferable_skills": transferable,
            "avg_confidence": mean_confidence(confidence, total),
            "total_transfers": transfers,
            "top_skills": skills,
        }

    def count(self) -> int:
        return int(self._one("count_skills") or 0)

    def count_expiring(self, until: datetime) -> int:
        with self._connection.transaction("read"):
            return int(self._run("count_expiring", now=self._skills.now(), until=microseconds(until))[0][0])

    def traces(self, skill_id: str, limit: int) -> list[SeenTrace]:
        with self._connection.transaction("read"):
            rows = self._run("latest_traces", id=skill_id, now=self._skills.now(), size=limit)
        return [seen_trace(row) for row in rows]

    # What recall reads

    def changes(self, since: int) -> Changes:
        with self._connection.transaction("read"):
            return self._skills.changes(since)

    def fetch(self, skill_ids: Sequence[str], since: int) -> tuple[list[Skill], Changes]:
        with self._connection.transaction("read"):
            return self._skills.live(skill_ids), self._skills.changes(since)

    def entries(self, size: int, *, vectors: bool) -> Iterator[list[RecallEntry]]:
        name, after = "page_of_entries_with_vectors" if vectors else "page_of_entries", ""
        while True:
            with self._connection.transaction("read"):
                rows = self._run(name, after=after, now=self._skills.now(), size=size)
            if not rows:
                return
            yield read_entries(rows, read_shape, self.location)
            after = rows[-1][0]

    def profiles(self, skill_ids: Sequence[str]) -> dict[str, str]:
        with self._connection.transaction("read"):
            return self._skills.profiles(skill_ids)

    def set_profiles(self, rows: Sequence[tuple[str, int, str, bytes]], *, operation: str) -> None:
        with self._connection.transaction("write"):
            stored = self._skills.stored([row[0] for row in rows])
            fit = [
                (stored[skill_id].number, profile, terms)
                for skill_id, version, profile, terms in rows
                if skill_id in stored and stored[skill_id].version == version
            ]
            profiles: list[Columns] = [{"number": number, "profile": profile} for number, profile, _ in fit]
            self._skills.change({"set_profile": profiles, "set_terms": [{"number": n, "terms": t} for n, _, t in fit]})

    def note_mark(self, mark: str, *, operation: str) -> None:
        with self._connection.transaction("write"):
            self._skills.make_namespace()
            (kept,) = self._run("marks")[0]
            self._run("set_marks", marks=" ".join([*kept.split()[1 - MARKS_KEPT :], mark]))

    def marks(self) -> list[str]:
        return str(self._one("marks") or "").split()

    # Vectors

    def embedding_stamp(self) -> EmbeddingStamp | None:
        return EmbeddingStamp.from_json(self._one("embedding_stamp"))

    def set_embedding_stamp(
        self, stamp: EmbeddingStamp, replaces: EmbeddingStamp | None, *, operation: str
    ) -> EmbeddingStamp:
        with self._connection.transaction("write"):
            self._skills.make_namespace()
            self._run("set_embedding", stamp=stamp.to_json(), replaces=replaces.to_json() if replaces else None)
            noted = EmbeddingStamp.from_json(self._run("embedding_stamp")[0][0])
            assert noted
            return noted

    def set_vectors(self, vectors: Sequence[tuple[str, bytes]], *, operation: str) -> None:
        with self._connection.transaction("write"):
            stored = self._skills.stored([skill_id for skill_id, _ in vectors])
            fit: list[Columns] = [{"number": stored[i].number, "vector": data} for i, data in vectors if i in stored]
            self._skills.change({"set_vector": fit})

    # Moving

    def export(self, size: int = PAGE) -> Iterator[list[KeptSkill]]:
        yield from self._pages(lambda ids: moving.kept(self._skills, ids), None, size)

    def export_edges(self, size: int = PAGE) -> Iterator[list[Edge]]:
        after = {"source": "", "relation": "", "target": ""}
        while True:
            with self._connection.transaction("read"):
                rows = self._records("page_of_edges", **after, size=size)
            if not rows:
                return
            yield [edge for row in rows if (edge := read_edge(row, self.location))]
            after = {key: rows[-1][key] for key in after}

    def restore(self, kept: Sequence[KeptSkill], *, operation: str) -> None:
        with self._connection.transaction("write"):
            moving.restore(self._skills, kept)

    def restore_edges(self, edges: Sequence[Edge], *, operation: str) -> list[Edge]:
        with self._connection.transaction("write"):
            return moving.restore_edges(self._skills, edges)

    # A mirror

    def set_mirror(self, target: str | None, *, operation: str) -> bool:
        with self._connection.transaction("write"):
            self._skills.make_namespace()
            if self._run("mirror")[0][0] == target:
                return False
            self._run("set_mirror", target=target, now=self._skills.now())
            self._run("empty_outbox")
            if target is not None:
                self._run("fill_outbox")
                self._run("count_filling")
            return True

    def mirror(self) -> str | None:
        target: str | None = self._one("mirror")
        return target

    def outbox(self, limit: int) -> list[OutboxEntry]:
        with self._connection.transaction("read"):
            rows = self._run("outbox", size=limit)
        return [OutboxEntry(number, skill_id, time(noted_at)) for number, skill_id, noted_at in rows]

    def delivered(self, number: int, *, operation: str) -> None:
        with self._connection.transaction("write"):
            self._run("delivered", number=number)

    def waiting(self) -> Waiting:
        with self._connection.transaction("read"):
            count, since = self._run("waiting")[0]
        return Waiting(count, None if since is None else time(since))

    def _run(self, name: str, **parameters: Any) -> list[Row]:
        return self._skills.run(name, **parameters)

    def _records(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        return self._connection.records(name, namespace=self.namespace, now=self._skills.now(), **parameters)

    def _one(self, name: str) -> Any:
        """The one value that a statement about the namespace gives; None if there is no namespace yet."""
        with self._connection.transaction("read"):
            rows = self._run(name)
        return rows[0][0] if rows else None


def _live_version(stored: Stored | None) -> int | None:
    return stored.version if stored and stored.live else None
