"""How is a value of a foreign file made safe to keep? Texts cut, odd numbers replaced, nesting bounded."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from brain.config import TraceLimits
from brain.model.skill import ELLIPSIS

DEEPEST = 12
"""Levels of nesting that are kept of a value."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_NUMBER = 2**63
_SECONDS_END, _MILLISECONDS_END, _MICROSECONDS_END = 1e11, 1e14, 1e17  # a count of seconds that large is in year 5138


def text_of(value: Any, longest: int) -> str:
    """`value` as text of at most `longest` characters: texts as they are, anything else as JSON; empty for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return cut(value, longest)
    try:
        written = json.dumps(kept(value, TraceLimits(text=longest)), ensure_ascii=False)
    except (TypeError, ValueError):
        return ""
    return cut(written, longest)


def cut(text: str, longest: int) -> str:
    """`text` of at most `longest` characters that every store can hold; where it was cut it ends in an ellipsis."""
    if len(text) > longest:
        text = text[: longest - 1] + ELLIPSIS
    return text if text.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def kept(value: Any, limits: TraceLimits, depth: int = 0) -> Any:
    """What is kept of a JSON value: every text cut, every list and object shortened, nothing that JSON cannot hold."""
    if isinstance(value, str):
        return cut(value, limits.text)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < _LONGEST_NUMBER else cut(str(value)[:40], limits.text)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= DEEPEST:
        return ELLIPSIS
    if isinstance(value, list | tuple):
        items = [kept(item, limits, depth + 1) for item in value[: limits.items]]
        return items if len(value) <= limits.items else [*items, f"{ELLIPSIS} {len(value) - limits.items} more"]
    if isinstance(value, dict):
        found: dict[str, Any] = {}
        for key, item in value.items():
            if len(found) >= limits.items:
                found[ELLIPSIS] = f"{len(value) - limits.items} more"
                break
            found[cut(str(key), limits.text)] = kept(item, limits, depth + 1)
        return found
    return cut(str(value), limits.text)


def parsed(value: Any) -> Any:
    """`value`, or what it says where it is the text of a JSON object or list."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def arguments_of(value: Any, limits: TraceLimits) -> dict[str, Any]:
    """The arguments of a call as an object, whether they were given as one, as its text, or as something else."""
    given = parsed(value)
    if isinstance(given, dict):
        return dict(kept(given, limits))
    return {} if given in (None, "", []) else {"input": kept(given, limits)}


def time_of(value: Any) -> datetime | None:
    """A point in time: ISO 8601 text, or a count of seconds, or of their thousandths down to billionths, since 1970."""
    if isinstance(value, bool) or value in (None, ""):
        return None
    if isinstance(value, str) and not value.strip().isdigit():
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        return _utc(found)
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return None
    size = abs(seconds)
    unit = 1.0 if size < _SECONDS_END else 1e3 if size < _MILLISECONDS_END else 1e6 if size < _MICROSECONDS_END else 1e9
    try:
        return datetime.fromtimestamp(seconds / unit, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _utc(time: datetime) -> datetime | None:
    try:
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError:
        return None


def text_at(value: Any, *keys: str) -> str:
    """The first non-empty text at one of `keys` of an object; empty if there is none, or `value` is no object."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str) and found.strip():
                return found
    return ""


def list_at(value: Any, *keys: str) -> list[Any]:
    """The first list at one of `keys` of an object; empty if there is none."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, list):
                return found
    return []


def object_at(value: Any, *keys: str) -> dict[str, Any]:
    """The first object at one of `keys` of an object; empty if there is none."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, dict):
                return found
    return {}
