"""What did others change that know no companion? `Follower`: finds it, and brings notes and feed up to it.

OrKa writes documents without telling, and Redis drops those that expired. Once noted, such a change is fed like one of
our own, to every reader. Where the server tells what was touched, only that is compared; else every document is, by
digest, on the server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from brain.store.redis.connection import Backend, Done
from brain.store.redis.layout import Keys
from brain.store.redis.plan import Plan
from brain.store.redis.reading import AT_A_TIME, Reader
from brain.store.redis.writer import Unit

_ATTEMPTS = 20


class Follower:
    """Follows the documents of one namespace. One thread at a time: who asks must see what was found before."""

    def __init__(self, backend: Backend, keys: Keys, reader: Reader, carry_out: Callable[[Plan, str], Done]) -> None:
        self._backend, self._keys, self._reader, self._carry_out = backend, keys, reader, carry_out
        self._lock = threading.RLock()
        self._owed: set[str] = set()
        self._owes_all = True

    def begin(self) -> None:
        """Has the server tell from now on."""
        with self._lock:
            self._listen()

    def catch_up(self, *, fully: bool = True) -> None:
        """Notes all that was changed before this call; unless `fully`, only what is known to have been touched, and
        what stands in the index without a note or the other way round.
        """
        with self._lock:
            self._listen()
            if self._owes_all and (fully or self._is_blind):
                self._note(self._every_id())
                self._owes_all = self._is_blind
                self._owed.clear()
                return
            if not fully and self._owes_all:
                self._owed |= self._strangers()
            self._note(sorted(self._owed))
            self._owed.clear()

    def _listen(self) -> None:
        touched = self._backend.touched(self._keys)
        self._is_blind = touched is None and not self._backend.tells
        if touched is None:
            self._owes_all = True
        else:
            self._owed |= touched

    def _every_id(self) -> list[str]:
        indexed, noted = self._reader.ids(("HKEYS", self._keys.index), ("HKEYS", self._keys.notes))
        return sorted({*indexed, *noted})

    def _strangers(self) -> set[str]:
        indexed, noted = self._backend.read(("HLEN", self._keys.index), ("HLEN", self._keys.notes))
        if indexed == noted:
            return set()
        every, known = self._reader.ids(("HKEYS", self._keys.index), ("HKEYS", self._keys.notes))
        return set(every) ^ set(known)

    def _note(self, skill_ids: Sequence[str]) -> None:
        found = self._backend.differing(self._keys, skill_ids)
        for _ in range(_ATTEMPTS):
            lost: list[str] = []
            for start in range(0, len(found), AT_A_TIME):
                page = found[start : start + AT_A_TIME]
                lost += () if self._adopt(page) else page
            if not lost:
                return
            found = self._backend.differing(self._keys, lost)

    def _adopt(self, skill_ids: Sequence[str]) -> bool:
        """Whether the page could be noted before anybody wrote to one of its skills."""
        unit = Unit(self._backend, self._keys, self._reader)
        indexed = self._backend.read(("HMGET", self._keys.index, *skill_ids))[0]
        for stored, name in zip(unit.load(skill_ids).values(), indexed, strict=True):
            is_known = stored.is_there or stored.raw_note is not None or name is not None
            if is_known and not stored.is_noted:
                unit.adopt(stored, indexed=name is not None)
        return self._carry_out(unit.finished(), "").state != "lost"
