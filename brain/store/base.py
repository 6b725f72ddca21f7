"""What must a store do? The protocol that every store implements, and the plain values that cross it.

A store is bound to one namespace. Every method is one transaction; every read hides what has expired by the
store's clock. Stores validate nothing: the engine has done so at the door.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from brain.errors import SkillNotFoundError
from brain.model.context import Shape
from brain.model.receipts import LearnOutcome
from brain.model.relations import Edge, Relation
from brain.model.skill import Skill, SkillTransferRecord

Clock = Callable[[], datetime]
"""Gives the time, UTC."""

PAGE = 500
"""Skills that a listing reads at a time."""


@dataclass(frozen=True)
class RecallEntry:
    """What recall needs to know of one skill. `profile` is text of `brain.analysis.profile`; `vector` float32 bytes."""

    id: str
    skill_type: str
    shape: Shape
    confidence: float
    usage_count: int
    transfer_count: int
    transfer_successes: int
    expires_at: str
    fingerprint: str
    profile: str | None
    vector: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Changes:
    """What changed after a version of the namespace's counter, as of `version`.

    `complete` says that `entries` are all live skills there are: what is not among them is gone.
    """

    version: int
    entries: Sequence[RecallEntry]
    deleted: Sequence[str] = ()
    complete: bool = False

    def __bool__(self) -> bool:
        return bool(self.complete or self.entries or self.deleted)


@dataclass(frozen=True)
class Draft:
    """A skill to write, with what recall needs of it. `dedup_key` is the digest that `learn` finds twins by."""

    skill: Skill
    profile: str
    dedup_key: str
    vector: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Observation:
    """The trace that something is learned from. `key` is its digest, or that of the caller's `trace_id`."""

    key: str
    trace_id: str
    content: str = field(repr=False)
    domain: str
    task: str
    success: bool
    quality: float


FindTwin = Callable[[Changes], str | None]
"""Looks, inside the transaction, at what changed since the caller looked; gives the id of a similar skill, or None.
May be called again when the transaction is retried."""


@dataclass(frozen=True)
class LearnOrder:
    """One `learn`: the draft to create if nothing matches, and how to find what matches.

    `seen_version` is the version that the caller's view of the namespace had; `derived_from` are skills that were
    used; `ttl` whether a success renews the expiry; `operation` makes a retry count once.
    """

    draft: Draft
    observation: Observation
    seen_version: int
    find_twin: FindTwin
    operation: str
    derived_from: Sequence[str] = ()
    ttl: bool = True


@dataclass(frozen=True)
class Learned:
    """What `Store.learn` did, read back."""

    outcome: LearnOutcome
    skill: Skill | None


@dataclass(frozen=True)
class EmbeddingStamp:
    """Which vectors a namespace holds: the model's name, its dimension, which text was embedded, and a digest of
    its answer to a fixed text.
    """

    model: str
    dimension: int
    text: str
    probe: str

    def to_json(self) -> str:
        """The text that is stored."""
        return json.dumps([self.model, self.dimension, self.text, self.probe])

    @classmethod
    def from_json(cls, text: str | None) -> EmbeddingStamp | None:
        """Reads `to_json`; None for None."""
        return cls(*json.loads(text)) if text else None


@dataclass(frozen=True)
class Migration:
    """One schema change. `state` is "applied", "pending", "changed_after_apply" or "missing_locally"."""

    version: int
    name: str
    checksum: str
    state: str


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

    def learn(self, order: LearnOrder) -> Learned:
        """Finds a live twin (same trace, same dedup key, or `find_twin`) and counts the use, or creates the draft."""

    def feedback(self, skill_id: str, record: SkillTransferRecord, *, ttl: bool, operation: str) -> Skill | None:
        """Counts one application and appends its record, with the skill's confidence before it; None if unknown."""

    def save(self, draft: Draft, *, expected_version: int | None, operation: str) -> Skill:
        """Writes the whole skill, new or in place of the stored one. Raises `ConflictError` on another version."""

    def save_many(self, drafts: Sequence[Draft], *, operation: str) -> None:
        """`save` of many skills, all or none, without expected versions."""

    def delete(self, skill_id: str, *, operation: str) -> bool:
        """Removes the skill with its edges; whether there was one."""

    def add_edge(self, edge: Edge, *, operation: str) -> None:
        """Writes `edge` (direction "out"), or its metadata if it is there. Raises `SkillNotFoundError`."""

    def sweep(self, limit: int, *, operation: str) -> int:
        """Removes at most `limit` expired skills; how many."""

    def claim_sweep(self, interval: timedelta, *, operation: str) -> bool:
        """Whether the last lazy sweep is at least `interval` ago; if so, notes the present one."""

    def get_many(self, skill_ids: Sequence[str]) -> list[Skill]:
        """The live skills among `skill_ids`, in their order."""

    def pages(self, tag: str | None = None, size: int = PAGE) -> Iterator[list[Skill]]:
        """All live skills, or those with exactly `tag`, by id, a page at a time."""

    def edges(self, skill_id: str) -> list[Edge]:
        """Edges in both directions between `skill_id` and live skills."""

    def related(self, skill_id: str, relation: Relation | None, max_depth: int) -> list[tuple[Skill, int]]:
        """Live skills within `max_depth` edges, in either direction, nearest first, with their distance."""

    def changes(self, since: int) -> Changes:
        """What changed after version `since`; 0 gives everything."""

    def fetch(self, skill_ids: Sequence[str], since: int) -> tuple[list[Skill], Changes]:
        """`get_many` and `changes` in one round trip."""

    def summary(self, top: int) -> dict[str, Any]:
        """The guide's summary of the live skills, with the `top` most used."""

    def count(self) -> int:
        """Skills stored, expired ones included."""

    def embedding_stamp(self) -> EmbeddingStamp | None:
        """Which vectors are stored; None before the first."""

    def set_embedding_stamp(
        self, stamp: EmbeddingStamp, replaces: EmbeddingStamp | None, *, operation: str
    ) -> EmbeddingStamp:
        """Notes `stamp` if `replaces` is what is noted; returns what is noted afterwards."""

    def set_vectors(self, vectors: Sequence[tuple[str, bytes]], *, operation: str) -> None:
        """Replaces the vectors of these skills."""


def all_of(skill_ids: Sequence[str], found: Sequence[Skill], namespace: str) -> list[Skill]:
    """`found`, if it holds every one of `skill_ids`; raises `SkillNotFoundError` for the first that is missing."""
    there = {skill.id for skill in found}
    for skill_id in skill_ids:
        if skill_id not in there:
            raise SkillNotFoundError(skill_id, namespace)
    return list(found)


def needs_all(since: int, version: int, complete_since: int) -> bool:
    """Whether a reader at `since` must read everything: it never did, is too far behind, or the store was replaced."""
    return since == 0 or since < complete_since or since > version


def count_use(skill: Skill, success: bool, now: datetime, ttl: bool, record: SkillTransferRecord | None = None) -> None:
    """Counts one use on `skill`, with its record if it was a transfer. One that never expires still never does."""
    expires_at = skill.expires_at
    if record is None:
        skill.record_usage(success, now)
    else:
        skill.record_transfer(record.model_copy(update={"confidence": skill.confidence}))
    if not ttl or not expires_at:
        skill.expires_at = expires_at


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
