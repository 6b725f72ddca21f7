"""How does all that is kept of a skill leave a store and come into one? Export and restore, traces included."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from brain.model.relations import Edge
from brain.store.redis.connection import Backend
from brain.store.redis.document import DAMAGE
from brain.store.redis.feed import of_text
from brain.store.redis.layout import Keys
from brain.store.redis.plan import decoded
from brain.store.redis.reading import Reader, Stored
from brain.store.redis.writer import Recalled, Unit
from brain.store.values import KeptSkill, Observation, SeenTrace

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_LOOKS = 10
"""How often a skill is looked at that others write while it is read."""


def export(backend: Backend, keys: Keys, reader: Reader, size: int) -> Iterator[list[KeptSkill]]:
    """Every live skill with all that is kept of it, by id, a page at a time."""
    (ids,) = reader.ids(("HKEYS", keys.index))
    for start in range(0, len(ids), size):
        page = ids[start : start + size]
        kept, left = dict[str, KeptSkill](), page
        for _ in range(_LOOKS):
            found = reader.stored(left)
            seen = _kept(backend, keys, reader, found)
            bare = [i for i, one in seen.items() if None in (one.profile, one.terms)]
            then = reader.stored(bare) if bare else {}
            left = [i for i in bare if then[i].raw_note != found[i].raw_note]  # others wrote it between two answers
            kept |= {i: one for i, one in seen.items() if i not in left}
            if not left:
                break
        yield [kept[i] for i in page if i in kept]


def _kept(backend: Backend, keys: Keys, reader: Reader, found: dict[str, Stored]) -> dict[str, KeptSkill]:
    """All that is kept of the live ones of some skills, as far as it is of the text that they have."""
    live = reader.only_live(found)
    rows = beside(backend, keys, list(live))
    traces, kept = traces_of(backend, keys, reader, list(live)), {}
    for skill_id, skill in live.items():
        note = found[skill_id].note
        profile, terms, vector = (of_text(note, value) for value in rows[skill_id])
        told = decoded(profile) if profile else None
        kept[skill_id] = KeptSkill(skill, told, terms, note.dedup_key, vector, traces[skill_id])
    return kept


def export_edges(reader: Reader, keys: Keys, size: int) -> Iterator[list[Edge]]:
    """Every edge between live skills once, from its source, a page at a time."""
    (ids,) = reader.ids(("HKEYS", keys.index))
    page: list[Edge] = []
    for start in range(0, len(ids), size):
        some = reader.live(ids[start : start + size])
        outward = [edge for edges in reader.edges(list(some)).values() for edge in edges if edge.direction == "out"]
        live = reader.live({edge.target for edge in outward})
        page += [edge for edge in outward if edge.target in live]
        while len(page) >= size:
            yield page[:size]
            page = page[size:]
    if page:
        yield page


def restore(unit: Unit, backend: Backend, namespace: str, kept: Sequence[KeptSkill]) -> None:
    """Puts skills as `export` gave them into the unit."""
    restored = {one.skill.id for one in kept}
    unit.load(restored)
    for one in kept:
        stored = unit.stored(one.skill.id)
        if not unit.if_live(stored):
            unit.clear(stored)
        skill = one.skill.model_copy(update={"namespace": namespace})
        unit.put(skill, _free_key(unit, one, restored), Recalled.of(one))
    seen = [(trace, one.skill.id) for one in kept for trace in one.traces]
    unit.load_traces(trace.observation.key for trace, _ in seen)
    for trace, skill_id in seen:
        unit.put_trace(trace, skill_id)


def _free_key(unit: Unit, kept: KeptSkill, restored: Collection[str]) -> str | None:
    """The dedup key, unless a live skill holds it that is not itself restored."""
    if kept.dedup_key is None:
        return None
    holder = unit.holder(kept.dedup_key)
    if holder is None or holder == kept.skill.id:
        return kept.dedup_key
    stored = unit.stored(holder)
    if unit.if_live(stored) and holder not in restored:
        return None
    unit.release(stored)
    return kept.dedup_key


def beside(backend: Backend, keys: Keys, skill_ids: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Profile, terms and vector of each, as they stand."""
    if not skill_ids:
        return {}
    columns = backend.read(*(("HMGET", key, *skill_ids) for key in (keys.profiles, keys.terms, keys.vectors)))
    return dict(zip(skill_ids, zip(*columns, strict=True), strict=True))


def traces_of(backend: Backend, keys: Keys, reader: Reader, skill_ids: Sequence[str]) -> dict[str, list[SeenTrace]]:
    """What each was learned from, by key."""
    if not skill_ids:
        return {}
    answers = backend.read(*(("SMEMBERS", keys.traces_learned(i)) for i in skill_ids))
    names = {i: sorted(map(decoded, members)) for i, members in zip(skill_ids, answers, strict=True)}
    every = [name for some in names.values() for name in some]
    rows = dict(zip(every, backend.read(("HMGET", keys.traces, *every))[0], strict=True)) if every else {}
    return {
        i: [seen for name in some if (seen := _seen(reader, keys, keys.trace_key(name, i), rows[name]))]
        for i, some in names.items()
    }


def latest_traces(backend: Backend, keys: Keys, reader: Reader, skill_id: str) -> list[SeenTrace]:
    """What a live skill was learned from, the latest first, equally late ones by key."""
    found = traces_of(backend, keys, reader, list(reader.live([skill_id]))).get(skill_id, [])
    return sorted(found, key=lambda seen: seen.seen_at, reverse=True)


def _seen(reader: Reader, keys: Keys, key: str, row: bytes | None) -> SeenTrace | None:
    if row is None:
        return None
    try:
        _, trace_id, content, domain, task, success, quality, seen_at = json.loads(row)
        observation = Observation(key, trace_id, content, domain, task, success, quality)
        return SeenTrace(observation, _EPOCH + timedelta(microseconds=seen_at))
    except DAMAGE as error:
        reader.warn(f"{key!r} in {keys.traces}", error)
        return None
