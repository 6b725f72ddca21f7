"""How do skills move from one place to another, with all that is kept of them? `copy`, between any two stores.

Nothing has to be remembered to go on after an interruption: what is there already is left, or written again as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from brain.analysis.profile import profile_of_skill
from brain.engine.embedding import fits
from brain.engine.memory import check_identifier
from brain.errors import EmbeddingError, InputError
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.model.text import parse_time
from brain.store.base import Store
from brain.store.location import REDIS_SCHEMES
from brain.store.values import KeptSkill, new_operation

if TYPE_CHECKING:
    from brain.store.redis.importing import Import

MOVED_AT_ONCE = 200
"""Skills, or the edges of as many, that one transaction writes."""

NEWER = "the target has a newer one"
NO_END = "one of its ends is not there"
BAD_ID = "its id is not valid: use 1 to 200 letters, digits and . _ : @ + -"


@dataclass(frozen=True)
class Skipped:
    """What was not taken along ("skill" or "edge"), by its id, its ends or its key, and why; `detail` may say more."""

    kind: str
    subject: str
    reason: str
    detail: str = ""


@dataclass
class Moved:
    """What a copy did: skills written and those that were there already, edges written, and how much was skipped, by
    kind and reason.
    """

    written: int = 0
    unchanged: int = 0
    edges: int = 0
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)


def copy(
    source: Store,
    target: Store,
    *,
    vectors: bool = True,
    progress: Callable[[int], Any] = lambda _: None,
    tell: Callable[[Skipped], Any] = lambda _: None,
) -> Moved:
    """Writes all live skills of `source` into `target`, in place of those with the same id that are not newer there.

    Vectors, transfer history, edges, versions, expiry and traces go along, and the embedding stamp. `progress` is told
    how many skills were looked at, `tell` what was skipped. Raises `InputError` if both are one place, `EmbeddingError`
    if the target holds vectors of another model, `StoreError`.
    """
    target.migrate()
    if (source.location, source.namespace) == (target.location, target.namespace):
        raise InputError(f"{source.location} cannot be copied onto itself. Name another place, or another namespace.")
    if vectors:
        _stamp(source, target)
    moved, move = Moved(), _Move(source, target, vectors, tell)
    for page in move.skills(moved):
        progress(page)
    for edges in move.edges(moved):
        moved.edges += edges
    return moved


def _stamp(source: Store, target: Store) -> None:
    """Notes in the target which vectors it is going to hold."""
    coming = source.embedding_stamp()
    if coming is None:
        return
    there = target.embedding_stamp() or target.set_embedding_stamp(coming, None, operation=new_operation())
    if not fits(there, coming):
        raise EmbeddingError(
            f"{target.location} holds vectors of {there.model}, {source.location} of {coming.model}. Copy without "
            "vectors (--without-vectors), and embed everything anew with brain reembed."
        )


class _Move:
    """One copy on its way."""

    def __init__(self, source: Store, target: Store, vectors: bool, tell: Callable[[Skipped], Any]) -> None:
        self._source, self._target, self._vectors, self._told = source, target, vectors, tell
        self._moved = Moved()

    def skills(self, moved: Moved) -> Iterator[int]:
        """Writes the skills; how many were looked at in each step."""
        self._moved = moved
        for page in self._kept():
            there = {skill.id: skill for skill in self._target.get_many([kept.skill.id for kept in page])}
            wanted = [kept for kept in page if self._is_wanted(kept, there.get(kept.skill.id))]
            if wanted:
                self._target.restore([self._ready(kept) for kept in wanted], operation=new_operation())
            moved.written += len(wanted)
            yield len(page)

    def edges(self, moved: Moved) -> Iterator[int]:
        """Writes the edges; how many in each step."""
        self._moved = moved
        for page in self._edges():
            if page:
                left = self._target.restore_edges(page, operation=new_operation())
                for edge in left:
                    self._tell("edge", f"{edge.source} {edge.relation} {edge.target}", NO_END)
                yield len(page) - len(left)

    def _kept(self) -> Iterator[Sequence[KeptSkill]]:
        if self._source.location.partition("://")[0] not in REDIS_SCHEMES:
            return self._source.export(MOVED_AT_ONCE)
        return self._importing().skills(MOVED_AT_ONCE, partial(self._tell, "skill"))

    def _edges(self) -> Iterator[Sequence[Edge]]:
        if self._source.location.partition("://")[0] not in REDIS_SCHEMES:
            return self._source.export_edges(MOVED_AT_ONCE)
        return self._importing().edges(MOVED_AT_ONCE, partial(self._tell, "edge"))

    def _importing(self) -> Import:
        from brain.store.redis.importing import Import
        from brain.store.redis.store import RedisStore

        assert isinstance(self._source, RedisStore)
        return Import(self._source)

    def _is_wanted(self, kept: KeptSkill, there: Skill | None) -> bool:
        """Whether the skill is to be written; says why, if not."""
        try:
            check_identifier(kept.skill.id, "skill id")
        except InputError:
            self._tell("skill", kept.skill.id, BAD_ID)
            return False
        if there is None:
            return True
        if _age(there) > _age(kept.skill):
            self._tell("skill", kept.skill.id, NEWER)
            return False
        if _state(there) == _state(kept.skill) and not kept.traces and not (self._vectors and kept.vector):
            self._moved.unchanged += 1
            return False
        return True

    def _ready(self, kept: KeptSkill) -> KeptSkill:
        """The skill as it is written: analysed, so that the first recall need not."""
        vector = kept.vector if self._vectors else None
        if kept.profile is not None and kept.terms is not None:
            return replace(kept, vector=vector)
        profile = profile_of_skill(kept.skill)
        return replace(kept, vector=vector, profile=profile.to_text(), terms=profile.to_bytes())

    def _tell(self, kind: str, subject: str, reason: str, detail: str = "") -> None:
        self._moved.skipped[kind, reason] += 1
        self._told(Skipped(kind, subject, reason, detail))


def _age(skill: Skill) -> tuple[datetime, int]:
    return parse_time(skill.updated_at), skill.version


def _state(skill: Skill) -> tuple[object, ...]:
    """What changes with every write of a skill."""
    return *_age(skill), skill.usage_count, skill.transfer_count, skill.confidence
