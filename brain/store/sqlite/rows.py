"""How does a skill become columns and come back? Times are microseconds since 1970, UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from brain.model.skill import Skill
from brain.model.text import parse_time
from brain.store.documents import write_document

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def columns(skill: Skill) -> dict[str, Any]:
    """The columns that every write of a skill sets."""
    return {
        "id": skill.id,
        "confidence": skill.confidence,
        "usage_count": skill.usage_count,
        "transfer_count": skill.transfer_count,
        "transfer_successes": skill.transfer_successes,
        "document": write_document(skill),
        "version": skill.version,
        "expires_at": microseconds(parse_time(skill.expires_at)) if skill.expires_at else None,
    }


def with_expiry(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its expiry as ISO 8601 text."""
    expires_at = row["expires_at"]
    return {**row, "expires_at": "" if expires_at is None else (_EPOCH + expires_at * _MICROSECOND).isoformat()}


def microseconds(time: datetime) -> int:
    """A time as it is stored."""
    return (time - _EPOCH) // _MICROSECOND
