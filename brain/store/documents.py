"""How is what was stored read back, when some of it may have been damaged?

What cannot be read is skipped with a warning that names it, and never spoils the rest. So is a single damaged
vector: its skill is recalled without it.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Mapping
from typing import Any

from brain.errors import BrainError
from brain.model.context import Shape
from brain.model.relations import Edge, Relation
from brain.model.skill import Skill
from brain.store.base import RecallEntry

log = logging.getLogger(__name__)

_DAMAGE = (ValueError, TypeError, KeyError, AttributeError, BrainError)


def write_document(skill: Skill) -> str:
    """The skill as JSON text."""
    return json.dumps(skill.to_dict(), allow_nan=False)


def read_document(skill_id: str, document: str, namespace: str, location: str) -> Skill | None:
    """The skill in `document`, or None."""
    try:
        data = json.loads(document)
        return Skill.from_dict({**data, "id": skill_id or data["id"], "namespace": namespace})
    except _DAMAGE as error:
        log.warning("%s: skill %r in namespace %r cannot be read: %s", location, skill_id, namespace, error)
        return None


def read_entry(row: Mapping[str, Any], location: str) -> RecallEntry | None:
    """What recall needs of a skill, from the columns or properties that bear the names of its fields, or None."""
    try:
        return RecallEntry(
            str(row["id"]),
            str(row["skill_type"]),
            Shape(
                _names(row["task_structures"]),
                _names(row["cognitive_patterns"]),
                str(row["input_shape"]),
                str(row["output_shape"]),
            ),
            _unit(row["confidence"]),
            int(row["usage_count"]),
            int(row["transfer_count"]),
            int(row["transfer_successes"]),
            row["expires_at"],
            str(row["fingerprint"]),
            row["profile"],
            _vector(row["vector"], row["id"], location),
        )
    except _DAMAGE as error:
        log.warning("%s: skill %r cannot be recalled: %s", location, row.get("id"), error)
        return None


def read_edges(skill_id: str, rows: Iterable[Mapping[str, Any]], location: str) -> list[Edge]:
    """Edges as seen from `skill_id`, from rows of source, relation, target and metadata (JSON text)."""
    found = []
    for row in rows:
        outwards = row["source"] == skill_id
        try:
            edge = Edge(
                source=skill_id,
                target=row["target"] if outwards else row["source"],
                relation=Relation(row["relation"]),
                direction="out" if outwards else "in",
                metadata=json.loads(row["metadata"] or "{}"),
            )
        except _DAMAGE as error:
            log.warning("%s: edge %r -> %r cannot be read: %s", location, row["source"], row["target"], error)
        else:
            found.append(edge)
    return found


def _names(value: Any) -> tuple[str, ...]:
    names = json.loads(value) if isinstance(value, str) else value
    return tuple(str(name) for name in names)


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
    numbers = memoryview(data).cast("f") if data and len(data) % 4 == 0 else None
    if numbers is not None and all(map(math.isfinite, numbers)):
        return data
    log.warning(
        "%s: the vector of skill %r is damaged; it is recalled without it. Run brain reembed.", location, skill_id
    )
    return None
