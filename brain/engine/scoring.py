"""How well does each row fit a task? `Scoring`: upper bounds for all rows, exact scores for those that are asked for.

(guide, "Transfer Scoring")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from brain.analysis.measures import (
    PROCEDURE_SCALE,
    TOPIC_SCALE,
    TOPIC_SCALE_BESIDE_VECTORS,
    VECTOR_SCALE,
    Scores,
    beside_vector,
)
from brain.analysis.profile import Profile
from brain.engine.table import Rows, SkillTable
from brain.model.context import Shape
from brain.model.policy import SEMANTIC_WEIGHT, STRUCTURAL_WEIGHT, Policy, combined_score

AT_A_TIME = 16_384
"""Rows that are bounded at a time, so that what is computed on the way stays in the processor's cache."""


@dataclass(frozen=True)
class Query:
    """A task to recall for: its words, its shape, the guide's embedding text, and its unit vector, if any."""

    profile: Profile
    shape: Shape
    text: str
    vector: NDArray[np.float32] | None = None


class Bounds(NamedTuple):
    """The most that each row can score, shape (rows,)."""

    semantic: Scores
    combined: Scores


class Exact(NamedTuple):
    """The scores of some rows, 0..1, each of shape (rows,)."""

    structural: Scores
    semantic: Scores
    combined: Scores


class Semantics(Protocol):
    """The semantic dimension of one query."""

    def bounds(self, span: slice) -> Scores:
        """The most that each row of a span can score."""

    def scores(self, rows: Rows) -> Scores:
        """The exact scores of some rows, 0..1."""


class Scoring:
    """One query against one table. `texts` holds the words of the guide's embedding texts, by skill."""

    def __init__(
        self, table: SkillTable, query: Query, policy: Policy, texts: Mapping[str, frozenset[str]] | None = None
    ) -> None:
        self._table = table
        self._same = np.zeros(0, np.int64)
        self._structural = table.shapes.similarities(query.shape, policy)
        self._semantics: Semantics
        if policy.semantic == "guide":
            self._semantics = _Guide(table, query, texts or {})
        else:
            self._semantics = measures = _Measures(table, query)
            self._same = measures.unplanned_otherwise(table.rows_of_context(query.profile.packed.context))

    def bounds(self) -> Bounds:
        """Upper bounds of all rows. They hold for live rows; what they say of dead ones means nothing."""
        rows, shape, prior = len(self._table.ids), self._table.column("shape"), self._table.prior
        by_shape = STRUCTURAL_WEIGHT * self._structural
        semantic, combined = np.empty(rows), np.empty(rows)
        for start in range(0, rows, AT_A_TIME):
            span = slice(start, min(start + AT_A_TIME, rows))
            semantic[span] = self._semantics.bounds(span)
            combined[span] = by_shape.take(shape[span]) + prior[span] + SEMANTIC_WEIGHT * semantic[span]
        semantic[self._same] = 1.0
        combined[self._same] = STRUCTURAL_WEIGHT + prior[self._same] + SEMANTIC_WEIGHT
        return Bounds(semantic, combined)

    def exact(self, rows: Rows) -> Exact:
        """The scores of some rows. The identical context is 1 in structure and meaning, but for the guide's rules."""
        structural = self._structural[self._table.column("shape")[rows]]
        semantic = self._semantics.scores(rows)
        same = np.isin(rows, self._same)
        structural[same] = semantic[same] = 1.0
        numbers = self._table.transfer[rows], self._table.column("confidence")[rows]
        return Exact(structural, semantic, combined_score(structural, semantic, *numbers))


class _Measures:
    """Procedures where both sides tell steps, else topics, by words and, where there is one, by the vector."""

    def __init__(self, table: SkillTable, query: Query) -> None:
        self._cosines = None if table.vectors is None else table.vectors.compared(query.vector)
        self._told = table.corpus.have_steps if query.profile.has_steps else np.zeros(len(table.ids), bool)
        self._procedure = table.corpus.procedure(query.profile.terms) if self._told.any() else None
        self._topic = None if self._told.all() else table.corpus.topic(query.profile.terms)

    def unplanned_otherwise(self, rows: Rows) -> Rows:
        """Those of some rows whose steps are the planned ones, if the query plans any and they tell any."""
        if self._procedure is None:
            return rows
        kept: Rows = rows[~self._told[rows] | self._procedure.are_equal(rows)]
        return kept

    def bounds(self, span: slice) -> Scores:
        if self._topic is None:
            topics = np.zeros(span.stop - span.start)
        else:
            cosines = None if self._cosines is None else self._cosines.bounds(span)
            topics = self._scaled(self._topic.bounds(span), cosines, span)
        if self._procedure is None:
            return topics
        return np.where(self._told[span], PROCEDURE_SCALE(self._procedure.similarities(span)), topics)

    def scores(self, rows: Rows) -> Scores:
        told, found = self._told[rows], np.zeros(len(rows))
        if self._procedure is not None:
            found[told] = PROCEDURE_SCALE(self._procedure.similarities(rows[told]))
        if self._topic is not None:
            asked = rows[~told]
            cosines = None if self._cosines is None else self._cosines.exact(asked)
            found[~told] = self._scaled(self._topic.similarities(asked), cosines, asked)
        return found

    def _scaled(self, words: Scores, cosines: Scores | None, rows: Rows | slice) -> Scores:
        if cosines is None or self._cosines is None:
            return TOPIC_SCALE(words)
        both = beside_vector(TOPIC_SCALE_BESIDE_VECTORS(words), VECTOR_SCALE(cosines))
        has_vector = self._cosines.known(rows)
        return both if has_vector.all() else np.where(has_vector, both, TOPIC_SCALE(words))


class _Guide:
    """The embedder's cosine mapped from -1..1 to 0..1; without a vector the Jaccard similarity of the words."""

    def __init__(self, table: SkillTable, query: Query, texts: Mapping[str, frozenset[str]]) -> None:
        self._table, self._texts, self._words = table, texts, words_of(query.text)
        self._cosines = None if table.vectors is None else table.vectors.compared(query.vector)

    def bounds(self, span: slice) -> Scores:
        return self.scores(np.arange(span.start, span.stop))

    def scores(self, rows: Rows) -> Scores:
        told = (self._texts.get(self._table.ids[row], frozenset()) for row in rows)
        overlap = np.array([_jaccard(self._words, words) for words in told], np.float64)
        if self._cosines is None:
            return overlap
        return np.where(self._cosines.known(rows), np.clip((self._cosines.exact(rows) + 1) / 2, 0.0, 1.0), overlap)


def words_of(text: str) -> frozenset[str]:
    """The words that the guide's keyword overlap compares: what stands between spaces, lower case."""
    return frozenset(text.lower().split())


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left and right else 0.0
