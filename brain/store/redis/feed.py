"""What changed since a version, and what does recall need of it? `Feed`: the companion's notes, terms and vectors.

Nothing here reads a document: notes say all, once `Follower` has brought them up to the documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from brain.store.base import is_stale
from brain.store.redis.connection import Backend
from brain.store.redis.document import DAMAGE
from brain.store.redis.layout import Keys, microseconds
from brain.store.redis.note import Note
from brain.store.redis.plan import decoded
from brain.store.redis.reading import Reader
from brain.store.values import CHANGES_PAGE, Changes, RecallEntry


class Feed:
    """The feed of changes of one namespace, for readers in any process."""

    def __init__(self, backend: Backend, keys: Keys, reader: Reader) -> None:
        self._backend, self._keys, self._reader = backend, keys, reader

    def asking(self, since: int, limit: int | None = CHANGES_PAGE) -> list[Sequence[str]]:
        """The commands whose answers `understood` takes."""
        keys, after = self._keys, f"({since}"
        page = () if limit is None else ("LIMIT", "0", str(limit + 1))
        return [
            ("HMGET", keys.state, "store_id", "version", "complete_since", "texts"),
            ("ZRANGEBYSCORE", keys.changed, after, "+inf", "WITHSCORES", *page),
            ("ZRANGEBYSCORE", keys.deleted, after, "+inf", "WITHSCORES"),
        ]

    def understood(self, since: int, answers: Sequence[Any], limit: int | None = CHANGES_PAGE) -> Changes:
        """What the answers to `asking` say; reads what recall needs of what changed."""
        (store_id, *figures), changed, deleted = answers
        version, complete_since = (int(figure or 0) for figure in figures[:2])
        name = decoded(store_id or b"")
        if is_stale(since, version, complete_since):
            return Changes(name, version, stale=True)
        if version == since:
            return Changes(name, version)
        ids, upto = self._page(_scored(changed), version, limit)
        gone = [skill_id for skill_id, at in _scored(deleted) if at <= upto]
        entries = self.entries(ids, vectors=True)
        hidden = set(ids) - {entry.id for entry in entries}
        return Changes(name, upto, entries, [*gone, *sorted(hidden)], more=upto < version)

    def _page(self, rows: list[tuple[str, int]], version: int, limit: int | None) -> tuple[list[str], int]:
        """The ids of a page, and the version up to which it tells all. What one version changed stays together."""
        if limit is None or len(rows) <= limit:
            return [skill_id for skill_id, _ in rows], version
        beyond = rows[limit][1]
        page = [(skill_id, at) for skill_id, at in rows if at < beyond]
        if page:
            return [skill_id for skill_id, _ in page], page[-1][1]
        (whole,) = self._backend.read(("ZRANGEBYSCORE", self._keys.changed, str(beyond), str(beyond)))
        return list(map(decoded, whole)), beyond

    def entries(self, skill_ids: Sequence[str], *, vectors: bool) -> list[RecallEntry]:
        """What recall needs of the live skills among some ids, in their order."""
        if not skill_ids:
            return []
        keys = self._keys
        hashes = [keys.notes, keys.terms, *([keys.vectors] if vectors else [])]
        notes, terms, *rest = self._backend.read(*(("HMGET", key, *skill_ids) for key in hashes))
        kept = rest[0] if rest else [None] * len(skill_ids)
        now, found = microseconds(self._reader.now), []
        for skill_id, data, own_terms, vector in zip(skill_ids, notes, terms, kept, strict=True):
            note = self._live_note(skill_id, data, now)
            if note:
                held = self._vector(skill_id, of_text(note, vector))
                found.append(note.entry(skill_id, of_text(note, own_terms), held))
        return found

    def all_entries(self, size: int, *, vectors: bool) -> Iterator[list[RecallEntry]]:
        """`entries` of all live skills, by id, a page at a time."""
        (ids,) = self._reader.ids(("HKEYS", self._keys.notes))
        for start in range(0, len(ids), size):
            yield self.entries(ids[start : start + size], vectors=vectors)

    def profiles(self, skill_ids: Sequence[str]) -> dict[str, str]:
        """The stored profiles of the live skills among some ids."""
        if not skill_ids:
            return {}
        notes, profiles = self._backend.read(
            *(("HMGET", key, *skill_ids) for key in (self._keys.notes, self._keys.profiles))
        )
        now, found = microseconds(self._reader.now), {}
        for skill_id, data, profile in zip(skill_ids, notes, profiles, strict=True):
            note = self._live_note(skill_id, data, now)
            own = of_text(note, profile) if note else None
            if own is not None:
                found[skill_id] = own.decode()
        return found

    def _live_note(self, skill_id: str, data: bytes | None, now: int) -> Note | None:
        if data is None:
            return None
        try:
            note = Note.read(data)
        except DAMAGE as error:
            self._reader.warn(f"{skill_id!r} in {self._keys.notes}", error)
            return None
        if note.facts is None:
            if note.is_unreadable:
                self._reader.warn(self._keys.document(skill_id), "it says no skill")
            return None
        return note if note.expires_at is None or note.expires_at > now else None

    def _vector(self, skill_id: str, vector: bytes | None) -> bytes | None:
        if vector is None:
            return None
        numbers = memoryview(vector).cast("f") if vector and len(vector) % 4 == 0 else None
        if numbers is not None and all(map(math.isfinite, numbers)):
            return vector
        self._reader.warn(f"the vector of {skill_id!r} in {self._keys.vectors}", "it is damaged. Run brain reembed")
        return None


def of_text(note: Note, value: bytes | None) -> bytes | None:
    """What a value kept for `note`'s text holds; None if it was made for another text."""
    mark = note.text.encode()
    return value[len(mark) :] if value is not None and value.startswith(mark) else None


def _scored(answer: Sequence[bytes]) -> list[tuple[str, int]]:
    """Members and scores, from an answer that gives one after the other."""
    return [(decoded(member), int(float(score))) for member, score in zip(answer[::2], answer[1::2], strict=True)]
