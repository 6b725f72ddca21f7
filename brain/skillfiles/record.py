"""What of a skill has no field in the format, and travels in its metadata? `Record`, as texts by key and back.

    format        "1"
    digest        of the file without its entries: a file that was edited since is told from one that was not
    file          where the file came from elsewhere and is itself a part of the skill: a digest of what was made of it
    id, name, …   the fields of the skill: texts as they are, all else as JSON
    extra         the fields that this version does not know
    edges, traces

Traces say when, of what task and how it ended; what was executed stays in the store (`brain dump` has it), because a
skill file is made to be handed on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any

from brain.errors import InputError
from brain.model.record import validated
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.model.text import check_json, check_text, digest, parse_time
from brain.skillfiles.frontmatter import json_line
from brain.store.values import Observation, SeenTrace

FORMAT = "1"
"""Raised whenever the entries change; a file of a higher number is refused."""
FILE_FIELD = "skill_file"
"""The unknown field of a skill that holds the file which it was read from: see `brain.skillfiles.kept`."""
WAITING = "waiting"
"""The unknown field of a skill in quarantine that holds its edges and its expiry until it is approved."""
MOST_TRACES, LONGEST_TRACES = 100, 200_000
"""Traces that travel, the latest, and characters that they take."""

_TEXTS = ("id", "name", "description", "skill_type", "created_at", "updated_at", "expires_at")
_DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Record:
    """A skill with what is kept beside it. `edges` are seen from the skill, in both directions."""

    skill: Skill
    edges: Sequence[Edge] = ()
    traces: Sequence[SeenTrace] = field(default=(), repr=False)


def entries_of(record: Record, text: str) -> dict[str, str]:
    """The entries that tell `record`; `text` is the file that they go into."""
    fields = record.skill.to_dict()
    del fields["namespace"]
    known = {key: fields.pop(key) for key in Skill.model_fields if key in fields}
    kept = fields.pop(FILE_FIELD, None)
    entries = {"format": FORMAT, "digest": digest(text)}
    if isinstance(kept, dict):
        entries["file"] = str(kept.get("digest", ""))
    entries |= {_hyphened(key): _told(key, value) for key, value in known.items() if value not in ("", [], {})}
    beside = {
        "extra": dict(sorted(fields.items())),
        "edges": [_edge_data(edge) for edge in sorted(record.edges, key=_place)],
        "traces": _latest(record.traces),
    }
    return entries | {key: json_line(value) for key, value in beside.items() if value}


def record_from(entries: Mapping[str, str]) -> Record:
    """The record that `entries` tell. Raises `InputError` that names the entry at fault."""
    if entries["format"] != FORMAT:
        raise InputError(
            f"brain-format is {entries['format'][:20]!r}, and this version reads {FORMAT!r}: upgrade brain"
        )
    fields = {key: _value(entries, key) for key in Skill.model_fields if _hyphened(key) in entries}
    ours = {FILE_FIELD, WAITING, *Skill.model_fields}
    extra = {key: value for key, value in _json(entries, "extra", dict).items() if key not in ours}
    skill = Skill.from_dict({**extra, **fields})
    try:
        edges = tuple(_edge_from(skill.id, data) for data in _json(entries, "edges", list))
        traces = tuple(_trace_from(data) for data in _json(entries, "traces", list))
    except _DAMAGE as error:
        raise InputError(f"brain-edges or brain-traces cannot be read: {error}") from error
    return Record(skill, edges, traces)


def _hyphened(key: str) -> str:
    return key.replace("_", "-")


def _told(key: str, value: Any) -> str:
    return str(value) if key in _TEXTS else json_line(value)


def _value(entries: Mapping[str, str], key: str) -> Any:
    text = entries[_hyphened(key)]
    return text if key in _TEXTS else _parsed(text, _hyphened(key))


def _json(entries: Mapping[str, str], key: str, kind: type) -> Any:
    value = _parsed(entries[key], key) if key in entries else kind()
    if not isinstance(value, kind):
        raise InputError(f"brain-{key} is of the wrong kind")
    return value


def _parsed(text: str, key: str) -> Any:
    try:
        return check_json(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InputError(f"brain-{key} is not JSON: {error}") from error


def _place(edge: Edge) -> tuple[str, str, str]:
    return edge.direction, edge.relation.value, edge.target


def _edge_data(edge: Edge) -> dict[str, Any]:
    told = {"relation": edge.relation.value, "target": edge.target, "direction": edge.direction}
    return told | ({"metadata": edge.metadata} if edge.metadata else {})


def _edge_from(skill_id: str, data: Mapping[str, Any]) -> Edge:
    edge = validated(Edge, {**data, "source": skill_id}, "an edge")
    if edge.target == skill_id:
        raise ValueError("an edge from a skill to itself says nothing")
    return edge


def _latest(traces: Sequence[SeenTrace]) -> list[dict[str, Any]]:
    """The latest traces that travel, the oldest of them first."""
    latest = sorted(traces, key=lambda seen: (seen.seen_at, seen.observation.key), reverse=True)[:MOST_TRACES]
    told = [_trace_data(seen) for seen in latest]
    lengths = accumulate(len(json_line(data)) for data in told)
    return [data for data, length in zip(told, lengths, strict=True) if length <= LONGEST_TRACES][::-1]


def _trace_data(seen: SeenTrace) -> dict[str, Any]:
    told = asdict(seen.observation) | {"seen_at": seen.seen_at.isoformat()}
    return {key: value for key, value in told.items() if key != "content" and value != ""}


def _trace_from(data: Mapping[str, Any]) -> SeenTrace:
    texts = {name: check_text(data.get(name, "")) for name in ("key", "trace_id", "domain", "task")}
    success, quality = data["success"], float(data["quality"])
    if not texts["key"] or not isinstance(success, bool) or not 0.0 <= quality <= 1.0:
        raise ValueError("a trace needs a key, success as true or false, and a quality of 0 to 1")
    key, trace_id, domain, task = texts.values()
    content = content_of({}, domain, task, success, quality)
    return SeenTrace(Observation(key, trace_id, content, domain, task, success, quality), parse_time(data["seen_at"]))


def content_of(execution_trace: Mapping[str, Any], domain: str, task: str, success: bool, quality: float) -> str:
    """What was seen, as the text that a store keeps of a trace."""
    context, outcome = {"domain": domain, "task": task}, {"success": success, "quality": quality}
    told = {"execution_trace": dict(execution_trace), "context": context, "outcome": outcome}
    return json.dumps(told, sort_keys=True)
