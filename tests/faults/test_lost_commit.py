"""Does a write count once when the server committed it and the answer never arrived?

A proxy on loopback forwards everything, and once swallows the answer to a COMMIT and cuts the connection.
"""

import uuid
from urllib.parse import urlsplit

import pytest

from brain import LearnOutcome, SyncBrain
from tests.contract.samples import bread, skill
from tests.proxy import COMMIT, CommitThief

pytestmark = pytest.mark.neo4j


@pytest.fixture
def proxy(neo4j_server):
    address = urlsplit(neo4j_server.uri)
    found = CommitThief(address.hostname, address.port)
    yield found
    found.close()


@pytest.fixture
def brain(neo4j_server, proxy):
    location = f"bolt://{neo4j_server.user}:{neo4j_server.password}@127.0.0.1:{proxy.port}"
    with SyncBrain.open(location, namespace=f"test-{uuid.uuid4().hex}") as found:
        found.recall({"task": "warm up"})
        yield found


def lost(proxy, call, of=COMMIT):
    """What `call` answers while the answer to its COMMIT, or to a statement of its own, is lost."""
    proxy.lose_the_next_commit(of)
    answer = call()
    assert proxy.cut.is_set()
    return answer


def test_learning_and_reinforcing_count_once(brain, proxy):
    first = lost(proxy, lambda: brain.observe(**bread()))
    assert (first.outcome, first.version) == (LearnOutcome.CREATED, 1)
    second = lost(proxy, lambda: brain.observe(**bread()))
    assert (second.outcome, second.skill.usage_count) == (LearnOutcome.REINFORCED, 2)


def test_feedback_counts_once(brain, proxy):
    brain.skill_graph.save_skill(skill("a"))
    receipt = lost(proxy, lambda: brain.feedback("a", {}, True), of=b"CREATE (s)-[:APPLIED]->")
    assert receipt.recorded
    stored = brain.get_skill("a")
    assert (stored.transfer_count, len(stored.transfer_history), stored.version) == (1, 1, 2)


def test_saving_counts_once_with_an_expected_version(brain, proxy):
    assert lost(proxy, lambda: brain.skill_graph.save_skill(skill("a"), expected_version=0)).version == 1
    assert lost(proxy, lambda: brain.skill_graph.save_skill(skill("a"), expected_version=1)).version == 2


def test_deleting_says_that_it_deleted(brain, proxy):
    brain.skill_graph.save_skill(skill("a"))
    assert lost(proxy, lambda: brain.skill_graph.delete_skill("a")) is True
    assert brain.get_skills() == []
