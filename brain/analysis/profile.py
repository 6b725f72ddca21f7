"""What of a text is compared? `Profile`: the weighted words of a task and its steps, made once and stored.

A profile is stored as JSON text that only this module reads. It carries the version of the analysis that made it;
one of another version is made anew from the skill.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from brain.analysis.abstraction import extract_procedure
from brain.analysis.outline import Outline, outline_of
from brain.analysis.wordclasses import Word, WordClass, words_of
from brain.analysis.words import normalise
from brain.model.inputs import Context, ExecutionTrace
from brain.model.skill import Skill
from brain.model.text import digest

ANALYSIS_VERSION = 2
"""Raised whenever stems, word classes or the digest change, so that stored profiles are made anew."""

WEIGHTS = {WordClass.VERB: 1.0, WordClass.MODIFIER: 0.7, WordClass.FUNCTION: 0.4, WordClass.NOUN: 0.08}
"""What a word counts when two procedures are compared.

Function words .3 to .5 and nouns .05 to .1 are a plateau: more for nouns brings back the domain (hit@1 against decoys
that share nouns falls from .65 to .61 at .2), none for nouns cannot tell two objects apart.
"""

PAIR_WEIGHT = 0.5
"""What two neighbours count, as a share of their mean weight, with nouns masked: "is converted into", "split N by".

.35 to .7 is a plateau; without pairs hit@1 falls by .02 to .04 on every set of procedures.
"""

_MASK = "\N{WHITE SQUARE}"


@dataclass(frozen=True)
class Term:
    """A stem of a text, or a pair of neighbours: its largest weight, its first position (0 at the start, 1 at the end).

    `count` is how often the stem occurs if it is a content word; 0 for function words and pairs.
    """

    stem: str
    weight: float
    position: float
    count: int


@dataclass(frozen=True)
class Profile:
    """The compared words of one side, whether it tells steps, the digest of its normalised context, its outline."""

    terms: tuple[Term, ...]
    has_steps: bool
    digest: str
    outline: Outline = field(default_factory=Outline)

    def to_json(self) -> str:
        """The text that is stored."""
        rows = [[t.stem, t.weight, t.position, t.count] for t in self.terms]
        data = {
            "v": ANALYSIS_VERSION,
            "steps": self.has_steps,
            "digest": self.digest,
            "terms": rows,
            "lines": self.outline.to_list(),
        }
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | None) -> Profile | None:
        """The stored profile; None if there is none, or another version of the analysis made it."""
        try:
            data = json.loads(text or "null")
            if data["v"] != ANALYSIS_VERSION:
                return None
            terms = tuple(Term(str(s), float(w), float(p), int(c)) for s, w, p, c in data["terms"])
            outline = Outline.from_list([str(line) for line in data["lines"]])
            return cls(terms, bool(data["steps"]), str(data["digest"]), outline)
        except (ValueError, KeyError, TypeError):
            return None


def profile_of(domain: str, task: str, steps: Iterable[str]) -> Profile:
    """The profile of a task with its steps; either may be empty."""
    told = [step for step in steps if step.strip()]
    outline = outline_of(task, told)
    words = [word for text in (task, *told) for word in words_of(text, outline.language)]
    last = max(1, len(words) - 1)
    terms: dict[str, Term] = {}
    for i, word in enumerate(words):
        content = word.kind != WordClass.FUNCTION
        _add(terms, Term(word.key, WEIGHTS[word.kind], round(i / last, 4), int(content)))
    for i, (left, right) in enumerate(pairwise(words)):
        if left.kind != WordClass.NOUN or right.kind != WordClass.NOUN:
            weight = PAIR_WEIGHT * (WEIGHTS[left.kind] + WEIGHTS[right.kind]) / 2
            _add(terms, Term(f"{_masked(left)} {_masked(right)}", round(weight, 4), round(i / last, 4), 0))
    return Profile(tuple(terms.values()), bool(told), context_digest(domain, task, told), outline)


def _masked(word: Word) -> str:
    return _MASK if word.kind == WordClass.NOUN else word.key


def _add(terms: dict[str, Term], term: Term) -> None:
    """Enters a term, or counts it again: the first position and the largest weight stay."""
    known = terms.get(term.stem)
    if known:
        weight = max(known.weight, term.weight)
        term = Term(known.stem, weight, known.position, known.count + term.count)
    terms[term.stem] = term


def profile_of_skill(skill: Skill) -> Profile:
    """The profile of a skill: its task and its steps; name and description where it has neither."""
    steps = [step.full_text for step in skill.procedure]
    told = skill.task if skill.task or steps else f"{skill.name}\n{skill.description}".strip()
    profile = profile_of(skill.domain, told, steps)
    return replace(
        profile, digest=context_digest(skill.domain, skill.task, steps), outline=outline_of(skill.task, steps)
    )


def profile_of_context(context: Context) -> Profile:
    """The profile of a task to recall for: its text and, if given, its planned steps."""
    return profile_of(context.domain, context.task, planned_steps(context))


def planned_steps(context: Context) -> list[str]:
    """The texts of the steps that a context plans, read as those of a trace are."""
    return [step.full_text for step in extract_procedure(ExecutionTrace(steps=context.steps))]


def words_by_stem(context: Context) -> dict[str, str]:
    """The first word of a task with each stem, as people read it."""
    found: dict[str, str] = {}
    for text in (context.task, *planned_steps(context)):
        for word in words_of(text):
            found.setdefault(word.key, word.text)
    return found


def semantic_text(domain: str, task: str, steps: Iterable[str]) -> str:
    """The text that is embedded: task and steps, one a line."""
    return "\n".join(part for part in (task, *steps) if part.strip()) or domain


def context_digest(domain: str, task: str, steps: Iterable[str]) -> str:
    """Digest of the normalised context; its steps count only where there is no task."""
    told = [normalise(task)] if task.strip() else [normalise(step) for step in steps]
    return digest(normalise(domain), *told)
