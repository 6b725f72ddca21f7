"""How does SQLite keep skills? `SqliteStore`: documents with the columns beside them that statements need."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from brain.errors import ConflictError, StoreUnavailableError
from brain.model.receipts import LearnOutcome
from brain.model.relations import Edge, Relation
from brain.model.skill import Skill, SkillTransferRecord, utc_now
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
    Observation,
    all_of,
    count_use,
    edges_of_derivation,
    needs_all,
)
from brain.store.documents import read_document, read_edges, read_entry
from brain.store.migrations import MigrationFile
from brain.store.sqlite.connection import Connection, Row
from brain.store.sqlite.rows import columns, microseconds, with_expiry
from brain.store.statements import data_folder
from brain.store.walk import breadth_first

DELETIONS_KEPT = 10_000
"""Deletions remembered one by one; a reader that is further behind reads everything anew."""


class SqliteStore:
    """The store of one namespace in one SQLite file. See `brain.store.base.Store` for what each method does."""

    def __init__(self, path: str, location: str, namespace: str, clock: Clock = utc_now) -> None:
        self.location, self.namespace, self.clock = location, namespace, clock
        self._connection = Connection(path, location)

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

    def learn(self, order: LearnOrder) -> Learned:
        with self._connection.transaction("write"):
            seen = self._skill_of_trace(order.observation)
            if seen:
                return Learned(LearnOutcome.ALREADY_SEEN, seen)
            twin = self._twin(order)  # before the version is raised: a view must not run ahead of what is committed
            if twin is None and not order.observation.success:
                return Learned(LearnOutcome.IGNORED, None)
            used = self._used_skills(order, twin)
            version = self._raise_version()
            if twin is None:
                skill, outcome = self._create(order.draft, version), LearnOutcome.CREATED
            else:
                skill, outcome = self._reinforce(twin, order, version)
            self._note_trace(order.observation, skill.id)
            for edge in edges_of_derivation(skill, used, order.observation.success):
                self._put_edge(edge)
            return Learned(outcome, skill)

    def feedback(self, skill_id: str, record: SkillTransferRecord, *, ttl: bool, operation: str) -> Skill | None:
        with self._connection.transaction("write"):
            found = self._live([skill_id])
            if not found:
                return None
            count_use(found[0], record.success, record.timestamp, ttl, record)
            return self._write_use(found[0], self._raise_version())

    def save(self, draft: Draft, *, expected_version: int | None, operation: str) -> Skill:
        with self._connection.transaction("write"):
            return self._save(draft, expected_version, self._raise_version())

    def save_many(self, drafts: Sequence[Draft], *, operation: str) -> None:
        with self._connection.transaction("write"):
            version = self._raise_version()
            for draft in drafts:
                self._save(draft, None, version)

    def delete(self, skill_id: str, *, operation: str) -> bool:
        with self._connection.transaction("write"):
            if self._live_version(skill_id) is None:
                return False
            version = self._raise_version()
            self._remove([skill_id])
            self._run("note_deletion", id=skill_id, version=version)
            forgotten = self._run("trim_deletions", kept=DELETIONS_KEPT)
            if forgotten:
                self._run("set_complete_since", version=max(row[0] for row in forgotten))
            return True

    def add_edge(self, edge: Edge, *, operation: str) -> None:
        with self._connection.transaction("write"):
            self._raise_version()
            self._must_live([edge.source, edge.target])
            self._put_edge(edge)

    def sweep(self, limit: int, *, operation: str) -> int:
        with self._connection.transaction("read"):
            if not self._run("expired_ids", now=self._now(), size=1):
                return 0
        with self._connection.transaction("write"):
            ids = [row[0] for row in self._run("expired_ids", now=self._now(), size=limit)]
            self._remove(ids)
            return len(ids)

    def claim_sweep(self, interval: timedelta, *, operation: str) -> bool:
        now = self.clock()
        try:
            with self._connection.transaction("write", wait=False):
                self._run("add_namespace")
                return bool(self._run("note_sweep", now=microseconds(now), before=microseconds(now - interval)))
        except StoreUnavailableError:  # somebody is writing: the next recall asks again
            return False

    def set_vectors(self, vectors: Sequence[tuple[str, bytes]], *, operation: str) -> None:
        with self._connection.transaction("write"):
            version = self._raise_version()
            for skill_id, vector in vectors:
                self._run("set_vector", id=skill_id, vector=vector, changed=version)

    def set_embedding_stamp(
        self, stamp: EmbeddingStamp, replaces: EmbeddingStamp | None, *, operation: str
    ) -> EmbeddingStamp:
        with self._connection.transaction("write"):
            self._run("add_namespace")
            self._run("set_embedding", stamp=stamp.to_json(), replaces=replaces.to_json() if replaces else None)
            noted = EmbeddingStamp.from_json(self._run("namespace_state")[0][2])
            assert noted
            return noted

    # Reads

    def get_many(self, skill_ids: Sequence[str]) -> list[Skill]:
        with self._connection.transaction("read"):
            return self._live(skill_ids)

    def pages(self, tag: str | None = None, size: int = PAGE) -> Iterator[list[Skill]]:
        after = ""
        while True:
            with self._connection.transaction("read"):
                if tag is None:
                    rows = self._run("page_of_skills", after=after, now=self._now(), size=size)
                else:
                    rows = self._run("page_of_tagged_skills", tag=tag, after=after, now=self._now(), size=size)
            if not rows:
                return
            yield [skill for row in rows if (skill := self._read(*row))]
            after = rows[-1][0]

    def edges(self, skill_id: str) -> list[Edge]:
        with self._connection.transaction("read"):
            rows = self._connection.records("edges_of", namespace=self.namespace, id=skill_id, now=self._now())
        return read_edges(skill_id, rows, self.location)

    def related(self, skill_id: str, relation: Relation | None, max_depth: int) -> list[tuple[Skill, int]]:
        with self._connection.transaction("read"):
            if not self._live([skill_id]):
                return []
            found = breadth_first(skill_id, max_depth, lambda ids: self._neighbours(ids, relation))
            distance = {other: d for d, other in found}
            return [(skill, distance[skill.id]) for skill in self._live(list(distance))]

    def changes(self, since: int) -> Changes:
        with self._connection.transaction("read"):
            return self._changes(since)

    def fetch(self, skill_ids: Sequence[str], since: int) -> tuple[list[Skill], Changes]:
        with self._connection.transaction("read"):
            return self._live(skill_ids), self._changes(since)

    def summary(self, top: int) -> dict[str, Any]:
        with self._connection.transaction("read"):
            total, transferable, confidence, transfers = self._run("summary", now=self._now())[0]
            rows = self._run("top_skills", now=self._now(), size=top)
        return {
            "total_skills": total,
            "transferable_skills": transferable,
            "avg_confidence": confidence,
            "total_transfers": transfers,
            "top_skills": [skill for row in rows if (skill := self._read(*row))],
        }

    def count(self) -> int:
        with self._connection.transaction("read"):
            return int(self._run("count_skills")[0][0])

    def embedding_stamp(self) -> EmbeddingStamp | None:
        with self._connection.transaction("read"):
            rows = self._run("namespace_state")
            return EmbeddingStamp.from_json(rows[0][2]) if rows else None

    # Inside a transaction

    def _run(self, name: str, **parameters: Any) -> list[Row]:
        return self._connection.rows(name, namespace=self.namespace, **parameters)

    def _now(self) -> int:
        return microseconds(self.clock())

    def _raise_version(self) -> int:
        self._run("add_namespace")
        return int(self._run("raise_version")[0][0])

    def _read(self, skill_id: str, document: str) -> Skill | None:
        return read_document(skill_id, document, self.namespace, self.location)

    def _neighbours(self, skill_ids: Sequence[str], relation: Relation | None) -> list[str]:
        wanted = relation.value if relation else None
        rows = self._run("neighbours", ids=json.dumps(list(skill_ids)), relation=wanted, now=self._now())
        return [row[0] for row in rows]

    def _live(self, skill_ids: Sequence[str]) -> list[Skill]:
        wanted = list(dict.fromkeys(skill_ids))
        rows: dict[str, str] = dict(self._run("skills_by_id", ids=json.dumps(wanted), now=self._now()))
        return [skill for i in wanted if i in rows and (skill := self._read(i, rows[i]))]

    def _live_version(self, skill_id: str) -> int | None:
        rows = self._run("live_version", id=skill_id, now=self._now())
        return int(rows[0][0]) if rows else None

    def _must_live(self, skill_ids: Sequence[str]) -> list[Skill]:
        return all_of(skill_ids, self._live(skill_ids), self.namespace)

    def _used_skills(self, order: LearnOrder, twin: Skill | None) -> list[Skill]:
        return self._must_live([used for used in order.derived_from if not twin or used != twin.id])

    def _skill_of_trace(self, observation: Observation) -> Skill | None:
        """The skill that the caller's trace id was learned as, if there is such an id."""
        if not observation.trace_id:
            return None
        rows = self._run("skill_of_trace", key=observation.key, now=self._now())
        return self._read("", rows[0][0]) if rows else None

    def _twin(self, order: LearnOrder) -> Skill | None:
        """The live skill that does the same: by dedup key, else by what changed since the caller looked."""
        self._run("add_namespace")
        self._run("release_dedup_key", dedup_key=order.draft.dedup_key, now=self._now())
        held = self._run("skill_by_dedup_key", dedup_key=order.draft.dedup_key)
        twin_id = held[0][0] if held else order.find_twin(self._changes(order.seen_version))
        live = self._live([twin_id]) if twin_id else []
        if held and not live:  # it cannot be read: a readable twin takes its place
            self._run("clear_dedup_key", dedup_key=order.draft.dedup_key)
        return live[0] if live else None

    def _create(self, draft: Draft, version: int) -> Skill:
        taken = self._live_version(draft.skill.id)
        if taken is not None:
            raise ConflictError(draft.skill.id, 0, taken)
        self._remove([draft.skill.id])
        return self._put(draft, draft.skill, version, dedup_key=draft.dedup_key)

    def _reinforce(self, skill: Skill, order: LearnOrder, version: int) -> tuple[Skill, LearnOutcome]:
        success = order.observation.success
        count_use(skill, success, self.clock(), order.ttl)
        outcome = LearnOutcome.REINFORCED if success else LearnOutcome.FAILURE_RECORDED
        return self._write_use(skill, version), outcome

    def _write_use(self, skill: Skill, version: int) -> Skill:
        skill.version += 1
        self._run("update_use", **columns(skill), changed=version)
        return skill

    def _save(self, draft: Draft, expected_version: int | None, version: int) -> Skill:
        actual = self._live_version(draft.skill.id)
        if expected_version is not None and expected_version != (actual or 0):
            raise ConflictError(draft.skill.id, expected_version, actual)
        if actual is None:
            self._remove([draft.skill.id])  # an expired one leaves nothing behind
        skill = draft.skill.model_copy(update={"version": (actual or 0) + 1, "namespace": self.namespace})
        return self._put(draft, skill, version, dedup_key=None)

    def _put(self, draft: Draft, skill: Skill, version: int, dedup_key: str | None) -> Skill:
        shape = skill.features.shape
        self._connection.rows(
            "put_shape",
            key=shape.key,
            task_structures=json.dumps(shape.task_structures),
            cognitive_patterns=json.dumps(shape.cognitive_patterns),
            input_shape=shape.input_shape,
            output_shape=shape.output_shape,
        )
        self._run(
            "put_skill",
            **columns(skill),
            skill_type=skill.skill_type,
            shape=shape.key,
            fingerprint=skill.fingerprint(),
            profile=draft.profile,
            vector=draft.vector,
            dedup_key=dedup_key,
            fitting_key=draft.dedup_key,
            changed=version,
        )
        self._run("clear_tags", id=skill.id)
        for tag in skill.tags:
            self._run("put_tag", tag=tag, id=skill.id)
        return skill

    def _put_edge(self, edge: Edge) -> None:
        self._run(
            "put_edge",
            source=edge.source,
            relation=edge.relation.value,
            target=edge.target,
            metadata=json.dumps(edge.metadata),
        )

    def _note_trace(self, observation: Observation, skill_id: str) -> None:
        self._run(
            "put_trace",
            key=observation.key,
            trace_id=observation.trace_id,
            content=observation.content,
            domain=observation.domain,
            task=observation.task,
            success=observation.success,
            quality=observation.quality,
            seen_at=self._now(),
            id=skill_id,
        )

    def _remove(self, skill_ids: Sequence[str]) -> None:
        for skill_id in skill_ids:
            for name in ("delete_skill", "delete_edges", "delete_traces", "clear_tags"):
                self._run(name, id=skill_id)

    def _changes(self, since: int) -> Changes:
        state = self._run("namespace_state")
        version, complete_since = state[0][:2] if state else (0, 0)
        if version == since:
            return Changes(version, ())
        complete = needs_all(since, version, complete_since)
        rows = self._connection.records(
            "changed_skills", namespace=self.namespace, since=0 if complete else since, now=self._now()
        )
        entries = [entry for row in rows if (entry := read_entry(with_expiry(row), self.location))]
        deleted = [] if complete else [row[0] for row in self._run("deletions_since", since=since)]
        return Changes(version, entries, deleted, complete)
