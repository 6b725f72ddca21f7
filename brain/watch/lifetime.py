"""How long does a skill still live, and how urgent is that?"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

_UNITS = (("y", 365 * 86_400, 2), ("mo", 30 * 86_400, 1), ("w", 7 * 86_400, 1), ("d", 86_400, 1), ("h", 3_600, 1))
"""Name and seconds of each unit, and how many of it there must be for it to be used."""


class Urgency(StrEnum):
    """What is left, as the guide colours it: green months, yellow weeks, red days, bold red under a day."""

    NEVER = "never"
    MONTHS = "months"
    WEEKS = "weeks"
    DAYS = "days"
    HOURS = "hours"


def urgency(expires_at: datetime | None, now: datetime) -> Urgency:
    """How urgent an expiry is. A month is 30 days."""
    if expires_at is None:
        return Urgency.NEVER
    left = expires_at - now
    if left < timedelta(days=1):
        return Urgency.HOURS
    if left < timedelta(days=7):
        return Urgency.DAYS
    return Urgency.WEEKS if left < timedelta(days=30) else Urgency.MONTHS


def time_left(expires_at: datetime | None, now: datetime) -> str:
    """What is left in whole numbers of the largest unit, at most six characters: "3 mo", "5 d", "40 min", "never"."""
    if expires_at is None:
        return "never"
    seconds = int((expires_at - now).total_seconds())
    for name, length, least in _UNITS:
        if seconds >= length * least:
            return f"{seconds // length} {name}"
    return f"{seconds // 60} min" if seconds >= 60 else "<1 min" if seconds > 0 else "over"
