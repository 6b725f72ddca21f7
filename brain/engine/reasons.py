"""Why does a skill fit a task, and how could it fit better? `account`, made when somebody looks at it."""

from __future__ import annotations

from collections.abc import Callable
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
from brain.engine.index import Scored
from brain.model import policy
from brain.model.candidate import Account
from brain.model.context import ContextFeatures
from brain.model.inputs import Context, ExecutionTrace
from brain.model.policy import Policy
from brain.model.skill import Skill

_ROUNDING = 1e-9
_CACHED_PROFILES = 1_024
_WEIGHTS = {
    "structural": policy.STRUCTURAL_WEIGHT,
    "semantic": policy.SEMANTIC_WEIGHT,
    "transfer": policy.TRANSFER_WEIGHT,
    "confidence": policy.CONFIDENCE_WEIGHT,
}


@dataclass(frozen=True)
class Task:
    """The task that a skill was scored against, as it was analysed."""

    context: Context
    features: ContextFeatures
    profile: Profile
    has_vector: bool


@dataclass(frozen=True)
class Standing:
    """How a skill came out: its scores, its rank (None if not eligible), what ranks first, the least combined score."""

    scored: Scored
    rank: int | None
    first: Scored | None
    min_score: float


def account(task: Task, skill: Skill, standing: Standing, rules: Policy, rarity: Callable[[str], float]) -> Account:
    """The account of one candidate; `rarity` gives a stem's inverse document frequency when it was found."""
    words = words_by_stem(task.context)
    planned = extract_procedure(ExecutionTrace(steps=task.context.steps))
    wanted = Side(task.profile, task.features, planned)
    known = Side(_profile_of(skill), skill.features, skill.procedure)
    matches = match_steps(wanted.steps, known.steps)
    scored = standing.scored
    semantics = Semantics(scored.semantic, rules.semantic, task.has_vector)
    found = evidence(wanted, known, semantics, matches, rarity, words)
    found["names"]["needed"] = {"shared": rules.least_shared, "on_one_side": rules.least_names}
    found["transfers"] = {
        "successes": skill.transfer_successes,
        "count": skill.transfer_count,
        "interval": confidence_interval(skill.transfer_successes, skill.transfer_count),
    }
    found["margin_to_min_score"] = round(scored.combined - standing.min_score, 6)
    found["margin_to_floor"] = round(scored.semantic - rules.floor, 6)
    found["rank"] = standing.rank
    found["to_be_first"] = _to_be_first(standing, rules.floor)
    sentence = reasoning(skill, scored.semantic, found, content_words(task.profile, words))
    return Account(adaptations(known.features, wanted.features, matches), sentence, found)


def _to_be_first(standing: Standing, floor: float) -> dict[str, Any] | None:
    """By how much a skill trails the first, and the one dimension that would close that by the least rise.

    Below the floor nothing but the semantic dimension helps. `first` is None, and `min_score` to be reached, where no
    skill is eligible. The dimension is None where no single one can. None for the first itself.
    """
    scored, first = standing.scored, standing.first
    if first is not None and scored.skill_id == first.skill_id:
        return None
    gap = max(0.0, (first.combined if first else standing.min_score) - scored.combined)
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
