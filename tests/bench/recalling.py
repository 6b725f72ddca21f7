"""How fast is a warm recall, beside the least round trip and beside scans of everything? And are the answers right?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from brain import Policy, SyncBrain
from brain.config import DEFAULT_MIN_SCORE, DEFAULT_TOP_K
from tests.bench.case import Case
from tests.bench.exhaustive import Exhaustive
from tests.bench.place_neo4j import Neo4jPlace
from tests.bench.places import TimedEmbedder
from tests.bench.skills import Source
from tests.bench.timing import Times, Watch, in_turns

PARTS = ("analysis", "scoring", "fetch")


class Recalling:
    """A brain whose recalls are taken apart. What is neither encoding nor one of `PARTS` is explaining."""

    def __init__(self, brain: SyncBrain, embedder: TimedEmbedder) -> None:
        self._brain, self._encoding = brain, embedder.watch
        self._watches = {name: Watch() for name in PARTS}
        self.parts: dict[str, Times] = defaultdict(Times)
        self.asked: list[tuple[Any, list[str]]] = []
        """The queries, each with the ids that were found."""
        engine, memory = brain.transfer_engine, brain._memory
        self._query: Any = None
        request = self._watches["analysis"].around(engine._request)

        def noting(*args: Any) -> Any:
            made = request(*args)
            self._query = made.query
            return made

        engine._request = noting  # type: ignore[method-assign]
        memory.index.best = self._watches["scoring"].around(memory.index.best)  # type: ignore[method-assign]
        memory.store.fetch = self._watches["fetch"].around(memory.store.fetch)  # type: ignore[method-assign]

    def recall(self, context: dict[str, Any]) -> None:
        """One recall, noted."""
        for watch in (self._encoding, *self._watches.values()):
            watch.take()
        found = self._brain.recall(context)
        self.asked.append((self._query, [candidate.skill.id for candidate in found]))

    def note(self, seconds: float) -> float:
        """Notes the parts of the last recall, which took `seconds`; gives its time without the encoding."""
        encoding = self._encoding.take()
        taken = {name: watch.take() for name, watch in self._watches.items()}
        taken["analysis"] -= encoding
        taken["encoding"] = encoding
        taken["explaining"] = seconds - sum(taken.values())
        for name, part in taken.items():
            self.parts[name].seconds.append(part)
        return seconds - encoding

    def forget(self) -> None:
        """Begins anew to note."""
        self.parts, self.asked = defaultdict(Times), []


def warm_recall(case: Case) -> None:
    """Recalls for bare tasks and for plans with steps, each in turns with the floor and the scans."""
    embedder = TimedEmbedder()
    with case.place.open(embedder=embedder) as brain:
        memory, policy = brain._memory, Policy()
        entries = [entry for page in memory.store.entries(20_000, vectors=True) for entry in page]
        every = Exhaustive(entries, policy)
        if isinstance(case.place, Neo4jPlace):
            case.place.copy_rows(entries)
        del entries
        recalling, source = Recalling(brain, embedder), Source(7)
        for name, make in (("task", source.task), ("plan", source.plan)):
            for _ in range(20):
                recalling.recall(make())
            recalling.forget()
            _measure(case, name, recalling, make, every, policy)
        case.count("skills", len(memory.index))
    if isinstance(case.place, Neo4jPlace):
        case.place.remove_rows()


def _measure(
    case: Case,
    name: str,
    recalling: Recalling,
    make: Callable[[], dict[str, Any]],
    every: Exhaustive,
    policy: Policy,
) -> None:
    rounds = case.rounds(200)
    contexts = [make() for _ in range(rounds)]
    turn, judged = iter(contexts), Times()

    def query() -> Any:
        return recalling.asked[-1][0]

    calls: dict[str, Callable[[], Any]] = {
        "recall": lambda: recalling.recall(next(turn)),
        "floor": case.place.floor,
        "numpy scan": lambda: every.scan(query()),
        "matrix product": lambda: every.product(query()),
    }
    seldom = {"numpy scan": case.rounds(100), "matrix product": case.rounds(100)}
    place = case.place
    if isinstance(place, Neo4jPlace):
        calls["Cypher scan"] = lambda: place.scan(query(), (policy.least_shared, policy.least_names))
        seldom["Cypher scan"] = 5 if case.size > 10_000 else case.rounds(25)
    after = {"recall": lambda seconds: judged.seconds.append(recalling.note(seconds))}
    found = in_turns(calls, rounds, seldom, after)
    found["recall with its encoding"], found["recall"] = found["recall"], judged
    found["recall by a numpy scan"] = _scanned(judged, recalling.parts["scoring"], found["numpy scan"])
    case.note(name, found)
    case.note(f"{name}, part of it:", recalling.parts)
    different = 0
    for query, ids in recalling.asked:
        expected = [one.id for one in every.answer(query, DEFAULT_TOP_K, DEFAULT_MIN_SCORE)]
        different += ids != expected
    case.count(f"{name}: answers that differ from the exhaustive scoring", different)
    case.count(f"{name}: answers compared", len(recalling.asked))


def _scanned(recalls: Times, scoring: Times, scan: Times) -> Times:
    """The same recalls, had a numpy scan scored instead of the index: its median in place of each one's scoring."""
    return Times([whole - part + scan.p50 / 1e3 for whole, part in zip(recalls.seconds, scoring.seconds, strict=True)])
