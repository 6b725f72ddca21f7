"""What does plain numpy answer, and how fast? Every skill scored from plain arrays, none left out.

The formulas of `brain.analysis.measures` and `brain.model` again, on other data: all vectors as one matrix, all terms
of all skills row by row, looked up in a table of the query's. There are no inverted lists, no bounds and no segments.
Cosines are float32, as a plain matrix product gives them; `answer` scores the best again in float64, as `brain` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brain.analysis.measures import (
    ACTION_SHARE,
    PROCEDURE_SCALE,
    TOPIC_SCALE,
    TOPIC_SCALE_BESIDE_VECTORS,
    VECTOR_SCALE,
    VECTOR_SHARE,
)
from brain.analysis.profile import stored_terms
from brain.analysis.terms import NOUN, PARTS, Term, key_of
from brain.engine.scoring import Query
from brain.model.context import UNKNOWN, Shape
from brain.model.policy import Policy
from brain.store.values import RecallEntry

Array = NDArray[Any]
AGAIN = 200
"""Rows that are scored again in float64, so that the first five are certain."""


class Answer(NamedTuple):
    """One skill that was found, with the scores that rank it."""

    id: str
    combined: float
    semantic: float


@dataclass
class _Flat:
    """Terms row by row: the row of each, its place in the vocabulary, and what stands with it."""

    rows: Array
    places: Array
    weights: Array
    positions: Array
    uses: Array


class Exhaustive:
    """All skills as plain arrays."""

    def __init__(self, entries: Iterable[RecallEntry], policy: Policy) -> None:
        self._policy = policy
        kept = [(entry, terms) for entry in entries if (terms := stored_terms(entry.terms)) is not None]
        self.ids = [entry.id for entry, _ in kept]
        self._matrix = np.stack([np.frombuffer(entry.vector or b"", np.float32) for entry, _ in kept])
        numbers: dict[Shape, int] = {}
        self._shape = np.array([numbers.setdefault(entry.shape, len(numbers)) for entry, _ in kept])
        self._structures = _table([shape.task_structures for shape in numbers])
        self._patterns = _table([shape.cognitive_patterns for shape in numbers])
        self._inputs = np.array([shape.input_shape for shape in numbers])
        self._outputs = np.array([shape.output_shape for shape in numbers])
        self._names = np.array([shape.names for shape in numbers])
        counts = np.array([entry.transfer_count for entry, _ in kept])
        self._transfer = policy.transfer_scores(counts, np.array([entry.transfer_successes for entry, _ in kept]))
        self._confidence = np.array([entry.confidence for entry, _ in kept])
        self._told = np.array([terms.has_steps for _, terms in kept])
        self._context = np.array([terms.context for _, terms in kept], np.uint64)
        records = np.concatenate([terms.records for _, terms in kept])
        self._keys, places = np.unique(records["key"], return_inverse=True)
        lengths = np.array([len(terms.records) for _, terms in kept])
        self._terms = _flat(records, places, lengths)
        content = records["use"] > 0
        own = np.bincount(self._terms.rows[content], minlength=len(kept))
        self._content = _flat(records[content], places[content], own)
        self._weight = np.bincount(self._terms.rows, self._terms.weights, minlength=len(kept))
        documents = np.bincount(self._content.places, minlength=len(self._keys))
        self._rarity = np.log(1 + len(kept) / (documents + 0.5))
        values = _frequencies(self._content.uses) * self._rarity[self._content.places]
        self._values = values
        self._length = np.sqrt(np.bincount(self._content.rows, values**2, minlength=len(kept)))

    def __len__(self) -> int:
        return len(self.ids)

    def scan(self, query: Query, top_k: int = 5) -> Array:
        """The rows of the best, by one pass over everything: what is timed."""
        _, semantic, combined = self._scores(query, None)
        combined = np.where(semantic >= self._policy.floor, combined, -1.0)
        best = np.argpartition(-combined, min(top_k, len(combined) - 1))[:top_k]
        return np.asarray(best[np.argsort(-combined[best])])

    def product(self, query: Query) -> Array:
        """The matrix product of all vectors alone."""
        return np.asarray(self._matrix @ query.vector)

    def answer(self, query: Query, top_k: int, min_score: float) -> list[Answer]:
        """The best, ranked as recall ranks."""
        rough = self._scores(query, None)[2]
        rows = np.argsort(-rough)[: max(AGAIN, top_k)]
        structural, semantic, combined = self._scores(query, rows)
        found = [
            ((-combined[i], -semantic[i], -structural[i], -self._transfer[row], self.ids[row]), i, row)
            for i, row in enumerate(rows)
            if combined[i] >= min_score - 1e-9 and semantic[i] >= self._policy.floor
        ]
        return [Answer(self.ids[row], float(combined[i]), float(semantic[i])) for _, i, row in sorted(found)[:top_k]]

    def _scores(self, query: Query, rows: Array | None) -> tuple[Array, Array, Array]:
        """Structural, semantic and combined scores of all rows, or of some with cosines in float64."""
        some = slice(None) if rows is None else rows
        same = (self._context == np.uint64(query.profile.packed.context))[some]
        semantic = np.zeros(len(self))[some]
        told = self._told[some] if query.profile.has_steps else np.zeros(len(semantic), bool)
        if told.any():
            procedures = self._procedures(query)[some]
            semantic[told] = PROCEDURE_SCALE(procedures[told])
            same &= ~told | (procedures == 1.0)  # every text of the benchmark has terms
        structural = np.where(same, 1.0, self._likeness(query.shape)[self._shape][some])
        if not told.all():
            semantic[~told] = self._topics(query, rows)[~told]
        semantic[same] = 1.0
        prior = 0.25 * self._transfer[some] + 0.15 * self._confidence[some]
        return structural, semantic, 0.35 * structural + 0.25 * semantic + prior

    def _likeness(self, wanted: Shape) -> Array:
        """Structural similarity with each distinct shape."""
        rules = self._policy
        structures, shared = _jaccard(self._structures, wanted.task_structures)
        patterns, more = _jaccard(self._patterns, wanted.cognitive_patterns)
        scores = 0.35 * structures + 0.35 * patterns
        for kinds, kind in ((self._inputs, wanted.input_shape), (self._outputs, wanted.output_shape)):
            if rules.unknown_is_evidence or kind != UNKNOWN:
                scores += 0.15 * (kinds == kind)
        scores[shared + more < rules.least_shared] = 0.0
        scores[np.maximum(self._names, wanted.names) < rules.least_names] = 0.0
        return scores

    def _procedures(self, query: Query) -> Array:
        """`measures.procedure_similarity` with each row: every term of every row looked up."""
        flat, size = self._terms, len(self._keys)
        mine, weights, positions = np.zeros(size, bool), np.zeros(size, np.int32), np.zeros(size, np.int32)
        for term in query.profile.terms:
            if (found := self._place(term.stem)) is not None:
                mine[found] = True
                weights[found], positions[found] = round(term.weight * PARTS), round(term.position * PARTS)
        hits = np.flatnonzero(mine[flat.places])
        places, rows = flat.places[hits], flat.rows[hits]
        shared = np.minimum(flat.weights[hits], weights[places])
        near = PARTS - np.abs(flat.positions[hits] - positions[places])
        overlap = np.bincount(rows, shared * near, minlength=len(self))
        total = self._weight + sum(round(t.weight * PARTS) for t in query.profile.terms)
        total = total - np.bincount(rows, shared, minlength=len(self))
        return np.divide(overlap, PARTS * total, out=np.zeros(len(self)), where=total > 0)

    def _topics(self, query: Query, rows: Array | None) -> Array:
        """`measures.topic_similarity` with each row, beside the cosine of the vectors: every content word looked up."""
        flat, factors = self._content, np.zeros(len(self._keys))
        said = [t for t in query.profile.terms if t.count]
        for term in said:
            if (place := self._place(term.stem)) is not None:
                factors[place] = _frequencies(np.array(term.use)) * self._rarity[place]
        hits = np.flatnonzero((factors > 0)[flat.places])
        product = self._values[hits] * factors[flat.places[hits]]
        dots = np.bincount(flat.rows[hits], product, minlength=len(self))
        norms = self._length * self._query_length(said)
        words = np.divide(dots, norms, out=np.zeros(len(self)), where=norms > 0)
        if query.vector is None:
            return np.asarray(TOPIC_SCALE(words if rows is None else words[rows]))
        if rows is None:
            cosines = self.product(query)
        else:
            words = words[rows]
            cosines = np.round(self._matrix[rows].astype(np.float64) @ query.vector.astype(np.float64), 9)
        return np.asarray((1 - VECTOR_SHARE) * TOPIC_SCALE_BESIDE_VECTORS(words) + VECTOR_SHARE * VECTOR_SCALE(cosines))

    def _query_length(self, said: list[Term]) -> float:
        """Length of the query's topic vector; a word that no skill has counts as the rarest."""
        places = [self._place(term.stem) for term in said]
        unknown = float(np.log(1 + len(self) / 0.5))
        rarity = np.array([unknown if place is None else self._rarity[place] for place in places])
        return float(np.linalg.norm(_frequencies(np.array([term.use for term in said])) * rarity)) if said else 0.0

    def _place(self, stem: str) -> int | None:
        """Where a stem stands in the vocabulary."""
        key = np.uint64(key_of(stem))
        place = int(np.searchsorted(self._keys, key))
        return place if place < len(self._keys) and self._keys[place] == key else None


def _frequencies(uses: Array) -> Array:
    """`measures.topic_frequency` of some uses."""
    return np.asarray((1 + np.log(uses % NOUN)) * np.where(uses >= NOUN, 1.0, ACTION_SHARE))


def _flat(records: Array, places: Array, lengths: Array) -> _Flat:
    rows = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    columns = (records[name].astype(np.int32) for name in ("weight", "position", "use"))
    return _Flat(rows, places.astype(np.int32), *columns)


def _table(named: Sequence[Sequence[str]]) -> tuple[list[str], Array]:
    """All names, and which of them each shape has: ones and zeros, shape (shapes, names)."""
    names = sorted({name for those in named for name in those})
    return names, np.array([[float(name in those) for name in names] for those in named], np.float32)


def _jaccard(table: tuple[list[str], Array], wanted: Sequence[str]) -> tuple[Array, Array]:
    names, has = table
    shared = has @ np.array([float(name in wanted) for name in names], np.float32)
    union = has.sum(axis=1) + len(set(wanted)) - shared
    return np.divide(shared, union, out=np.zeros(len(has)), where=union > 0), shared
