"""The first recall of a process, as a process of its own: prints how long its parts took and what memory it needed.

Times begin when the brain is open, so the connection and the check of the schema are not in them. With "memory" the
word lists are read before the memory is measured, so that what is left is the index.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from typing import Any

import psutil

from brain import SyncBrain
from tests.bench.places import TimedEmbedder
from tests.bench.skills import Source


def main(location: str, namespace: str, cache: str, first: str) -> None:
    source, process, told = Source(int(first)), psutil.Process(), list[int]()
    context = source.task()
    embedder = TimedEmbedder()

    def loading(count: int, _: int) -> None:
        told.append(count)

    begun = time.perf_counter()
    options: dict[str, Any] = {"embedder": embedder, "cache": cache == "cache", "loading": loading}
    with SyncBrain.open(location, namespace=namespace, **options) as brain:
        opened = time.perf_counter()
        embedder.watch.take()
        if cache == "memory":
            brain.transfer_engine._request(source.plan(), 5, 0.3)
        gc.collect()
        before, begin, busy = process.memory_info().rss, time.perf_counter(), time.process_time()
        found = brain.recall(context)
        seconds, busy = time.perf_counter() - begin, time.process_time() - busy
        gc.collect()
        print(
            json.dumps(
                {
                    "seconds": seconds - embedder.watch.take(),
                    "processor": busy,
                    "open": opened - begun,
                    "megabytes": (process.memory_info().rss - before) / 1e6,
                    "skills": len(brain._memory.index),
                    "found": len(found),
                    "progress": len(told),
                }
            )
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
