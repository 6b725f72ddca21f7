"""How alike is one query to all stored profiles at once? Inverted lists that give the two measures for every row.

Gives what `measures.procedure_similarity` and `measures.topic_similarity` give, pair by pair, in a few array
operations for each word of the query. A row is a whole number that the owner hands out, from 0 upwards.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brain.analysis.measures import Scores, inverse_document_frequency
from brain.analysis.profile import Profile


class Growing:
    """A one- or two-dimensional array that grows at its end; capacity doubles."""

    def __init__(self, dtype: type, width: int | None = None) -> None:
        self._data: NDArray[Any] = np.zeros((8,) if width is None else (8, width), dtype)
        self._size = 0

    def append(self, value: object) -> None:
        """Adds one row."""
        if self._size == len(self._data):
            self._data = np.concatenate([self._data, np.zeros_like(self._data)])
        self._data[self._size] = value
        self._size += 1

    @property
    def values(self) -> NDArray[Any]:
        """A view of the rows added so far."""
        return self._data[: self._size]

    def __len__(self) -> int:
        return self._size


class _Postings:
    """Where one stem occurs: rows, weights, positions and (1 + ln count), side by side."""

    def __init__(self) -> None:
        self.rows, self.weights = Growing(np.int64), Growing(np.float64)
        self.positions, self.frequencies = Growing(np.float64), Growing(np.float64)
        self.documents = 0


class Corpus:
    """Profiles by row. `add` gives a row its profile once; `remove` takes it out of every count."""

    def __init__(self) -> None:
        self._postings: dict[str, _Postings] = {}
        self._profiles: dict[int, Profile] = {}
        self._weight, self._has_steps = Growing(np.float64), Growing(np.bool_)
        self._norms: Scores | None = None

    def __len__(self) -> int:
        return len(self._profiles)

    def add(self, row: int, profile: Profile) -> None:
        """Enters `profile` under the next row, which must be the number of rows added before."""
        assert row == len(self._weight), "rows are added in order"
        self._weight.append(sum(t.weight for t in profile.terms))
        self._has_steps.append(profile.has_steps)
        for term in profile.terms:
            postings = self._postings.setdefault(term.stem, _Postings())
            postings.rows.append(row)
            postings.weights.append(term.weight)
            postings.positions.append(term.position)
            postings.frequencies.append(1 + math.log(term.count) if term.count else 0.0)
            postings.documents += 1
        self._profiles[row] = profile
        self._norms = None

    def remove(self, row: int) -> None:
        """Takes a row out of the document counts; its scores mean nothing from then on."""
        for term in self._profiles.pop(row).terms:
            self._postings[term.stem].documents -= 1
        self._norms = None

    @property
    def have_steps(self) -> NDArray[np.bool_]:
        """Which rows tell steps, shape (rows,)."""
        return np.asarray(self._has_steps.values, bool)

    def profile(self, row: int) -> Profile:
        """The profile of a row that was not removed."""
        return self._profiles[row]

    def rarity(self, stem: str) -> float:
        """Inverse document frequency of a stem over the rows that were not removed."""
        postings = self._postings.get(stem)
        return inverse_document_frequency(len(self._profiles), postings.documents if postings else 0)

    def procedure_similarities(self, query: Profile) -> Scores:
        """`measures.procedure_similarity` of the query with each row, shape (rows,)."""
        rows = len(self._weight)
        overlap, shared = np.zeros(rows), np.zeros(rows)
        for term in query.terms:
            postings = self._postings.get(term.stem)
            if postings:
                where = postings.rows.values
                weight = np.minimum(postings.weights.values, term.weight)
                shared[where] += weight
                overlap[where] += weight * (1 - np.abs(postings.positions.values - term.position))
        total = self._weight.values + sum(t.weight for t in query.terms) - shared
        return np.divide(overlap, total, out=np.zeros(rows), where=total > 0)

    def topic_similarities(self, query: Profile) -> Scores:
        """`measures.topic_similarity` of the query with each row, shape (rows,)."""
        dot, length = np.zeros(len(self._weight)), 0.0
        for term in query.terms:
            if term.count:
                rarity = self.rarity(term.stem)
                value = (1 + math.log(term.count)) * rarity
                length += value * value
                postings = self._postings.get(term.stem)
                if postings:
                    dot[postings.rows.values] += value * rarity * postings.frequencies.values
        norms = self._document_norms() * math.sqrt(length)
        return np.divide(dot, norms, out=np.zeros(len(dot)), where=norms > 0)

    def shares_of_words(self, query: Profile) -> Scores:
        """The share, 0..1, of the query's content words that each row has, shape (rows,)."""
        found, words = np.zeros(len(self._weight)), [term.stem for term in query.terms if term.count]
        for stem in words:
            postings = self._postings.get(stem)
            if postings:
                found[postings.rows.values[postings.frequencies.values > 0]] += 1
        return found / max(1, len(words))

    def _document_norms(self) -> Scores:
        if self._norms is None:
            squares = np.zeros(len(self._weight))
            for stem, postings in self._postings.items():
                squares[postings.rows.values] += (postings.frequencies.values * self.rarity(stem)) ** 2
            self._norms = np.sqrt(squares)
        return self._norms
