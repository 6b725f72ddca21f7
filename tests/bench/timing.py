"""How long do calls take beside each other? Measured in turns, so that a noisy machine slows all of them alike."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Call = Callable[[], Any]


@dataclass
class Times:
    """Seconds of single calls of one kind; `wall` is how long all took together, where they ran side by side."""

    seconds: list[float] = field(default_factory=list)
    wall: float = 0.0

    def __len__(self) -> int:
        return len(self.seconds)

    def percentile(self, share: float) -> float:
        """Milliseconds that a share (0..100) of the calls took at most."""
        return float(np.percentile(self.seconds, share)) * 1e3 if self.seconds else float("nan")

    @property
    def p50(self) -> float:
        """Median, milliseconds."""
        return self.percentile(50)

    @property
    def p95(self) -> float:
        """Milliseconds."""
        return self.percentile(95)

    @property
    def rate(self) -> float:
        """Calls a second."""
        return len(self) / (self.wall or sum(self.seconds) or float("nan"))


class Watch:
    """Adds up the seconds that some functions take, so that a part of a call can be told from the rest."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def take(self) -> float:
        """The seconds since the last time."""
        taken, self.seconds = self.seconds, 0.0
        return taken

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, with its time added up here."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - begun

        return timed


def timed(call: Call) -> float:
    """Seconds of one call."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def in_turns(
    calls: Mapping[str, Call],
    rounds: int,
    seldom: Mapping[str, int] | None = None,
    after: Mapping[str, Callable[[float], Any]] | None = None,
) -> dict[str, Times]:
    """Times of each call, `rounds` times in turns; of those in `seldom` only in so many of the rounds.

    Each round begins with another call, so that none always follows the same one. `after` is told the seconds of each
    call of its name.
    """
    found = {name: Times() for name in calls}
    names, seldom, after = list(calls), seldom or {}, after or {}
    step = {name: max(1, rounds // max(1, seldom.get(name, rounds))) for name in names}
    for i in range(rounds):
        start = i % len(names)
        for name in names[start:] + names[:start]:
            if i % step[name] == 0 and len(found[name]) < seldom.get(name, rounds):
                seconds = timed(calls[name])
                found[name].seconds.append(seconds)
                if name in after:
                    after[name](seconds)
    return found


def side_by_side(calls: Sequence[Callable[[int], Any]], count: int) -> Times:
    """Times of `count` calls by each of some clients, a thread each, that begin together; a call gets its number."""
    begin, times = threading.Barrier(len(calls) + 1), [list[float]() for _ in calls]
    faults: list[BaseException] = []

    def client(call: Callable[[int], Any], mine: list[float]) -> None:
        begin.wait()
        try:
            for i in range(count):
                begun = time.perf_counter()
                call(i)
                mine.append(time.perf_counter() - begun)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=client, args=pair) for pair in zip(calls, times, strict=True)]
    for thread in threads:
        thread.start()
    begin.wait()
    begun = time.perf_counter()
    for thread in threads:
        thread.join()
    wall = time.perf_counter() - begun
    if faults:
        raise faults[0]
    return Times([second for mine in times for second in mine], wall)
