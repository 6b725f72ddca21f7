"""How fast do whole skills come in? The bulk path of the store beside plain writes of the same nodes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import Any

from brain.engine.memory import new_operation
from tests.bench.case import Case
from tests.bench.drafts import NAMESPACE
from tests.bench.places import TimedEmbedder
from tests.bench.skills import Source
from tests.bench.timing import Times, timed

COMPARED = 5
"""Batches of the fill that are compared with plain writes; they are the last ones, when the store is nearly full."""

QUICKLY, LONG = 5.0, 20.0
"""Seconds of recalls at 10 a second, in quiet and during an import."""
MOST_IMPORTED = 20_000
"""Skills that are imported meanwhile at most, or twice as many as are stored."""


def fill(case: Case) -> None:
    """Stores the skills of a case; measures the last batches in turns with plain writes."""
    size = min(1_000, case.size // COMPARED)
    batches = case.drafts.first(case.size, size)
    count = -(-case.size // size)
    with case.place.open(embedder=TimedEmbedder(), cache=False) as brain:
        store = brain._store
        assert brain._memory.embedding
        brain._memory.embedding.note(store, new_operation())
        own, plain = Times(), Times()
        for place, drafts in enumerate(batches):
            write = lambda drafts=drafts: store.save_many(drafts, operation=new_operation())  # noqa: E731
            seconds = timed(write)
            if place < count - COMPARED:
                case.place.plain_store(drafts)
                continue
            own.seconds.append(seconds / len(drafts))
            rows = case.place.plain_rows(drafts)
            plain.seconds.append(timed(lambda rows=rows: case.place.plain_write(rows)) / len(drafts))
        skills = list(Source(99).skills(200))
        analysis = Times([timed(lambda: brain._memory.drafts(skills, embedded=False)) / len(skills)])
    case.note("import, a skill:", {"store": own, "plain": plain, "analysis of a skill without profile": analysis})
    while case.place.plain_delete(1_000):
        pass


def warm_up(case: Case) -> None:
    """Writes, recalls and removes some skills, so that the server has seen every kind of statement."""
    drafts = case.drafts.batch(0)
    with case.place.open(embedder=TimedEmbedder(), cache=False) as brain:
        for start in range(0, len(drafts), 100):
            batch = drafts[start : start + 100]
            brain._store.save_many(batch, operation=new_operation())
            case.place.plain_write(case.place.plain_rows(batch))
        source = Source(1)
        for draft in drafts[:200]:
            brain.recall(source.task())
            brain.feedback(draft.skill.id, source.task(), True)
    while case.place.plain_delete(100):
        pass
    case.place.empty()


def recall_meanwhile(case: Case) -> None:
    """Ten recalls a second, first in quiet, then while another process imports at full speed."""
    source = Source(31)
    contexts = [source.task() if i % 2 else source.plan() for i in range(50)]
    with case.place.open(embedder=TimedEmbedder(), cache=False) as brain:
        for context in contexts[:10]:
            brain.recall(context)
        quiet = _paced(brain, contexts, QUICKLY if case.quick else LONG, lambda: 0)[0]
        before = len(brain._memory.index)
        importer = _Importer(case)
        importer.start()
        busy, unseen = _paced(brain, contexts, 120.0, importer.committed, before, importer)
        importer.end()
    case.note("recall at 10 a second:", {"quiet": quiet, "during an import": busy})
    case.count("recalls that missed a committed batch", unseen)
    case.count("skills a second that were imported meanwhile", importer.rate)


def _paced(
    brain: Any, contexts: list[Any], seconds: float, committed: Any, before: int = 0, importer: Any = None
) -> tuple[Times, int]:
    """Latencies from the moment when each recall was due; how many did not see what was committed before it began."""
    times, unseen, begun = Times(), 0, time.perf_counter()
    for i in range(int(seconds * 10)):
        if importer is not None and importer.is_done:
            break
        due = begun + i / 10
        time.sleep(max(0.0, due - time.perf_counter()))
        known = committed()
        brain.recall(contexts[i % len(contexts)])
        times.seconds.append(time.perf_counter() - due)
        unseen += len(brain._memory.index) < before + known
    return times, unseen


class _Importer:
    """A process that writes batches as fast as it can, and says what it has committed."""

    def __init__(self, case: Case) -> None:
        self._note = 0
        files = [str(case.drafts.path(number)) for number in case.spare]
        until = [str(QUICKLY if case.quick else LONG), str(max(MOST_IMPORTED, 2 * case.size))]
        command = [sys.executable, "-m", "tests.bench.importer", case.place.location, NAMESPACE, *until, *files]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.rate, self.is_done = 0.0, False
        assert self._process.stdout
        self._out = self._process.stdout
        self._out.readline()  # it is ready
        self._thread = threading.Thread(target=self._read)

    def start(self) -> None:
        assert self._process.stdin
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        self._thread.start()

    def committed(self) -> int:
        """Skills that were committed by now."""
        return self._note

    def end(self) -> None:
        self._thread.join()
        self._process.wait()
        assert self._process.stdin
        self._process.stdin.close()
        self._out.close()

    def _read(self) -> None:
        for line in self._out:
            told = json.loads(line)
            self._note, self.rate = told["skills"], told["rate"]
        self.is_done = True
