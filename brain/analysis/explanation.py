"""Why does a skill fit a task? Matched words and structures, what differs, and one sentence for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from brain.analysis.measures import content_similarity, procedure_similarity, topic_similarity
from brain.analysis.profile import Profile
from brain.model.context import UNKNOWN, ContextFeatures
from brain.model.skill import Skill

MATCHED_WORDS = 10
"""Words that an explanation lists."""
COMPLEXITY_GAP = 2
"""Points of complexity from which a difference is worth telling."""


def evidence(
    query: Profile,
    document: Profile,
    wanted: ContextFeatures,
    known: ContextFeatures,
    rarity: Callable[[str], float],
    words: Mapping[str, str],
) -> dict[str, Any]:
    """What matched between a task and a skill: measures, words with their share, structures and patterns.

    `words` gives the word of the task for a stem.
    """
    measure = "procedure" if query.has_steps and document.has_steps else "topic"
    return {
        "identical_context": query.digest == document.digest,
        "measure": measure,
        "similarities": {
            "procedure": round(procedure_similarity(query, document), 4),
            "topic": round(topic_similarity(query, document, rarity), 4),
            "content": round(content_similarity(query, document), 4),
        },
        "words": _matched_words(query, document, measure, rarity, words),
        "structures": [name for name in wanted.task_structures if name in known.task_structures],
        "patterns": [name for name in wanted.cognitive_patterns if name in known.cognitive_patterns],
    }


def adaptations(known: ContextFeatures, wanted: ContextFeatures) -> dict[str, Any]:
    """What differs between the skill's task (`known`) and the new one (`wanted`); empty if nothing does."""
    found: dict[str, Any] = {}
    for side, source, target in (
        ("input", known.input_shape, wanted.input_shape),
        ("output", known.output_shape, wanted.output_shape),
    ):
        if source != target and UNKNOWN not in (source, target):
            found[f"{side}_adaptation"] = {"from": source, "to": target}
    missing = [name for name in wanted.task_structures if name not in known.task_structures]
    surplus = [name for name in known.task_structures if name not in wanted.task_structures]
    if missing:
        found["add_structures"] = missing
    if surplus:
        found["remove_structures"] = surplus
    gap = wanted.complexity - known.complexity
    if gap > COMPLEXITY_GAP:
        found["complexity"] = "The new task is more complex: steps may have to be added."
    elif gap < -COMPLEXITY_GAP:
        found["complexity"] = "The new task is simpler: some steps may be unnecessary."
    return found


def reasoning(skill: Skill, found: dict[str, Any]) -> str:
    """One plain sentence on why `skill` was recalled, from its `evidence`."""
    if found["identical_context"]:
        reasons = ["was learned from this very task"]
    else:
        reasons = []
        if found["structures"]:
            reasons.append(f"shares the structures {_and(found['structures'])}")
        if found["patterns"]:
            reasons.append(f"needs the same thinking ({_and(found['patterns'])})")
        words = [word["word"] for word in found["words"][:3]]
        if words:
            reasons.append(f"speaks of the same things ({_and(words)})")
    if skill.transfer_count:
        reasons.append(f"worked in {skill.transfer_successes} of {skill.transfer_count} transfers")
    return f"{skill.name!r} {_and(reasons or ['is the closest in meaning'])}."


def _matched_words(
    query: Profile, document: Profile, measure: str, rarity: Callable[[str], float], words: Mapping[str, str]
) -> list[dict[str, Any]]:
    others = {t.stem: t for t in document.terms}
    shares: dict[str, float] = {}
    for term in query.terms:
        match = others.get(term.stem)
        if match and measure == "procedure" and " " not in term.stem:
            shares[term.stem] = min(term.weight, match.weight) * (1 - abs(term.position - match.position))
        elif match and term.count and match.count:
            shares[term.stem] = rarity(term.stem) ** 2
    total = sum(shares.values())
    ranked = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:MATCHED_WORDS]
    return [{"word": words.get(stem, stem), "share": round(share / total, 4)} for stem, share in ranked if total]


def _and(names: list[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
