"""Was something read while another transaction was half shown? `Look`: one attempt to read, and what it doubts.

The server shows what others commit in the middle of a read, piece by piece: a node that is gone has no properties
left, one that is written anew has steps of before and of after. Nobody else can tell such a sight from one that was
damaged by hand but by looking again: the first passes, the second stays.
"""

from __future__ import annotations

TORN_READS = 10
"""How often something doubtful is looked at again before it is taken for what is stored."""
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.03
"""Seconds between two looks: each twice the one before, 0.15 in all. A commit of 200 skills is shown within 0.05."""
SETTLED_KEPT = 10_000
"""Sights that are remembered as what is stored; then all are looked at again."""


class TornReadError(Exception):
    """What was read may be half of what another transaction commits."""


class Look:
    """One attempt to read. `settled` are marks of doubtful sights that stayed as they were, known to a whole store.

    The `last` attempt takes what is there.
    """

    def __init__(self, settled: set[int], *, last: bool) -> None:
        self._settled, self._last = settled, last

    def doubt(self, *sight: object) -> bool:
        """Whether a doubtful sight is taken for what is stored for the first time. Raises `TornReadError` if it is to
        be looked at again.
        """
        mark = hash(repr(sight))
        if mark in self._settled:
            return False
        if not self._last:
            raise TornReadError
        if len(self._settled) >= SETTLED_KEPT:
            self._settled.clear()
        self._settled.add(mark)
        return True
