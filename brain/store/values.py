"""What crosses the line between the engine and a store? Plain values without behaviour."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from brain.model.context import Shape
from brain.model.receipts import LearnOutcome
from brain.model.skill import Skill

CHANGES_PAGE = 2_000
"""Changed skills that one look at the change feed gives at most, but for those of one version, which stay together."""


@dataclass(frozen=True)
class RecallEntry:
    """What recall needs to know of one skill.

    `expires_at` is in microseconds since 1970, UTC; None never expires. `terms` are bytes that only
    `brain.analysis.profile` reads; None, or those of another version of the analysis, are made anew. `vector` is
    float32 bytes.
    """

    id: str
    skill_type: str
    shape: Shape
    confidence: float
    transfer_count: int
    transfer_successes: int
    expires_at: int | None
    fingerprint: str
    terms: bytes | None = field(repr=False)
    vector: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SkillRow:
    """What a listing shows of one skill. Confidence and success rate are 0..1, times UTC; no `expires_at` is never."""

    id: str
    name: str
    domain: str
    tags: tuple[str, ...]
    confidence: float
    usage_count: int
    success_rate: float
    transfer_count: int
    transfer_successes: int
    expires_at: datetime | None
    updated_at: datetime

    @property
    def is_transferable(self) -> bool:
        """As `Skill.is_transferable`."""
        return self.transfer_count >= 1 and 2 * self.transfer_successes >= self.transfer_count


@dataclass(frozen=True)
class Changes:
    """What changed in a namespace after a version of its counter, as of `version`.

    `store_id` names the stored namespace for good: a reader whose view is of another one begins anew. `stale` says
    that the reader is too far behind, or never read anything: it reads `Store.entries` and then what changed after
    `version`. `more` says that there is more to ask for after `version`. `entries` holds live skills, oldest change
    first; `deleted` names those that were deleted, and those that were changed and have expired by now.
    """

    store_id: str
    version: int
    entries: Sequence[RecallEntry] = ()
    deleted: Sequence[str] = ()
    stale: bool = False
    more: bool = False

    def __bool__(self) -> bool:
        return bool(self.stale or self.more or self.entries or self.deleted)


@dataclass(frozen=True)
class Draft:
    """A skill to write, with what recall needs of it. `dedup_key` is the digest that `learn` finds twins by.

    `profile` is text that `learn` compares step by step, `terms` what recall scores (see `RecallEntry`).
    """

    skill: Skill
    profile: str = field(repr=False)
    terms: bytes = field(repr=False)
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


@dataclass(frozen=True)
class SeenTrace:
    """A stored trace, with the time it was seen."""

    observation: Observation
    seen_at: datetime


@dataclass(frozen=True)
class KeptSkill:
    """All that a store keeps of one skill but its edges: what moving it elsewhere takes along.

    `skill` carries its version. `dedup_key` is None where it has none. `profile` and `terms` may be missing.
    """

    skill: Skill
    profile: str | None = field(repr=False)
    terms: bytes | None = field(repr=False)
    dedup_key: str | None
    vector: bytes | None = field(default=None, repr=False)
    traces: Sequence[SeenTrace] = field(default=(), repr=False)


ReadProfiles = Callable[[Sequence[str]], dict[str, str]]
"""As `Store.profiles`, inside the transaction at hand."""

FindTwin = Callable[[Changes, ReadProfiles], str | None]
"""Looks, inside the transaction, at what others changed since the caller looked; gives the id of a similar skill, or
None. It is shown committed changes only (all of them: the store asks again while there are `more`, and `stale` is left
as it is), and may be called again when the transaction is retried. It reads stored profiles only by the function that
it is given."""


@dataclass(frozen=True)
class LearnOrder:
    """One thing to learn: the draft to create if nothing matches, and how to find what matches.

    `seen_version` is the version that the caller's view of the namespace had. `like` is the place, among the orders of
    one call, of an earlier one that tells the same. `derived_from` are skills that were used; `ttl` whether a success
    renews the expiry.
    """

    draft: Draft
    observation: Observation
    seen_version: int
    find_twin: FindTwin
    like: int | None = None
    derived_from: Sequence[str] = ()
    ttl: bool = True


@dataclass(frozen=True)
class Learned:
    """What `Store.learn` did for one order, read back."""

    outcome: LearnOutcome
    skill: Skill | None


class Counted(NamedTuple):
    """What `Store.feedback` did: the skill read back, and whether feedback of this id had been counted before."""

    skill: Skill
    repeated: bool = False


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


@dataclass(frozen=True)
class Waiting:
    """What a mirror has not got yet: changes noted, and the time of the oldest (None if there are none)."""

    count: int
    since: datetime | None


@dataclass(frozen=True)
class OutboxEntry:
    """One change that a mirror has to follow: the skill that was written, connected or removed, by `number`."""

    number: int
    skill_id: str
    noted_at: datetime


def new_operation() -> str:
    """An id for one write, by which a store knows a repeated attempt."""
    return secrets.token_urlsafe(9)
