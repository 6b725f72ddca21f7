"""How are skills laid out for scoring? `SkillTable`: one row a skill, one array a column."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from brain.analysis.corpus import Corpus, Growing
from brain.analysis.measures import Scores
from brain.analysis.profile import Profile
from brain.model.context import Shape
from brain.model.policy import Policy
from brain.model.text import parse_time
from brain.store.base import RecallEntry

Mask = NDArray[np.bool_]


class SkillTable:
    """Rows are only appended; a removed row stays behind as dead until the owner makes a new table."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.ids: list[str] = []
        self.corpus = Corpus()
        self.shapes: list[Shape] = []
        self._entries: list[RecallEntry] = []
        self._row_of: dict[str, int] = {}
        self._shape_numbers: dict[str, int] = {}
        self._rows_by_digest: dict[str, set[int]] = {}
        self._alive, self._expires = Growing(np.bool_), Growing(np.float64)
        self._transfer, self._confidence = Growing(np.float64), Growing(np.float64)
        self._shape, self._type = Growing(np.int64), Growing(np.int64)
        self._type_numbers: dict[str, int] = {}
        self._vectors: Growing | None = None
        self._has_vector = Growing(np.bool_)

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, skill_id: str) -> bool:
        return skill_id in self._row_of

    @property
    def dead(self) -> int:
        """Rows that were removed."""
        return len(self.ids) - len(self._row_of)

    def entries(self) -> Iterator[tuple[RecallEntry, Profile]]:
        """What `put` was given for each live row."""
        for row in self._row_of.values():
            yield self._entries[row], self.corpus.profile(row)

    def row(self, skill_id: str) -> int | None:
        """The row of a live skill."""
        return self._row_of.get(skill_id)

    def put(self, entry: RecallEntry, profile: Profile) -> None:
        """Adds a skill or brings it up to date."""
        row = self._row_of.get(entry.id)
        if row is not None and self._same_text(self._entries[row], entry):
            self._entries[row] = entry
            self._set_numbers(row, entry)
            return
        self.remove(entry.id)
        row = len(self.ids)
        self._row_of[entry.id] = row
        self.ids.append(entry.id)
        self._entries.append(entry)
        self.corpus.add(row, profile)
        self._rows_by_digest.setdefault(profile.digest, set()).add(row)
        for column in (self._expires, self._transfer, self._confidence):
            column.append(0.0)
        self._set_numbers(row, entry)
        self._alive.append(True)
        self._shape.append(self._shape_number(entry.shape))
        self._type.append(self._type_numbers.setdefault(entry.skill_type, len(self._type_numbers)))
        self._append_vector(entry.vector)

    def remove(self, skill_id: str) -> None:
        """Takes a skill out, if it is here."""
        row = self._row_of.pop(skill_id, None)
        if row is not None:
            self._alive.values[row] = False
            self._rows_by_digest[self.corpus.profile(row).digest].discard(row)
            self.corpus.remove(row)

    def expired(self, now: datetime) -> list[str]:
        """Live rows whose time is over."""
        return [self.ids[row] for row in np.flatnonzero(self.alive & (self._expires.values <= now.timestamp()))]

    @property
    def alive(self) -> Mask:
        """Which rows are live, shape (rows,)."""
        return np.asarray(self._alive.values, bool)

    @property
    def transfer(self) -> Scores:
        """Transfer score of each row, 0..1."""
        return np.asarray(self._transfer.values, np.float64)

    @property
    def confidence(self) -> Scores:
        """Confidence of each row, 0..1."""
        return np.asarray(self._confidence.values, np.float64)

    def of_type(self, skill_type: str) -> Mask:
        """Which rows have this skill type."""
        return np.asarray(self._type.values == self._type_numbers.get(skill_type, -1), bool)

    def with_fingerprint(self, fingerprint: str) -> Mask:
        """Which rows were learned in a context with this fingerprint."""
        return np.fromiter((entry.fingerprint == fingerprint for entry in self._entries), bool, len(self._entries))

    def by_shape(self, per_shape: list[float]) -> Scores:
        """A value for each of `shapes`, spread over the rows that have it."""
        return np.asarray(per_shape, np.float64)[np.asarray(self._shape.values, np.int64)]

    def rows_with_digest(self, digest: str) -> list[int]:
        """Live rows learned from this very context."""
        return sorted(self._rows_by_digest.get(digest, ()))

    def cosines(self, vector: NDArray[np.float32]) -> tuple[Scores, Mask]:
        """Cosine of a unit vector with each row's, and which rows have one. Rows without one have cosine 0."""
        if self._vectors is None or np.shape(self._vectors.values)[1] != len(vector):
            return np.zeros(len(self.ids)), np.zeros(len(self.ids), bool)
        product = np.asarray(self._vectors.values, np.float32) @ vector
        return product.astype(np.float64), np.asarray(self._has_vector.values, bool)

    def _same_text(self, old: RecallEntry, new: RecallEntry) -> bool:
        same = old.profile == new.profile and old.vector == new.vector
        same_kind = old.skill_type == new.skill_type and old.fingerprint == new.fingerprint
        return same and same_kind and old.shape == new.shape

    def _set_numbers(self, row: int, entry: RecallEntry) -> None:
        expires = parse_time(entry.expires_at).timestamp() if entry.expires_at else np.inf
        self._expires.values[row] = expires
        self._transfer.values[row] = self._policy.transfer_score(entry.transfer_count, entry.transfer_successes)
        self._confidence.values[row] = entry.confidence

    def _shape_number(self, shape: Shape) -> int:
        number = self._shape_numbers.setdefault(shape.key, len(self.shapes))
        if number == len(self.shapes):
            self.shapes.append(shape)
        return number

    def _append_vector(self, data: bytes | None) -> None:
        vector = np.frombuffer(data, np.float32) if data else None
        if vector is not None and self._vectors is None:
            self._vectors = Growing(np.float32, len(vector))
            for _ in range(len(self.ids) - 1):
                self._vectors.append(0.0)
        if self._vectors is not None:
            fits = vector is not None and len(vector) == np.shape(self._vectors.values)[1]
            self._vectors.append(vector if fits else 0.0)
            self._has_vector.append(fits)
        else:
            self._has_vector.append(False)
