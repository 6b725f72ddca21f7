"""How do skills move from one place to another, with all that is kept of them? `copy`, from a store or a dump file.

Nothing has to be remembered to go on after an interruption: what is there already is left, or written again as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from brain.analysis.profile import profile_of_skill
from brain.engine.embedding import fits
from brain.engine.memory import check_skill_id
from brain.errors import EmbeddingError, InputError
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.model.text import LONGEST_KNOWN_ID, parse_time
from brain.store.base import Store
from brain.store.location import REDIS_SCHEMES
from brain.store.values import EmbeddingStamp, KeptSkill, new_operation

if TYPE_CHECKING:
    from brain.store.redis.importing import Import

MOVED_AT_ONCE = 200
"""Skills, or the edges of as many, that one transaction writes."""

NEWER = "the target has a newer one"
THERE = "the target has one with this id"
HAS_EXPIRED = "it has expired"
NO_END = "one of its ends is not there"
BAD_ID = f"its id has more than {LONGEST_KNOWN_ID:,} characters, or a NUL among them"


class Existing(StrEnum):
    """What becomes of a skill in the target that has the id of one that comes, and differs from it."""

    NEWER = "newer"
    """The newer of the two stays."""
    REPLACE = "replace"
    """The one that comes stays."""
    SKIP = "skip"
    """The one that is there stays."""


def existing_named(value: str | None) -> Existing | None:
    """What a caller wants to become of skills that are there; None if nobody said. Raises `InputError`."""
    try:
        return None if value is None else Existing(value)
    except ValueError:
        raise InputError(f"existing must be one of {', '.join(Existing)}, or None, not {value!r}.") from None


class Source(Protocol):
    """What skills can be copied from: every `Store`, and a dump file."""

    @property
    def location(self) -> str:
        """What to call it in a message."""

    @property
    def namespace(self) -> str:
        """Which of its memories this is."""

    def embedding_stamp(self) -> EmbeddingStamp | None:
        """Which vectors it holds."""

    def export(self, size: int) -> Iterator[list[KeptSkill]]:
        """See `Store.export`."""

    def export_edges(self, size: int) -> Iterator[list[Edge]]:
        """See `Store.export_edges`."""


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
    source: Source,
    target: Store,
    *,
    vectors: bool = True,
    existing: Existing = Existing.NEWER,
    progress: Callable[[int], Any] = lambda _: None,
    tell: Callable[[Skipped], Any] = lambda _: None,
) -> Moved:
    """Writes all live skills of `source` into `target`; `existing` says what becomes of those with the same id.

    Vectors, transfer history, edges, versions, expiry and traces go along, and the embedding stamp. `progress` is told
    how many skills were looked at, `tell` what was skipped. Raises `InputError` if both are one place, `EmbeddingError`
    if the target holds vectors of another model, `StoreError`.
    """
    target.migrate()
    if (source.location, source.namespace) == (target.location, target.namespace):
        raise InputError(f"{source.location} cannot be copied onto itself. Name another place, or another namespace.")
    if vectors:
        _stamp(source, target)
    moved, move = Moved(), _Move(source, target, vectors, existing, tell)
    for page in move.skills(moved):
        progress(page)
    for edges in move.edges(moved):
        moved.edges += edges
    return moved


def kept_in(source: Source, tell: Callable[[Skipped], Any]) -> Iterator[Sequence[KeptSkill]]:
    """All live skills of `source`, a page at a time; `tell` is told of what cannot be taken along."""
    found = _importing(source)
    return found.skills(MOVED_AT_ONCE, partial(_tell_of, tell, "skill")) if found else source.export(MOVED_AT_ONCE)


def edges_in(source: Source, tell: Callable[[Skipped], Any]) -> Iterator[Sequence[Edge]]:
    """All edges of `source`, those of a page of skills at a time; `tell` is told of what cannot be taken along."""
    found = _importing(source)
    return found.edges(MOVED_AT_ONCE, partial(_tell_of, tell, "edge")) if found else source.export_edges(MOVED_AT_ONCE)


def has_good_id(skill: Skill) -> bool:
    """Whether a skill can be found by its id in every place. Old data in a Redis may have ids without an end."""
    try:
        check_skill_id(skill.id)
    except InputError:
        return False
    return True


def differs(there: Skill, coming: Skill) -> bool:
    """Whether two skills with one id differ in anything but the namespace that they are in."""
    return there.to_dict() | {"namespace": ""} != coming.to_dict() | {"namespace": ""}


def _importing(source: Source) -> Import | None:
    """How a Redis is read, in which others may have left what no store would write; None for any other source."""
    if source.location.partition("://")[0] not in REDIS_SCHEMES:
        return None  # its library need not be there
    from brain.store.redis.importing import Import
    from brain.store.redis.store import RedisStore

    return Import(source) if isinstance(source, RedisStore) else None


def _tell_of(tell: Callable[[Skipped], Any], kind: str, subject: str, reason: str, detail: str) -> None:
    tell(Skipped(kind, subject, reason, detail))


def _stamp(source: Source, target: Store) -> None:
    """Notes in the target which vectors it is going to hold."""
    coming = source.embedding_stamp()
    if coming is None:
        return
    there = target.embedding_stamp() or target.set_embedding_stamp(coming, None, operation=new_operation())
    if not fits(there, coming):
        raise EmbeddingError(
            f"{target.location} holds vectors of {there.model}, {source.location} of {coming.model}. Leave the "
            "vectors behind (--without-vectors), and embed everything anew with brain reembed."
        )


class _Move:
    """One copy on its way."""

    def __init__(
        self, source: Source, target: Store, vectors: bool, existing: Existing, tell: Callable[[Skipped], Any]
    ) -> None:
        self._source, self._target, self._vectors, self._existing = source, target, vectors, existing
        self._told = tell
        self._moved = Moved()
        self._left: set[str] = set()

    def skills(self, moved: Moved) -> Iterator[int]:
        """Writes the skills; how many were looked at in each step."""
        self._moved = moved
        for page in kept_in(self._source, self._tell):
            there = {skill.id: skill for skill in self._target.get_many([kept.skill.id for kept in page])}
            wanted = [kept for kept in page if self._is_wanted(kept, there.get(kept.skill.id))]
            if wanted:
                self._target.restore([self._ready(kept) for kept in wanted], operation=new_operation())
            moved.written += len(wanted)
            yield len(page)

    def edges(self, moved: Moved) -> Iterator[int]:
        """Writes the edges; how many in each step. Those between two skills that stayed as they were stay too."""
        self._moved = moved
        for page in edges_in(self._source, self._tell):
            wanted = [edge for edge in page if not {edge.source, edge.target} <= self._left]
            if wanted:
                left = self._target.restore_edges(wanted, operation=new_operation())
                for edge in left:
                    self._tell(Skipped("edge", f"{edge.source} {edge.relation} {edge.target}", NO_END))
                yield len(wanted) - len(left)

    def _is_wanted(self, kept: KeptSkill, there: Skill | None) -> bool:
        """Whether the skill is to be written; says why, if not."""
        reason = self._reason_against(kept.skill, there)
        if reason:
            self._tell(Skipped("skill", kept.skill.id, reason))
            return False
        if there is None or _state(there) != _state(kept.skill) or kept.traces or (self._vectors and kept.vector):
            return True
        self._moved.unchanged += 1
        return False

    def _reason_against(self, coming: Skill, there: Skill | None) -> str:
        """Why a skill is not taken along; empty if it is."""
        if not has_good_id(coming):
            return BAD_ID
        if coming.has_expired(self._target.clock()):
            return HAS_EXPIRED
        if there is None or self._existing is Existing.REPLACE:
            return ""
        if self._existing is Existing.SKIP:
            self._left.add(coming.id)
            return THERE if differs(there, coming) else ""
        return NEWER if _age(there) > _age(coming) else ""

    def _ready(self, kept: KeptSkill) -> KeptSkill:
        """The skill as it is written: analysed, so that the first recall need not."""
        vector = kept.vector if self._vectors else None
        if kept.profile is not None and kept.terms is not None:
            return replace(kept, vector=vector)
        profile = profile_of_skill(kept.skill)
        return replace(kept, vector=vector, profile=profile.to_text(), terms=profile.to_bytes())

    def _tell(self, skipped: Skipped) -> None:
        self._moved.skipped[skipped.kind, skipped.reason] += 1
        self._told(skipped)


def _age(skill: Skill) -> tuple[datetime, int]:
    return parse_time(skill.updated_at), skill.version


def _state(skill: Skill) -> tuple[object, ...]:
    """What changes with every write of a skill."""
    return *_age(skill), skill.usage_count, skill.transfer_count, skill.confidence
