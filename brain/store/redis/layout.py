"""Which keys does a namespace have in Redis, and what does OrKa expect to find at them?

| key | type | holds |
|---|---|---|
| `orka:brain:skill:<id>` | string | the skill as JSON, with EXPIRE |
| `orka:brain:skill_index` | hash | id -> name |
| `orka:brain:tags:<tag>`, `…:type_index:<type>`, `…:domain_index:<keyword>` | set | ids |
| `orka:brain:edges:<id>` | set | edges as JSON, each end its own |

OrKa knows no namespaces: the default one has OrKa's prefix, another one `orka:brain~<name>:`, its name escaped. What
OrKa's layout has no place for stands in companion keys: `orka:brain~:…`, or `orka:brain~<name>~:…`. A prefix holds no
`~` of its own, so that no two of these meet.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from brain.errors import LocationError
from brain.model.relations import Edge, Relation
from brain.model.text import parse_time

DEFAULT_PREFIX = "orka:brain:"
"""OrKa's prefix."""
REVERSE = "REVERSE_"
"""Begins the relation of an edge in the set of the skill where it ends."""

_REFUSED = re.compile(r"[*?\[\]\\^~\s\x00-\x1f\x7f\ud800-\udfff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def check_prefix(prefix: str) -> str:
    """`prefix` as keys begin with it: with one colon at its end. Raises `LocationError` for an unusable one."""
    name = prefix.removesuffix(":")
    if not name:
        raise LocationError("The key prefix is empty, so every key in the Redis would be taken for ours. Name one.")
    found = _REFUSED.search(name)
    if found:
        raise LocationError(
            f"The key prefix {prefix!r} holds {found.group()!r}. Use one without * ? [ ] ^ \\ ~ and spaces, "
            f"such as {DEFAULT_PREFIX}."
        )
    return f"{name}:"


class Keys:
    """The keys of one namespace under a prefix. All text; Redis gets them as UTF-8."""

    MARK = 16
    """Characters with which a kept profile, terms or vector begins: the digest of the text that it was made for."""

    def __init__(self, prefix: str, namespace: str) -> None:
        name = check_prefix(prefix).removesuffix(":")
        if namespace != "default":
            name = f"{name}~{quote(namespace, safe='').replace('~', '%7E')}"
        self.prefix, self.companion = f"{name}:", f"{name}~:"
        self.documents = f"{self.prefix}skill:"
        self.index = f"{self.prefix}skill_index"
        self.edges_of = f"{self.prefix}edges:"

        own = self.companion
        self.state, self.notes = f"{own}state", f"{own}notes"
        self.profiles, self.terms, self.vectors = f"{own}profiles", f"{own}terms", f"{own}vectors"
        self.changed, self.deleted, self.expiry = f"{own}changed", f"{own}deleted", f"{own}expiry"
        self.used, self.totals, self.dedup = f"{own}used", f"{own}totals", f"{own}dedup"
        self.traces, self.traces_of = f"{own}traces", f"{own}traces_of:"
        self.traces_shared = f"{own}traces_shared"
        self.operations, self.receipts = f"{own}operations", f"{own}receipts"

    def document(self, skill_id: str) -> str:
        return f"{self.documents}{skill_id}"

    def edges(self, skill_id: str) -> str:
        return f"{self.edges_of}{skill_id}"

    def tag(self, tag: str) -> str:
        return f"{self.prefix}tags:{tag}"

    def skill_type(self, skill_type: str) -> str:
        return f"{self.prefix}type_index:{skill_type}"

    def domain(self, keyword: str) -> str:
        return f"{self.prefix}domain_index:{keyword}"

    def traces_learned(self, skill_id: str) -> str:
        return f"{self.traces_of}{skill_id}"

    @staticmethod
    def own_trace(key: str, skill_id: str) -> str:
        """The field of a trace that another skill was learned from before."""
        return f"{key}\x1f{skill_id}"

    @staticmethod
    def trace_key(field: str, skill_id: str) -> str:
        """The key of the trace in a field of a skill."""
        return field.removesuffix(f"\x1f{skill_id}")

    def set_patterns(self) -> tuple[str, ...]:
        """Patterns, as SCAN takes them, of the sets that hold skill ids."""
        return tuple(f"{self.prefix}{family}:*" for family in ("tags", "type_index", "domain_index"))


@dataclass(frozen=True)
class Places:
    """Where a skill's id stands beside its document: its tags, its type, its domain keywords."""

    tags: tuple[str, ...] = ()
    skill_type: str = ""
    keywords: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: dict[str, Any]) -> Places:
        """The places that a document asks for; what is no text asks for none."""
        kind = document.get("skill_type")
        return cls(
            _texts(document.get("tags")), kind if isinstance(kind, str) else "", _texts(document.get("domain_keywords"))
        )

    def sets(self, keys: Keys) -> list[str]:
        """The keys of the sets that hold the id."""
        found = [keys.tag(tag) for tag in self.tags]
        if self.skill_type:
            found.append(keys.skill_type(self.skill_type))
        return found + [keys.domain(keyword) for keyword in self.keywords]


def seconds_left(expires_at: str, now: datetime) -> int | None:
    """The EXPIRE of a document: whole seconds, rounded down; None if that is not above 0, or it never expires."""
    if not expires_at:
        return None
    left = int((parse_time(expires_at) - now).total_seconds())
    return left if left > 0 else None


def microseconds(time: datetime) -> int:
    """A time since 1970, UTC, as the companion keeps it."""
    return (time - _EPOCH) // _MICROSECOND


def digest(document: bytes) -> str:
    """What a document is known by: SHA-1, hexadecimal, as Redis's Lua computes it too."""
    return hashlib.sha1(document, usedforsecurity=False).hexdigest()


def edge_members(edge: Edge) -> tuple[str, str]:
    """`edge` (direction "out") as it stands in the set of its source and in that of its target."""
    relation = edge.relation.value
    forth = {"target": edge.target, "relation": relation, "metadata": edge.metadata}
    back = {"target": edge.source, "relation": REVERSE + relation, "metadata": edge.metadata}
    return json.dumps(forth), json.dumps(back)


def read_edge(skill_id: str, member: bytes) -> Edge:
    """The edge that a member of `skill_id`'s set says. Raises `ValueError`, `TypeError`, `KeyError` if it says none."""
    said = json.loads(member, parse_constant=lambda _: None)
    relation, metadata = said["relation"], said.get("metadata")
    reverse = relation.startswith(REVERSE)
    return Edge(
        source=skill_id,
        target=said["target"],
        relation=Relation(relation.removeprefix(REVERSE)),
        direction="in" if reverse else "out",
        metadata=metadata if isinstance(metadata, dict) else {},
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in value if isinstance(item, str))) if isinstance(value, list) else ()
