"""How does a skill become OrKa's document and come back? Fields, their order, and all that is seen in the wild.

Reading takes documents as they are: older ones without newer fields, odd times, values of a neighbouring kind. Writing
keeps the stored spelling of every part that was not changed, and unknown fields.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from brain.errors import BrainError, InputError
from brain.model.context import UNKNOWN
from brain.model.skill import PROCEDURAL, TRANSFER_HISTORY_LENGTH, Skill, SkillTransferRecord
from brain.model.text import parse_time

FIELDS = (
    "id name description skill_type procedure preconditions postconditions source_context transfer_history confidence "
    "usage_count success_rate tags created_at updated_at expires_at task_description domain_keywords "
    "output_description search_tokens recipe anti_signals"
).split()
"""The fields of a document, in their order. Unknown ones follow."""

DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError, BrainError)
"""What reading something damaged may raise."""

_LAYOUT_ONLY = FIELDS[FIELDS.index("task_description") :]
_OURS = ("namespace", "version", "transfer_count", "transfer_successes")
_LISTS = ("procedure", "preconditions", "postconditions")
_TRANSFER = {"target_context": dict, "success": bool, "confidence": float, "adaptations": dict, "timestamp": str}
_VOLATILE = {"transfer_history", "confidence", "usage_count", "success_rate", "updated_at", "expires_at"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_ODD = re.compile(rb"\\u[dD][89a-fA-F]|NaN|Infinity")
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC).isoformat()


@dataclass(frozen=True)
class Document:
    """One stored document: its fields as they stand, and the skill that it says."""

    fields: dict[str, Any]
    skill: Skill


def read(
    skill_id: str,
    text: bytes,
    namespace: str,
    now: datetime,
    *,
    version: int,
    lost: tuple[int, int],
    added: Sequence[str],
) -> Document:
    """The document in `text`. Raises one of `DAMAGE` if it says no skill.

    `version`, the transfers `lost` from the history (all, successful) and the fields `added` to what was saved are
    what the companion knows.
    """
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise InputError(f"it is a {type(fields).__name__}, not an object")
    plain = _scrubbed(fields) if _ODD.search(text) else fields
    data = {key: value for key, value in plain.items() if key not in _OURS and key not in added}
    history = _objects(data.get("transfer_history"))
    data |= {
        "id": skill_id,
        "namespace": namespace,
        "version": version,
        "transfer_count": lost[0] + len(history),
        "transfer_successes": lost[1] + sum(bool(record.get("success")) for record in history),
    }
    return Document(
        fields, Skill.from_dict(_cleaned(data | {"transfer_history": history[-TRANSFER_HISTORY_LENGTH:]}, now))
    )


def listed(text: bytes) -> tuple[str, str, list[str], Any, str]:
    """Name, domain, tags, success rate and time of change, as `read` gives them, without reading the rest; raises one
    of `DAMAGE`. A whole skill takes four times as long.
    """
    fields = json.loads(text.decode())
    context = fields.get("source_context")
    metadata = context.get("metadata") if isinstance(context, dict) else None
    domain = metadata.get("domain") if isinstance(metadata, dict) else None
    updated = _time(fields.get("updated_at"), "")
    texts = [_text(fields.get("name")), domain if isinstance(domain, str) else "", *_names(fields.get("tags"))]
    name, domain, *tags = texts if all(map(str.isascii, texts)) else map(_scrubbed, texts)
    rate = _rate(fields.get("success_rate", 0.0))
    return name, domain, tags, rate, updated or _time(fields.get("created_at"), _NO_TIME)


def write(skill: Skill, stored: Document | None) -> tuple[dict[str, Any], list[str]]:
    """The fields of `skill`'s document, and the names of those that the skill itself does not have.

    What is as in `stored` is spelled as there.
    """
    data = _lasting(skill)
    added = [key for key in _LAYOUT_ONLY if key not in data]
    data |= {key: value for key, value in _for_orka(skill).items() if key in added}
    data["transfer_history"] = _history(skill, stored)
    ordered = {key: data[key] for key in FIELDS} | {key: value for key, value in data.items() if key not in FIELDS}
    if stored is None:
        return ordered, added
    before = _lasting(stored.skill)
    kept = {key: value for key, value in stored.fields.items() if key in _OURS}
    return {key: _spelled(key, value, before, stored.fields) for key, value in ordered.items()} | kept, added


def _lasting(skill: Skill) -> dict[str, Any]:
    """What a document says of a skill, but for its history."""
    return skill.model_dump(exclude={*_OURS, "transfer_history"})


def _history(skill: Skill, stored: Document | None) -> Any:
    """The transfers, each as `stored` spells it if it stands there; all that stands there if none was added."""
    records, spelled = skill.transfer_history, stored.fields.get("transfer_history") if stored else None
    if stored is None or not isinstance(spelled, list):
        return [record.to_dict() for record in records] if records else spelled if stored else []
    before = stored.skill.transfer_history
    latest = spelled[len(spelled) - len(before) :]  # a history is read from its end
    same = {id(record): said for record, said in zip(before, latest, strict=True)}
    strange = [record for record in records if id(record) not in same]  # just made, or of another reading
    if len(strange) > 1 or any(record in before for record in strange):
        alike = {json.dumps(record.to_dict()): said for record, said in zip(before, latest, strict=True)}
        found = [alike.get(json.dumps(said := record.to_dict()), said) for record in records]
    else:
        found = [same[id(record)] if id(record) in same else record.to_dict() for record in records]
    unchanged = len(found) == len(latest) and all(map(operator.is_, found, latest))
    return spelled if unchanged else found


def to_text(fields: dict[str, Any]) -> str:
    """A document as it is stored."""
    return json.dumps(fields)


def text_key(fields: dict[str, Any]) -> str:
    """Digest, 16 hexadecimal characters, of all that a use does not change: what an analysis is good for."""
    lasting = {key: value for key, value in fields.items() if key not in _VOLATILE}
    return blake2b(json.dumps(lasting, sort_keys=True).encode(), digest_size=8).hexdigest()


def _for_orka(skill: Skill) -> dict[str, Any]:
    """What OrKa looks skills up by and our records do not have. A bare skill, without a context, has none of it."""
    told = bool(skill.source_context)
    shape = skill.source_context.get("output_shape")
    keywords = [text for text in (skill.domain, skill.task) if text]
    return {
        "task_description": skill.task,
        "domain_keywords": (list(dict.fromkeys(keywords)) or ["general"]) if told else [],
        "output_description": shape if isinstance(shape, str) and shape not in ("text", UNKNOWN) else "",
        "search_tokens": _tokens(skill.name) if told else [],
        "recipe": {},
        "anti_signals": [],
    }


def _tokens(name: str) -> list[str]:
    words = re.split(r"[:\-\s]+", name.lower())
    return sorted({part for word in words for part in (word, *word.split("_")) if part})


def _spelled(key: str, value: Any, before: dict[str, Any], stored: dict[str, Any]) -> Any:
    """`value` as `stored` spells it, as far as it is what was read from there."""
    if key not in stored or key not in before:
        return value
    if json.dumps(value) == json.dumps(before[key]):
        return stored[key]
    if key in _LISTS and isinstance(stored[key], list):
        known = {json.dumps(read): spelled for read, spelled in zip(before[key], stored[key], strict=True)}
        return [known.get(json.dumps(item), item) for item in value]
    return value


# Reading what is odd


def _cleaned(data: dict[str, Any], now: datetime) -> dict[str, Any]:
    """`data` with what older and careless writers left made into what a skill has."""
    updated = _time(data.get("updated_at"), "")
    created = _time(data.get("created_at"), updated or _NO_TIME)
    kind = data.get("skill_type")
    return {
        **data,
        "name": _text(data.get("name")),
        "description": _text(data.get("description")),
        "skill_type": kind if isinstance(kind, str) and kind.strip() else PROCEDURAL,
        "procedure": [_step(step, i) for i, step in enumerate(_listed(data.get("procedure")))],
        "preconditions": [_condition(c) for c in _listed(data.get("preconditions"))],
        "postconditions": [_condition(c) for c in _listed(data.get("postconditions"))],
        "source_context": _context(data.get("source_context")),
        "transfer_history": [_transfer(record, now) for record in _objects(data.get("transfer_history"))],
        "confidence": data.get("confidence", 0.5),
        "usage_count": _whole(data.get("usage_count", 0)),
        "success_rate": _rate(data.get("success_rate", 0.0)),
        "tags": [tag for tag in _listed(data.get("tags")) if isinstance(tag, str)],
        "created_at": created,
        "updated_at": updated or created,
        "expires_at": _time(data.get("expires_at"), ""),
    }


def _step(step: Any, i: int) -> dict[str, Any]:
    step = step if isinstance(step, dict) else {"action": step}
    action, parameters = _text(step.get("action")), step.get("parameters")
    description = _text(step.get("description"))
    return {
        **step,
        "action": action if action.strip() else description if description.strip() else f"step_{i}",
        "description": description,
        "order": order if isinstance(order := _whole(step.get("order", i)), int) and order >= 0 else i,
        "parameters": parameters
        if isinstance(parameters, dict)
        else {}
        if parameters is None
        else {"value": parameters},
        "is_optional": bool(step.get("is_optional", False)),
    }


def _condition(condition: Any) -> dict[str, Any]:
    condition = condition if isinstance(condition, dict) else {"predicate": condition}
    predicate, description = _text(condition.get("predicate")), _text(condition.get("description"))
    return {
        **condition,
        "predicate": predicate if predicate.strip() else description if description.strip() else "?",
        "description": description,
        "required": bool(condition.get("required", True)),
    }


def _transfer(record: dict[str, Any], now: datetime) -> SkillTransferRecord | dict[str, Any]:
    """One application. What is as we write it is taken as it is: validating a hundred takes longer than the rest."""
    if {name: type(value) for name, value in record.items()} == _TRANSFER and 0 <= record["confidence"] <= 1:
        timestamp = _time(record["timestamp"], "")
        if timestamp:
            return SkillTransferRecord.model_construct(**{**record, "timestamp": datetime.fromisoformat(timestamp)})
    context, adaptations = record.get("target_context"), record.get("adaptations")
    return {
        **record,
        "target_context": context if isinstance(context, dict) else {},
        "success": bool(record.get("success")),
        "confidence": c if isinstance(c := record.get("confidence"), int | float) and 0 <= c <= 1 else 0.0,
        "adaptations": adaptations if isinstance(adaptations, dict) else {},
        "timestamp": _time(record.get("timestamp"), now.isoformat()),
    }


def _context(context: Any) -> dict[str, Any]:
    """A source context in which each known feature, if it is there, is of its kind."""
    if not isinstance(context, dict):
        return {}
    kinds: dict[str, Callable[[Any], Any]] = {
        "task_structures": _names,
        "cognitive_patterns": _names,
        "domain_hints": _names,
        "input_shape": lambda v: _text(v) or UNKNOWN,
        "output_shape": lambda v: _text(v) or UNKNOWN,
        "abstract_goal": _text,
        "complexity": lambda v: min(10, max(1, int(v))) if isinstance(v, int | float) and math.isfinite(v) else 5,
        "metadata": lambda v: v if isinstance(v, dict) else {},
    }
    return {key: kinds[key](value) if key in kinds else value for key, value in context.items()}


def _names(value: Any) -> list[str]:
    return [name for name in _listed(value) if isinstance(name, str)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item if isinstance(item, dict) else {} for item in _listed(value)]


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _rate(value: Any) -> Any:
    """A rate, without what rounding made of it."""
    return min(1.0, max(0.0, value)) if isinstance(value, float) and -1e-6 <= value <= 1 + 1e-6 else value


def _time(value: Any, otherwise: str) -> str:
    """A time as ISO 8601 UTC text; `otherwise` for what is none."""
    try:
        return parse_time(value).isoformat() if isinstance(value, str) else otherwise
    except ValueError:
        return otherwise


def _scrubbed(value: Any) -> Any:
    """`value` without numbers that are not finite and without lone surrogates, neither of which a skill can hold."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_scrubbed(item) for item in value]
    if isinstance(value, dict):
        return {_scrubbed(key): _scrubbed(item) for key, item in value.items()}
    return value
