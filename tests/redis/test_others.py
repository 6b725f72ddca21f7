"""Is what OrKa writes behind our back, and what Redis drops, seen at the next look?"""

import json
import time
from datetime import timedelta

import pytest

from brain import Edge, Relation, SkillTransferRecord, SyncBrain
from brain.errors import ConflictError, StoreError
from brain.store.redis.connection import Connection
from brain.store.redis.permissions import rules
from tests.contract.samples import BREAD, audit, bread, ids
from tests.redis.drafts import bare, draft, entry_ids, op, save
from tests.redis.golden_files import documents, golden
from tests.redis.orka import Orka

pytestmark = pytest.mark.redis

ID = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def orka(spot):
    return Orka(spot)


@pytest.fixture(params=["tracking", "no tracking"])
def follower(spot, request):
    """A store that the server tells what changed, and one to whom it may not."""
    if request.param == "tracking":
        return spot.store()
    name, admin = f"u-{spot.prefix}", spot.client
    allowed = [rule for rule in rules(spot.prefix) if "tracking" not in rule]
    admin.execute_command("ACL", "SETUSER", name, "reset", ">secret", *allowed)
    request.addfinalizer(lambda: admin.acl_deluser(name))
    return spot.store(spot.location.replace("://", f"://{name}:secret@"))


def brain_on(spot, store):
    return SyncBrain(store)


def test_a_recall_sees_what_orka_saved_changed_and_deleted(spot, follower, orka):
    brain = brain_on(spot, follower)
    learned = brain.learn(**audit())
    assert brain.recall({"task": BREAD, "domain": "kitchen"}) == []
    fields = json.loads(spot.client.get(spot.keys.document(learned.id)))
    other = {**fields, "name": "bread", "description": "", "procedure": [{"action": "bake sourdough bread"}]}
    other["source_context"] = {"metadata": {"domain": "kitchen", "task": BREAD}}
    orka.save("theirs", other)
    assert ids(c.skill for c in brain.recall({"task": BREAD, "domain": "kitchen"})) == ["theirs"]
    orka.change("theirs", usage_count=7, confidence=0.25)
    (found,) = brain.recall({"task": BREAD, "domain": "kitchen"})
    assert (found.skill.usage_count, found.confidence_score) == (7, 0.25)
    orka.change("theirs", procedure=[{"action": "paint a fence"}], source_context={"metadata": {"task": "paint"}})
    assert brain.recall({"task": BREAD, "domain": "kitchen"}) == []
    orka.delete("theirs")
    assert brain.recall({"task": "paint a fence"}) == []
    assert ids(brain.get_skills()) == [learned.id]


def test_every_kind_of_change_is_fed_to_every_reader(spot, follower, orka):
    other = spot.store()
    save(other, bare("ours", spot.clock))
    seen = {store: store.changes(0).version for store in (follower, other)}

    def news():
        found = []
        for store in seen:
            changes = store.changes(seen[store])
            seen[store] = changes.version
            found.append((sorted(entry.id for entry in changes.entries), sorted(changes.deleted)))
        assert found[0] == found[1]
        return found[0]

    assert news() == ([], [])
    orka.save("a", {"name": "a"})
    orka.save("b", {"name": "b"})
    assert news() == (["a", "b"], [])
    orka.change("ours", confidence=0.125)
    assert news() == (["ours"], [])
    orka.delete("a")
    assert news() == ([], ["a"])
    spot.client.delete(spot.keys.document("b"))  # as native expiry does, which leaves the index
    assert news() == ([], ["b"])
    spot.client.set(spot.keys.document("ours"), "{broken")
    assert news() == ([], ["ours"])
    assert news() == ([], [])
    orka.save("ours", {"name": "again"})
    assert news() == (["ours"], [])


def test_native_expiry_is_seen_and_swept(spot, follower, orka):
    save(follower, bare("stays", spot.clock, tags=["t"]))
    version = follower.changes(0).version
    orka.save("theirs", {"name": "n", "tags": ["t"]})
    follower.add_edge(Edge(source="stays", target="theirs", relation=Relation.COMPLEMENTS), operation=op())
    version = follower.changes(version).version
    spot.client.pexpire(spot.keys.document("theirs"), 1)
    until = time.monotonic() + 5
    while spot.client.exists(spot.keys.document("theirs")) and time.monotonic() < until:
        pass
    assert follower.changes(version).deleted == ["theirs"]
    assert ids(s for page in follower.pages() for s in page) == ["stays"]
    assert (follower.count(), follower.sweep(10, operation=op()), follower.count()) == (2, 1, 1)
    assert spot.client.smembers(spot.keys.tag("t")) == {"stays"}
    assert follower.edges("stays") == []
    assert not spot.client.exists(spot.keys.edges("theirs"), spot.keys.edges("stays"))


def test_a_flushed_database_is_seen_as_empty():
    from tests.redis.conftest import Spot
    from tests.services import own_redis

    server = own_redis()
    spot = Spot(server)
    try:
        store = spot.store()
        save(store, bare("a", spot.clock))
        before = store.changes(0)
        spot.client.flushdb()
        changes = store.changes(before.version)
        assert (changes.version, changes.stale) == (0, True)
        save(store, bare("b", spot.clock))
        assert store.changes(0).store_id not in ("", before.store_id)
        assert entry_ids(store) == ["b"]
    finally:
        spot.close()
        server.stop()


def test_tracking_goes_on_after_its_connection_broke(spot, orka):
    store = spot.store()
    version = store.changes(0).version
    for row in spot.client.client_list(_type="normal"):
        if "t" in row["flags"] or "B" in row["flags"]:
            spot.client.client_kill_filter(_id=row["id"])
    orka.save("a", {"name": "a"})
    changes = store.changes(version)
    assert changes.stale or [entry.id for entry in changes.entries] == ["a"]
    seen = store.changes(0).version
    orka.save("b", {"name": "b"})
    assert [entry.id for entry in store.changes(seen).entries] == ["b"]


def test_a_conflict_with_orkas_write_is_noticed(spot, store, orka):
    save(store, bare("a", spot.clock))
    (mine,) = store.get_many(["a"])
    orka.change("a", description="theirs")
    with pytest.raises(ConflictError):
        store.save(draft(mine), expected_version=mine.version, operation=op())
    (theirs,) = store.get_many(["a"])
    assert (theirs.description, theirs.version) == ("theirs", mine.version + 1)
    assert store.save(draft(theirs), expected_version=theirs.version, operation=op()).version == mine.version + 2


def test_what_orka_counted_is_counted_and_what_the_history_lost_stays_counted(spot, store, orka):
    save(store, bare("a", spot.clock))
    for i in range(103):
        record = SkillTransferRecord(target_context={"i": i}, success=i % 2 == 0, timestamp=spot.clock())
        store.feedback("a", record, ttl=True, operation=op())
    history = json.loads(spot.client.get(spot.keys.document("a")))["transfer_history"]
    assert len(history) == 100
    orka.change("a", transfer_history=[*history, {"target_context": {}, "success": True}])
    (found,) = store.get_many(["a"])
    assert (found.transfer_count, found.transfer_successes, len(found.transfer_history)) == (104, 53, 100)
    store.feedback("a", record, ttl=True, operation=op())
    (found,) = store.get_many(["a"])
    assert (found.transfer_count, found.transfer_successes, len(found.transfer_history)) == (105, 54, 100)


def test_what_an_analysis_made_holds_until_orka_changes_the_text(spot, store, orka):
    save(store, bare("a", spot.clock))
    store.set_vectors([("a", b"\0\0\x80?")], operation=op())
    orka.change("a", usage_count=3, confidence=0.75)
    (entry,) = store.fetch([], 1)[1].entries
    assert (entry.terms, entry.vector, entry.confidence) == (b"terms of a", b"\0\0\x80?", 0.75)
    assert store.profiles(["a"]) == {"a": "profile of a"}
    orka.change("a", description="another text")
    (entry,) = store.changes(2).entries
    assert (entry.terms, entry.vector) == (None, None)
    assert store.profiles(["a"]) == {}
    (found,) = store.get_many(["a"])
    store.set_profiles([("a", found.version - 1, "stale", b"stale")], operation=op())
    assert store.profiles(["a"]) == {}
    store.set_profiles([("a", found.version, "new", b"new")], operation=op())
    assert store.profiles(["a"]) == {"a": "new"}


def test_skills_of_orka_are_recalled_without_having_been_saved_by_us(spot):
    spot.load(golden("01"))
    with SyncBrain.open(spot.location, clock=spot.clock) as brain:
        task = documents(golden("01"))[ID][1]["task_description"]
        (found,) = brain.recall({"task": task, "domain": "text_analysis"})
        assert found.skill.id == ID
        assert brain.get_skill_summary()["total_skills"] == 1
        assert brain.learn(**bread()).id != ID


def test_an_edge_to_an_expired_skill_is_hidden(spot, store):
    soon = (spot.clock() + timedelta(hours=1)).isoformat()
    save(store, bare("a", spot.clock), bare("b", spot.clock, expires_at=soon))
    store.add_edge(Edge(source="a", target="b", relation=Relation.COMPLEMENTS), operation=op())
    spot.clock.advance(hours=2)
    assert store.edges("a") == store.related("a", None, 3) == []
    assert store.sweep(10, operation=op()) == 1
    assert not spot.client.exists(spot.keys.edges("a"))


def test_the_cost_of_a_sweep_follows_what_expired(spot, store):
    soon = (spot.clock() + timedelta(hours=1)).isoformat()

    def cost():
        """Commands that the server carries out for a sweep of three."""
        save(store, *(bare(f"goner{i}", spot.clock, tags=["t"], expires_at=soon) for i in range(3)))
        spot.clock.now += timedelta(hours=1)
        before = spot.client.info("commandstats")
        assert store.sweep(100, operation=op()) == 3
        spot.clock.now -= timedelta(hours=1)
        after = spot.client.info("commandstats")
        return sum(row["calls"] - before.get(name, {"calls": 0})["calls"] for name, row in after.items())

    few = cost()
    save(store, *(bare(f"s{i}", spot.clock, tags=["t"]) for i in range(500)))
    store.changes(0)
    assert cost() <= few + 20


def test_ours_is_the_only_connection_that_listens(spot, store):
    assert isinstance(store._backend, Connection)
    store.changes(0)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.changes(0)
