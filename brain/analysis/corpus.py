"""How alike is one query to all stored profiles at once? Inverted lists that give the two measures for every row.

Gives what `measures.procedure_similarity` and `measures.topic_similarity` give, pair by pair. A row is a whole number
that counts from 0 in the order of adding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brain.analysis.columns import Column
from brain.analysis.measures import Scores, inverse_document_frequency
from brain.analysis.parts import FREQUENCY, Lengths, Merging, Part
from brain.analysis.postings import (
    FAN,
    MOST_ROWS,
    Array,
    Rows,
    Segment,
    are_alike,
    distinct,
    groups,
    merged,
    ranges,
    segment_of,
)
from brain.analysis.terms import PARTS, Term, Terms, key_of

COMMON = 1 / 3
"""Share of a segment's rows from which a stem is spread out row by row: 1 ns a row instead of 4 ns a posting."""
_SHORT = 2_000
"""Postings up to which lists are put end to end: the calls would take longer than the work."""
_SPREAD_TERMS = 20
"""Terms of full weight whose overlap fits into 31 bits."""
_SUMMED_TERMS, _WEIGHT_BITS = 800, 40
"""Terms of full weight whose shared weight fits above the overlap in 63 bits, and its place there."""


@dataclass(frozen=True)
class Rarities:
    """How rare some stems are among `documents` rows: in how many of them each is a content word, by key."""

    documents: int
    containing: dict[int, int]

    def __call__(self, stem: str) -> float:
        """Inverse document frequency of a stem."""
        return inverse_document_frequency(self.documents, self.containing.get(key_of(stem), 0))


class Corpus:
    """Profiles by row, in segments: `add` appends rows, `remove` takes rows out of every count.

    `add` merges segments as they come, but for merges of more than `merged_at_once` rows: those are `due`.
    """

    def __init__(self) -> None:
        self.merged_at_once: int | None = None
        self._parts: list[Part] = []
        self._weight, self._has_steps, self._alive = Column(np.int64), Column(np.bool_), Column(np.bool_)
        self.documents = 0

    @classmethod
    def restored(
        cls, segments: Sequence[Segment], lengths: Sequence[Scores], weight: Array, steps: Array, alive: Array
    ) -> Corpus:
        """The corpus that had these parts, its `lengths` by segment."""
        corpus = cls()
        corpus.documents = int(alive.sum())
        corpus._weight, corpus._has_steps = Column(np.int64, values=weight), Column(np.bool_, values=steps)
        corpus._alive = Column(np.bool_, values=alive)
        corpus._parts = [
            Part(segment, Lengths(corpus.documents, segment.documents.copy(), values))
            for segment, values in zip(segments, lengths, strict=True)
        ]
        return corpus

    @property
    def segments(self) -> list[Segment]:
        """The segments, by their rows."""
        return [part.segment for part in self._parts]

    def present_lengths(self) -> list[Scores]:
        """The topic length of each row, by segment, as it is now."""
        return [part.present_lengths(self.documents).values for part in self._parts]

    def __len__(self) -> int:
        """Rows, removed ones included."""
        return len(self._weight)

    @property
    def weight(self) -> Array:
        """Sum of the weights of each row's terms, in parts, shape (rows,)."""
        return self._weight.values

    @property
    def have_steps(self) -> NDArray[np.bool_]:
        """Which rows tell steps, shape (rows,)."""
        return self._has_steps.values

    def add(self, terms: Sequence[Terms]) -> None:
        """Appends a row for each of `terms`."""
        for start in range(0, len(terms), MOST_ROWS):
            self._append(terms[start : start + MOST_ROWS])

    def _append(self, terms: Sequence[Terms]) -> None:
        new = segment_of(terms, len(self))
        self._weight.extend(new.weights_by_row())
        self._has_steps.extend([t.has_steps for t in terms])
        self._alive.extend(np.ones(len(terms), bool))
        self.documents += len(terms)
        own, known = new.documents.copy(), np.zeros(len(new.keys), bool)
        for part in self._parts:
            segment = part.segment
            here, places = segment.find(new.keys)
            fresh = here & ~known
            new.documents[fresh] += segment.documents[places[fresh]]
            known |= here
            counted = here & (own > 0)
            segment.documents[places[counted]] += own[counted]
            part.note_falling(places[counted], self.documents)
        self._parts.append(Part(new))
        self._merge()

    def remove(self, rows: Rows) -> None:
        """Takes rows that were not removed before out of the counts; their scores mean nothing from then on."""
        self._alive.values[rows] = False
        self.documents -= len(rows)
        for part in self._parts if len(rows) else ():
            if part.lengths is not None:
                part.lengths.exact = False
        for row in rows:
            keys = self._content_of(int(row))
            for segment in self.segments:
                here, places = segment.find(keys)
                segment.documents[places[here]] -= 1

    def compact(self) -> None:
        """Drops removed rows; those that are left are numbered anew, in their order."""
        alive = self._alive.values.copy()
        parts, first = list[Part](), 0
        for group in groups(self.segments, alive):
            living = alive[group[0].first : group[-1].first + group[-1].size]
            parts.append(Part(merged(group, living, first)))
            first += int(living.sum())
        self._parts = parts
        self._weight = Column(np.int64, values=self.weight[alive])
        self._has_steps = Column(np.bool_, values=self.have_steps[alive])
        self._alive = Column(np.bool_, values=np.ones(len(self._weight), bool))

    def rarities(self, words: Sequence[Term], rows: Sequence[int] = ()) -> Rarities:
        """The rarities of the content words of a text and of some rows."""
        keys = np.array([key_of(t.stem) for t in words if t.count], np.uint64)
        every = distinct(np.concatenate([keys, *map(self._content_of, rows)]))
        containing = self._documents_with(every)
        return Rarities(self.documents, dict(zip(every.tolist(), containing.tolist(), strict=True)))

    def shares_of_words(self, words: Sequence[Term]) -> Scores:
        """The share, 0..1, of the content words among `words` that each row has, shape (rows,)."""
        keys = np.array(sorted(key_of(t.stem) for t in words if t.count), np.uint64)
        found = np.zeros(len(self))
        for segment in self.segments:
            rows, uses, _ = _postings(segment, keys)
            found[segment.span] = np.bincount(rows[uses > 0], minlength=segment.size)
        return found / max(1, len(keys))

    def topic(self, query: Sequence[Term]) -> Topic:
        """The query's content words, ready to be compared with rows as topics."""
        return Topic(self, sorted((key_of(t.stem), t.use) for t in query if t.count))

    def procedure(self, query: Sequence[Term]) -> Procedure:
        """The query's terms, ready to be compared with rows as procedures."""
        return Procedure(self, query)

    def least_lengths(self, span: slice) -> Scores:
        """A lower bound of the topic length, near it, of each row of a span."""
        found = np.zeros(span.stop - span.start)
        for part in self._parts:
            first, last = max(span.start, part.segment.span.start), min(span.stop, part.segment.span.stop)
            if first < last:
                rows = slice(first - part.segment.span.start, last - part.segment.span.start)
                found[first - span.start : last - span.start] = part.least_lengths(rows, self.documents)
        return found

    def lengths(self, rows: Rows) -> Scores:
        """The topic length of some rows: the root of the summed squares of frequency × rarity."""
        found = np.zeros(len(rows))
        for part in self._parts:
            here = (rows >= part.segment.span.start) & (rows < part.segment.span.stop)
            if here.any():
                found[here] = part.lengths_of(rows[here] - part.segment.span.start, self.documents)
        return found

    def _content_of(self, row: int) -> Array:
        """The keys of the content words of one row."""
        home = next(segment for segment in reversed(self.segments) if segment.first <= row)
        return home.content_of(row - home.first)

    def _documents_with(self, keys: Array) -> Array:
        found = np.zeros(len(keys), np.int64)
        for segment in self.segments:
            here, places = segment.find(keys)
            found[here] = segment.documents[places[here]]
        return found

    def _merge(self) -> None:
        """Merges the last segments while they are alike, and not too many rows to be waited for."""
        while are_alike(last := self.segments[-FAN:]):
            if self.merged_at_once is not None and sum(segment.size for segment in last) > self.merged_at_once:
                return
            self._parts[-FAN:] = [Part(merged(last))]

    def due(self) -> Merging | None:
        """The latest merge that was left; None if there is none."""
        every = self.segments
        windows = (every[start : start + FAN] for start in range(len(every) - FAN, -1, -1))
        return next((Merging(found, max(1, self.documents)) for found in windows if are_alike(found)), None)

    def take(self, merging: Merging, done: Part) -> None:
        """Puts what came of a merge in the place of what it was made of, unless that is gone: see `compact`."""
        of = [id(segment) for segment in merging.of]
        here = [place for place, segment in enumerate(self.segments) if id(segment) in of]
        if len(here) == len(of):
            done.bring_up_to_date(merging.of, self.documents)
            self._parts[here[0] : here[-1] + 1] = [done]


class Topic:
    """One query compared with every row of a corpus by `measures.topic_similarity`."""

    def __init__(self, corpus: Corpus, words: Sequence[tuple[int, int]]) -> None:
        keys = np.array([key for key, _ in words], np.uint64)
        rarity = np.log(1 + corpus.documents / (corpus._documents_with(keys) + 0.5))
        values = FREQUENCY[[use for _, use in words]] * rarity if words else np.zeros(0)
        self._corpus, self._length = corpus, math.sqrt(float(values @ values))
        self._dots = np.zeros(len(corpus))
        for segment in corpus.segments:
            rows, uses, which = _postings(segment, keys)
            product = (values * rarity).take(which) * FREQUENCY.take(uses)
            dots = np.bincount(rows, product, minlength=segment.size)
            self._dots[segment.span] = dots

    def bounds(self, span: slice) -> Scores:
        """An upper bound of the similarity of each row of a span."""
        return self._over(self._dots[span], self._corpus.least_lengths(span))

    def similarities(self, rows: Rows) -> Scores:
        """The similarity, 0..1, of some rows."""
        return self._over(self._dots[rows], self._corpus.lengths(rows))

    def _over(self, dots: Scores, lengths: Scores) -> Scores:
        norms = lengths * self._length
        return np.divide(dots, norms, out=np.zeros(len(dots)), where=norms > 0)


class Procedure:
    """One query compared with every row of a corpus by `measures.procedure_similarity`.

    What rare terms add to a row's shared weight and to its overlap is summed as one whole number of parts, the weight
    above the overlap: 4 ns a posting, where two sums of floats by `numpy.bincount` take 17. Whole numbers are exact in
    any order.
    """

    def __init__(self, corpus: Corpus, query: Sequence[Term]) -> None:
        self._corpus = corpus
        self._weight = sum(round(t.weight * PARTS) for t in query)
        self._shared, self._overlap = np.zeros(len(corpus), np.int64), np.zeros(len(corpus), np.int64)
        self._weights = np.array([round(t.weight * PARTS) for t in query], np.int16)
        self._positions = np.array([round(t.position * PARTS) for t in query], np.int16)
        self._keys = np.array([key_of(t.stem) for t in query], np.uint64)
        for part in corpus._parts:
            here, stems = part.segment.find(self._keys)
            terms = np.flatnonzero(here)
            stems = stems[terms]
            sizes = part.segment.starts[stems + 1] - part.segment.starts[stems]
            common = (sizes > COMMON * part.segment.size) & (sizes >= _SHORT)
            for start in range(0, int(common.sum()), _SPREAD_TERMS):
                few = slice(start, start + _SPREAD_TERMS)
                self._add_spread(part, terms[common][few], stems[common][few])
            for start in range(0, int((~common).sum()), _SUMMED_TERMS):
                few = slice(start, start + _SUMMED_TERMS)
                self._add_postings(part, terms[~common][few], stems[~common][few])

    def _add_spread(self, part: Part, terms: Array, stems: Array) -> None:
        """Adds what the rows of a segment have in common with a few terms that many of them have."""
        shared, overlap = np.zeros(part.segment.size, np.int32), np.zeros(part.segment.size, np.int32)
        for term, stem in zip(terms, stems, strict=True):
            weights, positions = part.spread_out(int(stem))
            weight, near = self._common(weights, positions, term)
            wide = weight.astype(np.int32)  # once: an operation on two types takes twice as long
            shared += wide
            wide *= near
            overlap += wide
        self._shared[part.segment.span] += shared
        self._overlap[part.segment.span] += overlap

    def _add_postings(self, part: Part, terms: Array, stems: Array) -> None:
        """Adds what the rows of a segment have in common with terms that few of them have."""
        segment, sums = part.segment, np.zeros(part.segment.size, np.int64)
        starts, lengths = segment.starts[stems], segment.starts[stems + 1] - segment.starts[stems]
        short = lengths < _SHORT
        places = ranges(starts[short], lengths[short])
        lists: list[tuple[Array | slice, Any]] = [(places, np.repeat(terms[short], lengths[short]))]
        long = zip(starts[~short], lengths[~short], terms[~short], strict=True)
        lists += [(slice(start, start + length), term) for start, length, term in long]
        for postings, term in lists:
            weight, near = self._common(segment.weights[postings], segment.positions[postings], term)
            wide = weight.astype(np.int64)
            np.add.at(sums, segment.rows[postings], (wide << _WEIGHT_BITS) + wide * near)
        self._shared[part.segment.span] += sums >> _WEIGHT_BITS
        self._overlap[part.segment.span] += sums & ((1 << _WEIGHT_BITS) - 1)

    def _common(self, weights: Array, positions: Array, term: Any) -> tuple[Array, Array]:
        """The weight that a term of the query (or one a posting) shares with postings, and how near it stands."""
        most = self._weights[term]
        if most.ndim == 0:  # `numpy.minimum` of an array and one number takes six times as long as of two arrays
            most = np.full(len(weights), most)
        weight = np.minimum(weights, most)
        return weight, PARTS - np.abs(positions - self._positions[term])

    def similarities(self, rows: Rows | slice = slice(None)) -> Scores:
        """The similarity, 0..1, of some rows."""
        total, overlap = self._total(rows), self._overlap[rows]
        found: Scores = np.divide(overlap, PARTS * total, out=np.zeros(len(total)), where=total > 0)
        return found

    def are_equal(self, rows: Rows) -> NDArray[np.bool_]:
        """Which of some rows have the very terms of the query; with none on either side, all of them."""
        equal: NDArray[np.bool_] = self._overlap[rows] == PARTS * self._total(rows)
        return equal

    def _total(self, rows: Rows | slice) -> Array:
        """The weight of all terms that a row or the query has."""
        found: Array = self._corpus.weight[rows] + self._weight - self._shared[rows]
        return found


def _postings(segment: Segment, keys: Array) -> tuple[Array, Array, Array]:
    """Rows and uses of all postings of some stems, and which of `keys` each is of. Slices put end to end take 0.14 ms
    where a list of places takes 0.35.
    """
    here, places = segment.find(keys)
    starts, ends = segment.starts[places[here]], segment.starts[places[here] + 1]
    spans = [slice(0, 0), *map(slice, starts.tolist(), ends.tolist())]
    rows, uses = (np.concatenate([array[span] for span in spans]) for array in (segment.rows, segment.uses))
    return rows, uses, np.repeat(np.flatnonzero(here), ends - starts)
