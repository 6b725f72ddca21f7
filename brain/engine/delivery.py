"""When does a mirror get what was written? `Delivery`: right after each commit, in a thread that holds up nobody.

A caller waits a moment for its delivery, so that OrKa sees what was learned when the call returns; never longer, and
not at all while the mirror is down. What was not delivered waits in the store.
"""

from __future__ import annotations

import inspect
import logging
import os
import threading
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from brain.engine.mirror import DELIVERED_AT_ONCE, Mirror, mirror_of
from brain.errors import StoreError, StoreUnavailableError
from brain.store.base import Store

log = logging.getLogger(__name__)

UNTOLD = frozenset({"claim_sweep", "set_embedding_stamp", "note_mark", "set_mirror", "delivered"})
"""Writes of a store that put nothing into the outbox, or are the mirror's own."""
WAITED = 0.2
"""Seconds that a caller waits for its delivery at most."""
WAITED_AT_THE_ENDS = 2.0
"""Seconds that opening waits for a first answer, and closing for what is being delivered, at most."""

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds between attempts while the mirror is down


def writes_of(store: type) -> set[str]:
    """The methods of a store that write: every write carries the id of its operation, and nothing else does."""
    methods = inspect.getmembers(store, inspect.isfunction)
    return {name for name, method in methods if "operation" in inspect.signature(method).parameters}


class DeliveringStore:
    """A store after each of whose writes somebody is told; all else is the store's own.

    Every write of the protocol is followed unless it is named in `UNTOLD`, so that a new one cannot be forgotten.
    """

    def __init__(self, behind: Store, after: Callable[[], object]) -> None:
        self.behind = behind
        for name in writes_of(Store) - UNTOLD:
            setattr(self, name, _followed(getattr(behind, name), after))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


def undelivered(store: Store) -> Store:
    """The store itself, without what follows its writes."""
    return store.behind if isinstance(store, DeliveringStore) else store


def _followed(write: Callable[..., Any], after: Callable[[], object]) -> Callable[..., Any]:
    @wraps(write)
    def written(*arguments: Any, **named: Any) -> Any:
        answer = write(*arguments, **named)
        after()
        return answer

    return written


class Delivery:
    """Delivers what one process writes to a store. Its thread starts when it is needed."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._changed, self._owner = threading.Condition(), 0
        self._asked = self._done = 0
        self._met = self._down = self._slow = self._closing = False
        self._refusal: StoreError | None = None
        self._deadline = 0.0
        self._thread: threading.Thread | None = None

    def around(self, store: Store) -> Store:
        """The store, each of whose writes is delivered after its commit, and what waits already with it."""
        return cast(Store, DeliveringStore(store, lambda: self._wait(self._ask())))

    def meet(self) -> StoreError | None:
        """Delivers what waits; gives back why the mirror will never take it, if it says so at once.

        A mirror that is down does not say so.
        """
        self._ask()
        with self._changed:
            self._changed.wait_for(lambda: self._met or self._down, WAITED_AT_THE_ENDS)
            return self._refusal

    def close(self) -> None:
        """Waits a little for what is being delivered, and ends."""
        with self._changed:
            self._closing, self._deadline = True, time.monotonic() + WAITED_AT_THE_ENDS
            self._changed.notify_all()
        if self._thread and self._owner == os.getpid():
            self._thread.join(WAITED_AT_THE_ENDS)
        self._mirror.close()

    def _ask(self) -> int:
        """Asks for a delivery; which one it is."""
        with self._changed:
            self._asked += 1
            if not self._closing and self._owner != os.getpid():  # a fork does not take the thread along
                self._owner = os.getpid()
                self._thread = threading.Thread(target=self._run, daemon=True, name="brain-mirror")
                self._thread.start()
            self._changed.notify_all()
            return self._asked

    def _wait(self, asked: int) -> None:
        """Waits for a delivery; not behind one that took too long already."""
        with self._changed:
            if not self._slow:
                is_over = self._changed.wait_for(lambda: self._done >= asked or self._down or self._closing, WAITED)
                self._slow = not is_over

    def _run(self) -> None:
        """Delivers whenever it is asked, and again and again what could not be delivered. A close lets it finish."""
        pause = _FIRST_PAUSE
        while True:
            with self._changed:
                if self._down:
                    self._changed.wait_for(lambda: self._closing, pause)
                else:
                    self._changed.wait_for(lambda: self._closing or self._asked > self._done)
                if self._closing and (self._down or self._asked == self._done):
                    return
                asked = self._asked
            error = self._delivered(asked)
            pause = min(2 * pause, _LONGEST_PAUSE) if error else _FIRST_PAUSE

    def _delivered(self, asked: int) -> Exception | None:
        """Delivers everything; what went wrong, if anything did. Nothing that goes wrong here may reach a caller."""
        error: Exception | None = None
        try:
            if not self._met:
                self._mirror.claim()
                self._note(met=True)
            self._mirror.sync(lambda count: self._note(asked if count < DELIVERED_AT_ONCE else 0), self._is_over)
            self._note(asked)
        except Exception as found:  # the thread goes on: an unknown error must not end every later delivery
            error = found
        with self._changed:
            if error and not self._down and not self._closing:
                log.warning(
                    "The mirror does not get what is written (%s). It waits in the store, and is delivered when the "
                    "mirror is back; brain redis status tells how much.",
                    error,
                )
            if isinstance(error, StoreError) and not isinstance(error, StoreUnavailableError) and not self._met:
                self._refusal = error
            self._down, self._slow = error is not None, False
            self._changed.notify_all()
        return error

    def _is_over(self) -> bool:
        return self._closing and time.monotonic() > self._deadline

    def _note(self, done: int = 0, met: bool = False) -> None:
        """Lets those go on whose delivery is done: a batch that was not full held all that had been written."""
        with self._changed:
            self._done = max(self._done, done)
            self._met = self._met or met
            self._changed.notify_all()


def delivery_to(location: str | None, store: Store) -> Delivery | None:
    """What delivers to the mirror at `location`, which is noted in `store`; without one, to the mirror that is noted
    already, if any. `Delivery.around` is the store to write to.

    Raises `StoreError` if another mirror is noted, or the Redis is not to be had for this store. One that is down is.
    """
    mirror = mirror_of(store) if location is None else Mirror(store, location)
    if mirror is None:
        return None
    delivery = Delivery(mirror)
    try:
        if location is not None:
            news = mirror.link()
            refusal = delivery.meet()
            if refusal:
                if news:
                    mirror.unlink()
                raise refusal
    except BaseException:
        delivery.close()
        raise
    return delivery
