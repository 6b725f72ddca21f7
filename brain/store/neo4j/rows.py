"""How does a skill become nodes and come back? Pure mapping between records and the parameters of statements."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from brain.errors import BrainError
from brain.model.context import Shape
from brain.model.record import Record
from brain.model.skill import Skill, SkillTransferRecord
from brain.model.text import digest, parse_time
from brain.store.base import CONFIDENCE_UNITS
from brain.store.documents import has_surrogates, read_json, read_transfer
from brain.store.values import Draft, KeptSkill, Observation, SeenTrace

log = logging.getLogger(__name__)

Properties = dict[str, Any]

WRITE_BATCH = 200
"""Skills written by one statement."""

_SKILL_FIELDS = (
    "id name description skill_type confidence usage_count success_rate created_at updated_at transfer_count "
    "transfer_successes namespace version".split()
)
_JSON_FIELDS = frozenset({"source_context", "parameters", "target_context", "adaptations"})
_LISTS = {"HAS_STEP": "procedure", "REQUIRES": "preconditions", "ENSURES": "postconditions"}
_OWN = {
    "HAS_STEP": {"id", "timestamp"},
    "REQUIRES": {"id", "order", "timestamp"},
    "ENSURES": {"id", "order", "timestamp"},
}
"""What a node has that is no field of its record; `fetch` gives each a timestamp, which is null but for a transfer."""


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
    skill, features = written.skill, written.skill.features
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
            "fingerprint": features.fingerprint(),
            "shape": features.shape.key,
            "profile": written.profile,
            "terms": written.terms,
            "vector": written.vector,
            "embedding": as_list(written.vector) if lists else None,
            "counted": [round(skill.confidence * CONFIDENCE_UNITS), int(skill.is_transferable), skill.transfer_count],
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


def transfer_properties(record: SkillTransferRecord) -> Properties:
    """What a transfer's node holds, but for its id, its number and the confidence before it."""
    return _properties(record)


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


def read_trace(node: Properties) -> SeenTrace:
    """The reverse of `trace_row`."""
    fields = {name: node[name] for name in Observation.__dataclass_fields__}
    return SeenTrace(Observation(**fields), parse_time(node["seen_at"].to_native()))


def operation_key(operation: str) -> int:
    """An operation as the whole number that is noted."""
    return int.from_bytes(hashlib.blake2b(operation.encode(), digest_size=8).digest(), "big", signed=True)


def is_torn(row: Properties) -> bool:
    """Whether a skill was written anew while its parts were collected, so that some are of before and some missing."""
    whole = sum(kind in _LISTS and "id" in node for kind, _, node in row["nodes"])
    return row["parts"] is not None and whole != row["parts"]


def read_skill(row: Properties, namespace: str, location: str) -> Skill | None:
    """The skill that `fetch` returned; None, with a warning that names it, if its nodes cannot be read."""
    try:
        data = {**_fields(row, own={"parts", "nodes"}), "namespace": namespace}
        data["expires_at"] = row["expires_at"] or ""
        nodes = _sorted_nodes(row["nodes"])
        for kind, name in _LISTS.items():
            data[name] = [_fields(node, own=_OWN[kind]) for node in nodes.get(kind, ())]
        data["tags"] = [node["name"] for node in nodes.get("TAGGED", ())]
        data["transfer_history"] = [_transfer(node) for node in nodes.get("APPLIED", ())]
        return Skill.from_dict(data)
    except (ValueError, TypeError, KeyError, BrainError) as error:
        log.warning(
            "%s: skill %r in namespace %r cannot be read and is skipped: %s", location, row.get("id"), namespace, error
        )
        return None


def read_shape(values: Sequence[Any]) -> Shape:
    """The shape in the four properties of its node. Raises `TypeError` if it is damaged."""
    structures, patterns, input_shape, output_shape = values
    return Shape(tuple(map(str, structures)), tuple(map(str, patterns)), str(input_shape), str(output_shape))


def _sorted_nodes(nodes: Sequence[tuple[str, Any, Properties]]) -> dict[str, list[Properties]]:
    """The nodes around a skill by the kind of their relationship, in their order."""
    found: dict[str, list[tuple[Any, Properties]]] = {}
    for kind, order, node in nodes:
        if kind == "TAGGED":
            found.setdefault(kind, []).append((order, node))
        elif kind == "APPLIED":
            if "id" in node:  # the oldest go while newer ones are written
                found.setdefault(kind, []).append((node["number"], node))
        else:
            found.setdefault(kind, []).append((node["order"], node))
    return {kind: [node for _, node in sorted(pairs, key=lambda pair: pair[0])] for kind, pairs in found.items()}


def _transfer(node: Properties) -> SkillTransferRecord:
    fields = _fields(node, own={"id", "number"})
    if has_surrogates(node["target_context"] + node["adaptations"]):
        return SkillTransferRecord.from_dict(fields)
    return read_transfer(fields)


def _properties(record: Record) -> Properties:
    """The fields of a record as node properties: objects as JSON text, unknown fields together as one."""
    fields = {name: getattr(record, name) for name in type(record).model_fields}
    return {name: _text(v) if name in _JSON_FIELDS else v for name, v in fields.items()} | {"extra": _extra(record)}


def _fields(properties: Properties, own: Collection[str] = ()) -> Properties:
    """The reverse of `_properties`, without the graph's `own` ones; a field of the record may bear their name."""
    known = {k: v for k, v in properties.items() if k != "extra" and k not in own}
    data = {k: read_json(v) if k in _JSON_FIELDS else v for k, v in known.items()}
    extra = properties.get("extra")
    return {**data, **read_json(extra)} if extra else data


def _transfer_row(record: SkillTransferRecord, prefix: str, number: int) -> Properties:
    properties = {**_properties(record), "id": f"{prefix}/{number}", "number": number}
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


def _extra(record: Record) -> str | None:
    return _text(record.model_extra) if record.model_extra else None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
