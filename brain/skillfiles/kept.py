"""How does a skill carry the SKILL.md that it was read from? In one field, with the files beside it.

    skill_file = {"text": the whole file, "files": {path: {"text": ..., "executable": true}}, "digest": ...}

The digest is of the skill as it was made of the file. As long as it fits, the file says all, and is given back as it
is.
"""

from __future__ import annotations

import json
from typing import Any

from brain.model.skill import Skill
from brain.model.text import digest
from brain.skillfiles.folder import is_safe
from brain.skillfiles.record import FILE_FIELD

IMPORTED = "imported"
"""The tag of a skill that was made of a file from elsewhere."""

EDITED = "edited"
"""Stands for the digest where the file was edited after the skill had been used."""

_OF_THE_STORE = {"id", "namespace", "version", "created_at", "updated_at", "expires_at"}


def keep(skill: Skill, text: str, files: dict[str, dict[str, Any]], made_as: str = "") -> Skill:
    """`skill` with the file that it was made of. `made_as` is the digest of what was first made of it, if that is known
    and not the skill as it is now.
    """
    kept: dict[str, Any] = {"text": text} | ({"files": files} if files else {})
    fields = {key: value for key, value in skill.to_dict().items() if key != FILE_FIELD}
    made = Skill.from_dict({**fields, FILE_FIELD: kept})
    return Skill.from_dict({**fields, FILE_FIELD: kept | {"digest": made_as or _digest(made)}})


def made_as(skill: Skill) -> str:
    """The digest of the skill as it was made of its file; empty for one without."""
    found = _field(skill).get("digest")
    return found if isinstance(found, str) else ""


def file_of(skill: Skill) -> str | None:
    """The text of the SKILL.md that a skill was read from; None where there is none."""
    text = _field(skill).get("text")
    return text if isinstance(text, str) else None


def body_of(skill: Skill) -> str | None:
    """The body of the SKILL.md that a skill was read from, word for word; None where there is none."""
    from brain.skillfiles.frontmatter import FrontMatter, FrontMatterError

    text = file_of(skill)
    if text is None:
        return None
    try:
        return text[FrontMatter.of(text).body :]
    except FrontMatterError:  # it was changed by hand in the store
        return text


def files_of(skill: Skill) -> dict[str, dict[str, Any]]:
    """The files beside it whose names may be written."""
    files = _field(skill).get("files")
    if not isinstance(files, dict):
        return {}
    return {
        name: file
        for name, file in files.items()
        if is_safe(name) and isinstance(file, dict) and isinstance(file.get("text"), str)
    }


def is_as_imported(skill: Skill) -> bool:
    """Whether nothing about the skill has changed since it was made of its file."""
    return made_as(skill) == _digest(skill)


def _field(skill: Skill) -> dict[str, Any]:
    value = (skill.__pydantic_extra__ or {}).get(FILE_FIELD)
    return value if isinstance(value, dict) else {}


def _digest(skill: Skill) -> str:
    fields = {key: value for key, value in skill.to_dict().items() if key not in _OF_THE_STORE}
    fields[FILE_FIELD] = {key: value for key, value in _field(skill).items() if key != "digest"}
    return digest(json.dumps(fields, sort_keys=True))
