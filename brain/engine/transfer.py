"""Which stored skills can be transferred to a new task? `SkillTransferEngine` (guide, "SkillTransferEngine")."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from brain.analysis.abstraction import extract_procedure
from brain.analysis.explanation import (
    Semantics,
    Side,
    adaptations,
    confidence_interval,
    content_words,
    evidence,
    match_steps,
    reasoning,
)
from brain.analysis.profile import Profile, profile_of_skill, words_by_stem
from brain.config import DEFAULT_MIN_SCORE, DEFAULT_TOP_K
from brain.engine.index import Scored
from brain.engine.memory import SkillMemory, check_identifier
from brain.engine.scoring import Query
from brain.errors import InputError, SkillNotFoundError
from brain.model import policy
from brain.model.candidate import RecallVerdict, TransferCandidate
from brain.model.inputs import ExecutionTrace, check_recallable
from brain.model.skill import Skill

_ATTEMPTS = 20  # each repeats only if skills changed between two looks at the store
_ROUNDING = 1e-9
_CACHED_PROFILES = 1_024
_WEIGHTS = {
    "structural": policy.STRUCTURAL_WEIGHT,
    "semantic": policy.SEMANTIC_WEIGHT,
    "transfer": policy.TRANSFER_WEIGHT,
    "confidence": policy.CONFIDENCE_WEIGHT,
}


@dataclass(frozen=True)
class _Request:
    """A task as it was analysed once: what to look for, what to explain with, and the least combined score."""

    query: Query
    task: Side
    words: Mapping[str, str]
    min_score: float


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
        request = self._request(target_context, top_k, min_score)
        found = self._best(request.query, top_k, min_score)
        return [
            self._candidate(skill, scored, request, rank, found[0][0]) for rank, (scored, skill) in enumerate(found, 1)
        ]

    def score_skill(
        self, skill_id: str, target_context: dict[str, Any], min_score: float = DEFAULT_MIN_SCORE
    ) -> TransferCandidate:
        """One skill scored against a task, however low. `min_score` decides which skills it is ranked among.

        Raises `SkillNotFoundError`, `InputError`.
        """
        check_identifier(skill_id, "skill id")
        request = self._request(target_context, 1, min_score)
        index = self._memory.index
        self._memory.refresh()
        skills, changes = self._memory.store.fetch([skill_id], index.version)
        self._memory.apply(changes)
        scored = index.score(request.query, self._memory.now, skill_id)
        if not skills or scored is None:
            raise SkillNotFoundError(skill_id, self._memory.store.namespace)
        eligible = self._is_eligible(scored, min_score)
        ahead = self._ahead_of(scored, request) if eligible else self._eligible(request, 1, min_score)
        first = next(iter(ahead), scored if eligible else None)
        return self._candidate(skills[0], scored, request, len(ahead) + 1 if eligible else None, first)

    def why(
        self,
        skill_id: str,
        target_context: dict[str, Any],
        top_k: int = DEFAULT_TOP_K,
        min_score: float = DEFAULT_MIN_SCORE,
    ) -> RecallVerdict:
        """Why `find_transferable_skills` returns one skill, or does not. Raises `SkillNotFoundError`, `InputError`."""
        _check_numbers(top_k, min_score)
        candidate = self.score_skill(skill_id, target_context, min_score)
        rank = candidate.evidence["rank"]
        if rank is not None and rank <= top_k:
            reason = f"{candidate.skill.name!r} is returned, at place {rank} of the {top_k} that are returned at most."
            return RecallVerdict(returned=True, reason=reason, candidate=candidate)
        if rank is None:
            reason = _shortfall(candidate, min_score, self._memory.policy.floor)
            return RecallVerdict(returned=False, reason=reason, candidate=candidate)
        request = self._request(target_context, top_k, min_score)
        better = [
            {"id": skill.id, "name": skill.name, "combined": scored.combined}
            for scored, skill in self._best(request.query, top_k, min_score)
        ]
        return RecallVerdict(
            returned=False, reason=_outranked(candidate, rank, better), outranked_by=better, candidate=candidate
        )

    def _request(self, target_context: dict[str, Any], top_k: int, min_score: float) -> _Request:
        context = self._memory.context(target_context)
        check_recallable(context)
        _check_numbers(top_k, min_score)
        features = self._memory.analyzer.analyze(context, ask_model=False)
        query = self._memory.query(context, features)
        planned = extract_procedure(ExecutionTrace(steps=context.steps))
        return _Request(query, Side(query.profile, features, planned), words_by_stem(context), min_score)

    def _best(self, query: Query, top_k: int, min_score: float) -> list[tuple[Scored, Skill]]:
        """Scores by the view at hand and fetches the winners together with what changed; repeats if that matters."""
        memory = self._memory
        memory.refresh()
        found: list[tuple[Scored, Skill]] = []
        wanted: int | None = None  # what was committed when the call began must be seen; what comes later need not
        for _ in range(_ATTEMPTS):
            best = memory.index.best(query, memory.now, top_k, min_score)
            seen = memory.index.version
            skills, changes = memory.store.fetch([scored.skill_id for scored in best], seen)
            by_id = {skill.id: skill for skill in skills}
            found = [(scored, by_id[scored.skill_id]) for scored in best if scored.skill_id in by_id]
            current = not changes or (wanted is not None and seen >= wanted)
            if current and len(found) == len(best):
                break
            wanted = changes.version if wanted is None else wanted
            memory.apply(changes)
            gone = [scored.skill_id for scored in best if scored.skill_id not in by_id]
            memory.index.drop(gone, as_of=changes.version)
        return found

    def _is_eligible(self, scored: Scored, min_score: float) -> bool:
        return scored.combined >= min_score - _ROUNDING and scored.semantic >= self._memory.policy.floor

    def _eligible(self, request: _Request, top_k: int, min_score: float) -> list[Scored]:
        """The best skills that recall may return, by the view at hand."""
        return self._memory.index.best(request.query, self._memory.now, top_k, min_score)

    def _ahead_of(self, scored: Scored, request: _Request) -> list[Scored]:
        """The skills that recall would return before one that it may return."""
        least = max(request.min_score, scored.combined - _ROUNDING)
        found = self._eligible(request, max(1, len(self._memory.index)), least)
        return [other for other in found if other.rank < scored.rank]

    def _candidate(
        self, skill: Skill, scored: Scored, request: _Request, rank: int | None, first: Scored | None
    ) -> TransferCandidate:
        rules = self._memory.policy
        known = Side(_profile_of(skill), skill.features, skill.procedure)
        matches = match_steps(request.task.steps, known.steps)
        semantics = Semantics(scored.semantic, rules.semantic, request.query.vector is not None)
        found = evidence(request.task, known, semantics, matches, self._memory.index.rarity, request.words)
        found["names"]["needed"] = rules.least_names
        found["transfers"] = {
            "successes": skill.transfer_successes,
            "count": skill.transfer_count,
            "interval": confidence_interval(skill.transfer_successes, skill.transfer_count),
        }
        found["margin_to_min_score"] = round(scored.combined - request.min_score, 6)
        found["margin_to_floor"] = round(scored.semantic - rules.floor, 6)
        found["rank"] = rank
        found["to_be_first"] = _to_be_first(scored, first, request.min_score, rules.floor)
        return TransferCandidate(
            skill=skill,
            structural_score=scored.structural,
            semantic_score=scored.semantic,
            transfer_score=scored.transfer,
            confidence_score=scored.confidence,
            combined_score=scored.combined,
            adaptations=adaptations(known.features, request.task.features, matches),
            reasoning=reasoning(skill, scored.semantic, found, content_words(request.query.profile, request.words)),
            evidence=found,
        )


def _to_be_first(scored: Scored, first: Scored | None, min_score: float, floor: float) -> dict[str, Any] | None:
    """By how much a skill trails the first, and the one dimension that would close that by the least rise.

    Below the floor nothing but the semantic dimension helps. `first` is None, and `min_score` to be reached, where no
    skill is eligible. The dimension is None where no single one can. None for the first itself.
    """
    if first is not None and scored.skill_id == first.skill_id:
        return None
    gap = max(0.0, (first.combined if first else min_score) - scored.combined)
    needed = {name: getattr(scored, name) + gap / weight for name, weight in _WEIGHTS.items()}
    if scored.semantic < floor:
        needed = {"semantic": max(floor, needed["semantic"])}
    within = [name for name, value in needed.items() if value <= 1 + _ROUNDING]
    closest = min(within, key=lambda name: needed[name] - getattr(scored, name), default=None)
    return {
        "first": first.skill_id if first else None,
        "trails_by": round(gap, 6),
        "dimension": closest,
        "value": round(min(1.0, needed[closest]), 6) if closest else None,
    }


def _shortfall(candidate: TransferCandidate, min_score: float, floor: float) -> str:
    """Why a skill that is not eligible is not returned."""
    found = candidate.evidence
    faults = []
    if found["margin_to_min_score"] < 0:
        below = _number(-found["margin_to_min_score"])
        faults.append(f"its combined score of {candidate.combined_score:.3f} is {below} below min_score {min_score:g}")
    if candidate.semantic_score < floor:
        below = _number(floor - candidate.semantic_score)
        faults.append(f"its semantic score of {candidate.semantic_score:.3f} is {below} below the floor of {floor:g}")
    return f"{candidate.skill.name!r} is not returned, because {' and '.join(faults)}."


def _outranked(candidate: TransferCandidate, rank: int, better: list[dict[str, Any]]) -> str:
    names = ", ".join(f"{skill['name']!r} ({skill['combined']:.3f})" for skill in better)
    which = "this skill fits" if len(better) == 1 else f"these {len(better)} skills fit"
    own = f"with a combined score of {candidate.combined_score:.3f} it has place {rank}"
    return f"{candidate.skill.name!r} is not returned, because {own} and {which} better: {names}."


def _number(value: float) -> str:
    """Three digits, or one that is not 0."""
    return f"{value:.3f}" if value >= 0.0005 else f"{value:.0e}"


@dataclass(frozen=True)
class _Told:
    """A skill that is equal to another if what its profile is made of is."""

    text: tuple[str, ...]
    skill: Skill = field(compare=False)


def _profile_of(skill: Skill) -> Profile:
    """The profile of a skill. Kept, because the same few skills are recalled again and again."""
    steps = (step.full_text for step in skill.procedure)
    return _analysed(_Told((skill.domain, skill.task, skill.name, skill.description, *steps), skill))


@lru_cache(maxsize=_CACHED_PROFILES)
def _analysed(told: _Told) -> Profile:
    return profile_of_skill(told.skill)


def _check_numbers(top_k: int, min_score: float) -> None:
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 1:
        raise InputError(f"top_k must be a whole number of at least 1, not {top_k!r}.")
    number = isinstance(min_score, int | float) and not isinstance(min_score, bool)
    if not number or not math.isfinite(min_score) or not 0 <= min_score <= 1:
        raise InputError(f"min_score must be a number from 0 to 1, not {min_score!r}.")
