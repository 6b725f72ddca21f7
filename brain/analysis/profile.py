"""What of a text is compared? `Profile`: the weighted words of a task and its steps, made once and stored.

A profile is stored as JSON text that only this module reads. It carries the version of the analysis that made it;
one of another version is made anew from the skill.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from brain.analysis.wordclasses import FUNCTION, weighted_words
from brain.analysis.words import normalise
from brain.model.inputs import Context, step_text
from brain.model.skill import Skill, SkillStep
from brain.model.text import digest

ANALYSIS_VERSION = 1
"""Raised whenever stems, word classes or the digest change, so that stored profiles are made anew."""

ELLIPSIS = "…"


@dataclass(frozen=True)
class Term:
    """One stem of a text: its largest weight, its first position (0 at the start, 1 at the end), its count."""

    stem: str
    weight: float
    position: float
    count: int

    @property
    def is_content(self) -> bool:
        """Whether the word says what it is about, and not only how words hang together."""
        return self.weight != FUNCTION


@dataclass(frozen=True)
class Profile:
    """The compared words of one side, whether it tells steps, and the digest of its normalised context."""

    terms: tuple[Term, ...]
    has_steps: bool
    digest: str

    def to_json(self) -> str:
        """The text that is stored."""
        rows = [[t.stem, t.weight, t.position, t.count] for t in self.terms]
        return json.dumps(
            {"v": ANALYSIS_VERSION, "steps": self.has_steps, "digest": self.digest, "terms": rows},
            separators=(",", ":"),
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str | None) -> Profile | None:
        """The stored profile; None if there is none, or another version of the analysis made it."""
        try:
            data = json.loads(text or "null")
            if data["v"] != ANALYSIS_VERSION:
                return None
            terms = tuple(Term(str(s), float(w), float(p), int(c)) for s, w, p, c in data["terms"])
            return cls(terms, bool(data["steps"]), str(data["digest"]))
        except (ValueError, KeyError, TypeError):
            return None


def profile_of(domain: str, task: str, steps: Iterable[str]) -> Profile:
    """The profile of a task with its steps; either may be empty."""
    told = [step for step in steps if step.strip()]
    words = weighted_words(task) + [pair for step in told for pair in weighted_words(step)]
    last = max(1, len(words) - 1)
    first: dict[str, int] = {}
    weight: dict[str, float] = {}
    count: dict[str, int] = {}
    for i, (stem, w) in enumerate(words):
        first.setdefault(stem, i)
        weight[stem] = max(w, weight.get(stem, 0.0))
        count[stem] = count.get(stem, 0) + 1
    terms = tuple(Term(s, weight[s], round(i / last, 4), count[s]) for s, i in first.items())
    return Profile(terms, bool(told), context_digest(domain, task, told))


def profile_of_skill(skill: Skill) -> Profile:
    """The profile of a skill: its task, or name and description where the task is not known, and its steps."""
    task = skill.task or f"{skill.name}\n{skill.description}".strip()
    return profile_of(skill.domain, task, [full_text(step) for step in skill.procedure])


def profile_of_context(context: Context) -> Profile:
    """The profile of a task to recall for: its text and, if given, its planned steps."""
    return profile_of(context.domain, context.task, [step_text(step) for step in context.steps])


def semantic_text(domain: str, task: str, steps: Iterable[str]) -> str:
    """The text that is embedded: task and steps, one a line."""
    return "\n".join(part for part in (task, *steps) if part.strip()) or domain


def full_text(step: SkillStep) -> str:
    """Everything that a step says: its action and its description, without saying the same twice."""
    action, description = step.action, step.description
    if description.startswith(action.removesuffix(ELLIPSIS)):
        return description
    return f"{action}\n{description}" if description else action


def context_digest(domain: str, task: str, steps: Iterable[str]) -> str:
    """Digest of the normalised context; its steps count only where there is no task."""
    told = [normalise(task)] if task.strip() else [normalise(step) for step in steps]
    return digest(normalise(domain), *told)
