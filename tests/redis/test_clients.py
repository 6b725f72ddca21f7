"""Which objects and locations is a store opened on, and do all give the same?"""

import logging

import numpy as np
import pytest
import redis

from brain import Brain, SyncBrain
from brain.errors import LocationError, StoreError
from brain.store.redis import of_memory
from brain.store.redis.opening import say_once_that_it_is_not_atomic, without_secrets
from tests.contract.samples import AUDIT, audit, bread, ids, skill
from tests.redis.drafts import draft, op, save
from tests.redis.fake import FakeMemory
from tests.redis.places import MemoryPlace

pytestmark = pytest.mark.redis

CLIENTS = {
    "RESP2, bytes": {"protocol": 2},
    "RESP2, str": {"protocol": 2, "decode_responses": True},
    "RESP3, bytes": {"protocol": 3},
    "RESP3, str": {"protocol": 3, "decode_responses": True},
}


class Logger:
    """An object that has a client, as OrKa's memory logger does."""

    def __init__(self, **attributes):
        self.__dict__ |= attributes


@pytest.fixture(params=CLIENTS)
def client(spot, request):
    with redis.Redis.from_url(spot.url, **CLIENTS[request.param]) as found:
        yield found


@pytest.fixture(params=["itself", "in .redis", "in .client"])
def memory(client, request):
    if request.param == "itself":
        return client
    return Logger(**{request.param.removeprefix("in ."): client})


def test_i38_the_same_whatever_the_client_decodes(spot, memory):
    store = spot.keep(of_memory(memory, "default", spot.clock, spot.prefix))
    with SyncBrain(store) as brain:
        learned = brain.learn(**audit())
        brain.learn(**bread())
        found = brain.recall({"task": AUDIT, "domain": "security"})
        assert [c.skill.id for c in found] == [learned.id]
        vector = np.array([1.5, -2.0, np.pi], np.float32).tobytes()
        store.set_vectors([(learned.id, vector)], operation=op())
        (entries,) = store.entries(10, vectors=True)
        assert {e.id: e.vector for e in entries}[learned.id] == vector
        assert brain.feedback(learned.id, {}, True).skill.transfer_count == 1
        assert len(brain.get_skills()) == 2
        assert brain.skill_graph.delete_skill(learned.id)
        assert len(brain.get_skills()) == 1


def test_the_callers_client_is_left_open(spot, client):
    of_memory(client, "default", spot.clock, spot.prefix).close()
    assert client.ping()


def test_a_client_and_a_location_share_one_store(spot, client):
    save(spot.keep(of_memory(client, "default", spot.clock, spot.prefix)), skill("a"))
    assert ids(spot.store().get_many(["a"])) == ["a"]


def test_what_is_no_memory_is_refused_with_what_would_be_one():
    for found in (object(), Logger(redis=5), {}, Logger(get=len)):
        with pytest.raises(LocationError, match=r"\.redis"):
            of_memory(found, "default", None)


def test_an_asynchronous_client_is_refused():
    import redis.asyncio

    with pytest.raises(LocationError, match=r"redis\.Redis"):
        of_memory(redis.asyncio.Redis(), "default", None)


def test_a_cluster_client_is_refused():
    client = redis.RedisCluster.__new__(redis.RedisCluster)  # one that is connected needs a cluster
    client.cleanup = client.close = lambda: None
    with pytest.raises(StoreError, match="hash tags"):
        of_memory(client, "default", None)


def test_a_brain_takes_a_store_on_the_in_memory_object_and_is_told_once_that_it_is_not_atomic(caplog):
    say_once_that_it_is_not_atomic.cache_clear()
    caplog.set_level(logging.WARNING)
    memory = FakeMemory()
    first, second = (Brain(of_memory(memory, "default", MemoryPlace.utc)).sync for _ in range(2))
    learned = first.learn(**bread())
    assert second.get_skill(learned.id) == learned
    assert [r.levelname for r in caplog.records if "transactions" in r.getMessage()] == ["WARNING"]
    assert set(memory.strings) == {f"orka:brain:skill:{learned.id}", "orka:brain~:operations"}


def test_an_object_that_answers_bytes_will_do(spot):
    class Bytes(FakeMemory):
        def get(self, key):
            found = super().get(key)
            return found if found is None else found.encode()

        def hget(self, key, field):
            found = super().hget(key, field)
            return found if found is None else found.encode()

        def hkeys(self, key):
            return [field.encode() for field in super().hkeys(key)]

        def smembers(self, key):
            return {member.encode() for member in super().smembers(key)}

        def srem(self, key, member):
            super().srem(key, member if isinstance(member, str) else member.decode())

    with SyncBrain(of_memory(Bytes(), "default", spot.clock)) as brain:
        brain.skill_graph.save_skills([skill("a", AUDIT, tags=["base64:x"]), skill("b")])
        brain.skill_graph.add_edge("a", "COMPLEMENTS", "b", {"n": 1})
        brain.skill_graph.add_edge("a", "COMPLEMENTS", "b", {"n": 2})
        assert [e.metadata for e in brain.skill_graph.get_edges("b")] == [{"n": 2}]
        assert ids(brain.skill_graph.find_by_tag("base64:x")) == ["a"]
        assert ids(c.skill for c in brain.recall({"task": AUDIT})) == ["a"]
        brain.skill_graph.delete_skill("a")
        assert brain.skill_graph.get_edges("b") == []


def test_expiry_is_handed_to_an_object_that_knows_it(spot):
    class Expiring(FakeMemory):
        def expire(self, key, seconds):
            self.lives = {key: seconds}

    memory = Expiring()
    soon = spot.clock().replace(year=2027).isoformat()
    save(of_memory(memory, "default", spot.clock), skill("a", expires_at=soon))
    assert memory.lives == {"orka:brain:skill:a": 365 * 24 * 3600}


# Locations


def test_a_location_without_a_host_is_the_one_in_the_environment(spot, monkeypatch):
    monkeypatch.setenv("REDIS_URL", f"{spot.url}/0")
    store = spot.store(f"redis://?prefix={spot.prefix}")
    save(store, skill("a"))
    assert spot.client.exists(spot.keys.document("a"))
    assert store.location == f"{spot.url}/0?prefix={spot.prefix}:"


def test_a_unix_socket_will_do(tmp_path, spot):
    from tests.services import own_redis

    server = own_redis("--unixsocket", str(tmp_path / "s"))
    try:
        store = spot.store(f"unix://{tmp_path / 's'}?db=1")
        store.save(draft(skill("a")), expected_version=None, operation=op())
        assert ids(store.get_many(["a"])) == ["a"]
        store.close()
    finally:
        server.stop()


def test_a_location_is_shown_without_what_is_secret():
    shown = without_secrets("rediss://user:p%40ss@host:6380/2?ssl_cert_reqs=none&password=x&db=3", "app:")
    assert shown == "rediss://host:6380/2?db=3&prefix=app:"


@pytest.mark.parametrize("location", ["unix://", "redis://host:port", "redis://host/0?socket_timeout=soon"])
def test_what_names_no_redis_is_refused(location, spot):
    with pytest.raises(LocationError):
        spot.store(location)


@pytest.mark.parametrize("prefix", ["", ":", "a*", "a?", "[ab]", "a\\", "a b", "a~b", "a^", "a\nb", "\x00"])
def test_an_unusable_prefix_is_refused(prefix, spot):
    from urllib.parse import quote

    with pytest.raises(LocationError, match="prefix"):
        spot.store(f"{spot.url}?prefix={quote(prefix)}")


def test_a_prefix_with_and_without_its_colon_is_one(spot):
    save(spot.store(), skill("a"))
    assert ids(spot.store(f"{spot.location}:").get_many(["a"])) == ["a"]


def test_i41_prefixes_that_begin_alike_are_kept_apart(spot):
    names = [spot.prefix, f"{spot.prefix}2", f"{spot.prefix}:sub", f"{spot.prefix}:skill"]
    stores = {name: spot.store(f"{spot.url}/0?prefix={name}") for name in names}
    for name, store in stores.items():
        save(store, skill("same", name=name), skill(name[-3:]))
    for name, store in stores.items():
        assert [s.name for s in store.get_many(["same"])] == [name]
        assert store.count() == 2
    assert stores[names[0]].delete("same", operation=op())
    for name in names[1:]:
        assert [s.name for s in stores[name].get_many(["same"])] == [name]
        assert not any(c.deleted for c in [stores[name].changes(1)])


NAMESPACES = ["default", "a", "a~", "a:b", "a/b", "a%3Ab", "user.1", "user.10", "Ä", "default~", "skill", "~", "a~:b"]


def test_i42_namespaces_are_kept_apart_in_keys_of_their_own(spot):
    stores = {name: spot.store(namespace=name) for name in NAMESPACES}
    for name, store in stores.items():
        save(store, skill("same", name=name))
    for name, store in stores.items():
        assert [s.name for page in store.pages() for s in page] == [name]
    assert stores["a"].delete("same", operation=op())
    assert sum(store.count() for store in stores.values()) == len(NAMESPACES) - 1
    assert all(key.startswith((f"{spot.prefix}:", f"{spot.prefix}~")) for key in spot.client.keys(f"{spot.prefix}*"))
    mine = [key for key in spot.dump() if not key.startswith(spot.keys.prefix)]
    assert mine == []  # what OrKa lists is the default namespace alone
    assert spot.client.hlen(spot.keys.index) == 1
