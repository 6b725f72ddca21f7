"""Is recall fast where there are many skills, and how often does it ask the server?

`pytest -s` shows the figures. Only ratios of one run are held to, as other work may go on beside it.
"""

import time
from statistics import median

import pytest
import redis

from brain import SyncBrain
from brain.store.redis.permissions import rules
from tests.contract.test_bulk import many
from tests.redis.orka import Orka

pytestmark = pytest.mark.redis

COUNT = 10_000
FASTER = 50
"""How often a recall must fit into the time of one GET for each skill, which is how OrKa recalls."""


@pytest.fixture(scope="module")
def filled(redis_server):
    from tests.redis.conftest import Spot

    spot = Spot(redis_server)
    with SyncBrain.open(spot.location, clock=spot.clock, cache=False) as brain:
        for start in range(0, COUNT, 1_000):
            brain.skill_graph.save_skills(list(many(start, start + 1_000)))
    yield spot
    spot.close()


def seconds(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def asking(i):
    return {"task": next(many(i, i + 1)).task, "domain": f"village {i % 100}"}


@pytest.mark.timeout(600)
def test_recall_is_fifty_times_faster_than_a_get_for_each_skill(filled, record_property):
    keys = [filled.keys.document(f"s{i:06}") for i in range(COUNT)]
    with SyncBrain.open(filled.location, clock=filled.clock, cache=False) as brain:
        opening = seconds(lambda: brain.recall(asking(0)))
        figures = [seconds(lambda i=i: brain.recall(asking(i))) for i in range(0, COUNT, 97)]
        gets = seconds(lambda: [filled.client.get(key) for key in keys])
    figure = f"first recall {opening:.2f} s, then {median(figures) * 1000:.2f} ms; {COUNT} GETs {gets:.2f} s"
    record_property("figure", figure)
    print(figure)
    assert median(figures) * FASTER < gets


@pytest.fixture
def sent(monkeypatch):
    """What the client sends at once, and then waits for: one each is a round trip, however TCP cuts it up."""
    sent, send = [], redis.Connection.send_packed_command

    def noted(self, command, check_health=True):
        sent.append(command)
        return send(self, command, check_health)

    monkeypatch.setattr(redis.Connection, "send_packed_command", noted)
    return sent


@pytest.mark.timeout(600)
@pytest.mark.parametrize("tracking", [True, False])
def test_a_recall_after_which_nothing_changed_takes_three_round_trips_at_most(filled, request, sent, tracking):
    location = filled.location
    if not tracking:
        name = f"u-{filled.prefix}"
        allowed = [rule for rule in rules(filled.prefix) if "tracking" not in rule]
        filled.client.execute_command("ACL", "SETUSER", name, "reset", ">secret", *allowed)
        request.addfinalizer(lambda: filled.client.acl_deluser(name))
        location = location.replace("://", f"://{name}:secret@")
    with SyncBrain.open(location, clock=filled.clock, cache=False) as brain:
        brain.recall(asking(1))
        brain.recall(asking(1))
        sent.clear()
        assert [c.skill.id for c in brain.recall(asking(7))][:1] == ["s000007"]
        assert 1 <= len(sent) <= 3
        print(f"{len(sent)} round trips, tracking: {tracking}")
        figures = [seconds(lambda i=i: brain.recall(asking(i))) for i in range(0, COUNT, 997)]
        print(f"{median(figures) * 1000:.1f} ms a recall")
        Orka(filled).change("s000007", confidence=0.875)
        (found, *_) = brain.recall(asking(7))
        assert found.confidence_score == 0.875
