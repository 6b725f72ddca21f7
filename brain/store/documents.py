"""How is what was stored read back, when some of it may have been damaged?

What cannot be read is skipped with a warning that names it, and never spoils the rest. So is a single damaged
vector: its skill is recalled without it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from brain.errors import BrainError
from brain.model.context import ContextFeatures, Shape
from brain.model.record import Record
from brain.model.relations import Edge, Relation
from brain.model.skill import TRANSFER_HISTORY_LENGTH, Skill, SkillCondition, SkillStep, SkillTransferRecord
from brain.model.text import parse_expiry, parse_time
from brain.store.values import RecallEntry

log = logging.getLogger(__name__)

_DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, BrainError)

EntryRow = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any]
"""The fields of a `RecallEntry` in their order, as a store has them."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TRANSFER_TYPES = {"target_context": dict, "success": bool, "confidence": float, "adaptations": dict, "timestamp": str}
_STEP_TYPES = {"action": str, "description": str, "order": int, "parameters": dict, "is_optional": bool}
_FEATURE_TYPES = {
    **dict.fromkeys(("task_structures", "cognitive_patterns", "domain_hints"), list),
    **dict.fromkeys(("input_shape", "output_shape", "abstract_goal"), str),
    "complexity": int,
    "metadata": dict,
}
_SKILL_TYPES = {
    **dict.fromkeys(("id", "name", "description", "skill_type"), str),
    **dict.fromkeys(("procedure", "preconditions", "postconditions"), list),
    "source_context": dict,
    "transfer_history": list,
    "confidence": float,
    "usage_count": int,
    "success_rate": float,
    "tags": list,
    **dict.fromkeys(("created_at", "updated_at", "expires_at"), str),
    **dict.fromkeys(("transfer_count", "transfer_successes"), int),
    "namespace": str,
    "version": int,
}
_TOO_MANY = 2**62
_FEATURE_LISTS = ("task_structures", "cognitive_patterns", "domain_hints")
_CONDITION_TYPES = {"predicate": str, "description": str, "required": bool}

R = TypeVar("R", bound=Record)


def write_document(record: Skill | SkillTransferRecord) -> str:
    """A skill or one application as JSON text."""
    return record.model_dump_json()


def read_document(
    skill_id: str,
    document: str,
    namespace: str,
    location: str,
    later: Mapping[str, Any],
    transfers: Sequence[str] = (),
) -> Skill | None:
    """The skill in `document`, or None.

    `later` are fields that hold instead of the document's, `transfers` the applications since it was written, each as
    JSON text.
    """
    try:
        data = read_json(document)
        history = [*data.get("transfer_history", ()), *read_json(f"[{','.join(transfers)}]")][-TRANSFER_HISTORY_LENGTH:]
        data = {**data, **later, "id": skill_id, "namespace": namespace, "transfer_history": history}
        return Skill.from_dict(data) if any(map(has_surrogates, (document, *transfers))) else read_whole(data)
    except _DAMAGE as error:
        log.warning("%s: skill %r in namespace %r cannot be read: %s", location, skill_id, namespace, error)
        return None


def read_entries(rows: Sequence[EntryRow], shape_of: Callable[[Any], Shape], location: str) -> list[RecallEntry]:
    """What recall needs of some skills. `shape_of` reads what stands at the place of the shape.

    A page is looked at as a whole; only if something in it is damaged, each row by itself.
    """
    if not rows:
        return []
    columns = list(zip(*rows, strict=True))
    try:
        columns[2] = tuple(map(shape_of, columns[2]))
        sound = _sound(columns)
    except _DAMAGE:
        sound = False
    if sound:
        return list(map(RecallEntry, *columns))
    return [entry for row in rows if (entry := _read_entry(row, shape_of, location))]


def read_edges(skill_id: str, rows: Iterable[Mapping[str, Any]], location: str) -> list[Edge]:
    """Edges as seen from `skill_id`, from rows of source, relation, target and metadata (JSON text)."""
    found = []
    for row in rows:
        edge = read_edge(row, location, inwards=row["source"] != skill_id)
        if edge:
            found.append(edge)
    return found


def read_edge(row: Mapping[str, Any], location: str, *, inwards: bool = False) -> Edge | None:
    """The edge in a row of source, relation, target and metadata (JSON text), seen from its source or from its end."""
    here, there = ("target", "source") if inwards else ("source", "target")
    try:
        return Edge(
            source=row[here],
            target=row[there],
            relation=Relation(row["relation"]),
            direction="in" if inwards else "out",
            metadata=json.loads(row["metadata"] or "{}"),
        )
    except _DAMAGE as error:
        log.warning("%s: edge %r -> %r cannot be read: %s", location, row["source"], row["target"], error)
        return None


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


read_json = json.JSONDecoder(parse_constant=_refused).decode
"""A JSON text, in which no constant such as NaN stands for a number. Raises `ValueError`."""


def has_surrogates(text: str) -> bool:
    """Whether a JSON text may hold half a character, which a record refuses."""
    return _SURROGATE.search(text) is not None


def read_transfer(item: Any) -> SkillTransferRecord:
    """One application. Validating a hundred of them takes far longer than reading the rest of their skill, and what
    JSON without surrogates gave needs little of it: only what has unknown fields is looked at closely. The others are
    made as unpickling makes them, in a fifth of the time of `model_construct`.
    """
    if not _fits(item, _TRANSFER_TYPES) or not 0.0 <= item["confidence"] <= 1.0:
        return SkillTransferRecord.from_dict(item)
    item["timestamp"] = parse_time(item["timestamp"])
    return _made(SkillTransferRecord, item)


def read_whole(data: dict[str, Any]) -> Skill:
    """A skill from what JSON without surrogates gave, as `read_transfer` reads an application."""
    parts = {name: list(map(read, data[name])) for name, read in _READ_PART.items() if isinstance(data.get(name), list)}
    whole = {**data, **parts}
    if not _fits(whole, _SKILL_TYPES) or not _is_sound(whole):
        return Skill.from_dict(whole)
    fields = {name: whole[name] for name in _SKILL_TYPES}
    for name in ("created_at", "updated_at"):
        fields[name] = parse_time(fields[name])
    fields["expires_at"] = parse_expiry(fields["expires_at"])
    return _made(Skill, fields)


def _is_sound(fields: Mapping[str, Any]) -> bool:
    """Whether the fields of a skill, each of its type, have values that they may have."""
    return (
        all(fields[name].strip() for name in ("id", "skill_type", "namespace"))
        and 0.0 <= fields["confidence"] <= 1.0
        and 0.0 <= fields["success_rate"] <= 1.0
        and 0 <= fields["transfer_successes"] <= fields["transfer_count"] < _TOO_MANY
        and 0 <= fields["usage_count"] < _TOO_MANY
        and 0 <= fields["version"] < _TOO_MANY
        and len(fields["transfer_history"]) <= TRANSFER_HISTORY_LENGTH
        and all(type(tag) is str for tag in fields["tags"])
    )


def read_step(item: Any) -> SkillStep:
    """One step, as `read_transfer` reads an application."""
    if not _fits(item, _STEP_TYPES) or not item["action"].strip() or not 0 <= item["order"] < _TOO_MANY:
        return SkillStep.from_dict(item)
    return _made(SkillStep, item)


def read_condition(item: Any) -> SkillCondition:
    """One condition, as `read_transfer` reads an application."""
    if not _fits(item, _CONDITION_TYPES) or not item["predicate"].strip():
        return SkillCondition.from_dict(item)
    return _made(SkillCondition, item)


def read_features(context: Mapping[str, Any]) -> ContextFeatures:
    """The features in a skill's context, as `read_transfer` reads an application."""
    plain = _fits(context, _FEATURE_TYPES) and 1 <= context["complexity"] <= 10
    if plain and all(type(text) is str for name in _FEATURE_LISTS for text in context[name]):
        return _made(ContextFeatures, dict(context))
    return ContextFeatures.from_dict(dict(context))


_READ_PART: dict[str, Callable[[Any], Record]] = {
    "procedure": read_step,
    "preconditions": read_condition,
    "postconditions": read_condition,
    "transfer_history": read_transfer,
}


def _fits(item: Any, types: Mapping[str, type]) -> bool:
    """Whether an item has exactly these fields, each of its type; at once if they stand in their order."""
    if [*map(type, item.values())] == [*types.values()] and [*item] == [*types]:
        return True
    return {name: type(value) for name, value in item.items()} == types


def _made(kind: type[R], fields: dict[str, Any]) -> R:
    made = kind.__new__(kind)
    made.__setstate__(
        {
            "__dict__": fields,
            "__pydantic_fields_set__": set(fields),
            "__pydantic_extra__": {},
            "__pydantic_private__": None,
        }
    )
    return made


def _sound(columns: Sequence[Sequence[Any]]) -> bool:
    """Whether every value of a page of entries is of its type, and within its range."""
    ids, types, _, confidences, counts, successes, expiries, fingerprints, terms, vectors = columns
    return (
        _only(str, ids, types, fingerprints)
        and _only(float, confidences)
        and all(0.0 <= confidence <= 1.0 for confidence in confidences)
        and _only(int, counts, successes, _given(expiries))
        and _only(bytes, _given(terms))
        and _are_vectors(_given(vectors))
    )


def _only(kind: type, *columns: Iterable[Any]) -> bool:
    return all(set(map(type, column)) <= {kind} for column in columns)


def _given(column: Sequence[Any]) -> list[Any]:
    return [value for value in column if value is not None]


def _are_vectors(values: Sequence[Any]) -> bool:
    """Whether each value is the bytes of finite float32 numbers, at least one."""
    if not _only(bytes, values) or any(not value or len(value) % 4 for value in values):
        return False
    return bool(np.isfinite(np.frombuffer(b"".join(values), np.float32)).all())


def _read_entry(row: EntryRow, shape_of: Callable[[Any], Shape], location: str) -> RecallEntry | None:
    skill_id, skill_type, shape, confidence, count, successes, expires_at, fingerprint, terms, vector = row
    try:
        return RecallEntry(
            str(skill_id),
            str(skill_type),
            shape_of(shape),
            _unit(confidence),
            int(count),
            int(successes),
            None if expires_at is None else int(expires_at),
            str(fingerprint),
            None if terms is None else bytes(terms),
            _vector(vector, skill_id, location),
        )
    except _DAMAGE as error:
        log.warning("%s: skill %r cannot be recalled: %s", location, skill_id, error)
        return None


def _unit(value: Any) -> float:
    number = float(value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"confidence is {number}")
    return number


def _vector(value: Any, skill_id: str, location: str) -> bytes | None:
    """The float32 bytes of a vector, if they are whole and finite."""
    if value is None:
        return None
    data = bytes(value)
    if _are_vectors([data]):
        return data
    log.warning(
        "%s: the vector of skill %r is damaged; it is recalled without it. Run brain reembed.", location, skill_id
    )
    return None
