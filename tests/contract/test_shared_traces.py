"""Is a trace that several skills were learned from one of each of them, on every store, and does it count once?"""

import pytest

from brain import SyncBrain
from brain.engine.moving import copy
from tests.contract.samples import audit, bread, skill

LONG = 24 * 365
"""Hours after which every skill has expired."""


def tasks(brain, skill_id):
    return [trace.context["task"] for trace in brain.get_traces(skill_id)]


@pytest.fixture
def merged(brain, clock, tmp_path):
    """Two skills of one trace: two memories learned the same under different ids, and became one."""
    with SyncBrain.open(f"sqlite:///{tmp_path / 'other.db'}", clock=clock, cache=False) as other:
        other.observe(**bread(), trace_id="t", skill_id="b")
        other.observe(**audit(), trace_id="u", derived_from=["b"], skill_id="c")
        brain.observe(**bread(), trace_id="t", skill_id="a")
        copy(other._store, brain._store)
        copy(other._store, brain._store)  # again, as after an interruption
    return brain


def test_each_skill_tells_it(merged):
    assert tasks(merged, "a") == tasks(merged, "b") == ["bake sourdough bread"]
    assert tasks(merged, "c") == ["audit kubernetes RBAC"]
    assert not merged.examine().faults


@pytest.mark.parametrize("first", ["a", "b"])
def test_it_counts_once_until_none_of_them_is_left(merged, first):
    assert merged.observe(**bread(), trace_id="t").outcome == "already_seen"
    merged.skill_graph.delete_skill(first)
    (left,) = {"a", "b"} - {first}
    assert tasks(merged, first) == []
    assert tasks(merged, left) == ["bake sourdough bread"]
    seen = merged.observe(**bread(), trace_id="t")
    assert (seen.outcome, seen.skill.id) == ("already_seen", left)
    merged.skill_graph.delete_skill(left)
    assert merged.observe(**bread(), trace_id="t").outcome == "created"
    assert not merged.examine().faults


def test_it_goes_along_with_each_of_them(merged, clock, tmp_path):
    with SyncBrain.open(f"sqlite:///{tmp_path / 'third.db'}", clock=clock, cache=False) as third:
        copy(merged._store, third._store)
        assert tasks(third, "a") == tasks(third, "b") == ["bake sourdough bread"]
        for skill_id in "abc":
            merged.skill_graph.delete_skill(skill_id)
        assert merged.get_skills() == []
        copy(third._store, merged._store)
    assert tasks(merged, "a") == tasks(merged, "b") == ["bake sourdough bread"]


def test_what_is_learned_again_after_its_skill_expired_stays_known(brain, clock):
    first = brain.observe(**bread(), trace_id="t").skill.id
    clock.advance(hours=LONG)
    again = brain.observe(**bread(), trace_id="t")
    assert again.outcome == "created"
    assert (tasks(brain, first), tasks(brain, again.skill.id)) == ([], ["bake sourdough bread"])
    brain.cleanup_expired_skills()
    assert tasks(brain, again.skill.id) == ["bake sourdough bread"]
    assert brain.observe(**bread(), trace_id="t").outcome == "already_seen"


def test_a_skill_learned_again_under_its_id_after_it_expired_tells_its_trace(brain, clock):
    brain.observe(**bread(), trace_id="t", skill_id="a")
    clock.advance(hours=LONG)
    assert brain.observe(**bread(), trace_id="t", skill_id="a").outcome == "created"
    assert tasks(brain, "a") == ["bake sourdough bread"]
    assert brain.observe(**bread(), trace_id="t").outcome == "already_seen"


def test_nothing_of_it_is_left_with_the_last_of_them(merged, place):
    merged.skill_graph.save_skill(skill("kept"))
    for skill_id in "abc":
        merged.skill_graph.delete_skill(skill_id)
    for skill_id in ("a", "b"):
        merged.skill_graph.save_skill(skill(skill_id))
        assert merged.get_traces(skill_id) == []
    assert merged.observe(**bread(), trace_id="t").outcome != "already_seen"
