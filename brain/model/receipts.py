"""What did a write do? Receipts, read back from the store."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from brain.model.record import Record
from brain.model.skill import Skill
from brain.model.text import Count, NameInJson, Text


class LearnOutcome(StrEnum):
    """What `observe` did."""

    CREATED = "created"
    REINFORCED = "reinforced"
    FAILURE_RECORDED = "failure_recorded"
    IGNORED = "ignored"
    ALREADY_SEEN = "already_seen"


class LearnReceipt(Record):
    """What `observe` did with a trace. `skill` and `version` are as stored afterwards; None and 0 when ignored."""

    model_config = ConfigDict(frozen=True)

    outcome: Annotated[LearnOutcome, NameInJson]
    reason: Text
    version: Count = 0
    skill: Skill | None = None


class FeedbackReceipt(Record):
    """Whether feedback stands on the skill, and the skill as stored afterwards (None and version 0 if there is none).

    `repeated`: it stood there before, by its `feedback_id`, so that this call changed nothing.
    """

    model_config = ConfigDict(frozen=True)

    recorded: bool
    repeated: bool = False
    reason: Text
    version: Count = 0
    skill: Skill | None = None


class Refusal(Record):
    """An execution that `learn_many` could not use: its place among them, counted from 0, and why."""

    model_config = ConfigDict(frozen=True)

    place: Count
    reason: Text


class LearnReport(Record):
    """What `learn_many` did: how many executions came to each outcome, and which were refused."""

    outcomes: dict[Annotated[LearnOutcome, NameInJson], int] = Field(
        default_factory=lambda: dict.fromkeys(LearnOutcome, 0)
    )
    refused: list[Refusal] = Field(default_factory=list)

    @property
    def learned(self) -> int:
        """Executions that were not refused."""
        return sum(self.outcomes.values())
