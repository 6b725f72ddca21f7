"""What can be taken out of a Redis that others wrote, and what not, and why? `Import`: reads, and writes nothing.

Old data holds what nobody would write today: ids in the index without a document, documents that say no skill, edges to
nowhere, and edges that stand at one end only. All that can be read is given; what cannot is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from brain.model.relations import Edge
from brain.store.redis import moving
from brain.store.redis.connection import Backend
from brain.store.redis.feed import of_text
from brain.store.redis.layout import Keys
from brain.store.redis.plan import decoded
from brain.store.redis.reading import Reader, Stored
from brain.store.redis.store import RedisStore
from brain.store.values import KeptSkill

Tell = Callable[[str, str, str], Any]
"""Told the id, or the key, of what cannot be taken along, why, and what more there is to say."""

NO_DOCUMENT = "it has no document: it expired, or the index is stale"
EXPIRED = "it has expired"
UNREADABLE = "it cannot be read"
DOUBLE = "another edge of this relation between the two has other metadata"


class _Telling(Reader):
    """A reader that keeps what it could not read, instead of logging it."""

    def __init__(self, backend: Backend, keys: Keys, namespace: str, clock: Callable[[], datetime]) -> None:
        super().__init__(backend, keys, namespace, clock)
        self.found: list[tuple[str, str]] = []

    def warn(self, key: str, what: object) -> None:
        self.found.append((key, " ".join(str(what).split())))


class Import:
    """Everything of one namespace of a Redis."""

    def __init__(self, store: RedisStore) -> None:
        self._backend, self._keys = store._backend, store._keys
        self._reader = _Telling(store._backend, store._keys, store.namespace, store.clock)

    def skills(self, size: int, tell: Tell) -> Iterator[list[KeptSkill]]:
        """Every live skill with all that is kept of it, by id, a page at a time."""
        for ids in self._pages(size):
            found = self._reader.stored(ids)
            live = self._reader.only_live(found)
            reasons = dict(self._reader.found)
            self._reader.found.clear()
            for skill_id in ids:
                if skill_id not in live:
                    tell(skill_id, *self._why(found[skill_id], reasons))
            yield self._kept({skill_id: found[skill_id] for skill_id in live})

    def _kept(self, live: dict[str, Stored]) -> list[KeptSkill]:
        rows = moving.beside(self._backend, self._keys, list(live))
        traces = moving.traces_of(self._backend, self._keys, self._reader, list(live))
        kept = []
        for skill_id, stored in live.items():
            profile, terms, vector = (of_text(stored.note, value) for value in rows[skill_id])
            text = decoded(profile) if profile else None
            assert stored.skill
            kept.append(KeptSkill(stored.skill, text, terms, stored.note.dedup_key, vector, traces[skill_id]))
        return kept

    def _why(self, stored: Stored, reasons: dict[str, str]) -> tuple[str, str]:
        key = self._keys.document(stored.skill_id)
        if key in reasons:
            return UNREADABLE, reasons[key]
        return EXPIRED if stored.skill else NO_DOCUMENT, ""

    def edges(self, size: int, tell: Tell) -> Iterator[list[Edge]]:
        """Every edge once, from its source, be it written at both ends or at one; its ends may be missing.

        Of edges that differ only in their metadata, the last in the order of their text is given.
        """
        for ids in self._pages(size):
            found = self._reader.edges(ids)
            inward = [edge for edges in found.values() for edge in edges if edge.direction == "in"]
            elsewhere = self._reader.edges(list({edge.target for edge in inward}))
            known = {_place(edge) for edges in elsewhere.values() for edge in edges if edge.direction == "out"}
            chosen: dict[tuple[str, str, str], Edge] = {}
            for edge in (edge for edges in found.values() for edge in edges):
                if edge.direction == "in":
                    edge = Edge(source=edge.target, target=edge.source, relation=edge.relation, metadata=edge.metadata)
                    if _place(edge) in known:
                        continue
                if _place(edge) in chosen:
                    tell(_named(edge), DOUBLE, "")
                chosen[_place(edge)] = edge
            for key, reason in self._reader.found:
                tell(key, UNREADABLE, reason)
            self._reader.found.clear()
            yield list(chosen.values())

    def _pages(self, size: int) -> Iterator[list[str]]:
        (ids,) = self._reader.ids(("HKEYS", self._keys.index))
        for start in range(0, len(ids), size):
            yield ids[start : start + size]


def _place(edge: Edge) -> tuple[str, str, str]:
    return edge.source, edge.relation.value, edge.target


def _named(edge: Edge) -> str:
    return f"{edge.source} {edge.relation} {edge.target}"
