"""Is every write of a store followed by a delivery, also one that is added later?"""

from datetime import timedelta

import pytest

from brain.engine.delivery import UNTOLD, DeliveringStore, undelivered, writes_of
from brain.model.relations import Edge, Relation
from brain.store.base import Store
from brain.store.location import open_store
from brain.store.values import EmbeddingStamp
from tests.clock import FakeClock
from tests.store.samples import draft, operation, order, record, save, vector

EDGE = Edge(source="a", target="b", relation=Relation.COMPLEMENTS)
WRITES = {
    "learn": lambda s: s.learn([order("c")], operation=operation()),
    "feedback": lambda s: s.feedback("a", record(), ttl=True, operation=operation()),
    "save": lambda s: s.save(draft("a"), expected_version=None, operation=operation()),
    "save_many": lambda s: s.save_many([draft("a"), draft("d")], operation=operation()),
    "delete": lambda s: s.delete("a", operation=operation()),
    "add_edge": lambda s: s.add_edge(EDGE, operation=operation()),
    "remove_edge": lambda s: s.remove_edge(EDGE, operation=operation()),
    "sweep": lambda s: s.sweep(10, operation=operation()),
    "claim_sweep": lambda s: s.claim_sweep(timedelta(hours=1), operation=operation()),
    "set_profiles": lambda s: s.set_profiles([("a", 1, "p", b"t")], operation=operation()),
    "note_mark": lambda s: s.note_mark("mark", operation=operation()),
    "set_embedding_stamp": lambda s: s.set_embedding_stamp(EmbeddingStamp("m", 8, "t", "p"), None, operation="o"),
    "set_vectors": lambda s: s.set_vectors([("a", vector("a"))], operation=operation()),
    "restore": lambda s: s.restore([kept for page in s.export() for kept in page], operation=operation()),
    "restore_edges": lambda s: s.restore_edges([EDGE], operation=operation()),
    "set_mirror": lambda s: s.set_mirror("redis://elsewhere/0", operation=operation()),
    "delivered": lambda s: s.delivered(1, operation=operation()),
}
"""A use of every method that writes."""


@pytest.fixture
def store(tmp_path):
    """A store with a mirror, two connected skills, one that has expired, and nothing in the outbox."""
    clock = FakeClock()
    store = open_store(f"sqlite:///{tmp_path / 'brain.db'}", namespace="default", clock=clock)
    store.migrate()
    store.set_mirror("redis://localhost/0", operation=operation())
    save(store, "a", "b")
    save(store, "gone", expires_at=clock().isoformat())
    store.add_edge(EDGE, operation=operation())
    store.delivered(10**6, operation=operation())
    yield store
    store.close()


def test_there_is_a_use_of_every_write():
    assert set(WRITES) == writes_of(Store)
    assert writes_of(Store) >= UNTOLD


@pytest.mark.parametrize("name", WRITES)
def test_what_fills_the_outbox_is_followed(store, name):
    told = []
    WRITES[name](DeliveringStore(store, lambda: told.append(store.waiting().count)))
    waiting = store.waiting().count
    if name in UNTOLD:
        assert not told
        assert waiting == 0 or name == "set_mirror"
    else:
        assert told == [waiting], "told once, after the write"
        assert waiting > 0


def test_a_write_that_fails_is_not_followed(store):
    told = []
    following = DeliveringStore(store, lambda: told.append(1))
    with pytest.raises(LookupError):
        following.add_edge(Edge(source="a", target="nobody", relation="COMPLEMENTS"), operation=operation())
    assert told == []


def test_all_else_is_the_stores_own(store):
    following = DeliveringStore(store, lambda: None)
    assert undelivered(following) is store
    assert undelivered(store) is store
    assert (following.location, following.namespace, following.clock) == (store.location, "default", store.clock)
    assert [s.id for s in following.get_many(["a", "b"])] == ["a", "b"]
    with pytest.raises(AttributeError):
        _ = following.no_such_method
