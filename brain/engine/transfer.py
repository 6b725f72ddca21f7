"""Which stored skills can be transferred to a new task? `SkillTransferEngine` (guide, "SkillTransferEngine")."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from brain.config import DEFAULT_MIN_SCORE, DEFAULT_TOP_K
from brain.engine.index import Scored
from brain.engine.memory import SkillMemory, check_skill_id
from brain.engine.reasons import Standing, Task, account
from brain.engine.scoring import Query
from brain.engine.telemetry import RECALL
from brain.errors import InputError, SkillNotFoundError
from brain.model.candidate import RecallVerdict, TransferCandidate
from brain.model.context import ContextFeatures
from brain.model.inputs import Context, ContextLike, check_recallable
from brain.model.skill import ANTI_PATTERN, Skill

_ATTEMPTS = 20  # each repeats only if skills changed between two looks at the store
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Request:
    """A task as it was analysed once: what to look for, the least combined score, the types (None: all advice)."""

    context: Context
    features: ContextFeatures
    query: Query
    min_score: float
    skill_types: frozenset[str] | None

    def is_of_type(self, skill: Skill) -> bool:
        """Whether the skill is of a type that is asked for."""
        return skill.skill_type != ANTI_PATTERN if self.skill_types is None else skill.skill_type in self.skill_types


class SkillTransferEngine:
    """Scores every live skill against a task and returns the best, with reasons. `brain.transfer_engine` is one."""

    def __init__(self, memory: SkillMemory) -> None:
        self._memory = memory
        self._others_write = False  # whether the last recall found changes

    def find_transferable_skills(
        self,
        target_context: ContextLike,
        top_k: int = DEFAULT_TOP_K,
        min_score: float = DEFAULT_MIN_SCORE,
        *,
        skill_types: Collection[str] | None = None,
    ) -> list[TransferCandidate]:
        """The `top_k` best skills for a task with a combined score of at least `min_score`, best first.

        `target_context` has a `task`, optionally a `domain` and planned `steps`. `skill_types` are those that are
        looked among, by default all but "anti_pattern". Raises `InputError` if there is neither task nor steps, or a
        number is out of range.
        """
        with self._memory.telemetry.operation(RECALL, target_context) as tell:
            request = self._request(target_context, top_k, min_score, skill_types)
            best = self._best(request, top_k)
            found = self._candidates(best, request, count(1), best[0][0] if best else None)
            tell(found)
        return found

    def score_skill(
        self,
        skill_id: str,
        target_context: ContextLike,
        min_score: float = DEFAULT_MIN_SCORE,
        *,
        skill_types: Collection[str] | None = None,
    ) -> TransferCandidate:
        """One skill scored against a task, however low. `min_score` and `skill_types` decide what it is ranked among.

        Raises `SkillNotFoundError`, `InputError`.
        """
        check_skill_id(skill_id)
        request = self._request(target_context, 1, min_score, skill_types)
        index = self._memory.index
        self._memory.live.refresh()
        seen = index.version
        skills, changes = self._memory.store.fetch([skill_id], seen)
        self._memory.live.apply(changes, seen)
        scored = index.score(request.query, self._memory.now, skill_id)
        if not skills or scored is None:
            raise SkillNotFoundError(skill_id, self._memory.store.namespace)
        eligible = self._is_eligible(scored, min_score) and request.is_of_type(skills[0])
        ahead = self._ahead_of(scored, request) if eligible else self._eligible(request, 1, min_score)
        first = next(iter(ahead), scored if eligible else None)
        rank = len(ahead) + 1 if eligible else None
        return self._candidates([(scored, skills[0])], request, [rank], first)[0]

    def why(
        self,
        skill_id: str,
        target_context: ContextLike,
        top_k: int = DEFAULT_TOP_K,
        min_score: float = DEFAULT_MIN_SCORE,
        *,
        skill_types: Collection[str] | None = None,
    ) -> RecallVerdict:
        """Why `find_transferable_skills` returns one skill, or does not. Raises `SkillNotFoundError`, `InputError`."""
        _check_numbers(top_k, min_score)
        candidate = self.score_skill(skill_id, target_context, min_score, skill_types=skill_types)
        rank = candidate.evidence["rank"]
        if rank is not None and rank <= top_k:
            reason = f"{candidate.skill.name!r} is returned, at place {rank} of the {top_k} that are returned at most."
            return RecallVerdict(returned=True, reason=reason, candidate=candidate)
        request = self._request(target_context, top_k, min_score, skill_types)
        if rank is None:
            reason = _shortfall(candidate, request, self._memory.policy.floor)
            return RecallVerdict(returned=False, reason=reason, candidate=candidate)
        better = [
            {"id": skill.id, "name": skill.name, "combined": scored.combined}
            for scored, skill in self._best(request, top_k)
        ]
        return RecallVerdict(
            returned=False, reason=_outranked(candidate, rank, better), outranked_by=better, candidate=candidate
        )

    def _request(
        self, target_context: ContextLike, top_k: int, min_score: float, skill_types: Collection[str] | None = None
    ) -> _Request:
        context = self._memory.context(target_context)
        check_recallable(context)
        _check_numbers(top_k, min_score)
        features = self._memory.analyzer.analyze(context, ask_model=False)
        query = self._memory.query(context, features)
        return _Request(context, features, query, min_score, _checked_types(skill_types))

    def _best(self, request: _Request, top_k: int) -> list[tuple[Scored, Skill]]:
        """Scores by the view at hand and fetches the winners together with what changed; repeats if that matters.

        What was committed when the call began must be seen; what comes later need not, so it is asked for but once:
        while others write, before anything is scored.
        """
        memory = self._memory
        memory.live.refresh()
        begun = memory.index.version
        caught_up = self._others_write
        if caught_up:
            memory.live.look()
        found: list[tuple[Scored, Skill]] = []
        for _ in range(_ATTEMPTS):
            best = self._eligible(request, top_k, request.min_score)
            seen, wanted = memory.index.version, [scored.skill_id for scored in best]
            if caught_up:
                skills, changes = memory.store.get_many(wanted), None
            else:
                skills, changes = memory.store.fetch(wanted, seen)
            by_id = {skill.id: skill for skill in skills}
            found = [(scored, by_id[scored.skill_id]) for scored in best if scored.skill_id in by_id]
            if not changes and len(found) == len(best):
                break
            if changes:
                memory.live.apply(changes, seen)
            gone = [skill_id for skill_id in wanted if skill_id not in by_id]
            memory.index.drop(gone, as_of=changes.version if changes else seen)
            caught_up = True
        self._others_write = memory.index.version != begun
        return found

    def _is_eligible(self, scored: Scored, min_score: float) -> bool:
        return scored.combined >= min_score - _ROUNDING and scored.semantic >= self._memory.policy.floor

    def _eligible(self, request: _Request, top_k: int, min_score: float) -> list[Scored]:
        """The best skills that recall may return, by the view at hand."""
        return self._memory.index.best(request.query, self._memory.now, top_k, min_score, request.skill_types)

    def _ahead_of(self, scored: Scored, request: _Request) -> list[Scored]:
        """The skills that recall would return before one that it may return."""
        least = max(request.min_score, scored.combined - _ROUNDING)
        found = self._eligible(request, max(1, len(self._memory.index)), least)
        return [other for other in found if other.rank < scored.rank]

    def _candidates(
        self,
        found: Sequence[tuple[Scored, Skill]],
        request: _Request,
        ranks: Iterable[int | None],
        first: Scored | None,
    ) -> list[TransferCandidate]:
        """What was found, with its scores; `first` is what ranks first."""
        memory = self._memory
        rarity = memory.index.rarities([scored.skill_id for scored, _ in found], request.query.profile)
        task = Task(request.context, request.features, request.query.profile, request.query.vector is not None)
        return [
            TransferCandidate(
                skill=skill,
                structural_score=scored.structural,
                semantic_score=scored.semantic,
                transfer_score=scored.transfer,
                confidence_score=scored.confidence,
                combined_score=scored.combined,
            ).explained_by(
                partial(account, task, skill, Standing(scored, rank, first, request.min_score), memory.policy, rarity)
            )
            for (scored, skill), rank in zip(found, ranks, strict=False)
        ]


def _shortfall(candidate: TransferCandidate, request: _Request, floor: float) -> str:
    """Why a skill that is not eligible is not returned."""
    found, min_score, skill_type = candidate.evidence, request.min_score, candidate.skill.skill_type
    faults = []
    if not request.is_of_type(candidate.skill):
        asked = "is returned only when it is asked for" if request.skill_types is None else "was not asked for"
        faults.append(f"its type {skill_type!r} {asked}")
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


def _checked_types(skill_types: Collection[str] | None) -> frozenset[str] | None:
    if skill_types is None:
        return None
    if isinstance(skill_types, str) or not isinstance(skill_types, Collection) or not skill_types:
        raise InputError(f'skill_types must be a list of types, such as ["procedural"], not {skill_types!r}.')
    if not all(isinstance(name, str) for name in skill_types):
        raise InputError(f"skill_types must be texts, not {skill_types!r}.")
    return frozenset(skill_types)


def _number(value: float) -> str:
    """Three digits, or one that is not 0."""
    return f"{value:.3f}" if value >= 0.0005 else f"{value:.0e}"


def _check_numbers(top_k: int, min_score: float) -> None:
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 1:
        raise InputError(f"top_k must be a whole number of at least 1, not {top_k!r}.")
    number = isinstance(min_score, int | float) and not isinstance(min_score, bool)
    if not number or not math.isfinite(min_score) or not 0 <= min_score <= 1:
        raise InputError(f"min_score must be a number from 0 to 1, not {min_score!r}.")
