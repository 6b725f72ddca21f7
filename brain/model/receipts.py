"""What did a write do? Receipts, read back from the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from brain.model.skill import Skill


class LearnOutcome(StrEnum):
    """What `observe` did."""

    CREATED = "created"
    REINFORCED = "reinforced"
    FAILURE_RECORDED = "failure_recorded"
    IGNORED = "ignored"
    ALREADY_SEEN = "already_seen"


@dataclass(frozen=True)
class LearnReceipt:
    """What `observe` did with a trace. `skill` and `version` are as stored afterwards; None and 0 when ignored."""

    outcome: LearnOutcome
    reason: str
    skill: Skill | None = None
    version: int = 0


@dataclass(frozen=True)
class FeedbackReceipt:
    """Whether feedback was counted, and the skill as stored afterwards."""

    recorded: bool
    reason: str
    skill: Skill | None = None
    version: int = 0


@dataclass(frozen=True)
class Refusal:
    """An execution that `learn_many` could not use: its place among them, counted from 0, and why."""

    place: int
    reason: str


@dataclass
class LearnReport:
    """What `learn_many` did: how many executions came to each outcome, and which were refused."""

    outcomes: dict[LearnOutcome, int] = field(default_factory=lambda: dict.fromkeys(LearnOutcome, 0))
    refused: list[Refusal] = field(default_factory=list)

    @property
    def learned(self) -> int:
        """Executions that were not refused."""
        return sum(self.outcomes.values())
