"""What does forgetting cost? A sweep with nothing to do, and one of a tenth of the skills, while others go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

from brain import SyncBrain
from brain.engine.memory import SWEEP_BATCH, new_operation
from brain.store.values import Draft
from tests.bench.case import Case
from tests.bench.places import TimedEmbedder
from tests.bench.skills import Source
from tests.bench.timing import Times, in_turns, timed
from tests.bench.writing import shown_ids

LONG_AGO = "2020-01-01T00:00:00+00:00"
WRITTEN_AT_ONCE = 500


def sweeps(case: Case) -> None:
    """The two sweeps."""
    with case.place.open(embedder=TimedEmbedder(), cache=False) as brain:
        brain.recall(Source(2).task())
        calls = {"nothing expired": brain.cleanup_expired_skills, "floor": case.place.floor}
        case.note("sweep,", in_turns(calls, case.rounds(200)))
        for drafts in case.drafts.first(case.size):
            case.place.plain_store(drafts)
        count = _write(case, brain, plain=True)
        _beside_plain_deletes(case, brain)
        _write(case, brain, plain=False)
        _while_others_go_on(case, brain, count)


def _beside_plain_deletes(case: Case, brain: SyncBrain) -> None:
    """Batches of the sweep in turns with plain deletes of the same nodes."""
    own, plain = Times(), Times()
    size = min(SWEEP_BATCH, max(100, case.size // 50))
    gone, left = size, case.size // 10
    while gone and left > 0:
        gone = 0
        for times, call in (
            (own, lambda: brain._store.sweep(size, operation=new_operation())),
            (plain, lambda: case.place.plain_delete(size)),
        ):
            begun = time.perf_counter()
            removed = call()
            if removed:
                times.seconds += [(time.perf_counter() - begun) / removed] * removed
            gone += removed
        left -= size
    case.note("sweep of a tenth, a skill:", {"store": own, "plain": plain})


def _while_others_go_on(case: Case, brain: SyncBrain, count: int) -> None:
    """The whole sweep, while another thread recalls and gives feedback."""
    source, done = Source(12), threading.Event()
    skill_id = shown_ids(brain)[0]
    reads, writes = Times(), Times()

    def others() -> None:
        while not done.wait(0.01):
            reads.seconds.append(timed(lambda: brain.recall(source.task())))
            writes.seconds.append(timed(lambda: brain.feedback(skill_id, source.task(), True)))

    thread = threading.Thread(target=others)
    thread.start()
    begun = time.perf_counter()
    deleted = brain.cleanup_expired_skills()["deleted"]
    seconds = time.perf_counter() - begun
    done.set()
    thread.join()
    assert deleted == count, (deleted, count)
    case.note("during a sweep,", {"recall": reads, "feedback": writes})
    case.count("during a sweep, longest feedback, ms", writes.percentile(100))
    case.count("seconds of a sweep of a tenth while others go on", seconds)


def _write(case: Case, brain: SyncBrain, *, plain: bool) -> int:
    """Stores expired skills, and the same ones the plain way; how many."""
    count = 0
    for drafts in _expired(case):
        brain._store.save_many(drafts, operation=new_operation())
        if plain:
            case.place.plain_write(case.place.plain_rows(drafts))
        count += len(drafts)
    return count


def _expired(case: Case) -> Iterator[list[Draft]]:
    """A tenth as many skills as are stored, expired long ago."""
    left = case.size // 10
    for number in case.spare:
        drafts = [
            replace(d, skill=d.skill.model_copy(update={"expires_at": LONG_AGO})) for d in case.drafts.batch(number)
        ]
        drafts = drafts[:left]
        left -= len(drafts)
        yield from (drafts[start : start + WRITTEN_AT_ONCE] for start in range(0, len(drafts), WRITTEN_AT_ONCE))
