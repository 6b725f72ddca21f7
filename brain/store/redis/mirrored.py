"""How does a namespace of Redis follow another store? `Copy`: what is there now, and never an older state over a newer.

Whoever writes here first reads a mark of each skill, then the skill in the store that is copied, and writes only if the
mark is still there; every write leaves a new one. So whatever was written in between was read before: what is written
is never older than what is there, however many processes deliver at once. A skill that is not here has no mark of its
own; the count of removals stands for it, so that no tombstones have to be kept.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redis.exceptions import NoPermissionError

from brain.errors import StoreError
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.store.redis import document
from brain.store.redis.connection import Connection
from brain.store.redis.layout import Places, seconds_left
from brain.store.redis.note import NO_STRING
from brain.store.redis.plan import Plan, decoded
from brain.store.redis.store import RedisStore
from brain.store.redis.writer import Unit

RETRIES = 1
"""New attempts after a broken connection; what cannot be delivered waits, so nobody has to wait for it."""
TTL_SLACK = 2
"""Seconds by which an expiry in Redis may be off: it counts whole ones, and time passes while one looks."""


@dataclass(frozen=True)
class Present:
    """What a store says of one skill: None if it has no live one, and its edges in both directions."""

    skill: Skill | None
    edges: Sequence[Edge] = ()


@dataclass(frozen=True)
class Marks:
    """The marks of some skills, the count of removals that stands for those without, and whose copy this is."""

    of: Mapping[str, bytes | None]
    removals: bytes | None
    source: bytes | None


class OvertakenError(Exception):
    """Somebody else wrote since the marks were read. Read both anew."""


class Copy:
    """A namespace of Redis as the copy of another store. Safe to use from several threads."""

    def __init__(self, store: RedisStore) -> None:
        self._store, self._keys = store, store._keys
        self._backend, self._reader = store._backend, store._reader
        self._marks, self._note = f"{self._keys.companion}mirrored", f"{self._keys.companion}mirror"
        self.location = store.location
        if isinstance(self._backend, Connection):
            self._backend._retries = RETRIES

    def close(self) -> None:
        self._store.close()

    # Whose copy

    def source(self) -> str:
        """The id of the store that this is the copy of; empty for none."""
        return self._noted("source")

    def claim(self, source: str, replaces: str) -> bool:
        """Makes this the copy of `source`, or of none, if it still is that of `replaces`."""
        return self._set("source", source, replaces)

    def release(self) -> None:
        """Forgets all that makes this a copy. Skills stay."""
        plan = Plan()
        (marked,) = self._reader.ids(("HKEYS", self._marks))
        plan.hashes[self._marks] = dict.fromkeys(marked)
        plan.hashes[self._note] = {"source": None, "run": None}
        self._store._carry_out(plan, "")

    def run(self) -> str:
        """The run of the server: another one after each restart. Empty if the server does not tell."""
        try:
            (text,) = self._backend.read(("INFO", "server"))
        except StoreError as error:
            if isinstance(error.__cause__, NoPermissionError):
                return ""
            raise
        lines = decoded(text).splitlines() if isinstance(text, bytes) else ()
        return next((line.removeprefix("run_id:") for line in lines if line.startswith("run_id:")), "")

    def complete_in(self) -> str:
        """The run of the server in which the copy was last known to be complete."""
        return self._noted("run")

    def note_complete(self, run: str) -> None:
        """Notes that nothing is missing in this run of the server."""
        self._set("run", run, self.complete_in())

    def _noted(self, name: str) -> str:
        return decoded(self._backend.read(("HMGET", self._note, name))[0][0] or b"")

    def _set(self, name: str, value: str, replaces: str) -> bool:
        plan = Plan()
        plan.check_field(self._note, name, replaces.encode())
        plan.hashes[self._note][name] = value
        return self._store._carry_out(plan, "").state == "done"

    # Writing

    def marks(self, skill_ids: Sequence[str]) -> Marks:
        """To be read before the skills are read in the store that is copied. For at least one id."""
        found, (removals, source) = self._backend.read(
            ("HMGET", self._marks, *skill_ids), ("HMGET", self._note, "removals", "source")
        )
        return Marks(dict(zip(skill_ids, found, strict=True)), removals, source)

    def put(self, present: Mapping[str, Present], marks: Marks, source: str) -> None:
        """Makes skills here what they are in `source`, at once: documents, indexes, exactly these edges; or nothing.

        An edge whose other end is not here yet comes with that end. A key that holds no document at all is left as it
        is, with a warning. Raises `OvertakenError`.
        """

        def work(unit: Unit) -> None:
            if self.marks(list(marks.of)) != marks:
                raise OvertakenError
            self._check(unit.plan, marks, source)
            unit.load(present)
            fit = {i: one for i, one in present.items() if unit.stored(i).digest != NO_STRING}
            self._remove(unit, [i for i, one in fit.items() if one.skill is None])
            self._write(unit, {i: one for i, one in fit.items() if one.skill is not None})

        self._store._write(work, "", lambda _: None)

    def _check(self, plan: Plan, marks: Marks, source: str) -> None:
        if marks.source != source.encode():
            raise StoreError(
                f"{self.location} is no longer the mirror of this store. Run brain redis link, or brain redis unlink.",
                self.location,
            )
        plan.check_field(self._note, "source", marks.source)
        for skill_id, mark in marks.of.items():
            plan.check_field(self._marks, skill_id, mark)
        if None in marks.of.values():
            plan.check_field(self._note, "removals", marks.removals)

    def _remove(self, unit: Unit, skill_ids: Sequence[str]) -> None:
        if skill_ids:
            unit.remove(skill_ids, told=True)
            unit.plan.add(self._note, {"removals": 1})
            unit.plan.hashes[self._marks].update(dict.fromkeys(skill_ids))

    def _write(self, unit: Unit, present: Mapping[str, Present]) -> None:
        for skill_id, one in present.items():
            assert one.skill
            stored = unit.stored(skill_id)
            if not unit.if_live(stored):
                unit.clear(stored)
            for key in Places.of(stored.document.fields).sets(self._keys) if stored.document else ():
                unit.plan.sets[key][skill_id] = False  # OrKa leaves what it saves anew in the old sets
            unit.put(one.skill.model_copy(update={"namespace": self._store.namespace}), None)
            unit.plan.add(self._keys.state, {"texts": 1})
            unit.unlink(skill_id)
            unit.plan.hashes[self._marks][skill_id] = secrets.token_hex(8)
        edges = [edge for one in present.values() for edge in one.edges]
        ends = unit.load(edge.target for edge in edges)
        for edge in edges:
            if ends[edge.target].is_there:
                unit.link(edge if edge.direction == "out" else _turned(edge))

    # Reading

    def ids(self) -> list[str]:
        """The ids in the index."""
        return self._reader.ids(("HKEYS", self._keys.index))[0]

    def present(self, skill_ids: Sequence[str]) -> dict[str, Present]:
        """What stands here of some skills."""
        if not skill_ids:
            return {}
        live = self._reader.live(skill_ids)
        edges = self._reader.edges(list(live))
        ends = live | self._reader.live({e.target for some in edges.values() for e in some if e.target not in live})
        return {
            i: Present(live[i], [e for e in edges[i] if e.target in ends]) if i in live else Present(None)
            for i in skill_ids
        }

    def marked(self, skill_ids: Sequence[str]) -> set[str]:
        """Those that were put here as a copy."""
        return {i for i, mark in self.marks(skill_ids).of.items() if mark is not None} if skill_ids else set()

    def flaws(self, skills: Sequence[Skill]) -> dict[str, list[str]]:
        """What of the layout around the documents of some skills is not as OrKa expects it, by id.

        Where the server forbids TTL or SISMEMBER, expiry or sets are not looked at.
        """
        found: dict[str, list[str]] = {skill.id: [] for skill in skills}
        names = self._asked([("HMGET", self._keys.index, *found)] if found else [])
        for skill, name in zip(skills, names[0] if names else (), strict=True):
            if name is None or decoded(name) != skill.name:
                found[skill.id].append("index")
        for skill, left in zip(skills, self._asked([("TTL", self._keys.document(i)) for i in found]), strict=False):
            wanted = seconds_left(skill.expires_at, self._reader.now)
            if (wanted is None) != (left < 0) or (wanted is not None and abs(wanted - left) > TTL_SLACK):
                found[skill.id].append("expiry")
        places = [(skill.id, key) for skill in skills for key in self._sets_of(skill)]
        members = self._asked([("SISMEMBER", key, skill_id) for skill_id, key in places])
        for (skill_id, key), there in zip(places, members, strict=False):
            if not there:
                found[skill_id].append(key.removeprefix(self._keys.prefix))
        return {skill_id: what for skill_id, what in found.items() if what}

    def _sets_of(self, skill: Skill) -> list[str]:
        return Places.of(document.write(skill, None)[0]).sets(self._keys)

    def _asked(self, commands: Sequence[Sequence[str]]) -> list[Any]:
        try:
            return self._backend.read(*commands) if commands else []
        except StoreError as error:
            if isinstance(error.__cause__, NoPermissionError):
                return []
            raise


def _turned(edge: Edge) -> Edge:
    """An edge as seen from its source."""
    return Edge(source=edge.target, target=edge.source, relation=edge.relation, metadata=edge.metadata)
