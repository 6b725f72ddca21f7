"""How are the skills of one namespace read and written inside a transaction? `Skills`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.store.base import all_of, batches, is_stale
from brain.store.documents import read_entries
from brain.store.neo4j.connection import Row, TornReadError, Transaction
from brain.store.neo4j.rows import WRITE_BATCH, Written, is_torn, operation_key, read_shape, read_skill, skill_row
from brain.store.values import CHANGES_PAGE, Changes, RecallEntry

OPERATIONS_KEPT, OPERATION_LISTS = 64, 16
"""Latest writes that each of the lists on the namespace's node remembers, so that a retried one counts once.

A retry comes within a second or two of the loss; 8 busy writers make some 500 writes a second together. Sixteen short
lists are changed faster than a long one.
"""

DELETIONS_KEPT = 10_000
"""Deletions remembered one by one; a reader that is further behind reads everything anew."""


class Stored(NamedTuple):
    """What is stored under an id."""

    version: int
    live: bool


@dataclass(frozen=True)
class Lock:
    """The state of the namespace whose lock a write holds.

    `repeated` says that this write was committed before, so that it must only read; `mirrored` that what it changes is
    put into the outbox.
    """

    version: int
    repeated: bool
    mirrored: bool


def operation_parameters(operation: str) -> Row:
    """Where and as what an operation is noted."""
    key = operation_key(operation)
    return {"operation": key, "slot": f"operations_{key % OPERATION_LISTS}"}


class Skills:
    """One namespace: every method runs inside a transaction, at one time by the store's clock."""

    def __init__(self, tx: Transaction, namespace: str, location: str, now: datetime, *, lists: bool = False) -> None:
        """`lists` says whether vectors are kept as lists too."""
        self.tx, self.namespace, self.now, self._lists = tx, namespace, now, lists
        self._location = location
        self._raised = False

    # Reading

    def live(self, skill_ids: Iterable[str]) -> list[Skill]:
        """The live skills among `skill_ids` that can be read, in their order."""
        wanted = list(dict.fromkeys(skill_ids))
        return self.read(self.tx.rows("whole_skills", ids=wanted, now=self.now)) if wanted else []

    def must_live(self, skill_ids: Sequence[str]) -> list[Skill]:
        """As `live`; raises `SkillNotFoundError` for the first that is missing."""
        return all_of(skill_ids, self.live(skill_ids), self.namespace)

    def fetch(self, skill_ids: Iterable[str], since: int) -> tuple[list[Skill], Changes]:
        """As `live`, and a page of what changed after a version."""
        ids = list(dict.fromkeys(skill_ids))
        row = self.tx.row("fetch", ids=ids, since=since, page=CHANGES_PAGE, now=self.now)
        assert row
        skills, version, until = self.read(row["skills"]), row["version"], row["until"]
        stale = is_stale(since, version, row["complete_since"])
        entries = self.entries(row["changed"])
        return skills, Changes(row["store_id"] or "", until, entries, row["deleted"], stale, until < version)

    def all_changes(self, since: int) -> Changes:
        """What changed after a version, however much; `stale` is left as it is."""
        found = self.fetch((), since)[1]
        entries, deleted = list(found.entries), list(found.deleted)
        while found.more:
            found = self.fetch((), found.version)[1]
            entries += found.entries
            deleted += found.deleted
        return Changes(found.store_id, found.version, entries, deleted, found.stale)

    def profiles(self, skill_ids: Sequence[str]) -> dict[str, str]:
        """See `Store.profiles`."""
        rows = self.tx.rows("profiles", ids=list(dict.fromkeys(skill_ids)), now=self.now)
        return {row["id"]: row["profile"] for row in rows if isinstance(row["profile"], str)}

    def entries(self, rows: Sequence[Sequence[Any]]) -> list[RecallEntry]:
        """What recall needs of some skills, from rows of its fields."""
        return read_entries(rows, read_shape, self._location)  # type: ignore[arg-type]

    def read(self, rows: Iterable[Row]) -> list[Skill]:
        """Whole skills, without those that cannot be read. Raises `TornReadError`."""
        found = []
        for row in rows:
            if self.tx.may_be_torn and is_torn(row):
                raise TornReadError
            skill = read_skill(row, self.namespace, self._location)
            if skill:
                found.append(skill)
        return found

    # Writing

    def lock(self, operation: str, skill_ids: Iterable[str] = ()) -> tuple[Lock, dict[str, Stored]]:
        """Takes the namespace's lock and notes the operation; what is stored under some ids, expired or not."""
        row = self.tx.row(
            "lock_namespace",
            **operation_parameters(operation),
            kept=OPERATIONS_KEPT,
            ids=list(dict.fromkeys(skill_ids)),
            now=self.now,
        )
        assert row
        stored = {found["id"]: Stored(found["version"], found["live"]) for found in row["stored"]}
        return Lock(row["version"], row["repeated"], row["mirrored"]), stored

    def step(self) -> int:
        """By how much the next statement of a write raises the namespace's version: what one call writes has one."""
        step = 0 if self._raised else 1
        self._raised = True
        return step

    def forget(self, operation: str) -> None:
        """Takes back the note of an operation that wrote nothing."""
        self.tx.rows("forget_operation", **operation_parameters(operation))

    def write(self, skills: Sequence[Written], stored: dict[str, Stored], lock: Lock) -> None:
        """Writes whole skills in place of what is `stored`, which is kept up to date; the mirror is told."""
        for batch in batches(skills, WRITE_BATCH):
            there = {w.skill.id: stored[w.skill.id] for w in batch if w.skill.id in stored}
            self.remove([skill_id for skill_id, found in there.items() if not found.live], lock)
            live = [skill_id for skill_id, found in there.items() if found.live]
            if live:
                self.tx.rows("clear_skills", ids=live)
            self.tx.rows(
                "write_skills", rows=[skill_row(written, lists=self._lists) for written in batch], step=self.step()
            )
            stored.update({w.skill.id: Stored(w.skill.version, not w.skill.has_expired(self.now)) for w in batch})
            self.tell(lock, [written.skill.id for written in batch])

    def remove(self, skill_ids: Sequence[str], lock: Lock) -> None:
        """Removes stored skills with all that is theirs; the mirror is told of those at the ends of edges too."""
        if not skill_ids:
            return
        if lock.mirrored:
            neighbours = [row["id"] for row in self.tx.rows("neighbours", ids=list(skill_ids))]
            self.tell(lock, [*skill_ids, *neighbours])
        self.tx.rows("remove_skills", ids=list(skill_ids))

    def put_edges(self, edges: Sequence[Edge], lock: Lock) -> list[Edge]:
        """Writes edges, or the metadata of those that are there; those whose ends are not both live are left out and
        given back.
        """
        written: set[int] = set()
        for relation in dict.fromkeys(edge.relation for edge in edges):
            rows = [_edge_row(edge, place) for place, edge in enumerate(edges) if edge.relation == relation]
            found = self.tx.rows("put_edges", slots={"relation": relation.value}, rows=rows, now=self.now)
            written |= {row["place"] for row in found}
        self.tell(lock, [end for place in sorted(written) for end in (edges[place].source, edges[place].target)])
        return [edge for place, edge in enumerate(edges) if place not in written]

    def tell(self, lock: Lock, skill_ids: Iterable[str]) -> None:
        """Puts skills into the outbox, if a mirror is noted."""
        ids = list(dict.fromkeys(skill_ids))
        if lock.mirrored and ids:
            self.tx.rows("put_in_outbox", ids=ids, now=self.now)


def _edge_row(edge: Edge, place: int) -> Row:
    return {
        "place": place,
        "source": edge.source,
        "target": edge.target,
        "metadata": json.dumps(edge.metadata, ensure_ascii=False, allow_nan=False),
    }
