"""Does feedback move confidence, rate, history and expiry as the guide says, on every store?"""

import logging
from datetime import datetime, timedelta

import pytest

from brain import SkillTransferRecord
from brain.engine.moving import copy
from brain.errors import InputError
from brain.model import formulas
from tests.contract.raw import raw
from tests.contract.samples import bread, ids, plain, skill


def tasks(found):
    return [t.target_context["metadata"].get("task") for t in found.transfer_history]


def test_a_success_is_counted(brain, clock):
    learned = brain.learn(**bread(quality=0.5))
    clock.advance(hours=5)
    receipt = brain.feedback(learned.id, {"domain": "lab", "task": "grow cultures"}, True, {"heat": {"to": [37, "C"]}})
    after = receipt.skill
    assert receipt.recorded
    assert (receipt.version, after.version) == (2, 2)
    assert after.confidence == pytest.approx(0.62, abs=1e-9)
    assert (after.usage_count, after.success_rate) == (2, 1.0)
    assert (after.transfer_count, after.transfer_successes, after.transfer_success_rate) == (1, 1, 1.0)
    assert after.is_transferable
    assert after.updated_at == clock.now
    record = after.transfer_history[0]
    assert (record.success, record.confidence, record.timestamp) == (True, learned.confidence, clock.now)
    assert record.adaptations == {"heat": {"to": [37, "C"]}}
    assert record.target_context["metadata"] == {"domain": "lab", "task": "grow cultures"}
    expires = datetime.fromisoformat(after.expires_at)
    assert abs(expires - clock.now - timedelta(hours=formulas.ttl_hours(2, 0.62))) <= timedelta(milliseconds=1)
    assert plain(brain.get_skill(learned.id)) == plain(after)


def test_a_failure_is_counted_and_leaves_the_expiry(brain, clock):
    learned = brain.learn(**bread(quality=0.5))
    clock.advance(hours=5)
    after = brain.feedback(learned.id, {"task": "t"}, False).skill
    assert after.confidence == pytest.approx(0.54, abs=1e-9)
    assert (after.usage_count, after.success_rate) == (2, 0.5)
    assert (after.transfer_count, after.transfer_successes) == (1, 0)
    assert not after.is_transferable
    assert after.expires_at == learned.expires_at


def test_many_uses_follow_the_formulas_to_the_digit(brain, clock):
    learned = brain.learn(**bread(quality=0.3))
    confidence, right = learned.confidence, 1
    uses = [True, True, False, True, False, False, True] * 4
    for i, success in enumerate(uses, 1):
        confidence = formulas.confidence_after(confidence, success)
        right += success
        after = brain.feedback(learned.id, {}, success).skill
        assert after.confidence == pytest.approx(confidence, abs=1e-9)
        assert after.success_rate == pytest.approx(right / (i + 1), abs=1e-9)
    assert after.usage_count == len(uses) + 1


def test_the_history_is_in_order(brain, clock):
    learned = brain.learn(**bread())
    for i in range(5):
        clock.advance(minutes=1)
        assert tasks(brain.feedback(learned.id, {"task": f"t{i}"}, True).skill) == [f"t{n}" for n in range(i + 1)]
    assert tasks(brain.get_skill(learned.id)) == ["t0", "t1", "t2", "t3", "t4"]


def test_the_history_stays_in_order_when_the_skill_is_saved_in_between(brain):
    history = [SkillTransferRecord(target_context={"metadata": {"task": f"t{i}"}}, success=True) for i in range(3)]
    brain.skill_graph.save_skill(skill("s", transfer_history=history))
    brain.feedback("s", {"task": "t3"}, True)
    brain.skill_graph.save_skill(brain.get_skill("s"))
    brain.feedback("s", {"task": "t4"}, False)
    found = brain.get_skill("s")
    assert tasks(found) == ["t0", "t1", "t2", "t3", "t4"]
    assert (found.transfer_count, found.transfer_successes) == (5, 4)


def test_the_history_keeps_the_latest_hundred_with_counts_of_all(brain, place):
    history = [
        SkillTransferRecord(target_context={"metadata": {"task": f"t{i}"}}, success=i % 2 == 0) for i in range(98)
    ]
    brain.skill_graph.save_skill(skill("s", transfer_history=history))
    for i in range(98, 106):
        brain.feedback("s", {"task": f"t{i}"}, i % 2 == 0)
    found = brain.get_skill("s")
    assert tasks(found) == [f"t{i}" for i in range(6, 106)]
    assert (found.transfer_count, found.transfer_successes) == (106, 53)
    if place.kind == "neo4j":
        assert raw(place).counts()["Transfer"] == 100


def test_saving_a_long_history_keeps_the_latest_hundred(brain):
    history = [SkillTransferRecord(target_context={"i": i}, success=True) for i in range(250)]
    brain.skill_graph.save_skill(skill("s", transfer_history=history))
    found = brain.get_skill("s")
    assert [t.target_context["i"] for t in found.transfer_history] == list(range(150, 250))
    assert (found.transfer_count, found.transfer_successes) == (250, 250)


def test_feedback_on_an_unknown_id_records_nothing_and_warns(brain, place, caplog):
    counts = raw(place).counts()
    receipt = brain.feedback("nobody", {"task": "t"}, True)
    assert (receipt.recorded, receipt.skill, receipt.version) == (False, None, 0)
    warnings = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "nobody" in warnings[0].getMessage()
    assert raw(place).counts() == counts


def test_feedback_on_a_skill_that_never_expires_gives_it_no_expiry(brain):
    brain.skill_graph.save_skill(skill("s"))
    assert brain.feedback("s", {}, True).skill.expires_at == ""


def test_feedback_moves_what_recall_ranks_by(brain):
    learned = brain.learn(**bread())
    context = {"task": "bake sourdough bread", "domain": "kitchen"}
    before = brain.recall(context)[0]
    brain.feedback(learned.id, context, False)
    after = brain.recall(context)[0]
    assert (before.transfer_score, after.transfer_score) == (0.5, 0.0)
    assert after.confidence_score == pytest.approx(before.confidence_score * 0.9)
    assert after.combined_score < before.combined_score


def test_the_summary_counts_what_was_learned_and_transferred(brain):
    assert brain.get_skill_summary() == {
        "total_skills": 0,
        "transferable_skills": 0,
        "avg_confidence": 0.0,
        "total_transfers": 0,
        "top_skills": [],
    }
    for i in range(7):
        brain.skill_graph.save_skill(skill(f"s{i}", confidence=i / 10, usage_count=i // 2))
    brain.feedback("s1", {}, True)
    brain.feedback("s2", {}, False)
    brain.feedback("s2", {}, False)
    summary = brain.get_skill_summary()
    assert (summary["total_skills"], summary["transferable_skills"], summary["total_transfers"]) == (7, 1, 3)
    skills = brain.get_skills()
    assert summary["avg_confidence"] == pytest.approx(sum(s.confidence for s in skills) / 7)
    expected = sorted(skills, key=lambda s: (-s.usage_count, -s.confidence, s.id))[:5]
    assert [top["id"] for top in summary["top_skills"]] == ids(expected)
    assert {"name", "usage_count", "confidence"} <= set(summary["top_skills"][0])


def test_the_same_feedback_again_counts_once(brain, place, clock):
    learned = brain.learn(**bread())
    first = brain.feedback(learned.id, {"task": "t"}, True, {"a": 1}, feedback_id="message-1")
    again = brain.feedback(learned.id, {"task": "another"}, False, feedback_id="message-1")
    assert (first.recorded, first.repeated) == (True, False)
    assert (again.recorded, again.repeated) == (True, True)
    assert "message-1" in again.reason
    assert plain(again.skill) == plain(first.skill) == plain(brain.get_skill(learned.id))
    assert (again.skill.transfer_count, again.version) == (1, 2)
    assert again.skill.transfer_history[0].feedback_id == "message-1"
    assert place.open(clock=clock).feedback(learned.id, {}, True, feedback_id="message-1").repeated, (
        "another process knows it"
    )


def test_another_id_no_id_and_another_skill_are_other_feedback(brain):
    brain.skill_graph.save_skills([skill("a"), skill("b")])
    for given in ({"feedback_id": "1"}, {"feedback_id": "2"}, {}, {}):
        assert not brain.feedback("a", {}, True, **given).repeated
    assert not brain.feedback("b", {}, True, feedback_id="1").repeated
    assert [brain.get_skill(i).transfer_count for i in "ab"] == [4, 1]


def test_a_feedback_id_lasts_as_long_as_its_record(brain):
    brain.skill_graph.save_skill(skill("s"))
    brain.feedback("s", {}, True, feedback_id="first")
    for i in range(99):
        brain.feedback("s", {}, True, feedback_id=f"f{i}")
    assert brain.feedback("s", {}, True, feedback_id="first").repeated
    brain.feedback("s", {}, True)
    assert not brain.feedback("s", {}, True, feedback_id="first").repeated, "a hundred came after it"


def test_a_feedback_id_survives_saving_and_copying(brain, place, tmp_path):
    brain.skill_graph.save_skill(skill("s"))
    brain.feedback("s", {}, True, feedback_id="f")
    brain.skill_graph.save_skill(brain.get_skill("s"))
    assert brain.feedback("s", {}, True, feedback_id="f").repeated
    there = place.open(namespace=f"{place.namespace}-copy", clock=brain._store.clock)
    copy(brain._store, there._store)
    assert there.feedback("s", {}, True, feedback_id="f").repeated
    assert plain(there.get_skill("s"))["transfer_history"] == plain(brain.get_skill("s"))["transfer_history"]


def test_feedback_with_an_id_on_an_unknown_skill_is_not_recorded(brain):
    receipt = brain.feedback("nobody", {}, True, feedback_id="f")
    assert (receipt.recorded, receipt.repeated, receipt.skill) == (False, False, None)


@pytest.mark.parametrize("bad", ["", "a b", 5, "x" * 201, ["f"]])
def test_a_malformed_feedback_id_is_refused(brain, bad):
    brain.skill_graph.save_skill(skill("s"))
    with pytest.raises(InputError, match="feedback id"):
        brain.feedback("s", {}, True, feedback_id=bad)
    assert brain.get_skill("s").transfer_count == 0
