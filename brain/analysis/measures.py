"""How alike are two texts as procedures, and as topics? Two measures, each on a calibrated scale 0..1.

Where both sides tell steps, verbs, function words and order are the signal, and `procedure_similarity` compares.
Where one side is a bare request, rare words are the signal, and `topic_similarity` compares.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brain.analysis.profile import Profile

Scores = NDArray[np.float64]
"""One number a row, 0..1."""


@dataclass(frozen=True)
class Scale:
    """Maps a raw similarity to 0..1: `low` is what an unrelated pair has, `high` a good match.

    0..0.9 between the two, 0.9..1 above, so that equal texts alone reach 1 and no two good matches tie at a cap.
    """

    low: float
    high: float

    def __call__(self, raw: Scores) -> Scores:
        """The calibrated scores, 0..1, of raw similarities."""
        steep, flat = 0.9 / (self.high - self.low), 0.1 / (1.0 - self.high)
        below, above = (
            (raw - self.low) * steep,
            (raw - self.high) * flat,
        )  # the lower of two lines, as flat is less steep
        return np.clip(np.minimum(below, above + 0.9), 0.0, 1.0)


PROCEDURE_SCALE = Scale(0.03, 0.22)
"""At the default floor and `min_score`, .97 of the right skills of propara_logy are kept, and .04 of its queries find
one among ten unrelated skills. `high` .18: .99 and .11; `high` .35: .70 and .00."""
TOPIC_SCALE = Scale(0.03, 0.20)
"""Kept and false: 1.0 and .00 on Track A, .73 and .08 on metatool. With verbs as heavy as nouns Track A had .95, .00;
1.0 and .05 at a `high` of .18, .85 and .00 at .30."""
ACTION_SHARE = 0.8
"""What verbs and modifiers count in a topic beside nouns: a request says "find", "show" and "new" of anything.

hit@1 at 1, .8 and .7 without an embedder: metatool one tool .570, .586, .582, two tools .478, .486, .498; procedures of
our own, asked in other words, .27, .30, .33 (examples/recall_quality.ipynb). At .7 Track A falls to .95, at .5 metatool
two tools to .43.
"""
TOPIC_SCALE_BESIDE_VECTORS = Scale(0.01, 0.16)
VECTOR_SCALE = Scale(0.10, 0.50)
VECTOR_SHARE = 0.6
"""The scales where both words and a vector tell the topic, and the vector's share of the score.

hit@1 with MiniLM on metatool, one tool and two: .716 and .566; kept and false .84 and .04, on Track A 1.0 and .00. With
`low` .02 and .15 and `high` .18 and .50, .708 and .574, and .90 of Track A is kept; with a `high` of .45 for the vector
its hit@1 falls to .95. A share of .7 loses more of it (.90).
"""


def beside_vector(words: Scores, vectors: Scores) -> Scores:
    """The calibrated topic scores of words and of vectors as one, 0..1."""
    return (1 - VECTOR_SHARE) * words + VECTOR_SHARE * vectors


def procedure_similarity(left: Profile, right: Profile) -> float:
    """Weighted, position-aware Jaccard similarity of two procedures, 0..1; 1 for equal texts.

    Each shared stem adds its smaller weight, less by how far apart the two use it; divided by all weight of both.
    """
    other = {t.stem: t for t in right.terms}
    overlap = shared = 0.0
    for term in left.terms:
        match = other.get(term.stem)
        if match:
            weight = min(term.weight, match.weight)
            shared += weight
            overlap += weight * (1 - abs(term.position - match.position))
    total = sum(t.weight for t in left.terms) + sum(t.weight for t in right.terms) - shared
    return overlap / total if total else 0.0


def is_same_context(query: Profile, document: Profile) -> bool:
    """Whether a request is the context that a skill was learned in: its domain and task and, where it plans steps, its
    steps too.
    """
    if query.digest != document.digest:
        return False
    return not (query.has_steps and document.has_steps) or query.terms == document.terms


def content_similarity(left: Profile, right: Profile) -> float:
    """Jaccard similarity of the content words, 0..1: whether two texts are about the same things."""
    mine = {t.stem for t in left.terms if t.count}
    theirs = {t.stem for t in right.terms if t.count}
    return len(mine & theirs) / len(mine | theirs) if mine or theirs else 0.0


def topic_similarity(query: Profile, document: Profile, rarity: Callable[[str], float]) -> float:
    """Cosine, 0..1, of the content words weighted by frequency × rarity.

    `rarity` gives a stem's inverse document frequency. Words of the query that no document has count in its length.
    """
    mine, theirs = _topic_vector(query, rarity), _topic_vector(document, rarity)
    dot = sum(value * theirs.get(stem, 0.0) for stem, value in mine.items())
    norms = math.sqrt(sum(v * v for v in mine.values())) * math.sqrt(sum(v * v for v in theirs.values()))
    return dot / norms if norms else 0.0


def topic_frequency(count: int, *, is_noun: bool) -> float:
    """What a content word counts by its occurrences in a text: 1 + ln count for a noun, `ACTION_SHARE` of it else."""
    return (1 + math.log(count)) * (1.0 if is_noun else ACTION_SHARE) if count else 0.0


def inverse_document_frequency(documents: int, containing: int) -> float:
    """ln(1 + N / (df + ½)): large for rare words."""
    return math.log(1 + documents / (containing + 0.5))


def _topic_vector(profile: Profile, rarity: Callable[[str], float]) -> dict[str, float]:
    return {t.stem: topic_frequency(t.count, is_noun=t.is_noun) * rarity(t.stem) for t in profile.terms if t.count}
