"""What does each step of a procedure say? `Outline`: the words of a task and of its steps, line by line.

It is kept in the stored profile, so that two procedures are compared step by step without their texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from brain.analysis.languages import Language, language, language_of
from brain.analysis.vocabulary import LEAST_PREFIX, Vocabulary, starts_of
from brain.analysis.wordclasses import WordClass, words_of
from brain.analysis.words import CACHED_WORDS, normalise, stem_in

PLACE = 32
"""Bits between the places of two lines: more than enough for the words of one."""

_NEGATION = "!"
_FUNCTION, _VERB = WordClass.FUNCTION, WordClass.VERB  # read for every word: ten times faster than from the class
_JAPANESE_PIECE = re.compile("[㐀-鿿]|[ァ-ヿ]{2,}|[a-z0-9]+|[ぁ-ゖ]+")
_HIRAGANA = re.compile("[ぁ-ゖ]+")
_CHINESE_PIECE = re.compile("[㐀-鿿]|[a-z0-9]+")
_ARTICLE = re.compile("^(?:وال|بال|كال|لل|ال|و(?=....))")
_ELISION = re.compile(r"\b(?:qu|[ldnsjcmt])['’]")


@dataclass(frozen=True)
class Line:
    """The words of a task or step in order, each its class's letter and what it is compared by; times it says "not"."""

    words: tuple[str, ...]
    negations: int

    @cached_property
    def content(self) -> tuple[str, ...]:
        """What the content words are compared by, in order."""
        return tuple([word[1:] for word in self.words if word[0] != _FUNCTION])

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The content words, to look others up in."""
        return Vocabulary(self.content)

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The content words that are known to be verbs."""
        return frozenset([word[1:] for word in self.words if word[0] == _VERB])

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """What all words are compared by, in order."""
        return tuple(word[1:] for word in self.words)

    def after(self, function_word: str) -> frozenset[str]:
        """The content words between the first use of `function_word` and the next function word behind them."""
        if _FUNCTION + function_word not in self.words:
            return frozenset()
        found: list[str] = []
        start = self.words.index(_FUNCTION + function_word) + 1
        for word in self.words[start:]:
            if word[0] != _FUNCTION:
                found.append(word[1:])
            elif found:
                break
        return frozenset(found)

    def to_text(self) -> str:
        """The form that is stored."""
        return _NEGATION * self.negations + " ".join(self.words)

    @classmethod
    def from_text(cls, text: str) -> Line:
        """The line of a stored form."""
        words = text.lstrip(_NEGATION)
        return cls(tuple(words.split(" ")) if words else (), len(text) - len(words))


@dataclass(frozen=True)
class Outline:
    """The language of a text ("" if it is not told), its task and its steps."""

    language: str = ""
    task: Line = Line((), 0)
    steps: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """Task and steps."""
        return (self.task, *self.steps)

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return not any(line.words for line in self.lines)

    @cached_property
    def content(self) -> tuple[str, ...]:
        """What the content words of all lines are compared by."""
        return tuple([word[1:] for line in self.lines for word in line.words if word[0] != _FUNCTION])

    @cached_property
    def starts(self) -> list[str]:
        """How the content words of all lines begin."""
        return starts_of(self.content)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The content words of all lines, to look others up in."""
        return Vocabulary(self.content)

    @cached_property
    def places(self) -> dict[str, int]:
        """The content words, each with its lines: a bit for each, the task's first, `PLACE` bits apart.

        Added up over the words of another line they count, for each line of this outline, how many of them it has.
        """
        found: dict[str, int] = {}
        for place, line in enumerate(self.lines):
            bit = 1 << (PLACE * place)
            for word in line.content:
                found[word] = found.get(word, 0) | bit
        return found

    @cached_property
    def by_start(self) -> dict[str, list[str]]:
        """The content words by how they begin: those that are akin begin alike."""
        found: dict[str, list[str]] = {}
        for word in self.places:
            found.setdefault(word[:LEAST_PREFIX], []).append(word)
        return found

    @cached_property
    def negations(self) -> int:
        """How often the steps say "not"."""
        return sum(step.negations for step in self.steps)

    def to_list(self) -> list[str]:
        """The form that is stored: language, task, steps."""
        return [self.language, *(line.to_text() for line in self.lines)]

    @classmethod
    def from_list(cls, data: Sequence[str]) -> Outline:
        """The outline of a stored form."""
        name, task, *steps = data
        return cls(name, Line.from_text(task), tuple(Line.from_text(step) for step in steps))


def outline_of(task: str, steps: Sequence[str]) -> Outline:
    """The outline of a task with its steps; either may be empty."""
    name = language_of("\n".join((task, *steps)))
    return Outline(name, _line(task, name), tuple(_line(step, name) for step in steps))


def _line(text: str, name: str) -> Line:
    told, plain = language(name), normalise(text)
    if told.unspaced:
        piece = _JAPANESE_PIECE if name == "ja" else _CHINESE_PIECE
        return Line(tuple(_piece(found, told) for found in piece.findall(plain)), told.negations(plain))
    said = _ELISION.sub(" ", plain) if name == "fr" else plain
    words = tuple([_said(word.text, word.key, word.kind, told.name) for word in words_of(said, name)])
    return Line(words, told.negations(plain))


def _piece(text: str, told: Language) -> str:
    function = text in told.dropped or _HIRAGANA.fullmatch(text)
    return (_FUNCTION if function else WordClass.NOUN) + text


@lru_cache(maxsize=CACHED_WORDS)
def _said(word: str, key: str, kind: WordClass, code: str) -> str:
    """The word as it stands in a line. Words that add nothing are function words, as are those that negate."""
    told = language(code)
    text = _ARTICLE.sub("", word) if code == "ar" else word
    if kind == _FUNCTION or text in told.dropped or told.negation.fullmatch(word):
        return _FUNCTION + text
    return kind + (key if code == "en" else stem_in(text, code))
