"""Which skills are there, in which order, with these words? `LiveListing`: a view that follows the change feed.

A store would have to look at every skill for each letter that is typed, and each would fold case and break ties its own
way. So the few fields that are listed are read once, and afterwards only what changed; ordering, filtering and counting
are done here, alike for every store.
"""

from __future__ import annotations

import threading
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from brain.engine.live import Loading
from brain.errors import InputError
from brain.model.text import check_text
from brain.store.base import Store
from brain.store.values import Changes, SkillRow

EXPIRING_SOON = timedelta(hours=24)
"""What expires within this time is counted as expiring."""
LOADED_AT_ONCE = 2_000
"""Skills that are read at a time when the view is filled."""

_LATEST = datetime.max.replace(tzinfo=UTC)


class SkillOrder(StrEnum):
    """What a listing can be ordered by. Text is compared without regard to case, and what never expires is last."""

    ID = "id"
    NAME = "name"
    DOMAIN = "domain"
    CONFIDENCE = "confidence"
    USES = "usage_count"
    SUCCESS = "success_rate"
    TRANSFERS = "transfer_count"
    TAGS = "tags"
    EXPIRY = "expires_at"
    UPDATED = "updated_at"

    @property
    def starts_descending(self) -> bool:
        """Whether the largest are what one wants to see first."""
        return self in (self.CONFIDENCE, self.USES, self.SUCCESS, self.TRANSFERS, self.UPDATED)


@dataclass(frozen=True)
class Listing:
    """A part of the live skills that were asked for, in order.

    `total` of them there are; `rows` begin at the place `offset`, and the skill that was asked for stands at `place`
    (None: it is not among them). `skills`, `transferable` and `expiring` (within `EXPIRING_SOON`) count all live skills
    of the namespace, as of its `version`.
    """

    total: int
    offset: int
    rows: Sequence[SkillRow]
    place: int | None
    skills: int
    transferable: int
    expiring: int
    version: int


@dataclass(frozen=True)
class Wanted:
    """Which part of a listing. `words` are folded; `limit` None is all."""

    order: SkillOrder = SkillOrder.NAME
    descending: bool = False
    words: tuple[str, ...] = ()
    tag: str | None = None
    around: str | None = None
    offset: int = 0
    limit: int | None = None


@dataclass(frozen=True, eq=False, slots=True)  # found again by identity, which costs a comparison of pointers
class _Kept:
    row: SkillRow
    name: str
    text: str


class LiveListing:
    """What is listed of a store's live skills. Safe to use from several threads."""

    def __init__(self, store: Store, loading: Loading | None = None) -> None:
        self._store, self._told_loading, self._lock = store, loading, threading.Lock()
        self._store_id, self._version = "", 0
        self._kept: dict[str, _Kept] = {}
        self._expiries: list[datetime] = []
        self._transferable = 0
        self._sorted: tuple[object, list[_Kept]] = (None, [])
        self._found: tuple[object, list[_Kept]] = (None, [])

    def look(self, wanted: Wanted) -> Listing:
        """The part that is wanted, as the store has it now. Costs one round trip if nothing changed."""
        with self._lock:
            self._refresh()
            now = self._store.clock()
            self._drop_expired(now)
            found = self._in_order(wanted)
            place = self._place(found, wanted.around)
            offset = wanted.offset
            if place is not None and wanted.limit is not None:
                offset = max(0, min(place - wanted.limit // 2, len(found) - wanted.limit))
            end = len(found) if wanted.limit is None else offset + wanted.limit
            return Listing(
                total=len(found),
                offset=offset,
                rows=tuple(kept.row for kept in found[offset:end]),
                place=place,
                skills=len(self._kept),
                transferable=self._transferable,
                expiring=bisect_right(self._expiries, now + EXPIRING_SOON),
                version=self._version,
            )

    # Staying what the store holds

    def _refresh(self) -> None:
        changes = self._store.changes(self._version)
        if not self._follow(changes):
            self._fill()
            self._follow(self._store.changes(self._version))  # a store replaced meanwhile is read anew at the next look

    def _follow(self, changes: Changes) -> bool:
        """Brings in what changed, page by page; whether all of it fits what is kept."""
        while not changes.stale and changes.store_id == self._store_id:
            ids = [entry.id for entry in changes.entries]
            if ids or changes.deleted:
                self._replace([*ids, *changes.deleted], self._store.rows(ids) if ids else ())
            self._version = changes.version
            if not changes.more:
                return True
            changes = self._store.changes(self._version)
        return False

    def _fill(self) -> None:
        """Reads everything; what is written meanwhile is caught up with."""
        changes, total = self._store.changes(0), self._store.count()
        pages: list[list[SkillRow]] = []
        done = 0
        for page in self._store.rows(None, LOADED_AT_ONCE):
            pages.append(page)
            done += len(page)
            self._tell_loading(done, max(total, done + 1))
        self._replace(list(self._kept), pages)
        self._tell_loading(done, done)
        self._store_id, self._version = changes.store_id, changes.version

    def _replace(self, gone: Iterable[str], pages: Iterable[Sequence[SkillRow]]) -> None:
        for skill_id in gone:
            self._kept.pop(skill_id, None)
        for page in pages:
            self._kept.update((row.id, _Kept(row, fold(row.name), _searched(row))) for row in page)
        self._count()

    def _drop_expired(self, now: datetime) -> None:
        if self._expiries and self._expiries[0] <= now:
            over = [i for i, kept in self._kept.items() if kept.row.expires_at and kept.row.expires_at <= now]
            for skill_id in over:
                del self._kept[skill_id]
            self._count()

    def _count(self) -> None:
        rows = [kept.row for kept in self._kept.values()]
        self._expiries = sorted(row.expires_at for row in rows if row.expires_at)
        self._transferable = sum(row.is_transferable for row in rows)
        self._sorted = self._found = (None, [])

    def _tell_loading(self, done: int, total: int) -> None:
        if self._told_loading:
            self._told_loading(done, total)

    # Ordering and filtering

    def _in_order(self, wanted: Wanted) -> list[_Kept]:
        """All that are wanted. Until something changes the latest order is kept, so that other words are only looked
        for, and what was found by the latest words.
        """
        order = wanted.order, wanted.descending
        if self._sorted[0] != order:
            self._sorted = order, self._in_whole(wanted)
        asked = *order, wanted.words, wanted.tag
        if self._found[0] != asked:
            self._found = asked, _fitting(self._sorted[1], wanted)
        return self._found[1]

    def _in_whole(self, wanted: Wanted) -> list[_Kept]:
        every = sorted(self._kept.values(), key=_KEYS[SkillOrder.ID])
        if wanted.order is not SkillOrder.ID or wanted.descending:  # sorting is stable: ties stay by id
            every.sort(key=_KEYS[wanted.order], reverse=wanted.descending)
        return every

    def _place(self, found: Sequence[_Kept], skill_id: str | None) -> int | None:
        kept = None if skill_id is None else self._kept.get(skill_id)
        try:
            return None if kept is None else found.index(kept)
        except ValueError:
            return None


def known_order(order: str | SkillOrder) -> SkillOrder:
    """The order of this name. Raises `InputError` that lists them."""
    try:
        return SkillOrder(order)
    except ValueError:
        raise InputError(f"{order!r} is no order of skills. Use one of: {', '.join(SkillOrder)}.") from None


def checked(
    order: str | SkillOrder,
    descending: bool,
    text: str,
    tag: str | None,
    around: str | None,
    offset: int,
    limit: int | None,
) -> Wanted:
    """The arguments of `Brain.listing`, checked. Raises `InputError`."""
    known = known_order(order)
    for value, what in ((offset, "offset"), (0 if limit is None else limit, "limit")):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InputError(f"{what} must be a whole number of at least 0, not {value!r}.")
    for given, what in ((text, "text"), (tag or "", "tag"), (around or "", "skill id")):
        try:
            check_text(given)
        except ValueError as error:
            raise InputError(f"The {what} {error}.") from None
    return Wanted(known, bool(descending), tuple(fold(text).split()), tag, around, offset, limit)


def fold(text: str) -> str:
    """`text` as it is compared: without regard to case, width and composition (Unicode NFKC and case folding)."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _searched(row: SkillRow) -> str:
    return fold("\n".join((row.name, row.id, row.domain, *row.tags)))


def _fitting(every: list[_Kept], wanted: Wanted) -> list[_Kept]:
    found = every if wanted.tag is None else [kept for kept in every if wanted.tag in kept.row.tags]
    for word in wanted.words:  # a pass for each word: a loop in a loop takes three times as long
        found = [kept for kept in found if word in kept.text]
    return found


_KEYS: dict[SkillOrder, Callable[[_Kept], Any]] = {
    SkillOrder.ID: lambda kept: kept.row.id,
    SkillOrder.NAME: lambda kept: kept.name,
    SkillOrder.DOMAIN: lambda kept: fold(kept.row.domain),
    SkillOrder.CONFIDENCE: lambda kept: kept.row.confidence,
    SkillOrder.USES: lambda kept: (kept.row.usage_count, kept.row.confidence),  # as the summary has the most used
    SkillOrder.SUCCESS: lambda kept: kept.row.success_rate,
    SkillOrder.TRANSFERS: lambda kept: kept.row.transfer_count,
    SkillOrder.TAGS: lambda kept: fold("\0".join(kept.row.tags)),  # tag by tag: nothing sorts before it
    SkillOrder.EXPIRY: lambda kept: kept.row.expires_at or _LATEST,
    SkillOrder.UPDATED: lambda kept: kept.row.updated_at,
}
