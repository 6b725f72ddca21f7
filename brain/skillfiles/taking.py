"""Under which id does an imported skill come in, and what if another has it? `Taking`, and the writing of a batch."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from brain.engine.memory import check_skill_id
from brain.engine.moving import Existing, differs
from brain.errors import InputError
from brain.model.record import validated
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.model.text import digest
from brain.skillfiles.kept import file_of, files_of
from brain.skillfiles.making import Made
from brain.skillfiles.origin import origin_of
from brain.skillfiles.record import WAITING
from brain.skillfiles.rendering import SUFFIX_LENGTH
from brain.skillfiles.rules import Finding
from brain.store.values import KeptSkill, new_operation

if TYPE_CHECKING:
    from brain.engine.memory import SkillMemory
    from brain.store.base import Store

_LONGEST_ID, _SUFFIXES = 150, (SUFFIX_LENGTH, 32)


EDGES_AT_ONCE = 500
"""Edges that one transaction writes."""


class Status(StrEnum):
    """What became of a SKILL.md that was not refused."""

    NEW = "new"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"


class Decision(NamedTuple):
    """What is to become of one file, and the skill as it is to be written."""

    status: Status
    made: Made


class Taking:
    """One import into one store. Ids are looked up in `beside` too: the store that quarantined skills will go to."""

    def __init__(self, memory: SkillMemory, beside: Store | None, existing: Existing | None) -> None:
        self._memory, self._beside, self._existing = memory, beside, existing
        self._waiting: dict[str, Skill] = {}
        self._of_this_run: set[str] = set()

    def decide(self, made: Made) -> Decision:
        """What is to become of what a file makes. Raises `InputError` if another skill is in its way."""
        decision = self._decide_own(made) if made.is_ours else self._decide_other(made)
        if decision.status in (Status.NEW, Status.REPLACED):
            skill = self._memory.checked(decision.made.record.skill)
            self._waiting[skill.id] = skill
            self._of_this_run.add(skill.id)
        return decision

    def written(self) -> None:
        """Says that all that was decided on is in the store now."""
        self._waiting = {}

    def _decide_own(self, made: Made) -> Decision:
        skill = made.record.skill
        there = self._there(check_skill_id(skill.id))
        if there is None:
            return Decision(Status.NEW, made)
        if not differs(there, skill):
            return Decision(Status.UNCHANGED, made)
        if self._existing is Existing.REPLACE and skill.id not in self._of_this_run:
            return Decision(Status.REPLACED, made)
        if self._existing is Existing.SKIP:
            return Decision(Status.SKIPPED, made)
        raise InputError(
            f"another skill has its id, {skill.id!r}, and differs: --replace puts this one there, --skip leaves it"
        )

    def _decide_other(self, made: Made) -> Decision:
        """A file from elsewhere has no id. The same file is known again; another of the same name gets another id."""
        base, whole = id_of_name(made.record.skill.name), digest(made.text)
        holders = {skill_id: self._there(skill_id) for skill_id in (base, *(f"{base}-{whole[:n]}" for n in _SUFFIXES))}
        for skill_id, there in holders.items():
            if there is not None and _is_same_file(there, made.record.skill):
                return Decision(Status.UNCHANGED, _with_id(made, skill_id))
        holder, is_older = holders[base], base not in self._of_this_run
        if holder is not None and is_older:
            if self._existing is Existing.REPLACE and file_of(holder) is not None:
                return Decision(Status.REPLACED, _with_experience(made, holder))
            if self._existing is Existing.SKIP:
                return Decision(Status.SKIPPED, _with_id(made, base))
        free = next((skill_id for skill_id, there in holders.items() if there is None), None)
        if free is None:
            raise InputError(f"other skills have the ids that it could have: {', '.join(holders)}")
        if free == base:
            return Decision(Status.NEW, _with_id(made, base))
        hint = (
            f" (--replace puts it in place of {base!r})"
            if is_older and holder is not None and file_of(holder) is not None
            else ""
        )
        told = Finding("same-name", 1, f"another skill has the id {base!r}; this one has {free!r}{hint}")
        return Decision(Status.NEW, replace(_with_id(made, free), warnings=(*made.warnings, told)))

    def _there(self, skill_id: str) -> Skill | None:
        """The skill that has an id, waiting to be written or in either store."""
        if skill_id in self._waiting:
            return self._waiting[skill_id]
        for store in (self._memory.store, self._beside):
            found = store.get_many([skill_id]) if store is not None else []
            if found:
                return released(found[0])
        return None


def write(memory: SkillMemory, taken: Sequence[tuple[str, Made]], *, quarantine: bool) -> None:
    """Writes skills with the paths of their files, all or none."""
    skills = [_held_back(made) if quarantine else made.record.skill for _, made in taken]
    kept = []
    for prepared, (path, made) in zip(memory.drafts(skills), taken, strict=True):
        draft = prepared.draft
        traces = (*made.record.traces, origin_of(draft.skill, path, made.text, memory.now))
        key = draft.dedup_key if made.record.traces else None  # as of one that was learned
        kept.append(KeptSkill(draft.skill, draft.profile, draft.terms, key, draft.vector, traces))
    memory.store.restore(kept, operation=new_operation())


def write_edges(store: Store, edges: Sequence[Edge]) -> list[Edge]:
    """Writes edges as they were seen from their skills; those that lack an end are given back."""
    left: list[Edge] = []
    for start in range(0, len(edges), EDGES_AT_ONCE):
        page = [outward(edge) for edge in edges[start : start + EDGES_AT_ONCE]]
        left += store.restore_edges(page, operation=new_operation())
    return left


def outward(edge: Edge) -> Edge:
    """The edge as seen from its source."""
    if edge.direction == "out":
        return edge
    return Edge(source=edge.target, target=edge.source, relation=edge.relation, metadata=edge.metadata)


def id_of_name(name: str) -> str:
    """The id that a skill from elsewhere gets, if no other has it: its name, as far as an id can hold it."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    held = "".join(char if char.isalnum() else "-" for char in plain)[:_LONGEST_ID].strip("-")
    return held or f"skill-{digest(name)[:SUFFIX_LENGTH]}"


def released(skill: Skill) -> Skill:
    """A skill as it was before it had to wait in quarantine."""
    waiting = (skill.__pydantic_extra__ or {}).get(WAITING)
    if not isinstance(waiting, dict):
        return skill
    fields = {key: value for key, value in skill.to_dict().items() if key != WAITING}
    return Skill.from_dict({**fields, "expires_at": waiting.get("expires_at", "")})


def waiting_edges(skill: Skill) -> list[Edge]:
    """The edges that wait with a skill in quarantine, as seen from their sources."""
    waiting = (skill.__pydantic_extra__ or {}).get(WAITING)
    return [validated(Edge, data, "edge") for data in waiting["edges"]] if isinstance(waiting, dict) else []


def _held_back(made: Made) -> Skill:
    """A skill whose edges wait with it, and whose lifetime stands still."""
    skill = made.record.skill
    if not made.record.edges and not skill.expires_at:
        return skill
    waiting = {"edges": [outward(edge).to_dict() for edge in made.record.edges], "expires_at": skill.expires_at}
    return Skill.from_dict({**skill.to_dict(), "expires_at": "", WAITING: waiting})


def _is_same_file(there: Skill, coming: Skill) -> bool:
    return file_of(there) == file_of(coming) and files_of(there) == files_of(coming)


def _with_id(made: Made, skill_id: str) -> Made:
    skill = made.record.skill.model_copy(update={"id": skill_id})
    return replace(made, record=replace(made.record, skill=skill))


def _with_experience(made: Made, holder: Skill) -> Made:
    """What a newer file makes, with what was seen of the skill that was made of the older one."""
    seen = ("id", "transfer_history", "confidence", "usage_count", "success_rate", "created_at", "expires_at")
    counts = ("transfer_count", "transfer_successes")
    kept = {key: getattr(holder, key) for key in (*seen, *counts)} | {"version": holder.version + 1}
    skill = made.record.skill.model_copy(update=kept)
    return replace(made, record=replace(made.record, skill=skill))
