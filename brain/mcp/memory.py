"""Which brain does a server work on? One that is opened while the server already answers, and again if that failed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from brain.engine.sync import SyncBrain


class Memory:
    """A brain that is opened when it is first needed.

    A model's client waits for the first answer of a server for some seconds only; a store that is down, or an embedder
    that takes its time to load, must not use them up. Opening that failed is tried again at the next call.
    """

    def __init__(self, opening: Callable[[], SyncBrain]) -> None:
        self._opening, self._lock = opening, threading.Lock()
        self._brain: SyncBrain | None = None
        self._uses: Counter[SyncBrain] = Counter()

    def brain(self) -> SyncBrain:
        """The open brain; whoever asks meanwhile waits. Raises what opening it raises."""
        with self._lock:
            if self._brain is None:
                self._brain = self._opening()
            return self._brain

    @contextmanager
    def using(self) -> Iterator[SyncBrain]:
        """The open brain, which stays open until the end of the block even if it is let go meanwhile."""
        while True:
            brain = self.brain()
            with self._lock:
                if self._brain is brain:
                    self._uses[brain] += 1
                    break
        try:
            yield brain
        finally:
            with self._lock:
                self._uses[brain] -= 1
                is_last = not self._uses[brain]
                if is_last:
                    del self._uses[brain]
                was_let_go = self._brain is not brain
            if is_last and was_let_go:
                brain.close()

    def let_go(self, brain: SyncBrain) -> None:
        """Has the next use open another brain in place of this one, whose file was replaced. Its last use closes it."""
        with self._lock:
            if self._brain is brain:
                self._brain = None

    def close(self) -> None:
        """Frees the store."""
        with self._lock:
            brain, self._brain = self._brain, None
        if brain is not None:
            brain.close()
