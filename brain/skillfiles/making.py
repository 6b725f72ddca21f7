"""Which skill does a SKILL.md make? `made_of`: the one that this package wrote into it, or one read off its text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from brain.analysis.abstraction import extract_procedure, preconditions, skill_tags
from brain.analysis.analyzer import ContextAnalyzer
from brain.model.inputs import ExecutionTrace
from brain.model.skill import Skill, SkillStep
from brain.model.text import digest
from brain.skillfiles.entries import without_entries
from brain.skillfiles.frontmatter import FrontMatter
from brain.skillfiles.kept import EDITED, IMPORTED, keep
from brain.skillfiles.outline import steps_in
from brain.skillfiles.record import Record, record_from
from brain.skillfiles.rendering import description_of, rendered, slug
from brain.skillfiles.rules import Finding
from brain.skillfiles.skillfile import SkillFile

Files = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Made:
    """The skill that a file makes, with what is kept beside it. `text` is the file without our entries.

    `is_ours` says that the skill has its id from the file: it was written by this package. `warnings` are told.
    """

    record: Record
    text: str
    is_ours: bool
    warnings: tuple[Finding, ...] = ()


def made_of(file: SkillFile, files: Files, analyzer: ContextAnalyzer, now: datetime) -> Made:
    """The skill of a file, with the files beside it. Raises `InputError` if what this package wrote was damaged."""
    text, entries = without_entries(file.matter)
    if "format" not in entries:
        return Made(Record(_of_text(file, files, analyzer, now)), file.text, is_ours=False)
    record = record_from(entries)
    if digest(text) == entries.get("digest") and ("file" in entries or not files):
        if "file" in entries:
            record = replace(record, skill=keep(record.skill, text, files, entries["file"]))
        made = Made(record, text, is_ours=True)
    else:
        made = _of_edited(file, files, record, text, was_kept="file" in entries)
    return _alive(made, now)


def _of_text(file: SkillFile, files: Files, analyzer: ContextAnalyzer, now: datetime) -> Skill:
    """A skill that is new here: nobody has used it yet, and it does not expire by itself."""
    features = analyzer.analyze({"task": file.description}, ask_model=False)
    skill = Skill(
        name=file.name,
        description=file.description,
        procedure=procedure_of(file),
        preconditions=preconditions(features),
        source_context=features.to_dict(),
        tags=list(dict.fromkeys([*skill_tags(features), IMPORTED])),
        created_at=now,
        updated_at=now,
    )
    return keep(skill, file.text, files)


def procedure_of(file: SkillFile) -> list[SkillStep]:
    """The steps that the body of a file tells; where it tells none, its description is the only one."""
    steps = steps_in(file.body) or [{"action": file.description}]
    return extract_procedure(ExecutionTrace(steps=steps))


def _of_edited(file: SkillFile, files: Files, record: Record, text: str, *, was_kept: bool) -> Made:
    """A skill whose file was edited since it was written: the text holds what was changed, the entries all else."""
    skill = record.skill
    changed: dict[str, Any] = {}
    if was_kept:
        changed["name"] = file.name
    if was_kept or file.description != description_of(skill):
        changed["description"] = file.description
    if was_kept or steps_in(file.body) != steps_in(_rendered_body(skill)):
        changed["procedure"] = [step.to_dict() for step in procedure_of(file)]
    warning = Finding("edited", 1, "it was edited since it was exported: its text holds, its history goes along")
    made = keep(Skill.from_dict({**skill.to_dict(), **changed}), text, files, EDITED)
    return Made(replace(record, skill=made), text, is_ours=True, warnings=(warning,))


def _rendered_body(skill: Skill) -> str:
    text = rendered(skill, slug(skill))
    return text[FrontMatter.of(text).body :]


def _alive(made: Made, now: datetime) -> Made:
    """A skill that expired since it was written lives on from now: whoever imports it wants it."""
    skill = made.record.skill
    if not skill.has_expired(now):
        return made
    warning = Finding("expired", 1, f"its lifetime ended on {skill.expires_at[:10]}; it begins anew")
    skill = skill.model_copy()
    skill.renew_ttl(now)
    return replace(made, record=replace(made.record, skill=skill), warnings=(*made.warnings, warning))
