"""How does Redis keep skills? `RedisStore`: OrKa's documents and sets, with what they have no place for beside them.

See `brain.store.redis.layout` for the keys, `permissions` for the commands, `following` for what OrKa itself writes.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from brain.errors import BrainError, ConflictError, StoreError, StoreUnavailableError
from brain.model.relations import Edge, Relation
from brain.model.skill import Skill, SkillTransferRecord
from brain.store.base import MARKS_KEPT, PAGE, Clock, all_of, count_use, was_counted
from brain.store.redis import listing, moving, sweeping, totals
from brain.store.redis.connection import Backend, Done
from brain.store.redis.feed import Feed
from brain.store.redis.following import Follower
from brain.store.redis.layout import Keys, microseconds
from brain.store.redis.learning import Learning, learned_before
from brain.store.redis.plan import Plan, decoded
from brain.store.redis.reading import Reader
from brain.store.redis.writer import Recalled, Unit
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

_PATIENCE, _SHORTEST_PAUSE, _LONGEST_PAUSE = 60.0, 0.001, 0.1  # seconds: of a write that loses its race again and again

T = TypeVar("T")


class RedisStore:
    """The store of one namespace in one Redis. See `brain.store.base.Store` for what each method does."""

    def __init__(self, backend: Backend, keys: Keys, location: str, namespace: str, clock: Clock) -> None:
        self.location, self.namespace, self.clock = location, namespace, clock
        self._backend, self._keys = backend, keys
        self._reader = Reader(backend, keys, namespace, clock)
        self._follower = Follower(backend, keys, self._reader, self._carry_out)
        self._feed = Feed(backend, keys, self._reader)
        self._turn = threading.RLock()

    def close(self) -> None:
        self._backend.close()

    def migrations(self) -> list[Migration]:
        return [Migration(1, "orka_layout", "", "applied")]

    def migrate(self) -> list[Migration]:
        """The layout is OrKa's, so there is nothing to migrate; from now on, the server tells what others write."""
        self._follower.begin()
        return []

    # Writes

    def learn(self, orders: Sequence[LearnOrder], *, operation: str) -> list[Learned]:
        def work(unit: Unit) -> list[Learned]:
            self._follower.catch_up()
            return Learning(unit, self.namespace, self.clock(), self._look, self.profiles).carry_out(orders)

        return self._write(work, operation, lambda receipt: learned_before(receipt, self._reader.live))

    def _look(self, since: int) -> tuple[Changes, bytes | None]:
        """What changed after a version, all of it, and the count of texts written until then."""
        answers = self._backend.read(*self._feed.asking(since, None))
        return self._feed.understood(since, answers, None), answers[0][3]

    def feedback(self, skill_id: str, record: SkillTransferRecord, *, ttl: bool, operation: str) -> Counted | None:
        def work(unit: Unit) -> Counted | None:
            stored = unit.stored(skill_id)
            live = unit.if_live(stored)
            if live is None:
                return None
            if was_counted(live, record):
                return Counted(live, repeated=True)
            skill = live.model_copy()
            count_use(skill, record.success, record.timestamp, ttl, record)
            skill.version += 1
            return Counted(unit.put(skill, stored.note.dedup_key))

        return self._write(work, operation, lambda _: next(map(Counted, self.get_many([skill_id])), None))

    def save(self, draft: Draft, *, expected_version: int | None, operation: str) -> Skill:
        def repeated(receipt: str) -> Skill:
            hidden = draft.skill.model_copy(update={"version": int(receipt), "namespace": self.namespace})
            return self._reader.live([hidden.id]).get(hidden.id, hidden)

        def work(unit: Unit) -> Skill:
            (skill,) = self._save(unit, [draft], expected_version)
            unit.plan.receipt = str(skill.version)
            return skill

        return self._write(work, operation, repeated)

    def save_many(self, drafts: Sequence[Draft], *, operation: str) -> None:
        self._write(lambda unit: self._save(unit, drafts, None) and None, operation, lambda _: None)

    def _save(self, unit: Unit, drafts: Sequence[Draft], expected_version: int | None) -> list[Skill]:
        unit.load(draft.skill.id for draft in drafts)
        same = self._vectors_that_fit(drafts)
        saved = []
        for draft in drafts:
            skill_id = draft.skill.id
            before = unit.stored(skill_id)
            live = unit.if_live(before)
            actual = live.version if live else None
            if expected_version is not None and expected_version != (actual or 0):
                raise ConflictError(skill_id, expected_version, actual)
            if live is None:
                unit.clear(before)
            skill = draft.skill.model_copy(update={"version": (actual or 0) + 1, "namespace": self.namespace})
            held = before.note.dedup_key if live else None
            vector = draft.vector if draft.vector is not None else same.get(skill_id) if live else None
            recalled = Recalled(draft.profile, draft.terms, vector)
            saved.append(unit.put(skill, held if held == draft.dedup_key else None, recalled))
        return saved

    def _vectors_that_fit(self, drafts: Sequence[Draft]) -> dict[str, bytes]:
        """The stored vectors of skills that come without one and whose profile is as it was."""
        bare = {draft.skill.id: draft.profile for draft in drafts if draft.vector is None}
        if not bare:
            return {}
        kept = moving.beside(self._backend, self._keys, list(bare))
        fitting = ((i, profile, vector) for i, (profile, _, vector) in kept.items() if profile and vector)
        mark = Keys.MARK
        return {i: vector[mark:] for i, profile, vector in fitting if decoded(profile[mark:]) == bare[i]}

    def delete(self, skill_id: str, *, operation: str) -> bool:
        def work(unit: Unit) -> bool:
            stored = unit.stored(skill_id)
            if not stored.is_there or stored.has_expired(self.clock()):
                return False
            unit.remove([skill_id], told=True)
            return True

        return self._write(work, operation, lambda _: True)

    def add_edge(self, edge: Edge, *, operation: str) -> None:
        def work(unit: Unit) -> None:
            ends = [edge.source, edge.target]
            all_of(ends, unit.live(ends), self.namespace)
            unit.link(edge)

        self._write(work, operation, lambda _: None)

    def remove_edge(self, edge: Edge, *, operation: str) -> bool:
        return self._write(lambda unit: unit.part(edge), operation, lambda _: True)

    def sweep(self, limit: int, *, operation: str) -> int:
        def work(unit: Unit) -> int:
            self._follower.catch_up(fully=False)
            return sweeping.sweep(unit, self._backend, self._keys, limit)

        return self._write(work, operation, lambda receipt: int(receipt))

    def claim_sweep(self, interval: timedelta, *, operation: str) -> bool:
        now, key = microseconds(self.clock()), self._keys.state
        (noted,) = self._backend.read(("HMGET", key, "swept_at"))[0]
        swept_at = int(noted or 0)
        if noted and now - interval // timedelta(microseconds=1) < swept_at <= now:
            return False
        plan = Plan()
        plan.check_field(key, "swept_at", noted)
        plan.hashes[key]["swept_at"] = str(now)
        return self._carry_out(plan, operation).state != "lost"  # lost: another process sweeps

    def set_profiles(self, rows: Sequence[tuple[str, int, str, bytes]], *, operation: str) -> None:
        recalled = [(i, version, Recalled(profile, terms, None)) for i, version, profile, terms in rows]
        self._set_recalled(recalled, operation)

    def set_vectors(self, vectors: Sequence[tuple[str, bytes]], *, operation: str) -> None:
        self._set_recalled([(i, None, Recalled(None, None, vector)) for i, vector in vectors], operation)

    def _set_recalled(self, rows: Sequence[tuple[str, int | None, Recalled]], operation: str) -> None:
        def work(unit: Unit) -> None:
            stored = unit.load(skill_id for skill_id, _, _ in rows)
            for skill_id, version, recalled in rows:
                skill = stored[skill_id].skill
                if skill and version in (None, skill.version):
                    unit.set_recalled(skill_id, recalled)

        self._write(work, operation, lambda _: None)

    # Reads

    def get_many(self, skill_ids: Sequence[str]) -> list[Skill]:
        return list(self._reader.live(skill_ids).values())

    def pages(self, tag: str | None = None, size: int = PAGE) -> Iterator[list[Skill]]:
        keys = self._keys
        (ids,) = self._reader.ids(("HKEYS", keys.index) if tag is None else ("SMEMBERS", keys.tag(tag)))
        for start in range(0, len(ids), size):
            found = self._reader.live(ids[start : start + size]).values()
            yield [skill for skill in found if tag is None or tag in skill.tags]

    def rows(self, skill_ids: Sequence[str] | None = None, size: int = PAGE) -> Iterator[list[SkillRow]]:
        self._follower.catch_up()
        return listing.rows(self._backend, self._keys, self._reader, skill_ids, size)

    def edges(self, skill_id: str) -> list[Edge]:
        found = self._reader.edges([skill_id])[skill_id]
        live = self._reader.live([skill_id, *(edge.target for edge in found)])
        if skill_id not in live:
            return []
        return sorted((edge for edge in found if edge.target in live), key=_place)

    def related(self, skill_id: str, relation: Relation | None, max_depth: int) -> list[tuple[Skill, int]]:
        live = self._reader.live([skill_id])
        if not live:
            return []

        def neighbours(ids: Sequence[str]) -> list[str]:
            edges = (edge for some in self._reader.edges(ids).values() for edge in some)
            targets = {edge.target for edge in edges if relation in (None, edge.relation)}
            live.update(self._reader.live(target for target in targets if target not in live))
            return [target for target in targets if target in live]

        return [(live[other], distance) for distance, other in breadth_first(skill_id, max_depth, neighbours)]

    def summary(self, top: int) -> dict[str, Any]:
        self._follower.catch_up()
        return totals.summary(self._backend, self._keys, self._reader, top)

    def count(self) -> int:
        return int(self._backend.read(("HLEN", self._keys.index))[0])

    def count_expiring(self, until: datetime) -> int:
        self._follower.catch_up()
        first, last = f"({microseconds(self.clock())}", str(microseconds(until))
        return len(self._backend.read(("ZRANGEBYSCORE", self._keys.expiry, first, last))[0])

    def traces(self, skill_id: str, limit: int) -> list[SeenTrace]:
        return moving.latest_traces(self._backend, self._keys, self._reader, skill_id)[:limit]

    # What recall reads

    def changes(self, since: int) -> Changes:
        return self.fetch([], since)[1]

    def fetch(self, skill_ids: Sequence[str], since: int) -> tuple[list[Skill], Changes]:
        self._follower.catch_up()
        wanted = list(dict.fromkeys(skill_ids))
        asked = self._feed.asking(since)
        answers = self._backend.read(*asked, *(self._reader.asking(wanted) if wanted else ()))
        stored = self._reader.understood(wanted, *answers[len(asked) :]) if wanted else {}
        return list(self._reader.only_live(stored).values()), self._feed.understood(since, answers[: len(asked)])

    def entries(self, size: int, *, vectors: bool) -> Iterator[list[RecallEntry]]:
        self._follower.catch_up()
        yield from self._feed.all_entries(size, vectors=vectors)

    def profiles(self, skill_ids: Sequence[str]) -> dict[str, str]:
        return self._feed.profiles(skill_ids)

    def note_mark(self, mark: str, *, operation: str) -> None:
        plan = Plan()
        plan.hashes[self._keys.state]["marks"] = " ".join([*self.marks()[1 - MARKS_KEPT :], mark])
        self._carry_out(plan, operation)

    def marks(self) -> list[str]:
        (marks,) = self._backend.read(("HMGET", self._keys.state, "marks"))[0]
        return decoded(marks).split() if marks else []

    # Vectors

    def embedding_stamp(self) -> EmbeddingStamp | None:
        (stamp,) = self._backend.read(("HMGET", self._keys.state, "embedding"))[0]
        return EmbeddingStamp.from_json(decoded(stamp) if stamp else None)

    def set_embedding_stamp(
        self, stamp: EmbeddingStamp, replaces: EmbeddingStamp | None, *, operation: str
    ) -> EmbeddingStamp:
        plan = Plan()
        wanted = replaces.to_json().encode() if replaces else None
        plan.check_field(self._keys.state, "embedding", wanted)
        plan.hashes[self._keys.state]["embedding"] = stamp.to_json()
        self._carry_out(plan, operation)
        noted = self.embedding_stamp()
        return noted or stamp

    # Moving

    def export(self, size: int = PAGE) -> Iterator[list[KeptSkill]]:
        self._follower.catch_up()
        return moving.export(self._backend, self._keys, self._reader, size)

    def export_edges(self, size: int = PAGE) -> Iterator[list[Edge]]:
        return moving.export_edges(self._reader, self._keys, size)

    def restore(self, kept: Sequence[KeptSkill], *, operation: str) -> None:
        self._write(lambda unit: moving.restore(unit, self._backend, self.namespace, kept), operation, lambda _: None)

    def restore_edges(self, edges: Sequence[Edge], *, operation: str) -> list[Edge]:
        def work(unit: Unit) -> list[Edge]:
            live = {skill.id for skill in unit.live(end for edge in edges for end in (edge.source, edge.target))}
            left = []
            for edge in edges:
                if edge.source in live and edge.target in live:
                    unit.link(edge)
                else:
                    left.append(edge)
            return left

        return self._write(work, operation, lambda _: self._without_ends(edges))

    def _without_ends(self, edges: Sequence[Edge]) -> list[Edge]:
        live = self._reader.live(end for edge in edges for end in (edge.source, edge.target))
        return [edge for edge in edges if edge.source not in live or edge.target not in live]

    # A mirror

    def set_mirror(self, target: str | None, *, operation: str) -> bool:
        if target is None:
            return False
        raise StoreError(
            f"{self.location} already is a Redis that OrKa reads: it needs no mirror. Open it without one.",
            self.location,
        )

    def mirror(self) -> str | None:
        return None

    def outbox(self, limit: int) -> list[OutboxEntry]:
        return []

    def delivered(self, number: int, *, operation: str) -> None:
        """There is never anything to deliver."""

    def waiting(self) -> Waiting:
        return Waiting(0, None)

    # Carrying out

    def _write(self, work: Callable[[Unit], T], operation: str, repeated: Callable[[str], T]) -> T:
        """What `work` gives, carried out at once; again from the start while others write what it read.

        Threads of one store take turns: losing races among themselves would be work for nothing.
        """
        with self._turn:
            return self._write_in_turn(work, operation, repeated)

    def _write_in_turn(self, work: Callable[[Unit], T], operation: str, repeated: Callable[[str], T]) -> T:
        until, pause = time.monotonic() + _PATIENCE, _SHORTEST_PAUSE
        while time.monotonic() < until:
            unit = Unit(self._backend, self._keys, self._reader)
            try:
                answer = work(unit)
            except BrainError:  # what a first attempt that was carried out has made of it
                receipt = self._receipt(operation)
                if receipt is None:
                    raise
                return repeated(receipt)
            plan = unit.finished()
            if not plan.commands():
                receipt = self._receipt(operation)
                return answer if receipt is None else repeated(receipt)
            done = self._carry_out(plan, operation)
            if done.state != "lost":
                return repeated(done.receipt) if done.state == "repeated" else answer
            time.sleep(random.uniform(0, pause))
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise StoreUnavailableError(
            f"{self.location}: others write so often that this write found no moment in {_PATIENCE:g} s. Try again.",
            self.location,
        )

    def _receipt(self, operation: str) -> str | None:
        """What an operation was answered when it was carried out, if it was."""
        (receipt,) = self._backend.read(("HMGET", self._keys.receipts, operation))[0]
        return None if receipt is None else decoded(receipt)

    def _carry_out(self, plan: Plan, operation: str) -> Done:
        done = self._backend.commit(plan, self._keys, operation)
        for key in dict.fromkeys(done.skipped):
            self._reader.warn(key, "it holds something of another type")
        return done


def _place(edge: Edge) -> tuple[str, ...]:
    """Where an edge stands in a list: by relation, then by where it starts and ends, then by what it says."""
    ends = (edge.source, edge.target) if edge.direction == "out" else (edge.target, edge.source)
    return (edge.relation.value, *ends, repr(edge.metadata))
