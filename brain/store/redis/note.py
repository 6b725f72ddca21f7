"""What does the companion know of one skill? `Note`: which document it saw, and what recall and the sums need of it.

A note stands in one hash, by id, beside documents that others may change: it begins with the digest of the document
that it describes, so that one look on the server tells which documents it no longer fits.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from brain.model.context import Shape
from brain.model.skill import Skill
from brain.model.text import parse_time
from brain.store.base import CONFIDENCE_UNITS
from brain.store.redis.layout import Places, microseconds
from brain.store.values import RecallEntry

GONE, NO_STRING = "-" * 40, "!" * 40
"""Digests of a document that is not there, and of a key that holds no string."""
NEVER = 2**62
"""An expiry, in microseconds since 1970, of what never expires."""
_USE_UNIT = 2**20


@dataclass(frozen=True)
class Facts:
    """What recall and the sums need of a readable skill."""

    skill_type: str
    shape: Shape
    fingerprint: str
    confidence: float
    usage_count: int
    transfers: int
    successes: int

    @classmethod
    def of(cls, skill: Skill) -> Facts:
        features = skill.features
        return cls(
            skill.skill_type,
            features.shape,
            features.fingerprint(),
            skill.confidence,
            skill.usage_count,
            skill.transfer_count,
            skill.transfer_successes,
        )

    @property
    def sums(self) -> dict[str, int]:
        """What the skill adds to the totals. Whole numbers: they neither drift nor depend on the order."""
        return {
            "skills": 1,
            "confidence": round(self.confidence * CONFIDENCE_UNITS),
            "transfers": self.transfers,
            "transferable": int(self.transfers >= 1 and 2 * self.successes >= self.transfers),
        }

    @property
    def rank(self) -> int:
        """Sorts the most used first, equal ones by confidence."""
        return -(min(self.usage_count, 2**32) * _USE_UNIT + int(self.confidence * (_USE_UNIT - 1)))


@dataclass(frozen=True)
class Note:
    """What the companion knows of one skill.

    `digest` is that of the document, `text` that of what a use does not change. `lost` are the transfers (all,
    successful) that the document's history no longer holds, `added` the fields that only the layout asked for. `facts`
    is None where the document says no skill. `told` is the latest expiry that a reader may have been told, where that
    is later than the one it has.
    """

    digest: str = GONE
    text: str = ""
    version: int = 0
    expires_at: int | None = None
    lost: tuple[int, int] = (0, 0)
    dedup_key: str | None = None
    added: tuple[str, ...] = ()
    places: Places = field(default_factory=Places)
    facts: Facts | None = None
    told: int | None = None

    @property
    def sums(self) -> dict[str, int]:
        return self.facts.sums if self.facts else {}

    @property
    def is_unreadable(self) -> bool:
        """Whether there is a document that says no skill."""
        return self.facts is None and self.digest != GONE

    def of_skill(self, skill: Skill) -> Note:
        """The same note with what `skill` says."""
        expires_at = microseconds(parse_time(skill.expires_at)) if skill.expires_at else None
        return replace(self, version=skill.version, expires_at=expires_at, facts=Facts.of(skill))

    def after(self, before: Note) -> Note:
        """The same note in the place of another one: what that told of the expiry is remembered."""
        known = before.facts is not None
        latest = max(before.told or 0, NEVER if before.expires_at is None else before.expires_at) if known else 0
        own = NEVER if self.expires_at is None else self.expires_at
        return replace(self, told=latest if latest > own else None)

    def entry(self, skill_id: str, terms: bytes | None, vector: bytes | None) -> RecallEntry:
        """What recall needs. Only where there are facts."""
        assert self.facts
        return RecallEntry(
            skill_id,
            self.facts.skill_type,
            self.facts.shape,
            self.facts.confidence,
            self.facts.transfers,
            self.facts.successes,
            self.expires_at,
            self.facts.fingerprint,
            terms,
            vector,
        )

    def write(self) -> str:
        """The text that is stored."""
        facts = self.facts
        row: list[Any] = [self.text, self.version, self.expires_at, self.lost, self.dedup_key, self.added]
        row.append(
            [self.places.tags, self.places.skill_type, self.places.keywords, *([self.told] if self.told else [])]
        )
        if facts:
            shape = facts.shape
            row += [facts.skill_type, shape.task_structures, shape.cognitive_patterns, shape.input_shape]
            row += [shape.output_shape, facts.fingerprint, facts.confidence, facts.usage_count]
            row += [facts.transfers, facts.successes]
        return self.digest + json.dumps(row, separators=(",", ":"))

    @classmethod
    def read(cls, data: bytes) -> Note:
        """Reads `write`."""
        text, version, expires_at, lost, dedup_key, added, places, *rest = json.loads(data[40:])
        facts = None
        if rest:
            kind, structures, patterns, input_shape, output_shape, *figures = rest
            shape = Shape(tuple(structures), tuple(patterns), input_shape, output_shape)
            facts = Facts(kind, shape, *figures)
        where = Places(tuple(places[0]), places[1], tuple(places[2]))
        told = places[3] if len(places) > 3 else None
        digest, lost = data[:40].decode(), (lost[0], lost[1])
        return cls(digest, text, version, expires_at, lost, dedup_key, tuple(added), where, facts, told)
