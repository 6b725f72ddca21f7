"""Which step of one procedure is which of another? `Alignment`: each step beside the one that agrees with it best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from brain.analysis.languages import Language, language
from brain.analysis.outline import Line, Outline
from brain.analysis.vocabulary import LEAST_PREFIX, akin, covered

SHARE_OF_LARGER = 0.3
"""What the better covered side of two steps counts beside the mean of both: two steps told as one are still found."""


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
    def agreements(self) -> list[list[float]]:
        """Agreement of each step of the left with each of the right: `line_agreement` of every pair.

        Each word is looked up once on the other side, not once for each pair of steps: the same figures in a sixth of
        the time.
        """
        mine, theirs = self.left.steps, self.right.steps
        of_mine = _counts(mine, self.right)
        of_theirs = _counts(theirs, self.left)
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
        mine, theirs = self.left, self.right
        return (covered(mine.content, theirs.vocabulary) + covered(theirs.content, mine.vocabulary)) / 2

    @property
    def coverage_at_most(self) -> float:
        """What `coverage` cannot be above, told by how the words begin, in a fifth of the time."""
        mine, theirs = self.left.starts, self.right.starts
        return (_share(mine, theirs) + _share(theirs, mine)) / 2

    @cached_property
    def new_on_left(self) -> frozenset[str]:
        """Words that the right has nowhere."""
        return frozenset(word for word in self.left.content if word not in self.right.vocabulary)

    @cached_property
    def new_on_right(self) -> frozenset[str]:
        """Words that the left has nowhere."""
        return frozenset(word for word in self.right.content if word not in self.left.vocabulary)

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


def _counts(lines: Sequence[Line], other: Outline) -> list[list[int]]:
    """How many words of each line each step of another outline has as well, shape (lines, steps)."""
    places, steps = other.places, len(other.steps)
    known: dict[str, frozenset[int]] = {}
    found = []
    for line in lines:
        row = [0] * steps
        for word in line.content:
            where = known.get(word)
            if where is None:
                alike = places.get(word[:LEAST_PREFIX], {})
                where = known[word] = frozenset(j for near, at in alike.items() if akin(word, near) for j in at)
            for j in where:
                row[j] += 1
        found.append(row)
    return found


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
