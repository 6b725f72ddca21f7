"""When do two texts tell the same procedure? Thresholds on the procedure and the content measure together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """Least procedure similarity and least content similarity, both 0..1, of two texts that are taken for one.

    Both are needed: verbs and order alone would merge "delete the temporary files" with "delete the production
    database", content alone would merge a procedure with its reverse.
    """

    procedure: float
    content: float


SAME = Agreement(procedure=0.60, content=0.50)
"""Beside equal or similar features."""
STRICTLY_SAME = Agreement(procedure=0.75, content=0.65)
"""Where neither side has features, so that the texts decide alone."""
