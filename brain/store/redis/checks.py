"""How does a namespace of a Redis let itself be looked at? Its `Ward`: see `brain.store.checks`.

The documents are the skills, whoever wrote them; what is kept beside them must say the same. What OrKa wrote, and what
Redis dropped because it expired, is no fault: it is noted first, as every recall does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from brain.model.relations import Edge
from brain.model.text import parse_time
from brain.store.checks import FOUND_AT_ONCE, REWRITES, UNREADABLE, Check, Fault, Rows
from brain.store.redis.document import DAMAGE
from brain.store.redis.layout import Places, microseconds, read_edge
from brain.store.redis.note import Facts, Note
from brain.store.redis.plan import decoded
from brain.store.redis.store import RedisStore
from brain.store.redis.writer import Unit
from brain.store.statements import Statement
from brain.store.values import new_operation

_LOOKS = 3


def ward(store: RedisStore) -> RedisWard:
    """How `store` lets itself be looked at."""
    return RedisWard(store)


class Inspection:
    """One namespace. Each look is of one state of it, each repair a write of its own."""

    def __init__(self, store: RedisStore) -> None:
        self.store, self.backend, self.keys, self.reader = store, store._backend, store._keys, store._reader

    def unreadable(self, ids: Sequence[str]) -> list[str]:
        """See `brain.store.checks.Inspection`."""
        found = self.reader.stored(ids).values()
        return [stored.skill_id for stored in found if stored.is_there and not stored.skill]

    def rewrite(self, ids: Sequence[str]) -> None:
        """See `brain.store.checks.Inspection`. What belongs to no document is removed."""

        def work(unit: Unit) -> None:
            for stored in unit.load(ids).values():
                if stored.skill:
                    skill = stored.skill.model_copy(update={"version": max(1, stored.skill.version)})
                    unit.put(skill, stored.note.dedup_key)
                elif not stored.is_there:
                    unit.remove([stored.skill_id], told=True)

        self.write(work)

    def write(self, work: Callable[[Unit], None]) -> None:
        """Carries out what `work` puts into a unit."""
        self.store._write(work, new_operation(), lambda _: None)

    def census(self) -> Census:
        """All that is kept beside the documents, as of one moment."""
        keys = self.keys
        scored = (keys.expiry, keys.used, keys.changed, keys.deleted)
        named = (keys.profiles, keys.terms, keys.vectors)
        notes, totals, dedup, state, *rest = self.backend.read(
            *(("HGETALL", key) for key in (keys.notes, keys.totals, keys.dedup)),
            ("HMGET", keys.state, "version"),
            *(("ZRANGEBYSCORE", key, "-inf", "+inf", "WITHSCORES") for key in scored),
            *(("HKEYS", key) for key in named),
        )
        read = {decoded(skill_id): _read(data) for skill_id, data in _pairs(notes)}
        expiry, used, changed, deleted = (
            {decoded(member): int(float(score)) for member, score in _pairs(answer)} for answer in rest[:4]
        )
        return Census(
            {skill_id: note for skill_id, note in read.items() if note},
            {decoded(name): value for name, value in _pairs(totals)},
            {decoded(key): decoded(skill_id) for key, skill_id in _pairs(dedup)},
            state[0] or b"0",
            expiry,
            used,
            changed,
            deleted,
            {decoded(skill_id) for answer in rest[4:] for skill_id in answer},
        )


@dataclass(frozen=True)
class Census:
    """Notes by skill, totals, the holder of each dedup key, the version, scores by skill, and what was analysed."""

    notes: dict[str, Note]
    totals: dict[str, bytes]
    holders: dict[str, str]
    version: bytes
    expiry: dict[str, int]
    used: dict[str, int]
    changed: dict[str, int]
    deleted: dict[str, int]
    analysed: set[str]

    @property
    def counted(self) -> Counter[str]:
        """What the notes add up to."""
        counted: Counter[str] = Counter()
        for note in self.notes.values():
            counted.update(note.sums)
        return counted


class RedisWard:
    """One namespace."""

    statements: ClassVar[dict[str, Statement]] = {}
    rewritten: frozenset[str] = frozenset()

    def __init__(self, store: RedisStore) -> None:
        self._store, self._inspection = store, Inspection(store)
        beside = "What is kept beside a document does not say what the document says."
        ends = "An edge cannot be read, or does not stand at both of its ends."
        self.more = (
            UNREADABLE,
            Check("notes", beside, REWRITES, _notes, Inspection.rewrite),
            Check("edges", ends, "Writes it at both ends; removes it where there is no skill.", _edges, _mend_edges),
            Check("companion", "A skill does not stand where it is looked up.", REWRITES, _companion, _mend_all, True),
            Check("totals", "A total is not what a full count gives.", "Counts anew.", _totals, _mend_totals, True),
        )

    def pages(self, size: int) -> Iterator[list[str]]:
        """See `brain.store.checks.Ward`."""
        self._store._follower.catch_up()
        indexed, noted = self._store._reader.ids(("HKEYS", self._store._keys.index), ("HKEYS", self._store._keys.notes))
        ids = sorted({*indexed, *noted})
        for start in range(0, len(ids), size):
            yield ids[start : start + size]

    def look(self, work: Callable[[Inspection], Rows]) -> Rows:
        """See `brain.store.checks.Ward`."""
        self._store._follower.catch_up()
        return work(self._inspection)

    def settle(self, work: Callable[[Inspection], Rows], repair: bool) -> Rows:
        """See `brain.store.checks.Ward`. Every look is of one moment, or taken several times."""
        return self.look(work)

    def outside(self, repair: bool) -> Iterator[Fault]:
        """See `brain.store.checks.Ward`."""
        yield from ()


def _read(data: bytes) -> Note | None:
    try:
        return Note.read(data)
    except DAMAGE:
        return None


def _pairs(answer: Any) -> Iterable[tuple[bytes, bytes]]:
    """A hash or a sorted set, as a dictionary or one after the other."""
    return answer.items() if isinstance(answer, dict) else zip(answer[::2], answer[1::2], strict=True)


def _notes(inspection: Inspection, ids: Sequence[str]) -> Rows:
    found = []
    for stored in inspection.reader.stored(ids).values():
        if not stored.document:
            continue
        skill, note, places = stored.document.skill, stored.note, Places.of(stored.document.fields)
        expires_at = microseconds(parse_time(skill.expires_at)) if skill.expires_at else None
        sets = set(places.sets(inspection.keys)) - set(note.places.sets(inspection.keys))
        if note.facts != Facts.of(skill) or note.expires_at != expires_at or sets:
            found.append((stored.skill_id, "its note"))
    return found


def _edges(inspection: Inspection, ids: Sequence[str]) -> Rows:
    """An edge stands at two places, which are not read at one moment: what is wrong is wrong at every look."""
    found = set(_edges_now(inspection, ids))
    for _ in range(_LOOKS - 1 if found else 0):
        found &= set(_edges_now(inspection, ids))
    return sorted(found)


def _edges_now(inspection: Inspection, ids: Sequence[str]) -> Rows:
    return [(skill_id, detail) for skill_id, _, _, detail in _broken_edges(inspection, ids)]


def _broken_edges(inspection: Inspection, ids: Sequence[str]) -> list[tuple[str, bytes, Edge | None, str]]:
    """Skill, member, the edge that it says, and what is wrong."""
    keys, found = inspection.keys, list[tuple[str, bytes, Edge | None, str]]()
    members = inspection.backend.read(*(("SMEMBERS", keys.edges(i)) for i in ids)) if ids else []
    said: list[tuple[str, bytes, Edge]] = []
    for skill_id, own in zip(ids, members, strict=True):
        for member in own:
            try:
                said.append((skill_id, member, read_edge(skill_id, member)))
            except DAMAGE:
                found.append((skill_id, member, None, "cannot be read"))
    others = list(dict.fromkeys(edge.target for _, _, edge in said))
    there = {i for i, stored in inspection.reader.stored(others).items() if stored.is_there or stored.raw_note}
    back = inspection.reader.edges([i for i in others if i in there])
    for skill_id, member, edge in said:
        turned = "in" if edge.direction == "out" else "out"
        mirrored = any(
            (e.target, e.relation, e.direction) == (skill_id, edge.relation, turned) for e in back.get(edge.target, ())
        )
        if edge.target not in there or not (mirrored or edge.target == skill_id):
            found.append((skill_id, member, edge, f"{edge.relation} {edge.target}"))
    return found


def _mend_edges(inspection: Inspection, ids: Sequence[str]) -> None:
    broken = _broken_edges(inspection, ids)

    def work(unit: Unit) -> None:
        there = unit.load(edge.target for _, _, edge, _ in broken if edge)
        for skill_id, member, edge, _ in broken:
            unit.plan.sets[unit.keys.edges(skill_id)][decoded(member)] = False
            if edge and there[edge.target].is_there:
                ends = {"source": skill_id, "target": edge.target}
                if edge.direction == "in":
                    ends = {"source": edge.target, "target": skill_id}
                unit.link(edge.model_copy(update={**ends, "direction": "out"}))

    inspection.write(work)


def _companion(inspection: Inspection, _: Sequence[str]) -> Rows:
    census = inspection.census()
    found = [(skill_id, name) for skill_id, note in census.notes.items() for name in _misplaced(census, skill_id, note)]
    places = {
        "expiry": census.expiry,
        "most used": census.used,
        "change feed": census.changed,
        "dedup key": census.holders.values(),
        "analysis": census.analysed,
    }
    for name, ids in places.items():
        found += [(skill_id, f"{name}, without a note") for skill_id in ids if skill_id not in census.notes]
    return found[:FOUND_AT_ONCE]


def _misplaced(census: Census, skill_id: str, note: Note) -> list[str]:
    """Where a skill does not stand as its note says."""
    changed, deleted = census.changed.get(skill_id), census.deleted.get(skill_id)
    told = changed if deleted is None else deleted if changed is None else None
    wrong = {
        "expiry": census.expiry.get(skill_id) != note.expires_at,
        "most used": census.used.get(skill_id) != (note.facts.rank if note.facts else None),
        "change feed": told is None or not 0 < told <= int(census.version),
        "dedup key": note.dedup_key is not None and census.holders.get(note.dedup_key) != skill_id,
    }
    return [name for name, is_wrong in wrong.items() if is_wrong]


def _mend_all(inspection: Inspection, ids: Sequence[str]) -> None:
    census = inspection.census()
    noted = {note.dedup_key for note in census.notes.values()}
    lost = [key for key, skill_id in census.holders.items() if skill_id in set(ids) and key not in noted]

    def work(unit: Unit) -> None:
        for key in lost:
            unit.plan.hashes[unit.keys.dedup][key] = None

    inspection.write(work)
    inspection.rewrite(ids)


def _totals(inspection: Inspection, _: Sequence[str]) -> Rows:
    census = inspection.census()
    counted, kept = census.counted, {name: int(value) for name, value in census.totals.items()}
    names = sorted(counted.keys() | kept.keys())
    return [(n, f"{kept.get(n, 0)} instead of {counted[n]}") for n in names if kept.get(n, 0) != counted[n]]


def _mend_totals(inspection: Inspection, _: Sequence[str]) -> None:
    def work(unit: Unit) -> None:
        census = inspection.census()
        unit.plan.check_field(unit.keys.state, "version", census.version)
        for name in census.counted.keys() | census.totals.keys():
            unit.plan.check_field(unit.keys.totals, name, census.totals.get(name))
            unit.plan.hashes[unit.keys.totals][name] = str(census.counted[name])

    inspection.write(work)
