"""Which structures and patterns does a text name? The guide's keyword tables, matched by whole words."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal

from brain.analysis.lexicon import bases, can_be_verb, is_listed
from brain.analysis.wordclasses import Word, WordClass, words_of
from brain.analysis.words import CACHED_WORDS, stem, tokens

Rules = Literal["inflected", "guide"]


@dataclass(frozen=True)
class _Phrase:
    """A trigger: its words, and whether it counts only where it is used as a verb."""

    words: tuple[str, ...]
    verb_only: bool


def structures_and_patterns_in(text: str, rules: Rules = "inflected") -> tuple[list[str], list[str]]:
    """The task structures and the cognitive patterns that `text` names, each in the order of the guide's list."""
    words = words_of(text)
    return _names_in(words, "structures", rules), _names_in(words, "patterns", rules)


def known_structures() -> tuple[str, ...]:
    """The ten task structures."""
    return tuple(_table("structures", "guide"))


def known_patterns() -> tuple[str, ...]:
    """The ten cognitive patterns."""
    return tuple(_table("patterns", "guide"))


def _names_in(words: Sequence[Word], table: str, rules: Rules) -> list[str]:
    found = {
        name
        for i, word in enumerate(words)
        for name, phrase in _starting_with(word.text, table, rules)
        if _occurs(phrase, words, i)
    }
    return [name for name in _table(table, rules) if name in found]


def _occurs(phrase: _Phrase, words: Sequence[Word], i: int) -> bool:
    """Whether the words from `i` on are the phrase; its first word is known to match."""
    if phrase.verb_only and words[i].kind != WordClass.VERB:
        return False
    return all(i + j < len(words) and words[i + j].text == wanted for j, wanted in enumerate(phrase.words) if j)


@lru_cache(maxsize=CACHED_WORDS)
def _starting_with(word: str, table: str, rules: Rules) -> tuple[tuple[str, _Phrase], ...]:
    """The phrases whose first word, which carries the inflection, is `word`, each with the name that it tells.

    A word that is not listed inflects what shares its stem.
    """
    known = _by_first_word(table, rules)
    if rules == "guide":
        return known.get(word, ())
    like = () if is_listed(word) else _first_words_by_stem(table).get(stem(word), ())
    return tuple(phrase for base in dict.fromkeys((*bases(word), *like)) for phrase in known.get(base, ()))


@cache
def _by_first_word(table: str, rules: Rules) -> dict[str, tuple[tuple[str, _Phrase], ...]]:
    found: dict[str, list[tuple[str, _Phrase]]] = {}
    for name, phrases in _table(table, rules).items():
        for phrase in phrases:
            found.setdefault(phrase.words[0], []).append((name, phrase))
    return {word: tuple(phrases) for word, phrases in found.items()}


@cache
def _first_words_by_stem(table: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in _by_first_word(table, "inflected"):
        found.setdefault(stem(word), []).append(word)
    return found


@cache
def _table(table: str, rules: Rules) -> dict[str, tuple[_Phrase, ...]]:
    """Name of a structure or pattern -> its phrases."""
    data = tomllib.loads(files("brain.analysis").joinpath("keywords.toml").read_text("utf-8"))
    found = {}
    for name, row in data[table].items():
        texts = row["guide"] if rules == "guide" else row["guide"] + row["more"]
        verbs = (
            set()
            if rules == "guide"
            else {t for t in texts if " " not in t and can_be_verb(t)} - set(row.get("any", ()))
        )
        found[name] = tuple(_Phrase(tuple(tokens(text)), text in verbs) for text in texts)
    return found
