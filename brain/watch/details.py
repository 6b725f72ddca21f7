"""What is there to know of one skill? `Details`: the skill, its edges, and who is at their other ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.store.base import Store
from brain.store.values import SkillRow

EDGES_SHOWN = 200
"""Edges of one skill that are shown."""


@dataclass(frozen=True)
class Details:
    """One skill as it is stored; `skill` is None if it is gone. `others` are the skills that it is connected to, and
    `more_edges` counts those that are not shown.
    """

    skill_id: str
    skill: Skill | None
    edges: Sequence[Edge] = ()
    others: Mapping[str, SkillRow] = field(default_factory=dict)
    more_edges: int = 0

    def name_of(self, skill_id: str) -> str:
        """The name of a connected skill, or its id."""
        row = self.others.get(skill_id)
        return row.name or row.id if row else skill_id


def read_details(store: Store, skill_id: str) -> Details:
    """Reads the details of a skill from the store, whatever its id looks like: others may have chosen it."""
    skill = next(iter(store.get_many([skill_id])), None)
    every = store.edges(skill_id) if skill else []
    edges = every[:EDGES_SHOWN]
    ends = sorted({edge.target for edge in edges})
    others = {row.id: row for page in store.rows(ends) for row in page} if ends else {}
    return Details(skill_id, skill, edges, others, len(every) - len(edges))
