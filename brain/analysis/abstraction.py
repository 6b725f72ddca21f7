"""How does an execution become a skill? Steps, conditions, name, description and tags (guide, "1. Learn")."""

from __future__ import annotations

from typing import Any

from brain.model.context import UNKNOWN, ContextFeatures
from brain.model.inputs import STEP_TEXT_KEYS, ExecutionTrace, Outcome, step_text
from brain.model.skill import ELLIPSIS, SkillCondition, SkillStep

LONGEST_ACTION = 120
"""Characters of an action; a longer text is cut at a word here and kept whole in the description."""

_LONGEST_NAME = 60
_RUN_FIELDS = frozenset({"result"})  # what happened in this run; it stays with the trace
_READ_OR_LEFT = frozenset(SkillStep.model_fields) | _RUN_FIELDS


def extract_procedure(trace: ExecutionTrace) -> list[SkillStep]:
    """The steps of `trace` in order; where it has none, one step for each agent."""
    if trace.steps:
        return [_step(step, i) for i, step in enumerate(trace.steps)]
    return [_agent_step(agent, i) for i, agent in enumerate(trace.agents)]


def preconditions(features: ContextFeatures) -> list[SkillCondition]:
    """What the context says must hold: the input's shape, and the structures that the task has."""
    found = []
    if features.input_shape != UNKNOWN:
        found.append(
            SkillCondition(
                predicate=f"input is {features.input_shape}",
                description=f"The procedure starts from {features.input_shape} input.",
            )
        )
    for structure in features.task_structures:
        found.append(
            SkillCondition(
                predicate=f"task supports {structure}",
                description=f"The procedure relies on {structure}.",
                required=False,
            )
        )
    return found


def postconditions(features: ContextFeatures, outcome: Outcome) -> list[SkillCondition]:
    """What holds afterwards: the output's shape, and the quality that was reached."""
    found = []
    if features.output_shape != UNKNOWN:
        found.append(
            SkillCondition(
                predicate=f"output is {features.output_shape}",
                description=f"The procedure ends with {features.output_shape} output.",
            )
        )
    found.append(
        SkillCondition(
            predicate=f"quality >= {outcome.quality:g}",
            description="The quality reached when the skill was learned.",
            required=False,
        )
    )
    return found


def skill_name(features: ContextFeatures, task: str, procedure: list[SkillStep]) -> str:
    """A name for people: "Analysis via Decomposition"; without features, the start of the task or of the first step."""
    pattern = features.cognitive_patterns[0].title() if features.cognitive_patterns else ""
    structure = features.task_structures[0].title() if features.task_structures else ""
    if pattern and structure:
        return f"{pattern} via {structure}"
    text = " ".join((task.strip() or procedure[0].action).split())
    named = _cut(text, _LONGEST_NAME)
    return named[:1].upper() + named[1:]


def skill_description(features: ContextFeatures, procedure: list[SkillStep]) -> str:
    """The abstract goal, and the actions of the first steps."""
    actions = " → ".join(step.action for step in procedure[:3])
    more = f" → {ELLIPSIS}" if len(procedure) > 3 else ""
    return f"{features.abstract_goal}. Steps: {actions}{more}"


def skill_tags(features: ContextFeatures) -> list[str]:
    """Structures, patterns and domain, each once."""
    return list(dict.fromkeys([*features.task_structures, *features.cognitive_patterns, *features.domain_hints]))


def _step(step: Any, order: int) -> SkillStep:
    if not isinstance(step, dict):
        return SkillStep(order=order, **_worded(step_text(step), ""))
    text, description = step_text(step), step.get("description") or ""
    parameters = step.get("parameters")
    told_by = next(key for key in STEP_TEXT_KEYS if step.get(key) == text)
    kept = {k: v for k, v in step.items() if k not in _READ_OR_LEFT and k != told_by}
    if parameters is not None and not isinstance(parameters, dict):
        parameters = {"value": parameters}
    return SkillStep.from_dict(
        {
            **kept,
            **_worded(text, "" if description == text else description),
            "order": order,
            "parameters": parameters or {},
            "is_optional": step.get("is_optional") or False,
        }
    )


def _agent_step(agent: Any, order: int) -> SkillStep:
    name = step_text(agent, ("id", "name", "agent_id", "action", "description"))
    return SkillStep(order=order, **_worded(f"run agent {name}", ""))


def _worded(text: str, description: Any) -> dict[str, Any]:
    """Action and description of a step's text: a long text is cut for the action and kept whole beside it."""
    if len(text) <= LONGEST_ACTION:
        return {"action": text, "description": description}
    whole = f"{text}\n\n{description}" if description else text
    return {"action": _cut(text, LONGEST_ACTION), "description": whole}


def _cut(text: str, length: int) -> str:
    """`text` of at most `length` characters, cut at a word if one ends in its second half."""
    if len(text) <= length:
        return text
    head = text[: length - 1]
    at_word = head.rfind(" ", length // 2)
    return (head[:at_word] if at_word > 0 else head).rstrip() + ELLIPSIS
