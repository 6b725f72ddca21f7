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
        """What the combined score is made of, JSON-ready: for each dimension raw score, weight and contribution.

        A candidate that recall or `why` returned has its evidence beside them:

        - `measure`, `measures`: what the semantic score is the mean of (procedure, topic, vector), each with its raw
          similarity (null: too small to tell) and the calibrated one;
        - `words`: matched words with their share of the measure; `structures`, `patterns`: those of both sides;
          `names`: how many of them each side names, and the least (`needed`) from which they count;
        - `steps`: pairs of steps, best first, with `similarity` and share, where both sides have steps;
        - `transfers`: successes, count, and the 95 % Wilson interval of the rate (null without any);
        - `margin_to_min_score`, `margin_to_floor`: by how much it is above; negative below;
        - `rank`: its place, from 1 (null if it is not eligible); `to_be_first`: by how much it trails the first, and
          the one dimension that would close the gap by the least rise, to which value; null if it is the first.
        """
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


class RecallVerdict(Record):
    """Why recall returns a skill for a task, or does not: `reason` in one sentence, `candidate` with all its scores.

    `outranked_by` has the skills that are returned in its place, as {"id", "name", "combined"}, best first.
    """

    returned: bool
    reason: Text
    outranked_by: list[JsonObject] = Field(default_factory=list)
    candidate: TransferCandidate

    def explain(self) -> dict[str, Any]:
        """The verdict, and the candidate's `explain()`, JSON-ready."""
        verdict = {"returned": self.returned, "reason": self.reason, "outranked_by": self.outranked_by}
        return verdict | self.candidate.explain()
