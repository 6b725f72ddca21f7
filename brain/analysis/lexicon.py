"""Which word classes can an English word have? A word list that ships with the package (see english.LICENCE).

Words that are not listed are taken for nouns, as are the words of every other language.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files

from brain.analysis.words import stem

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
    return word in _words()


def verb_lemma(word: str) -> str:
    """The base form of a verb ("wrote" → "write"); the word itself if it is none, or is one."""
    lemmas = _entry(word)[1]
    return lemmas[0] if lemmas else word


def inflects(word: str, base: str) -> bool:
    """Whether `word` is `base` or an inflection of it: a form of the verb, or its plural.

    For words that are not listed, whether they share a stem.
    """
    if word == base or base in _entry(word)[1] or word in (f"{base}s", f"{base}es"):
        return True
    return word not in _words() and stem(word) == stem(base)


def _entry(word: str) -> Entry:
    return _words().get(word, _UNLISTED)


@cache
def _words() -> dict[str, Entry]:
    """Word → its classes (v, n, a for adjective or adverb, x for auxiliary) and the lemmas it is a verb form of."""
    found: dict[str, Entry] = {}
    text = gzip.decompress(files("brain.analysis").joinpath("english.tsv.gz").read_bytes()).decode()
    for line in text.splitlines():
        word, classes, *lemmas = line.split("\t")
        found[word] = (classes, tuple(lemmas[0].split("/")) if lemmas else ())
    return found
