"""How is one skill written, connected and removed: document, indexes, edges, companion? `Unit`, one plan in the making.

A unit reads what it needs, remembers what it is going to write, and gives a plan that holds only if nothing of what it
read has changed. Everything it puts is an end state, so that carrying it out again changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.store.redis import document
from brain.store.redis.connection import Backend
from brain.store.redis.document import Document
from brain.store.redis.layout import Keys, Places, digest, edge_members, microseconds, seconds_left
from brain.store.redis.note import NO_STRING, Note
from brain.store.redis.plan import Plan, decoded
from brain.store.redis.reading import Reader, Stored
from brain.store.values import Draft, KeptSkill, Observation, SeenTrace


@dataclass(frozen=True)
class Recalled:
    """What recall is to know of a skill beside its document. A vector that is None is left out."""

    profile: str | None
    terms: bytes | None
    vector: bytes | None

    @classmethod
    def of(cls, draft: Draft | KeptSkill) -> Recalled:
        return cls(draft.profile, draft.terms, draft.vector)


class Unit:
    """Reads and writes of one attempt of one transaction."""

    def __init__(self, backend: Backend, keys: Keys, reader: Reader) -> None:
        self.plan = Plan()
        self.keys, self.reader, self._backend = keys, reader, backend
        self._now = reader.now
        self._stored: dict[str, Stored] = {}
        self._links: dict[tuple[str, str, str], Edge] = {}
        self._learned: dict[str, dict[str, str]] = {}

    # Reading

    def load(self, skill_ids: Iterable[str]) -> dict[str, Stored]:
        """What is stored under each id, with what this unit has put already."""
        wanted = list(dict.fromkeys(skill_ids))
        self._stored |= self.reader.stored(i for i in wanted if i not in self._stored)
        return {i: self._stored[i] for i in wanted}

    def stored(self, skill_id: str) -> Stored:
        return self.load([skill_id])[skill_id]

    def live(self, skill_ids: Iterable[str]) -> list[Skill]:
        """The live skills among some ids, in their order."""
        return [skill for stored in self.load(skill_ids).values() if (skill := self.if_live(stored))]

    def if_live(self, stored: Stored) -> Skill | None:
        """Its skill, if it has one that has not expired."""
        return stored.skill if stored.skill and not stored.skill.has_expired(self._now) else None

    def holder(self, dedup_key: str) -> str | None:
        """The skill that holds a dedup key."""
        put = self.plan.hashes[self.keys.dedup]
        if dedup_key in put:
            named = put[dedup_key]
            return named if isinstance(named, str) else None
        (found,) = self._backend.read(("HMGET", self.keys.dedup, dedup_key))[0]
        self.plan.check_field(self.keys.dedup, dedup_key, found)
        return decoded(found) if found else None

    def skills_of_trace(self, key: str) -> list[str]:
        """The skills that were learned from a trace, by id. The unit holds only while no other is."""
        self.load_traces([key], checked=True)
        return sorted(self._learned[key])

    def load_traces(self, keys: Iterable[str], *, checked: bool = False) -> None:
        """Reads which skills were learned from some traces, and in which field each has its own."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self._learned]
        if not wanted:
            return
        hashes = (self.keys.traces, self.keys.traces_shared)
        columns = self._backend.read(*(("HMGET", hashed, *wanted) for hashed in hashes))
        for key, *found in zip(wanted, *columns, strict=True):
            row, shared = found
            first = {str(json.loads(row)[0]): key} if row else {}
            others = json.loads(shared) if shared else []
            holders = first | {other: self.keys.own_trace(key, other) for other in others}
            put = self.plan.hashes[hashes[0]]
            self._learned[key] = {holder: field for holder, field in holders.items() if put.get(field, "") is not None}
            for hashed, value in zip(hashes, found, strict=True) if checked else ():
                self.plan.check_field(hashed, key, value)

    # Skills

    def put(self, skill: Skill, dedup_key: str | None, recalled: Recalled | None = None) -> Skill:
        """Writes `skill`, new or in place of the stored one. Without `recalled`, its text is as it was."""
        keys, plan, before = self.keys, self.plan, self.stored(skill.id)
        self._check(before)
        fields, added = document.write(skill, before.document)
        text = document.to_text(fields)
        note = self._noted(skill, fields, digest(text.encode()), dedup_key, added).after(before.note)
        plan.documents[keys.document(skill.id)] = (text, seconds_left(skill.expires_at, self._now))
        plan.hashes[keys.index][skill.id] = skill.name
        self._move(skill.id, before.note, note)
        if recalled:
            self._put_recalled(skill.id, note.text, recalled)
            plan.add(keys.state, {"texts": 1})
        self._feed(keys.changed, keys.deleted, skill.id)
        self._stored[skill.id] = Stored(skill.id, note.digest, Document(fields, skill), note.write().encode(), note)
        return skill

    def _noted(
        self, skill: Skill, fields: dict[str, object], found: str, dedup_key: str | None, added: Sequence[str]
    ) -> Note:
        history = fields["transfer_history"]
        history = history if isinstance(history, list) else []
        successes = sum(bool(record.get("success")) for record in history if isinstance(record, dict))
        lost = (skill.transfer_count - len(history), skill.transfer_successes - successes)
        note = Note(
            found,
            document.text_key(fields),
            lost=lost,
            dedup_key=dedup_key,
            added=tuple(added),
            places=Places.of(fields),
        )
        return note.of_skill(skill)

    def remove(self, skill_ids: Sequence[str], *, told: bool) -> None:
        """Removes all that is kept of some skills; `told` puts them among the deletions that readers are told."""
        keys, plan = self.keys, self.plan
        stored = self.load(skill_ids)
        learned = self._backend.read(*(("SMEMBERS", keys.traces_learned(i)) for i in stored)) if stored else []
        for (skill_id, before), traces in zip(stored.items(), learned, strict=True):
            self._check(before)
            fields = before.document.fields if before.document else {}
            for key in (*before.note.places.sets(keys), *Places.of(fields).sets(keys)):
                plan.sets[key][skill_id] = False
            if before.digest != NO_STRING:
                plan.documents[keys.document(skill_id)] = None
            for hashed in (keys.index, keys.notes, keys.profiles, keys.terms, keys.vectors):
                plan.hashes[hashed][skill_id] = None
            for scored in (keys.expiry, keys.used, keys.changed, keys.deleted):
                plan.scores[scored][skill_id] = None
                plan.noted[scored].discard(skill_id)
            plan.edges.append(("UNLINK_EDGES", keys.edges(skill_id), keys.edges_of, skill_id, json.dumps(skill_id)))
            for field in map(decoded, traces):
                plan.hashes[keys.traces][field] = None
                plan.sets[keys.traces_learned(skill_id)][field] = False
                self._unlearn(field, skill_id)
            plan.add(keys.totals, before.note.sums, -1)
            self._release(before.note)
            if told:
                self._feed(keys.deleted, keys.changed, skill_id)
            self._stored[skill_id] = Stored(skill_id)

    def clear(self, stored: Stored) -> None:
        """Removes what an expired or unreadable skill left, before another takes its id."""
        if stored.is_there or stored.raw_note is not None:
            self.remove([stored.skill_id], told=False)

    def release(self, stored: Stored) -> None:
        """Takes the dedup key off a skill."""
        self._check(stored)
        self._release(stored.note)
        if stored.raw_note is not None:
            note = replace(stored.note, dedup_key=None)
            self.plan.hashes[self.keys.notes][stored.skill_id] = note.write()
            self._stored[stored.skill_id] = replace(stored, note=note)

    def adopt(self, stored: Stored, *, indexed: bool) -> None:
        """Notes a document that somebody else wrote, or that is no longer there."""
        if not stored.is_there and not indexed:
            self.remove([stored.skill_id], told=True)
            return
        self._check(stored)
        keys, plan, before, found = self.keys, self.plan, stored.note, stored.document
        note = replace(before, digest=stored.digest, version=before.version + 1, facts=None)
        if found:
            text, places = document.text_key(found.fields), Places.of(found.fields)
            if text != before.text:
                note = replace(note, text=text, dedup_key=None, added=(), places=_both(before.places, places))
                plan.add(keys.state, {"texts": 1})
            note = note.of_skill(found.skill).after(before)
        elif not stored.is_there:
            note = replace(note, dedup_key=None, expires_at=0)  # the next sweep clears what it left
        self._move(stored.skill_id, before, note, sets=False)
        if stored.is_there:
            self._feed(keys.changed, keys.deleted, stored.skill_id)
        else:
            self._feed(keys.deleted, keys.changed, stored.skill_id)

    def set_recalled(self, skill_id: str, recalled: Recalled) -> bool:
        """Replaces what `recalled` gives, if there is a readable skill; whether there is."""
        stored = self.stored(skill_id)
        if not stored.document:
            return False
        self._check(stored)
        self._put_recalled(skill_id, document.text_key(stored.document.fields), recalled, keep=True)
        self._feed(self.keys.changed, self.keys.deleted, skill_id)
        return True

    def _put_recalled(self, skill_id: str, text: str, recalled: Recalled, keep: bool = False) -> None:
        """Each value begins with what it is good for, so that one of another text is known."""
        keys, hashes = self.keys, self.plan.hashes
        rows = ((keys.profiles, recalled.profile), (keys.terms, recalled.terms), (keys.vectors, recalled.vector))
        for key, value in rows:
            if isinstance(value, str):
                hashes[key][skill_id] = text + value
            elif value is not None:
                hashes[key][skill_id] = text.encode() + value
            elif not keep:
                hashes[key][skill_id] = None

    def _move(self, skill_id: str, before: Note, after: Note, *, sets: bool = True) -> None:
        """Puts everything that follows from a note where `after` says."""
        keys, plan = self.keys, self.plan
        plan.hashes[keys.notes][skill_id] = after.write()
        plan.scores[keys.expiry][skill_id] = after.expires_at
        plan.scores[keys.used][skill_id] = after.facts.rank if after.facts else None
        plan.add(keys.totals, before.sums, -1)
        plan.add(keys.totals, after.sums)
        if before.dedup_key != after.dedup_key:
            self._release(before)
        if after.dedup_key:
            plan.hashes[keys.dedup][after.dedup_key] = skill_id
        if sets:
            for key in before.places.sets(keys):
                plan.sets[key][skill_id] = False
            for key in after.places.sets(keys):
                plan.sets[key][skill_id] = True

    def _release(self, note: Note) -> None:
        if note.dedup_key:
            self.plan.hashes[self.keys.dedup][note.dedup_key] = None

    def _feed(self, into: str, out_of: str, skill_id: str) -> None:
        """Puts the skill into one of the two feeds, the changed and the deleted, and takes it out of the other."""
        self.plan.scores[out_of][skill_id] = None
        self.plan.noted[out_of].discard(skill_id)
        self.plan.note(into, skill_id)

    def _check(self, stored: Stored) -> None:
        """The unit holds only if the skill is still as it was read."""
        self.plan.check_document(self.keys.document(stored.skill_id), stored.digest)
        self.plan.check_field(self.keys.notes, stored.skill_id, stored.raw_note)

    # Edges and traces

    def link(self, edge: Edge) -> None:
        """Writes `edge` (direction "out") at both ends, in place of one of the same relation between the two."""
        self._links[edge.source, edge.relation.value, edge.target] = edge
        for key in map(self.keys.document, (edge.source, edge.target)):
            if key not in self.plan.documents:
                self.plan.check_there(key)

    def part(self, edge: Edge) -> bool:
        """Removes an edge between live skills at both ends; whether there was one."""
        wanted = ("out", edge.relation, edge.target)
        there = self.reader.edges([edge.source])[edge.source]
        if len(self.live([edge.source, edge.target])) < 2 or all(
            (found.direction, found.relation, found.target) != wanted for found in there
        ):
            return False
        for key, other, named in self._ends(edge):
            self.plan.edges.append(("UNLINK_EDGE", key, other, json.dumps(other), named))
        return True

    def _ends(self, edge: Edge) -> list[tuple[str, str, str]]:
        """The sets that hold an edge, each with the skill at the other end and the relation as it stands there."""
        relation = edge.relation.value
        ends = ((edge.source, edge.target, relation), (edge.target, edge.source, f"REVERSE_{relation}"))
        return [(self.keys.edges(holder), other, named) for holder, other, named in ends]

    def unlink(self, skill_id: str) -> None:
        """Removes every edge of a skill, at both ends."""
        self.plan.edges.append(
            ("UNLINK_EDGES", self.keys.edges(skill_id), self.keys.edges_of, skill_id, json.dumps(skill_id))
        )

    def trace(self, observation: Observation, skill_id: str) -> None:
        """Notes what a skill was learned from; a trace that was noted of it before stays as it is."""
        if skill_id not in self.skills_of_trace(observation.key):
            self.put_trace(SeenTrace(observation, self._now), skill_id)

    def put_trace(self, seen: SeenTrace, skill_id: str) -> None:
        """Writes a trace of a skill. Of several skills that have it, each has its own, and all but one are listed."""
        o = seen.observation
        self.load_traces([o.key])
        holders = self._learned[o.key]
        free = o.key if o.key not in holders.values() else self.keys.own_trace(o.key, skill_id)
        field = holders.setdefault(skill_id, free)
        row = [skill_id, o.trace_id, o.content, o.domain, o.task, o.success, o.quality, microseconds(seen.seen_at)]
        self.plan.hashes[self.keys.traces][field] = json.dumps(row)
        self.plan.sets[self.keys.traces_learned(skill_id)][field] = True
        if field != o.key:
            self._list_sharing(o.key)

    def _unlearn(self, field: str, skill_id: str) -> None:
        """Parts a skill from a trace. Who shares it is looked up only if the skill is listed among those that do."""
        key = self.keys.trace_key(field, skill_id)
        if field != key:
            self.load_traces([key])
        self._learned.get(key, {}).pop(skill_id, None)
        if field != key:
            self._list_sharing(key)

    def _list_sharing(self, key: str) -> None:
        sharing = sorted(skill_id for skill_id, field in self._learned[key].items() if field != key)
        self.plan.hashes[self.keys.traces_shared][key] = json.dumps(sharing) if sharing else None

    def finished(self) -> Plan:
        """The plan, with the edges."""
        for edge in self._links.values():
            for (key, other, named), member in zip(self._ends(edge), edge_members(edge), strict=True):
                self.plan.edges.append(("UNLINK_EDGE", key, other, json.dumps(other), named))
                self.plan.sets[key][member] = True
        self._links = {}
        return self.plan


def _both(left: Places, right: Places) -> Places:
    """The places of either; the type is the right one's, as a skill has one."""
    return Places(
        tuple(dict.fromkeys((*left.tags, *right.tags))),
        right.skill_type or left.skill_type,
        tuple(dict.fromkeys((*left.keywords, *right.keywords))),
    )
