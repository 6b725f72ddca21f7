"""What did a write do? Receipts, read back from the store."""

from __future__ import annotations

from dataclasses import dataclass
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
