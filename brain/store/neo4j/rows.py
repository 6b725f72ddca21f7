"""How does a skill become nodes and come back? Pure mapping between records and the parameters of statements."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

from brain.errors import BrainError
from brain.model.context import Shape
from brain.model.record import Record
from brain.model.skill import Skill, SkillTransferRecord
from brain.model.text import digest, parse_time
from brain.store.base import Draft, Observation

log = logging.getLogger(__name__)

Properties = dict[str, Any]

WRITE_BATCH = 200
"""Skills written by one statement."""

_SKILL_FIELDS = (
    "id name description skill_type confidence usage_count success_rate created_at updated_at transfer_count "
    "transfer_successes namespace version".split()
)
_JSON_FIELDS = frozenset({"source_context", "parameters", "target_context", "adaptations"})


def batches(drafts: Sequence[Draft]) -> Iterator[list[Draft]]:
    """At most `WRITE_BATCH` drafts at a time, no skill twice in one: a second version is written after the first."""
    batch: dict[str, Draft] = {}
    for draft in drafts:
        if draft.skill.id in batch or len(batch) == WRITE_BATCH:
            yield list(batch.values())
            batch = {}
        batch[draft.skill.id] = draft
    if batch:
        yield list(batch.values())


def skill_row(draft: Draft, skill: Skill, *, dedup_key: str | None, traces: Sequence[Observation] = ()) -> Properties:
    """One row of `write_skills`: the properties of the skill and of everything around it."""
    prefix = f"{skill.namespace}/{skill.id}"
    oldest = skill.transfer_count - len(skill.transfer_history)
    return {
        "id": skill.id,
        "fitting_key": draft.dedup_key,
        "dedup_key": dedup_key,
        "properties": {
            **{name: getattr(skill, name) for name in _SKILL_FIELDS},
            "task": skill.task,
            "domain": skill.domain,
            "source_context": _text(skill.source_context),
            "expires_at": parse_time(skill.expires_at) if skill.expires_at else None,
            "extra": _extra(skill),
            "parts": len(skill.procedure) + len(skill.preconditions) + len(skill.postconditions),
            "fingerprint": skill.fingerprint(),
            "profile": draft.profile,
            "vector": draft.vector,
        },
        "shape": _shape(skill.features.shape),
        "tags": [{"key": digest(tag), "name": tag, "order": i} for i, tag in enumerate(skill.tags)],
        "domains": domain_rows(skill.domain),
        "traces": [trace_row(observation, skill.updated_at) for observation in traces],
        "steps": [
            {**_properties(step), "id": f"{prefix}/step/{i}", "order": i} for i, step in enumerate(skill.procedure)
        ],
        "preconditions": _conditions(skill.preconditions, f"{prefix}/requires"),
        "postconditions": _conditions(skill.postconditions, f"{prefix}/ensures"),
        "transfers": [transfer_row(t, prefix, oldest + i + 1) for i, t in enumerate(skill.transfer_history)],
    }


def transfer_row(record: SkillTransferRecord, prefix: str = "", number: int = 0) -> Properties:
    """A transfer record as properties, with the domain that it went to."""
    metadata = record.target_context.get("metadata")
    domain = metadata.get("domain") if isinstance(metadata, dict) else None
    properties = {**_properties(record), "id": f"{prefix}/{number}", "number": number}
    return {"properties": properties, "domains": domain_rows(domain if isinstance(domain, str) else "")}


def domain_rows(domain: str) -> list[Properties]:
    """The domain's node, or nothing for an empty name."""
    return [{"key": digest(domain), "name": domain}] if domain.strip() else []


def trace_row(observation: Observation, seen_at: datetime) -> Properties:
    """What a trace's node holds."""
    return {
        "key": observation.key,
        "trace_id": observation.trace_id,
        "content": observation.content,
        "domain": observation.domain,
        "task": observation.task,
        "success": observation.success,
        "quality": observation.quality,
        "seen_at": seen_at,
    }


def is_torn(row: Properties) -> bool:
    """Whether a skill was written anew while its parts were collected, so that some are of before and some missing."""
    parts = [*row["procedure"], *row["preconditions"], *row["postconditions"]]
    return row["parts"] is not None and sum("id" in part for part in parts) != row["parts"]


def read_skill(row: Properties, namespace: str, location: str) -> Skill | None:
    """The skill that `fetch` returned; None, with a warning that names it, if its nodes cannot be read."""
    try:
        data = {**_fields(row, own={"parts"}), "namespace": namespace, "expires_at": _time(row["expires_at"])}
        data["procedure"] = [_fields(node, own={"id"}) for node in row["procedure"]]
        for part in ("preconditions", "postconditions"):
            data[part] = [_fields(node, own={"id", "order"}) for node in row[part]]
        data["transfer_history"] = [
            _fields(node, own={"id", "number"})
            for node in row["transfer_history"]
            if "id" in node  # the oldest go while newer ones are written
        ]
        return Skill.from_dict(data)
    except (ValueError, TypeError, KeyError, BrainError) as error:
        log.warning(
            "%s: skill %r in namespace %r cannot be read and is skipped: %s", location, row.get("id"), namespace, error
        )
        return None


def entry_row(row: Properties) -> Properties:
    """A row of `changed_skills` with its expiry as ISO 8601 text."""
    return {**row, "expires_at": _time(row["expires_at"])}


def _properties(record: Record) -> Properties:
    """The fields of a record as node properties: objects as JSON text, unknown fields together as one."""
    fields = {name: getattr(record, name) for name in type(record).model_fields}
    return {name: _text(v) if name in _JSON_FIELDS else v for name, v in fields.items()} | {"extra": _extra(record)}


def _fields(properties: Properties, own: Collection[str] = ()) -> Properties:
    """The reverse of `_properties`, without the graph's `own` ones; a field of the record may bear their name."""
    known = {k: v for k, v in properties.items() if k != "extra" and k not in own}
    data = {k: json.loads(v) if k in _JSON_FIELDS else _native(v) for k, v in known.items()}
    unknown: Properties = json.loads(properties.get("extra") or "{}")
    return data | unknown


def _conditions(conditions: Sequence[Record], prefix: str) -> list[Properties]:
    return [{**_properties(c), "id": f"{prefix}/{i}", "order": i} for i, c in enumerate(conditions)]


def _shape(shape: Shape) -> Properties:
    return {
        "key": shape.key,
        "task_structures": list(shape.task_structures),
        "cognitive_patterns": list(shape.cognitive_patterns),
        "input_shape": shape.input_shape,
        "output_shape": shape.output_shape,
    }


def _extra(record: Record) -> str | None:
    return _text(record.model_extra) if record.model_extra else None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _native(value: Any) -> Any:
    return value.to_native() if hasattr(value, "to_native") else value


def _time(value: Any) -> str:
    return "" if value is None else parse_time(_native(value)).isoformat()
