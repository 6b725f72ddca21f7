"""Which language is a text in, and what does that language say "not" with? Told from its script and function words."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from brain.analysis.english import FUNCTION_WORDS
from brain.analysis.lexicon import is_listed
from brain.analysis.words import normalise

ENGLISH = "en"
LEAST_SCRIPT = 0.2
"""Share of the letters that tells a script: a Greek symbol or a foreign name in a text is less."""

_KANA = re.compile("[぀-ヿ]")
_SCRIPTS = (
    ("zh", re.compile("[぀-ヿ㐀-鿿]")),
    ("ru", re.compile("[Ѐ-ӿ]")),
    ("ar", re.compile("[؀-ۿ]")),
    ("other", re.compile("[Ͱ-Ͽ\u0530-\u05ff\u0700-\u1dbf가-힯]")),
)
_LATIN = (ENGLISH, "de", "es", "fr")  # the first wins a draw
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Language:
    """The word lists of one language (see languages.toml); `opposites` holds both orders of each pair."""

    name: str
    function: frozenset[str]
    dropped: frozenset[str]
    negation: re.Pattern[str]
    apart: re.Pattern[str]
    opposites: tuple[tuple[str, str], ...]
    turning: tuple[str, ...]
    swapped: tuple[tuple[str, str], ...]
    directions: frozenset[str]
    unspaced: bool

    def negations(self, text: str) -> int:
        """How often a normalised text says "not"."""
        if not self.unspaced and not self.negation.search(text):
            return 0  # most texts; where words have spaces between them, taking out what is apart makes no new match
        return len(self.negation.findall(self.apart.sub(" ", text)))


def language_of(text: str) -> str:
    """Code of the language; empty for Latin script without a word that tells it, "other" for scripts not known here."""
    text = normalise(text)
    name = "" if text.isascii() else _script_of(text)
    return name or _latin_language_of(text)


def _script_of(text: str) -> str:
    """Language code of the script that a normalised text is in; empty for the Latin one."""
    letters = sum(map(str.isalpha, text))
    for name, script in _SCRIPTS:
        if len(script.findall(text)) > LEAST_SCRIPT * letters:
            return "ja" if name == "zh" and _KANA.search(text) else name
    return ""


def _latin_language_of(text: str) -> str:
    telling = _telling_words()
    told = [word for word in _WORD.findall(text) if word in telling]
    hits = dict.fromkeys(_LATIN, 0)
    for word in told:
        for name in telling[word]:
            hits[name] += 1
    unmistakable = {name for word in told if not is_listed(word) for name in telling[word]}
    for name in _LATIN[1:]:
        if name not in unmistakable:
            hits[name] = 0  # "pour", "die" and "son" are English words
    best = max(hits, key=lambda name: hits[name])
    if hits[best]:
        return best
    return next((name for name in _LATIN if language(name).negations(text)), "")


@cache
def _telling_words() -> dict[str, tuple[str, ...]]:
    """The function words of more than one letter, each with the languages in Latin script that have it."""
    words = {word for name in _LATIN for word in language(name).function if len(word) > 1}
    return {word: tuple(name for name in _LATIN if word in language(name).function) for word in words}


@cache
def language(name: str) -> Language:
    """The word lists of a language; those of English for a Latin script whose language is not told."""
    if name not in _data():
        name = ENGLISH
    row = _data()[name]
    unspaced = bool(row.get("unspaced"))

    def words(text: str) -> frozenset[str]:
        return frozenset(normalise(text) if unspaced else normalise(text).split())

    return Language(
        name=name,
        function=FUNCTION_WORDS if name == ENGLISH else words(row["function"]),
        dropped=words(row["dropped"]),
        negation=re.compile(row["negation"]),
        apart=re.compile(row["apart"]),
        opposites=_pairs(row["opposites"]),
        turning=tuple(normalise(prefix) for prefix in row.get("turning", ())),
        swapped=_pairs(row.get("swapped", "")),
        directions=frozenset(row.get("directions", "").split()),
        unspaced=unspaced,
    )


def is_known(name: str) -> bool:
    """Whether it is known what this language negates with; empty (Latin script) counts as known."""
    return not name or name in _data()


def agree(name: str, other: str) -> bool:
    """Whether two texts can be in one language; one in Latin script without a telling word agrees with any of those."""
    return name == other or ("" in (name, other) and {name, other} - {""} <= set(_LATIN))


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    given = [pair.split("/") for pair in normalise(text).split()]
    return tuple((a, b) for a, b in given) + tuple((b, a) for a, b in given)


@cache
def _data() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("brain.analysis").joinpath("languages.toml").read_text("utf-8"))
