"""Does a reader of the change feed see every change once, and know when it must begin anew?"""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from brain.store.base import CONFIDENCE_UNITS
from brain.store.values import CHANGES_PAGE
from tests.store.samples import draft, edge, entries, operation, order, record, save, stored, vector

SMALL_PAGE = 3


class Reader:
    """A view that follows the feed as the engine does."""

    def __init__(self, store):
        self._store = store
        self.entries, self.version, self.store_id, self.begun = {}, 0, "", 0

    def look(self):
        """Reads until there is no more; the ids in the order they came."""
        seen, more = [], True
        while more:
            changes = self._store.changes(self.version)
            if changes.stale:
                self.begun += 1
                self.entries = entries(self._store)
                seen += sorted(self.entries)
            else:
                for skill_id in changes.deleted:
                    self.entries.pop(skill_id, None)
                self.entries |= {entry.id: entry for entry in changes.entries}
                seen += [entry.id for entry in changes.entries]
            assert changes.version >= self.version or changes.stale
            self.version, self.store_id = changes.version, changes.store_id
            more = changes.more
        return seen


def test_a_reader_that_never_read_is_stale_and_then_up_to_date(store):
    save(store, "a", "b")
    first = store.changes(0)
    assert first.stale and not first.entries and not first.more
    assert sorted(entries(store)) == ["a", "b"]
    again = store.changes(first.version)
    assert not again
    assert (again.version, again.store_id) == (first.version, first.store_id)


def test_an_empty_namespace_has_nothing_to_say(store):
    assert not store.changes(0)
    assert list(store.entries(10, vectors=True)) == []
    assert store.count() == 0
    assert store.summary(3)["total_skills"] == 0


def test_an_entry_holds_what_recall_needs(store, clock):
    made = draft(
        "a", "bread", confidence=0.25, transfer_count=4, transfer_successes=3, expires_at="2026-02-03T04:05:06.7"
    )
    store.save(made, expected_version=None, operation=operation())
    (entry,) = entries(store).values()
    assert entry.shape == made.skill.features.shape
    assert (entry.skill_type, entry.fingerprint) == ("procedural", made.skill.fingerprint())
    assert (entry.confidence, entry.transfer_count, entry.transfer_successes) == (0.25, 4, 3)
    assert entry.expires_at == 1770091506_700000
    assert (entry.terms, entry.vector) == (made.terms, made.vector)
    (without,) = entries(store, vectors=False).values()
    assert (without.terms, without.vector) == (made.terms, None)
    since = store.changes(0).version
    store.feedback("a", record(), ttl=False, operation=operation())
    (changed,) = store.changes(since).entries
    assert (changed.transfer_count, changed.transfer_successes, changed.vector) == (5, 4, made.vector)
    assert changed.expires_at == entry.expires_at
    assert changed.confidence == pytest.approx(0.2875)


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_entries_come_by_id_whatever_the_size_of_a_page(store, size):
    store.save_many([draft(f"s{i}") for i in range(7)], operation=operation())
    pages = list(store.entries(size, vectors=True))
    assert [entry.id for page in pages for entry in page] == [f"s{i}" for i in range(7)]
    assert all(len(page) <= size for page in pages)


def test_what_each_write_changes_is_fed_once(store, clock):
    save(store, "a", "b", "c")
    reader = Reader(store)
    reader.look()
    writes = {
        "save": lambda: save(store, "a"),
        "feedback": lambda: store.feedback("b", record(), ttl=True, operation=operation()),
        "vectors": lambda: store.set_vectors([("c", vector("new"))], operation=operation()),
        "profiles": lambda: store.set_profiles([("a", 2, "new", b"new")], operation=operation()),
        "learn": lambda: store.learn([order("d")], operation=operation()),
        "reinforce": lambda: store.learn([order("d2", "d")], operation=operation()),
        "many": lambda: store.save_many([draft("b"), draft("e")], operation=operation()),
    }
    wanted = {
        "save": "a",
        "feedback": "b",
        "vectors": "c",
        "profiles": "a",
        "learn": "d",
        "reinforce": "d",
        "many": "be",
    }
    for name, write in writes.items():
        write()
        assert "".join(sorted(reader.look())) == wanted[name], name
        assert reader.look() == [], name
        assert reader.entries == entries(store), name
    assert reader.begun == 1
    assert store.changes(0).store_id == reader.store_id


def test_a_deletion_is_fed_and_what_is_written_again_is_not_deleted(store):
    save(store, "a", "b")
    since = store.changes(0).version
    assert store.delete("a", operation=operation())
    assert list(store.changes(since).deleted) == ["a"]
    save(store, "a")
    changes = store.changes(since)
    assert [entry.id for entry in changes.entries] == ["a"]
    assert list(changes.deleted) == []
    assert not store.delete("nobody", operation=operation())


def test_what_has_expired_is_not_fed(store, clock):
    save(store, "a")
    since = store.changes(0).version
    save(store, "b", expires_at=clock().isoformat())
    assert list(store.changes(since).entries) == []
    assert list(entries(store)) == ["a"]


def expiring(store, clock, skill_id, **later):
    save(store, skill_id, expires_at=(clock() + timedelta(**later)).isoformat())


def test_what_is_saved_as_expired_is_fed_as_gone(store, clock):
    save(store, "a", "b")
    since = store.changes(0).version
    expiring(store, clock, "a", hours=-1)
    changes = store.changes(since)
    assert (list(changes.entries), list(changes.deleted)) == ([], ["a"])
    assert not store.changes(changes.version)
    store.sweep(10, operation=operation())
    assert list(store.changes(since).deleted) == ["a"]


@pytest.mark.parametrize("told", [None, {"days": 30}], ids=["never", "late"])
def test_a_shortened_expiry_is_fed_to_those_who_look_when_the_skill_is_gone(store, clock, told):
    if told:
        expiring(store, clock, "a", **told)
    else:
        save(store, "a")
    reader = Reader(store)
    reader.look()
    since = reader.version
    expiring(store, clock, "a", hours=2)
    (entry,) = store.changes(since).entries
    assert entry.expires_at is not None
    assert list(store.changes(since).deleted) == []
    clock.advance(hours=3)
    assert list(store.changes(since).deleted) == ["a"]
    assert store.sweep(10, operation=operation()) == 1
    assert list(store.changes(since).deleted) == ["a"]
    reader.look()
    assert reader.entries == {}
    assert reader.begun == 1


def test_a_shortened_skill_that_is_written_again_is_fed_as_it_is(store, clock):
    save(store, "a")
    since = store.changes(0).version
    expiring(store, clock, "a", hours=1)
    clock.advance(hours=2)
    save(store, "a", confidence=0.75)
    changes = store.changes(since)
    assert [(entry.id, entry.confidence) for entry in changes.entries] == [("a", 0.75)]
    assert list(changes.deleted) == []


def test_many_shortened_at_once_are_all_fed(store, clock):
    ids = [f"s{i}" for i in range(8)]
    save(store, *ids, "kept")
    since = store.changes(0).version
    moved = [
        replace(kept, skill=kept.skill.model_copy(update={"expires_at": (clock() + timedelta(hours=1)).isoformat()}))
        for page in store.export()
        for kept in page
        if kept.skill.id != "kept"
    ]
    store.restore(moved, operation=operation())
    clock.advance(hours=2)
    while store.sweep(3, operation=operation()):
        pass
    assert sorted(store.changes(since).deleted) == ids
    assert sorted(entries(store)) == ["kept"]


def test_what_expires_when_it_said_it_would_takes_no_place_among_the_deletions(store, clock):
    expiring(store, clock, "a", hours=1)
    expiring(store, clock, "a", hours=2)  # prolonged
    save(store, "b")
    since = store.changes(0).version
    clock.advance(hours=3)
    store.sweep(10, operation=operation())
    save(store, "c")
    changes = store.changes(since)
    assert ([entry.id for entry in changes.entries], list(changes.deleted)) == (["c"], [])


def test_a_long_way_is_read_a_page_at_a_time_and_one_write_stays_together(store):
    save(store, "first")
    since = store.changes(0).version
    store.save_many([draft(f"s{i:05}", with_vector=False) for i in range(CHANGES_PAGE + 5)], operation=operation())
    save(store, "last")
    changes = store.changes(since)
    assert len(changes.entries) == CHANGES_PAGE + 5
    assert changes.more
    rest = store.changes(changes.version)
    assert [entry.id for entry in rest.entries] == ["last"]
    assert not rest.more and rest.version == store.changes(0).version


def test_a_version_of_another_store_is_stale(store):
    save(store, "a")
    assert store.changes(store.changes(0).version + 10).stale


def test_a_store_that_was_replaced_has_another_id(store, store_place):
    save(store, "a")
    before = store.changes(0).store_id
    assert before
    assert store_place.open().changes(0).store_id == before
    assert store_place.open(f"{store.namespace}-other").changes(0).store_id != before
    store_place.raw.clear_everything()
    assert store.changes(1).stale
    save(store, "b")
    assert store.changes(0).store_id not in ("", before)


def test_fetch_gives_skills_and_changes_of_one_moment(store):
    save(store, "a", "b")
    since = store.changes(0).version
    store.feedback("a", record(), ttl=False, operation=operation())
    found, changes = store.fetch(["b", "nobody", "a"], since)
    assert [skill.id for skill in found] == ["b", "a"]
    assert [entry.id for entry in changes.entries] == ["a"]
    assert found[1].transfer_count == 1
    assert not store.fetch([], changes.version)[1]
    assert store.fetch(["a"], 0)[1].stale


def test_every_change_is_seen_while_writers_run(store_place, store):
    save(store, *(f"s{i}" for i in range(8)))
    writers = [store_place.open() for _ in range(4)]
    reader, done = Reader(store_place.open()), threading.Event()
    reader.look()

    def write(i):
        for n in range(10):
            writers[i].feedback(f"s{(i + n) % 8}", record(n % 3 > 0), ttl=False, operation=operation())
            save(writers[i], f"new-{i}-{n}")
            if n % 3 == 2:
                writers[i].delete(f"new-{i}-{n - 1}", operation=operation())

    def follow():
        seen = []
        while not done.is_set():
            seen += reader.look()
        return seen + reader.look()

    with ThreadPoolExecutor(5) as pool:
        following = pool.submit(follow)
        list(pool.map(write, range(4)))
        done.set()
        seen = following.result()
    assert reader.entries == entries(store)
    assert reader.begun == 1
    kept = [skill_id for skill_id in stored(store) if skill_id.startswith("new")]
    assert all(seen.count(skill_id) == 1 for skill_id in kept)


def test_profiles_are_given_and_replaced(store):
    save(store, "a", "b")
    assert store.profiles(["a", "nobody", "b"]) == {"a": "profile of a", "b": "profile of b"}
    rows = [("a", 1, "newer", b"newer terms"), ("b", 7, "of another version", b"x"), ("nobody", 1, "x", b"x")]
    since = store.changes(0).version
    store.set_profiles(rows, operation=operation())
    assert [entry.id for entry in store.changes(since).entries] == ["a"]
    assert store.profiles(["b"]) == {"b": "profile of b"}, "it was written since it was read"
    assert store.profiles(["a"]) == {"a": "newer"}
    assert entries(store)["a"].terms == b"newer terms"
    assert entries(store)["a"].vector == vector("a")
    store.save(draft("a", with_vector=False), expected_version=None, operation=operation())
    assert entries(store)["a"].vector is None, "the text is another than the stored one"
    store.set_vectors([("a", vector("x"))], operation=operation())
    store.save(draft("a", with_vector=False), expected_version=None, operation=operation())
    assert entries(store)["a"].vector == vector("x"), "the text is the same"


def test_edges_are_not_what_recall_reads(store):
    save(store, "a", "b")
    since = store.changes(0).version
    store.add_edge(edge("a", "b"), operation=operation())
    assert list(store.changes(since).entries) == []


def test_confidences_are_counted_in_whole_units(store):
    save(store, *(f"s{i}" for i in range(10)), confidence=0.1)
    assert store.summary(1)["avg_confidence"] == 0.1
    assert CONFIDENCE_UNITS == 2**40
