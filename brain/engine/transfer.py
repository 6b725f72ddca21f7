"""Which stored skills can be transferred to a new task? `SkillTransferEngine` (guide, "SkillTransferEngine")."""

from __future__ import annotations

import math
from typing import Any

from brain.analysis.explanation import adaptations, evidence, reasoning
from brain.analysis.profile import profile_of_skill, words_by_stem
from brain.engine.index import Scored
from brain.engine.memory import SkillMemory, check_identifier
from brain.engine.scoring import Query
from brain.errors import InputError, SkillNotFoundError
from brain.model.candidate import TransferCandidate
from brain.model.context import ContextFeatures
from brain.model.inputs import Context, check_recallable
from brain.model.skill import Skill

DEFAULT_TOP_K, DEFAULT_MIN_SCORE = 5, 0.3
"""Candidates returned at most, and their least combined score (guide, "Recalling Skills")."""

_ATTEMPTS = 20  # each repeats only if skills changed between two looks at the store


class SkillTransferEngine:
    """Scores every live skill against a task and returns the best, with reasons. `brain.transfer_engine` is one."""

    def __init__(self, memory: SkillMemory) -> None:
        self._memory = memory

    def find_transferable_skills(
        self, target_context: dict[str, Any], top_k: int = DEFAULT_TOP_K, min_score: float = DEFAULT_MIN_SCORE
    ) -> list[TransferCandidate]:
        """The `top_k` best skills for a task with a combined score of at least `min_score`, best first.

        `target_context` has a `task`, optionally a `domain` and planned `steps`. Raises `InputError` if it has
        neither task nor steps, or a number is out of range.
        """
        context = self._memory.context(target_context)
        check_recallable(context)
        _check_numbers(top_k, min_score)
        features = self._memory.analyzer.analyze(context)
        query = self._memory.query(context, features)
        return [
            self._candidate(skill, scored, query, context, features, min_score)
            for scored, skill in self._best(query, top_k, min_score)
        ]

    def score_skill(self, skill_id: str, target_context: dict[str, Any]) -> TransferCandidate:
        """One skill scored against a task, however low. Raises `SkillNotFoundError`."""
        check_identifier(skill_id, "skill id")
        context = self._memory.context(target_context)
        check_recallable(context)
        features = self._memory.analyzer.analyze(context)
        query = self._memory.query(context, features)
        self._memory.refresh()
        skills, changes = self._memory.store.fetch([skill_id], self._memory.index.version)
        self._memory.apply(changes)
        scored = self._memory.index.score(query, self._memory.now, skill_id)
        if not skills or scored is None:
            raise SkillNotFoundError(skill_id, self._memory.store.namespace)
        return self._candidate(skills[0], scored, query, context, features, DEFAULT_MIN_SCORE)

    def _best(self, query: Query, top_k: int, min_score: float) -> list[tuple[Scored, Skill]]:
        """Scores by the view at hand and fetches the winners together with what changed; repeats if that matters."""
        memory = self._memory
        memory.refresh()
        found: list[tuple[Scored, Skill]] = []
        for _ in range(_ATTEMPTS):
            best = memory.index.best(query, memory.now, top_k, min_score)
            skills, changes = memory.store.fetch([scored.skill_id for scored in best], memory.index.version)
            by_id = {skill.id: skill for skill in skills}
            found = [(scored, by_id[scored.skill_id]) for scored in best if scored.skill_id in by_id]
            if not changes and len(found) == len(best):
                break
            memory.apply(changes)
            memory.index.drop(scored.skill_id for scored in best if scored.skill_id not in by_id)
        return found

    def _candidate(
        self,
        skill: Skill,
        scored: Scored,
        query: Query,
        context: Context,
        wanted: ContextFeatures,
        min_score: float,
    ) -> TransferCandidate:
        known = skill.features
        words = words_by_stem(context)
        found = evidence(query.profile, profile_of_skill(skill), wanted, known, self._memory.index.rarity, words)
        found["margin_to_min_score"] = round(scored.combined - min_score, 6)
        found["margin_to_floor"] = round(scored.semantic - self._memory.policy.floor, 6)
        return TransferCandidate(
            skill=skill,
            structural_score=scored.structural,
            semantic_score=scored.semantic,
            transfer_score=scored.transfer,
            confidence_score=scored.confidence,
            combined_score=scored.combined,
            adaptations=adaptations(known, wanted),
            reasoning=reasoning(skill, found),
            evidence=found,
        )


def _check_numbers(top_k: int, min_score: float) -> None:
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 1:
        raise InputError(f"top_k must be a whole number of at least 1, not {top_k!r}.")
    number = isinstance(min_score, int | float) and not isinstance(min_score, bool)
    if not number or not math.isfinite(min_score) or not 0 <= min_score <= 1:
        raise InputError(f"min_score must be a number from 0 to 1, not {min_score!r}.")
