"""Are many skills saved, listed and recalled in bounded memory, on every store?

`BRAIN_TEST_BULK` sets how many; the default is 20 000 on SQLite and Redis, and 5 000 on Neo4j.
"""

import os
import resource
import sys

import pytest

from tests.contract.raw import raw
from tests.contract.samples import skill

DEFAULT = {"sqlite": 20_000, "neo4j": 5_000, "redis": 20_000}
BATCH = 1_000
LISTING_BYTES = 40_000_000
"""How much the peak of memory may grow while all skills are listed a page at a time."""
SAVING_BYTES = 150_000_000

VERBS = "sort fold carry paint mend count weigh stack rinse polish".split()
THINGS = "letters sheets crates fences nets sheep stones chairs rice brass".split()


def peak():
    """The most memory that this process has held, in bytes."""
    factor = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * factor


def many(start, stop):
    for i in range(start, stop):
        verb, thing = VERBS[i % 10], THINGS[i // 10 % 10]
        task = f"{verb} the {thing} of house number{i}"
        yield skill(
            f"s{i:06}",
            task,
            domain=f"village {i % 100}",
            tags=("all", f"tag {i % 50}"),
            procedure=[
                {"action": f"{verb} the {thing}"},
                {"action": f"look after the {thing}", "description": f"at number{i} " * 5},
                {"action": "tidy up"},
            ],
        )


@pytest.fixture
def cleared(place):
    yield place
    if place.kind == "neo4j":
        raw(place).clear()


@pytest.mark.timeout(900)
def test_many_skills_are_saved_listed_and_recalled_in_bounded_memory(cleared, clock):
    count = int(os.environ.get("BRAIN_TEST_BULK") or DEFAULT[cleared.kind])
    brain = cleared.open(clock=clock)
    brain.skill_graph.save_skills(list(many(0, BATCH)))
    before = peak()
    for start in range(BATCH, count, BATCH):
        brain.skill_graph.save_skills(list(many(start, min(start + BATCH, count))))
    assert peak() - before < SAVING_BYTES

    list(zip(range(BATCH), brain.iter_skills(), strict=False))
    before, seen, last = peak(), 0, ""
    for found in brain.iter_skills():
        assert found.id > last
        last, seen = found.id, seen + 1
    assert seen == count
    assert peak() - before < LISTING_BYTES
    assert sum(1 for _ in brain.iter_skills("tag 7")) == count // 50

    summary = brain.get_skill_summary()
    assert summary["total_skills"] == count

    for i in (0, 1, count // 2, count - 1):
        task = next(many(i, i + 1)).task
        best = brain.recall({"task": task, "domain": f"village {i % 100}"})[0]
        assert best.skill.id == f"s{i:06}"
        assert best.combined_score >= 0.6
    assert brain.recall({"task": "audit kubernetes RBAC"}) == []

    brain.skill_graph.delete_skill(f"s{count // 2:06}")
    again = cleared.open(clock=clock)
    task = next(many(count // 2, count // 2 + 1)).task
    assert f"s{count // 2:06}" not in [c.skill.id for c in again.recall({"task": task}, top_k=50)]
    assert again.observe({"steps": ["fly"]}, {"task": "fly a kite"}, {"success": True}).version == 1
