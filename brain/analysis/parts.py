"""What is computed of a segment and kept beside it? `Part`: topic lengths, and common stems row by row.

`Merging` makes one part of several while they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from brain.analysis.measures import Scores, topic_frequency
from brain.analysis.postings import Array, Rows, Segment, merged, ranges
from brain.analysis.terms import NOUN

LEAST_SLACK = 0.9
"""How far bounds on lengths may fall behind before all are computed anew: 20 ms at 100 000 skills, once in some hundred
learns."""
_BLOCK = 1_024
"""Rows whose lengths are computed at a time: all at once took 40 MB more at 48 000 skills, and no less time."""
FREQUENCY = np.array([topic_frequency(use % NOUN, is_noun=use >= NOUN) for use in range(2 * NOUN)])
"""`measures.topic_frequency`, by use."""


@dataclass
class Lengths:
    """The topic lengths of a segment's rows as they were when `documents` were counted, and how they fell since.

    `total` is of how many documents they were. `exact` says that no document came or went since.
    """

    total: int
    documents: Array
    values: Scores
    slack: float = 1.0
    peak: int = 0
    exact: bool = True

    def least_share(self, total: int) -> float:
        """What share of `values` the present lengths have at least, with `total` documents now.

        The rarity of a stem that no new row has falls at most as the number of documents does.
        """
        return self.slack * min(1.0, total / max(1, self.peak, self.total))


@dataclass
class Part:
    """A segment with what is computed of it when it is asked for. `documents` is how many the whole corpus has now."""

    segment: Segment
    lengths: Lengths | None = None
    spread: dict[int, tuple[Array, Array]] = field(default_factory=dict)

    def spread_out(self, stem: int) -> tuple[Array, Array]:
        """Weight and position of a stem in each row, 0 where a row does not have it; kept."""
        if stem not in self.spread:
            postings = slice(self.segment.starts[stem], self.segment.starts[stem + 1])
            rows, size = self.segment.rows[postings], self.segment.size
            weights, positions = np.zeros(size, np.int16), np.zeros(size, np.int16)
            weights[rows], positions[rows] = self.segment.weights[postings], self.segment.positions[postings]
            self.spread[stem] = weights, positions
        return self.spread[stem]

    def present_lengths(self, documents: int) -> Lengths:
        """The topic length of each row as it is now."""
        if self.lengths is None or not self.lengths.exact:
            values = _all_lengths(self.segment, documents)
            self.lengths = Lengths(documents, self.segment.documents.copy(), values)
        return self.lengths

    def least_lengths(self, rows: slice, documents: int) -> Scores:
        """A lower bound of the topic length, near it, of a span of rows counted from the segment's first."""
        lengths = self.lengths
        if lengths is None or lengths.least_share(documents) < LEAST_SLACK:
            lengths = self.present_lengths(documents)
        return lengths.values[rows] * lengths.least_share(documents)

    def lengths_of(self, rows: Rows, documents: int) -> Scores:
        """The topic length of some rows, counted from the segment's first: the root of the summed squares of
        frequency × rarity.
        """
        if self.lengths is not None and self.lengths.exact:
            return self.lengths.values[rows]
        return _lengths_in(self.segment, rows, documents)

    def note_falling(self, stems: Array, documents: int) -> None:
        """Notes by how much the rarity of some stems fell since the lengths were computed."""
        lengths = self.lengths
        if lengths is None:
            return
        lengths.exact, lengths.peak = False, max(lengths.peak, documents)
        before = lengths.documents[stems]
        stems, before = stems[before > 0], before[before > 0]
        if len(stems):
            now = np.log(1 + documents / (self.segment.documents[stems] + 0.5))
            then = np.log(1 + lengths.total / (before + 0.5))
            lengths.slack = min(lengths.slack, float((now / then).min()))

    def bring_up_to_date(self, segments: Sequence[Segment], documents: int) -> None:
        """Brings in what was counted in `segments`, which it was made of, since then."""
        counts = self.segment.documents
        for segment in segments:
            counts[np.searchsorted(self.segment.keys, segment.keys)] = segment.documents
        if self.lengths is not None and (
            documents != self.lengths.total or not np.array_equal(counts, self.lengths.documents)
        ):
            self.note_falling(np.flatnonzero(counts > self.lengths.documents), documents)


@dataclass(frozen=True)
class Merging:
    """Neighbouring segments that are to become one, and how many documents there were when that was found.

    `done` may run while the segments are used: nothing in them changes but their counts of documents, and
    `Part.bring_up_to_date` brings in what those are in the end.
    """

    of: Sequence[Segment]
    documents: int

    def done(self) -> Part:
        """The whole, with the topic lengths that follow from the counts as they were read."""
        segment = merged(self.of)
        lengths = _all_lengths(segment, self.documents)
        return Part(segment, Lengths(self.documents, segment.documents.copy(), lengths))


def _all_lengths(segment: Segment, documents: int) -> Scores:
    blocks = [np.arange(first, min(first + _BLOCK, segment.size)) for first in range(0, segment.size, _BLOCK)]
    return np.concatenate([np.zeros(0), *(_lengths_in(segment, rows, documents) for rows in blocks)])


def _lengths_in(segment: Segment, rows: Rows, documents: int) -> Scores:
    starts = segment.row_starts[rows]
    count = segment.row_starts[rows + 1] - starts
    words = ranges(starts, count)
    rarity = np.log(1 + documents / (segment.documents[segment.row_stems[words]] + 0.5))
    squares = (rarity * FREQUENCY[segment.row_uses[words]]) ** 2
    return np.sqrt(np.bincount(np.repeat(np.arange(len(rows)), count), squares, minlength=len(rows)))
