"""What does a word do in its sentence? Verb, modifier, function word or noun, told from a word list and its neighbours.

What is done (verbs) and how the steps hang together (function words) tells procedures apart; what it is done to
(nouns) tells domains apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from brain.analysis.lexicon import can_be_modifier, can_be_noun, can_be_verb, verb_lemma
from brain.analysis.words import normalise, stem, tokens

_CLAUSE = re.compile(r"[.,;:!?()\[\]{}\n\"…→•|]+|\s[-–—/]\s")

_DETERMINERS = frozenset(
    (
        "a an the this that these those each every all any some both either neither another other its his her their "
        "our my your which what whose"
    ).split()
)
_PREPOSITIONS = frozenset(
    (
        "of in on at by for with from into onto to through between among against across over under during before "
        "after about above below within without until per via as than like near toward towards upon inside outside"
    ).split()
)
_AUXILIARIES = frozenset(
    (
        "is are was were be been being am has have had having do does did will would can could may might must shall "
        "should"
    ).split()
)
_PRONOUNS = frozenset("i you he she it we they who that them him us me".split())
_CONNECTIVES = frozenset(
    "and or but so then if when while because once where how nor also too again there here".split()
)
NEGATIONS = frozenset("not no never none nothing cannot can't don't without except unless".split())
"""Words that turn a step around: they count as modifiers."""
FUNCTION_WORDS = (_DETERMINERS | _PREPOSITIONS | _AUXILIARIES | _PRONOUNS | _CONNECTIVES) - NEGATIONS

_NOUN_FOLLOWS = _DETERMINERS | {"of", "in", "for", "with"}
_VERB_FOLLOWS = _AUXILIARIES | _PRONOUNS | {"", "to", "then"}
_FOLLOWS_VERB = _DETERMINERS | _PREPOSITIONS | {"it", "them", "him", "us", "me"}


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


def words_of(text: str) -> list[Word]:
    """The words of `text` in order. A verb is compared by the stem of its base form, any other by its own stem."""
    found = []
    for clause in _CLAUSE.split(normalise(text)):
        words = tokens(clause)
        for i, word in enumerate(words):
            kind = class_of(word, words[i - 1] if i else "", words[i + 1] if i + 1 < len(words) else "")
            found.append(Word(word, stem(verb_lemma(word) if kind == WordClass.VERB else word), kind))
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
