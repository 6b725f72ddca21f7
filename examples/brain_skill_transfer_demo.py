"""Three skills are learned and recalled in seven other domains, without a server and without a model.

    python examples/brain_skill_transfer_demo.py

The skills live in memory and are gone afterwards. `brain demo` shows the same as a table.
"""

from __future__ import annotations

import sys

from brain import SyncBrain
from brain.demo.scenarios import LESSONS, SCENARIOS, Lesson, Scenario

BAR = 30


def main() -> int:
    """Learns, transfers, and sums up; 0 if every skill was recalled where it should be."""
    with SyncBrain.open("sqlite://:memory:", cache=False) as brain:
        headline("Phase 1: learning")
        for lesson in LESSONS:
            learn(brain, lesson)
        headline("Phase 2: transfer to other domains")
        right = [transfer(brain, scenario) for scenario in SCENARIOS]
        headline("Results")
        summary = brain.get_skill_summary()
    print(f"Skills learned    {summary['total_skills']}")
    print(f"Transfers         {summary['total_transfers']}")
    print(f"Recall accuracy   {sum(right)}/{len(right)} ({sum(right) / len(right):.0%})")
    for skill in summary["top_skills"]:
        print(f"  {skill['name']}: {skill['transfer_count']} transfers, confidence {skill['confidence']:.2f}")
    return 0 if all(right) else 1


def learn(brain: SyncBrain, lesson: Lesson) -> None:
    """Learns one execution and shows what became of it."""
    skill = brain.learn(**lesson.execution)
    assert skill is not None
    print(f"Domain      {lesson.domain}")
    print(f"Task        {lesson.task}")
    print(f"Learned     {skill.name}")
    print(f"Confidence  {bar(skill.confidence)}")
    print(f"Steps       {' → '.join(step.action for step in skill.procedure)}")
    print(f"Tags        {', '.join(skill.tags)}\n")


def transfer(brain: SyncBrain, scenario: Scenario) -> bool:
    """Recalls a skill for a task, shows the scores, and tells the brain whether it was the right one."""
    found = brain.recall(scenario.context, top_k=2)
    print(f"{scenario.name}  ({scenario.domain})")
    print(f"Task        {scenario.task}")
    print(f"Expected    {scenario.expected}")
    if not found:
        print("Recalled    nothing\n")
        return False
    best = found[0]
    is_right = best.skill.name == scenario.expected
    print(f"Recalled    {best.skill.name}  {'✓' if is_right else '✗'}")
    for name in ("structural", "semantic", "transfer", "confidence", "combined"):
        print(f"  {name:<10}{bar(getattr(best, f'{name}_score'))}")
    print(f"Because     {best.reasoning}")
    if best.adaptations:
        print(f"Adapt       {best.adaptations}")
    if len(found) > 1:
        print(f"Runner-up   {found[1].skill.name}, {found[1].combined_score:.2f}")
    print()
    brain.feedback(best.skill.id, scenario.context, success=is_right)
    return is_right


def bar(share: float) -> str:
    """A share of 1 as a bar and a number."""
    full = round(share * BAR)
    return f"{'█' * full}{'░' * (BAR - full)} {share:.2f}"


def headline(text: str) -> None:
    """A line that begins a part."""
    print(f"{text}\n{'─' * len(text)}")


if __name__ == "__main__":
    sys.exit(main())
