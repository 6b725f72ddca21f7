"""How does a skill come back from the graph, by its nodes or by its body? What is gone or torn is told from damage.

The steps, conditions and tags of a skill stand in the graph twice: as nodes, which people look at and edit, and all
together as one text on the skill, its `body`. Whoever reads a few skills reads the nodes; whoever reads many reads the
bodies, at a third of the cost. A difference between the two is a write in progress, or an edit by hand.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from brain.errors import BrainError
from brain.model.context import Shape
from brain.model.skill import Skill
from brain.model.text import parse_time
from brain.store.base import CONFIDENCE_UNITS
from brain.store.documents import has_surrogates, read_json, read_whole
from brain.store.neo4j.rows import COUNTED, JSON_FIELDS, LISTS, Properties, head_of
from brain.store.values import Observation, SeenTrace

log = logging.getLogger(__name__)

Doubt = Callable[..., bool]
"""As `Transaction.doubt`."""

_OWN = {
    "HAS_STEP": {"id", "timestamp"},
    "REQUIRES": {"id", "order", "timestamp"},
    "ENSURES": {"id", "order", "timestamp"},
    "APPLIED": {"id", "number"},
}
"""What a node has that is no field of its record; statements give each a timestamp, null but for an application."""
_PARTS = (*LISTS.values(), "tags")
_JSON_TEXTS = (*JSON_FIELDS, "extra", "body")
_BESIDE = ("counted", "parts", "applied", "body", "nodes")
"""What a row has that is no field of the skill."""
_COLUMNS = (
    "id name description skill_type source_context confidence usage_count success_rate transfer_count "
    "transfer_successes version counted parts applied extra body created_at updated_at expires_at nodes".split()
)
_EDITED = (
    "%s: skill %r is not as it was written; somebody edited it. Run brain doctor --repair, so that lists and recall "
    "say what it says now."
)
_DAMAGE = (ValueError, TypeError, KeyError, BrainError)
_ROUNDING = 2 / CONFIDENCE_UNITS


def read_skill(values: Sequence[Any], namespace: str, location: str, doubt: Doubt, *, by_body: bool) -> Skill | None:
    """The skill in a list of `_COLUMNS`; None if it is gone, or, with a warning that names it, if it cannot be read."""
    row = dict(zip(_COLUMNS, values, strict=True))
    if is_gone(row["version"], row["skill_type"], row["source_context"]):
        return None
    try:
        body = _body(row["body"], by_body)
        by_nodes = not by_body or body is None
        own = _parts_of_nodes(row["nodes"]) if not by_body or body is None else {name: body[name] for name in _PARTS}
        history = _history(row["nodes"])
        whole = _has_all_nodes(row, own, history, by_nodes) and _is_of_one_write(row, body, own if by_nodes else {})
        if not whole and doubt(row["id"], *(row[name] for name in _BESIDE)):
            log.warning(_EDITED, location, row["id"])
        known = {name: value for name, value in row.items() if name not in _BESIDE}
        fields = {**_fields(known), "namespace": namespace, "expires_at": row["expires_at"] or ""}
        data = {**fields, **own, "transfer_history": history}
        return Skill.from_dict(data) if any(map(has_surrogates, _json_texts(row))) else read_whole(data)
    except _DAMAGE as error:
        doubt(row["id"], row)
        log.warning(
            "%s: skill %r in namespace %r cannot be read and is skipped: %s", location, row["id"], namespace, error
        )
        return None


def edited(skills: Iterable[Sequence[Any]]) -> list[str]:
    """Ids of those skills, read with their nodes, that have a body that says something else."""
    rows = (dict(zip(_COLUMNS, values, strict=True)) for values in skills)
    return [row["id"] for row in rows if row["body"] is not None and not _says_its_body(row)]


def _says_its_body(row: Properties) -> bool:
    try:
        return _is_of_one_write({**row, "counted": None}, _body(row["body"], False), _parts_of_nodes(row["nodes"]))
    except _DAMAGE:  # another check tells of nodes that cannot be read
        return True


def is_gone(*properties: Any) -> bool:
    """Whether an index named a node that another transaction has removed: nothing that it must have is left."""
    return all(value is None for value in properties)


def edges_there(rows: Iterable[Properties]) -> list[Properties]:
    """Rows of edges without those that lost an end meanwhile."""
    return [row for row in rows if row["source"] is not None and row["target"] is not None]


def read_shape(values: Sequence[Any]) -> Shape:
    """The shape in the four properties of its node. Raises `TypeError` if it is damaged."""
    structures, patterns, input_shape, output_shape = values
    return Shape(tuple(map(str, structures)), tuple(map(str, patterns)), str(input_shape), str(output_shape))


def read_trace(node: Properties) -> SeenTrace:
    """The reverse of `rows.trace_row`."""
    fields = {name: node[name] for name in Observation.__dataclass_fields__}
    return SeenTrace(Observation(**fields), parse_time(node["seen_at"].to_native()))


def _body(text: str | None, needed: bool) -> Properties | None:
    """The body of a skill; None for one that has none, or a damaged one that is not `needed`."""
    try:
        return None if text is None else read_json(text)
    except ValueError:
        if needed:
            raise
        return {}


def _json_texts(row: Properties) -> Iterator[str]:
    """Every JSON text of a skill and its nodes."""
    for properties in (row, *(node for _, _, node in row["nodes"])):
        yield from (text for name in _JSON_TEXTS if (text := properties.get(name)))


def _parts_of_nodes(rows: Sequence[tuple[str, Any, Properties]]) -> Properties:
    nodes = _sorted_nodes(rows)
    parts: Properties = {
        name: [_fields(node, own=_OWN[kind]) for node in nodes.get(kind, ())] for kind, name in LISTS.items()
    }
    return {**parts, "tags": [node["name"] for node in nodes.get("TAGGED", ())]}


def _history(rows: Sequence[tuple[str, Any, Properties]]) -> list[Properties]:
    nodes = [node for kind, _, node in rows if kind == "APPLIED" and "id" in node]
    return [_fields(node, own=_OWN["APPLIED"]) for node in sorted(nodes, key=lambda node: node["number"])]


def _has_all_nodes(row: Properties, own: Properties, history: Sequence[Any], by_nodes: bool) -> bool:
    """Whether as many nodes were read as there must be. Skills of an earlier version do not say."""
    parts = sum(len(own[name]) for name in LISTS.values()) if by_nodes else row["parts"]
    return row["applied"] in (None, len(history)) and row["parts"] in (None, parts)


def _is_of_one_write(row: Properties, body: Properties | None, own: Properties) -> bool:
    """Whether texts, numbers and the parts in `own` are what was written together; so are those of which nothing is
    known.
    """
    counted: Sequence[Any] = row["counted"] or ()
    if len(counted) == COUNTED:
        said = [row[name] for name in ("transfer_count", "transfer_successes", "usage_count", "version")]
        if said != counted[2:] or abs(row["confidence"] - counted[0] / CONFIDENCE_UNITS) > _ROUNDING:
            return False
    if body is None:
        return True
    head = head_of(*(row[name] for name in ("name", "description", "skill_type", "source_context", "extra")))
    return body.get("head") == head and all(body.get(name) == value for name, value in own.items())


def _sorted_nodes(nodes: Sequence[tuple[str, Any, Properties]]) -> dict[str, list[Properties]]:
    """Steps, conditions and tags by the kind of their relationship, in their order."""
    found: dict[str, list[tuple[Any, Properties]]] = {}
    for kind, order, node in nodes:
        if kind != "APPLIED":
            found.setdefault(kind, []).append((order if kind == "TAGGED" else node["order"], node))
    return {kind: [node for _, node in sorted(pairs, key=lambda pair: pair[0])] for kind, pairs in found.items()}


def _fields(properties: Properties, own: Collection[str] = ()) -> Properties:
    """The fields of a record from properties, without the graph's `own` ones; a field of it may bear their name."""
    known = {k: v for k, v in properties.items() if k != "extra" and k not in own}
    data = {k: read_json(v) if k in JSON_FIELDS else v for k, v in known.items()}
    extra = properties.get("extra")
    return {**data, **read_json(extra)} if extra else data
