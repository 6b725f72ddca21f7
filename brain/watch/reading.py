"""How does the dashboard ask the store without waiting for it? `Reading`: one thread, the latest question first.

The thread also looks by itself, every second, whether something changed; that costs one round trip. A store that fails
is asked again until it answers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from brain.engine.listing import Listing, SkillOrder
from brain.engine.sync import SyncBrain
from brain.errors import BrainError
from brain.store.base import Store
from brain.store.listing import row_of
from brain.watch.details import Details, read_details

LOOK_EVERY = 1.0
"""Seconds between two looks whether something changed."""
UNKNOWN_VERSION = -1
"""The version of a listing that is shown until the first whole one is read."""
DETAILS_EVERY = 10.0
"""Seconds after which details are read anew though no skill changed: an edge does not change one."""


@dataclass(frozen=True)
class Query:
    """In which order, and with which words."""

    order: SkillOrder = SkillOrder.USES
    descending: bool = True
    text: str = ""


@dataclass(frozen=True)
class Ask:
    """Which part of a listing: `limit` rows from `offset` on, or where the skill `around` stands."""

    query: Query
    offset: int
    limit: int
    around: str | None = None


@dataclass(frozen=True)
class Listed:
    """An answer: what is listed."""

    ask: Ask
    listing: Listing


@dataclass(frozen=True)
class Lost:
    """The store failed; `reason` says how. It is asked again."""

    reason: str


@dataclass(frozen=True)
class Answering:
    """The store answers again after it was lost."""


@dataclass(frozen=True)
class Broken:
    """A defect of this program."""

    error: BaseException


@dataclass
class Progress:
    """How many skills of how many were read for the first listing. Called with both while they are read; calls `then`
    when all of them are.
    """

    done: int = 0
    total: int = 0
    then: Callable[[], object] | None = None

    def __call__(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self.then and self.over:
            self.then()

    @property
    def over(self) -> bool:
        """Whether nothing is being read, so that an answer that does not come is missing."""
        return self.done >= self.total


Answer = Listed | Details | Lost | Answering | Broken


class _Turn(NamedTuple):
    """What is read at one time, and what of it was asked for."""

    ask: Ask | None
    skill_id: str | None
    ask_now: bool
    details_now: bool


class Reading:
    """The thread that reads. `deliver` is called in it with each answer to a question, and with what changed since."""

    def __init__(
        self, brain: SyncBrain, store: Store, deliver: Callable[[Answer], object], *, look_every: float = LOOK_EVERY
    ) -> None:
        self._brain, self._store, self._deliver, self._every = brain, store, deliver, look_every
        self._changed = threading.Condition()
        self._ask: Ask | None = None
        self._skill_id: str | None = None
        self._ask_now = self._details_now = self._stopped = False
        self._begun: float | None = None
        self._listed: Listed | None = None
        self._details: Details | None = None
        self._details_read = 0.0
        self._lost = False
        self._thread = threading.Thread(target=self._run, name="brain-watch-reading", daemon=True)

    def start(self) -> None:
        """Begins to read."""
        self._thread.start()

    def stop(self) -> None:
        """Ends after the answer that is on its way, and waits for that a moment: a server may never answer."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(0.5)

    @property
    def waiting(self) -> float:
        """Seconds for which the store has not answered the present question; 0 if nothing was asked."""
        begun = self._begun
        return time.monotonic() - begun if begun is not None else 0.0

    @property
    def idle(self) -> bool:
        """Whether every question was answered."""
        with self._changed:
            return not (self._ask_now or self._details_now or self._begun is not None)

    def list(self, ask: Ask, *, now: bool = True) -> None:
        """Asks for a part of the listing, at once or when it is looked at next."""
        with self._changed:
            self._ask = ask
            if now:
                self._ask_now = True
                self._changed.notify()

    def describe(self, skill_id: str | None) -> None:
        """Asks for the details of a skill, and again whenever something changed."""
        with self._changed:
            self._skill_id, self._details_now = skill_id, skill_id is not None
            self._changed.notify()

    # In the thread

    def _run(self) -> None:
        try:
            while not self._stopped:
                try:
                    self._look(self._next())
                except BrainError as error:
                    self._say_lost(error)
        except BaseException as error:
            self._deliver(Broken(error))

    def _next(self) -> _Turn:
        """What to ask, as soon as it is asked or it is time to look."""
        with self._changed:
            self._begun = None
            self._changed.wait_for(lambda: self._ask_now or self._details_now or self._stopped, self._every)
            turn = _Turn(self._ask, self._skill_id, self._ask_now, self._details_now)
            self._ask_now = self._details_now = False
            self._begun = time.monotonic()
            return turn

    def _look(self, turn: _Turn) -> None:
        if self._stopped:
            return
        before = self._listed.listing.version if self._listed else None
        if self._listed is None and turn.ask and turn.ask.query == Query():
            self._read_first(turn.ask)
        if turn.ask is not None and (turn.ask_now or not turn.details_now):
            self._tell(self._read(turn.ask), turn.ask_now)
        changed = self._listed is not None and self._listed.listing.version != before
        old = time.monotonic() - self._details_read > DETAILS_EVERY
        if turn.skill_id is not None and (turn.details_now or changed or old):
            self._tell(read_details(self._store, turn.skill_id), turn.details_now)

    def _read_first(self, ask: Ask) -> None:
        """The most used, which every store has at hand, are shown while the others are read for the first time."""
        found = self._store.summary(ask.limit)
        rows = tuple(map(row_of, found["top_skills"]))
        total, transferable = found["total_skills"], found["transferable_skills"]
        listing = Listing(total, 0, rows, None, total, transferable, expiring=0, version=UNKNOWN_VERSION)
        self._deliver(Listed(ask, listing))

    def _read(self, ask: Ask) -> Listed:
        query = ask.query
        listing = self._brain.listing(
            query.order,
            descending=query.descending,
            text=query.text,
            around=ask.around,
            offset=ask.offset,
            limit=ask.limit,
        )
        return Listed(ask, listing)

    def _tell(self, answer: Listed | Details, asked: bool) -> None:
        if self._lost:
            self._lost = False
            self._deliver(Answering())
        if isinstance(answer, Listed):
            news, self._listed = answer != self._listed, answer
        else:
            news, self._details = answer != self._details, answer
            self._details_read = time.monotonic()
        if news or asked:
            self._deliver(answer)

    def _say_lost(self, error: BrainError) -> None:
        self._lost = True
        self._deliver(Lost(str(error)))
        with self._changed:  # what could not be answered is asked again, after a moment
            self._details_now = self._skill_id is not None
            self._begun = None
            self._changed.wait_for(lambda: self._ask_now or self._stopped, self._every)
            self._ask_now = True
