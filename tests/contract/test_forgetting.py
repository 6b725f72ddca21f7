"""Is what has expired hidden in every verb alike, and removed with all that is its own?"""

from datetime import timedelta

import pytest

from brain import LearnOutcome, Skill
from brain.errors import SkillNotFoundError
from tests.contract.raw import raw
from tests.contract.samples import AUDIT, BREAD, audit, bread, ids, plain, skill

YEAR = {"days": 365}


@pytest.fixture
def expired(brain, clock):
    """A skill "old" that has expired, linked to "new", which lives: both tagged and reachable from "hub"."""
    brain.observe(**bread(), skill_id="old", trace_id="run")
    for skill_id in ("new", "hub", "far"):
        brain.skill_graph.save_skill(skill(skill_id, f"task of {skill_id}"))
    brain.skill_graph.add_edge("hub", "COMPLEMENTS", "old")
    brain.skill_graph.add_edge("old", "COMPLEMENTS", "far")
    brain.skill_graph.add_edge("hub", "COMPLEMENTS", "new")
    old = brain.get_skill("old")
    clock.advance(**YEAR)
    return old


def test_get_hides_the_expired(brain, expired):
    assert brain.get_skill("old") is None
    assert brain.skill_graph.get_skill("old") is None


def test_lists_hide_the_expired(brain, expired):
    assert ids(brain.get_skills()) == ids(brain.skill_graph.list_skills()) == ["far", "hub", "new"]
    assert ids(brain.skill_graph.iter_skills()) == ["far", "hub", "new"]


def test_tags_hide_the_expired(brain, expired):
    assert "kitchen" in expired.tags
    assert brain.skill_graph.find_by_tag("kitchen") == []
    assert ids(brain.skill_graph.find_by_tag("cooking")) == ["far", "hub", "new"]


def test_edges_hide_the_expired(brain, expired):
    assert [edge.target for edge in brain.skill_graph.get_edges("hub")] == ["new"]
    assert brain.skill_graph.get_edges("old") == []
    assert brain.skill_graph.get_edges("far") == []


def test_traversal_does_not_walk_through_the_expired(brain, expired):
    assert ids(brain.skill_graph.get_related_skills("hub", max_depth=5)) == ["new"]
    assert brain.skill_graph.get_related_skills("old", max_depth=5) == []
    assert brain.skill_graph.get_related_skills("far", max_depth=5) == []


def test_recall_hides_the_expired(brain, expired):
    assert brain.recall({"task": BREAD, "domain": "kitchen"}, min_score=0.0) == []


def test_recall_hides_what_expires_between_two_calls(brain, clock):
    learned = brain.learn(**bread())
    context = {"task": BREAD, "domain": "kitchen"}
    clock.advance(hours=learned.ttl_hours, microseconds=-10)
    assert len(brain.recall(context)) == 1
    clock.advance(microseconds=20)
    assert brain.recall(context) == []


def test_the_summary_hides_the_expired(brain, expired):
    summary = brain.get_skill_summary()
    assert summary["total_skills"] == 3
    assert "old" not in [top["id"] for top in summary["top_skills"]]


def test_feedback_does_not_reach_the_expired(brain, expired):
    assert not brain.feedback("old", {}, True).recorded
    assert brain.get_skill("old") is None


def test_an_edge_to_the_expired_is_refused(brain, expired):
    for ends in (("old", "new"), ("new", "old")):
        with pytest.raises(SkillNotFoundError):
            brain.skill_graph.add_edge(ends[0], "SPECIALIZES", ends[1])


def test_deleting_the_expired_finds_nothing(brain, expired):
    assert brain.skill_graph.delete_skill("old") is False


def test_the_expired_cannot_be_scored(brain, expired):
    with pytest.raises(SkillNotFoundError):
        brain.transfer_engine.score_skill("old", {"task": BREAD})


def test_learning_does_not_find_the_expired_as_a_twin(brain, expired):
    assert brain.observe(**bread(success=False)).outcome == LearnOutcome.IGNORED
    assert brain.observe(**bread(), trace_id="run").outcome == LearnOutcome.CREATED


def test_an_expired_skill_that_is_saved_again_starts_anew(brain, expired):
    saved = brain.skill_graph.save_skill(expired.model_copy(update={"expires_at": ""}))
    assert saved.version == 1
    assert ids(brain.get_skills()) == ["far", "hub", "new", "old"]
    assert brain.skill_graph.get_edges("old") == []
    assert brain.recall({"task": BREAD, "domain": "kitchen"})[0].skill.id == "old"


def test_an_expired_skill_is_new_to_an_expected_version(brain, expired):
    alive = expired.model_copy(update={"expires_at": ""})
    assert brain.skill_graph.save_skill(alive, expected_version=0).version == 1


def test_a_skill_saved_as_already_expired_is_hidden_at_once(brain, clock):
    brain.learn(**bread())
    brain.recall({"task": BREAD})
    learned = brain.get_skills()[0]
    past = clock.now - timedelta(seconds=1)
    saved = brain.skill_graph.save_skill(learned.model_copy(update={"expires_at": past.isoformat()}))
    assert (saved.id, saved.version) == (learned.id, 2)
    assert brain.get_skills() == []
    assert brain.recall({"task": BREAD, "domain": "kitchen"}) == []
    assert brain.observe(**bread()).outcome == LearnOutcome.CREATED


def test_an_empty_expiry_never_ends(brain, clock):
    brain.skill_graph.save_skill(skill("s", BREAD, expires_at=""))
    clock.advance(days=365 * 200)
    assert brain.get_skill("s").expires_at == ""
    assert brain.recall({"task": BREAD})[0].skill.id == "s"
    assert brain.cleanup_expired_skills() == {"deleted": 0, "checked": 1}


def test_success_lets_a_skill_live_on_and_failure_does_not(brain, clock):
    kept, lost = brain.learn(**bread()), brain.learn(**audit())
    for _ in range(4):
        clock.advance(hours=150)
        brain.feedback(kept.id, {}, True)
        brain.feedback(lost.id, {}, False)
    assert ids(brain.get_skills()) == [kept.id]


# Sweeping


def test_a_sweep_counts_what_it_checked_and_deleted(brain, expired):
    assert brain.cleanup_expired_skills() == {"deleted": 1, "checked": 4}
    assert brain.cleanup_expired_skills() == {"deleted": 0, "checked": 3}
    assert brain.skill_graph.cleanup_expired_skills() == {"deleted": 0, "checked": 3}


def test_a_sweep_leaves_nothing_of_the_expired(brain, place, clock):
    brain.learn(**bread())
    brain.skill_graph.save_skill(skill("keeper", tags=("shared",)))
    before = None
    for _ in range(2):
        soon = (clock.now + timedelta(hours=1)).isoformat()
        brain.skill_graph.save_skill(skill("goner", "glaze", tags=("own", "shared"), domain="bakery", expires_at=soon))
        brain.feedback("goner", {"domain": "pottery", "task": "fire clay"}, False)
        brain.skill_graph.add_edge("goner", "COMPLEMENTS", "keeper")
        brain.skill_graph.add_edge("keeper", "DERIVES_FROM", "goner")
        clock.advance(**YEAR)
        assert brain.cleanup_expired_skills()["deleted"] > 0
        assert ids(brain.get_skills()) == ["keeper"]
        assert brain.skill_graph.get_edges("keeper") == []
        counts = raw(place).counts()
        if place.kind == "sqlite":
            assert counts == {"skill": 1, "tag": 1, "edge": 0, "trace": 0}
        elif place.kind in ("redis", "memory"):
            gone = {"edge", "trace", "trace of a skill", "vectors", "dedup", "expiry"}
            assert counts == {name: int(name not in gone) for name in counts}
        else:
            expected = {"Skill": 1, "Tag": 1, "Shape": 1, "Domain": 0, "Trace": 0, "Step": 2, "Condition": 2}
            assert counts == {**expected, "Transfer": 0, "relationships": 6}
        assert before in (None, counts)
        before = counts


def test_deleting_leaves_nothing_either(brain, place):
    brain.skill_graph.save_skill(skill("keeper"))
    counts = raw(place).counts()
    learned = brain.observe(**bread(), derived_from=["keeper"], trace_id="t").skill
    brain.feedback(learned.id, {"domain": "pottery"}, True)
    assert brain.skill_graph.delete_skill(learned.id) is True
    assert raw(place).counts() == counts
    assert brain.skill_graph.delete_skill(learned.id) is False
    assert brain.get_skill(learned.id) is None
    assert brain.recall({"task": BREAD}) == []


def test_overwriting_leaves_nothing_of_the_old(brain, place):
    brain.skill_graph.save_skill(skill("s", tags=("a",)))
    counts = raw(place).counts()
    brain.skill_graph.save_skill(
        skill("s", "another task", tags=("b", "c"), procedure=[{"action": f"step {i}"} for i in range(9)])
    )
    brain.feedback("s", {"domain": "pottery"}, True)
    brain.skill_graph.save_skill(skill("s", tags=("a",)))
    assert raw(place).counts() == counts


def test_a_sweep_of_many_goes_in_batches(brain, clock):
    soon = (clock.now + timedelta(hours=1)).isoformat()
    brain.skill_graph.save_skills(
        [Skill(id=f"s{i:04}", name="n", expires_at=soon if i % 2 else "") for i in range(2_400)]
    )
    clock.advance(hours=2)
    assert brain.cleanup_expired_skills() == {"deleted": 1_200, "checked": 2_400}
    assert len(brain.get_skills()) == 1_200


def test_recall_sweeps_at_most_hourly(brain, place, clock):
    def stored():
        counts = raw(place).counts()
        return counts.get("skill", counts.get("Skill"))

    def expiring():
        brain.skill_graph.save_skill(skill("short", expires_at=(clock.now + timedelta(minutes=1)).isoformat()))
        clock.advance(minutes=2)

    expiring()
    brain.recall({"task": AUDIT})
    assert stored() == 0
    expiring()
    clock.advance(minutes=50)
    brain.recall({"task": AUDIT})
    assert stored() == 1
    clock.advance(minutes=10)
    brain.recall({"task": AUDIT})
    assert stored() == 0


def test_the_last_lazy_sweep_is_remembered_in_the_store(place, clock):
    def stored():
        counts = raw(place).counts()
        return counts.get("skill", counts.get("Skill"))

    def short_lived():
        with place.open(clock=clock) as brain:
            brain.recall({"task": AUDIT})

    short_lived()
    with place.open(clock=clock) as brain:
        brain.skill_graph.save_skill(skill("s", expires_at=(clock.now + timedelta(minutes=1)).isoformat()))
    for _ in range(4):
        clock.advance(minutes=14)
        short_lived()
        assert stored() == 1
    clock.advance(minutes=4)
    short_lived()
    assert stored() == 0


def test_a_sweep_stays_within_its_namespace(brain, place, clock):
    other = place.open(namespace=f"{place.namespace}.other", clock=clock)
    brain.learn(**bread())
    other.learn(**bread())
    clock.advance(**YEAR)
    assert brain.cleanup_expired_skills() == {"deleted": 1, "checked": 1}
    assert other.cleanup_expired_skills() == {"deleted": 1, "checked": 1}


def test_what_was_swept_can_be_learned_again(brain, clock):
    first = brain.observe(**bread(), skill_id="s", trace_id="t")
    clock.advance(**YEAR)
    brain.cleanup_expired_skills()
    again = brain.observe(**bread(), skill_id="s", trace_id="t")
    assert (again.outcome, again.version) == (LearnOutcome.CREATED, 1)
    assert plain(again.skill)["procedure"] == plain(first.skill)["procedure"]
    assert brain.recall({"task": BREAD, "domain": "kitchen"})[0].skill.id == "s"
