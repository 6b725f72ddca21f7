"""Why does a skill fit a task? What matched and with which share, what differs, and one sentence for people."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from brain.analysis.measures import (
    PROCEDURE_SCALE,
    TOPIC_SCALE,
    TOPIC_SCALE_BESIDE_VECTORS,
    VECTOR_SCALE,
    VECTOR_SHARE,
    Scale,
    content_similarity,
    is_same_context,
    procedure_similarity,
    topic_frequency,
    topic_similarity,
)
from brain.analysis.profile import WEIGHTS, Profile, profile_of
from brain.analysis.terms import Term
from brain.analysis.wordclasses import WordClass
from brain.model.context import UNKNOWN, ContextFeatures
from brain.model.skill import Skill, SkillStep

MATCHED_WORDS, MATCHED_STEPS = 10, 10
"""Words and pairs of steps that an explanation lists at most."""
COUNTERPART = 0.10
"""Procedure similarity from which two single steps are taken for counterparts.

In propara_logy .66 of the steps of a query have one in the right procedure and .12 in a procedure drawn at random; at
.08 it is .78 and .26, at .15 .43 and .03.
"""
COMPLEXITY_GAP = 2
"""Points of complexity from which a difference is worth telling."""
_CACHED_STEPS = 1_024
_LONGEST_QUOTE = 60
_NORMAL_975 = 1.959964  # the normal quantile of a two-sided 95 % interval
_CLOSENESS = ((0.9, "almost the same"), (0.5, "a similar"), (0.2, "a loosely similar"))
_ONE_WORD = 0.2
"""A reason that rests on one shared word alone claims no more closeness than this, however rare the word is."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison, task or skill: its words, its features, and its steps in order."""

    profile: Profile
    features: ContextFeatures
    steps: Sequence[SkillStep] = ()


@dataclass(frozen=True)
class Semantics:
    """How the semantic score of a candidate came about, 0..1: under which policy, and whether the task has a vector."""

    score: float
    policy: Literal["measures", "guide"] = "measures"
    has_vector: bool = False


@dataclass(frozen=True)
class StepMatches:
    """Counterparts among the steps of a task and a skill, best first, and the steps without one, in order."""

    pairs: list[tuple[SkillStep, SkillStep, float]] = field(default_factory=list)
    only_in_task: list[SkillStep] = field(default_factory=list)
    only_in_skill: list[SkillStep] = field(default_factory=list)


def evidence(
    task: Side,
    skill: Side,
    semantics: Semantics,
    matches: StepMatches,
    rarity: Callable[[str], float],
    words: Mapping[str, str],
) -> dict[str, Any]:
    """What matched between a task and a skill: measures, words and steps with their share, structures and patterns.

    `words` gives the word of the task for a stem. JSON-ready. A share is 0..1 of what the measure rests on.
    """
    query, document = task.profile, skill.profile
    similarities = {
        "procedure": round(procedure_similarity(query, document), 4),
        "topic": round(topic_similarity(query, document, rarity), 4),
        "content": round(content_similarity(query, document), 4),
    }
    by_procedure = query.has_steps and document.has_steps
    measures = _measures(semantics, by_procedure, similarities)
    wanted, known = task.features, skill.features
    return {
        "identical_context": is_same_context(query, document),
        "measure": " and ".join(part["measure"] for part in measures),
        "measures": measures,
        "similarities": similarities,
        "words": _matched_words(query, document, by_procedure, rarity, words),
        "structures": [name for name in wanted.task_structures if name in known.task_structures],
        "patterns": [name for name in wanted.cognitive_patterns if name in known.cognitive_patterns],
        "names": {"task": wanted.shape.names, "skill": known.shape.names, "shared": wanted.shape.shared(known.shape)},
        "steps": _matched_steps(matches),
    }


def match_steps(planned: Sequence[SkillStep], known: Sequence[SkillStep]) -> StepMatches:
    """Pairs steps one to one, the most similar first, as long as their `procedure_similarity` is a `COUNTERPART`.

    Nothing matches and nothing is missing where no steps are planned.
    """
    if not planned:
        return StepMatches()
    stored = [_step_profile(step.full_text) for step in known]
    rows = [[procedure_similarity(_step_profile(step.full_text), other) for other in stored] for step in planned]
    candidates = sorted(
        (-round(similarity, 4), i, j)
        for i, row in enumerate(rows)
        for j, similarity in enumerate(row)
        if round(similarity, 4) >= COUNTERPART
    )
    pairs, mine, theirs = [], set(range(len(planned))), set(range(len(known)))
    for negative, i, j in candidates:
        if i in mine and j in theirs:
            mine.remove(i)
            theirs.remove(j)
            pairs.append((planned[i], known[j], -negative))
    return StepMatches(pairs, [planned[i] for i in sorted(mine)], [known[j] for j in sorted(theirs)])


def adaptations(known: ContextFeatures, wanted: ContextFeatures, matches: StepMatches) -> dict[str, Any]:
    """What differs between the skill's task (`known`) and the new one (`wanted`); empty if nothing does.

    Inputs and outputs as {"from", "to"}, structures and steps by name and text.
    """
    found: dict[str, Any] = {}
    for side, source, target in (
        ("input", known.input_shape, wanted.input_shape),
        ("output", known.output_shape, wanted.output_shape),
    ):
        if source != target and UNKNOWN not in (source, target):
            found[f"{side}_adaptation"] = {"from": source, "to": target}
    lists = {
        "add_steps": [step.action for step in matches.only_in_task],
        "may_be_left_out": [step.action for step in matches.only_in_skill],
        "add_structures": [name for name in wanted.task_structures if name not in known.task_structures],
        "remove_structures": [name for name in known.task_structures if name not in wanted.task_structures],
    }
    found |= {key: names for key, names in lists.items() if names}
    gap = wanted.complexity - known.complexity
    if gap > COMPLEXITY_GAP:
        found["complexity"] = "The new task is more complex: steps may have to be added."
    elif gap < -COMPLEXITY_GAP:
        found["complexity"] = "The new task is simpler: some steps may be unnecessary."
    return found


def content_words(profile: Profile, words: Mapping[str, str]) -> set[str]:
    """The nouns and verbs of a task, which say what it is about; `words` gives the word for a stem."""
    telling = (
        term for term in profile.terms if term.count and (term.is_noun or term.weight >= WEIGHTS[WordClass.VERB])
    )
    return {words[term.stem] for term in telling if term.stem in words}


def reasoning(skill: Skill, semantic: float, found: Mapping[str, Any], content: Collection[str]) -> str:
    """One plain sentence on why `skill` fits: from its semantic score, its `evidence`, the task's `content_words`."""
    if found["identical_context"]:
        reasons = ["was learned from this very task"]
    else:
        reasons = [_likeness(semantic, found, content)]
        if found["structures"]:
            reasons.append(f"is built alike ({_and(found['structures'])})")
        if found["patterns"]:
            reasons.append(f"needs the same kind of thinking ({_and(found['patterns'])})")
    if skill.transfer_count:
        reasons.append(f"has worked in {skill.transfer_successes} of {skill.transfer_count} transfers")
    return f"{skill.name!r} {_and(reasons)}."


def confidence_interval(successes: int, count: int) -> list[float] | None:
    """The 95 % Wilson interval of a success rate, [low, high], 0..1; None without any attempt."""
    if not count:
        return None
    rate, z = successes / count, _NORMAL_975
    middle = (rate + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return [round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4)]


def _likeness(semantic: float, found: Mapping[str, Any], content: Collection[str]) -> str:
    """How near skill and task are by their measure, with what shows it best."""
    telling = [word["word"] for word in found["words"] if word["word"] in content][:3]
    if found["measure"] == "topic" and len(telling) == 1 and len(found["measures"]) == 1:
        semantic = min(semantic, _ONE_WORD)
    close = next((words for least, words in _CLOSENESS if semantic >= least), "")
    if found["measure"] == "procedure":
        told = f"goes about it in {close} way" if close else "has little of its way of working in common with the task"
        if found["steps"]:
            best = found["steps"][0]
            return f"{told} (its step {_quoted(best['skill_step'])} answers to {_quoted(best['step'])})"
    else:
        told = f"is about {close} thing" if close else "has little in common with the task"
    if telling:
        return f"{told} (both speak of {_and(telling)})"
    return f"{told} (by its meaning, without a telling word in common)" if close else told


def _measures(semantics: Semantics, by_procedure: bool, raw: Mapping[str, float]) -> list[dict[str, Any]]:
    """The measures that the semantic score is the mean of: raw similarity, and the calibrated one, 0..1."""
    if semantics.policy == "guide":
        if semantics.has_vector:
            return [_measure("embedding", 2 * semantics.score - 1, semantics.score)]
        return [_measure("keywords", semantics.score, semantics.score)]
    if by_procedure:
        return [_measure("procedure", raw["procedure"], _calibrated(PROCEDURE_SCALE, raw["procedure"]))]
    alone = _calibrated(TOPIC_SCALE, raw["topic"])
    beside = _calibrated(TOPIC_SCALE_BESIDE_VECTORS, raw["topic"])
    identical = semantics.score == 1.0
    if not semantics.has_vector or identical or math.isclose(semantics.score, alone, abs_tol=1e-3):
        return [_measure("topic", raw["topic"], alone)]  # without a vector of the skill, the topic counts alone
    vector = min(1.0, max(0.0, (semantics.score - (1 - VECTOR_SHARE) * beside) / VECTOR_SHARE))
    return [_measure("topic", raw["topic"], beside), _measure("vector", _raw(VECTOR_SCALE, vector), vector)]


def _measure(name: str, raw: float | None, calibrated: float) -> dict[str, Any]:
    return {"measure": name, "raw": None if raw is None else round(raw, 4), "calibrated": round(calibrated, 4)}


def _calibrated(scale: Scale, raw: float) -> float:
    return float(scale(np.array([raw]))[0])


def _raw(scale: Scale, calibrated: float) -> float | None:
    """The similarity that `scale` maps to `calibrated`; None for 0, which is all from `scale.low` downwards."""
    if calibrated <= 1e-4:
        return None
    if calibrated < 0.9:
        return scale.low + calibrated / 0.9 * (scale.high - scale.low)
    return scale.high + (calibrated - 0.9) / 0.1 * (1 - scale.high)


def _matched_words(
    query: Profile, document: Profile, by_procedure: bool, rarity: Callable[[str], float], words: Mapping[str, str]
) -> list[dict[str, Any]]:
    others = {t.stem: t for t in document.terms}
    shares: dict[str, float] = {}
    for term in query.terms:
        match = others.get(term.stem)
        share = _shared(term, match, by_procedure, rarity) if match else 0.0
        parts = [stem for stem in term.stem.split(" ") if stem in words]  # a neighbour that is masked is no word
        for stem in parts if share else ():
            shares[stem] = shares.get(stem, 0.0) + share / len(parts)
    total = sum(shares.values())
    ranked = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:MATCHED_WORDS]
    return [{"word": words[stem], "share": round(share / total, 4)} for stem, share in ranked]


def _shared(term: Term, match: Term, by_procedure: bool, rarity: Callable[[str], float]) -> float:
    """What a term that both sides have adds to the measure."""
    if by_procedure:
        return min(term.weight, match.weight) * (1 - abs(term.position - match.position))
    if term.count and match.count:
        mine, theirs = (topic_frequency(t.count, is_noun=t.is_noun) for t in (term, match))
        return mine * theirs * rarity(term.stem) ** 2
    return 0.0


def _matched_steps(matches: StepMatches) -> list[dict[str, Any]]:
    total = sum(similarity for _, _, similarity in matches.pairs)
    return [
        {
            "step": mine.action,
            "skill_step": theirs.action,
            "order": mine.order,
            "skill_order": theirs.order,
            "similarity": similarity,
            "share": round(similarity / total, 4),
        }
        for mine, theirs, similarity in matches.pairs[:MATCHED_STEPS]
    ]


@lru_cache(maxsize=_CACHED_STEPS)
def _step_profile(text: str) -> Profile:
    return profile_of("", "", [text])


def _quoted(text: str) -> str:
    return f"“{textwrap.shorten(text, _LONGEST_QUOTE, placeholder=' …')}”"


def _and(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
