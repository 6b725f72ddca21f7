"""How are the two dimensions that depend on the task scored, for all rows at once? (guide, "Transfer Scoring")"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
from brain.engine.table import SkillTable
from brain.model.context import Shape
from brain.model.policy import Policy


@dataclass(frozen=True)
class Query:
    """A task to recall for: its words, its shape, the guide's embedding text, and its unit vector, if any."""

    profile: Profile
    shape: Shape
    text: str
    vector: NDArray[np.float32] | None = None


def structural_scores(table: SkillTable, query: Query, policy: Policy) -> Scores:
    """Structural similarity of each row, 0..1, shape (rows,). The identical context is 1 by default."""
    shapes = [structural_similarity(query.shape, other, policy) for other in table.shapes]
    scores = table.by_shape(shapes) if shapes else np.zeros(len(table.ids))
    if policy.semantic == "measures":
        scores[table.rows_with_digest(query.profile.digest)] = 1.0
    return scores


def structural_similarity(wanted: Shape, known: Shape, policy: Policy) -> float:
    """Structural similarity of two shapes under a policy, 0..1; 0 where one names too little."""
    if min(wanted.names, known.names) < policy.least_names:
        return 0.0
    return wanted.similarity_to(known, unknown_is_evidence=policy.unknown_is_evidence)


def semantic_scores(table: SkillTable, query: Query, policy: Policy, texts: Mapping[str, frozenset[str]]) -> Scores:
    """Semantic similarity of each row, 0..1, shape (rows,). `texts` holds the words of the guide's embedding texts."""
    if policy.semantic == "guide":
        return _guide_semantic(table, query, texts)
    scores = _measured(table, query)
    scores[table.rows_with_digest(query.profile.digest)] = 1.0
    return scores


def words_of(text: str) -> frozenset[str]:
    """The words that the guide's keyword overlap compares: what stands between spaces, lower case."""
    return frozenset(text.lower().split())


def _measured(table: SkillTable, query: Query) -> Scores:
    """Procedures where both sides tell steps, else topics, by words and, where there is one, by the vector."""
    topics = TOPIC_SCALE(table.corpus.topic_similarities(query.profile))
    if query.vector is not None:
        cosines, has_vector = table.cosines(query.vector)
        words = TOPIC_SCALE_BESIDE_VECTORS(table.corpus.topic_similarities(query.profile))
        topics = np.where(has_vector, beside_vector(words, VECTOR_SCALE(cosines)), topics)
    if not query.profile.has_steps:
        return topics
    procedures = PROCEDURE_SCALE(table.corpus.procedure_similarities(query.profile))
    return np.where(table.corpus.have_steps, procedures, topics)


def _guide_semantic(table: SkillTable, query: Query, texts: Mapping[str, frozenset[str]]) -> Scores:
    """The embedder's cosine mapped from -1..1 to 0..1; without a vector the Jaccard similarity of the words."""
    mine = words_of(query.text)
    overlap = np.array([_jaccard(mine, texts.get(skill_id, frozenset())) for skill_id in table.ids])
    if query.vector is None:
        return overlap
    cosines, has_vector = table.cosines(query.vector)
    return np.where(has_vector, np.clip((cosines + 1) / 2, 0.0, 1.0), overlap)


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left and right else 0.0
