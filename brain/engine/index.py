"""Which stored skills fit a query best? `RecallIndex`: all live skills in memory, scored exactly.

The index is a view of one namespace as of a version of its counter. `apply` brings in what changed since. Skills
whose stored profile is missing or of another version of the analysis are named by `unread` and filled in by `read`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from brain.analysis.duplicates import LEAST_SHARED, MOST_COMPARED, agreement
from brain.analysis.measures import Scores
from brain.analysis.profile import Profile
from brain.engine import scoring
from brain.engine.scoring import Query
from brain.engine.table import Mask, SkillTable
from brain.model.context import ContextFeatures
from brain.model.policy import DUPLICATE_SIMILARITY, Policy, combined_score
from brain.model.skill import Skill
from brain.store.base import Changes, RecallEntry

DEAD_ROWS_KEPT = 1_000
"""Removed rows that the table may hold beside as many as it has live ones, before it is made anew."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Scored:
    """One skill's four scores, 0..1, and their weighted sum."""

    skill_id: str
    structural: float
    semantic: float
    transfer: float
    confidence: float
    combined: float

    @property
    def rank(self) -> tuple[float | str, ...]:
        """Sorts best first; equal combined scores by the evidence for this task, then by id."""
        return (-self.combined, -self.semantic, -self.structural, -self.transfer, self.skill_id)


class RecallIndex:
    """All live skills of a namespace, ready to be scored. Safe to use from several threads."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self._lock = policy, threading.RLock()
        self._table = SkillTable(policy)
        self._unread: dict[str, RecallEntry] = {}
        self._texts: dict[str, frozenset[str]] = {}
        self._version = 0

    @property
    def version(self) -> int:
        """The version of the namespace's counter that this view shows; 0 before anything was read."""
        return self._version

    def __len__(self) -> int:
        return len(self._table)

    def apply(self, changes: Changes) -> None:
        """Brings in `changes`. An answer that is older than the view changes nothing, unless it is all there is."""
        with self._lock:
            if changes.version < self._version and not changes.complete:
                return
            if changes.complete:
                self._table, self._unread, self._texts = SkillTable(self._policy), {}, {}
            self.drop(changes.deleted, self._version)
            for entry in changes.entries:
                self._put(entry)
            self._version = changes.version

    def drop(self, skill_ids: Iterable[str], as_of: int) -> None:
        """Takes out skills that the store did not have at version `as_of`, unless the view has moved on since."""
        with self._lock:
            if as_of < self._version:
                return
            for skill_id in skill_ids:
                self._table.remove(skill_id)
                self._unread.pop(skill_id, None)
                self._texts.pop(skill_id, None)
            if self._table.dead > max(DEAD_ROWS_KEPT, len(self._table)):
                old, self._table = self._table, SkillTable(self._policy)
                for entry, profile in old.entries():
                    self._table.put(entry, profile)

    def unread(self) -> list[str]:
        """Skills whose text has to be read before they are scored."""
        with self._lock:
            return list(self._unread)

    def read(self, skill: Skill, profile: Profile) -> None:
        """Fills in what `unread` named."""
        with self._lock:
            entry = self._unread.pop(skill.id, None)
            if entry:
                self._texts[skill.id] = scoring.words_of(skill.to_embedding_text())
                self._table.put(entry, profile)

    def best(self, query: Query, now: datetime, top_k: int, min_score: float) -> list[Scored]:
        """The `top_k` best skills with semantic evidence and a combined score of at least `min_score`, best first."""
        with self._lock:
            self._expire(now)
            structural, semantic, combined = self._scores(query)
            enough = (combined >= min_score - _ROUNDING) & (semantic >= self._policy.floor)
            rows = np.flatnonzero(self._table.alive & enough)
            if len(rows) > top_k:  # keep ties of the last place, so that evidence decides among them
                last = np.partition(combined[rows], -top_k)[-top_k]
                rows = rows[combined[rows] >= last]
            found = [self._scored(int(row), structural, semantic, combined) for row in rows]
            return sorted(found, key=lambda scored: scored.rank)[:top_k]

    def score(self, query: Query, now: datetime, skill_id: str) -> Scored | None:
        """The scores of one skill, whatever they are; None if it is not here."""
        with self._lock:
            self._expire(now)
            row = self._table.row(skill_id)
            return None if row is None else self._scored(row, *self._scores(query))

    def rarity(self, stem: str) -> float:
        """How rare a stem is among the live skills: its inverse document frequency."""
        with self._lock:
            return self._table.corpus.rarity(stem)

    def twin(self, profile: Profile, features: ContextFeatures, skill_type: str, now: datetime) -> str | None:
        """The skill that does the same as a new one, or None (guide, "Skill Deduplication").

        By the guide: equal features, else the most similar structure of at least 0.70. By default the texts decide
        alone, whatever their features: they must tell the same procedure.
        """
        with self._lock:
            self._expire(now)
            table, shape = self._table, features.shape
            candidates = table.alive & table.of_type(skill_type)
            if not candidates.any():
                return None
            if self._policy.duplicates == "guide":
                similarity = table.by_shape([shape.similarity_to(other) for other in table.shapes])
                score = np.where(table.with_fingerprint(features.fingerprint()), 2.0, similarity)
                return self._first(candidates & (score >= DUPLICATE_SIMILARITY - _ROUNDING), score)
            return self._telling_the_same(candidates, profile)

    def _telling_the_same(self, candidates: Mask, profile: Profile) -> str | None:
        """The candidate that tells the same procedure most surely; ties by id.

        Likeness of the structures does not decide: with the guide's 0.70 beside the agreement, or no features on either
        side, 44 of the 64 same pairs of the labelled set are found, without it 55, and no different one either way.
        """
        corpus = self._table.corpus
        shared, score = corpus.shares_of_words(profile), np.zeros(len(candidates))
        rows = np.flatnonzero(candidates & (shared >= LEAST_SHARED))
        if len(rows) > MOST_COMPARED:
            likely = shared + corpus.procedure_similarities(profile)
            rows = rows[np.argsort(-likely[rows], kind="stable")[:MOST_COMPARED]]
        for row in rows:
            score[row] = agreement(profile, corpus.profile(int(row)))
        return self._first(score > 0, score)

    def _first(self, candidates: Mask, score: Scores) -> str | None:
        rows = np.flatnonzero(candidates)
        return min(((-score[row], self._table.ids[row]) for row in rows), default=(0.0, None))[1]

    def _scores(self, query: Query) -> tuple[Scores, Scores, Scores]:
        structural = scoring.structural_scores(self._table, query, self._policy)
        semantic = scoring.semantic_scores(self._table, query, self._policy, self._texts)
        combined = combined_score(structural, semantic, self._table.transfer, self._table.confidence)
        return structural, semantic, combined

    def _scored(self, row: int, structural: Scores, semantic: Scores, combined: Scores) -> Scored:
        table = self._table
        numbers = (structural[row], semantic[row], table.transfer[row], table.confidence[row], combined[row])
        return Scored(table.ids[row], *(min(1.0, max(0.0, float(number))) for number in numbers))

    def _put(self, entry: RecallEntry) -> None:
        self._unread.pop(entry.id, None)
        profile = Profile.from_json(entry.profile)
        if profile is None:
            self._table.remove(entry.id)
        else:
            self._table.put(entry, profile)
        if profile is None or self._policy.semantic == "guide":
            self._unread[entry.id] = entry

    def _expire(self, now: datetime) -> None:
        self.drop(self._table.expired(now), self._version)
