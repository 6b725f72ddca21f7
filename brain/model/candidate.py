"""What does recall return? A skill with its four scores and the evidence for them (guide, "Transfer Candidates")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from pydantic import Field, PrivateAttr, computed_field

from brain.model import policy
from brain.model.record import Record
from brain.model.skill import Skill
from brain.model.text import JsonObject, Text, Unit


@dataclass(frozen=True)
class Account:
    """Why a skill fits a task: what has to be adapted, one sentence, and what matched."""

    adaptations: dict[str, Any] = field(default_factory=dict)
    reasoning: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)


class TransferCandidate(Record):
    """A stored skill that may fit a new task. Scores are 0..1; `combined_score` is their weighted sum.

    `adaptations` says what differs between the two tasks, `reasoning` in one sentence why the skill fits,
    `evidence` what matched. They are made when they are first looked at: to explain five candidates takes several times
    as long as to find them.
    """

    skill: Skill
    structural_score: Unit = 0.0
    semantic_score: Unit = 0.0
    transfer_score: Unit = 0.0
    confidence_score: Unit = 0.0
    combined_score: Unit = 0.0
    _told: Callable[[], Account] = PrivateAttr(default=Account)
    _made: Account | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        """Takes an account that was given in words, as `to_dict` writes it."""
        extra = self.__pydantic_extra__ or {}
        given = {name: extra.pop(name) for name in ("adaptations", "reasoning", "evidence") if name in extra}
        if given:
            self._made = Account(**given)

    def explained_by(self, told: Callable[[], Account]) -> Self:
        """The candidate, with what makes its account when it is first looked at."""
        self._told, self._made = told, None
        return self

    @property
    def _account(self) -> Account:
        if self._made is None:
            self._made = self._told()
        return self._made

    @computed_field  # type: ignore[prop-decorator]
    @property
    def adaptations(self) -> dict[str, Any]:
        """What differs between the skill's task and the new one; empty if nothing does."""
        return self._account.adaptations

    @computed_field  # type: ignore[prop-decorator]
    @property
    def reasoning(self) -> str:
        """One sentence that says why the skill fits."""
        return self._account.reasoning

    @computed_field  # type: ignore[prop-decorator]
    @property
    def evidence(self) -> dict[str, Any]:
        """What matched; see `explain`."""
        return self._account.evidence

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TransferCandidate) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def explain(self) -> dict[str, Any]:
        """What the combined score is made of, JSON-ready: for each dimension raw score, weight and contribution.

        A candidate that recall or `why` returned has its evidence beside them:

        - `measure`, `measures`: what the semantic score is the mean of (procedure, topic, vector), each with its raw
          similarity (null: too small to tell) and the calibrated one;
        - `words`: matched words with their share of the measure; `structures`, `patterns`: those of both sides;
          `names`: how many of them each side names, how many both do, and from how many (`needed`) they count;
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
