"""How may two skills be connected? The six relations and the edge record (guide, "Graph Relationships")."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from brain.model.record import Record
from brain.model.text import JsonObject, NameInJson, SpokenText


class Relation(StrEnum):
    """A typed, directed connection from one skill to another."""

    DERIVES_FROM = "DERIVES_FROM"
    COMPOSED_OF = "COMPOSED_OF"
    SPECIALIZES = "SPECIALIZES"
    TRANSFERRED_TO = "TRANSFERRED_TO"
    CONFLICTS_WITH = "CONFLICTS_WITH"
    COMPLEMENTS = "COMPLEMENTS"


class Edge(Record):
    """One edge as seen from a skill: `direction` is "out" when it starts there, "in" when it ends there.

    `target` is always the skill at the other end.
    """

    source: SpokenText
    target: SpokenText
    relation: Annotated[Relation, NameInJson]
    direction: Literal["out", "in"] = "out"
    metadata: JsonObject = Field(default_factory=dict)
