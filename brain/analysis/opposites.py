"""Do two lines say the opposite? Told from short word lists, prefixes that turn a word around, and numbers."""

from __future__ import annotations

from functools import cache, lru_cache

from brain.analysis.languages import ENGLISH, Language, language
from brain.analysis.lexicon import verb_lemma
from brain.analysis.outline import Line
from brain.analysis.words import stem_in

_SHORTEST_TURNED, _SHORTEST_SWAPPED = 4, 3


def say_opposites(left: Line, right: Line, told: Language) -> bool:
    """Whether one line has a word where the other has its opposite, or numbers differ."""
    if told.unspaced:
        mine, theirs = "".join(left.keys), "".join(right.keys)
        return any(a in mine and a not in theirs and b in theirs and b not in mine for a, b in told.opposites)
    mine_alone, theirs_alone = set(left.keys) - set(right.keys), set(right.keys) - set(left.keys)
    return any(_opposite(word, other, told.name) for word in mine_alone for other in theirs_alone)


@lru_cache(maxsize=65_536)
def _opposite(word: str, other: str, code: str) -> bool:
    if (word, other) in _listed(code) or (word.isdecimal() and other.isdecimal()):
        return True
    told = language(code)
    short, long = sorted((word, other), key=len)
    if len(short) >= _SHORTEST_TURNED and any(long == prefix + short for prefix in told.turning):
        return True
    return any(
        word.startswith(a) and other.startswith(b) and word[len(a) :] == other[len(b) :] != ""
        for a, b in told.swapped
        if len(word) - len(a) >= _SHORTEST_SWAPPED
    )


@cache
def _listed(code: str) -> frozenset[tuple[str, str]]:
    """The listed opposites, as words are compared: function words as they stand, others by their stems."""
    pairs = language(code).opposites
    stems = [(stem_in(a, code), stem_in(b, code)) for a, b in pairs]
    lemmas = [(_lemma_stem(a, code), _lemma_stem(b, code)) for a, b in pairs]
    return frozenset([*pairs, *stems, *lemmas])


def _lemma_stem(word: str, code: str) -> str:
    return stem_in(verb_lemma(word) if code == ENGLISH else word, code)
