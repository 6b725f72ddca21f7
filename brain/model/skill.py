"""What is a skill? `Skill` with its steps, conditions and transfer history (guide, "Skills")."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any, Self

from pydantic import Field, model_validator

from brain.model import formulas
from brain.model.context import ContextFeatures
from brain.model.record import Record
from brain.model.text import Count, Expiry, JsonObject, SpokenText, Text, Time, Unit, parse_time

TRANSFER_HISTORY_LENGTH = 100
"""Records of a transfer history that are kept; the counts cover all of them."""

PROCEDURAL = "procedural"
"""The skill type that is learned unless another one is named."""
ANTI_PATTERN = "anti_pattern"
"""The type of what is not to be done. It is no advice, so recall returns it only when it is asked for."""


def utc_now() -> datetime:
    """The wall clock, UTC."""
    return datetime.now(UTC)


ELLIPSIS = "…"
"""Ends an action that was cut; the whole text stands in the description."""


class SkillStep(Record):
    """One abstract action of a procedure. `order` counts from 0."""

    action: SpokenText
    description: Text = ""
    order: Count = 0
    parameters: JsonObject = Field(default_factory=dict)
    is_optional: bool = Field(default=False, strict=True)

    @property
    def full_text(self) -> str:
        """Everything that the step says: action and description, without saying the same twice."""
        if self.description.startswith(self.action.removesuffix(ELLIPSIS)):
            return self.description
        return f"{self.action}\n{self.description}" if self.description else self.action


class SkillCondition(Record):
    """What must be true before a skill applies, or is true after."""

    predicate: SpokenText
    description: Text = ""
    required: bool = Field(default=True, strict=True)


class SkillTransferRecord(Record):
    """One application of a skill. `confidence` is the skill's before that application, 0..1.

    It may carry a `feedback_id`, by which the same feedback is known when it is given again.
    """

    target_context: JsonObject
    success: bool = Field(strict=True)
    confidence: Unit = 0.0
    adaptations: JsonObject = Field(default_factory=dict)
    timestamp: Time = Field(default_factory=utc_now)

    @property
    def feedback_id(self) -> str:
        """The caller's id of this feedback; empty without one. An unknown field to OrKa, so it is no field of ours."""
        found = (self.model_extra or {}).get("feedback_id")
        return found if isinstance(found, str) else ""


class Skill(Record):
    """A learned procedure that can be applied in other domains.

    `confidence` and `success_rate` are 0..1; `expires_at` is ISO 8601 UTC, empty for never; `version` counts the
    writes of this skill. `transfer_count` and `transfer_successes` cover every application, `transfer_history`
    the latest `TRANSFER_HISTORY_LENGTH`.
    """

    id: SpokenText = Field(default_factory=lambda: str(uuid.uuid4()))
    name: Text = ""
    description: Text = ""
    skill_type: SpokenText = PROCEDURAL
    procedure: list[SkillStep] = Field(default_factory=list)
    preconditions: list[SkillCondition] = Field(default_factory=list)
    postconditions: list[SkillCondition] = Field(default_factory=list)
    source_context: JsonObject = Field(default_factory=dict)
    transfer_history: list[SkillTransferRecord] = Field(default_factory=list)
    confidence: Unit = 0.5
    usage_count: Count = 0
    success_rate: Unit = 0.0
    tags: list[Text] = Field(default_factory=list)
    created_at: Time = Field(default_factory=utc_now)
    updated_at: Time = Field(default_factory=utc_now)
    expires_at: Expiry = ""
    transfer_count: Count = 0
    transfer_successes: Count = 0
    namespace: SpokenText = "default"
    version: Count = 1

    @model_validator(mode="before")
    @classmethod
    def _count_the_history(cls, data: Any) -> Any:
        """A record without counts (an older document, or one made by hand) gets them from its history."""
        if not isinstance(data, dict) or "transfer_count" in data or not isinstance(data.get("transfer_history"), list):
            return data
        history = data["transfer_history"]
        successes = [t.get("success") if isinstance(t, dict) else getattr(t, "success", None) for t in history]
        return {**data, "transfer_count": len(history), "transfer_successes": sum(s is True for s in successes)}

    @model_validator(mode="after")
    def _keep_the_latest_transfers(self) -> Self:
        if len(self.transfer_history) > TRANSFER_HISTORY_LENGTH:
            self.__dict__["transfer_history"] = self.transfer_history[-TRANSFER_HISTORY_LENGTH:]
        if self.transfer_successes > self.transfer_count:
            raise ValueError("transfer_successes is larger than transfer_count")
        return self

    @property
    def features(self) -> ContextFeatures:
        """`source_context` as features; what it lacks takes the defaults."""
        return ContextFeatures.from_dict(self.source_context)

    @property
    def domain(self) -> str:
        """Domain of the task that the skill was learned from; empty if unknown."""
        return self._metadata("domain")

    @property
    def task(self) -> str:
        """Text of the task that the skill was learned from; empty if unknown."""
        return self._metadata("task")

    @property
    def ttl_hours(self) -> float:
        """Lifetime in hours from the last success (guide, "TTL Formula")."""
        return formulas.ttl_hours(self.usage_count, self.confidence)

    @property
    def is_expired(self) -> bool:
        """Whether the skill has expired by the wall clock."""
        return self.has_expired(utc_now())

    def has_expired(self, now: datetime) -> bool:
        """Whether the skill has expired at `now`. One without `expires_at` never does."""
        return bool(self.expires_at) and parse_time(self.expires_at) <= parse_time(now)

    def renew_ttl(self, now: datetime | None = None) -> None:
        """Sets `expires_at` to `now` plus the lifetime."""
        now = parse_time(now or utc_now())
        self._move(expires_at=formulas.expiry(now, self.usage_count, self.confidence), updated_at=now)

    def record_usage(self, success: bool, now: datetime | None = None) -> None:
        """Counts one use: success rate and confidence move, a success renews the TTL (guide, "Renewal Policy")."""
        now = parse_time(now or utc_now())
        self._move(
            success_rate=formulas.success_rate_after(self.success_rate, self.usage_count, success),
            confidence=formulas.confidence_after(self.confidence, success),
            usage_count=self.usage_count + 1,
            updated_at=now,
        )
        if success:
            self.renew_ttl(now)

    def record_transfer(self, record: SkillTransferRecord) -> None:
        """Appends `record` to the history and counts it as a use at its time."""
        self._move(
            transfer_history=[*self.transfer_history, record][-TRANSFER_HISTORY_LENGTH:],
            transfer_count=self.transfer_count + 1,
            transfer_successes=self.transfer_successes + record.success,
        )
        self.record_usage(record.success, record.timestamp)

    def _move(self, **values: Any) -> None:
        """Sets fields to what was computed from valid ones. To have each one checked takes 80 µs a use."""
        self.__dict__.update(values)
        self.__pydantic_fields_set__.update(values)

    @property
    def transfer_success_rate(self) -> float:
        """Successful transfers over all transfers, 0..1; 0 without any."""
        return self.transfer_successes / self.transfer_count if self.transfer_count else 0.0

    @property
    def is_transferable(self) -> bool:
        """At least one transfer, and at least half of them successful."""
        return self.transfer_count >= 1 and self.transfer_success_rate >= 0.5

    def to_embedding_text(self) -> str:
        """Name, description, tags, actions and preconditions in one line."""
        parts = [self.name, self.description, *self.tags]
        parts += [step.action for step in self.procedure]
        parts += [condition.predicate for condition in self.preconditions]
        return " | ".join(part for part in parts if part)

    def fingerprint(self) -> str:
        """`ContextFeatures.fingerprint` of the context that the skill was learned in."""
        return self.features.fingerprint()

    def similarity_to(self, other: Skill) -> float:
        """`ContextFeatures.similarity_to` of the two source contexts, 0..1."""
        return self.features.similarity_to(other.features)

    def _metadata(self, key: str) -> str:
        metadata = self.source_context.get("metadata")
        value = metadata.get(key) if isinstance(metadata, dict) else None
        return value if isinstance(value, str) else ""
