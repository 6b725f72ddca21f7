"""What do expired skills leave behind, and how is it cleared? `sweep`: one batch, its cost by what has expired.

Redis drops the document alone. Index, tags, edges in both directions and the companion go here, also for skills that
were gone before anybody noted them; only for those the sets have to be looked through.
"""

from __future__ import annotations

from collections.abc import Sequence

from brain.store.redis.connection import Backend
from brain.store.redis.layout import Keys, microseconds
from brain.store.redis.note import NO_STRING
from brain.store.redis.plan import decoded
from brain.store.redis.reading import Stored
from brain.store.redis.writer import Unit


def sweep(unit: Unit, backend: Backend, keys: Keys, limit: int) -> int:
    """Puts the removal of at most `limit` expired skills into the unit; how many."""
    now = unit.reader.now
    due = backend.read(("ZRANGEBYSCORE", keys.expiry, "-inf", str(microseconds(now)), "LIMIT", "0", str(limit)))[0]
    gone: list[Stored] = []
    for stored in unit.load(map(decoded, due)).values():
        if stored.is_there and not stored.is_noted and not stored.has_expired(now):
            unit.adopt(stored, indexed=True)  # somebody prolonged it: from now on its note says so
        elif not stored.is_there or (stored.digest != NO_STRING and stored.has_expired(now)):
            gone.append(stored)
    _clear_sets(unit, backend, keys, [stored.skill_id for stored in gone if not _is_known(stored)])
    sooner = [stored.skill_id for stored in gone if stored.note.told and stored.note.told > microseconds(now)]
    unit.remove(sooner, told=True)  # a reader that was told a later time would keep it
    unit.remove([stored.skill_id for stored in gone if stored.skill_id not in sooner], told=False)
    unit.plan.receipt = str(len(gone))
    return len(gone)


def _is_known(stored: Stored) -> bool:
    """Whether it is known which sets hold the id."""
    return bool(stored.document or stored.note.places.skill_type or stored.note.places.tags)


def _clear_sets(unit: Unit, backend: Backend, keys: Keys, skill_ids: Sequence[str]) -> None:
    """Takes ids out of every set that may hold them."""
    wanted = set(skill_ids)
    for pattern in keys.set_patterns() if wanted else ():
        for page in backend.scan(pattern):
            answers = backend.read(*(("SMEMBERS", key) for key in page)) if page else []
            for key, members in zip(page, answers, strict=True):
                for skill_id in wanted.intersection(map(decoded, members)):
                    unit.plan.sets[key][skill_id] = False
