"""Does a write count once when it was committed, its acknowledgement was lost, and the driver tries it again?"""

import pytest

from brain import LearnOutcome, Skill
from brain.store.neo4j.connection import Connection
from tests.contract.samples import audit, bread, skill

pytestmark = pytest.mark.neo4j


@pytest.fixture
def place(request, neo4j_server):
    from tests.conftest import Place

    found = Place("neo4j", neo4j_server.location, f"test-lost-{request.node.name[:60]}".replace("[", "-").strip("]"))
    yield found
    found.close()


@pytest.fixture
def lossy(place, clock, monkeypatch):
    """A brain each of whose writes is committed, and then run again as after a lost acknowledgement."""
    brain = place.open(clock=clock)
    once = Connection.write

    def twice(connection, work, **options):
        once(connection, work, **options)
        return once(connection, work, **options)

    monkeypatch.setattr(Connection, "write", twice)
    return brain


def test_learning_counts_once(lossy):
    receipt = lossy.observe(**bread())
    assert (receipt.outcome, receipt.version, receipt.skill.usage_count) == (LearnOutcome.CREATED, 1, 1)


def test_learning_with_a_trace_id_counts_once(lossy):
    assert lossy.observe(**bread(), trace_id="t").outcome == LearnOutcome.CREATED
    assert lossy.observe(**bread(), trace_id="t").outcome == LearnOutcome.ALREADY_SEEN


def test_reinforcing_counts_once(lossy):
    lossy.observe(**bread())
    receipt = lossy.observe(**bread())
    assert (receipt.outcome, receipt.version, receipt.skill.usage_count) == (LearnOutcome.REINFORCED, 2, 2)


def test_a_failure_counts_once(lossy):
    lossy.observe(**bread())
    assert lossy.observe(**bread(success=False)).skill.usage_count == 2
    assert lossy.observe(**audit(success=False)).outcome == LearnOutcome.IGNORED


def test_feedback_counts_once_with_writes_between(lossy):
    found = lossy.observe(**bread()).skill
    for _ in range(3):
        lossy.feedback(found.id, {}, True)
        lossy.skill_graph.save_skill(lossy.get_skill(found.id))
    stored = lossy.get_skill(found.id)
    assert (stored.usage_count, stored.transfer_count, len(stored.transfer_history)) == (4, 3, 3)


def test_feedback_with_an_id_counts_once_and_is_no_repetition(lossy):
    lossy.skill_graph.save_skill(skill("a"))
    first, again = (lossy.feedback("a", {}, True, feedback_id="f") for _ in range(2))
    assert (first.repeated, again.repeated) == (False, True)
    assert lossy.get_skill("a").transfer_count == 1


def test_saving_counts_once(lossy):
    stored = lossy.skill_graph.save_skill(skill("a"), expected_version=0)
    assert stored.version == 1
    assert lossy.skill_graph.save_skill(stored, expected_version=1).version == 2


def test_saving_many_counts_once(lossy):
    lossy.skill_graph.save_skills([skill("a"), skill("b")])
    assert [s.version for s in lossy.get_skills()] == [1, 1]


def test_deleting_says_that_it_deleted(lossy):
    lossy.skill_graph.save_skill(skill("a"))
    assert lossy.skill_graph.delete_skill("a") is True
    assert lossy.skill_graph.delete_skill("a") is False


def test_connecting_counts_once(lossy):
    lossy.skill_graph.save_skills([skill("a"), skill("b")])
    lossy.skill_graph.add_edge("a", "COMPLEMENTS", "b", {"n": 1})
    assert len(lossy.skill_graph.get_edges("a")) == 1


def test_parting_says_that_there_was_an_edge(lossy):
    lossy.skill_graph.save_skills([skill("a"), skill("b")])
    lossy.skill_graph.add_edge("a", "COMPLEMENTS", "b")
    assert lossy.skill_graph.delete_edge("a", "COMPLEMENTS", "b") is True
    assert lossy.skill_graph.delete_edge("a", "COMPLEMENTS", "b") is False


def test_the_lazy_sweep_is_claimed_once_and_done(lossy, clock):
    lossy.skill_graph.save_skill(Skill(id="a", name="a", expires_at=clock().isoformat()))
    lossy.recall({"task": "anything"})
    assert lossy.cleanup_expired_skills() == {"deleted": 0, "checked": 0}
