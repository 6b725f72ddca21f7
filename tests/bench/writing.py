"""How fast are learn and feedback, alone and side by side, beside the least round trip and a bare counter?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from brain import SyncBrain
from tests.bench.case import Case
from tests.bench.places import TimedEmbedder
from tests.bench.skills import Source
from tests.bench.timing import Times, in_turns, side_by_side

OUTCOME = {"success": True, "quality": 0.8}
CLIENTS, MANY = 4, 8


def writes(case: Case) -> None:
    """Learn and feedback by one client in turns with the floor, then by several at once."""
    embedder = TimedEmbedder()
    with case.place.open(embedder=embedder, cache=False) as brain:
        ids = shown_ids(brain)
        for told in _executions(3, 10):
            brain.learn(*told, OUTCOME)
        _one_client(case, brain, embedder, ids)
        _four_clients(case, brain, ids)
        _eight_threads(case, brain, ids)


def _one_client(case: Case, brain: SyncBrain, embedder: TimedEmbedder, ids: list[str]) -> None:
    rounds, without_encoding = case.rounds(150), Times()
    executions, tasks = _executions(4, rounds), Source(5)
    picked = iter(_spread(ids, rounds))
    embedder.watch.take()
    calls: dict[str, Callable[[], Any]] = {
        "learn": lambda: brain.learn(*next(executions), OUTCOME),
        "feedback": lambda: brain.feedback(next(picked), tasks.task(), True),
        "floor": case.place.floor,
        "write floor": case.place.write_floor,
    }
    stored = brain._store.count()
    after = {"learn": lambda seconds: without_encoding.seconds.append(seconds - embedder.watch.take())}
    found = in_turns(calls, rounds, after=after)
    found["learn with its encoding"], found["learn"] = found["learn"], without_encoding
    case.note("write,", found)
    case.count("share of learns that created a skill", (brain._store.count() - stored) / rounds)


def _four_clients(case: Case, brain: SyncBrain, ids: list[str]) -> None:
    count = case.rounds(50)
    for clients in (1, CLIENTS):
        told = [list(_executions(100 * clients + i, count)) for i in range(clients)]
        learns = [lambda i, mine=mine: brain.learn(*mine[i], OUTCOME) for mine in told]
        tasks = Source(6)
        told_of = [[(skill_id, tasks.task()) for skill_id in _spread(ids, count, first)] for first in range(clients)]
        uses = [lambda i, mine=mine: brain.feedback(*mine[i], True) for mine in told_of]
        case.note(f"{clients} clients,", {"learn": side_by_side(learns, count), "feedback": side_by_side(uses, count)})


def _eight_threads(case: Case, brain: SyncBrain, ids: list[str]) -> None:
    """Feedback by eight threads on one skill and on different ones, in turns with bare counters."""
    count, turns = case.rounds(50), 3
    context = Source(8).task()
    one, several = case.place.counters(1) * MANY, case.place.counters(MANY)
    same = [lambda _: brain.feedback(ids[0], context, True)] * MANY
    different = [lambda _, mine=mine: brain.feedback(mine, context, True) for mine in _spread(ids, MANY)]
    kinds = {"one counter": one, "eight counters": several, "one skill": same, "different skills": different}
    attempts, begun = case.place.attempts(brain), 0
    found = {name: Times() for name in kinds}
    for _ in range(turns):
        for name, calls in kinds.items():
            attempts()
            times = side_by_side(calls, count)
            found[name].seconds += times.seconds
            found[name].wall += times.wall
            begun += max(0, attempts() - len(times)) if "skill" in name else 0
    case.note("8 threads,", found)
    case.count("share of feedbacks by 8 threads that were tried again", begun / (2 * turns * MANY * count))


def _executions(seed: int, count: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Traces with their contexts; each tells something new."""
    source = Source(50_000 + seed)
    for _ in range(count):
        plan = source.plan()
        yield {"steps": plan.pop("steps")}, plan


def _spread(ids: list[str], count: int, first: int = 0) -> list[str]:
    """Some ids from all over, each once while there are enough."""
    step = max(1, len(ids) // count)
    return [ids[(first + i * step) % len(ids)] for i in range(count)]


def shown_ids(brain: SyncBrain) -> list[str]:
    """The skills in the view of recall."""
    memory = brain._memory
    memory.live.refresh()
    with memory.index.shown(memory.now) as table:
        return table.live_ids()
