"""What do the live skills come to? The guide's summary, from sums that every write keeps."""

from __future__ import annotations

from collections import Counter
from typing import Any

from brain.model.skill import Skill
from brain.store.base import mean_confidence
from brain.store.redis.connection import Backend
from brain.store.redis.document import DAMAGE
from brain.store.redis.layout import Keys, microseconds
from brain.store.redis.note import Note
from brain.store.redis.plan import decoded
from brain.store.redis.reading import Reader

_MORE = 16  # ranked skills that are read beyond those asked for: some have expired, some are equal to the digit


def summary(backend: Backend, keys: Keys, reader: Reader, top: int) -> dict[str, Any]:
    """Counts and averages of the live skills, and the `top` most used. Its cost follows what was not swept."""
    sums, expired = backend.read(
        ("HGETALL", keys.totals), ("ZRANGEBYSCORE", keys.expiry, "-inf", str(microseconds(reader.now)))
    )
    left = Counter({decoded(name): int(value) for name, value in _pairs(sums).items()})
    notes = backend.read(("HMGET", keys.notes, *expired))[0] if expired else []
    for note in notes:
        try:
            left.subtract(Note.read(note).sums if note else {})
        except DAMAGE as error:
            reader.warn(keys.notes, error)
    skills = left["skills"]
    return {
        "total_skills": skills,
        "transferable_skills": left["transferable"],
        "avg_confidence": mean_confidence(left["confidence"], skills),
        "total_transfers": left["transfers"],
        "top_skills": _most_used(backend, keys, reader, top),
    }


def _most_used(backend: Backend, keys: Keys, reader: Reader, top: int) -> list[Skill]:
    found: list[Skill] = []
    start, size = 0, top + _MORE
    while len(found) < top + 1:
        (ids,) = backend.read(("ZRANGE", keys.used, str(start), str(start + size - 1)))
        found += reader.live(map(decoded, ids)).values()
        if len(ids) < size:
            break
        start += size
    return sorted(found, key=lambda skill: (-skill.usage_count, -skill.confidence, skill.id))[:top]


def _pairs(answer: Any) -> dict[bytes, bytes]:
    """A hash, as a dictionary or one after the other."""
    return answer if isinstance(answer, dict) else dict(zip(answer[::2], answer[1::2], strict=True))
