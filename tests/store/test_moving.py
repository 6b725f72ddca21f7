"""Is a store that was moved elsewhere equal to what it was: versions, traces, vectors, keys, edges, expiry?"""

from datetime import timedelta

import pytest

from brain.model.relations import Relation
from brain.store.values import KeptSkill
from tests.contract.samples import AWKWARD, NESTED, RESERVED
from tests.store.samples import draft, edge, entries, operation, order, record, save, skill, stored


def all_kept(store, size=2):
    return {kept.skill.id: kept for page in store.export(size) for kept in page}


def all_edges(store, size=2):
    return sorted(
        (e.source, e.relation.value, e.target, e.direction, str(e.metadata))
        for page in store.export_edges(size)
        for e in page
    )


def comparable(kept):
    """What was kept as plain values; the namespace is the store's own."""
    fields = {**kept.skill.to_dict(), "namespace": ""}
    return fields, kept.profile, kept.terms, kept.dedup_key, kept.vector, list(kept.traces)


@pytest.fixture
def target(store_place):
    """Another namespace of the same store, empty."""
    return store_place.open(f"{store_place.namespace}-target")


@pytest.fixture
def lived(store, clock):
    """A store in which a lot happened."""
    store.learn([order("a", "bread"), order("b", "bread", trace_id="run 1"), order("c")], operation=operation())
    save(store, "d", "e", "f")
    save(store, "d", text="another text", expires_at=(clock() + timedelta(days=3)).isoformat())
    for i in range(3):
        store.feedback("d", record(i > 0, timestamp=clock()), ttl=True, operation=operation())
    for number, (name, text) in enumerate(AWKWARD.items()):
        store.add_edge(
            edge("d", "e" if number % 2 else "f", Relation.SPECIALIZES, **{name: text}), operation=operation()
        )
    store.save(
        draft(
            "awkward", with_vector=False, description="".join(AWKWARD.values()), nested=NESTED, source_context=RESERVED
        ),
        expected_version=None,
        operation=operation(),
    )
    store.add_edge(edge("a", "c", Relation.DERIVES_FROM), operation=operation())
    store.add_edge(edge("c", "a", Relation.TRANSFERRED_TO, domain="kitchen"), operation=operation())
    save(store, "gone", expires_at=(clock() + timedelta(hours=1)).isoformat())
    store.add_edge(edge("a", "gone"), operation=operation())
    clock.advance(hours=2)
    return store


@pytest.mark.parametrize("size", [1, 3, 100])
def test_export_and_restore_give_everything_back(lived, target, size):
    for page in lived.export(size):
        target.restore(page, operation=operation())
    for edges in lived.export_edges(size):
        assert target.restore_edges(edges, operation=operation()) == []
    before, after = all_kept(lived), all_kept(target)
    assert list(after) == list(before) == ["a", "awkward", "c", "d", "e", "f"]
    for skill_id in before:
        assert comparable(after[skill_id]) == comparable(before[skill_id]), skill_id
    assert before["a"].skill.version == 2 and len(before["a"].traces) == 2
    assert before["d"].skill.transfer_count == 3 and len(before["d"].skill.transfer_history) == 3
    assert all_edges(target) == all_edges(lived)
    assert entries(target) == entries(lived)
    assert {**lived.summary(0)} == {**target.summary(0)}


def test_a_restored_store_goes_on_as_the_first_would(lived, target):
    for page in lived.export():
        target.restore(page, operation=operation())
    found = target.learn([order("z", "bread"), order("y", trace_id="run 1")], operation=operation())
    assert [(f.outcome.value, f.skill.id) for f in found] == [("reinforced", "a"), ("already_seen", "a")]
    assert target.feedback("d", record(), ttl=True, operation=operation()).skill.transfer_count == 4


def test_restoring_twice_changes_nothing(lived, target):
    for _ in range(2):
        for page in lived.export():
            target.restore(page, operation=operation())
        for edges in lived.export_edges():
            target.restore_edges(edges, operation=operation())
    assert [comparable(k) for k in all_kept(target).values()] == [comparable(k) for k in all_kept(lived).values()]
    assert all_edges(target) == all_edges(lived)
    assert target.count() == 6


def test_what_is_restored_stands_in_place_of_what_was_there(store, target):
    store.learn([order("a", "bread")], operation=operation())
    save(target, "a", "other")
    for _ in range(4):
        target.feedback("a", record(), ttl=True, operation=operation())
    target.add_edge(edge("a", "other"), operation=operation())
    since = target.changes(0).version
    target.restore(list(all_kept(store).values()), operation=operation())
    assert comparable(all_kept(target)["a"]) == comparable(all_kept(store)["a"])
    assert [found.target for found in target.edges("a")] == ["other"]
    assert [entry.id for entry in target.changes(since).entries] == ["a"]


def test_a_dedup_key_that_another_live_skill_holds_is_left_out(store, target, clock):
    store.learn([order("a", "bread"), order("b", "water")], operation=operation())
    target.learn(
        [order("x", "bread"), order("y", "water", expires_at="2026-01-01T13:00:00+00:00")], operation=operation()
    )
    clock.advance(hours=2)
    target.restore(list(all_kept(store).values()), operation=operation())
    assert {skill_id: kept.dedup_key for skill_id, kept in all_kept(target).items()} == {
        "a": None,
        "b": "key of water",
        "x": "key of bread",
    }


def test_skills_that_swap_their_dedup_keys_are_restored(store):
    store.learn([order("a", "bread"), order("b", "water")], operation=operation())
    found = all_kept(store)
    swapped = [
        KeptSkill(found[one].skill, "p", b"t", found[other].dedup_key) for one, other in (("a", "b"), ("b", "a"))
    ]
    store.restore(swapped, operation=operation())
    assert {skill_id: kept.dedup_key for skill_id, kept in all_kept(store).items()} == {
        "a": "key of water",
        "b": "key of bread",
    }


def test_what_was_never_analysed_moves_too(store):
    store.restore([KeptSkill(skill("a"), None, None, None)], operation=operation())
    (kept,) = all_kept(store).values()
    assert (kept.profile, kept.terms, kept.dedup_key, kept.vector, list(kept.traces)) == (None, None, None, None, [])
    assert entries(store)["a"].terms is None
    assert store.profiles(["a"]) == {}


def test_an_edge_without_both_ends_is_given_back(store, clock):
    save(store, "a", "b")
    save(store, "expired", expires_at=clock().isoformat())
    edges = [edge("a", "b"), edge("a", "nobody"), edge("expired", "a")]
    assert store.restore_edges(edges, operation=operation()) == edges[1:]
    assert all_edges(store) == [("a", "COMPLEMENTS", "b", "out", "{}")]


def test_a_failed_restore_leaves_nothing(store):
    save(store, "a")
    before = stored(store)
    broken = KeptSkill(skill("c"), "p", object(), None)
    with pytest.raises(Exception):  # noqa: B017  # whatever the driver says of a value that it cannot take
        store.restore([KeptSkill(skill("b"), "p", b"t", None), broken], operation=operation())
    assert stored(store) == before
