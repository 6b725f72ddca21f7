"""Does every write happen once and whole, whoever else writes, and whatever happens to its answer?"""

import json
import threading
from datetime import timedelta

import pytest

from brain import Edge, LearnOutcome, Relation, SkillTransferRecord
from brain.errors import ConflictError, SkillNotFoundError
from brain.store.redis.connection import OPERATIONS_KEPT
from brain.store.values import EmbeddingStamp
from tests.contract.test_concurrency import in_processes, in_threads
from tests.redis.drafts import bare, draft, learn, op, order, save
from tests.redis.golden_files import documents, golden
from tests.redis.wire import Wire
from tests.redis.workers import give_feedback

pytestmark = pytest.mark.redis

ID = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def wire(redis_server):
    found = Wire(redis_server.url)
    yield found
    found.close()


@pytest.fixture
def lossy(spot, wire):
    """A store behind a wire that can lose an answer."""
    return spot.store(f"{wire.url}/0?prefix={spot.prefix}")


def lost(wire, call):
    """What `call` answers while the answer to its script is lost."""
    wire.swallow_the_answer_to(b"EVAL")
    answer = call()
    assert wire.swallowed.is_set()
    return answer


def test_feedback_of_eight_processes_is_all_counted_in_orkas_document(spot):
    spot.load(golden("01"))
    assert in_processes(8, give_feedback, spot.location, ID, 50) == [50] * 8
    fields = json.loads(spot.client.get(spot.keys.document(ID)))
    (found,) = spot.store().get_many([ID])
    assert (fields["usage_count"], found.usage_count, found.transfer_count, found.version) == (401, 401, 400, 401)
    assert found.transfer_successes == 200
    assert list(fields) == list(documents(golden("01"))[ID][1])


def test_what_orka_writes_between_reading_and_writing_is_not_lost(spot, store):
    save(store, bare("a", spot.clock))
    read, commit = store._backend.read, store._backend.commit

    def interrupted(plan, keys, operation):
        store._backend.commit = commit
        fields = json.loads(spot.client.get(spot.keys.document("a")))
        spot.client.set(spot.keys.document("a"), json.dumps({**fields, "description": "theirs", "usage_count": 5}))
        return commit(plan, keys, operation)

    store._backend.commit = interrupted
    record = SkillTransferRecord(target_context={}, success=True, timestamp=spot.clock())
    found = store.feedback("a", record, ttl=True, operation=op()).skill
    assert (found.usage_count, found.description) == (6, "theirs")
    assert read == store._backend.read


def test_a_document_never_stands_without_its_expiry(spot):
    expires_at = (spot.clock() + timedelta(days=1)).isoformat()
    store = spot.store()
    save(store, bare("a", spot.clock, expires_at=expires_at))
    stop, seen = threading.Event(), set()

    def watch():
        while not stop.is_set():
            seen.add(spot.client.ttl(spot.keys.document("a")) > 0)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(100):
        record = SkillTransferRecord(target_context={}, success=False, timestamp=spot.clock())
        store.feedback("a", record, ttl=True, operation=op())
    stop.set()
    watcher.join()
    assert seen == {True}


def test_learning_at_once_makes_one(spot):
    stores = [spot.store() for _ in range(6)]
    made = bare("x", spot.clock, name="the same")

    def work(i):
        return learn(stores[i], order(made.model_copy(update={"id": f"s{i}"})))[0].outcome

    outcomes = in_threads(6, work)
    assert sorted(outcomes) == [LearnOutcome.CREATED, *[LearnOutcome.REINFORCED] * 5]
    ((found,),) = stores[0].pages()
    assert (found.usage_count, found.version) == (5, 6)


def test_a_similar_skill_that_others_learned_meanwhile_is_found_inside(spot):
    ours, theirs = spot.store(), spot.store()
    save(ours, bare("other", spot.clock))
    calls, seen = [], ours.changes(0).version

    def find_twin(changes, profiles):
        calls.append([entry.id for entry in changes.entries])
        if len(calls) == 1:
            learn(theirs, order(bare("theirs", spot.clock)))
        return calls[-1][0] if calls[-1] else None

    (done,) = learn(ours, order(bare("ours", spot.clock), find_twin=find_twin, seen=seen))
    assert (done.outcome, done.skill.id) == (LearnOutcome.REINFORCED, "theirs")
    assert ours.count() == 2
    assert calls[0] == []


def test_orders_of_one_call_are_all_done_or_none(spot, store):
    first, second = bare("a", spot.clock, name="n"), bare("b", spot.clock, name="m")
    with pytest.raises(SkillNotFoundError):
        learn(store, order(first), order(second, derived_from=["nobody"]))
    assert (store.count(), spot.dump()) == (0, {})
    done = learn(store, order(first, trace_id="t"), order(first, trace_id="t"), order(second), order(first))
    assert [d.outcome.value for d in done] == ["created", "already_seen", "created", "reinforced"]
    assert [s.usage_count for s in store.get_many(["a", "b"])] == [1, 0]
    with pytest.raises(ConflictError):
        learn(store, order(bare("a", spot.clock, name="another")))


def test_a_dedup_key_of_an_expired_skill_gives_way(spot, store):
    soon = (spot.clock() + timedelta(hours=1)).isoformat()
    learn(store, order(bare("a", spot.clock, name="n", expires_at=soon)))
    spot.clock.advance(hours=2)
    (done,) = learn(store, order(bare("b", spot.clock, name="n")))
    assert (done.outcome, done.skill.id) == (LearnOutcome.CREATED, "b")
    store.sweep(10, operation=op())
    assert learn(store, order(bare("c", spot.clock, name="n")))[0].skill.id == "b"


# Answers that are lost


def test_a_lost_answer_counts_once(spot, lossy, wire):
    made = bare("a", spot.clock, name="n")
    done = lost(wire, lambda: learn(lossy, order(made, trace_id="t")))
    assert [(d.outcome, d.skill.version) for d in done] == [(LearnOutcome.CREATED, 1)]
    (again,) = lost(wire, lambda: learn(lossy, order(made)))
    assert (again.outcome, again.skill.usage_count) == (LearnOutcome.REINFORCED, 1)
    record = SkillTransferRecord(target_context={}, success=True, timestamp=spot.clock())
    found = lost(wire, lambda: lossy.feedback("a", record, ttl=True, operation=op()).skill)
    assert (found.usage_count, found.transfer_count, len(found.transfer_history), found.version) == (2, 1, 1, 3)
    new = draft(bare("b", spot.clock))
    assert lost(wire, lambda: lossy.save(new, expected_version=0, operation=op())).version == 1
    assert lost(wire, lambda: lossy.save(new, expected_version=1, operation=op())).version == 2
    edge = Edge(source="a", target="b", relation=Relation.COMPLEMENTS)
    lost(wire, lambda: lossy.add_edge(edge, operation=op()))
    assert lossy.edges("a") == [edge]
    assert lost(wire, lambda: lossy.delete("b", operation=op())) is True
    spot.clock.advance(days=1)
    save(lossy, bare("c", spot.clock, expires_at=(spot.clock() - timedelta(days=1)).isoformat()))
    assert lost(wire, lambda: lossy.sweep(10, operation=op())) == 1
    assert lost(wire, lambda: lossy.claim_sweep(timedelta(hours=1), operation=op())) is True
    assert lossy.claim_sweep(timedelta(hours=1), operation=op()) is False


def test_the_same_operation_again_changes_nothing(spot, store):
    made, operation = draft(bare("a", spot.clock)), op()
    for _ in range(3):
        assert store.save(made, expected_version=0, operation=operation).version == 1
    record = SkillTransferRecord(target_context={}, success=True, timestamp=spot.clock())
    operation = op()
    for _ in range(3):
        assert store.feedback("a", record, ttl=True, operation=operation).skill.transfer_count == 1
    operation = op()
    assert [store.delete("a", operation=operation) for _ in range(3)] == [True] * 3


def test_remembered_operations_are_bounded(spot, store):
    save(store, bare("a", spot.clock))
    for _ in range(OPERATIONS_KEPT + 5):
        store.set_vectors([("a", b"")], operation=op())
    assert spot.client.llen(spot.keys.operations) == spot.client.hlen(spot.keys.receipts) == OPERATIONS_KEPT


def test_the_first_stamp_holds_until_it_is_replaced(store):
    first, second = (EmbeddingStamp(name, 3, "procedure", "p") for name in ("one", "two"))
    assert store.embedding_stamp() is None
    assert store.set_embedding_stamp(first, None, operation=op()) == first
    assert store.set_embedding_stamp(second, None, operation=op()) == first
    assert store.set_embedding_stamp(second, first, operation=op()) == second
    assert store.embedding_stamp() == second
