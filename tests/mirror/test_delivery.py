"""Does a mirror get what was written: soon, in order, once or more, and never an older state over a newer one?"""

import json
import socket
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import pytest
import redis

from brain import Edge, Relation, SkillStep
from brain.errors import LocationError, StoreError
from brain.store.redis.mirrored import OvertakenError
from brain.store.redis.permissions import rules
from brain.store.values import new_operation
from tests.contract.samples import audit, bread, skill

pytestmark = pytest.mark.redis


def differences(mirror):
    return [found for page in mirror.differences() for found in page]


def test_what_was_written_is_in_the_mirror_when_the_brain_is_closed(source):
    with source.mirrored() as brain:
        learned = brain.learn(**bread())
        other = brain.learn(**audit())
        brain.feedback(learned.id, {"task": "t"}, True)
        brain.skill_graph.add_edge(learned.id, "COMPLEMENTS", other.id, {"n": [1, None]})
        wanted = brain.get_skill(learned.id)
    document = json.loads(source.document(learned.id))
    assert document["usage_count"] == wanted.usage_count
    assert document["transfer_history"] == wanted.to_dict()["transfer_history"]
    edge = {"target": other.id, "relation": "COMPLEMENTS", "metadata": {"n": [1, None]}}
    assert [json.loads(member) for member in source.client.smembers(source.keys.edges(learned.id))] == [edge]
    assert 0 < source.client.ttl(source.keys.document(learned.id)) <= 2_000 * 3600
    mirror = source.mirror()
    assert mirror.store.waiting().count == 0
    assert differences(mirror) == []


def test_a_process_that_names_no_mirror_delivers_to_the_one_that_is_noted(source):
    source.mirrored().close()
    with source.open() as brain:
        learned = brain.learn(**bread())
    assert source.document(learned.id)


def test_what_was_stored_before_is_delivered_too(source):
    with source.open() as brain:
        learned = brain.learn(**bread())
    source.mirrored().close()
    assert source.document(learned.id)


def test_a_removed_skill_leaves_nothing(source):
    with source.mirrored() as brain:
        for skill_id in ("a", "b"):
            brain.skill_graph.save_skill(skill(skill_id, tags=["x", skill_id]))
        brain.skill_graph.add_edge("a", "COMPLEMENTS", "b")
        brain.skill_graph.add_edge("b", "DERIVES_FROM", "a")
        brain.skill_graph.delete_skill("a")
        brain.skill_graph.save_skill(skill("b", tags=["y"]))
    assert source.dump().keys() == {"skill:b", "skill_index", "tags:y", "type_index:procedural", "domain_index:general"}


def test_an_edge_to_itself_that_was_imported_is_mirrored(source):
    with source.mirrored() as brain:
        brain.skill_graph.save_skills([skill("a"), skill("b")])
        edges = [Edge(source=a, target=b, relation=Relation.COMPLEMENTS) for a, b in ("aa", "ab")]
        assert brain._store.restore_edges(edges, operation=new_operation()) == []
    mirror = source.mirror()
    assert mirror.store.waiting().count == 0
    assert differences(mirror) == []
    relations = [json.loads(member)["relation"] for member in source.client.smembers(source.keys.edges("a"))]
    assert sorted(relations) == ["COMPLEMENTS", "COMPLEMENTS", "REVERSE_COMPLEMENTS"]


def test_a_swept_skill_leaves_nothing(source):
    with source.mirrored() as brain:
        brain.skill_graph.save_skill(skill("a", expires_at=(source.clock() + timedelta(hours=1)).isoformat()))
    later = source.clock() + timedelta(hours=2)
    source.clock = lambda: later
    with source.open() as brain:
        assert brain.cleanup_expired_skills()["deleted"] == 1
    assert source.dump() == {}


def changed(brain, description):
    return brain.skill_graph.save_skill(skill("a", description=description))


def test_a_deliverer_that_was_overtaken_writes_nothing_old(source):
    brain, slow, quick = source.open(), source.mirror(), source.mirror()
    slow.link()
    changed(brain, "old")
    quick.sync()
    changed(brain, "older than the last")
    marks = slow._copy.marks(["a"])
    present = slow._present(["a"])
    changed(brain, "newest")
    assert quick.deliver() == 1
    with pytest.raises(OvertakenError):
        slow._copy.put(present, marks, slow._source_id())
    assert json.loads(source.document("a"))["description"] == "newest"
    assert differences(slow) == []


def test_a_deliverer_that_was_overtaken_by_a_removal_does_not_bring_a_skill_back(source):
    brain, slow, quick = source.open(), source.mirror(), source.mirror()
    slow.link()
    quick.sync()
    changed(brain, "first")
    marks, present = slow._copy.marks(["a"]), slow._present(["a"])  # nothing of it was delivered yet
    brain.skill_graph.delete_skill("a")
    quick.deliver()
    with pytest.raises(OvertakenError):
        slow._copy.put(present, marks, slow._source_id())
    changed(brain, "second life")
    quick.deliver()
    with pytest.raises(OvertakenError):
        slow._copy.put(present, marks, slow._source_id())
    assert json.loads(source.document("a"))["description"] == "second life"


def test_deliverers_at_once_leave_the_newest_state(source):
    """Four deliver what two write to three skills, with edges and removals; nothing is compared in between."""
    brain = source.open()
    first = source.mirror()
    first.link()
    first.sync()
    over = threading.Event()

    def write(seed):
        for i in range(40):
            mine, other = f"s{(seed + i) % 3}", f"s{(seed + i + 1) % 3}"
            if i % 9 == 8:
                brain.skill_graph.delete_skill(mine)
            else:
                brain.skill_graph.save_skill(skill(mine, description=f"{seed} {i}", tags=[f"t{i % 4}"]))
            if i % 4 == 1 and brain.get_skill(mine) and brain.get_skill(other):
                try:
                    brain.skill_graph.add_edge(mine, "COMPLEMENTS", other, {"i": i, "by": seed})
                except LookupError:
                    continue  # the other writer removed an end meanwhile

    def deliver(mirror):
        while not over.is_set() or mirror.store.waiting().count:
            mirror.deliver()

    mirrors = [source.mirror() for _ in range(4)]
    with ThreadPoolExecutor() as threads:
        delivering = [threads.submit(deliver, mirror) for mirror in mirrors]
        for writing in [threads.submit(write, seed) for seed in range(2)]:
            writing.result()
        over.set()
        for done in delivering:
            done.result()
    assert differences(first) == []


def test_a_mirror_that_lost_everything_gets_it_again(source):
    with source.mirrored() as brain:
        learned = brain.learn(**bread())
    source.flush()
    mirror = source.mirror()
    assert [found.kind for found in differences(mirror)] == ["missing"]
    assert mirror.sync() == 1
    assert differences(mirror) == []
    assert mirror.sync() == 0
    assert source.document(learned.id)


def test_what_others_put_into_the_mirror_stays_until_it_is_repaired(source):
    with source.mirrored() as brain:
        brain.skill_graph.save_skill(skill("a"))
    foreign = json.loads(source.document("a")) | {"id": "foreign"}
    source.client.set(source.keys.document("foreign"), json.dumps(foreign))
    source.client.hset(source.keys.index, "foreign", "Foreign")
    mirror = source.mirror()
    mirror._copy.note_complete("an earlier run")
    mirror.sync()
    assert [(found.skill_id, found.kind) for found in differences(mirror)] == [("foreign", "extra")]
    assert sum(map(len, mirror.differences(repair=True))) == 1
    assert differences(mirror) == []
    assert not source.document("foreign")


def test_every_part_of_the_layout_is_compared_and_repaired(source):
    with source.mirrored() as brain:
        for skill_id in "abcdefg":
            lasting = (source.clock() + timedelta(days=3)).isoformat()
            brain.skill_graph.save_skill(skill(skill_id, tags=["x"], expires_at=lasting))
        brain.skill_graph.add_edge("a", "COMPLEMENTS", "b")
    intact, keys, client = source.dump(), source.keys, source.client
    client.set(keys.document("c"), client.get(keys.document("c")).replace("0.5", "0.25"), keepttl=True)
    client.delete(keys.document("d"))
    client.hset(keys.index, "e", "another name")
    client.persist(keys.document("f"))
    client.srem(keys.tag("x"), "g")
    client.delete(keys.edges("b"))
    mirror = source.mirror()
    found = {one.skill_id: (one.kind, list(one.details)) for one in differences(mirror)}
    assert found.pop("c")[1][0] == "confidence"
    assert found == {
        "b": ("different", ["edges"]),
        "d": ("missing", []),
        "e": ("different", ["index"]),
        "f": ("different", ["expiry"]),
        "g": ("different", ["tags:x"]),
    }
    for _ in mirror.differences(repair=True):
        pass
    assert differences(mirror) == []
    assert source.dump() == intact


def test_a_key_that_holds_no_document_holds_up_nothing(source, caplog):
    source.client.rpush(source.keys.document("a"), "no document")
    with source.mirrored() as brain:
        brain.skill_graph.save_skills([skill("a"), skill("b")])
    assert source.document("b")
    assert source.mirror().store.waiting().count == 0
    assert source.keys.document("a") in caplog.text


def test_a_skill_that_the_store_cannot_read_stays_in_the_mirror(file_source):
    with file_source.mirrored() as brain:
        brain.skill_graph.save_skill(skill("a", procedure=[SkillStep(action="x")]))
    path = file_source.location.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE body SET document = 'no json'")
        connection.execute("UPDATE skill SET changed = changed + 1")
    assert file_source.mirror().sync() == 1
    assert file_source.document("a")


# Whose mirror it is


def test_another_mirror_is_refused_and_noted_nowhere(source):
    source.mirrored().close()
    with pytest.raises(StoreError, match="brain redis unlink"):
        source.open(f"{source.mirror_location}-other")
    assert source.mirror().store.mirror() == source.mirror()._copy.location


def test_the_mirror_of_another_store_is_refused_until_it_is_taken_over(source, tmp_path):
    source.mirrored().close()
    mine, source.location, source.namespace = source.location, f"sqlite:///{tmp_path / 'other.db'}", source.namespace
    with pytest.raises(StoreError, match="another store"):
        source.mirrored()
    mirror = source.mirror()
    assert mirror.store.mirror() is None
    mirror.link()
    mirror.claim(take_over=True)
    mirror.sync()
    source.location = mine
    with source.open() as brain:
        brain.learn(**bread())
        assert brain._store.waiting().count == 1


def test_a_mirror_under_another_name_is_the_same(source):
    source.mirrored().close()
    other = source.mirror_location.replace("127.0.0.1", "localhost")
    with source.open(other) as brain:
        learned = brain.learn(**bread())
    assert source.document(learned.id)
    assert "localhost" not in source.mirror().store.mirror()


def test_only_a_redis_is_a_mirror_and_a_redis_has_none(source, tmp_path):
    with pytest.raises(LocationError, match="A mirror is a Redis"):
        source.open(f"sqlite:///{tmp_path / 'x.db'}")
    source.location, wanted = source.mirror_location, f"{source.mirror_location}-x"
    with pytest.raises(LocationError, match="needs no mirror"):
        source.open(wanted)


def test_a_mirror_that_was_taken_off_gets_nothing_more(source):
    with source.mirrored() as brain:
        mirror = source.mirror()
        mirror.unlink()
        mirror.release()
        learned = brain.learn(**bread())
    assert not source.document(learned.id)
    assert mirror._copy.source() == ""


# While it is down


def test_a_mirror_that_is_down_holds_up_nobody_and_catches_up(source, server, caplog):
    with source.open(server.url) as brain:
        learned = brain.learn(**bread())
        for _ in range(5):
            assert brain.feedback(learned.id, {}, True).recorded
        waiting = brain._store.waiting()
        assert waiting.count == 1
        assert source.clock() - waiting.since < timedelta(minutes=5)
    assert caplog.text.count("does not get what is written") == 1
    server.start()
    with source.open(server.url) as brain:
        brain.learn(**audit())
    mirror = source.mirror(server.url)
    assert mirror.store.waiting().count == 0
    assert differences(mirror) == []


def test_a_mirror_that_takes_everything_and_answers_nothing_holds_up_nobody(source):
    """No call waits for the client to give up, which takes it 30 s; most do not wait at all."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        begun = time.monotonic()
        with source.open(f"redis://127.0.0.1:{silent.getsockname()[1]}") as brain:
            brain.skill_graph.save_skill(skill("a"))
            for _ in range(50):
                assert brain.feedback("a", {}, True).recorded
            assert brain._store.waiting().count == 1
        assert time.monotonic() - begun < 25


def test_a_redis_that_refuses_the_password_is_told_at_once_but_later_holds_up_nobody(source, server, caplog):
    server._options += ("--requirepass", "s3cret")
    server.start()
    with pytest.raises(StoreError, match="password"):
        source.open(server.url)
    right = server.url.replace("://", "://:s3cret@")
    with source.open(right) as brain:
        learned = brain.learn(**bread())
    noted = source.mirror(right).store.mirror()
    assert "s3cret" not in noted
    with source.open() as brain:  # which does not know it
        assert brain.feedback(learned.id, {}, True).recorded
        assert brain._store.waiting().count == 1
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize("optional", [True, False])
def test_a_mirror_needs_no_more_rights_than_a_store(file_source, server, optional):
    server.start()
    with redis.Redis.from_url(server.url) as client:
        client.execute_command("ACL", "SETUSER", "brain", ">s3cret", *rules("mine", optional=optional))
    allowed = server.url.replace("://", "://brain:s3cret@") + "?prefix=mine"
    with file_source.open(allowed) as brain:
        for skill_id in ("a", "b"):
            brain.skill_graph.save_skill(skill(skill_id))
        brain.skill_graph.add_edge("a", "COMPLEMENTS", "b")
    mirror = file_source.mirror(allowed)
    assert mirror.store.waiting().count == 0
    assert differences(mirror) == []
    assert mirror.sync() == 0
    brain = file_source.open()
    brain.skill_graph.delete_skill("a")
    mirror.sync()
    mirror.unlink()
    mirror.release()
