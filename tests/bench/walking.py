"""What does looking around in the graph cost? Breadth first at two depths, with four edges a skill on average."""

from __future__ import annotations

import random

from brain.engine.memory import new_operation
from brain.model.relations import Edge, Relation
from tests.bench.case import Case
from tests.bench.places import TimedEmbedder
from tests.bench.timing import in_turns
from tests.bench.writing import shown_ids

WRITTEN_AT_ONCE = 5_000


def walks(case: Case) -> None:
    """Adds the edges, then walks from skills drawn at random."""
    draw = random.Random(4)
    with case.place.open(embedder=TimedEmbedder(), cache=False) as brain:
        ids, kinds = shown_ids(brain), list(Relation)
        left = 2 * len(ids)
        while left > 0:
            pairs = [draw.sample(ids, 2) for _ in range(min(left, WRITTEN_AT_ONCE))]
            edges = [Edge(source=a, target=b, relation=draw.choice(kinds)) for a, b in pairs]
            brain._store.restore_edges(edges, operation=new_operation())
            left -= len(edges)
        reached: dict[int, list[int]] = {2: [], 4: []}

        def walk(depth: int) -> None:
            reached[depth].append(len(brain.skill_graph.get_related_skills(draw.choice(ids), max_depth=depth)))

        for depth in reached:
            walk(depth)
        calls = {"depth 2": lambda: walk(2), "depth 4": lambda: walk(4), "floor": case.place.floor}
        case.note("walk,", in_turns(calls, case.rounds(100)))
        for depth, counts in reached.items():
            case.count(f"walk, skills within {depth}", sum(counts) / len(counts))
