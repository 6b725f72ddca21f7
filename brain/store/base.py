"""What must a store do? The protocol that every store implements, and what stores share.

A store is bound to one namespace. Every method is one transaction (each page of an iterator its own); every read hides
what has expired by the store's clock. Stores validate nothing: the engine has done so at the door. Writes that change
what recall reads raise the namespace's version in the same transaction, feed what changed to `changes`, and put the
skills that they touch (edges: both ends; removals too) into the outbox if a mirror is noted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from brain.errors import SkillNotFoundError
from brain.model.receipts import LearnOutcome
from brain.model.relations import Edge, Relation
from brain.model.skill import Skill, SkillTransferRecord
from brain.model.text import parse_time
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

MARKS_KEPT = 16
"""Marks that a namespace remembers: about as many processes can each have their own snapshot of it."""

PAGE = 500
"""Skills that a listing reads at a time."""

CONFIDENCE_UNITS = 2**40
"""A confidence of 1 as the counters hold it: sums of whole numbers never drift."""


class Clock(Protocol):
    """Gives the time, UTC: any function without arguments that returns a `datetime`."""

    def __call__(self) -> datetime: ...


class Store(Protocol):
    """Where skills of one namespace are kept."""

    location: str
    namespace: str
    clock: Clock

    def close(self) -> None:
        """Frees connections. Closing twice is fine."""

    def migrations(self) -> list[Migration]:
        """Every migration known here or there, with its state."""

    def migrate(self) -> list[Migration]:
        """Applies what is pending; returns what it applied. Safe to run from several processes at once."""

    def learn(self, orders: Sequence[LearnOrder], *, operation: str) -> list[Learned]:
        """For each order, finds a live twin (same trace id, same dedup key, `find_twin`, or what the order that it is
        like came to) and counts the use, or creates the draft. All of them or none.
        """

    def feedback(self, skill_id: str, record: SkillTransferRecord, *, ttl: bool, operation: str) -> Counted | None:
        """Counts one application and appends its record, with the skill's confidence before it; None if unknown.

        Nothing is written if the history holds a record with the same `feedback_id`.
        """

    def save(self, draft: Draft, *, expected_version: int | None, operation: str) -> Skill:
        """Writes the whole skill, new or in place of the stored one. Raises `ConflictError` on another version."""

    def save_many(self, drafts: Sequence[Draft], *, operation: str) -> None:
        """`save` of many skills, all or none, without expected versions."""

    def delete(self, skill_id: str, *, operation: str) -> bool:
        """Removes the skill with its edges; whether there was one."""

    def add_edge(self, edge: Edge, *, operation: str) -> None:
        """Writes `edge` (direction "out"), or its metadata if it is there. Raises `SkillNotFoundError`."""

    def remove_edge(self, edge: Edge, *, operation: str) -> bool:
        """Removes the edge of this relation from `source` to `target`, both live; whether there was one."""

    def sweep(self, limit: int, *, operation: str) -> int:
        """Removes at most `limit` expired skills; how many."""

    def claim_sweep(self, interval: timedelta, *, operation: str) -> bool:
        """Whether the last lazy sweep is at least `interval` ago; if so, notes the present one."""

    def get_many(self, skill_ids: Sequence[str]) -> list[Skill]:
        """The live skills among `skill_ids`, in their order."""

    def pages(self, tag: str | None = None, size: int = PAGE) -> Iterator[list[Skill]]:
        """All live skills, or those with exactly `tag`, by id, a page at a time."""

    def rows(self, skill_ids: Sequence[str] | None = None, size: int = PAGE) -> Iterator[list[SkillRow]]:
        """What a listing shows of the live skills among `skill_ids`, or of all by id, about `size` at a time."""

    def edges(self, skill_id: str) -> list[Edge]:
        """Edges in both directions between `skill_id` and live skills."""

    def related(self, skill_id: str, relation: Relation | None, max_depth: int) -> list[tuple[Skill, int]]:
        """Live skills within `max_depth` edges, in either direction, nearest first, with their distance."""

    def summary(self, top: int) -> dict[str, Any]:
        """The guide's summary of the live skills, with the `top` most used. Its cost follows what has expired and was
        not swept, not what is stored.
        """

    def count(self) -> int:
        """Skills stored, expired ones included; from a counter."""

    def count_expiring(self, until: datetime) -> int:
        """Live skills that expire by then. Its cost follows how many those are."""

    def traces(self, skill_id: str, limit: int) -> list[SeenTrace]:
        """What a live skill was learned from, at most `limit`, the latest first, equally late ones by key."""

    # What recall reads

    def changes(self, since: int) -> Changes:
        """What changed after version `since`, at most `CHANGES_PAGE` skills; `stale` for 0 and for one too far behind.
        Nothing changed for the version that the namespace has, be it 0.
        """

    def fetch(self, skill_ids: Sequence[str], since: int) -> tuple[list[Skill], Changes]:
        """`get_many` and `changes` in one round trip."""

    def entries(self, size: int, *, vectors: bool) -> Iterator[list[RecallEntry]]:
        """What recall needs of every live skill, by id, about `size` at a time, with its vector if asked for."""

    def profiles(self, skill_ids: Sequence[str]) -> dict[str, str]:
        """The stored profiles of the live skills among `skill_ids` that have one, by id."""

    def set_profiles(self, rows: Sequence[tuple[str, int, str, bytes]], *, operation: str) -> None:
        """Replaces profile and terms of some skills, as another version of the analysis made them; others see it.

        Each row is an id, the version of the skill that was analysed, profile and terms; a skill that was written
        since then is left alone.
        """

    def note_mark(self, mark: str, *, operation: str) -> None:
        """Remembers a word, among the latest `MARKS_KEPT`. Whoever finds it knows that all that was committed before is
        here: a copy of a file or a backup, put back later, has not got it.
        """

    def marks(self) -> list[str]:
        """The words that are remembered."""

    # Vectors

    def embedding_stamp(self) -> EmbeddingStamp | None:
        """Which vectors are stored; None before the first."""

    def set_embedding_stamp(
        self, stamp: EmbeddingStamp, replaces: EmbeddingStamp | None, *, operation: str
    ) -> EmbeddingStamp:
        """Notes `stamp` if `replaces` is what is noted; returns what is noted afterwards."""

    def set_vectors(self, vectors: Sequence[tuple[str, bytes]], *, operation: str) -> None:
        """Replaces the vectors of these skills."""

    # Moving

    def export(self, size: int = PAGE) -> Iterator[list[KeptSkill]]:
        """Every live skill with all that is kept of it, by id, a page at a time."""

    def export_edges(self, size: int = PAGE) -> Iterator[list[Edge]]:
        """Every edge between live skills once, from its source (direction "out"), a page at a time."""

    def restore(self, kept: Sequence[KeptSkill], *, operation: str) -> None:
        """Writes skills as `export` gave them, version and all, in place of stored ones; all or none. A dedup key that
        another live skill holds is left out.
        """

    def restore_edges(self, edges: Sequence[Edge], *, operation: str) -> list[Edge]:
        """Writes edges (direction "out") between live skills; returns those whose ends are not both here."""

    # A mirror

    def set_mirror(self, target: str | None, *, operation: str) -> bool:
        """Notes that every change from now on is put into the outbox for `target` (a location without a password), by
        whichever process makes it; None ends that and empties the outbox. Whether this was news. When a mirror is
        noted, every stored skill is put into the outbox.
        """

    def mirror(self) -> str | None:
        """The mirror that is noted."""

    def outbox(self, limit: int) -> list[OutboxEntry]:
        """The oldest entries, by number."""

    def delivered(self, number: int, *, operation: str) -> None:
        """Takes the entries up to `number` out of the outbox."""

    def waiting(self) -> Waiting:
        """What the mirror has not got yet."""


def is_stale(since: int, version: int, complete_since: int) -> bool:
    """Whether a reader at `since` must read everything: it never did, is too far behind, or the store was replaced."""
    return since > version or since < complete_since or (since == 0 and version > 0)


def expires_sooner(skill: Skill, told: datetime | None) -> bool:
    """Whether a skill expires before the time that readers were told (None: never).

    It may be gone by the time they look, without a word: so it goes among the deletions that are remembered.
    """
    return bool(skill.expires_at) and (told is None or parse_time(skill.expires_at) < told)


def mean_confidence(units: int, count: int) -> float:
    """Average confidence, 0..1, of `count` skills whose confidences sum to `units`; 0 of none."""
    return round(units / CONFIDENCE_UNITS / count, 12) if count else 0.0


def all_of(skill_ids: Sequence[str], found: Sequence[Skill], namespace: str) -> list[Skill]:
    """`found`, if it holds every one of `skill_ids`; raises `SkillNotFoundError` for the first that is missing."""
    there = {skill.id for skill in found}
    for skill_id in skill_ids:
        if skill_id not in there:
            raise SkillNotFoundError(skill_id, namespace)
    return list(found)


class WithSkill(Protocol):
    """What carries a skill: a draft, a kept skill, a row about to be written."""

    @property
    def skill(self) -> Skill: ...


W = TypeVar("W", bound=WithSkill)


def batches(skills: Iterable[W], most: int) -> Iterator[list[W]]:
    """At most `most` at a time, no id twice in one: a second version is written after the first."""
    batch: dict[str, W] = {}
    for each in skills:
        if each.skill.id in batch or len(batch) == most:
            yield list(batch.values())
            batch = {}
        batch[each.skill.id] = each
    if batch:
        yield list(batch.values())


def keys_taken_along(moved: Sequence[KeptSkill], held: Collection[str], now: datetime) -> dict[str, str]:
    """Which moved skills take their dedup key along, by id: another's, that is `held`, stays with it, and a live one's
    goes before an expired one's.
    """
    taken, found = set(held), dict[str, str]()
    for kept in sorted(moved, key=lambda kept: kept.skill.has_expired(now)):
        if kept.dedup_key is not None and kept.dedup_key not in taken:
            taken.add(kept.dedup_key)
            found[kept.skill.id] = kept.dedup_key
    return found


def count_use(skill: Skill, success: bool, now: datetime, ttl: bool, record: SkillTransferRecord | None = None) -> None:
    """Counts one use on `skill`, with its record if it was a transfer. One that never expires still never does, and no
    success shortens an expiry: a clock that went backwards, or a longer one that somebody set, does not count.
    """
    expires_at = skill.expires_at
    if record is None:
        skill.record_usage(success, now)
    else:
        skill.record_transfer(record.model_copy(update={"confidence": skill.confidence}))
    if not ttl or not expires_at or expires_sooner(skill, parse_time(expires_at)):
        skill.expires_at = expires_at


def was_counted(skill: Skill, record: SkillTransferRecord) -> bool:
    """Whether the history of `skill` holds the same feedback, by its id."""
    return bool(record.feedback_id) and any(r.feedback_id == record.feedback_id for r in skill.transfer_history)


def reason_for(outcome: LearnOutcome, skill: Skill | None) -> str:
    """One sentence that says why `outcome` came about."""
    name = repr(skill.name) if skill else ""
    return {
        LearnOutcome.CREATED: f"No stored skill does the same, so {name} was created.",
        LearnOutcome.REINFORCED: f"The stored skill {name} does the same, so it was reinforced.",
        LearnOutcome.FAILURE_RECORDED: f"The outcome was a failure; it was recorded on the stored skill {name}.",
        LearnOutcome.IGNORED: "The outcome was a failure and no stored skill does the same, so nothing was written.",
        LearnOutcome.ALREADY_SEEN: f"This trace id was learned before, as {name}; nothing was written.",
    }[outcome]


def edges_of_derivation(skill: Skill, used: Sequence[Skill], success: bool) -> list[Edge]:
    """DERIVES_FROM from `skill` to each used one, and TRANSFERRED_TO back where the domain differs; none to itself.

    A failure connects nothing: the used skills did not lead to it.
    """
    edges = []
    for source in used if success else ():
        if source.id == skill.id:
            continue
        edges.append(Edge(source=skill.id, target=source.id, relation=Relation.DERIVES_FROM))
        if source.domain != skill.domain:
            metadata = {"domain": skill.domain}
            edges.append(Edge(source=source.id, target=skill.id, relation=Relation.TRANSFERRED_TO, metadata=metadata))
    return edges
