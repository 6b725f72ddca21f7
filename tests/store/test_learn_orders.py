"""Does a list of orders become skills at once, each order finding its twin by what was committed before?"""

import pytest

from brain.errors import ConflictError, SkillNotFoundError
from tests.conftest import STORES
from tests.store.samples import draft, nobody, operation, order, record, save, stored


def learn(store, *orders):
    return store.learn(list(orders), operation=operation())


def told(learned):
    return [(each.outcome.value, each.skill.id if each.skill else None) for each in learned]


def test_each_order_has_its_own_outcome_in_its_place(store):
    save(store, "old")
    found = learn(
        store,
        order("a"),
        order("b", "a"),
        order("c", success=False),
        order("d", "other", find_twin=lambda changes, profiles: "old"),
        order("e", "a", success=False),
        order("f"),
    )
    assert told(found) == [
        ("created", "a"),
        ("reinforced", "a"),
        ("ignored", None),
        ("reinforced", "old"),
        ("failure_recorded", "a"),
        ("created", "f"),
    ]
    skills = stored(store)
    assert sorted(skills) == ["a", "f", "old"]
    assert (skills["a"]["usage_count"], skills["a"]["version"]) == (3, 3)
    assert skills["old"]["usage_count"] == 1


def test_an_order_that_is_like_an_earlier_one_is_its_twin(store):
    found = learn(store, order("a", "one"), order("b", "two", like=0), order("c", "three", like=1))
    assert told(found) == [("created", "a"), ("reinforced", "a"), ("reinforced", "a")]
    assert stored(store)["a"]["usage_count"] == 3


def test_an_order_that_is_like_an_ignored_one_stands_for_itself(store):
    found = learn(store, order("a", "one", success=False), order("b", "two", like=0))
    assert told(found) == [("ignored", None), ("created", "b")]


def test_what_a_twin_is_looked_for_in_are_the_changes_of_others_alone(store):
    save(store, "before")
    seen = store.changes(0).version
    save(store, "since")
    shown = []

    def look(changes, profiles):
        shown.append(([entry.id for entry in changes.entries], profiles(["since", "nobody"])))

    learn(store, order("a", seen=seen, find_twin=look), order("b", seen=seen, find_twin=look))
    assert shown[-2:] == [(["since"], {"since": "profile of since"})] * 2


def test_all_changes_are_shown_however_many(store):
    save(store, "before")
    seen = store.changes(0).version
    store.save_many([draft(f"s{i}", with_vector=False) for i in range(2_005)], operation=operation())
    save(store, "last")
    shown = []
    learn(store, order("a", seen=seen, find_twin=lambda changes, profiles: shown.append(changes)))
    assert len(shown[-1].entries) == 2_006
    assert not shown[-1].more and shown[-1].version == seen + 2


def test_a_caller_that_never_looked_is_told_so(store):
    save(store, "a")
    shown = []
    learn(store, order("b", seen=0, find_twin=lambda changes, profiles: shown.append(changes.stale)))
    assert shown[-1] is True


def test_a_trace_id_counts_once_even_in_one_call(store):
    assert told(learn(store, order("a", trace_id="run 1"), order("b", "other", trace_id="run 1"))) == [
        ("created", "a"),
        ("already_seen", "a"),
    ]
    assert told(learn(store, order("c", "more", trace_id="run 1"))) == [("already_seen", "a")]
    assert stored(store)["a"]["usage_count"] == 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_failure_in_the_middle_leaves_nothing(store, place):
    save(store, "taken", "old")
    before, version = stored(store), store.changes(0).version
    orders = [order("a"), order("b", "old")]
    orders.insert(place, order("taken", "another"))
    with pytest.raises(ConflictError):
        learn(store, *orders)
    orders[place] = order("c", used=["nobody"])
    with pytest.raises(SkillNotFoundError):
        learn(store, *orders)
    assert stored(store) == before
    assert store.changes(0).version == version


def test_an_error_of_the_look_for_twins_leaves_nothing(store):
    class LookError(Exception):
        pass

    def look(changes, profiles):
        raise LookError

    with pytest.raises(LookError):
        learn(store, order("a"), order("b", find_twin=look))
    assert stored(store) == {}
    assert told(learn(store, order("a"))) == [("created", "a")], "the store goes on"


def test_an_expired_twin_gives_way(store, clock):
    learn(store, order("a", "bread", expires_at="2026-01-02T00:00:00+00:00"))
    clock.advance(days=2)
    assert told(learn(store, order("b", "bread"), order("c", "bread"))) == [("created", "b"), ("reinforced", "b")]
    assert told(learn(store, order("a", "water"))) == [("created", "a")], "an expired id is free"


def test_a_twin_that_was_named_and_is_gone_is_none(store):
    found = learn(store, order("a", find_twin=lambda changes, profiles: "nobody"))
    assert told(found) == [("created", "a")]


def test_used_skills_are_connected_in_both_directions(store):
    save(store, "base")
    learn(store, order("a", used=["base"]), order("b", used=["base"], success=False))
    assert [(e.target, e.relation.value, e.direction) for e in store.edges("a")] == [("base", "DERIVES_FROM", "out")]


@pytest.mark.parametrize("store_place", [name for name in STORES if name != "sqlite"], indirect=True)
def test_an_operation_that_is_repeated_counts_once_and_is_answered_the_same(store):
    """On SQLite a commit happened or raised; nobody repeats one."""
    orders = [order("a"), order("b", "two", like=0), order("c"), order("d", success=False)]
    same = operation()
    first, again = store.learn(orders, operation=same), store.learn(orders, operation=same)
    assert [(f.outcome, f.skill and f.skill.id) for f in again] == [(f.outcome, f.skill and f.skill.id) for f in first]
    assert {skill_id: found["usage_count"] for skill_id, found in stored(store).items()} == {"a": 2, "c": 1}
    same = operation()
    for _ in range(2):
        assert store.feedback("a", record(), ttl=True, operation=same).skill.transfer_count == 1
    assert stored(store)["a"]["transfer_count"] == 1


def test_learning_nothing_is_nothing(store):
    assert learn(store) == []
    assert learn(store, order("a", success=False, find_twin=nobody))[0].skill is None
    assert store.count() == 0
