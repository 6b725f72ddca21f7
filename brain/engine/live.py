"""How does the recall index stay what the store holds? `LiveIndex`: filled once, then kept fresh by the change feed."""

from __future__ import annotations

import ctypes
import logging
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from brain.analysis.profile import ANALYSIS_VERSION, profile_of_skill
from brain.analysis.terms import version_of
from brain.engine.image import table_of
from brain.engine.index import RecallIndex
from brain.engine.snapshot import Snapshots
from brain.errors import StoreError
from brain.model.policy import Policy
from brain.store.base import PAGE, Store
from brain.store.values import Changes, new_operation

log = logging.getLogger(__name__)

LOADED_AT_ONCE = 1_000
"""Skills that are read at a time when the index is filled: with five times as many it keeps 17 MB more at 100 000, and
takes as long."""

Loading = Callable[[int, int], Any]
"""Told how many skills of how many the recall index has read."""


class LiveIndex:
    """The recall index of a store. `refresh` before looking into it, `apply` what a look at the store brought."""

    def __init__(
        self,
        store: Store,
        policy: Policy,
        dimension: int | None,
        *,
        snapshots: Snapshots | None = None,
        loading: Loading | None = None,
    ) -> None:
        self.index = RecallIndex(policy, dimension)
        self._store, self._policy, self._vectors = store, policy, dimension is not None
        self._snapshots, self._told_loading, self._filling = snapshots, loading, threading.Lock()
        self._merging: threading.Thread | None = None
        self._starting, self._closed = threading.Lock(), False

    def refresh(self) -> None:
        """Makes the index ready to be scored: begun with the snapshot or read once, and nothing in it unread."""
        if not self.index.store_id:
            with self._filling:
                if not self.index.store_id and not self._begin_with_snapshot():
                    self._fill()
        self._read_unread()

    def apply(self, changes: Changes, since: int) -> None:
        """Brings in what changed after version `since` and what came later, and analyses anew what has to be."""
        if not self._follow(changes, since):
            shown = self.index.store_id, self.index.version
            with self._filling:
                if shown == (self.index.store_id, self.index.version):  # no other thread was quicker
                    self._fill()
        self._read_unread()
        self._merge_aside()

    def look(self) -> None:
        """Brings in what changed since the last look."""
        since = self.index.version
        self.apply(self._store.changes(since), since)

    def close(self) -> None:
        """Waits for a merge, and for a snapshot that is being written; no merge is begun from then on."""
        with self._starting:
            self._closed = True
        if self._merging is not None:
            self._merging.join()
        if self._snapshots:
            self._snapshots.close()

    def _merge_aside(self) -> None:
        """Has what grew in the index merged by a thread of its own, so that no recall waits for it."""
        with self._starting:
            busy = self._merging is not None and self._merging.is_alive()
            if not busy and not self._closed and self.index.has_due():
                self._merging = threading.Thread(target=self.index.merge, name="brain-merge")
                self._merging.start()

    def forget_snapshot(self) -> bool:
        """Removes the snapshot that a later process would begin with; whether one is kept at all."""
        if not self._snapshots:
            return False
        self._snapshots.remove()
        return True

    def _begin_with_snapshot(self) -> bool:
        """Shows the snapshot as the index, brought up to date; whether there is one that fits the store."""
        image = self._snapshots.file.read() if self._snapshots else None
        if image is None:
            return False
        try:
            table = table_of(image, self._policy)
        except (KeyError, ValueError, TypeError, IndexError) as error:
            log.debug("The snapshot is not used: %s", error)
            return False
        changes = self._store.changes(image.version)
        if changes.stale or changes.store_id != image.store_id or image.notes.get("mark") not in self._store.marks():
            return False  # of another store, or of another history of this one
        self.index.show(image.store_id, image.version, table)
        return self._follow(changes, image.version)

    def _fill(self) -> None:
        """Reads everything that recall needs; what is written meanwhile is caught up with."""
        changes = self._store.changes(0)
        filling, total = self.index.filling(), self._store.count()
        for page in self._store.entries(LOADED_AT_ONCE, vectors=self._vectors):
            filling.add(page)
            self._tell_loading(len(filling.table), max(total, len(filling.table) + 1))
        if filling.table.vectors is not None:
            filling.table.vectors.prepare()
        self._tell_loading(len(filling.table), len(filling.table))
        self.index.show(changes.store_id, changes.version, filling.table, filling.unread)
        _give_back_memory()
        self._note_changed(len(self.index))
        since = self.index.version
        self._follow(self._store.changes(since), since)  # a store replaced meanwhile is begun anew at the next look

    def _tell_loading(self, done: int, total: int) -> None:
        if self._told_loading:
            self._told_loading(done, total)

    def _follow(self, changes: Changes, since: int) -> bool:
        """Brings in what changed after version `since`, page by page; whether all of it fits the view."""
        while self.index.fits(changes):
            self.index.apply(changes, since)
            self._note_changed(len(changes.entries) + len(changes.deleted))
            if not changes.more:
                return True
            since = self.index.version
            changes = self._store.changes(since)
        return False

    def _note_changed(self, count: int) -> None:
        if self._snapshots and count:
            self._snapshots.changed(count, len(self.index), self.index.image)

    def _read_unread(self) -> None:
        """Analyses, a page at a time, the skills whose text has to be read before they can be scored.

        What was analysed by an older version, or never, is written back, so that it is done once.
        """
        unread, version = self.index.unread(), self.index.version
        for start in range(0, len(unread), PAGE):
            page = {entry.id: entry for entry in unread[start : start + PAGE]}
            found = self._store.get_many(list(page))
            analysed = [(page[skill.id], skill, profile_of_skill(skill)) for skill in found]
            self.index.read(analysed)
            older = [(s, profile) for e, s, profile in analysed if version_of(e.terms) < ANALYSIS_VERSION]
            self._write_back([(s.id, s.version, profile.to_text(), profile.to_bytes()) for s, profile in older])
            self.index.drop(page.keys() - {skill.id for skill in found}, as_of=version)

    def _write_back(self, renewed: Sequence[tuple[str, int, str, bytes]]) -> None:
        try:
            if renewed:
                self._store.set_profiles(renewed, operation=new_operation())
        except StoreError as error:  # a reader without the right to write recalls all the same
            log.warning("The analysis of %d skills could not be kept: %s", len(renewed), error)


def _give_back_memory() -> None:
    """Hands freed memory back to the system. Linux's allocator keeps it else: 446 MB at 100 000 skills, not 312."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
