"""Which stored skills fit a query best? `RecallIndex`: all live skills in memory, scored exactly.

The index is a view of one stored namespace as of a version of its counter. `apply` brings in what changed since; a new
view is built by `filling` and takes the place of the old one at once. Skills whose stored terms are missing or of
another version of the analysis are named by `unread` and filled in by `read`.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from brain.analysis.corpus import Rarities
from brain.analysis.duplicates import LEAST_SHARED, MOST_COMPARED
from brain.analysis.measures import Scores
from brain.analysis.profile import Profile, stored_terms
from brain.engine import scoring
from brain.engine.image import Image, image_of
from brain.engine.scoring import Exact, Query, Scoring
from brain.engine.table import Mask, Rows, SkillTable
from brain.model.context import ContextFeatures
from brain.model.policy import DUPLICATE_SIMILARITY, Policy
from brain.model.skill import Skill
from brain.store.values import Changes, RecallEntry

DEAD_ROWS_KEPT = 1_000
"""Removed rows that the table may hold beside as many as it has live ones, before it is made anew."""
FIRST_BLOCK = 64
"""Rows of the best bounds that are scored first; each block after it is twice as large. Nearly always the first has the
answer. With all rows at once recall at 100 000 skills takes 4 to 9 times as long."""
MERGED_AT_ONCE = 256
"""Rows that a change may merge at most while a recall waits for it: 2 ms. Beside an import 10 000 took 360."""
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
    """All live skills of a namespace, ready to be scored. Safe to use from several threads.

    Vectors are kept if the embedder at hand has a `dimension`.
    """

    def __init__(self, policy: Policy, dimension: int | None) -> None:
        self._policy, self._dimension = policy, dimension
        self._lock = threading.RLock()
        self._table = SkillTable(policy, dimension)
        self._unread: dict[str, RecallEntry] = {}
        self._texts: dict[str, frozenset[str]] = {}
        self._store_id, self._version = "", 0

    @property
    def version(self) -> int:
        """The version of the namespace's counter that this view shows; 0 before anything was read."""
        return self._version

    @property
    def store_id(self) -> str:
        """Which stored namespace this is a view of; "" before anything was read."""
        return self._store_id

    def __len__(self) -> int:
        return len(self._table)

    @contextmanager
    def shown(self, now: datetime) -> Iterator[SkillTable]:
        """The table without what has expired. Nobody changes it meanwhile."""
        with self._lock:
            self._expire(now)
            yield self._table

    def show(self, store_id: str, version: int, table: SkillTable, unread: Iterable[RecallEntry] = ()) -> None:
        """Makes a table that was read as of `version` the view, unless a later one of the same store is shown."""
        with self._lock:
            if store_id == self._store_id and version < self._version:
                return
            table.corpus.merged_at_once = MERGED_AT_ONCE
            self._table, self._texts = table, {}
            self._unread = {entry.id: entry for entry in unread}
            self._store_id, self._version = store_id, version

    def filling(self) -> Filling:
        """An empty table to fill with all entries, for `show`."""
        return Filling(SkillTable(self._policy, self._dimension), self._policy)

    def fits(self, changes: Changes) -> bool:
        """Whether `changes` can be brought into this view: of the same stored namespace, and not too far on."""
        if not self._store_id and not changes.stale:  # nothing was ever written when the view was made
            return True
        return not changes.stale and changes.store_id == self._store_id

    def apply(self, changes: Changes, since: int) -> None:
        """Brings in what changed after version `since`, if it fits.

        Nothing happens where the view has moved on, or is of before `since`, so that something would be left out.
        """
        with self._lock:
            if not since <= self._version <= changes.version or not self.fits(changes):
                return
            self.drop(changes.deleted, self._version)
            filling = Filling(self._table, self._policy)
            for entry in changes.entries:
                self._unread.pop(entry.id, None)
            filling.add(changes.entries)
            self._table.remove(entry.id for entry in filling.unread if stored_terms(entry.terms) is None)
            self._unread.update((entry.id, entry) for entry in filling.unread)
            self._store_id, self._version = changes.store_id, changes.version

    def image(self) -> Image | None:
        """The view as a snapshot holds it; None while it does not show all that there is."""
        with self._lock:
            return None if self._unread else image_of(self._table, self._store_id, self._version)

    def drop(self, skill_ids: Iterable[str], as_of: int) -> None:
        """Takes out skills that the store did not have at version `as_of`, unless the view has moved on since."""
        with self._lock:
            if as_of < self._version:
                return
            gone = list(skill_ids)
            self._table.remove(gone)
            for skill_id in gone:
                self._unread.pop(skill_id, None)
                self._texts.pop(skill_id, None)
            if self._table.dead > max(DEAD_ROWS_KEPT, len(self._table)):
                self._table.compact()

    def has_due(self) -> bool:
        """Whether `merge` has something to do."""
        with self._lock:
            return self._table.corpus.due() is not None

    def merge(self) -> None:
        """Merges what has grown too large for `apply` to do it. The index can be used and changed meanwhile."""
        while True:
            with self._lock:
                corpus = self._table.corpus
                due = corpus.due()
            if due is None:
                return
            done = due.done()
            with self._lock:
                corpus.take(due, done)

    def unread(self) -> list[RecallEntry]:
        """Skills whose text has to be read before they are scored."""
        with self._lock:
            return list(self._unread.values())

    def read(self, skills: Sequence[tuple[RecallEntry, Skill, Profile]]) -> None:
        """Fills in what `unread` gave, where it is still what is to be read."""
        with self._lock:
            known = [(e, s, p) for e, s, p in skills if self._unread.get(e.id) is e]
            for entry, _, _ in known:
                del self._unread[entry.id]
            if self._policy.semantic == "guide":
                self._texts.update((s.id, scoring.words_of(s.to_embedding_text())) for _, s, _ in known)
            self._table.put([(entry, profile.packed) for entry, _, profile in known])

    def best(
        self, query: Query, now: datetime, top_k: int, min_score: float, skill_types: Collection[str] | None = None
    ) -> list[Scored]:
        """The `top_k` best skills with semantic evidence and a combined score of at least `min_score`, best first.

        Only those of `skill_types`; by default all that are advice.
        """
        with self._lock:
            self._expire(now)
            if not len(self._table):
                return []
            work = self._scoring(query)
            bounds = work.bounds()
            enough = self._table.column("alive") & (bounds.combined >= min_score - _ROUNDING)
            enough &= self._table.of_types(skill_types)
            rows = np.flatnonzero(enough & (bounds.semantic >= self._policy.floor))
            return self._best(work, rows, bounds.combined[rows], top_k, min_score)

    def _best(self, work: Scoring, rows: Rows, bounds: Scores, top_k: int, min_score: float) -> list[Scored]:
        """Scores rows by descending bound until what is left cannot reach the `top_k`-th best."""
        found: list[Scored] = []
        least, block = min_score - _ROUNDING, FIRST_BLOCK
        while len(rows):
            first = np.argpartition(-bounds, block)[:block] if len(rows) > block else np.arange(len(rows))
            exact = work.exact(rows[first])
            passed = np.flatnonzero((exact.combined >= least) & (exact.semantic >= self._policy.floor))
            if len(passed) > top_k:  # ties of the last place stay, so that evidence decides among them
                last = np.partition(exact.combined[passed], -top_k)[-top_k]
                passed = passed[exact.combined[passed] >= last - _ROUNDING]
            found += [self._scored(int(rows[first[i]]), exact, int(i)) for i in passed]
            found = sorted(found, key=lambda scored: scored.rank)[:top_k]
            if len(found) == top_k:
                least = max(least, found[-1].combined - _ROUNDING)
            bounds[first] = -1.0
            left = bounds >= least
            rows, bounds, block = rows[left], bounds[left], 2 * block
        return found

    def score(self, query: Query, now: datetime, skill_id: str) -> Scored | None:
        """The scores of one skill, whatever they are; None if it is not here."""
        with self._lock:
            self._expire(now)
            row = self._table.row(skill_id)
            return None if row is None else self._scored(row, self._scoring(query).exact(np.array([row])), 0)

    def rarities(self, skill_ids: Sequence[str], profile: Profile) -> Rarities:
        """How rare the content words of a query and of some skills are, as they are now."""
        with self._lock:
            rows = [row for skill_id in skill_ids if (row := self._table.row(skill_id)) is not None]
            return self._table.corpus.rarities(profile.terms, rows)

    def same_features(self, features: ContextFeatures, skill_type: str, now: datetime) -> str | None:
        """The duplicate of a new skill by the guide: equal features, else the most similar structure of at least 0.70.

        (guide, "Skill Deduplication")
        """
        with self._lock:
            self._expire(now)
            table = self._table
            candidates = self._of_type(skill_type)
            if not candidates.any():
                return None
            similarity = table.shapes.similarities(features.shape, self._policy)[table.column("shape")]
            score = np.where(table.with_fingerprint(features.fingerprint()), 2.0, similarity)
            rows = np.flatnonzero(candidates & (score >= DUPLICATE_SIMILARITY - _ROUNDING))
            return min(((-score[row], table.ids[row]) for row in rows), default=(0.0, None))[1]

    def alike(
        self, profile: Profile, skill_type: str, now: datetime, among: Collection[str] | None = None
    ) -> list[str]:
        """Skills with enough words of a new one to be its duplicate, likeliest first, at most `MOST_COMPARED`.

        Only those that are `among` some; by default all.
        """
        with self._lock:
            self._expire(now)
            corpus = self._table.corpus
            if not len(self._table):
                return []
            shared = corpus.shares_of_words(profile.terms)
            rows = np.flatnonzero(self._of_type(skill_type) & (shared >= LEAST_SHARED))
            if among is not None:
                rows = rows[[self._table.ids[row] in among for row in rows]]
            order = np.argsort(-shared[rows], kind="stable")[:MOST_COMPARED]
            return [self._table.ids[row] for row in rows[order]]

    def _of_type(self, skill_type: str) -> Mask:
        return np.asarray(self._table.column("alive") & self._table.of_type(skill_type), bool)

    def _scoring(self, query: Query) -> Scoring:
        return Scoring(self._table, query, self._policy, self._texts)

    def _scored(self, row: int, exact: Exact, i: int) -> Scored:
        table = self._table
        transfer, confidence = table.transfer[row], table.column("confidence")[row]
        numbers = (exact.structural[i], exact.semantic[i], transfer, confidence, exact.combined[i])
        return Scored(table.ids[row], *(min(1.0, max(0.0, float(number))) for number in numbers))

    def _expire(self, now: datetime) -> None:
        self.drop(self._table.expired(now), self._version)


class Filling:
    """A table that entries are added to; those that must be read first are kept apart as `unread`."""

    def __init__(self, table: SkillTable, policy: Policy) -> None:
        self.table, self.unread = table, list[RecallEntry]()
        self._every_text = policy.semantic == "guide"

    def add(self, entries: Sequence[RecallEntry]) -> None:
        """Adds a page of entries."""
        known = [(entry, stored_terms(entry.terms)) for entry in entries]
        self.table.put([(entry, terms) for entry, terms in known if terms is not None])
        self.unread += [entry for entry, terms in known if terms is None or self._every_text]
