"""What does recall return? A skill with its four scores and the evidence for them (guide, "Transfer Candidates")."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from brain.model import policy
from brain.model.record import Record
from brain.model.skill import Skill
from brain.model.text import JsonObject, Text, Unit


class TransferCandidate(Record):
    """A stored skill that may fit a new task. Scores are 0..1; `combined_score` is their weighted sum.

    `adaptations` says what differs between the two tasks, `reasoning` in one sentence why the skill fits,
    `evidence` what matched.
    """

    skill: Skill
    structural_score: Unit = 0.0
    semantic_score: Unit = 0.0
    transfer_score: Unit = 0.0
    confidence_score: Unit = 0.0
    combined_score: Unit = 0.0
    adaptations: JsonObject = Field(default_factory=dict)
    reasoning: Text = ""
    evidence: JsonObject = Field(default_factory=dict)

    def explain(self) -> dict[str, Any]:
        """For each dimension its raw score, weight and contribution; and the evidence that they rest on."""
        weights = {
            "structural": (self.structural_score, policy.STRUCTURAL_WEIGHT),
            "semantic": (self.semantic_score, policy.SEMANTIC_WEIGHT),
            "transfer": (self.transfer_score, policy.TRANSFER_WEIGHT),
            "confidence": (self.confidence_score, policy.CONFIDENCE_WEIGHT),
        }
        return {
            "skill_id": self.skill.id,
            "skill": self.skill.name,
            "combined": self.combined_score,
            "dimensions": {
                name: {"raw": raw, "weight": weight, "contribution": raw * weight}
                for name, (raw, weight) in weights.items()
            },
            **self.evidence,
        }
