"""Which brain does a server work on? One that is opened while the server already answers, and again if that failed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from brain.engine.sync import SyncBrain


class Memory:
    """A brain that is opened when it is first needed.

    A model's client waits for the first answer of a server for some seconds only; a store that is down, or an embedder
    that takes its time to load, must not use them up. Opening that failed is tried again at the next call.
    """

    def __init__(self, opening: Callable[[], SyncBrain]) -> None:
        self._opening, self._lock = opening, threading.Lock()
        self._brain: SyncBrain | None = None

    def brain(self) -> SyncBrain:
        """The open brain; whoever asks meanwhile waits. Raises what opening it raises."""
        with self._lock:
            if self._brain is None:
                self._brain = self._opening()
            return self._brain

    def close(self) -> None:
        """Frees the store."""
        with self._lock:
            brain, self._brain = self._brain, None
        if brain is not None:
            brain.close()
