"""Which step of one procedure is which of another? `Alignment`: each step beside the one that agrees with it best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from brain.analysis.languages import Language, language
from brain.analysis.outline import PLACE, Line, Outline
from brain.analysis.vocabulary import LEAST_PREFIX, akin, covered

SHARE_OF_LARGER = 0.3
"""What the better covered side of two steps counts beside the mean of both: two steps told as one are still found."""

_ONE_PLACE = (1 << PLACE) - 1


@dataclass(frozen=True)
class Partners:
    """Two lines side by side, and how far they agree, 0..1."""

    left: Line
    right: Line
    agreement: float


@dataclass(frozen=True)
class Alignment:
    """Two outlines in one language, each step of either side with its partner on the other."""

    left: Outline
    right: Outline

    @cached_property
    def language(self) -> Language:
        """The language of the two."""
        return language(self.left.language or self.right.language)

    @cached_property
    def found_of_left(self) -> dict[str, int]:
        """The words of the left, each with the lines of the right that have it (see `Outline.places`), 0 for none.

        Each word is looked up once for all pairs of lines: the same figures in a tenth of the time.
        """
        return _found(self.left, self.right)

    @cached_property
    def found_of_right(self) -> dict[str, int]:
        """The words of the right, each with the lines of the left that have it."""
        return _found(self.right, self.left)

    @cached_property
    def agreements(self) -> list[list[float]]:
        """Agreement of each step of the left with each of the right: `line_agreement` of every pair."""
        mine, theirs = self.left.steps, self.right.steps
        of_mine = [_counts(line, self.found_of_left, len(theirs)) for line in mine]
        of_theirs = [_counts(line, self.found_of_right, len(mine)) for line in theirs]
        return [
            [_agreement(left, right, of_mine[i][j], of_theirs[j][i]) for j, right in enumerate(theirs)]
            for i, left in enumerate(mine)
        ]

    @cached_property
    def partner_of_left(self) -> list[int]:
        """For each step of the left the place of the one on the right that agrees best."""
        return [_best_place(row, i / len(self.agreements)) for i, row in enumerate(self.agreements)]

    @cached_property
    def partner_of_right(self) -> list[int]:
        """For each step of the right the place of the one on the left that agrees best."""
        columns = list(zip(*self.agreements, strict=True))
        return [_best_place(column, j / len(columns)) for j, column in enumerate(columns)]

    @cached_property
    def of_left(self) -> list[Partners]:
        """Each step of the left with its partner."""
        return [self._partners(i, j) for i, j in enumerate(self.partner_of_left)]

    @cached_property
    def of_right(self) -> list[Partners]:
        """Each step of the right with its partner."""
        return [self._partners(i, j) for j, i in enumerate(self.partner_of_right)]

    @cached_property
    def partners(self) -> list[Partners]:
        """The steps of both sides with their partners; two that are each other's once."""
        back = [self._partners(i, j) for j, i in enumerate(self.partner_of_right) if self.partner_of_left[i] != j]
        return [*self.of_left, *back]

    @cached_property
    def tasks(self) -> Partners | None:
        """The two tasks; None where one is not told."""
        mine, theirs = self.left.task, self.right.task
        return Partners(mine, theirs, line_agreement(mine, theirs)) if mine.words and theirs.words else None

    @cached_property
    def everywhere(self) -> list[Partners]:
        """Steps and tasks."""
        return [*self.partners, *([self.tasks] if self.tasks else [])]

    @cached_property
    def differing(self) -> list[Partners]:
        """Steps and tasks that are not equal word for word, as in near misses most are."""
        return [pair for pair in self.everywhere if pair.left.words != pair.right.words]

    @cached_property
    def mean(self) -> float:
        """Mean agreement of the steps with their partners, of both sides alike."""
        sides = [sum(pair.agreement for pair in side) / len(side) for side in (self.of_left, self.of_right)]
        return sum(sides) / 2

    @cached_property
    def least(self) -> float:
        """The smallest agreement of a step with its partner."""
        return min(pair.agreement for pair in self.partners)

    @cached_property
    def coverage(self) -> float:
        """Share of all words that the other side has as well, wherever; the mean of both sides."""
        mine, theirs = self.left.content, self.right.content
        return (_covered(mine, self.found_of_left) + _covered(theirs, self.found_of_right)) / 2

    @property
    def coverage_at_most(self) -> float:
        """What `coverage` cannot be above, told by how the words begin, in a fifth of the time."""
        mine, theirs = self.left.starts, self.right.starts
        return (_share(mine, theirs) + _share(theirs, mine)) / 2

    @cached_property
    def new_on_left(self) -> frozenset[str]:
        """Words that the right has nowhere."""
        return frozenset([word for word, places in self.found_of_left.items() if not places])

    @cached_property
    def new_on_right(self) -> frozenset[str]:
        """Words that the left has nowhere."""
        return frozenset([word for word, places in self.found_of_right.items() if not places])

    def _partners(self, i: int, j: int) -> Partners:
        return Partners(self.left.steps[i], self.right.steps[j], self.agreements[i][j])


def line_agreement(left: Line, right: Line) -> float:
    """How far two lines have the same content words, 0..1; lines without any agree if they are equal."""
    if left.words == right.words:
        return 1.0
    if not left.content or not right.content:
        return 0.0
    if left.vocabulary.starts.isdisjoint(right.vocabulary.starts):
        return 0.0  # as most pairs of steps
    shares = covered(left.content, right.vocabulary), covered(right.content, left.vocabulary)
    return SHARE_OF_LARGER * max(shares) + (1 - SHARE_OF_LARGER) * sum(shares) / 2


def _agreement(left: Line, right: Line, of_left: int, of_right: int) -> float:
    """`line_agreement` of two lines of which so many words each are on the other side as well."""
    if left.words == right.words:
        return 1.0
    if not left.content or not right.content or not (of_left or of_right):
        return 0.0
    shares = of_left / len(left.content), of_right / len(right.content)
    return SHARE_OF_LARGER * max(shares) + (1 - SHARE_OF_LARGER) * sum(shares) / 2


def _found(words: Outline, other: Outline) -> dict[str, int]:
    """The words of one outline, each with the lines of another that have it or one akin to it."""
    places, by_start = other.places, other.by_start
    found = {}
    for word in words.places:
        where = places.get(word, 0)
        for near in by_start.get(word[:LEAST_PREFIX], ()):
            if near != word and akin(word, near):
                where |= places[near]
        found[word] = where
    return found


def _counts(line: Line, found: dict[str, int], steps: int) -> list[int]:
    """How many words of a line each step of the other side has as well, shape (steps,)."""
    total = sum([found[word] for word in line.content])
    return [(total >> (PLACE * place)) & _ONE_PLACE for place in range(1, steps + 1)]


def _covered(words: Sequence[str], found: dict[str, int]) -> float:
    """Share of `words` that the other side has as well; 1 if there are none."""
    return sum([found[word] != 0 for word in words]) / len(words) if words else 1.0


def _share(words: Sequence[str], others: Sequence[str]) -> float:
    """Share of `words` that stand in `others`; 1 if there are none."""
    known = frozenset(others)
    return sum([word in known for word in words]) / len(words) if words else 1.0


def _best_place(agreements: Sequence[float], position: float) -> int:
    """Where agreement is largest; of steps that agree alike the one nearest to `position`, 0..1."""
    best = max(agreements)
    if agreements.count(best) == 1:
        return agreements.index(best)
    return max(range(len(agreements)), key=lambda place: (agreements[place], -abs(place / len(agreements) - position)))
