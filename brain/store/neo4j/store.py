"""How does Neo4j keep skills? `Neo4jStore`: one transaction a call, the statements of `cypher/`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from brain.errors import ConflictError
from brain.model import formulas
from brain.model.receipts import LearnOutcome
from brain.model.relations import Edge, Relation
from brain.model.skill import TRANSFER_HISTORY_LENGTH, Skill, SkillTransferRecord, utc_now
from brain.model.text import digest
from brain.store import migrations
from brain.store.base import (
    PAGE,
    Changes,
    Clock,
    Draft,
    EmbeddingStamp,
    Learned,
    LearnOrder,
    Migration,
    RecallEntry,
    all_of,
    edges_of_derivation,
    needs_all,
)
from brain.store.documents import read_edges, read_entry
from brain.store.location import without_password
from brain.store.migrations import MigrationFile
from brain.store.neo4j.connection import Connection, Lock, Row, TornReadError, Transaction
from brain.store.neo4j.rows import batches, entry_row, is_torn, read_skill, skill_row, trace_row, transfer_row
from brain.store.statements import data_folder
from brain.store.walk import breadth_first

DELETIONS_KEPT = 1_000
"""Deletions remembered one by one; a reader that is further behind reads everything anew."""


class Neo4jStore:
    """The store of one namespace in one database. See `brain.store.base.Store` for what each method does."""

    def __init__(self, location: str, namespace: str, clock: Clock = utc_now, auth: Any = None) -> None:
        self.location, self.namespace, self.clock = without_password(location), namespace, clock
        self._connection = Connection(location, self.location, namespace, auth)

    def close(self) -> None:
        self._connection.close()

    # Schema

    def migrations(self) -> list[Migration]:
        return self._connection.read(self._migrations)

    def migrate(self) -> list[Migration]:
        if not any(m.state == "pending" for m in migrations.usable(self.migrations(), self.location)):
            return []
        self._connection.schema(self._connection.statement("migration_version_constraint").text)
        return self._connection.write_schema(self._apply_pending)

    def _files(self) -> tuple[MigrationFile, ...]:
        return migrations.load(data_folder("migrations") / "neo4j")

    def _migrations(self, tx: Transaction) -> list[Migration]:
        history = [
            migrations.Applied(row["version"], row["name"], row["checksum"]) for row in tx.rows("migration_history")
        ]
        return migrations.analyse(self._files(), history)

    def _apply_pending(self, tx: Transaction) -> list[Migration]:
        """Holds the lock of the history in `tx` while each schema statement runs in a transaction of its own."""
        tx.rows("lock_migrations")
        files = migrations.pending(self._files(), migrations.usable(self._migrations(tx), self.location))
        for file in files:
            for text in file.statements:
                self._connection.schema(text)
            tx.rows("record_migration", version=file.version, name=file.name, checksum=file.checksum, now=self.clock())
        return [Migration(file.version, file.name, file.checksum, "applied") for file in files]

    # Writes

    def learn(self, order: LearnOrder) -> Learned:
        return self._connection.write(lambda tx, lock: self._learn(tx, lock, order), order.operation)

    def _learn(self, tx: Transaction, lock: Lock, order: LearnOrder) -> Learned:
        observation = order.observation
        by_trace = bool(observation.trace_id) or lock.repeated
        found = tx.row(
            "find_twin",
            trace_key=observation.key if by_trace else "",
            dedup_key=order.draft.dedup_key,
            now=self.clock(),
        )
        assert found
        seen = self._live(tx, [found["seen"]]) if found["seen"] else []
        if lock.repeated:
            return _learned_before(seen, observation.success)
        if seen:
            tx.rows("forget_operation", operation=order.operation)
            return Learned(LearnOutcome.ALREADY_SEEN, seen[0])
        twin_id = found["holder"] or order.find_twin(self._changes(tx, order.seen_version, lock))
        if twin_id and not self._live(tx, [twin_id]):  # it cannot be read: a readable twin takes its place
            tx.rows("clear_dedup_key", id=twin_id)
            twin_id = None
        if twin_id is None and not observation.success:
            tx.rows("forget_operation", operation=order.operation)
            return Learned(LearnOutcome.IGNORED, None)
        used = self._must_live(tx, [skill_id for skill_id in order.derived_from if skill_id != twin_id])
        if twin_id is None:
            outcome, skill = LearnOutcome.CREATED, self._create(tx, order)
        else:
            outcome, skill = self._reinforce(tx, twin_id, order)
        for edge in edges_of_derivation(skill, used, observation.success):
            self._put_edge(tx, edge)
        return Learned(outcome, skill)

    def _create(self, tx: Transaction, order: LearnOrder) -> Skill:
        draft = order.draft
        stored = self._stored(tx, [draft.skill.id]).get(draft.skill.id)
        if stored and stored["live"]:
            raise ConflictError(draft.skill.id, 0, stored["version"])
        if stored:
            tx.rows("remove_skills", ids=[draft.skill.id])
        row = skill_row(draft, draft.skill, dedup_key=draft.dedup_key, traces=[order.observation])
        tx.rows("write_skills", rows=[row])
        return self._must_live(tx, [draft.skill.id])[0]

    def _reinforce(self, tx: Transaction, skill_id: str, order: LearnOrder) -> tuple[LearnOutcome, Skill]:
        success = order.observation.success
        traces = [trace_row(order.observation, self.clock())]
        self._record_use(tx, skill_id, success, order.ttl, traces=traces)
        outcome = LearnOutcome.REINFORCED if success else LearnOutcome.FAILURE_RECORDED
        return outcome, self._must_live(tx, [skill_id])[0]

    def feedback(self, skill_id: str, record: SkillTransferRecord, *, ttl: bool, operation: str) -> Skill | None:
        def work(tx: Transaction, lock: Lock) -> Skill | None:
            if not lock.repeated:
                self._record_use(tx, skill_id, record.success, ttl, transfers=[transfer_row(record)])
            return next(iter(self._live(tx, [skill_id])), None)

        return self._connection.write(work, operation)

    def _record_use(
        self,
        tx: Transaction,
        skill_id: str,
        success: bool,
        ttl: bool,
        transfers: Sequence[Row] = (),
        traces: Sequence[Row] = (),
    ) -> None:
        tx.rows(
            "record_use",
            id=skill_id,
            success=success,
            renew=ttl,
            now=self.clock(),
            gain=formulas.SUCCESS_GAIN,
            loss=formulas.FAILURE_LOSS,
            base_hours=formulas.BASE_TTL_HOURS,
            kept=TRANSFER_HISTORY_LENGTH,
            transfers=list(transfers),
            traces=list(traces),
        )

    def save(self, draft: Draft, *, expected_version: int | None, operation: str) -> Skill:
        skill_id = draft.skill.id

        def work(tx: Transaction, lock: Lock) -> Skill:
            if not lock.repeated:
                self._save(tx, [draft], expected_version)
            version = self._stored(tx, [skill_id])[skill_id]["version"]
            hidden = draft.skill.model_copy(update={"version": version, "namespace": self.namespace})
            return next(iter(self._live(tx, [skill_id])), hidden)  # one saved as expired is hidden at once

        return self._connection.write(work, operation)

    def save_many(self, drafts: Sequence[Draft], *, operation: str) -> None:
        def work(tx: Transaction, lock: Lock) -> None:
            if not lock.repeated:
                self._save(tx, drafts, None)

        self._connection.write(work, operation)

    def _save(self, tx: Transaction, drafts: Sequence[Draft], expected_version: int | None) -> None:
        for batch in batches(drafts):
            stored = self._stored(tx, [draft.skill.id for draft in batch])
            rows = []
            for draft in batch:
                actual = _live_version(stored.get(draft.skill.id))
                if expected_version is not None and expected_version != (actual or 0):
                    raise ConflictError(draft.skill.id, expected_version, actual)
                skill = draft.skill.model_copy(update={"version": (actual or 0) + 1, "namespace": self.namespace})
                rows.append(skill_row(draft, skill, dedup_key=None))
            expired = [skill_id for skill_id, row in stored.items() if not row["live"]]
            live = [skill_id for skill_id, row in stored.items() if row["live"]]
            if expired:
                tx.rows("remove_skills", ids=expired)
            if live:
                tx.rows("clear_skills", ids=live)
            tx.rows("write_skills", rows=rows)

    def delete(self, skill_id: str, *, operation: str) -> bool:
        def work(tx: Transaction, lock: Lock) -> bool:
            if lock.repeated:
                return True
            if _live_version(self._stored(tx, [skill_id]).get(skill_id)) is None:
                tx.rows("forget_operation", operation=operation)
                return False
            tx.rows("remove_skills", ids=[skill_id])
            tx.rows("note_deletion", id=skill_id, kept=DELETIONS_KEPT)
            return True

        return self._connection.write(work, operation)

    def add_edge(self, edge: Edge, *, operation: str) -> None:
        def work(tx: Transaction, lock: Lock) -> None:
            self._must_live(tx, [edge.source, edge.target])
            self._put_edge(tx, edge)

        self._connection.write(work, operation)

    def sweep(self, limit: int, *, operation: str) -> int:
        if not self._connection.read(lambda tx: tx.rows("expired_ids", now=self.clock(), size=1)):
            return 0

        def work(tx: Transaction, lock: Lock) -> int:
            ids = [row["id"] for row in tx.rows("expired_ids", now=self.clock(), size=limit)]
            tx.rows("remove_skills", ids=ids)
            return len(ids)

        return self._connection.write(work, operation)

    def claim_sweep(self, interval: timedelta, *, operation: str) -> bool:
        now = self.clock()

        def work(tx: Transaction, lock: Lock) -> bool:
            return lock.repeated or bool(tx.rows("claim_sweep", now=now, before=now - interval))

        return self._connection.write(work, operation)

    def set_vectors(self, vectors: Sequence[tuple[str, bytes]], *, operation: str) -> None:
        rows = [{"id": skill_id, "vector": vector} for skill_id, vector in vectors]
        self._connection.write(lambda tx, lock: tx.rows("set_vectors", rows=rows), operation)

    def set_embedding_stamp(
        self, stamp: EmbeddingStamp, replaces: EmbeddingStamp | None, *, operation: str
    ) -> EmbeddingStamp:
        def work(tx: Transaction, lock: Lock) -> EmbeddingStamp:
            row = tx.row("set_embedding", stamp=stamp.to_json(), replaces=replaces.to_json() if replaces else None)
            noted = EmbeddingStamp.from_json(row["embedding"] if row else None)
            assert noted
            return noted

        return self._connection.write(work, operation)

    # Reads

    def get_many(self, skill_ids: Sequence[str]) -> list[Skill]:
        return self._connection.read(lambda tx: self._live(tx, skill_ids))

    def pages(self, tag: str | None = None, size: int = PAGE) -> Iterator[list[Skill]]:
        after = ""
        while True:
            ids, page = self._connection.read(lambda tx, after=after: self._page(tx, tag, after, size))  # type: ignore[misc]
            if not ids:
                return
            yield page
            after = ids[-1]

    def _page(self, tx: Transaction, tag: str | None, after: str, size: int) -> tuple[list[str], list[Skill]]:
        if tag is None:
            rows = tx.rows("page_of_skills", after=after, now=self.clock(), size=size)
        else:
            rows = tx.rows("page_of_tagged_skills", key=digest(tag), after=after, now=self.clock(), size=size)
        ids = [row["id"] for row in rows]
        return ids, self._live(tx, ids)

    def edges(self, skill_id: str) -> list[Edge]:
        rows = self._connection.read(lambda tx: tx.rows("edges_of", id=skill_id, now=self.clock()))
        return read_edges(skill_id, rows, self.location)

    def related(self, skill_id: str, relation: Relation | None, max_depth: int) -> list[tuple[Skill, int]]:
        return self._connection.read(lambda tx: self._related(tx, skill_id, relation, max_depth))

    def _related(
        self, tx: Transaction, skill_id: str, relation: Relation | None, max_depth: int
    ) -> list[tuple[Skill, int]]:
        if not self._live(tx, [skill_id]):
            return []
        relations = [relation.value] if relation else [known.value for known in Relation]

        def neighbours(ids: Sequence[str]) -> list[str]:
            rows = tx.rows("neighbours", ids=list(ids), relations=relations, now=self.clock())
            return [row["id"] for row in rows]

        distance = {other: d for d, other in breadth_first(skill_id, max_depth, neighbours)}
        return [(skill, distance[skill.id]) for skill in self._live(tx, list(distance))]

    def changes(self, since: int) -> Changes:
        def work(tx: Transaction) -> Changes:
            state = tx.row("namespace_state")
            if state is None:
                return Changes(0, (), complete=since > 0)
            return self._changes(tx, since, Lock(state["version"], state["complete_since"], repeated=False))

        return self._connection.read(work)

    def fetch(self, skill_ids: Sequence[str], since: int) -> tuple[list[Skill], Changes]:
        def work(tx: Transaction) -> tuple[list[Skill], Changes]:
            row = tx.row("fetch", ids=list(skill_ids), since=since, now=self.clock())
            assert row
            changes = Changes(since, ())
            if row["version"] != since:
                complete = needs_all(since, row["version"], row["complete_since"])
                changes = Changes(row["version"], self._entries(row["changed"]), row["deleted"], complete)
            return self._skills(tx, skill_ids, row["skills"]), changes

        return self._connection.read(work)

    def summary(self, top: int) -> dict[str, Any]:
        def work(tx: Transaction) -> dict[str, Any]:
            totals = tx.row("summary", now=self.clock())
            assert totals
            ids = [row["id"] for row in tx.rows("top_skills", now=self.clock(), size=top)]
            return {
                "total_skills": totals["total"],
                "transferable_skills": totals["transferable"],
                "avg_confidence": totals["confidence"],
                "total_transfers": totals["transfers"],
                "top_skills": self._live(tx, ids),
            }

        return self._connection.read(work)

    def count(self) -> int:
        row = self._connection.read(lambda tx: tx.row("count_skills"))
        return int(row["stored"]) if row else 0

    def embedding_stamp(self) -> EmbeddingStamp | None:
        row = self._connection.read(lambda tx: tx.row("namespace_state"))
        return EmbeddingStamp.from_json(row["embedding"]) if row else None

    # Inside a transaction

    def _live(self, tx: Transaction, skill_ids: Sequence[str]) -> list[Skill]:
        row = tx.row("fetch", ids=list(dict.fromkeys(skill_ids)), since=None, now=self.clock()) if skill_ids else None
        return self._skills(tx, skill_ids, row["skills"]) if row else []

    def _must_live(self, tx: Transaction, skill_ids: Sequence[str]) -> list[Skill]:
        return all_of(skill_ids, self._live(tx, skill_ids), self.namespace)

    def _skills(self, tx: Transaction, skill_ids: Sequence[str], rows: Sequence[Row]) -> list[Skill]:
        if tx.may_be_torn and any(is_torn(row) for row in rows):
            raise TornReadError
        found = {row["id"]: row for row in rows}
        read = (read_skill(found[i], self.namespace, self.location) for i in dict.fromkeys(skill_ids) if i in found)
        return [skill for skill in read if skill]

    def _entries(self, rows: Sequence[Row]) -> list[RecallEntry]:
        return [entry for row in rows if (entry := read_entry(entry_row(row), self.location))]

    def _stored(self, tx: Transaction, skill_ids: Sequence[str]) -> dict[str, Row]:
        return {row["id"]: row for row in tx.rows("stored_versions", ids=list(skill_ids), now=self.clock())}

    def _put_edge(self, tx: Transaction, edge: Edge) -> None:
        tx.rows(
            "add_edge",
            slots={"relation": edge.relation.value},
            source=edge.source,
            target=edge.target,
            metadata=json.dumps(edge.metadata, ensure_ascii=False, allow_nan=False),
            now=self.clock(),
        )

    def _changes(self, tx: Transaction, since: int, lock: Lock) -> Changes:
        """What changed; `lock` was read before, so that a change in between is seen again and not missed."""
        if lock.version == since:
            return Changes(since, ())
        complete = needs_all(since, lock.version, lock.complete_since)
        rows = tx.rows("changed_skills", since=0 if complete else since, now=self.clock())
        deleted = [] if complete else [row["id"] for row in tx.rows("deletions_since", since=since)]
        return Changes(lock.version, self._entries(rows), deleted, complete)


def _learned_before(found: Sequence[Skill], success: bool) -> Learned:
    """What a call did that was committed before its acknowledgement was lost: `found` was learned from its trace."""
    if not found:
        return Learned(LearnOutcome.IGNORED, None)
    if found[0].version == 1:
        return Learned(LearnOutcome.CREATED, found[0])
    return Learned(LearnOutcome.REINFORCED if success else LearnOutcome.FAILURE_RECORDED, found[0])


def _live_version(stored: Row | None) -> int | None:
    return stored["version"] if stored and stored["live"] else None
