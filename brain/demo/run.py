"""Does it work? `run_demo` learns the demo's lessons and recalls its scenarios; it prints nothing."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brain.demo.scenarios import LESSONS, SCENARIOS, Lesson, Scenario

if TYPE_CHECKING:
    from brain.engine.sync import SyncBrain
    from brain.model.candidate import TransferCandidate
    from brain.model.receipts import LearnReceipt


@dataclass(frozen=True)
class Answer:
    """What was recalled for one scenario; empty and 0 where nothing was. Scores are 0..1.

    `margin` is how far the best is ahead of the second in the combined score; all of it when there is no second.
    """

    scenario: Scenario
    recalled: str = ""
    structural: float = 0.0
    semantic: float = 0.0
    transfer: float = 0.0
    confidence: float = 0.0
    combined: float = 0.0
    margin: float = 0.0

    @property
    def correct(self) -> bool:
        """Whether the expected skill came first, and alone."""
        return self.recalled == self.scenario.expected and self.margin > 0


@dataclass(frozen=True)
class DemoResult:
    """What the demo learned and recalled."""

    learned: tuple[LearnReceipt, ...]
    answers: tuple[Answer, ...]

    @property
    def correct(self) -> int:
        """Scenarios with the expected skill first."""
        return sum(answer.correct for answer in self.answers)

    @property
    def passed(self) -> bool:
        """Whether every scenario came out right."""
        return self.correct == len(self.answers)


def run_demo(brain: SyncBrain, lessons: Sequence[Lesson] = LESSONS) -> DemoResult:
    """Learns `lessons`, in their order, and recalls every scenario. `brain` should hold nothing else."""
    learned = tuple(brain.observe(**lesson.execution) for lesson in lessons)
    return DemoResult(learned, tuple(_answer(scenario, _recalled(brain, scenario)) for scenario in SCENARIOS))


def demo_namespace() -> str:
    """A namespace that no one else uses."""
    return f"demo-{uuid.uuid4().hex[:12]}"


def forget(brain: SyncBrain) -> None:
    """Removes every skill of the brain's namespace."""
    for skill in brain.get_skills():
        brain.skill_graph.delete_skill(skill.id)


def _recalled(brain: SyncBrain, scenario: Scenario) -> list[TransferCandidate]:
    return brain.recall(scenario.context, top_k=2, min_score=0.0)


def _answer(scenario: Scenario, found: list[TransferCandidate]) -> Answer:
    if not found:
        return Answer(scenario)
    best = found[0]
    second = found[1].combined_score if len(found) > 1 else 0.0
    return Answer(
        scenario,
        best.skill.name,
        best.structural_score,
        best.semantic_score,
        best.transfer_score,
        best.confidence_score,
        best.combined_score,
        best.combined_score - second,
    )
