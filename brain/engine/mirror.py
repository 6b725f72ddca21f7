"""How does a Redis follow a store, so that OrKa reads what was learned? `Mirror`: delivers, catches up, compares.

The store notes every change in its outbox, in the transaction that makes it. Delivering reads the oldest entries, then
what the store says of their skills now, puts that into Redis, and takes the entries out. An entry that was delivered
twice, or after a newer one, does no harm: see `brain.store.redis.mirrored`. A Redis that was restarted may have lost
what it was given; it tells by another run id, and then everything is compared.
"""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from brain.errors import LocationError, StoreError, StoreUnavailableError
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.store.base import Store
from brain.store.location import REDIS_SCHEMES, open_store
from brain.store.values import OutboxEntry, new_operation

if TYPE_CHECKING:
    from brain.store.redis.mirrored import Copy, Present

log = logging.getLogger(__name__)

MIRROR_VARIABLE = "BRAIN_MIRROR"
"""Environment variable with the location of the mirror, credentials included; the store notes it without them."""
DELIVERED_AT_ONCE = 100
"""Outbox entries that are delivered together."""
COMPARED_AT_ONCE = 200
"""Skills that are compared at a time."""

_PATIENCE, _LONGEST_PAUSE = 60.0, 0.02  # seconds: of a delivery that others overtake again and again
_ABOUT_TO_EXPIRE = timedelta(seconds=3)  # Redis counts whole seconds, so it drops a skill a little early


@dataclass(frozen=True)
class Difference:
    """One skill that is not the same on both sides: "missing" or "different" in the mirror, or "extra" there.

    `details` names what differs. `ours` says of an extra one that it was delivered once.
    """

    skill_id: str
    kind: str
    details: Sequence[str] = ()
    ours: bool = False


class Mirror:
    """The Redis that follows a store. Safe to use from several threads and processes at once."""

    def __init__(self, store: Store, location: str) -> None:
        """Opens the Redis at `location`, without asking it anything. Raises `LocationError`."""
        self.store, self._source = store, ""
        self._copy = _copy_at(location, store)

    @property
    def location(self) -> str:
        """Where the mirror is, without credentials."""
        return self._copy.location

    def close(self) -> None:
        self._copy.close()

    # Whose mirror

    def link(self) -> bool:
        """Notes the mirror in the store, so that every process notes its changes for it; whether it is news.

        Nothing is asked of the Redis, which may be down; `claim` does that. Raises `StoreError` if another mirror is
        noted, but for one that is known here by another name.
        """
        noted = self.store.mirror()
        if noted is None:
            return self.store.set_mirror(self.location, operation=new_operation())
        if noted != self.location and self._copy.source() != self._source_id():
            raise StoreError(
                f"{self.store.location} has the mirror {noted}, so it cannot have {self.location} too. "
                "Take that one off first: brain redis unlink.",
                self.store.location,
            )
        return False

    def unlink(self) -> None:
        """Takes the mirror off the store, with all that waits for it."""
        self.store.set_mirror(None, operation=new_operation())

    def claim(self, *, take_over: bool = False) -> None:
        """Makes sure that the Redis is the mirror of this store. Raises `StoreError` if it is another one's."""
        noted = self._copy.source()
        if noted == self._source_id():
            return
        if self.store.mirror() != self.location:
            raise StoreError(
                f"{self.location} is not the mirror of {self.store.location}. brain redis link makes it that.",
                self.location,
            )
        if noted and not take_over:
            raise StoreError(
                f"{self.location} is the mirror of another store. Take it off there with brain redis unlink, or here "
                "with brain redis link --take-over; or give a prefix of its own: ?prefix=name.",
                self.location,
            )
        if not self._copy.claim(self._source_id(), noted):
            self.claim()

    def release(self) -> None:
        """Makes the Redis nobody's mirror, if it is this store's. Skills stay in it."""
        if self._copy.source() == self._source_id():
            self._copy.release()

    def problem(self) -> str | None:
        """Why nothing can be delivered now; None if it can."""
        try:
            noted = self._copy.source()
        except StoreError as error:
            return str(error)
        if noted and noted != self._source_id():
            return f"{self.location} is the mirror of another store. brain redis link --take-over makes it this one's."
        return None

    def _source_id(self) -> str:
        """The stored namespace's id."""
        self._source = self._source or self.store.changes(0).store_id
        return self._source

    # Delivering

    def sync(self, progress: Callable[[int], Any] = lambda _: None, stop: Callable[[], bool] = lambda: False) -> int:
        """Delivers all that waits, and what a restarted Redis may have lost; how many entries and lost skills.

        `progress` is told of each batch; `stop` is asked between two. Raises `StoreError`.
        """
        self.claim()
        run, done = self._copy.run() or "untold", 0
        while not stop() and (count := self.deliver()):
            done += count
            progress(count)
        if not stop() and self._copy.complete_in() != run:
            lost = self._catch_up(stop)
            if not stop():
                self._copy.note_complete(run)
            done += lost
            progress(lost)
        return done

    def deliver(self) -> int:
        """Delivers the oldest entries of the outbox; how many. Raises `StoreError`."""
        entries = self._oldest()
        if entries:
            self._put(list(dict.fromkeys(entry.skill_id for entry in entries)))
            self.store.delivered(entries[-1].number, operation=new_operation())
        return len(entries)

    def _oldest(self) -> list[OutboxEntry]:
        """The oldest entries, without a gap up to the last of them.

        A server may show a part of what others commit at this moment. The write in between waits for its lock, and so
        until they have committed; after it, everything up to the last number seen before it is there.
        """
        seen = self.store.outbox(DELIVERED_AT_ONCE)
        if not seen:
            return []
        self.store.delivered(0, operation=new_operation())
        return [entry for entry in self.store.outbox(DELIVERED_AT_ONCE) if entry.number <= seen[-1].number]

    def _put(self, skill_ids: Sequence[str]) -> None:
        """Puts skills into the mirror as they are in the store now. Who is overtaken tries smaller parts."""
        from brain.store.redis.mirrored import OvertakenError

        if not skill_ids:
            return
        until, pause = time.monotonic() + _PATIENCE, 0.001
        while time.monotonic() < until:
            marks = self._copy.marks(skill_ids)
            try:
                self._copy.put(self._present(skill_ids), marks, self._source_id())
                return
            except OvertakenError:
                if len(skill_ids) > 1:
                    half = len(skill_ids) // 2
                    self._put(skill_ids[:half])
                    self._put(skill_ids[half:])
                    return
            time.sleep(random.uniform(0, pause))
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise StoreUnavailableError(f"{self.location}: others deliver without a pause. Try again.", self.location)

    def _present(self, skill_ids: Sequence[str]) -> dict[str, Present]:
        """What the store says of some skills; those that it has and cannot read are left out."""
        from brain.store.redis.mirrored import Present

        found = {skill.id: skill for skill in self.store.get_many(skill_ids)}
        absent = [skill_id for skill_id in skill_ids if skill_id not in found]
        unreadable = self.store.profiles(absent) if absent else {}
        return {
            i: self._with_edges(found[i]) if i in found else Present(None) for i in skill_ids if i not in unreadable
        }

    def _with_edges(self, skill: Skill) -> Present:
        from brain.store.redis.mirrored import Present

        return Present(skill, self.store.edges(skill.id))

    def _catch_up(self, stop: Callable[[], bool]) -> int:
        """Puts what is missing or different, and removes what was delivered once and is no longer in the store.

        What others put there themselves stays.
        """
        lost = 0
        for page in self.differences():
            mine = [found.skill_id for found in page if found.kind != "extra" or found.ours]
            self._put(mine)
            lost += len(mine)
            if stop():
                break
        return lost

    # Comparing

    def differences(
        self, *, repair: bool = False, progress: Callable[[int], Any] = lambda _: None
    ) -> Iterator[list[Difference]]:
        """What is not the same on both sides, a page at a time; `repair` makes it so.

        `progress` is told how many skills were compared. What waits in the outbox differs; what is delivered while it
        is compared does not. Raises `StoreError`.
        """
        left = set(self._copy.ids())
        for page in self.store.pages(size=COMPARED_AT_ONCE):
            left.difference_update(skill.id for skill in page)
            found = self._settled(self._compared({skill.id: self._with_edges(skill) for skill in page}))
            if repair:
                self._put([difference.skill_id for difference in found])
            progress(len(page))
            yield found
        only_there = sorted(left)
        for start in range(0, len(only_there), COMPARED_AT_ONCE):
            found = self._settled(self._compared(self._present(only_there[start : start + COMPARED_AT_ONCE])))
            if repair:
                self._put([difference.skill_id for difference in found])
            yield found

    def _settled(self, found: list[Difference]) -> list[Difference]:
        """Those that still differ when they are looked at once more, as others write meanwhile."""
        return self._compared(self._present([difference.skill_id for difference in found])) if found else []

    def _compared(self, present: Mapping[str, Present]) -> list[Difference]:
        """How what the store says of some skills differs from what the mirror says of them now."""
        soon = self.store.clock() + _ABOUT_TO_EXPIRE
        fresh = [i for i, one in present.items() if not (one.skill and one.skill.has_expired(soon))]
        copied = self._copy.present(fresh)
        flaws = self._copy.flaws([skill for i in fresh if (skill := present[i].skill) and copied[i].skill])
        found = [_difference(i, present[i], copied[i], flaws.get(i, [])) for i in fresh]
        different = [difference for difference in found if difference]
        ours = self._copy.marked([d.skill_id for d in different if d.kind == "extra"])
        return [Difference(d.skill_id, d.kind, d.details, d.skill_id in ours) for d in different]


def _difference(skill_id: str, wanted: Present, found: Present, flaws: Sequence[str]) -> Difference | None:
    if wanted.skill is None:
        return Difference(skill_id, "extra") if found.skill else None
    if found.skill is None:
        return Difference(skill_id, "missing")
    left, right = _comparable(wanted.skill), _comparable(found.skill)
    details = sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))
    if _edges(wanted.edges) != _edges(found.edges):
        details.append("edges")
    details += flaws
    return Difference(skill_id, "different", details) if details else None


def _comparable(skill: Skill) -> dict[str, Any]:
    return {key: value for key, value in skill.to_dict().items() if key != "namespace"}


def _edges(edges: Sequence[Edge]) -> list[dict[str, Any]]:
    found = (edge.model_dump(exclude={"source"}) for edge in edges)
    return sorted(found, key=lambda edge: (edge["relation"], edge["direction"], edge["target"], repr(edge["metadata"])))


def _copy_at(location: str, store: Store) -> Copy:
    if location.partition("://")[0] not in REDIS_SCHEMES:
        raise LocationError(f"A mirror is a Redis, such as redis://localhost:6379/0; this is {location!r}.")
    if store.location.partition("://")[0] in (*REDIS_SCHEMES, "memory"):
        raise LocationError(f"{store.location} is a Redis that OrKa reads already: it needs no mirror.", store.location)
    opened = open_store(location, namespace=store.namespace, clock=store.clock)
    from brain.store.redis.mirrored import Copy
    from brain.store.redis.store import RedisStore

    assert isinstance(opened, RedisStore)
    return Copy(opened)


def mirror_of(store: Store, location: str | None = None) -> Mirror | None:
    """The mirror that is noted in `store`, reached by `location` or the environment if the noted one lacks credentials.

    None if none is noted.
    """
    noted = store.mirror()
    if noted is None:
        return None
    given = location or os.environ.get(MIRROR_VARIABLE)
    if given:
        return Mirror(store, given)
    usual = os.environ.get("REDIS_URL", "")
    if usual:
        mirror = Mirror(store, usual)
        if mirror.location == noted:
            return mirror
        mirror.close()
    return Mirror(store, noted)
