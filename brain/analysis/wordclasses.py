"""What does a word do in its sentence? Verb, modifier, function word or noun, told from a word list and its neighbours.

What is done (verbs) and how the steps hang together (function words) tells procedures apart; what it is done to
(nouns) tells domains apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

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
from brain.analysis.words import han_characters, normalise, stem, tokens

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


@dataclass(frozen=True)
class Word:
    """A word of a text: as it stands (normalised), what it is compared by, and its class."""

    text: str
    key: str
    kind: WordClass


def words_of(text: str, language_name: str | None = None) -> list[Word]:
    """The words of `text` in order. A verb is compared by the stem of its base form, any other by its own stem.

    `language_name` is what `language_of` says of the whole that `text` is a part of; by default it is told from `text`.
    """
    told = language(language_of(text) if language_name is None else language_name)
    found = []
    for clause in _CLAUSE.split(normalise(text)):
        words = tokens(clause)
        for i, word in enumerate(words):
            kind = class_of(word, words[i - 1] if i else "", words[i + 1] if i + 1 < len(words) else "")
            if word in told.function:
                kind = WordClass.FUNCTION
            found.append(Word(word, stem(verb_lemma(word) if kind == WordClass.VERB else word), kind))
        found += [Word(char, char, WordClass.NOUN) for char in han_characters(clause) if char not in told.function]
    return found


def class_of(word: str, before: str, after: str) -> WordClass:
    """The class of a normalised word between its neighbours in the clause (empty at its ends)."""
    if word in NEGATIONS:
        return WordClass.MODIFIER
    if word in FUNCTION_WORDS:
        return WordClass.FUNCTION
    other = WordClass.NOUN if can_be_noun(word) else WordClass.MODIFIER
    if not can_be_verb(word):
        return WordClass.NOUN if not can_be_modifier(word) else other
    if not can_be_noun(word) and not can_be_modifier(word):
        return WordClass.VERB
    if before in _NOUN_FOLLOWS:
        return other
    if word.endswith("ed") or before in _VERB_FOLLOWS or after in _FOLLOWS_VERB:
        return WordClass.VERB
    return other
