"""How does a skill become columns and come back? Times are microseconds since 1970, UTC."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from brain.model.context import Shape
from brain.model.skill import Skill
from brain.model.text import parse_time
from brain.store.documents import read_features, write_document
from brain.store.values import Draft, KeptSkill, Observation, SeenTrace

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_USED = "confidence usage_count success_rate transfer_count transfer_successes version".split()

Columns = dict[str, Any]


class Written(NamedTuple):
    """A skill as it is about to be written, with its new version.

    With a `fitting_key`, a stored skill keeps its dedup key only if it is that one; without, it takes `dedup_key`, as a
    new skill does. With `keep`, a stored vector stays where none is given and the text is the same.
    """

    skill: Skill
    version: int
    profile: str | None
    terms: bytes | None
    vector: bytes | None
    dedup_key: str | None = None
    fitting_key: str | None = None
    keep: bool = False

    @classmethod
    def saved(cls, draft: Draft, version: int) -> Written:
        """A draft that takes no dedup key."""
        return cls(draft.skill, version, draft.profile, draft.terms, draft.vector, None, draft.dedup_key, keep=True)

    @classmethod
    def learned(cls, draft: Draft) -> Written:
        """A draft that takes its dedup key."""
        skill = draft.skill
        return cls(skill, skill.version, draft.profile, draft.terms, draft.vector, draft.dedup_key)

    @classmethod
    def restored(cls, kept: KeptSkill, dedup_key: str | None) -> Written:
        """What was kept, with the dedup key that it may have here."""
        return cls(kept.skill, kept.skill.version, kept.profile, kept.terms, kept.vector, dedup_key)


def columns(written: Written, number: int, changed: int) -> Columns:
    """The columns that every write of a whole skill sets."""
    skill, features = written.skill, read_features(written.skill.source_context)
    return {
        "number": number,
        "skill_type": skill.skill_type,
        "confidence": skill.confidence,
        "usage_count": skill.usage_count,
        "transfer_count": skill.transfer_count,
        "transfer_successes": skill.transfer_successes,
        "version": written.version,
        "expires_at": expiry(skill),
        "changed": changed,
        "dedup_key": written.dedup_key,
        "fingerprint": features.fingerprint(),
        "shape": write_shape(features.shape),
    }


def recall_row(written: Written, number: int) -> Columns:
    """What recall scores, as columns."""
    return {
        "number": number,
        "terms": written.terms,
        "vector": written.vector,
        "keep": written.keep,
        "profile": written.profile,
    }


def body_row(written: Written, number: int) -> Columns:
    """The long texts, as columns."""
    return {"number": number, "document": write_document(written.skill), "profile": written.profile}


def use_columns(skill: Skill, changed: int) -> Columns:
    """The columns that a use sets."""
    return {
        "id": skill.id,
        **{name: getattr(skill, name) for name in _USED},
        "expires_at": expiry(skill),
        "updated_at": microseconds(skill.updated_at),
        "changed": changed,
    }


def later_fields(values: Sequence[Any]) -> Columns:
    """The fields of a skill that hold instead of its document's, from the columns of `skills_by_id` behind it.

    Always the version; after a use, all that it changed.
    """
    *numbers, expires_at, updated_at = values
    if updated_at is None:
        return {"version": numbers[-1]}
    return {
        **dict(zip(_USED, numbers, strict=True)),
        "expires_at": "" if expires_at is None else _time_or_damage(expires_at),
        "updated_at": _time_or_damage(updated_at),
    }


def _time_or_damage(stored: Any) -> str:
    """A time as ISO 8601; what is none as it stands, for the skill's reader to refuse."""
    try:
        return time(stored).isoformat()
    except (TypeError, OverflowError):
        return str(stored)


def trace_row(observation: Observation, seen_at: datetime, skill_id: str) -> Columns:
    """What a skill was learned from, as columns."""
    return {
        "key": observation.key,
        "trace_id": observation.trace_id,
        "content": observation.content,
        "domain": observation.domain,
        "task": observation.task,
        "success": observation.success,
        "quality": observation.quality,
        "seen_at": microseconds(seen_at),
        "id": skill_id,
    }


def seen_trace(values: Sequence[Any]) -> SeenTrace:
    """The reverse of `trace_row`, from the columns of `traces_of`."""
    key, trace_id, content, domain, task, success, quality, seen_at = values
    observation = Observation(key, trace_id, content, domain, task, bool(success), quality)
    return SeenTrace(observation, time(seen_at))


@lru_cache(maxsize=10_000)
def write_shape(shape: Shape) -> str:
    """A shape as it is stored; many skills share one."""
    return json.dumps([shape.task_structures, shape.cognitive_patterns, shape.input_shape, shape.output_shape])


@lru_cache(maxsize=10_000)
def read_shape(text: str) -> Shape:
    """The reverse of `write_shape`; many skills share one. Raises `ValueError` or `TypeError` if it is damaged."""
    structures, patterns, input_shape, output_shape = json.loads(text)
    return Shape(tuple(map(str, structures)), tuple(map(str, patterns)), str(input_shape), str(output_shape))


def expiry(skill: Skill) -> int | None:
    """When a skill expires; None for never."""
    return microseconds(parse_time(skill.expires_at)) if skill.expires_at else None


def microseconds(time: datetime) -> int:
    """A time as it is stored."""
    return (time - _EPOCH) // _MICROSECOND


def time(microseconds: int) -> datetime:
    """The reverse of `microseconds`."""
    return _EPOCH + microseconds * _MICROSECOND
