"""Are edges, walks, tags, pages and the sweep right, and is what has expired in none of them?"""

from datetime import timedelta

import pytest

from brain.errors import ConflictError, SkillNotFoundError
from brain.model.relations import Relation
from tests.store.samples import draft, edge, operation, order, record, save, stored


def distances(found):
    return [(skill.id, distance) for skill, distance in found]


@pytest.fixture
def chain(store, clock):
    """a - b - c - d - e in alternating directions, a - x - e where x expires in an hour."""
    save(store, *"abcde")
    save(store, "x", expires_at=(clock() + timedelta(hours=1)).isoformat())
    for i, (one, other) in enumerate(zip("abcd", "bcde", strict=True)):
        store.add_edge(edge(*((one, other) if i % 2 else (other, one))), operation=operation())
    store.add_edge(edge("a", "x", Relation.SPECIALIZES), operation=operation())
    store.add_edge(edge("x", "e", Relation.SPECIALIZES), operation=operation())
    return store


def test_walks_go_both_ways_nearest_first(chain):
    assert distances(chain.related("a", None, 1)) == [("b", 1), ("x", 1)]
    assert distances(chain.related("a", None, 3)) == [("b", 1), ("x", 1), ("c", 2), ("e", 2), ("d", 3)]
    assert distances(chain.related("a", Relation.COMPLEMENTS, 4)) == [("b", 1), ("c", 2), ("d", 3), ("e", 4)]
    assert chain.related("a", Relation.CONFLICTS_WITH, 3) == []
    assert chain.related("nobody", None, 3) == []


def test_an_expired_skill_is_neither_found_nor_walked_through(chain, clock):
    clock.advance(hours=2)
    assert distances(chain.related("a", None, 4)) == [("b", 1), ("c", 2), ("d", 3), ("e", 4)]
    assert chain.related("x", None, 2) == []
    assert chain.edges("x") == []
    assert [found.target for found in chain.edges("a")] == ["b"]
    assert [found.source for page in chain.export_edges() for found in page] == ["b", "b", "d", "d"]


def test_a_skill_that_goes_takes_its_edges_along(chain, clock):
    assert chain.delete("c", operation=operation())
    assert distances(chain.related("a", Relation.COMPLEMENTS, 4)) == [("b", 1)]
    save(chain, "c")
    assert chain.edges("c") == []
    clock.advance(hours=2)
    assert chain.sweep(10, operation=operation()) == 1
    save(chain, "x")
    assert chain.edges("x") == []


def test_edges_need_two_live_ends(store):
    save(store, "a")
    with pytest.raises(SkillNotFoundError):
        store.add_edge(edge("a", "nobody"), operation=operation())


def test_a_tag_is_found_exactly_and_a_page_at_a_time(store, clock):
    store.save_many([draft(f"s{i}", tags=["x" * (i % 2 + 1), "x' OR 1"]) for i in range(7)], operation=operation())
    assert [[skill.id for skill in page] for page in store.pages("xx", 2)] == [["s1", "s3"], ["s5"]]
    assert [skill.id for page in store.pages("x' OR 1", 3) for skill in page] == [f"s{i}" for i in range(7)]
    assert list(store.pages("X")) == []
    store.save(draft("s1", tags=["y"]), expected_version=None, operation=operation())
    assert [skill.id for page in store.pages("xx") for skill in page] == ["s3", "s5"]


def test_the_sweep_removes_at_most_what_it_may_the_oldest_first(store, clock):
    for i in range(5):
        save(store, f"s{i}", expires_at=(clock() + timedelta(hours=i + 1)).isoformat())
    store.learn([order("t", expires_at=(clock() + timedelta(hours=9)).isoformat())], operation=operation())
    clock.advance(hours=4)
    assert store.count() == 6
    assert store.sweep(3, operation=operation()) == 3
    assert store.sweep(3, operation=operation()) == 1
    assert store.sweep(3, operation=operation()) == 0
    assert sorted(stored(store)) == ["s4", "t"]
    assert store.count() == 2


def test_a_version_that_was_expected_is_checked(store, clock):
    made = draft("a", expires_at=(clock() + timedelta(hours=1)).isoformat())
    assert store.save(made, expected_version=0, operation=operation()).version == 1
    assert store.save(made, expected_version=1, operation=operation()).version == 2
    for wrong in (0, 1, 3):
        with pytest.raises(ConflictError):
            store.save(made, expected_version=wrong, operation=operation())
    clock.advance(hours=2)
    assert store.save(draft("a"), expected_version=0, operation=operation()).version == 1


def test_many_are_saved_or_none(store):
    save(store, "a")
    store.save_many([draft("a"), draft("b"), draft("a", "again"), draft("c")], operation=operation())
    found = stored(store)
    assert (found["a"]["version"], found["a"]["name"], found["b"]["version"]) == (3, "Skill again", 1)
    with pytest.raises(Exception):  # noqa: B017  # whatever the driver says of a value that it cannot take
        store.save_many([draft("d"), draft("e").__class__(draft("e").skill, "p", object(), "k")], operation=operation())
    assert stored(store) == found


def test_uses_are_counted_on_top_of_what_was_written(store, clock):
    history = [record(False, note=i, timestamp=clock()) for i in range(98)]
    made = draft("a", transfer_history=history, transfer_count=98, confidence=0.5, usage_count=98)
    store.save(made, expected_version=None, operation=operation())
    for i in range(5):
        given = store.feedback("a", record(note=100 + i, timestamp=clock()), ttl=True, operation=operation()).skill
        (read,) = store.get_many(["a"])
        assert read.to_dict() == given.to_dict()
    assert (read.transfer_count, read.transfer_successes, read.usage_count, read.version) == (103, 5, 103, 6)
    assert len(read.transfer_history) == 100
    assert [one.model_extra["note"] for one in read.transfer_history[-6:]] == [97, 100, 101, 102, 103, 104]
    assert read.transfer_history[-5].confidence == 0.5
    store.save(draft("a"), expected_version=None, operation=operation())
    (read,) = store.get_many(["a"])
    assert (read.transfer_count, read.transfer_history, read.version) == (0, [], 7)
    assert store.feedback("nobody", record(), ttl=True, operation=operation()) is None
