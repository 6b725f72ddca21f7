"""Which structures and patterns does a text name? The guide's keyword tables, matched by whole words."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from brain.analysis.lexicon import can_be_verb, inflects
from brain.analysis.wordclasses import Word, WordClass, words_of
from brain.analysis.words import tokens

Rules = Literal["inflected", "guide"]


@dataclass(frozen=True)
class _Phrase:
    """A trigger: its words, and whether it counts only where it is used as a verb."""

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
    words = words_of(text)
    matches = _inflected if rules == "inflected" else _as_it_stands
    return [
        trigger.name for trigger in _table(table, rules) if any(matches(phrase, words) for phrase in trigger.phrases)
    ]


def _as_it_stands(phrase: _Phrase, words: Sequence[Word]) -> bool:
    length = len(phrase.words)
    return any(tuple(word.text for word in words[i : i + length]) == phrase.words for i in range(len(words)))


def _inflected(phrase: _Phrase, words: Sequence[Word]) -> bool:
    """Whether the phrase occurs; its first word, which carries the inflection, in any form."""
    first, *rest = phrase.words
    for i, word in enumerate(words):
        if not inflects(word.text, first) or [w.text for w in words[i + 1 : i + len(phrase.words)]] != rest:
            continue
        if not phrase.verb_only or word.kind == WordClass.VERB:
            return True
    return False


@cache
def _table(table: str, rules: Rules) -> tuple[_Trigger, ...]:
    data = tomllib.loads(files("brain.analysis").joinpath("keywords.toml").read_text("utf-8"))
    triggers = []
    for name, row in data[table].items():
        texts = row["guide"] if rules == "guide" else row["guide"] + row["more"]
        verbs = {text for text in texts if " " not in text and can_be_verb(text)} - set(row.get("any", ()))
        triggers.append(_Trigger(name, tuple(_Phrase(tuple(tokens(text)), text in verbs) for text in texts)))
    return tuple(triggers)
