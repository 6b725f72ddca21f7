"""How does a skill become nodes? Pure mapping from records to the parameters of statements. Back: `reading`."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from brain.model.context import Shape
from brain.model.record import Record
from brain.model.skill import Skill, SkillTransferRecord
from brain.model.text import digest, parse_time
from brain.store.base import CONFIDENCE_UNITS
from brain.store.documents import read_features
from brain.store.values import Draft, KeptSkill, SeenTrace

Properties = dict[str, Any]

FEEDBACK_ID = "feedback_id"
"""Property of a transfer that came with an id."""
WRITE_BATCH = 200
"""Skills written by one statement."""

_SKILL_FIELDS = (
    "id name description skill_type confidence usage_count success_rate created_at updated_at transfer_count "
    "transfer_successes namespace version".split()
)
JSON_FIELDS = frozenset({"source_context", "parameters", "target_context", "adaptations"})
"""Fields that are kept as JSON text."""
COUNTED = 6
"""How many numbers `counted` of a skill holds."""
LISTS = {"HAS_STEP": "procedure", "REQUIRES": "preconditions", "ENSURES": "postconditions"}
"""Which relationship leads to the nodes of which field."""


@dataclass(frozen=True)
class Written:
    """A skill as it is about to be written.

    With a `fitting_key`, a stored skill keeps its dedup key only if it is that one; without, it takes `dedup_key`. With
    a `fitting_profile`, a stored vector stays where none is given and the text is that one. `learned` stands on the
    relationships to its traces.
    """

    skill: Skill
    profile: str | None
    terms: bytes | None
    vector: bytes | None
    dedup_key: str | None = None
    fitting_key: str | None = None
    fitting_profile: str | None = None
    traces: Sequence[SeenTrace] = ()
    learned: Properties = field(default_factory=dict)

    @classmethod
    def saved(cls, draft: Draft, skill: Skill) -> Written:
        """A draft, as `skill`, that takes no dedup key."""
        return cls(
            skill,
            draft.profile,
            draft.terms,
            draft.vector,
            fitting_key=draft.dedup_key,
            fitting_profile=draft.profile,
        )

    @classmethod
    def created(cls, draft: Draft, skill: Skill, trace: SeenTrace, operation: int) -> Written:
        """A draft, as `skill`, that takes its dedup key, learned from `trace`."""
        learned = {"operation": operation, "created": True}
        return cls(skill, draft.profile, draft.terms, draft.vector, draft.dedup_key, traces=(trace,), learned=learned)

    @classmethod
    def restored(cls, kept: KeptSkill, skill: Skill, dedup_key: str | None) -> Written:
        """What was kept, as `skill`."""
        return cls(skill, kept.profile, kept.terms, kept.vector, dedup_key, traces=kept.traces)


def skill_row(written: Written, *, lists: bool) -> Properties:
    """One row of `write_skills`: the properties of the skill and of everything around it.

    With `lists` the vector stands there as a list too.
    """
    skill, features = written.skill, read_features(written.skill.source_context)
    prefix = f"{skill.namespace}/{skill.id}"
    oldest = skill.transfer_count - len(skill.transfer_history)
    return {
        "id": skill.id,
        "fitting_key": written.fitting_key,
        "fitting_profile": written.fitting_profile,
        "dedup_key": written.dedup_key,
        "properties": {
            **{name: getattr(skill, name) for name in _SKILL_FIELDS},
            "task": skill.task,
            "domain": skill.domain,
            "source_context": _text(skill.source_context),
            "expires_at": parse_time(skill.expires_at) if skill.expires_at else None,
            "extra": _extra(skill),
            "parts": len(skill.procedure) + len(skill.preconditions) + len(skill.postconditions),
            "applied": len(skill.transfer_history),
            "body": body_of(skill),
            "fingerprint": features.fingerprint(),
            "shape": features.shape.key,
            "profile": written.profile,
            "terms": written.terms,
            "vector": written.vector,
            "embedding": as_list(written.vector) if lists else None,
            "counted": counted(skill),
        },
        "shape": _shape(features.shape),
        "tags": [{"key": digest(tag), "name": tag, "order": i} for i, tag in enumerate(skill.tags)],
        "domains": domain_rows(skill.domain),
        "traces": [trace_row(trace) for trace in written.traces],
        "learned": written.learned,
        "steps": [
            {**_properties(step), "id": f"{prefix}/step/{i}", "order": i} for i, step in enumerate(skill.procedure)
        ],
        "preconditions": _conditions(skill.preconditions, f"{prefix}/requires"),
        "postconditions": _conditions(skill.postconditions, f"{prefix}/ensures"),
        "transfers": [_transfer_row(t, prefix, oldest + i + 1) for i, t in enumerate(skill.transfer_history)],
    }


def body_of(skill: Skill) -> str:
    """Steps, conditions and tags as one text, with a checksum of the skill's other texts: see `reading`."""
    parts = {name: [part.to_dict() for part in getattr(skill, name)] for name in LISTS.values()}
    head = head_of(skill.name, skill.description, skill.skill_type, _text(skill.source_context), _extra(skill))
    return _text({"head": head, **parts, "tags": skill.tags})


def head_of(*texts: str | None) -> int:
    """A checksum of the texts that stand on a skill itself, as they are stored."""
    return zlib.crc32("\0".join(text or "" for text in texts).encode())


def counted(skill: Skill) -> list[int]:
    """What a skill adds to the counters of the namespace, and its other counts."""
    units, transferable = round(skill.confidence * CONFIDENCE_UNITS), int(skill.is_transferable)
    return [units, transferable, skill.transfer_count, skill.transfer_successes, skill.usage_count, skill.version]


def transfer_properties(record: SkillTransferRecord) -> Properties:
    """What a transfer's node holds, but for its id, its number and the confidence before it."""
    properties = _properties(record)
    if record.feedback_id:  # a property of its own, for `feedback` to find
        properties["extra"] = _extra(record, without=FEEDBACK_ID)
        properties[FEEDBACK_ID] = record.feedback_id
    return properties


def transfer_domains(record: SkillTransferRecord) -> list[Properties]:
    """The node of the domain that a transfer went to, or nothing."""
    metadata = record.target_context.get("metadata")
    domain = metadata.get("domain") if isinstance(metadata, dict) else None
    return domain_rows(domain if isinstance(domain, str) else "")


def domain_rows(domain: str) -> list[Properties]:
    """The domain's node, or nothing for an empty name."""
    return [{"key": digest(domain), "name": domain}] if domain.strip() else []


def as_list(vector: bytes | None) -> list[float] | None:
    """A vector as a vector index takes it."""
    return None if vector is None else [float(number) for number in memoryview(vector).cast("f")]


def trace_row(trace: SeenTrace) -> Properties:
    """What a trace's node holds."""
    return {**vars(trace.observation), "seen_at": trace.seen_at}


def operation_key(operation: str) -> int:
    """An operation as the whole number that is noted."""
    return int.from_bytes(hashlib.blake2b(operation.encode(), digest_size=8).digest(), "big", signed=True)


def _properties(record: Record) -> Properties:
    """The fields of a record as node properties: objects as JSON text, unknown fields together as one."""
    fields = {name: getattr(record, name) for name in type(record).model_fields}
    return {name: _text(v) if name in JSON_FIELDS else v for name, v in fields.items()} | {"extra": _extra(record)}


def _transfer_row(record: SkillTransferRecord, prefix: str, number: int) -> Properties:
    properties = {**transfer_properties(record), "id": f"{prefix}/{number}", "number": number}
    return {"properties": properties, "domains": transfer_domains(record)}


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


def _extra(record: Record, without: str | None = None) -> str | None:
    unknown = {key: value for key, value in (record.model_extra or {}).items() if key != without}
    return _text(unknown) if unknown else None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
