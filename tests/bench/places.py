"""Which stores are measured, and what is the plain way to do the same? One `Place` a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from brain import SyncBrain
from brain.store.values import Draft
from tests.bench.drafts import NAMESPACE
from tests.bench.skills import WordEmbedder
from tests.bench.timing import Watch


class TimedEmbedder(WordEmbedder):
    """The embedder of the benchmarks, which says how long it took."""

    def __init__(self) -> None:
        self.watch = Watch()

    def encode(self, texts: list[str]) -> np.ndarray:
        return self.watch.around(super().encode)(texts)


class Place:
    """One store, empty at first. `location` is what `Brain.open` takes; `floor_name` says what the floor is."""

    kind = ""
    floor_name = ""
    plain_name = ""
    """What `plain_write` is."""

    def __init__(self, location: str) -> None:
        self.location = location

    def open(self, **options: Any) -> SyncBrain:
        """A brain in the benchmark's namespace."""
        return SyncBrain.open(self.location, namespace=NAMESPACE, embedder=options.pop("embedder", None), **options)

    def floor(self) -> Any:
        """The least round trip, by the kind of call that a read makes."""
        raise NotImplementedError

    def write_floor(self) -> Any:
        """The least round trip, by the kind of call that a write makes."""
        raise NotImplementedError

    def versions(self) -> str:
        """Server and driver."""
        raise NotImplementedError

    def counters(self, count: int) -> list[Callable[[int], Any]]:
        """Functions that raise a bare counter by one, each a client's; of `count` counters in all."""
        raise NotImplementedError

    def plain_rows(self, drafts: Sequence[Draft]) -> Any:
        """What `plain_write` takes: the same nodes as `Store.save_many` writes, as the driver takes them."""
        raise NotImplementedError

    def plain_write(self, rows: Any) -> None:
        """Writes one batch the plain way, in one transaction."""
        raise NotImplementedError

    def plain_store(self, drafts: Sequence[Draft]) -> None:
        """Writes what is stored the plain way too, where a larger store takes longer to write and delete in."""

    def plain_delete(self, size: int) -> int:
        """Deletes some of what `plain_write` wrote, in one transaction; how many skills."""
        raise NotImplementedError

    def attempts(self, brain: SyncBrain) -> Callable[[], int]:
        """Gives how many transactions were begun since the last time; 0 where none is ever tried again."""
        return lambda: 0

    def empty(self) -> None:
        """Removes what is stored in the namespace, as if nothing ever was."""
        raise NotImplementedError

    def clear(self) -> None:
        """Removes all that the benchmark wrote."""
        raise NotImplementedError

    def close(self) -> None:
        """Frees connections."""

    def warm_up(self, calls: int = 1_000) -> None:
        """Makes the server ready: its first calls are its slowest."""
        for _ in range(calls):
            self.floor()
        for _ in range(calls // 10):
            self.write_floor()
