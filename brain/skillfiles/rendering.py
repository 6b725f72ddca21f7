"""How does a skill read as a SKILL.md? Its name as a slug, what it does and when to use it, its steps as prose."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from brain.model.skill import Skill, SkillCondition, SkillStep
from brain.model.text import digest
from brain.skillfiles.frontmatter import FENCE, json_line, quoted
from brain.skillfiles.rules import LONGEST_COMPATIBILITY, LONGEST_DESCRIPTION, LONGEST_NAME, is_reserved

SUFFIX_LENGTH = 6
"""Hexadecimal digits that tell apart two skills of one name."""

_OPTIONAL_KEYS = (("license", "license"), ("compatibility", "compatibility"), ("allowed-tools", "allowed_tools"))


def slug(skill: Skill) -> str:
    """The name of a skill as the specification wants it: lower case, a to z, digits and hyphens, at most 64."""
    found = _slugged(skill.name)
    return found if found and not is_reserved(found) else _slugged(f"skill-{found or skill.id}")


def suffixed(name: str, skill_id: str) -> str:
    """`name` with a suffix that is the same whenever this skill is written."""
    suffix = digest(skill_id)[:SUFFIX_LENGTH]
    return f"{name[: LONGEST_NAME - SUFFIX_LENGTH - 1].rstrip('-')}-{suffix}"


def rendered(skill: Skill, name: str) -> str:
    """The SKILL.md of a skill that has none of its own, without what travels in its metadata."""
    lines = [FENCE, f"name: {quoted(name)}", f"description: {quoted(description_of(skill))}"]
    for key, field in _OPTIONAL_KEYS:
        value = (skill.__pydantic_extra__ or {}).get(field)
        if isinstance(value, str) and value.strip() and len(value) <= LONGEST_COMPATIBILITY:
            lines.append(f"{key}: {quoted(value)}")
    return "\n".join([*lines, FENCE, "", *_body(skill)])


def description_of(skill: Skill) -> str:
    """What a skill does and when to use it, in one line of at most 1 024 characters."""
    texts = [skill.description, skill.name, *(step.action for step in skill.procedure), f"Skill {skill.id}"]
    told = next(filter(None, map(_one_line, texts)))
    task = _one_line(skill.task)
    whole = f"{told.rstrip('.')}. Use when: {task}" if task and task not in told else told
    if len(whole) <= LONGEST_DESCRIPTION:
        return whole
    head = whole[: LONGEST_DESCRIPTION - 1]
    return head[: head.rfind(" ", LONGEST_DESCRIPTION // 2) if " " in head else None].rstrip() + "…"


def _slugged(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower().replace("'", "")
    return "-".join(re.findall("[a-z0-9]+", plain))[:LONGEST_NAME].strip("-")


def _one_line(text: str) -> str:
    return " ".join(_visible(text).split())


def _visible(text: str) -> str:
    """`text` with a space for what nobody sees: it is there to be read. The entries hold it as it is."""
    return "".join(char if char.isprintable() else " " for char in text)


def _body(skill: Skill) -> Iterator[str]:
    yield f"# {_one_line(skill.name) or slug(skill)}"
    if skill.task:
        where = f" ({_one_line(skill.domain)})" if skill.domain.strip() else ""
        yield from ("", f"Learned from: {_one_line(skill.task)}{where}")
    yield from _conditions("Before", skill.preconditions)
    if skill.procedure:
        yield from ("", "## Steps", "")
        for number, step in enumerate(skill.procedure, 1):
            yield from _step(number, step)
    yield from _conditions("After", skill.postconditions)
    yield ""


def _conditions(title: str, conditions: Sequence[SkillCondition]) -> Iterator[str]:
    if conditions:
        yield from ("", f"## {title}", "")
        for condition in conditions:
            told = _one_line(condition.description)
            needed = "" if condition.required else " (not required)"
            yield f"- {_one_line(condition.predicate)}{needed}{f': {told}' if told else ''}"


def _step(number: int, step: SkillStep) -> Iterator[str]:
    mark = f"{number}. "
    yield f"{mark}{_one_line(step.action)}{' (optional)' if step.is_optional else ''}"
    if step.description and step.description != step.action:
        yield ""
        for line in step.description.splitlines():
            yield (" " * len(mark) + _visible(line)).rstrip()
    if step.parameters:
        yield from ("", " " * len(mark) + f"Parameters: `{json_line(step.parameters)}`")
    if step.description or step.parameters:
        yield ""
