"""Where did a skill come from that was not learned here? A trace that says of which file it was made, and when.

It stands among the traces that the skill was learned from, so the graph shows it; a skill file does not take it along,
because it tells of this store only.
"""

from __future__ import annotations

from datetime import datetime

from brain.model.formulas import DEFAULT_QUALITY
from brain.model.skill import Skill
from brain.model.text import digest
from brain.skillfiles.record import content_of
from brain.store.values import Observation, SeenTrace

_PREFIX = "skill-file:"


def origin_of(skill: Skill, path: str, text: str, now: datetime) -> SeenTrace:
    """The trace of an import: `skill` was made of `text`, the file at `path` below the folder that was imported."""
    trace_id = _PREFIX + digest(text)
    told = {"imported_from": {"path": path, "digest": digest(text)}}
    content = content_of(told, skill.domain, skill.task, True, DEFAULT_QUALITY)
    key, about = digest("id", trace_id), (skill.domain, skill.task)
    return SeenTrace(Observation(key, trace_id, content, *about, success=True, quality=DEFAULT_QUALITY), now)


def is_origin(seen: SeenTrace) -> bool:
    """Whether a trace tells of an import, and not of an execution."""
    return seen.observation.trace_id.startswith(_PREFIX)
