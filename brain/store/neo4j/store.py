"""How does Neo4j keep skills? `Neo4jStore`: one transaction a call, the statements of `cypher/`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from brain.errors import ConflictError, StoreError
from brain.model import formulas
from brain.model.relations import Edge, Relation
from brain.model.skill import TRANSFER_HISTORY_LENGTH, Skill, SkillTransferRecord, utc_now
from brain.store.base import MARKS_KEPT, PAGE, Clock, mean_confidence
from brain.store.documents import read_edges
from brain.store.neo4j import listing, moving, vectors
from brain.store.neo4j.connection import Transaction
from brain.store.neo4j.learning import Learning
from brain.store.neo4j.outbox import Outbox
from brain.store.neo4j.paging import Pages
from brain.store.neo4j.reading import edges_there
from brain.store.neo4j.rows import FEEDBACK_ID, Written, as_list, transfer_domains, transfer_properties
from brain.store.neo4j.schema import Schema
from brain.store.neo4j.skills import OPERATIONS_KEPT, Lock, Skills, Stored, operation_parameters
from brain.store.values import (
    Changes,
    Counted,
    Draft,
    EmbeddingStamp,
    KeptSkill,
    Learned,
    LearnOrder,
    Migration,
    SeenTrace,
    SkillRow,
)


class Neo4jStore(Outbox, Pages):
    """The store of one namespace in one database. See `brain.store.base.Store` for what each method does."""

    def __init__(self, location: str, namespace: str, clock: Clock = utc_now, auth: Any = None) -> None:
        super().__init__(location, namespace, clock, auth)
        self._schema = Schema(self._connection, self.location)

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

    def feedback(self, skill_id: str, record: SkillTransferRecord, *, ttl: bool, operation: str) -> Counted | None:
        def work(tx: Transaction) -> Counted | None:
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
                feedback_id=record.feedback_id or None,
                known_by=FEEDBACK_ID,
                transfer=transfer_properties(record),
                domains=transfer_domains(record),
            )
            if row is None:
                return None
            skill = next(iter(skills.read([row["skill"]], by_body=True)), None)
            return Counted(skill, row["repeated"]) if skill else None

        return self._connection.write(work, alone=True)

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
            skills.note_deletions([skill_id])
            return True

        return self._write(work, operation, [skill_id])

    def add_edge(self, edge: Edge, *, operation: str) -> None:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> None:
            skills.must_live([edge.source, edge.target])
            skills.put_edges([edge], lock)

        self._write(work, operation)

    def remove_edge(self, edge: Edge, *, operation: str) -> bool:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> bool:
            return lock.repeated or skills.remove_edge(edge, lock, operation)

        return self._write(work, operation)

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

    def rows(self, skill_ids: Sequence[str] | None = None, size: int = PAGE) -> Iterator[list[SkillRow]]:
        return listing.rows(self._connection, self.clock, self.location, skill_ids, size)

    def edges(self, skill_id: str) -> list[Edge]:
        rows = self._connection.ask(lambda tx: tx.rows("edges_of", id=skill_id, now=self.clock()))
        return read_edges(skill_id, edges_there(rows), self.location)

    def related(self, skill_id: str, relation: Relation | None, max_depth: int) -> list[tuple[Skill, int]]:
        slots = {"relations": "|".join([relation] if relation else Relation), "depth": str(max_depth)}

        def work(tx: Transaction) -> list[tuple[Skill, int]]:
            found = tx.value("related", slots=slots, id=skill_id, now=self.clock()) or []
            distances = {values[0]: distance for distance, values in found}
            skills = self._skills(tx).read((values for _, values in found), by_body=True)
            return sorted(((skill, distances[skill.id]) for skill in skills), key=lambda pair: (pair[1], pair[0].id))

        return self._connection.ask(work)

    def summary(self, top: int) -> dict[str, Any]:
        def work(tx: Transaction) -> dict[str, Any]:
            skills = self._skills(tx)
            totals = tx.row("summary", now=skills.now) or dict.fromkeys(
                ("total", "units", "transferable", "transfers"), 0
            )
            if totals.pop("changing", False):
                tx.doubt(totals)
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

    def count_expiring(self, until: datetime) -> int:
        return int(self._connection.ask(lambda tx: tx.value("count_expiring", now=self.clock(), until=until)))

    def traces(self, skill_id: str, limit: int) -> list[SeenTrace]:
        def work(tx: Transaction) -> list[SeenTrace]:
            rows = tx.rows("latest_traces", id=skill_id, now=self.clock(), size=limit)
            return moving.readable_traces(tx, skill_id, [row["trace"] for row in rows])

        return self._connection.ask(work)

    # What recall reads

    def changes(self, since: int) -> Changes:
        return self._connection.ask(lambda tx: self._skills(tx).fetch((), since)[1])

    def fetch(self, skill_ids: Sequence[str], since: int) -> tuple[list[Skill], Changes]:
        return self._connection.ask(lambda tx: self._skills(tx).fetch(skill_ids, since))

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

    def restore(self, kept: Sequence[KeptSkill], *, operation: str) -> None:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> None:
            if not lock.repeated:
                moving.restore(skills, kept, stored, lock)

        self._write(work, operation, [k.skill.id for k in kept])

    def restore_edges(self, edges: Sequence[Edge], *, operation: str) -> list[Edge]:
        def work(skills: Skills, lock: Lock, stored: dict[str, Stored]) -> list[Edge]:
            return skills.put_edges(edges, lock)

        return self._write(work, operation)
