"""How does one find out how a store stands? `summary_of`, `stats_of`, and `traces_of` a skill."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from brain.errors import InputError
from brain.model.inputs import PARTS
from brain.model.provenance import StoredTrace
from brain.model.stats import MirrorState, SchemaChange, Stats, StoredVectors
from brain.model.text import parse_time
from brain.store.base import Store
from brain.store.values import SeenTrace

log = logging.getLogger(__name__)

TOP_SKILLS = 5
"""Skills that a summary names."""
TRACES = 20
"""Traces that are given at most, unless more are asked for."""
EXPIRING = timedelta(hours=24)
"""What expires within this time is counted as expiring (guide, "TUI Dashboard")."""

_LATEST = datetime.max


def summary_of(store: Store) -> dict[str, Any]:
    """Totals over the live skills, and the most used ones (guide, "Introspection")."""
    summary = store.summary(TOP_SKILLS)
    summary["top_skills"] = [
        {
            "name": skill.name,
            "id": skill.id,
            "confidence": skill.confidence,
            "usage_count": skill.usage_count,
            "transfer_count": skill.transfer_count,
        }
        for skill in summary["top_skills"]
    ]
    return summary


def stats_of(store: Store, expiring_within: timedelta) -> Stats:
    """How the store stands. Raises `InputError` for a time that is not ahead."""
    if not isinstance(expiring_within, timedelta) or expiring_within < timedelta(0):
        raise InputError(
            f"expiring_within must be a timedelta of at least 0, such as timedelta(hours=24), not {expiring_within!r}."
        )
    stamp, mirror, waiting = store.embedding_stamp(), store.mirror(), store.waiting()
    return Stats(
        location=store.location,
        namespace=store.namespace,
        **summary_of(store),
        expiring_skills=store.count_expiring(_after(store.clock(), expiring_within)),
        expiring_within_hours=expiring_within / timedelta(hours=1),
        embedding=StoredVectors(model=stamp.model, dimension=stamp.dimension, text=stamp.text) if stamp else None,
        mirror=MirrorState(location=mirror, waiting=waiting.count, since=waiting.since) if mirror else None,
        migrations=[SchemaChange(version=m.version, name=m.name, state=m.state) for m in store.migrations()],
    )


def traces_of(store: Store, skill_id: str, limit: int) -> list[StoredTrace]:
    """What a skill was learned from, the latest first; what cannot be read is skipped with a warning."""
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise InputError(f"limit must be a whole number of at least 1, not {limit!r}.")
    return list(_readable(skill_id, store.traces(skill_id, limit)))


def _readable(skill_id: str, found: Sequence[SeenTrace]) -> Iterator[StoredTrace]:
    for seen in found:
        try:
            content = json.loads(seen.observation.content)
            parts = {name: content[name] for name in PARTS}
            trace = StoredTrace(trace_id=seen.observation.trace_id, seen_at=seen.seen_at, **parts)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            log.warning("trace %r of skill %r cannot be read and is skipped: %s", seen.observation.key, skill_id, error)
            continue
        yield trace


def _after(now: datetime, time: timedelta) -> datetime:
    """`now` and `time` later, or the last moment that there is."""
    try:
        return now + time
    except OverflowError:
        return parse_time(_LATEST)
