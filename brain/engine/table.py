"""How are skills laid out for scoring? `SkillTable`: one row a skill, one array a column."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brain.analysis.columns import Column
from brain.analysis.corpus import Corpus
from brain.analysis.measures import Scores
from brain.analysis.terms import Terms
from brain.engine.shapes import Shapes
from brain.engine.vectors import Vectors
from brain.model.policy import CONFIDENCE_WEIGHT, TRANSFER_WEIGHT, Policy
from brain.model.skill import ANTI_PATTERN
from brain.store.values import RecallEntry

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

NEVER = 2**62
"""Expiry, in microseconds since 1970, of what never expires."""

COLUMNS = {
    "alive": np.bool_,
    "expires": np.int64,
    "confidence": np.float64,
    "transfers": np.int64,
    "successes": np.int64,
    "shape": np.int32,
    "type": np.int32,
    "context": np.uint64,
    "fingerprint": np.uint64,
    "content": np.uint64,
}
"""What is kept of each row beside its terms and vector. `context`, `fingerprint` and `content` are digests: of the
normalised context, of the features, and of all that does not change when a skill is merely used."""


class _Row(NamedTuple):
    """A skill that comes into the table: its shape and type by their numbers, its content as a digest."""

    entry: RecallEntry
    terms: Terms
    shape: int
    type: int
    content: int


class SkillTable:
    """Rows are only appended; a removed row stays behind as dead until `compact`.

    Vectors of `dimension` are kept; none where it is None.
    """

    def __init__(self, policy: Policy, dimension: int | None) -> None:
        self._policy = policy
        self.ids: list[str] = []
        self.types: list[str] = []
        self.corpus, self.shapes = Corpus(), Shapes()
        self.vectors = None if dimension is None else Vectors(dimension)
        self.columns = {name: Column(kind) for name, kind in COLUMNS.items()}
        self._row_of: dict[str, int] = {}
        self._scores: tuple[Scores, Scores] | None = None
        self._next_expiry = NEVER

    def restore(
        self,
        ids: list[str],
        types: list[str],
        columns: dict[str, Column],
        corpus: Corpus,
        shapes: Shapes,
        vectors: Vectors | None,
    ) -> None:
        """Makes an empty table the one that had these parts."""
        self.ids, self.types, self.columns = ids, types, columns
        self.corpus, self.shapes, self.vectors = corpus, shapes, vectors
        self._row_of = {ids[row]: row for row in np.flatnonzero(columns["alive"].values).tolist()}
        self._note_expiry()

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, skill_id: str) -> bool:
        return skill_id in self._row_of

    @property
    def dead(self) -> int:
        """Rows that were removed."""
        return len(self.ids) - len(self._row_of)

    def live_ids(self) -> list[str]:
        """The live skills."""
        return list(self._row_of)

    def row(self, skill_id: str) -> int | None:
        """The row of a live skill."""
        return self._row_of.get(skill_id)

    def column(self, name: str) -> NDArray[Any]:
        """One of `COLUMNS`, shape (rows,)."""
        return self.columns[name].values

    def put(self, entries: Sequence[tuple[RecallEntry, Terms]]) -> None:
        """Adds skills or brings them up to date; no skill twice in one call."""
        given = [self._row(entry, terms) for entry, terms in entries]
        rows = [self._row_of.get(row.entry.id) for row in given]
        contents = self.column("content")
        same = [at is not None and int(contents[at]) == row.content for at, row in zip(rows, given, strict=True)]
        used = [row.entry for stays, row in zip(same, given, strict=True) if stays]
        if used:
            self._set(np.array([self._row_of[entry.id] for entry in used]), used)
        new = [row for stays, row in zip(same, given, strict=True) if not stays]
        self.remove(row.entry.id for row in new)
        if new:
            self._append(new)

    def remove(self, skill_ids: Iterable[str]) -> None:
        """Takes skills out, those that are here."""
        rows = [row for skill_id in skill_ids if (row := self._row_of.pop(skill_id, None)) is not None]
        if rows:
            self.column("alive")[rows] = False
            self.corpus.remove(np.array(rows))

    def compact(self) -> None:
        """Drops dead rows; those that are left are numbered anew."""
        alive = self.column("alive").copy()
        self.corpus.compact()
        self.vectors = None if self.vectors is None else self.vectors.compacted(alive)
        self.columns = {
            name: Column(COLUMNS[name], values=column.values[alive]) for name, column in self.columns.items()
        }
        self.ids = [self.ids[row] for row in np.flatnonzero(alive)]
        self._row_of = {skill_id: row for row, skill_id in enumerate(self.ids)}
        self._scores = None

    def expired(self, now: datetime) -> list[str]:
        """Live rows whose time is over."""
        moment = int(now.timestamp() * 1_000_000)
        if moment < self._next_expiry:
            return []
        found = [self.ids[row] for row in np.flatnonzero(self.column("alive") & (self.column("expires") <= moment))]
        self._note_expiry(after=moment)
        return found

    @property
    def prior(self) -> Scores:
        """What each row scores whatever the task: transfer and confidence, weighted; shape (rows,)."""
        return self._scored()[1]

    @property
    def transfer(self) -> Scores:
        """Transfer score of each row, 0..1."""
        return self._scored()[0]

    def of_type(self, skill_type: str) -> Mask:
        """Which rows have this skill type."""
        number = self.types.index(skill_type) if skill_type in self.types else -1
        return np.asarray(self.column("type") == number, bool)

    def of_types(self, skill_types: Collection[str] | None) -> Mask:
        """Which rows have one of these types; without any, those that are advice."""
        if skill_types is None:
            return ~self.of_type(ANTI_PATTERN)
        wanted = [number for number, name in enumerate(self.types) if name in skill_types]
        return np.asarray(np.isin(self.column("type"), wanted), bool)

    def with_fingerprint(self, fingerprint: str) -> Mask:
        """Which rows were learned in a context with this fingerprint."""
        return np.asarray(self.column("fingerprint") == np.uint64(_mark(fingerprint.encode())), bool)

    def rows_of_context(self, context: int) -> Rows:
        """Live rows learned from this very context."""
        return np.flatnonzero((self.column("context") == np.uint64(context)) & self.column("alive"))

    def _scored(self) -> tuple[Scores, Scores]:
        if self._scores is None:
            transfer = self._policy.transfer_scores(self.column("transfers"), self.column("successes"))
            prior = TRANSFER_WEIGHT * transfer + CONFIDENCE_WEIGHT * self.column("confidence")
            self._scores = transfer, prior
        return self._scores

    def _append(self, new: Sequence[_Row]) -> None:
        first = len(self.ids)
        entries = [row.entry for row in new]
        self.ids.extend(entry.id for entry in entries)
        self._row_of.update(zip(self.ids[first:], range(first, len(self.ids)), strict=True))
        self.corpus.add([row.terms for row in new])
        if self.vectors is not None:
            self.vectors.extend([entry.vector for entry in entries])
        fixed = {
            "alive": [True] * len(new),
            "shape": [row.shape for row in new],
            "type": [row.type for row in new],
            "context": [row.terms.context for row in new],
            "fingerprint": [_mark(entry.fingerprint.encode()) for entry in entries],
            "content": [row.content for row in new],
        }
        for name, column in self.columns.items():
            column.extend(np.array(fixed[name], COLUMNS[name]) if name in fixed else np.zeros(len(new), COLUMNS[name]))
        self._set(np.arange(first, len(self.ids)), entries)

    def _set(self, rows: Rows, entries: Sequence[RecallEntry]) -> None:
        """Writes what changes when a skill is used."""
        expires = [NEVER if entry.expires_at is None else entry.expires_at for entry in entries]
        self.column("expires")[rows] = expires
        self.column("confidence")[rows] = [entry.confidence for entry in entries]
        self.column("transfers")[rows] = [entry.transfer_count for entry in entries]
        self.column("successes")[rows] = [entry.transfer_successes for entry in entries]
        self._next_expiry = min(self._next_expiry, *expires)
        self._scores = None

    def _type(self, skill_type: str) -> int:
        if skill_type not in self.types:
            self.types.append(skill_type)
        return self.types.index(skill_type)

    def _note_expiry(self, after: int = -1) -> None:
        left = self.column("expires")[self.column("alive") & (self.column("expires") > after)]
        self._next_expiry = int(left.min()) if len(left) else NEVER

    def _row(self, entry: RecallEntry, terms: Terms) -> _Row:
        """What a row holds. Its content is a digest of all that does not change when a skill is used."""
        shape, kind = self.shapes.number(entry.shape), self._type(entry.skill_type)
        digest = hashlib.blake2b(f"{shape} {kind} {terms.context} {terms.has_steps} ".encode(), digest_size=8)
        digest.update(entry.fingerprint.encode() + terms.data)
        if self.vectors is not None and entry.vector:
            digest.update(entry.vector)
        return _Row(entry, terms, shape, kind, int.from_bytes(digest.digest(), "little"))


def _mark(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
