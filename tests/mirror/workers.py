"""What does another process do? Functions that a spawned process runs, and a writer that is killed."""

import random
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from brain import SyncBrain
from brain.errors import SkillNotFoundError
from tests.contract.samples import execution, skill

IDS = [f"s{i}" for i in range(6)]


def give_feedback(location, namespace, mirror, skill_id, times):
    with SyncBrain.open(location, namespace=namespace, mirror=mirror, cache=False) as brain:
        return sum(brain.feedback(skill_id, {"task": f"t{i}"}, i % 2 == 0).recorded for i in range(times))


def write_on(location, namespace, mirror, seed):
    """Writes this and that until it is killed; prints a line after each."""
    chance = random.Random(seed)
    with SyncBrain.open(location, namespace=namespace, mirror=mirror, cache=False) as brain:
        graph = brain.skill_graph
        graph.save_skill(skill("first"))
        while True:
            one, other = chance.sample(IDS, 2)
            what = chance.random()
            if what < 0.2:
                brain.learn(**execution(f"task {chance.randrange(8)}", f"do {one}", "stop"))
            elif what < 0.5:
                brain.feedback(one, {"task": other}, chance.random() < 0.7)
            elif what < 0.75:
                hours = chance.choice((None, 5, 50))
                expires_at = (datetime.now(UTC) + timedelta(hours=hours)).isoformat() if hours else ""
                tags = [chance.choice("xyz")]
                graph.save_skill(skill(one, tags=tags, description=f"{what}", expires_at=expires_at))
            elif what < 0.85:
                graph.delete_skill(one)
            else:
                with suppress(SkillNotFoundError):
                    graph.add_edge(one, "COMPLEMENTS", other, {"n": what})
            print("done", flush=True)


if __name__ == "__main__":
    write_on(*sys.argv[1:4], int(sys.argv[4]))
