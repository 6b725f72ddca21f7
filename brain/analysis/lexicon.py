"""Which word classes can an English word have? A word list that ships with the package (see english.LICENCE).

Words that are not listed are taken for nouns, as are the words of every other language.
"""

from __future__ import annotations

import gzip
from bisect import bisect_left
from functools import cache, lru_cache
from importlib.resources import files

from brain.analysis.words import CACHED_WORDS

Entry = tuple[str, tuple[str, ...]]

_UNLISTED: Entry = ("n", ())


def can_be_verb(word: str) -> bool:
    """Whether a normalised word is a form of a verb."""
    return "v" in _entry(word)[0]


def can_be_noun(word: str) -> bool:
    """Whether a normalised word is a noun; words that are not listed are."""
    return "n" in _entry(word)[0]


def can_be_modifier(word: str) -> bool:
    """Whether a normalised word is an adjective or adverb."""
    return "a" in _entry(word)[0]


def is_listed(word: str) -> bool:
    """Whether a normalised word is an English verb, noun, adjective or adverb."""
    return _entry(word) is not _UNLISTED


def verb_lemma(word: str) -> str:
    """The base form of a verb ("wrote" → "write"); the word itself if it is none, or is one."""
    lemmas = _entry(word)[1]
    return lemmas[0] if lemmas else word


def bases(word: str) -> tuple[str, ...]:
    """What a normalised word is or may be an inflection of: itself, a verb, or what it is the plural of."""
    plurals = [word[: -len(ending)] for ending in ("s", "es") if word.endswith(ending)]
    return (word, *_entry(word)[1], *plurals)


@lru_cache(maxsize=CACHED_WORDS)
def _entry(word: str) -> Entry:
    """The classes of a word (v, n, a for adjective or adverb, x for auxiliary), and the lemmas it is a verb form of."""
    lines, wanted = _lines(), f"{word}\t"
    place = bisect_left(lines, wanted)
    if place == len(lines) or not lines[place].startswith(wanted):
        return _UNLISTED
    _, classes, *lemmas = lines[place].split("\t")
    return classes, tuple(lemmas[0].split("/")) if lemmas else ()


@cache
def _lines() -> list[str]:
    """The word list, sorted. Looked up as it is, not made a dictionary: 8 ms instead of 50 for a new process."""
    return gzip.decompress(files("brain.analysis").joinpath("english.tsv.gz").read_bytes()).decode().split("\n")
