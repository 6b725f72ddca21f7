"""How does a store stand? `Stats`: its skills in numbers, its vectors, its mirror, its schema."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from brain.model.record import Record
from brain.model.text import Count, JsonObject, Text, Time, Unit


class StoredVectors(Record):
    """Which vectors a store holds: the model, their dimension, and what was embedded ("procedure" or "guide")."""

    model_config = ConfigDict(frozen=True)

    model: Text
    dimension: Count
    text: Text


class MirrorState(Record):
    """The mirror of a store: where it is, how many changes wait for it, and since when (None if none do)."""

    model_config = ConfigDict(frozen=True)

    location: Text
    waiting: Count
    since: Time | None = None


class SchemaChange(Record):
    """One migration. `state` is "applied", "pending", "changed_after_apply" or "missing_locally"."""

    model_config = ConfigDict(frozen=True)

    version: Count
    name: Text
    state: Text


class Stats(Record):
    """One namespace in numbers; all counts are of its live skills.

    `expiring_skills` expire within `expiring_within_hours`; `top_skills` are the most used ones (guide,
    "Introspection"). `embedding` and `mirror` are None where there are none.
    """

    model_config = ConfigDict(frozen=True)

    location: Text
    namespace: Text
    total_skills: Count
    transferable_skills: Count
    avg_confidence: Unit
    total_transfers: Count
    expiring_skills: Count
    expiring_within_hours: float
    top_skills: list[JsonObject] = Field(default_factory=list)
    embedding: StoredVectors | None = None
    mirror: MirrorState | None = None
    migrations: list[SchemaChange] = Field(default_factory=list)
