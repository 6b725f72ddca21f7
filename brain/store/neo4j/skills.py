"""How are the skills of one namespace read and written inside a transaction? `Skills`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from brain.model.context import Shape
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.model.text import parse_time
from brain.store.base import all_of, batches, expires_sooner, is_stale
from brain.store.documents import read_entries
from brain.store.neo4j.connection import Row, Transaction
from brain.store.neo4j.reading import is_gone, read_shape, read_skill
from brain.store.neo4j.rows import WRITE_BATCH, Written, operation_key, skill_row
from brain.store.values import CHANGES_PAGE, Changes, RecallEntry

OPERATIONS_KEPT, OPERATION_LISTS = 64, 16
"""Latest writes that each of the lists on the namespace's node remembers, so that a retried one counts once.

A retry comes within a second or two of the loss; 8 busy writers make some 500 writes a second together. Sixteen short
lists are changed faster than a long one.
"""

DELETIONS_KEPT = 10_000
"""Deletions remembered one by one; a reader that is further behind reads everything anew."""
DELETIONS_SLACK = 1_000
"""How many more there may be before the oldest are forgotten, all at once."""


_NEEDED = (0, 1, 3, 4, 5, 7)
"""Columns of a row of recall's fields that are never null: id first, then type, confidence, counts and fingerprint."""


class Stored(NamedTuple):
    """What is stored under an id."""

    version: int
    live: bool
    expires_at: datetime | None = None

    @classmethod
    def read(cls, row: Row) -> Stored:
        """What a row of `lock_namespace` says."""
        expires_at = parse_time(row["expires_at"]) if row["live"] and row["expires_at"] else None
        return cls(row["version"], row["live"], expires_at)

    @classmethod
    def of(cls, skill: Skill, now: datetime) -> Stored:
        """What a skill that is written leaves."""
        expires_at = parse_time(skill.expires_at) if skill.expires_at else None
        return cls(skill.version, expires_at is None or expires_at > now, expires_at)


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
        return self.read(self.tx.value("whole_skills", ids=wanted, now=self.now)) if wanted else []

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
        entries = self.entries([values for values in row["changed"] if len(values) > 1])
        expired = (values[0] for values in row["changed"] if len(values) == 1)
        gone = [skill_id for skill_id in (*row["deleted"], *expired) if skill_id is not None]
        return skills, Changes(row["store_id"] or "", until, entries, gone, stale, until < version)

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

    def entries(
        self, rows: Sequence[Sequence[Any]], shape_of: Callable[[Any], Shape] = read_shape
    ) -> list[RecallEntry]:
        """What recall needs of some skills, from rows of its fields; `shape_of` is as `read_entries` takes it."""
        if any(None in [row[column] for row in rows] for column in _NEEDED):
            rows = [row for row in rows if not is_gone(*(row[column] for column in _NEEDED[1:]))]
            for row in rows:
                if None in [row[column] for column in _NEEDED]:
                    self.tx.doubt(row)
        return read_entries(rows, self._certain(shape_of), self._location)  # type: ignore[arg-type]

    def _certain(self, shape_of: Callable[[Any], Shape]) -> Callable[[Any], Shape]:
        """`shape_of`, which doubts what it cannot read."""

        def read(values: Any) -> Shape:
            try:
                return shape_of(values)
            except (TypeError, KeyError):
                self.tx.doubt(values)
                raise

        return read

    def read(self, rows: Iterable[Sequence[Any]], *, by_body: bool = False) -> list[Skill]:
        """Whole skills, without those that are gone or cannot be read; see `reading`."""
        found = (read_skill(row, self.namespace, self._location, self.tx.doubt, by_body=by_body) for row in rows)
        return [skill for skill in found if skill]

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
        stored = {found["id"]: Stored.read(found) for found in row["stored"]}
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
        told = {skill_id: found.expires_at for skill_id, found in stored.items() if found.live}
        self.note_deletions(
            [w.skill.id for w in skills if w.skill.id in told and expires_sooner(w.skill, told[w.skill.id])]
        )
        for batch in batches(skills, WRITE_BATCH):
            there = {w.skill.id: stored[w.skill.id] for w in batch if w.skill.id in stored}
            self.remove([skill_id for skill_id, found in there.items() if not found.live], lock)
            live = [skill_id for skill_id, found in there.items() if found.live]
            if live:
                self.tx.rows("clear_skills", ids=live)
            self.tx.rows(
                "write_skills", rows=[skill_row(written, lists=self._lists) for written in batch], step=self.step()
            )
            stored.update({w.skill.id: Stored.of(w.skill, self.now) for w in batch})
            self.tell(lock, [written.skill.id for written in batch])

    def remove(self, skill_ids: Sequence[str], lock: Lock) -> None:
        """Removes stored skills with all that is theirs; the mirror is told of those at the ends of edges too."""
        if not skill_ids:
            return
        if lock.mirrored:
            neighbours = [row["id"] for row in self.tx.rows("neighbours", ids=list(skill_ids))]
            self.tell(lock, [*skill_ids, *neighbours])
        self.tx.rows("remove_skills", ids=list(skill_ids))

    def note_deletions(self, skill_ids: Sequence[str]) -> None:
        """Remembers deletions. It goes before what else a call writes: readers make sure of its last version only."""
        ids = list(dict.fromkeys(skill_ids))
        if ids and self.tx.value("note_deletions", ids=ids) > DELETIONS_KEPT + DELETIONS_SLACK:
            self.tx.rows("trim_deletions", kept=DELETIONS_KEPT)

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

    def remove_edge(self, edge: Edge, lock: Lock, operation: str) -> bool:
        """Removes an edge between live skills; whether there was one."""
        ends = {"source": edge.source, "target": edge.target, "now": self.now}
        if not self.tx.rows("remove_edge", slots={"relation": edge.relation.value}, **ends):
            self.forget(operation)
            return False
        self.tell(lock, [edge.source, edge.target])
        return True

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
