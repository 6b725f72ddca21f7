"""What of a text is compared? `Profile`: the weighted words of a task and its steps, made once and stored.

It is stored in two forms that only this module reads: its terms as bytes, which recall scores, and its outline as text,
which `learn` compares step by step. Both carry the version of the analysis that made them; those of another version are
made anew from the skill.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from brain.analysis.abstraction import extract_procedure
from brain.analysis.english import EMPTY
from brain.analysis.languages import language_of
from brain.analysis.outline import Outline, outline_of
from brain.analysis.terms import MOST_COUNTED, Term, Terms, pack
from brain.analysis.wordclasses import Word, WordClass, words_of
from brain.analysis.words import normalise
from brain.model.inputs import Context, ExecutionTrace
from brain.model.skill import Skill
from brain.model.text import digest

ANALYSIS_VERSION = 4
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
_FUNCTION, _NOUN = WordClass.FUNCTION, WordClass.NOUN  # read for every word: ten times faster than from the class


@dataclass(frozen=True)
class Profile:
    """The compared words of one side, whether it tells steps, the digest of its normalised context, its outline."""

    terms: tuple[Term, ...]
    has_steps: bool
    digest: str
    outline: Outline = field(default_factory=Outline)

    @cached_property
    def packed(self) -> Terms:
        """What recall scores of it."""
        return pack(self.terms, has_steps=self.has_steps, context_digest=self.digest)

    def to_bytes(self) -> bytes:
        """The terms as they are stored, for `stored_terms`."""
        return self.packed.to_bytes(ANALYSIS_VERSION)

    def to_text(self) -> str:
        """The outline as it is stored, for `stored_outline`."""
        data = {"v": ANALYSIS_VERSION, "lines": self.outline.to_list()}
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def stored_terms(data: bytes | None) -> Terms | None:
    """What recall scores of a stored profile; None if there is none, or another version of the analysis made it."""
    return Terms.from_bytes(data, ANALYSIS_VERSION)


def stored_outline(text: str | None) -> Outline | None:
    """The outline of a stored profile; None if there is none, or another version of the analysis made it."""
    try:
        data = json.loads(text or "null")
        return Outline.from_list([str(line) for line in data["lines"]]) if data["v"] == ANALYSIS_VERSION else None
    except (ValueError, KeyError, TypeError):
        return None


def profile_of(domain: str, task: str, steps: Iterable[str]) -> Profile:
    """The profile of a task with its steps; either may be empty."""
    told = [step for step in steps if step.strip()]
    outline = outline_of(task, told)
    terms = _terms_of(_words_in((task, *told), outline.language))
    return Profile(terms, bool(told), context_digest(domain, task, told), outline)


def _terms_of(words: Sequence[Word]) -> tuple[Term, ...]:
    """Each word once, then each pair of neighbours that are not two nouns."""
    last = max(1, len(words) - 1)
    terms: dict[str, Term] = {}
    for i, word in enumerate(words):
        content = word.kind != _FUNCTION and word.text not in EMPTY
        _add(terms, word.key, WEIGHTS[word.kind], i, last, content, word.kind == _NOUN)
    for i, (left, right) in enumerate(pairwise(words)):
        if left.kind != _NOUN or right.kind != _NOUN:
            weight = _pair_weight(left.kind, right.kind, PAIR_WEIGHT)
            _add(terms, f"{_masked(left)} {_masked(right)}", weight, i, last, False, False)
    return tuple(terms.values())


@lru_cache(maxsize=64)  # a pair of classes is one of 16
def _pair_weight(left: WordClass, right: WordClass, share: float) -> float:
    return round(share * (WEIGHTS[left] + WEIGHTS[right]) / 2, 4)


def _masked(word: Word) -> str:
    return _MASK if word.kind == _NOUN else word.key


@lru_cache(maxsize=16_384)  # places in texts of up to 180 words; a rounding takes 0.35 µs
def _position(place: int, last: int) -> float:
    return round(place / last, 4)


def _add(terms: dict[str, Term], stem: str, weight: float, place: int, last: int, content: bool, is_noun: bool) -> None:
    """Enters a term, or counts it again: the first position and the largest weight stay."""
    known = terms.get(stem)
    if known is None:
        terms[stem] = Term(stem, weight, _position(place, last), int(content), is_noun)
    elif content or weight > known.weight:
        count = min(known.count + content, MOST_COUNTED)
        noun = is_noun and (known.is_noun or not known.count)
        terms[stem] = Term(stem, max(known.weight, weight), known.position, count, noun)


def _words_in(texts: Iterable[str], language: str) -> list[Word]:
    return [word for text in texts for word in words_of(text, language)]


def profile_of_skill(skill: Skill) -> Profile:
    """The profile of a skill: its task and its steps; name and description where it has neither."""
    domain, task, steps = skill.domain, skill.task, [step.full_text for step in skill.procedure]
    profile = profile_of(domain, task if task or steps else f"{skill.name}\n{skill.description}".strip(), steps)
    if task and all(map(str.strip, steps)):
        return profile
    return replace(profile, digest=context_digest(domain, task, steps), outline=outline_of(task, steps))


def profile_of_context(context: Context) -> Profile:
    """The profile of a task to recall for: its text and, if given, its planned steps. It has no outline."""
    steps = [step for step in planned_steps(context) if step.strip()]
    terms = _terms_of(_words_in((context.task, *steps), language_of("\n".join((context.task, *steps)))))
    return Profile(terms, bool(steps), context_digest(context.domain, context.task, steps))


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
