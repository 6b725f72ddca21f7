"""Does a store say how it stands, and what its skills were learned from, on every store?"""

import logging
from datetime import timedelta

import pytest

from brain import Context, ExecutionTrace, Outcome, Stats, StoredTrace
from brain.errors import InputError
from tests.contract.raw import raw
from tests.contract.samples import AUDIT, AUDIT_STEPS, audit, bread, execution, skill
from tests.contract.test_embeddings import Hashed


def test_an_empty_store_has_its_numbers(brain, place):
    found = brain.stats()
    assert (found.location, found.namespace) == (brain.location, place.namespace)
    assert (found.total_skills, found.transferable_skills, found.total_transfers, found.expiring_skills) == (0, 0, 0, 0)
    assert (found.avg_confidence, found.embedding, found.mirror, found.top_skills) == (0, None, None, [])
    assert found.migrations and all(change.state == "applied" for change in found.migrations)
    assert Stats.from_dict(found.to_dict()) == found


def test_stats_say_what_the_summary_says_and_what_there_is_beside_it(place, clock):
    brain = place.open(clock=clock, embedder=Hashed())
    learned = brain.learn(**bread())
    brain.learn(**audit())
    brain.feedback(learned.id, {}, True)
    found, summary = brain.stats(), brain.get_skill_summary()
    assert {name: getattr(found, name) for name in summary} == summary
    assert (found.embedding.model, found.embedding.dimension) == ("hashed", 8)
    assert found.to_dict()["top_skills"][0]["id"] == learned.id


def test_what_expires_soon_is_counted(brain, clock):
    hours = [("gone", 0), ("at once", 1), ("soon", 24), ("late", 25), ("never", None)]
    for name, ahead in hours:
        expires = "" if ahead is None else (clock() + timedelta(hours=ahead)).isoformat()
        brain.skill_graph.save_skill(skill(name.replace(" ", "-"), expires_at=expires))
    assert brain.stats().expiring_skills == 2
    assert brain.stats(timedelta(hours=25)).expiring_skills == 3
    assert brain.stats(timedelta(0)).expiring_skills == 0
    assert brain.stats(timedelta.max).expiring_skills == 3
    found = brain.stats(expiring_within=timedelta(minutes=90))
    assert (found.expiring_skills, found.expiring_within_hours) == (1, 1.5)
    clock.advance(hours=1)
    assert brain.stats().expiring_skills == 2
    brain.cleanup_expired_skills()
    brain.skill_graph.delete_skill("soon")
    assert brain.stats().expiring_skills == 1


@pytest.mark.parametrize("wrong", [24, None, "24h", timedelta(seconds=-1)])
def test_a_time_that_is_none_is_refused(brain, wrong):
    with pytest.raises(InputError, match="expiring_within"):
        brain.stats(wrong)


def test_the_traces_of_a_skill_are_told_the_latest_first(brain, clock):
    first = brain.observe(**bread(quality=0.5), trace_id="first").skill
    seen = [clock()]
    for quality in (0.6, 0.7):
        clock.advance(minutes=1)
        seen.append(clock())
        assert brain.observe(**bread(quality=quality)).skill.id == first.id
    brain.learn(**audit())
    found = brain.get_traces(first.id)
    assert [trace.seen_at for trace in found] == seen[::-1]
    assert [trace.outcome["quality"] for trace in found] == [0.7, 0.6, 0.5]
    assert [trace.trace_id for trace in found] == ["", "", "first"]
    given = bread(quality=0.5)
    oldest = found[-1]
    assert oldest.execution_trace["steps"] == given["execution_trace"]["steps"]
    assert (oldest.context["task"], oldest.context["domain"]) == (given["context"]["task"], "kitchen")
    assert brain.get_traces(first.id, limit=2) == found[:2]
    assert StoredTrace.from_dict(oldest.to_dict()) == oldest


def test_traces_come_with_every_value_that_was_handed_in(brain):
    told = execution(AUDIT, *AUDIT_STEPS, tokens={"in": [1, 2.5, None]})
    told["context"]["input"] = ["a", {"b": "🍞\x00"}]
    learned = brain.learn(ExecutionTrace(**told["execution_trace"]), Context(**told["context"]), Outcome(success=True))
    (found,) = brain.get_traces(learned.id)
    assert found.execution_trace["tokens"] == {"in": [1, 2.5, None]}
    assert found.context["input"] == ["a", {"b": "🍞\x00"}]


def test_a_skill_that_was_learned_from_nothing_has_no_traces(brain, clock):
    brain.skill_graph.save_skill(skill("saved"))
    gone = brain.learn(**bread())
    assert brain.get_traces("saved") == []
    assert brain.get_traces("nobody") == []
    clock.advance(days=100)
    assert brain.get_traces(gone.id) == [], "it has expired"


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "9"])
def test_a_limit_that_is_none_is_refused(brain, limit):
    with pytest.raises(InputError, match="limit"):
        brain.get_traces("a", limit)


def test_a_trace_that_cannot_be_read_is_skipped_with_a_warning(brain, place, caplog):
    learned = brain.learn(**bread(quality=0.5))
    brain.learn(**bread(quality=0.6))
    raw(place).damage_trace(learned.id)
    with caplog.at_level(logging.WARNING):
        found = brain.get_traces(learned.id)
    assert len(found) == 1
    assert learned.id in caplog.text
