"""What does a model read of a skill? Pages of Markdown: one skill in full, or those that were recalled, in a budget.

Everything here is stored text, so all of it stands in a fence (`brain.mcp.fence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brain.mcp.budget import tokens
from brain.mcp.fence import fenced, line, listed, quoted
from brain.model.candidate import TransferCandidate
from brain.model.shown import visible
from brain.model.skill import Skill, SkillCondition, SkillStep

STEPS_SHOWN = 40
"""Steps of a recalled skill that are shown; `get` and the resource have all."""
LONGEST_ACTION, LONGEST_TITLE = 240, 160
"""Characters of a step, and of a name, in a list."""
_BRIEF_STEPS, _BRIEF_ACTION = 8, 80


@dataclass(frozen=True)
class Shown:
    """Recalled skills as a model reads them: the fenced text, and how many of them are in it."""

    text: str
    count: int


def skill_page(skill: Skill) -> str:
    """One skill with all that is known of it, in a fence."""
    parts = [f"# {line(skill.name) or 'A skill without a name'}", "", *_facts(skill)]
    if skill.description:
        parts += ["", *quoted(skill.description)]
    parts += _conditions("Before", skill.preconditions)
    if skill.procedure:
        parts += ["", "## Steps", ""]
        for number, step in enumerate(skill.procedure, 1):
            parts += _step_in_full(number, step)
    parts += _conditions("After", skill.postconditions)
    return fenced("\n".join(parts))


def recalled_page(found: Sequence[TransferCandidate]) -> str:
    """Recalled skills, best first, in a fence."""
    return fenced("\n\n".join(_entry(place, candidate) for place, candidate in enumerate(found, 1)))


def skills_for_model(found: Sequence[TransferCandidate], max_tokens: int) -> Shown:
    """As many of the recalled skills as fit into `max_tokens` (see `brain.mcp.budget`), best first, with the fence.

    One that does not fit is shortened to its first steps, then to its name and id; if it still does not fit, the next
    one is tried. The text is empty if none fits.
    """
    entries: list[str] = []
    for candidate in found:
        for write in (_entry, _brief_entry, _mention):
            longer = [*entries, write(len(entries) + 1, candidate)]
            if tokens(_joined(longer)) <= max_tokens:
                entries = longer
                break
    return Shown(_joined(entries) if entries else "", len(entries))


def _joined(entries: Iterable[str]) -> str:
    return fenced("\n\n".join(entries))


def _entry(place: int, candidate: TransferCandidate) -> str:
    skill = candidate.skill
    parts = [*_heading(place, candidate), f"- why: {line(candidate.reasoning)}"]
    changes = [f"{line(key).replace('_', ' ')}: {_plain(value)}" for key, value in candidate.adaptations.items()]
    parts += [f"- to adapt: {'; '.join(changes)}"] * bool(changes)
    parts += _needs(skill)
    return "\n".join([*parts, *_steps(skill, STEPS_SHOWN, LONGEST_ACTION)])


def _brief_entry(place: int, candidate: TransferCandidate) -> str:
    parts = [*_heading(place, candidate), *_steps(candidate.skill, _BRIEF_STEPS, _BRIEF_ACTION)]
    return "\n".join(parts)


def _mention(place: int, candidate: TransferCandidate) -> str:
    return "\n".join([*_heading(place, candidate), "(get the skill to see its steps)"])


def _heading(place: int, candidate: TransferCandidate) -> list[str]:
    skill = candidate.skill
    name = line(skill.name, LONGEST_TITLE) or "A skill without a name"
    domain = f"; learned in: {line(skill.domain, LONGEST_TITLE)}" if skill.domain else ""
    return [f"## {place}. {name}", f"- id: {visible(skill.id)}", f"- score: {candidate.combined_score:.3f}{domain}"]


def _needs(skill: Skill) -> list[str]:
    found = listed([line(condition.predicate, LONGEST_ACTION) for condition in skill.preconditions])
    return [f"- needs: {found}"] if found else []


def _steps(skill: Skill, most: int, longest: int) -> list[str]:
    shown = [f"{number}. {line(step.action, longest)}" for number, step in enumerate(skill.procedure[:most], 1)]
    left = len(skill.procedure) - len(shown)
    return shown + [f"({left} more steps: get the skill to see them)"] * bool(left)


def _facts(skill: Skill) -> list[str]:
    uses = f"{skill.usage_count} {'use' if skill.usage_count == 1 else 'uses'}"
    facts: list[tuple[str, str]] = [
        ("id", visible(skill.id)),
        ("type", line(skill.skill_type)),
        ("learned in", line(skill.domain)),
        ("learned from", line(skill.task)),
        ("confidence", f"{skill.confidence:.3f} after {uses}"),
        ("transfers", f"{skill.transfer_successes} of {skill.transfer_count} successful"),
        ("expires", skill.expires_at or "never"),
        ("tags", listed(skill.tags)),
    ]
    return [f"- {label}: {value}" for label, value in facts if value]


def _conditions(title: str, conditions: Sequence[SkillCondition]) -> list[str]:
    if not conditions:
        return []
    parts = ["", f"## {title}", ""]
    for condition in conditions:
        parts.append(f"- {line(condition.predicate)}{'' if condition.required else ' (optional)'}")
        parts += quoted(condition.description)
    return parts


def _step_in_full(number: int, step: SkillStep) -> list[str]:
    parts = [f"{number}. {line(step.action)}{' (optional)' if step.is_optional else ''}"]
    if step.description and step.description != step.action:
        parts += quoted(step.description)
    if step.parameters:
        parts.append(f"   with {_plain(step.parameters)}")
    return parts


def _plain(value: object) -> str:
    """A value of free-form JSON in one line."""
    if isinstance(value, dict):
        return ", ".join(f"{line(str(key))} {_plain(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value) or "none"
    return line(str(value))
