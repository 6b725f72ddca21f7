"""How does one work on the skill graph directly? `SkillGraph` (guide, "Direct Graph Operations")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from brain.engine.memory import SkillMemory, check_identifier, check_skill_id
from brain.errors import InputError
from brain.model.inputs import check_size
from brain.model.record import validated
from brain.model.relations import Edge, Relation
from brain.model.skill import Skill
from brain.model.text import check_text, is_id
from brain.store.values import new_operation

DEEPEST = 10
"""Largest `max_depth` of a traversal."""


class SkillGraph:
    """Skills and their edges, without analysis of tasks. Synchronous, as in the guide. `brain.skill_graph` is one."""

    def __init__(self, memory: SkillMemory) -> None:
        self._memory, self._store = memory, memory.store

    def save_skill(self, skill: Skill, expected_version: int | None = None) -> Skill:
        """Writes the whole skill, new or in place of the stored one, and returns it as stored.

        With `expected_version` (0: it must be new) the write is refused with `ConflictError` if the stored skill has
        another version. Raises `InputError` for what cannot be stored, and for an id that a new skill may not have.
        """
        self._check_new_ids([skill])
        draft = self._memory.draft(self._memory.secrets.out_of_skill(skill)).draft
        return self._store.save(draft, expected_version=_version(expected_version), operation=new_operation())

    def save_skills(self, skills: list[Skill]) -> None:
        """Writes many skills in one transaction: all or none."""
        self._check_new_ids(skills)
        clean = [self._memory.secrets.out_of_skill(skill) for skill in skills]
        drafts = [prepared.draft for prepared in self._memory.drafts(clean)]
        self._store.save_many(drafts, operation=new_operation())

    def _check_new_ids(self, skills: Sequence[object]) -> None:
        """A skill that is there keeps its id, whoever chose it; a new one needs one that a caller may choose."""
        odd = {skill.id: skill for skill in skills if isinstance(skill, Skill) and not is_id(skill.id)}
        there = {skill.id for skill in self.get_many(odd)} if odd else set()
        for skill_id in odd:
            if skill_id not in there:
                check_identifier(skill_id, "id of a new skill")

    def get_skill(self, skill_id: str) -> Skill | None:
        """The live skill with this id, or None."""
        found = self._store.get_many([check_skill_id(skill_id)])
        return found[0] if found else None

    def get_many(self, skill_ids: Iterable[str]) -> list[Skill]:
        """The live skills among `skill_ids`, in their order, each once."""
        if isinstance(skill_ids, str):
            raise InputError("get_many takes a list of skill ids. For one id there is get_skill.")
        return self._store.get_many(list(dict.fromkeys(check_skill_id(i) for i in skill_ids)))

    def delete_skill(self, skill_id: str) -> bool:
        """Removes a live skill with its steps, history and edges; whether there was one."""
        return self._store.delete(check_skill_id(skill_id), operation=new_operation())

    def list_skills(self) -> list[Skill]:
        """All live skills, by id. `iter_skills` does not hold them all at once."""
        return list(self.iter_skills())

    def iter_skills(self, tag: str | None = None) -> Iterator[Skill]:
        """All live skills, or those with exactly this tag, by id, read a page at a time."""
        if tag is not None:
            _checked_tag(tag)
        return (skill for page in self._store.pages(tag=tag) for skill in page)

    def find_by_tag(self, tag: str) -> list[Skill]:
        """The live skills with exactly this tag, by id."""
        return list(self.iter_skills(_checked_tag(tag)))

    def add_edge(
        self, source_id: str, relation: str | Relation, target_id: str, metadata: dict[str, Any] | None = None
    ) -> None:
        """Connects two live skills. Adding an edge again replaces its metadata.

        Raises `InputError` for an unknown relation or an edge from a skill to itself, `SkillNotFoundError` for a
        missing skill.
        """
        noted = {} if metadata is None else self._memory.secrets.out_of(metadata)
        edge = _edge(source_id, relation, target_id, noted)
        if source_id == target_id:
            raise InputError(f"An edge from {source_id!r} to itself says nothing. Name two different skills.")
        check_size(edge.metadata, "the edge's metadata", self._memory.limits)
        self._store.add_edge(edge, operation=new_operation())

    def delete_edge(self, source_id: str, relation: str | Relation, target_id: str) -> bool:
        """Removes the edge of this relation that leads from one skill to the other; whether there was one.

        Raises `InputError` for an unknown relation.
        """
        return self._store.remove_edge(_edge(source_id, relation, target_id, {}), operation=new_operation())

    def get_edges(self, skill_id: str) -> list[Edge]:
        """Edges that start or end at a skill; `direction` says which, `target` is the skill at the other end."""
        return self._store.edges(check_skill_id(skill_id))

    def get_related_skills(
        self, skill_id: str, relation: str | Relation | None = None, max_depth: int = 2
    ) -> list[Skill]:
        """Live skills within `max_depth` (1 to 10) edges in either direction, nearest first, breadth first."""
        return [skill for skill, _ in self.related_with_distance(skill_id, relation, max_depth)]

    def related_with_distance(
        self, skill_id: str, relation: str | Relation | None = None, max_depth: int = 2
    ) -> list[tuple[Skill, int]]:
        """`get_related_skills` with the number of edges to each."""
        if not isinstance(max_depth, int) or isinstance(max_depth, bool) or not 1 <= max_depth <= DEEPEST:
            raise InputError(f"max_depth must be a whole number from 1 to {DEEPEST}, not {max_depth!r}.")
        known = None if relation is None else relation_named(relation)
        return self._store.related(check_skill_id(skill_id), known, max_depth)

    def cleanup_expired_skills(self) -> dict[str, int]:
        """Removes every expired skill: {"deleted": N, "checked": M}."""
        return self._memory.sweep()


def relation_named(relation: str | Relation) -> Relation:
    """The relation of this name. Raises `InputError` that lists the six."""
    try:
        return Relation(relation)
    except ValueError:
        raise InputError(f"{relation!r} is not a relation. Use one of: {', '.join(Relation)}.") from None


def _edge(source_id: str, relation: str | Relation, target_id: str, metadata: object) -> Edge:
    for skill_id in (source_id, target_id):
        check_skill_id(skill_id)
    known = relation_named(relation)
    return validated(Edge, {"source": source_id, "target": target_id, "relation": known, "metadata": metadata}, "edge")


def _checked_tag(tag: str) -> str:
    try:
        return check_text(tag)
    except ValueError as error:
        raise InputError(f"The tag {error}.") from None


def _version(expected: int | None) -> int | None:
    if expected is not None and (not isinstance(expected, int) or isinstance(expected, bool) or expected < 0):
        raise InputError(f"expected_version must be a whole number of at least 0, not {expected!r}.")
    return expected
