"""What kind of problem is a task, apart from its domain? `ContextFeatures` (guide, "Context Features")."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from brain.model.record import Record
from brain.model.text import JsonObject, Text

UNKNOWN = "unknown"
"""A shape that the context does not tell."""

STRUCTURES_WEIGHT, PATTERNS_WEIGHT, INPUT_WEIGHT, OUTPUT_WEIGHT = 0.35, 0.35, 0.15, 0.15
"""Weights of structural similarity (guide, "Structural Similarity")."""


@dataclass(frozen=True)
class Shape:
    """What structural similarity depends on, and nothing else. Many skills share one."""

    task_structures: tuple[str, ...]
    cognitive_patterns: tuple[str, ...]
    input_shape: str = UNKNOWN
    output_shape: str = UNKNOWN

    @property
    def key(self) -> str:
        """Digest, 32 hexadecimal characters; equal for equal shapes whatever the order of their names."""
        canonical = json.dumps(
            [sorted(self.task_structures), sorted(self.cognitive_patterns), self.input_shape, self.output_shape]
        )
        return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()

    @property
    def names(self) -> int:
        """How many structures and patterns it names."""
        return len(self.task_structures) + len(self.cognitive_patterns)

    def shared(self, other: Shape) -> int:
        """How many structures and patterns both name."""
        structures = {*self.task_structures} & {*other.task_structures}
        return len(structures) + len({*self.cognitive_patterns} & {*other.cognitive_patterns})

    def similarity_to(self, other: Shape, *, unknown_is_evidence: bool = True) -> float:
        """As `ContextFeatures.similarity_to`."""
        score = STRUCTURES_WEIGHT * jaccard(self.task_structures, other.task_structures)
        score += PATTERNS_WEIGHT * jaccard(self.cognitive_patterns, other.cognitive_patterns)
        shapes = (
            (INPUT_WEIGHT, self.input_shape, other.input_shape),
            (OUTPUT_WEIGHT, self.output_shape, other.output_shape),
        )
        for weight, mine, theirs in shapes:
            if mine == theirs and (unknown_is_evidence or mine != UNKNOWN):
                score += weight
        return score


class ContextFeatures(Record):
    """Abstract features of a task: its structures, the thinking it needs, its shapes, 1 to 10 complexity."""

    task_structures: list[Text] = Field(default_factory=list)
    cognitive_patterns: list[Text] = Field(default_factory=list)
    input_shape: Text = UNKNOWN
    output_shape: Text = UNKNOWN
    complexity: Annotated[int, Field(ge=1, le=10, strict=True)] = 5
    domain_hints: list[Text] = Field(default_factory=list)
    abstract_goal: Text = ""
    metadata: JsonObject = Field(default_factory=dict)

    def to_embedding_text(self) -> str:
        """One line that names goal, structures, patterns and shapes."""
        parts = [
            self.abstract_goal,
            f"structures: {', '.join(self.task_structures)}",
            f"patterns: {', '.join(self.cognitive_patterns)}",
            f"input: {self.input_shape}",
            f"output: {self.output_shape}",
        ]
        return " | ".join(part for part in parts if part)

    def fingerprint(self) -> str:
        """SHA-256, hexadecimal, of sorted structures and patterns, shapes and goal (guide, "Skill Deduplication")."""
        canonical = [
            sorted(set(self.task_structures)),
            sorted(set(self.cognitive_patterns)),
            self.input_shape,
            self.output_shape,
            self.abstract_goal,
        ]
        return hashlib.sha256(json.dumps(canonical, ensure_ascii=True).encode()).hexdigest()

    def similarity_to(self, other: ContextFeatures, *, unknown_is_evidence: bool = True) -> float:
        """Structural similarity, 0..1 (guide, "Structural Similarity"): Jaccard of structures (0.35) and of
        patterns (0.35), equal input shape (0.15), equal output shape (0.15). Two empty sets add nothing.

        With `unknown_is_evidence=False`, two shapes that are both unknown add nothing either.
        """
        return self.shape.similarity_to(other.shape, unknown_is_evidence=unknown_is_evidence)

    @property
    def shape(self) -> Shape:
        """The part that structural similarity depends on."""
        return Shape(
            tuple(dict.fromkeys(self.task_structures)),
            tuple(dict.fromkeys(self.cognitive_patterns)),
            self.input_shape,
            self.output_shape,
        )


def jaccard(left: Collection[str], right: Collection[str]) -> float:
    """Size of the intersection over size of the union, 0..1; two empty collections give 0."""
    mine, theirs = set(left), set(right)
    return len(mine & theirs) / len(mine | theirs) if mine or theirs else 0.0
