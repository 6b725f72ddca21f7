"""Which structures and patterns does a text name? The guide's keyword tables, matched by whole words."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from brain.analysis.wordclasses import is_verb_like
from brain.analysis.words import stem, tokens

Rules = Literal["inflected", "guide"]


@dataclass(frozen=True)
class _Phrase:
    """A trigger: its words (stems under the inflected rules), and whether it counts only as a verb."""

    words: tuple[str, ...]
    verb_only: bool


@dataclass(frozen=True)
class _Trigger:
    name: str
    phrases: tuple[_Phrase, ...]


def structures_in(text: str, rules: Rules = "inflected") -> list[str]:
    """The task structures that `text` names, in the order of the guide's table."""
    return _names_in(text, "structures", rules)


def patterns_in(text: str, rules: Rules = "inflected") -> list[str]:
    """The cognitive patterns that `text` names, in the order of the guide's list."""
    return _names_in(text, "patterns", rules)


def known_structures() -> tuple[str, ...]:
    """The ten task structures."""
    return tuple(trigger.name for trigger in _table("structures", "guide"))


def known_patterns() -> tuple[str, ...]:
    """The ten cognitive patterns."""
    return tuple(trigger.name for trigger in _table("patterns", "guide"))


def _names_in(text: str, table: str, rules: Rules) -> list[str]:
    words = tokens(text)
    comparable = [stem(word) for word in words] if rules == "inflected" else words
    places: dict[str, list[int]] = {}
    for i, word in enumerate(comparable):
        places.setdefault(word, []).append(i)
    return [
        trigger.name
        for trigger in _table(table, rules)
        if any(_occurs(phrase, words, comparable, places) for phrase in trigger.phrases)
    ]


def _occurs(phrase: _Phrase, words: list[str], comparable: list[str], places: dict[str, list[int]]) -> bool:
    length = len(phrase.words)
    for i in places.get(phrase.words[0], ()):
        if tuple(comparable[i : i + length]) == phrase.words and not (phrase.verb_only and not _verb_at(words, i)):
            return True
    return False


def _verb_at(words: list[str], i: int) -> bool:
    return is_verb_like(words[i], words[i - 1] if i else "", words[i + 1] if i + 1 < len(words) else "")


@cache
def _table(table: str, rules: Rules) -> tuple[_Trigger, ...]:
    data = tomllib.loads(files("brain.analysis").joinpath("keywords.toml").read_text("utf-8"))
    triggers = []
    for name, row in data[table].items():
        if rules == "guide":
            phrases = [_Phrase(tuple(tokens(text)), verb_only=False) for text in row["guide"]]
        else:
            phrases = [
                _Phrase(tuple(stem(word) for word in tokens(text)), text in row.get("noun", ()))
                for text in row["guide"] + row["more"]
            ]
        triggers.append(_Trigger(name, tuple(phrases)))
    return tuple(triggers)
