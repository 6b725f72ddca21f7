"""Does all that is kept of a skill leave and come back, and can a Redis be kept as the copy of another store?"""

import numpy as np
import pytest

from brain import Edge, Relation, SkillTransferRecord, SyncBrain
from brain.errors import StoreError
from tests.contract.samples import AWKWARD, NESTED, RESERVED, audit, bread
from tests.redis.drafts import bare, learn, op, order, save
from tests.redis.golden_files import documents, golden

pytestmark = pytest.mark.redis


@pytest.fixture
def other(spot):
    return spot.store(f"{spot.url}/0?prefix={spot.prefix}-other")


@pytest.fixture
def rich(spot, store):
    """A store with all that there is."""
    with SyncBrain(spot.store()) as brain:
        brain.observe(**bread(), skill_id="bread", trace_id="t1")
        brain.observe(**bread(), trace_id="t2")
        brain.observe(**audit(), skill_id="audit")
    save(store, *(bare(f"s{i}", spot.clock, name=text, tags=[text]) for i, text in enumerate(AWKWARD.values())))
    save(store, bare("nested", spot.clock, procedure=[{"action": "a", "parameters": NESTED}], future=RESERVED))
    store.set_vectors([("bread", np.arange(3, dtype=np.float32).tobytes())], operation=op())
    for i in range(105):
        record = SkillTransferRecord(target_context={"i": i}, success=i % 3 == 0, timestamp=spot.clock())
        store.feedback("audit", record, ttl=True, operation=op())
    for target, relation in (("audit", Relation.COMPLEMENTS), ("s1", Relation.DERIVES_FROM)):
        edge = Edge(source="bread", target=target, relation=relation, metadata={"a": [1, 2.5, None]})
        store.add_edge(edge, operation=op())
    return store


def everything(store):
    kept = [one for page in store.export(7) for one in page]
    return kept, [edge for page in store.export_edges(2) for edge in page]


def copy(source, target):
    kept, edges = everything(source)
    target.restore(kept, operation=op())
    assert target.restore_edges(edges, operation=op()) == []
    return kept, edges


def test_everything_comes_back_and_twice_changes_nothing(rich, other):
    kept, edges = copy(rich, other)
    assert everything(other) == (kept, edges)
    before = other.count()
    copy(rich, other)
    assert everything(other) == (kept, edges)
    assert other.count() == before
    by_id = {one.skill.id: one for one in kept}
    assert len(by_id["bread"].traces) == 2
    assert by_id["bread"].dedup_key
    assert by_id["bread"].vector
    assert (by_id["audit"].skill.transfer_count, by_id["audit"].skill.version) == (105, 106)
    assert len(edges) == 2


def test_a_copy_is_learned_from_as_the_original(spot, rich, other):
    copy(rich, other)
    with SyncBrain(other) as brain:
        assert brain.observe(**bread(), trace_id="t1").outcome.value == "already_seen"
        assert brain.observe(**bread()).skill.id == "bread"


def test_orkas_documents_are_exported_with_every_field(spot, store):
    spot.load(golden("04"))
    ((one,),) = store.export()
    (_, fields) = next(iter(documents(golden("04")).values()))
    assert {key: one.skill.to_dict()[key] for key in fields} == fields
    assert (one.profile, one.terms, one.dedup_key, one.traces) == (None, None, None, [])


def test_a_dedup_key_that_a_live_skill_holds_is_left_out(spot, store, other):
    learn(store, order(bare("a", spot.clock, name="n")))
    learn(other, order(bare("b", spot.clock, name="n")))
    copy(store, other)
    assert {k.skill.id: k.dedup_key for page in other.export() for k in page} == {"a": None, "b": "dedup n"}


def test_edges_without_both_ends_come_back(spot, store):
    save(store, bare("a", spot.clock))
    edge = Edge(source="a", target="nobody", relation=Relation.COMPLEMENTS)
    assert store.restore_edges([edge], operation=op()) == [edge]
    assert not spot.client.exists(spot.keys.edges("a"))


def test_a_redis_takes_no_mirror(store):
    assert store.mirror() is None
    assert store.set_mirror(None, operation=op()) is False
    assert store.outbox(10) == []
    store.delivered(5, operation=op())
    assert store.waiting().count == 0
    with pytest.raises(StoreError, match="no mirror"):
        store.set_mirror("redis://x", operation=op())
