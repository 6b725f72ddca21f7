"""How do confidence, success rate and lifetime move? The guide's formulas, in one place.

The Cypher statements compute the same from parameters that carry these constants.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

BASE_TTL_HOURS = 168.0
"""One week (guide, "TTL Formula")."""
SUCCESS_GAIN = 0.05
"""Share of the missing confidence that a success adds (guide, "Confidence")."""
FAILURE_LOSS = 0.10
"""Share of the confidence that a failure takes off (guide, "Confidence")."""
DEFAULT_QUALITY = 0.5
"""Quality of an outcome that states none."""


def initial_confidence(quality: float) -> float:
    """Confidence of a new skill, 0..1: min(0.7, 0.5 + quality × 0.2) (guide, "Confidence")."""
    return min(0.7, 0.5 + quality * 0.2)


def confidence_after(confidence: float, success: bool) -> float:
    """Confidence after one use, 0..1 (guide, "Confidence")."""
    if success:
        return min(1.0, confidence + SUCCESS_GAIN * (1.0 - confidence))
    return max(0.0, confidence - FAILURE_LOSS * confidence)


def success_rate_after(rate: float, usage_count: int, success: bool) -> float:
    """Fraction of successful uses, 0..1, after one more than `usage_count` uses."""
    return min(1.0, (rate * usage_count + success) / (usage_count + 1))


def ttl_hours(usage_count: int, confidence: float) -> float:
    """Lifetime in hours: 168 × (1 + log2(max(1, usage))) × (0.5 + confidence) (guide, "TTL Formula").

    The guide's example table shows 403 h and 655 h where its formula gives 604.8 h and 873.6 h;
    the formula and the prose beside it hold.
    """
    return BASE_TTL_HOURS * (1 + math.log2(max(1, usage_count))) * (0.5 + confidence)


def expiry(now: datetime, usage_count: int, confidence: float) -> str:
    """ISO 8601 UTC text of `now` plus the lifetime, at most the end of the year 9999."""
    try:
        return (now + timedelta(hours=ttl_hours(usage_count, confidence))).isoformat()
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC).isoformat()
