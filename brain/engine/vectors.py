"""Which rows may have a vector near the query's? `Vectors`: unit vectors by row, with an upper bound of each cosine.

Each vector knows its cosine with the nearest of some pivots. By the triangle inequality of angles the query's cosine
with it is at most cos(|a - b|), where a and b are the angles of the two to that pivot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brain.analysis.columns import Blocks, Column
from brain.analysis.measures import Scores

DIGITS = 9
"""Cosines are summed as float64 and rounded, so that a row has the same one whichever rows it is asked for with."""
LEAST_ROWS = 2_000
"""Rows from which pivots are worth their making."""
_MOST_PIVOTS, _ROUNDS, _SAMPLES_PER_PIVOT = 256, 4, 20
_SLACK = 1e-5
_ROUNDING = 1e-6
"""What float32 may have lost of a squared cosine: near 1 that is 1e-3 of the sine, which `_SLACK` does not cover."""
_BLOCK = 4_096

Matrix = NDArray[np.float32]


class Vectors:
    """Unit vectors (or none) by row: `fixed` rows that may lie in a mapped file, and the rows added since."""

    def __init__(self, width: int, fixed: Matrix | None = None, has: NDArray[Any] | None = None) -> None:
        """No rows, or `fixed` ones of dimension `width`, of which `has` tells that they have a vector."""
        self.width = width
        self._rows = Blocks(fixed if fixed is not None else np.zeros((0, width), np.float32))
        self.has = Column(np.bool_, values=has)
        self.pivots: Matrix | None = None
        self._made_for = 0
        self.nearest, self.nearness = Column(np.int16), Column(np.float32)

    def __len__(self) -> int:
        return len(self.has)

    @classmethod
    def restored(cls, matrix: Matrix, has: NDArray[Any], pivots: Matrix, nearest: Any, nearness: Any) -> Vectors:
        """The vectors that had these parts; without pivots the last three are empty."""
        vectors = cls(matrix.shape[1], matrix, has)
        if len(pivots):
            vectors.pivots, vectors._made_for = pivots, len(has)
            vectors.nearest, vectors.nearness = Column(np.int16, values=nearest), Column(np.float32, values=nearness)
        return vectors

    def parts(self) -> list[Matrix]:
        """All rows as arrays of shape (some, width), in order; zeros where a row has none."""
        return self._rows.parts()

    def extend(self, vectors: Sequence[bytes | None]) -> None:
        """Adds rows; a vector of another dimension counts as none."""
        size = 4 * self.width
        fits = [data is not None and len(data) == size for data in vectors]
        data = b"".join(v if v is not None and fit else bytes(size) for v, fit in zip(vectors, fits, strict=True))
        matrix = _unit(np.frombuffer(data, np.float32).reshape(len(vectors), self.width))
        self._rows.extend(matrix)
        if self.pivots is not None:
            self._assign(matrix)
        self.has.extend(fits)

    def compared(self, query: Matrix | None) -> Cosines | None:
        """The cosines with a unit vector; None without one of this width."""
        return None if query is None or len(query) != self.width else Cosines(self, query)

    def prepare(self) -> None:
        """Makes pivots if there are enough rows for them: 0.5 s at 100 000 rows, once in four times as many rows."""
        if self._needs_pivots():
            self._make_pivots()

    def _make_pivots(self) -> None:
        """Chooses pivots by a few rounds of k-means on a sample, and the nearest of them for every row."""
        count = min(_MOST_PIVOTS, int(np.sqrt(len(self)) * 0.8))
        random = np.random.default_rng(0)
        held = np.flatnonzero(self.has.values)
        sample = self.of(random.choice(held, min(len(held), _SAMPLES_PER_PIVOT * count), replace=False))
        pivots = sample[:count].copy()
        for _ in range(_ROUNDS):
            nearest = np.argmax(sample @ pivots.T, axis=1)
            sums = np.zeros_like(pivots)
            np.add.at(sums, nearest, sample)
            norms = np.linalg.norm(sums, axis=1, keepdims=True)
            pivots = np.where(norms > 0, sums / np.where(norms > 0, norms, 1), pivots)
        self.pivots, self.nearest, self.nearness = pivots, Column(np.int16), Column(np.float32)
        self._made_for = len(self)
        for start in range(0, len(self), _BLOCK):
            self._assign(self.of(np.arange(start, min(start + _BLOCK, len(self)))))

    def compacted(self, alive: NDArray[np.bool_]) -> Vectors:
        """The rows that are alive, numbered anew."""
        rows = np.flatnonzero(alive)
        kept = Vectors(self.width, self.of(rows), self.has.values[rows])
        if self.pivots is not None:
            kept.pivots, kept._made_for = self.pivots, self._made_for
            kept.nearest = Column(np.int16, values=self.nearest.values[rows])
            kept.nearness = Column(np.float32, values=self.nearness.values[rows])
        return kept

    def _assign(self, matrix: Matrix) -> None:
        assert self.pivots is not None
        products = matrix @ self.pivots.T
        nearest = np.argmax(products, axis=1)
        self.nearest.extend(nearest)
        self.nearness.extend(np.clip(products[np.arange(len(nearest)), nearest], -1.0, 1.0))

    def of(self, rows: NDArray[np.int64]) -> Matrix:
        """Some rows, shape (rows, width)."""
        return self._rows.of(rows)

    def _needs_pivots(self) -> bool:
        """Whether there are enough rows for pivots, and none yet or four times as many rows as they were made for."""
        made_for = self._made_for
        few = self.pivots is None or len(self.pivots) < _MOST_PIVOTS
        return len(self) >= LEAST_ROWS and few and len(self) > 4 * made_for and bool(self.has.values.any())


class Cosines:
    """The cosine of one unit vector with each row's."""

    def __init__(self, vectors: Vectors, query: Matrix) -> None:
        vectors.prepare()
        self._vectors, self._query = vectors, query.astype(np.float64)
        if vectors.pivots is not None:
            self._cosine = np.clip(vectors.pivots @ query, -1.0, 1.0)
            self._sine = np.sqrt(1 - self._cosine * self._cosine + _ROUNDING)

    def known(self, rows: NDArray[np.int64] | slice) -> NDArray[np.bool_]:
        """Which of some rows have a vector."""
        return np.asarray(self._vectors.has.values[rows], bool)

    def bounds(self, span: slice) -> Scores:
        """An upper bound for each row of a span; 1 without pivots."""
        if self._vectors.pivots is None:
            return np.ones(span.stop - span.start)
        nearest, near = self._vectors.nearest.values[span], self._vectors.nearness.values[span]
        bound = self._cosine.take(nearest) * near + self._sine.take(nearest) * np.sqrt(1 - near * near + _ROUNDING)
        return np.asarray(np.minimum(bound + _SLACK, 1.0), np.float64)

    def exact(self, rows: NDArray[np.int64]) -> Scores:
        """The cosines of some rows; 0 where one has no vector."""
        parts = [self._vectors.of(rows[start : start + _BLOCK]) for start in range(0, len(rows), _BLOCK)]
        found = [part.astype(np.float64) @ self._query for part in parts]
        return np.round(np.concatenate([np.zeros(0), *found]), DIGITS)


def _unit(matrix: Matrix) -> Matrix:
    """`matrix` with rows of length 1, as they are stored, or 0."""
    norms = np.linalg.norm(matrix, axis=1)
    odd = (np.abs(norms - 1) > 1e-6) & (norms > 0)
    if not odd.any():
        return matrix
    return (matrix / np.where(odd, norms, 1.0)[:, None]).astype(np.float32)
