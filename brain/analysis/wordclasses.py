"""What does a word do in its sentence? Verb, modifier, function word or noun, told from a word list and its neighbours.

What is done (verbs) and how the steps hang together (function words) tells procedures apart; what it is done to
(nouns) tells domains apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from brain.analysis.english import (
    AUXILIARIES,
    DETERMINERS,
    FUNCTION_WORDS,
    NEGATIONS,
    PREPOSITIONS,
    PRONOUNS,
)
from brain.analysis.languages import language, language_of
from brain.analysis.lexicon import can_be_modifier, can_be_noun, can_be_verb, verb_lemma
from brain.analysis.words import CACHED_WORDS, han_characters, normalise, stem, tokens

KEPT_LINES, LONGEST_KEPT = 1_024, 1_000
"""Lines of which the words are remembered, and characters of the longest such line, because outline, terms and triggers
are made of the same words. At most 5 MB."""

_CLAUSE = re.compile(r"[.,;:!?()\[\]{}\n\"…→•|]+|\s[-–—/]\s")

_NOUN_FOLLOWS = DETERMINERS | {"of", "in", "for", "with"}
_VERB_FOLLOWS = AUXILIARIES | PRONOUNS | {"", "to", "then"}
_FOLLOWS_VERB = DETERMINERS | PREPOSITIONS | {"it", "them", "him", "us", "me"}


class WordClass(StrEnum):
    """The four classes that are told apart. A word that cannot be told is a noun."""

    VERB = "V"
    MODIFIER = "A"
    FUNCTION = "F"
    NOUN = "N"

    __hash__ = str.__hash__  # equal to its letter, so hashed as its letter; that of `Enum` is ten times slower


@dataclass(frozen=True)
class Word:
    """A word of a text: as it stands (normalised), what it is compared by, and its class."""

    text: str
    key: str
    kind: WordClass


def words_of(text: str, language_name: str | None = None) -> Sequence[Word]:
    """The words of `text` in order. A verb is compared by the stem of its base form, any other by its own stem.

    `language_name` is what `language_of` says of the whole that `text` is a part of; by default it is told from `text`.
    """
    name = language_of(text) if language_name is None else language_name
    plain = normalise(text)
    return _known_words(plain, name) if len(plain) <= LONGEST_KEPT else _words(plain, name)


def _words(plain: str, name: str) -> tuple[Word, ...]:
    """The words of a normalised text."""
    code = language(name).name
    found: list[Word] = []
    for clause in _CLAUSE.split(plain):
        words = tokens(clause)
        for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
            verb, other = _readings(word, code)
            found.append(verb if verb is other or _is_verb_between(before, word, after) else other)
        found += [_word(char, WordClass.NOUN) for char in han_characters(clause) if char not in language(code).function]
    return tuple(found)


_known_words = lru_cache(maxsize=KEPT_LINES)(_words)


@lru_cache(maxsize=CACHED_WORDS)
def _readings(text: str, code: str) -> tuple[Word, Word]:
    """A word read as a verb, and read otherwise; one and the same where its neighbours do not matter."""
    alone = _class_alone(text, code)
    if alone is not None:
        word = _word(text, alone)
        return word, word
    return _word(text, WordClass.VERB), _word(text, WordClass.NOUN if can_be_noun(text) else WordClass.MODIFIER)


def _class_alone(text: str, code: str) -> WordClass | None:
    """The class of a normalised word wherever it stands; None if it can be a verb and something else."""
    if text in language(code).function:
        return WordClass.FUNCTION
    if text in NEGATIONS:
        return WordClass.MODIFIER
    if text in FUNCTION_WORDS:
        return WordClass.FUNCTION
    noun, modifier = can_be_noun(text), can_be_modifier(text)
    if can_be_verb(text):
        return None if noun or modifier else WordClass.VERB
    return WordClass.NOUN if noun or not modifier else WordClass.MODIFIER


def _is_verb_between(before: str, word: str, after: str) -> bool:
    """Whether a word that can be a verb or something else is one between its neighbours (empty at a clause's ends)."""
    if before in _NOUN_FOLLOWS:
        return False
    return before in _VERB_FOLLOWS or after in _FOLLOWS_VERB or word.endswith("ed")


def _word(text: str, kind: WordClass) -> Word:
    return Word(text, stem(verb_lemma(text) if kind == WordClass.VERB else text), kind)
