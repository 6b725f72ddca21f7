"""How does Neo4j keep skills? `Neo4jStore`: one transaction a call, the statements of `cypher/`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from brain.errors import ConflictError, StoreError
from brain.model import formulas
from brain.model.context import Shape
from brain.model.relations import Edge, Relation
from brain.model.skill import TRANSFER_HISTORY_LENGTH, Skill, SkillTransferRecord, utc_now
from brain.model.text import digest, parse_time
from brain.store.base import MARKS_KEPT, PAGE, Clock, mean_confidence
from brain.store.documents import read_edge, read_edges, read_entries
from brain.store.location import without_password
from brain.store.neo4j import moving, vectors
from brain.store.neo4j.connection import Connection, Transaction
from brain.store.neo4j.learning import Learning
from brain.store.neo4j.rows import Written, as_list, read_shape, transfer_domains, transfer_properties
from brain.store.neo4j.schema import Schema
from brain.store.neo4j.skills import DELETIONS_KEPT, OPERATIONS_KEPT, Lock, Skills, Stored, operation_parameters
from brain.store.values import (
    Changes,
    Draft,
    EmbeddingStamp,
    KeptSkill,
    Learned,
    LearnOrder,
    Migration,
    OutboxEntry,
    RecallEntry,
    Waiting,
)

OUTBOX_BATCH = 5_000
"""Skills put into the outbox by one statement when a mirror is noted."""

Result = TypeVar("Result")
Work = Callable[[Skills, Lock, dict[str, Stored]], Result]


class Neo4jStore:
    """The store of one namespace in one database. See `brain.store.base.Store` for what each method does."""

    def __init__(self, location: str, namespace: str, clock: Clock = utc_now, auth: Any = None) -> None:
        self.location, self.namespace, self.clock = without_password(location), namespace, clock
        self._connection = Connection(location, self.location, namespace, auth)
        self._schema = Schema(self._connection, self.location)
        self._lists = 0

    def close(self) -> None:
        self._connection.close()

    def migrations(self) -> list[Migration]:
        return self._schema.migrations()

    def migrate(self) -> list[Migration]:
        return self._schema.migrate(self.clock())

    # Writes

    def learn(self, orders: Sequence[LearnOrder], *, operation: str) -> list[Learned]:
        if not orders:
            return []
        return self._connection.write(lambda tx: Learning(self._skills(tx), orders, operation).carry_out())

    def feedback(self, skill_id: str, record: SkillTransferRecord, *, ttl: bool, operation: str) -> Skill | None:
        def work(tx: Transaction) -> Skill | None:
            skills = self._skills(tx)
            row = tx.row(
                "feedback",
                **operation_parameters(operation),
                kept=OPERATIONS_KEPT,
                id=skill_id,
                success=record.success,
                renew=ttl,
                now=skills.now,
                gain=formulas.SUCCESS_GAIN,
                loss=formulas.FAILURE_LOSS,
                base_hours=formulas.BASE_TTL_HOURS,
                history=TRANSFER_HISTORY_LENGTH,
                transfer=transfer_properties(record),
                domains=transfer_domains(record),
            )
            if row is None:
                return None
            skills.tell(Lock(0, False, row["mirrored"]), [skill_id])
            return next(iter(skills.read([row["skill"]])), None)

        return self._connection.write(work)

    def save(self, draft: Draft, *, expected_version: int | None, operation: str) -> Skill:
        skill_id = draft.skill.id

        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> Skill:
            if not lock.repeated:
                self._save(skills, [draft], expected_version, stored, lock)
            version = stored[skill_id].version if skill_id in stored else draft.skill.version
            hidden = draft.skill.model_copy(update={"version": version, "namespace": self.namespace})
            return next(iter(skills.live([skill_id])), hidden)  # one saved as expired is hidden at once

        return self._write(work, operation, [skill_id])

    def save_many(self, drafts: Sequence[Draft], *, operation: str) -> None:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> None:
            if not lock.repeated:
                self._save(skills, drafts, None, stored, lock)

        self._write(work, operation, [draft.skill.id for draft in drafts])

    def _save(
        self,
        skills: Skills,
        drafts: Sequence[Draft],
        expected_version: int | None,
        stored: dict[str, Stored],
        lock: Lock,
    ) -> None:
        versions = {skill_id: found.version for skill_id, found in stored.items() if found.live}
        written = []
        for draft in drafts:
            skill_id = draft.skill.id
            actual = versions.get(skill_id)
            if expected_version is not None and expected_version != (actual or 0):
                raise ConflictError(skill_id, expected_version, actual)
            version = (actual or 0) + 1
            skill = draft.skill.model_copy(update={"version": version, "namespace": self.namespace})
            written.append(Written.saved(draft, skill))
            versions[skill_id] = 0 if skill.has_expired(skills.now) else version
        skills.write(written, stored, lock)

    def delete(self, skill_id: str, *, operation: str) -> bool:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> bool:
            if lock.repeated:
                return True
            if skill_id not in stored or not stored[skill_id].live:
                skills.forget(operation)
                return False
            skills.remove([skill_id], lock)
            skills.tx.rows("note_deletion", id=skill_id, kept=DELETIONS_KEPT)
            return True

        return self._write(work, operation, [skill_id])

    def add_edge(self, edge: Edge, *, operation: str) -> None:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> None:
            skills.must_live([edge.source, edge.target])
            skills.put_edges([edge], lock)

        self._write(work, operation)

    def sweep(self, limit: int, *, operation: str) -> int:
        if not self._connection.ask(lambda tx: tx.rows("expired_ids", now=self.clock(), size=1)):
            return 0

        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> int:
            ids = [row["id"] for row in skills.tx.rows("expired_ids", now=skills.now, size=limit)]
            skills.remove(ids, lock)
            return len(ids)

        return self._write(work, operation)

    def claim_sweep(self, interval: timedelta, *, operation: str) -> bool:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> bool:
            rows = skills.tx.rows("claim_sweep", now=skills.now, before=skills.now - interval)
            return lock.repeated or bool(rows)

        return self._write(work, operation)

    # Reads

    def get_many(self, skill_ids: Sequence[str]) -> list[Skill]:
        return self._connection.ask(lambda tx: self._skills(tx).live(skill_ids))

    def pages(self, tag: str | None = None, size: int = PAGE) -> Iterator[list[Skill]]:
        for ids in self._pages_of_ids(size) if tag is None else self._ids_of_tag(tag, size):
            page = self.get_many(ids)
            yield page if tag is None else [skill for skill in page if tag in skill.tags]

    def edges(self, skill_id: str) -> list[Edge]:
        rows = self._connection.ask(lambda tx: tx.rows("edges_of", id=skill_id, now=self.clock()))
        return read_edges(skill_id, rows, self.location)

    def related(self, skill_id: str, relation: Relation | None, max_depth: int) -> list[tuple[Skill, int]]:
        slots = {"relations": "|".join([relation] if relation else Relation), "depth": str(max_depth)}

        rows = self._connection.ask(lambda tx: tx.rows("related", slots=slots, id=skill_id, now=self.clock()))
        distances = {row["id"]: row["distance"] for row in rows}
        return [(skill, distances[skill.id]) for skill in self.get_many(list(distances))]

    def summary(self, top: int) -> dict[str, Any]:
        def work(tx: Transaction) -> dict[str, Any]:
            skills = self._skills(tx)
            totals = tx.row("summary", now=skills.now) or dict.fromkeys(
                ("total", "units", "transferable", "transfers"), 0
            )
            return {
                "total_skills": totals["total"],
                "transferable_skills": totals["transferable"],
                "avg_confidence": mean_confidence(totals["units"], totals["total"]),
                "total_transfers": totals["transfers"],
                "top_skills": skills.live(row["id"] for row in tx.rows("top_skills", now=skills.now, size=top)),
            }

        return self._connection.read(work)

    def count(self) -> int:
        row = self._connection.ask(lambda tx: tx.row("count_skills"))
        return int(row["stored"]) if row else 0

    # What recall reads

    def changes(self, since: int) -> Changes:
        return self._connection.ask(lambda tx: self._skills(tx).fetch((), since)[1])

    def fetch(self, skill_ids: Sequence[str], since: int) -> tuple[list[Skill], Changes]:
        return self._connection.ask(lambda tx: self._skills(tx).fetch(skill_ids, since))

    def entries(self, size: int, *, vectors: bool) -> Iterator[list[RecallEntry]]:
        after, shapes = "", dict[str, Shape]()
        while True:
            rows = self._connection.ask(
                lambda tx, after=after: tx.value(  # type: ignore[misc]
                    "page_of_entries", after=after, size=size, vectors=vectors, now=self.clock()
                )
            )
            if not rows:
                return
            after = rows[-1][0]
            self._add_shapes(shapes, {row[2] for row in rows} - shapes.keys())
            yield read_entries(rows, shapes.__getitem__, self.location)

    def profiles(self, skill_ids: Sequence[str]) -> dict[str, str]:
        return self._connection.ask(lambda tx: self._skills(tx).profiles(skill_ids))

    def set_profiles(self, rows: Sequence[tuple[str, int, str, bytes]], *, operation: str) -> None:
        values = [dict(zip(("id", "version", "profile", "terms"), row, strict=True)) for row in rows]
        self._set("set_profiles", values, operation)

    def note_mark(self, mark: str, *, operation: str) -> None:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> None:
            skills.tx.rows("note_mark", mark=mark, kept=MARKS_KEPT)

        self._write(work, operation)

    def marks(self) -> list[str]:
        row = self._connection.ask(lambda tx: tx.row("marks"))
        return list(row["marks"]) if row else []

    def embedding_stamp(self) -> EmbeddingStamp | None:
        row = self._connection.ask(lambda tx: tx.row("embedding_stamp"))
        self._lists = row["vector_index"] if row else 0  # asked before every write of a vector
        return EmbeddingStamp.from_json(row["embedding"]) if row else None

    def set_embedding_stamp(
        self, stamp: EmbeddingStamp, replaces: EmbeddingStamp | None, *, operation: str
    ) -> EmbeddingStamp:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> EmbeddingStamp:
            before = replaces.to_json() if replaces else None
            row = skills.tx.row("set_embedding", stamp=stamp.to_json(), replaces=before)
            noted = EmbeddingStamp.from_json(row["embedding"] if row else None)
            assert noted
            return noted

        return self._write(work, operation)

    def set_vectors(self, vectors: Sequence[tuple[str, bytes]], *, operation: str) -> None:
        values = [
            {"id": skill_id, "vector": vector, "embedding": as_list(vector) if self._lists else None}
            for skill_id, vector in vectors
        ]
        self._set("set_vectors", values, operation)

    def make_vector_index(self, progress: Callable[[int], Any] | None = None) -> int:
        """See `brain.store.neo4j.vectors.make_index`. From now on this store keeps lists too."""
        stamp = self.embedding_stamp()
        if stamp is None:
            raise StoreError(
                f"{self.location} holds no vectors. Run `brain reembed --embedder MODEL` first.", self.location
            )
        self._lists = stamp.dimension
        return vectors.make_index(self._connection, stamp.dimension, self.entries(PAGE, vectors=True), progress)

    # Moving

    def export(self, size: int = PAGE) -> Iterator[list[KeptSkill]]:
        for ids in self._pages_of_ids(size):
            yield self._connection.read(lambda tx, ids=ids: moving.kept(self._skills(tx), ids))  # type: ignore[misc]

    def export_edges(self, size: int = PAGE) -> Iterator[list[Edge]]:
        for ids in self._pages_of_ids(size):
            rows = self._connection.ask(
                lambda tx, ids=ids: tx.rows("page_of_edges", ids=ids, now=self.clock())  # type: ignore[misc]
            )
            page = [edge for row in rows if (edge := read_edge(row, self.location))]
            if page:
                yield page

    def restore(self, kept: Sequence[KeptSkill], *, operation: str) -> None:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> None:
            if not lock.repeated:
                moving.restore(skills, kept, stored, lock)

        self._write(work, operation, [k.skill.id for k in kept])

    def restore_edges(self, edges: Sequence[Edge], *, operation: str) -> list[Edge]:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> list[Edge]:
            return skills.put_edges(edges, lock)

        return self._write(work, operation)

    # A mirror

    def set_mirror(self, target: str | None, *, operation: str) -> bool:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> bool:
            row = skills.tx.row("note_mirror", target=target)
            assert row
            if row["news"] and target is not None:
                after = ""
                mirrored = Lock(lock.version, False, mirrored=True)
                while ids := [r["id"] for r in skills.tx.rows("page_of_stored", after=after, size=OUTBOX_BATCH)]:
                    skills.tell(mirrored, ids)
                    after = ids[-1]
            return bool(row["news"]) or lock.repeated

        return self._write(work, operation)

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

    # How

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

    def _add_shapes(self, shapes: dict[str, Shape], keys: set[str]) -> None:
        """Reads shapes that are not known yet, but for those that cannot be read."""
        if keys:
            for key, values in self._connection.ask(lambda tx: tx.values("shapes", keys=list(keys))):
                with contextlib.suppress(TypeError):
                    shapes[key] = read_shape(values)

    def _pages_of_ids(self, size: int) -> Iterator[list[str]]:
        """Ids of live skills in their order, a page at a time."""
        after = ""
        while True:
            rows = self._connection.ask(
                lambda tx, after=after: tx.rows("page_of_skills", after=after, now=self.clock(), size=size)  # type: ignore[misc]
            )
            if not rows:
                return
            ids = [row["id"] for row in rows]
            after = ids[-1]
            yield ids

    def _ids_of_tag(self, tag: str, size: int) -> Iterator[list[str]]:
        """Ids of live skills that have the tag, all read at once, a page at a time."""
        rows = self._connection.ask(lambda tx: tx.rows("ids_of_tagged_skills", key=digest(tag), now=self.clock()))
        for start in range(0, len(rows), size):
            yield [row["id"] for row in rows[start : start + size]]
