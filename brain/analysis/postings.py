"""Which rows have a stem? `Segment`: inverted lists of many profiles as a few arrays, never changed once made.

Only the document counts move: `documents` says for each stem of the segment in how many live rows of the whole corpus
it is a content word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brain.analysis.terms import RECORD, Terms

Array = NDArray[Any]
Rows = NDArray[np.int64]

FAN = 4
"""Segments of about the same size that are merged into one. Each posting is copied log4(rows) times while the index
grows, and a query looks into at most three segments of each size. To merge each new one with its neighbour took 65 of
390 ms of a recall after 250 changes."""
MOST_ROWS = 2**16
"""Rows of a segment at most: 16 bits number them, and no merge takes long. Beyond, a query looks into one more for each
so many rows."""
_OF_POSTINGS = ("rows", "weights", "positions", "uses")


@dataclass(frozen=True)
class Segment:
    """The profiles of the rows `first` to `first + size`, by stem and by row.

    By stem: `keys` ascending; the postings of stem i stand at `starts[i]:starts[i + 1]` of `rows` (counted from
    `first`, ascending), `weights`, `positions` (both in parts) and `uses`. By row: the content words of row r stand
    at `row_starts[r]:row_starts[r + 1]` of `row_stems` (places in `keys`) and `row_uses`.
    """

    first: int
    keys: Array
    starts: Array
    rows: Array
    weights: Array
    positions: Array
    uses: Array
    row_starts: Array
    row_stems: Array
    row_uses: Array
    documents: Array

    ARRAYS = "keys starts rows weights positions uses row_starts row_stems row_uses documents".split()

    @property
    def size(self) -> int:
        """How many rows it holds."""
        return len(self.row_starts) - 1

    @property
    def span(self) -> slice:
        """Its rows, among all."""
        return slice(self.first, self.first + self.size)

    def find(self, keys: Array) -> tuple[Array, Array]:
        """Which of `keys` are here, and their places."""
        places = np.searchsorted(self.keys, keys)
        places[places == len(self.keys)] = 0
        here: Array = self.keys[places] == keys if len(self.keys) else np.zeros(len(keys), bool)
        return here, places

    def weights_by_row(self) -> Array:
        """Sum of the weights of each row's terms, in parts."""
        return np.bincount(self.rows, self.weights, minlength=self.size).astype(np.int64)

    def content_of(self, row: int) -> Array:
        """Keys of the content words of one row, counted from `first`."""
        found: Array = self.keys[self.row_stems[self.row_starts[row] : self.row_starts[row + 1]]]
        return found


def ranges(starts: Array, lengths: Array) -> Array:
    """The whole numbers from each start on, as many as its length, one list after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    found: Array = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return found


def segment_of(terms: Sequence[Terms], first: int) -> Segment:
    """The segment of at most `MOST_ROWS` profiles, whose documents are counted among themselves."""
    records = np.frombuffer(b"".join([t.data for t in terms]), RECORD)
    rows = np.repeat(np.arange(len(terms), dtype=np.uint16), [len(t.data) // RECORD.itemsize for t in terms])
    raw = np.ascontiguousarray(records["key"])
    order = np.argsort(raw, kind="stable")
    ordered = raw[order]
    starts = _first_of_each(ordered)
    keys = ordered[starts]
    uses = np.ascontiguousarray(records["use"])
    place = np.empty(len(raw), np.int32)
    place[order] = np.repeat(np.arange(len(keys), dtype=np.int32), np.diff(np.append(starts, len(raw))))
    content = uses > 0
    return Segment(
        first,
        keys,
        np.append(starts, len(raw)).astype(np.int32),
        rows[order],
        np.ascontiguousarray(records["weight"])[order],
        np.ascontiguousarray(records["position"])[order],
        uses[order],
        _starts(np.bincount(rows[content], minlength=len(terms))),
        place[content],
        uses[content],
        np.bincount(place[content], minlength=len(keys)).astype(np.int32),
    )


def are_alike(segments: Sequence[Segment]) -> bool:
    """Whether there are `FAN` segments of about the same size, not too large for one."""
    if len(segments) != FAN or sum(segment.size for segment in segments) > MOST_ROWS:
        return False
    return len(segments[0].rows) < FAN * max(1, len(segments[-1].rows))


def groups(segments: Sequence[Segment], alive: NDArray[np.bool_]) -> list[list[Segment]]:
    """Neighbouring segments that make one each, given which rows are alive."""
    found, held = list[list[Segment]](), 0
    for segment in segments:
        live = int(alive[segment.span].sum())
        if not found or held + live > MOST_ROWS:
            found.append([])
            held = 0
        found[-1].append(segment)
        held += live
    return found


def merged(segments: Sequence[Segment], alive: NDArray[np.bool_] | None = None, first: int | None = None) -> Segment:
    """Neighbouring segments as one. With `alive`, only those rows, numbered anew from `first`."""
    if alive is None:
        alive = np.ones(sum(segment.size for segment in segments), bool)
    kept = _Kept.of_all(segments, alive)
    keys = distinct(np.concatenate([part.segment.keys[part.lengths > 0] for part in kept]))
    lengths, documents = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int32)
    for part in kept:
        part.targets[part.lengths > 0] = np.searchsorted(keys, part.segment.keys[part.lengths > 0])
        used = part.targets >= 0
        lengths[part.targets[used]] += part.lengths[used]
        documents[part.targets[used]] = part.segment.documents[used]
    starts = _starts(lengths)
    columns = {name: np.empty(int(starts[-1]), getattr(segments[0], name).dtype) for name in _OF_POSTINGS}
    filled = starts[:-1].copy()
    for part in kept:
        used = part.targets >= 0
        target = ranges(filled[part.targets[used]], part.lengths[used])
        filled[part.targets[used]] += part.lengths[used]
        columns["rows"][target] = part.numbers[part.segment.rows[part.postings]]
        for name in _OF_POSTINGS[1:]:
            columns[name][target] = getattr(part.segment, name)[part.postings]
    return Segment(
        segments[0].first if first is None else first,
        keys,
        starts.astype(np.int32),
        **columns,
        row_starts=_starts(np.concatenate([np.diff(part.segment.row_starts)[part.live] for part in kept])),
        row_stems=np.concatenate([part.targets[part.segment.row_stems[part.words]] for part in kept]).astype(np.int32),
        row_uses=np.concatenate([part.segment.row_uses[part.words] for part in kept]),
        documents=documents,
    )


@dataclass(frozen=True)
class _Kept:
    """What is left of one segment when it is merged: its live rows and their new numbers, the places of their postings
    and words, how many postings each stem has left, and the stem's place in the merged segment (-1: none).
    """

    segment: Segment
    live: NDArray[np.bool_]
    numbers: Array
    postings: Array
    words: NDArray[np.bool_]
    lengths: Array
    targets: Array

    @classmethod
    def of_all(cls, segments: Sequence[Segment], alive: NDArray[np.bool_]) -> list[_Kept]:
        """What is left of neighbouring segments, given which of their rows are alive."""
        numbers, found = np.cumsum(alive) - 1, []
        for segment in segments:
            span = slice(segment.first - segments[0].first, segment.first - segments[0].first + segment.size)
            live = alive[span]
            postings = live[segment.rows]
            before = np.concatenate([[0], np.cumsum(postings)])
            lengths = np.diff(before[segment.starts])
            words = np.repeat(live, np.diff(segment.row_starts))
            targets = np.full(len(segment.keys), -1, np.int64)
            found.append(cls(segment, live, numbers[span], np.flatnonzero(postings), words, lengths, targets))
        return found


def distinct(values: Array) -> Array:
    """The different values, ascending. `numpy.unique` would load a part of numpy that nothing else needs: 29 ms."""
    ordered = np.sort(values)
    return ordered[_first_of_each(ordered)]


def _first_of_each(ordered: Array) -> Array:
    """Where each different value of an ordered array begins."""
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.concatenate([np.zeros(min(1, len(ordered)), np.int64), changes])


def _starts(lengths: Array) -> Array:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
