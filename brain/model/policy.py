"""Which rules apply? `Policy`: the default rules, or the guide's formulas to the letter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from brain.errors import InputError
from brain.model.context import UNKNOWN

STRUCTURAL_WEIGHT, SEMANTIC_WEIGHT, TRANSFER_WEIGHT, CONFIDENCE_WEIGHT = 0.35, 0.25, 0.25, 0.15
"""Weights of the four dimensions (guide, "Scoring Weights")."""

NO_HISTORY = 0.5
"""Transfer score of a skill that was never transferred (guide, "Transfer Track Record")."""

DUPLICATE_SIMILARITY = 0.70
"""Structural similarity from which the guide takes two skills for one (guide, "Skill Deduplication")."""


@dataclass(frozen=True)
class Policy:
    """The rules of one brain. Weights, transfer rate, TTL and confidence formulas are the guide's in every policy.

    `features`: "inflected" finds the tables' words in any inflection; "guide" only the guide's words as they stand.
    `unknown_is_evidence`: whether two unknown shapes count as equal; also whether output is taken as text when
    the context does not say.
    `least_shared`, `least_names`: structures and patterns, counted together, that both sides must have in common, and
    that one of them must name, before their likeness is evidence; fewer are coincidence. hit@1 on metatool (one tool
    without and with MiniLM) is .592 and .716; .582 and .700 without `least_names`; as much with three in common,
    where Track A falls from 1.0 to .85. To ask for three names on each side gives as much there, but nothing for a
    skill that names two: .91 in place of .98 of our own procedures, asked reworded (examples/recall_quality.ipynb).
    `semantic`: "measures" compares procedures or topics on a calibrated scale; "guide" maps the embedder's cosine
    to 0..1, or takes the Jaccard similarity of the embedding texts without an embedder.
    `floor`: semantic score below which a skill is not returned, whatever its other scores; 0 switches it off.
    `duplicates`: "procedure" merges texts that tell the same procedure; "guide" whatever has like features.
    `transfer`: "rate" is the guide's; "smoothed" adds one success and one failure to the counts.
    `ttl`: whether learned skills expire.
    Raises `InputError` for a value of another type or outside its range.
    """

    features: Literal["inflected", "guide"] = "inflected"
    unknown_is_evidence: bool = False
    least_shared: int = 2
    least_names: int = 3
    semantic: Literal["measures", "guide"] = "measures"
    floor: float = 0.10
    duplicates: Literal["procedure", "guide"] = "procedure"
    transfer: Literal["rate", "smoothed"] = "rate"
    ttl: bool = True

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self)).items():
            value = getattr(self, name)
            wanted, fits = _wanted(kind, value)
            if not fits:
                raise InputError(f"Policy.{name} must be {wanted}, not {value!r}.")

    @classmethod
    def guide(cls) -> Policy:
        """The guide's formulas to the letter, without the guards."""
        return cls(
            features="guide",
            unknown_is_evidence=True,
            least_shared=0,
            least_names=0,
            semantic="guide",
            floor=0.0,
            duplicates="guide",
        )

    @property
    def default_output_shape(self) -> str:
        """Output shape of a context that does not tell one."""
        return "text" if self.unknown_is_evidence else UNKNOWN

    def transfer_scores(self, counts: NDArray[np.integer], successes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Score of the transfer dimension, 0..1, of many skills by their transfer counts."""
        if self.transfer == "smoothed":
            return (successes + 1.0) / (counts + 2.0)
        return np.where(counts > 0, successes / np.maximum(counts, 1), NO_HISTORY)


def _wanted(kind: Any, value: object) -> tuple[str, bool]:
    """What a switch of this kind takes, in words, and whether `value` is that."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}", isinstance(value, str) and value in get_args(kind)
    if kind is bool:
        return "True or False", isinstance(value, bool)
    if kind is int:
        return "a whole number of at least 0", isinstance(value, int) and not isinstance(value, bool) and value >= 0
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "a number from 0 to 1", is_number and 0.0 <= value <= 1.0  # type: ignore[operator]  # it is a number


Number = TypeVar("Number", float, NDArray[np.float64])


def combined_score(structural: Number, semantic: Number, transfer: Number, confidence: Number) -> Number:
    """Weighted sum of the four dimensions, 0..1, of one skill or of many (guide, "Transfer Scoring")."""
    return (
        STRUCTURAL_WEIGHT * structural
        + SEMANTIC_WEIGHT * semantic
        + TRANSFER_WEIGHT * transfer
        + CONFIDENCE_WEIGHT * confidence
    )
