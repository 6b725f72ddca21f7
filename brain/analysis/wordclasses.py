"""How much does a word say about a procedure? Weights by word class, told from the word and its neighbours.

What is done (verbs) and how the steps hang together (function words) tells procedures apart; what it is done to
(nouns) tells domains apart. So verbs weigh most and nouns least when two procedures are compared.
"""

from __future__ import annotations

import re

from brain.analysis.words import normalise, stem, tokens

VERB, MODIFIER, FUNCTION, NOUN = 1.0, 0.7, 0.3, 0.1
"""Weights of verbs, of adjectives and adverbs, of function words, of nouns and unknown words."""

_CLAUSE = re.compile(r"[.,;:!?()\[\]{}\n…→•|/]+|\s[-–—]\s")

DETERMINERS = frozenset(
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
_PRONOUNS = frozenset(("i you he she it we they who that them him us me").split())
_CONNECTIVES = frozenset(
    ("and or but so then if when while because once where how nor also too again there here").split()
)
NEGATIONS = frozenset(("not no never none nothing cannot can't don't without except unless").split())
"""Words that turn a step around: they count as content everywhere."""
FUNCTION_WORDS = (DETERMINERS | _PREPOSITIONS | _AUXILIARIES | _PRONOUNS | _CONNECTIVES) - NEGATIONS

_BEFORE_A_VERB = _PRONOUNS | (_AUXILIARIES - {"is", "are", "was", "were"}) | {"to", "and", "or", "then", "please"}
_VERB_ENDING = re.compile(r".{3,}(?:ing|ed|ify|ifies|ize|izes|ise|ises)$")
_MODIFIER_ENDING = re.compile(r".{2,}(?:ly|ous|ive|ful|less|able|ible|ical|ic|ary)$")


def weighted_words(text: str) -> list[tuple[str, float]]:
    """(stem, weight) of each word of `text` in order; weights as above."""
    found: list[tuple[str, float]] = []
    for clause in _CLAUSE.split(normalise(text)):
        words = tokens(clause)
        for i, word in enumerate(words):
            found.append(
                (stem(word), _weight(word, words[i - 1] if i else "", words[i + 1] if i + 1 < len(words) else ""))
            )
    return found


def is_verb_like(word: str, before: str, after: str) -> bool:
    """Whether a content word is used as a verb: it opens a clause, follows what verbs follow, or ends like one."""
    if before in DETERMINERS or before in _PREPOSITIONS - {"to"}:
        return bool(re.search(r"ing$", word)) and after in DETERMINERS
    if not before or before in _BEFORE_A_VERB:
        return before != "to" or after != ""
    return bool(_VERB_ENDING.match(word)) or after in DETERMINERS


def _weight(word: str, before: str, after: str) -> float:
    if word in NEGATIONS:
        return MODIFIER
    if word in FUNCTION_WORDS:
        return FUNCTION
    if is_verb_like(word, before, after):
        return VERB
    return MODIFIER if _MODIFIER_ENDING.match(word) else NOUN
