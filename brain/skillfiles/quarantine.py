"""Where do imported skills wait until somebody has looked at them, and how do they come out?

In a namespace of their own beside the one that they are for: no recall, no learning and no search for twins crosses a
namespace, on any store, so that none has to look out for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from brain.engine.embedding import fits
from brain.engine.memory import check_identifier, check_skill_id
from brain.engine.moving import Existing, copy
from brain.engine.sync import memory_of
from brain.errors import ConflictError, InputError, SkillNotFoundError
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.skillfiles.kept import file_of
from brain.skillfiles.taking import released, waiting_edges
from brain.store.base import Store
from brain.store.values import EmbeddingStamp, KeptSkill, new_operation

if TYPE_CHECKING:
    from brain.engine.sync import SyncBrain

SUFFIX = ".quarantine"
"""Ends the namespace in which skills wait that are for the namespace before it."""


def quarantine_of(namespace: str) -> str:
    """The namespace in which skills for `namespace` wait. Raises `InputError` if there can be none."""
    if namespace.endswith(SUFFIX):
        raise InputError(f"{namespace} is a quarantine itself. Name the namespace that the skills are for.")
    return check_identifier(f"{namespace}{SUFFIX}", "namespace of a quarantine")


def approve(
    waiting: SyncBrain,
    brain: SyncBrain,
    skill_ids: Sequence[str],
    *,
    replacing: bool = False,
    progress: Callable[[int], Any] = lambda _: None,
) -> list[str]:
    """Moves skills from where they wait into `brain`, with all that is kept of them; the ids of those that waited.

    Edges that wait with a skill are written once both their ends are there. Cut short, the same call goes on. Raises
    `SkillNotFoundError` for an id that is in neither place, `ConflictError` for one that another skill in `brain` has,
    unless that is to be replaced, `StoreError`. Before the first is moved, all are looked at.
    """
    quarantine, target = memory_of(waiting).store, memory_of(brain).store
    wanted = sorted({check_skill_id(skill_id) for skill_id in skill_ids})
    held = {skill.id: skill for skill in quarantine.get_many(wanted)}
    there = {skill.id: skill for skill in target.get_many(wanted)}
    for skill_id in wanted:
        if skill_id not in held and skill_id not in there:
            raise SkillNotFoundError(skill_id, quarantine.namespace)
    moved = {skill_id for skill_id in held if not replacing and _was_moved(held[skill_id], there.get(skill_id))}
    for skill_id in held:
        if skill_id in there and skill_id not in moved and not replacing:
            raise ConflictError(skill_id, 0, there[skill_id].version)
    source = _Waiting(quarantine, set(held) - moved, list(held.values()))
    stamp, noted = quarantine.embedding_stamp(), target.embedding_stamp()
    vectors = stamp is not None and (noted is None or fits(noted, stamp))
    copy(source, target, vectors=vectors, existing=Existing.REPLACE)
    for skill_id in held:
        quarantine.delete(skill_id, operation=new_operation())
        progress(1)
    return list(held)


class _Waiting:
    """What is to come out of a quarantine, as what skills can be copied from."""

    def __init__(self, quarantine: Store, wanted: set[str], with_edges: Sequence[Skill]) -> None:
        self._quarantine, self._wanted, self._with_edges = quarantine, wanted, with_edges
        self.location, self.namespace, self._now = quarantine.location, quarantine.namespace, quarantine.clock()

    def embedding_stamp(self) -> EmbeddingStamp | None:
        return self._quarantine.embedding_stamp()

    def export(self, size: int) -> Iterator[list[KeptSkill]]:
        for page in self._quarantine.export(size) if self._wanted else ():
            chosen = [kept for kept in page if kept.skill.id in self._wanted]
            if chosen:
                yield [replace(kept, skill=_living(kept.skill, self._now)) for kept in chosen]

    def export_edges(self, size: int) -> Iterator[list[Edge]]:
        for skill in self._with_edges:
            yield waiting_edges(skill)


def _living(skill: Skill, now: datetime) -> Skill:
    """The skill as it was before it waited; if its lifetime ended meanwhile, it begins anew."""
    skill = released(skill)
    if skill.has_expired(now):
        skill.renew_ttl(now)
    return skill


def _was_moved(waiting: Skill, there: Skill | None) -> bool:
    """Whether an approval that was cut short moved the skill before; it may have been used since."""
    if there is None:
        return False
    same = (there.created_at, file_of(there)) == (waiting.created_at, file_of(waiting))
    return same and there.version >= waiting.version
