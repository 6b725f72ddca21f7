"""How is what a listing shows of a skill read, when some of it may have been damaged?"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from brain.model.skill import Skill
from brain.model.text import check_text, parse_time
from brain.store.values import SkillRow

log = logging.getLogger(__name__)

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)

RowValues = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any]
"""The fields of a `SkillRow` in their order, as a store has them: times as microseconds since 1970, or as ISO 8601."""


def read_rows(rows: Iterable[RowValues], location: str) -> list[SkillRow]:
    """The rows that can be read. The others are left out, each with a warning that names it."""
    found = []
    for values in rows:
        try:
            found.append(_row(*values))
        except (ValueError, TypeError, OverflowError) as error:
            log.warning("%s: skill %r cannot be listed: %s", location, values[0], error)
    return found


def row_of(skill: Skill) -> SkillRow:
    """What a listing shows of a skill that was read whole."""
    return SkillRow(
        skill.id,
        skill.name,
        skill.domain,
        tuple(skill.tags),
        skill.confidence,
        skill.usage_count,
        skill.success_rate,
        skill.transfer_count,
        skill.transfer_successes,
        parse_time(skill.expires_at) if skill.expires_at else None,
        skill.updated_at,
    )


def _row(
    skill_id: Any,
    name: Any,
    domain: Any,
    tags: Any,
    confidence: Any,
    uses: Any,
    success_rate: Any,
    transfers: Any,
    successes: Any,
    expires_at: Any,
    updated_at: Any,
) -> SkillRow:
    if not isinstance(tags, list):
        raise TypeError("its tags are no list")
    return SkillRow(
        check_text(skill_id),
        check_text(name),
        check_text(domain) if isinstance(domain, str) else "",
        tuple(map(check_text, tags)),
        _unit(confidence),
        _count(uses),
        _unit(success_rate),
        _count(transfers),
        _count(successes),
        None if expires_at is None else _time(expires_at),
        _time(updated_at),
    )


def _unit(value: Any) -> float:
    if not isinstance(value, float | int) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is not a number of 0..1")
    return float(value)


def _count(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value


def _time(value: Any) -> datetime:
    return _EPOCH + value * _MICROSECOND if isinstance(value, int) else parse_time(value)
