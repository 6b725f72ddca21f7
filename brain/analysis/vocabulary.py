"""Is a word among others, whatever its ending? `Vocabulary`: stems, found by themselves or by one akin to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

LEAST_PREFIX, LEAST_PREFIX_SHARE, LONGEST_ENDING = 4, 0.6, 1
"""Letters that two stems of one word share, as a number, as a share of the longer, and what the shorter may have left:
"deliv" and "deliveri" are one word, "compar" and "comput" are not. `LONGEST_ENDING` 0 loses one same pair (see
duplicates.py); 3 to 5 letters are a plateau."""


class Vocabulary:
    """A set of stems; `in` finds a stem that is akin to one of them as well."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)

    def __contains__(self, word: str) -> bool:
        if word in self._words:
            return True
        start = word[:LEAST_PREFIX]
        return start in self.starts and any(akin(word, other) for other in self._by_start[start])

    @cached_property
    def starts(self) -> frozenset[str]:
        """How the stems begin: one that begins otherwise is not akin to any."""
        return frozenset(starts_of(self._words))

    @cached_property
    def _by_start(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self._words:
            found.setdefault(word[:LEAST_PREFIX], []).append(word)
        return found


@lru_cache(maxsize=65_536)
def akin(word: str, other: str) -> bool:
    """Whether two stems are of one word: equal, or alike but for their endings."""
    if word == other:
        return True
    shorter, longer = sorted((len(word), len(other)))
    shared = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), shorter)
    return shared >= max(LEAST_PREFIX, LEAST_PREFIX_SHARE * longer, shorter - LONGEST_ENDING)


def starts_of(words: Iterable[str]) -> list[str]:
    """How each word begins: words that begin otherwise are not akin."""
    return [word[:LEAST_PREFIX] for word in words]


def covered(words: Sequence[str], others: Vocabulary) -> float:
    """Share of `words` that `others` have as well; 1 if there are none."""
    return sum([word in others for word in words]) / len(words) if words else 1.0
