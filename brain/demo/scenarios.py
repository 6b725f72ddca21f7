"""What does the demo learn and ask? Three executions to learn from, seven tasks in other domains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Lesson:
    """One execution that becomes a skill."""

    skill_name: str
    domain: str
    task: str
    steps: tuple[str, ...]
    quality: float

    @property
    def execution(self) -> dict[str, Any]:
        """The arguments of `Brain.learn`."""
        return {
            "execution_trace": {
                "steps": [{"action": step, "result": "success"} for step in self.steps],
                "strategy": "sequential",
            },
            "context": {"domain": self.domain, "task": self.task},
            "outcome": {"success": True, "quality": self.quality},
            "skill_name": self.skill_name,
        }


@dataclass(frozen=True)
class Scenario:
    """One task in a domain that nothing was learned in, and the skill that should be recalled first."""

    name: str
    domain: str
    expected: str
    task: str
    context: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", {"domain": self.domain, "task": self.task})


DECOMPOSE, VALIDATE, REFINE = "Decompose-Analyze-Synthesize", "Validate-Classify-Route", "Iterative Refinement"

LESSONS = (
    Lesson(
        DECOMPOSE,
        "literature_review",
        "Split a stack of research articles into themes, analyze the evidence for each theme, and combine "
        "what was found into one overview",
        (
            "split the collection into themes that can be read on their own",
            "analyze the evidence inside each theme",
            "identify contradictions and links between the themes",
            "combine the findings into one coherent overview",
        ),
        0.9,
    ),
    Lesson(
        VALIDATE,
        "customer_support",
        "Check that an incoming support ticket is complete, classify it by topic and urgency, and route it to "
        "the team that can solve it",
        (
            "check that all required fields of the ticket are filled in",
            "reject the ticket with a reason if something is missing",
            "classify the ticket by topic and urgency",
            "choose the responsible team from the routing rules",
            "route the ticket and confirm that it was received",
        ),
        0.85,
    ),
    Lesson(
        REFINE,
        "copywriting",
        "Write a first draft of a product text, score it against the brief, and improve it until the score is "
        "good enough",
        (
            "write a first draft",
            "score the draft against the criteria of the brief",
            "find the weakest passage",
            "rewrite that passage to improve the score",
            "repeat until the score no longer rises",
        ),
        0.88,
    ),
)

SCENARIOS = (
    Scenario(
        "Code Review",
        "software_engineering",
        DECOMPOSE,
        "Break down a large pull request into separate changes, analyze each change for defects, and combine the "
        "remarks into one overall review",
    ),
    Scenario(
        "Content Moderation",
        "content_safety",
        VALIDATE,
        "Check that a post from a user follows the format rules, classify how risky it is, and route it to "
        "the right review queue",
    ),
    Scenario(
        "Code Optimization",
        "performance_engineering",
        REFINE,
        "Measure a slow function, improve the worst hot spot, and repeat until the benchmark score stops rising",
    ),
    Scenario(
        "Financial Analysis",
        "finance",
        DECOMPOSE,
        "Divide a company's annual report into business segments, analyze the figures of each segment, and combine "
        "them into an investment thesis",
    ),
    Scenario(
        "API Gateway",
        "infrastructure",
        VALIDATE,
        "Validate the signature and schema of each incoming request, classify it by service and priority, and route "
        "it to the backend that can serve it",
    ),
    Scenario(
        "Essay Grading",
        "education",
        REFINE,
        "Score a student's essay draft against the rubric, suggest how to improve the weakest paragraph, and repeat "
        "until the essay is good enough",
    ),
    Scenario(
        "Incident Response",
        "operations",
        DECOMPOSE,
        "Split an outage into the subsystems it touched, analyze the logs of each subsystem, and combine the "
        "findings into one timeline with a root cause",
    ),
)
