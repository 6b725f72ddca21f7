"""Do skills move between any two places whole, however often it is begun again, and is told what could not?"""

import json
import os
import subprocess
import sys
import uuid

import numpy as np
import pytest
import redis

from brain import SkillTransferRecord, SyncBrain
from brain.engine.moving import BAD_ID, NEWER, NO_END, copy
from brain.errors import EmbeddingError, InputError
from brain.store.location import open_store
from brain.store.redis.importing import DOUBLE, EXPIRED, NO_DOCUMENT, UNREADABLE
from brain.store.redis.layout import Keys
from brain.store.values import new_operation
from tests.conftest import OPENED
from tests.contract.samples import AWKWARD, NESTED, audit, bread, skill

pytestmark = pytest.mark.redis

PLACES = ("sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j), "redis")
MANY = int(os.environ.get("BRAIN_TEST_IMPORTED", "3000"))
"""Documents that are imported and interrupted: some; a hundred thousand to be sure of the memory."""


class Bag:
    """An embedder that counts letters."""

    name = "bag"

    def __init__(self, name="bag", size=26):
        self.name, self._size = name, size

    def encode(self, texts):
        found = np.zeros((len(texts), self._size), np.float32)
        for row, text in enumerate(texts):
            for letter in text.lower():
                found[row, ord(letter) % self._size] += 1
        return found


@pytest.fixture
def place(request, tmp_path):
    """Opens a new store of a kind, or one that was opened before."""
    opened, prefixes = [], []

    def opening(kind, location=None, namespace=None):
        if kind == "sqlite":
            location = location or f"sqlite:///{tmp_path / uuid.uuid4().hex}.db"
        elif kind == "redis":
            prefixes.append(f"test-{uuid.uuid4().hex}")
            location = location or f"{request.getfixturevalue('redis_server').url}/0?prefix={prefixes[-1]}"
        else:
            location = location or request.getfixturevalue("neo4j_server").location
            namespace = namespace or f"test-{uuid.uuid4().hex}"
            OPENED.add(namespace)
        store = open_store(location, namespace=namespace or "default")
        store.migrate()
        opened.append(store)
        return store

    yield opening
    for store in opened:
        store.close()
    if prefixes:
        with redis.Redis.from_url(request.getfixturevalue("redis_server").url) as client:
            for prefix in prefixes:
                for key in list(client.scan_iter(match=f"{prefix}*", count=1000)):
                    client.delete(key)


def lived_in(store, embedder=None):
    """A store in which a lot happened."""
    brain = SyncBrain(store, embedder=embedder, cache=False)
    brain.observe(**bread(), skill_id="bread", trace_id="t1")
    brain.observe(**bread(), trace_id="t2")
    brain.observe(**audit(), skill_id="audit", derived_from=["bread"])
    for number, text in enumerate(AWKWARD.values()):
        brain.skill_graph.save_skill(skill(f"s{number}", text, tags=[text], future=NESTED))
    for i in range(103):
        record = SkillTransferRecord(target_context={"i": i}, success=i % 3 > 0, timestamp=store.clock())
        store.feedback("audit", record, ttl=True, operation=new_operation())
    brain.skill_graph.add_edge("s1", "COMPLEMENTS", "s2", {"nested": NESTED})
    brain.skill_graph.save_skill(skill("gone", expires_at="2020-01-01T00:00:00+00:00"))
    return store


def all_of(store):
    """All that a store keeps, as plain values."""
    skills = {
        kept.skill.id: (
            kept.skill.to_dict() | {"namespace": ""},
            kept.profile,
            kept.terms,
            kept.dedup_key,
            kept.vector,
            sorted(map(repr, kept.traces)),
        )
        for page in store.export()
        for kept in page
    }
    edges = sorted(
        (e.source, e.relation, e.target, json.dumps(e.metadata, sort_keys=True))
        for page in store.export_edges()
        for e in page
    )
    return skills, edges, store.embedding_stamp()


@pytest.mark.parametrize("target", PLACES)
@pytest.mark.parametrize("source", PLACES)
def test_a_copy_is_whole_and_made_twice_is_the_same(source, target, place):
    here, there = lived_in(place(source), Bag()), place(target)
    before = all_of(here)
    moved = copy(here, there)
    assert all_of(there) == before
    assert moved.written == len(before[0]) and moved.edges == len(before[1]) == 3
    assert before[2] and all(row[4] for row in before[0].values())
    again = copy(here, there)
    assert again.written + again.unchanged == moved.written
    assert all_of(there) == before == all_of(here)
    with SyncBrain(there, embedder=Bag(), cache=False) as brain:
        assert brain.observe(**bread(), trace_id="t1").outcome == "already_seen"
        assert brain.observe(**bread()).skill.id == "bread"


def test_what_is_newer_in_the_target_stays(place):
    here, there = lived_in(place("sqlite")), place("sqlite")
    copy(here, there)
    with SyncBrain(place("sqlite", there.location), cache=False) as brain:
        brain.feedback("bread", {}, True)
        brain.skill_graph.save_skill(brain.get_skill("s1").model_copy(update={"description": "mine"}))
    told = []
    assert copy(here, there, tell=told.append).skipped["skill", NEWER] == 2
    assert {one.subject for one in told} == {"bread", "s1"}
    kept = {one.id: one for one in there.get_many(["bread", "s1"])}
    assert (kept["bread"].transfer_count, kept["s1"].description) == (1, "mine")
    assert copy(there, here).skipped["skill", NEWER] == 0
    assert here.get_many(["s1"])[0].description == "mine"


def test_vectors_of_another_model_are_not_mixed(place):
    here, there = lived_in(place("sqlite"), Bag()), lived_in(place("sqlite"), Bag("other", 7))
    stamp = there.embedding_stamp()
    with pytest.raises(EmbeddingError, match="without-vectors"):
        copy(here, there)
    copy(here, there, vectors=False)
    assert there.embedding_stamp() == stamp


def test_a_store_is_not_copied_onto_itself(place):
    here = place("sqlite")
    with pytest.raises(InputError, match="onto itself"):
        copy(here, place("sqlite", here.location))
    copy(here, place("sqlite", here.location, "another"))


# Old data of OrKa


class Wild:
    """A Redis that OrKa wrote, and careless people after it."""

    def __init__(self, store, client):
        self.store, self.client = store, client
        self.keys = Keys(store.location.partition("prefix=")[2], "default")

    def document(self, skill_id, **fields):
        text = json.dumps({"id": skill_id, "name": f"Skill {skill_id}", "procedure": [{"action": "stop"}], **fields})
        self.client.set(self.keys.document(skill_id), text)
        self.client.hset(self.keys.index, skill_id, f"Skill {skill_id}")

    def edge(self, holder, relation, target, **metadata):
        member = json.dumps({"target": target, "relation": relation, "metadata": metadata})
        self.client.sadd(self.keys.edges(holder), member)

    def dump(self):
        read = {"string": self.client.get, "hash": self.client.hgetall, "set": self.client.smembers}
        found = self.client.scan_iter(match=f"{self.keys.prefix.removesuffix(':')}*", count=1000)
        return {key: read.get(self.client.type(key), self.client.type)(key) for key in found}


@pytest.fixture
def wild(place, redis_server):
    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        found = Wild(place("redis"), client)
        for skill_id in ("a", "b", "c"):
            found.document(skill_id, updated_at="2026-01-01T12:00:00+00:00", transfer_history=[{"success": True}])
        yield found


ENDLESS = "x" * 1_001


def careless(wild):
    wild.document("old", expires_at="2020-01-01T00:00:00+00:00")
    wild.document("a whole sentence: as an id")
    wild.document(ENDLESS)
    wild.client.set(wild.keys.document("broken"), "{")
    wild.client.rpush(wild.keys.document("a list"), "x")
    for skill_id in ("ghost", "broken", "a list"):
        wild.client.hset(wild.keys.index, skill_id, skill_id)
    wild.edge("a", "COMPLEMENTS", "b", n=1)
    wild.edge("b", "REVERSE_COMPLEMENTS", "a", n=1)
    wild.edge("a", "DERIVES_FROM", "a")
    wild.edge("a", "SPECIALIZES", "nobody")
    wild.edge("c", "REVERSE_CONFLICTS_WITH", "b", only="here")
    wild.edge("b", "COMPOSED_OF", "c", n=1)
    wild.edge("b", "COMPOSED_OF", "c", n=2)
    wild.client.sadd(wild.keys.edges("c"), "no edge")


@pytest.mark.parametrize("target", PLACES)
def test_old_data_is_imported_with_its_edges_and_what_is_left_is_told(target, wild, place):
    careless(wild)
    before, there, told = wild.dump(), place(target), []
    moved = copy(wild.store, there, tell=told.append)
    assert wild.dump() == before
    assert sorted(found.id for page in there.pages() for found in page) == ["a", "a whole sentence: as an id", "b", "c"]
    edges = sorted((e.source, e.relation, e.target, str(e.metadata)) for page in there.export_edges() for e in page)
    assert edges == [
        ("a", "COMPLEMENTS", "b", "{'n': 1}"),
        ("a", "DERIVES_FROM", "a", "{}"),
        ("b", "COMPOSED_OF", "c", "{'n': 2}"),
        ("b", "CONFLICTS_WITH", "c", "{'only': 'here'}"),
    ]
    assert moved.edges == 4
    reasons = {(one.subject, one.reason) for one in told if one.kind == "skill"}
    assert reasons == {
        ("old", EXPIRED),
        ("ghost", NO_DOCUMENT),
        ("broken", UNREADABLE),
        ("a list", UNREADABLE),
        (ENDLESS, BAD_ID),
    }
    assert sorted((one.reason) for one in told if one.kind == "edge") == sorted((DOUBLE, NO_END, UNREADABLE))
    kept = all_of(there)
    again = copy(wild.store, there)
    assert (again.written, again.unchanged) == (0, 4)
    assert all_of(there) == kept


def test_what_orka_changed_since_is_imported_again(wild, place):
    there = place("sqlite")
    copy(wild.store, there)
    wild.document("a", updated_at="2026-02-01T12:00:00+00:00", usage_count=9)
    assert copy(wild.store, there).written == 1
    assert there.get_many(["a"])[0].usage_count == 9


def many(redis_url, prefix, count):
    """Puts `count` documents of some kilobytes where OrKa would."""
    keys = Keys(prefix, "default")
    with redis.Redis.from_url(redis_url) as client:
        for start in range(0, count, 1000):
            pipeline = client.pipeline(transaction=False)
            for i in range(start, min(start + 1000, count)):
                steps = [{"action": f"step {step} of task {i}", "order": step} for step in range(6)]
                text = {"id": f"s{i:06}", "name": f"Skill {i}", "description": f"task {i} " * 20, "procedure": steps}
                text["updated_at"] = "2026-01-01T12:00:00+00:00"
                pipeline.set(keys.document(f"s{i:06}"), json.dumps(text))
                pipeline.hset(keys.index, f"s{i:06}", f"Skill {i}")
                if i:
                    edge = {"target": f"s{i // 2:06}", "relation": "DERIVES_FROM", "metadata": {}}
                    pipeline.sadd(keys.edges(f"s{i:06}"), json.dumps(edge))
            pipeline.execute()


def interrupted(source, target, after):
    seen = 0

    def progress(count):
        nonlocal seen
        seen += count
        if seen >= after:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        copy(source, target, progress=progress)


def digest_of(store):
    """What is there, in little memory: a number for the skills and one for the edges."""
    skills = sum(
        hash(json.dumps(kept.skill.to_dict() | {"namespace": ""}, sort_keys=True)) for p in store.export() for kept in p
    )
    edges = sum(hash((e.source, e.relation, e.target)) for page in store.export_edges() for e in page)
    return skills, edges, store.count()


IMPORTING = """
import resource, sys
from brain.engine.moving import copy
from brain.store.location import open_store
moved = copy(open_store(sys.argv[1], namespace="default"), open_store(sys.argv[2], namespace="default"))
print(moved.written, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.timeout(3600)
def test_a_large_import_is_interrupted_goes_on_and_takes_little_memory(place, redis_server, tmp_path):
    source = place("redis")
    many(redis_server.url, source.location.partition("prefix=")[2], MANY)
    whole, parts = place("sqlite"), place("sqlite")
    memory = {}
    for name, count in (("few", MANY // 10), ("all", MANY)):
        few = place("redis")
        if name == "few":
            many(redis_server.url, few.location.partition("prefix=")[2], count)
        location = few.location if name == "few" else source.location
        target = whole.location if name == "all" else f"sqlite:///{tmp_path / 'few.db'}"
        command = [sys.executable, "-c", IMPORTING, location, target]
        written, memory[name] = map(int, subprocess.run(command, check=True, capture_output=True).stdout.split())
        assert written == count
    for after in (MANY // 10, MANY // 2):
        interrupted(source, parts, after)
    moved = copy(source, parts)
    assert 0 < moved.written < MANY
    assert moved.written + moved.unchanged == MANY
    assert digest_of(parts) == digest_of(whole)
    print(f"{MANY} documents: {memory['all']} MB, a tenth of them: {memory['few']} MB")
    assert memory["all"] - memory["few"] < 40 + MANY // 1000  # the ids themselves, some hundred bytes each
