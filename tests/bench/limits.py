"""Which limits are met? Each limit with the figures that it is about, as a ratio to what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

SMALL, LARGE = 10_000, 100_000
"""The sizes that limits are set for; a smaller store is held to those of the first."""


class Figures:
    """The figures of one case, by name."""

    def __init__(self, store: str, size: int, times: Mapping[str, Any], numbers: Mapping[str, float]) -> None:
        self.store, self.size, self._times, self._numbers = store, size, times, numbers

    def p50(self, name: str) -> float:
        """Milliseconds."""
        return float(self._times[name]["p50"])

    def p95(self, name: str) -> float:
        """Milliseconds."""
        return float(self._times[name]["p95"])

    def p99(self, name: str) -> float:
        """Milliseconds."""
        return float(self._times[name]["p99"])

    def rate(self, name: str) -> float:
        """A second."""
        return float(self._times[name]["rate"])

    def number(self, name: str) -> float:
        return self._numbers[name]


@dataclass(frozen=True)
class Limit:
    """`figure` gives the figure and what it is measured by; their quotient is limited.

    `unit` says what the quotient counts: "times …", "ms". `bounds` are for 10 000 skills and for 100 000; None is no
    limit.
    """

    name: str
    stores: str
    bounds: tuple[float | None, float | None]
    figure: Callable[[Figures], tuple[float, float]]
    unit: str
    at_least: bool = False

    def bound(self, size: int) -> float | None:
        return self.bounds[0] if size <= SMALL else self.bounds[1]

    def row(self, figures: Figures) -> list[str] | None:
        """Name, store, size, figure, limit, their ratio (at most 1 is met), verdict; None where it says nothing."""
        bound = self.bound(figures.size)
        if bound is None or figures.store not in self.stores.split():
            return None
        try:
            value, measure = self.figure(figures)
        except KeyError:
            return None
        quotient = value / measure
        ratio = bound / quotient if self.at_least and quotient else quotient / bound if bound else float(quotient > 0)
        word = "at least" if self.at_least else "at most"
        return [
            self.name,
            figures.store,
            f"{figures.size:,}",
            f"{quotient:.3g} {self.unit}",
            f"{word} {bound:g}",
            f"{ratio:.2f}",
            "met" if ratio <= 1 else "**not met**",
        ]


def _recall(kind: str, share: str) -> Callable[[Figures], tuple[float, float]]:
    return lambda f: (getattr(f, share)(f"{kind} recall"), f.p50(f"{kind} floor"))


def _of(name: str, by: str, share: str = "p50") -> Callable[[Figures], tuple[float, float]]:
    return lambda f: (getattr(f, share)(name), getattr(f, share)(by))


def _number(name: str) -> Callable[[Figures], tuple[float, float]]:
    return lambda f: (f.number(name), 1.0)


EVERY, OURS = "sqlite neo4j redis", "sqlite neo4j"
FIRST = "first recall of a new process,"


def _recalls(kind: str) -> tuple[Limit, ...]:
    """Limits on warm recalls of one kind."""
    return (
        Limit(f"warm recall of a {kind}, p50", "neo4j", (6, 10), _recall(kind, "p50"), "times `RETURN 1`"),
        Limit(f"warm recall of a {kind}, p95", "neo4j", (15, 25), _recall(kind, "p95"), "times `RETURN 1`"),
        Limit(
            f"Cypher scan alone, by warm recall of a {kind}, p50",
            "neo4j",
            (None, 100),
            _of(f"{kind} Cypher scan", f"{kind} recall"),
            "times",
            at_least=True,
        ),
        Limit(
            f"numpy scan alone, by warm recall of a {kind}, p50",
            "sqlite",
            (1, 4),
            _of(f"{kind} numpy scan", f"{kind} recall"),
            "times",
            at_least=True,
        ),
        Limit(
            f"recall of a {kind} by a numpy scan, by that of the index, p50",
            "sqlite",
            (1, 4),
            _of(f"{kind} recall by a numpy scan", f"{kind} recall"),
            "times",
            at_least=True,
        ),
        Limit(
            f"answers for a {kind} that differ from the exhaustive scoring",
            "sqlite neo4j redis",
            (0, 0),
            _number(f"{kind}: answers that differ from the exhaustive scoring"),
            "",
        ),
    )


BEGINNING = (
    Limit(f"{FIRST} snapshot", EVERY, (50, 150), lambda f: (f.p50(f"{FIRST} snapshot"), 1.0), "ms"),
    Limit(f"{FIRST} no snapshot", EVERY, (1, 10), lambda f: (f.p50(f"{FIRST} no snapshot"), 1e3), "s"),
    Limit(
        "new processes that read everything in spite of a snapshot",
        EVERY,
        (0, 0),
        _number("new processes that read everything in spite of a snapshot"),
        "",
    ),
)
WRITES = (
    Limit("learn (new), p50", "neo4j", (12, 12), _of("write, learn", "write, floor"), "times `RETURN 1`"),
    Limit("feedback, p50", "neo4j", (6, 6), _of("write, feedback", "write, floor"), "times `RETURN 1`"),
    *(
        Limit(
            f"feedback by 8 threads on {what}",
            OURS,
            (0.5, 0.5),
            _of(f"8 threads, {what}", "8 threads, one counter", "rate"),
            "of a counter's rate",
            at_least=True,
        )
        for what in ("one skill", "different skills")
    ),
    Limit(
        "feedbacks by 8 threads that were tried again",
        OURS,
        (0.05, 0.05),
        _number("share of feedbacks by 8 threads that were tried again"),
        "of all",
    ),
)
UPKEEP = (
    Limit("sweep, nothing expired", "neo4j", (3, 3), _of("sweep, nothing expired", "sweep, floor"), "times `RETURN 1`"),
    Limit(
        "sweep, a tenth expired",
        OURS,
        (0.5, 0.5),
        _of("sweep of a tenth, a skill: store", "sweep of a tenth, a skill: plain", "rate"),
        "of the plain rate",
        at_least=True,
    ),
    Limit("walk of depth 2", "neo4j", (5, 5), _of("walk, depth 2", "walk, floor"), "times `RETURN 1`"),
    Limit("walk of depth 4", "neo4j", (25, 25), _of("walk, depth 4", "walk, floor"), "times `RETURN 1`"),
    Limit(
        "import of whole skills",
        OURS,
        (0.5, 0.5),
        _of("import, a skill: store", "import, a skill: plain", "rate"),
        "of the plain rate",
        at_least=True,
    ),
)
AT_ONCE = (
    Limit("memory of the recall index", EVERY, (None, 300), _number("memory of the index, MB"), "MB"),
    Limit(
        "recall during an import, p99, by the quiet p95",
        EVERY,
        (10, 10),
        lambda f: (f.p99("recall at 10 a second: during an import"), f.p95("recall at 10 a second: quiet")),
        "times",
    ),
    Limit(
        "recalls that missed a batch committed before",
        EVERY,
        (0, 0),
        _number("recalls that missed a committed batch"),
        "",
    ),
)
KEYS = (
    "move by a row",
    "move by a screen",
    "go to the last row",
    "go to the first row",
    "sort by a column",
    "begin the filter",
    "type a letter",
    "clear the filter",
)
WATCHING = (
    Limit("first paint of the dashboard, p50", EVERY, (1, None), lambda f: (f.p50("dashboard, first paint"), 1e3), "s"),
    Limit(
        "slowest kind of key in the dashboard, p50",
        EVERY,
        (100, None),
        lambda f: (max(f.p50(f"dashboard, {key}") for key in KEYS), 1.0),
        "ms",
    ),
)
LIMITS = (*_recalls("task"), *_recalls("plan"), *BEGINNING, *WRITES, *UPKEEP, *AT_ONCE, *WATCHING)
