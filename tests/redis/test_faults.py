"""Does a Redis that will not do say so, with the remedy, and is what is optional done without?"""

import contextlib
import os
import time

import pytest
import redis

from brain import SkillTransferRecord, SyncBrain
from brain.errors import AuthenticationError, LocationError, StoreError, StoreUnavailableError
from brain.store.location import open_store
from brain.store.redis.faults import check_server
from brain.store.redis.permissions import COMMANDS, OPTIONAL, rules
from tests.clock import FakeClock
from tests.contract.samples import AUDIT, audit, ids, skill
from tests.redis.conftest import Spot
from tests.redis.drafts import bare, op, save
from tests.services import own_redis

pytestmark = pytest.mark.redis


@contextlib.contextmanager
def served(*options):
    """A Redis of one's own, and a spot on it."""
    server = own_redis(*options)
    spot = Spot(server)
    try:
        yield spot
    finally:
        for store in spot._opened:
            store.close()
        spot.client.close()
        server.stop()


def user(spot, request, allowed):
    """The location for a user with these rules."""
    name = f"u-{spot.prefix}"
    spot.client.execute_command("ACL", "SETUSER", name, "reset", ">secret", *allowed)
    request.addfinalizer(lambda: spot.client.acl_deluser(name))
    return spot.location.replace("://", f"://{name}:secret@")


def everything(store, clock):
    """Goes through all that a store does."""
    with SyncBrain(store) as brain:
        first, second = brain.learn(**audit()), brain.learn(**audit())
        assert first.id == second.id
        brain.skill_graph.save_skills([skill("a", AUDIT), skill("b", tags=["t"])])
        brain.skill_graph.add_edge("a", "COMPLEMENTS", "b")
        brain.feedback("a", {}, True)
        assert ids(brain.skill_graph.get_related_skills("a")) == ["b"]
        assert first.id in ids(c.skill for c in brain.recall({"task": AUDIT, "domain": "security"}))
        assert brain.get_skill_summary()["total_skills"] == 3
        assert ids(brain.skill_graph.find_by_tag("t")) == ["b"]
        assert len([k for page in store.export() for k in page]) == 3
        assert brain.skill_graph.delete_skill("b")
        clock.advance(days=400)
        assert brain.cleanup_expired_skills()["deleted"] == 1


@pytest.mark.parametrize("optional", [True, False], ids=["all", "without what is optional"])
def test_the_acl_line_suffices(spot, request, optional):
    store = spot.store(user(spot, request, rules(spot.prefix, optional=optional)))
    everything(store, spot.clock)


def test_every_command_of_the_acl_line_is_needed_or_known_to_be_optional(spot, request):
    allowed = rules(spot.prefix, optional=False)
    spot.client.config_resetstat()
    everything(spot.store(user(spot, request, allowed)), spot.clock)
    used = {name.removeprefix("cmdstat_") for name in spot.client.info("commandstats")}
    connecting = {"ping", "select", "exists", "zcard", "zremrangebyrank", "lpop"}  # not on every path
    assert set(COMMANDS) - used <= connecting


def test_nothing_outside_the_prefix_is_allowed_or_needed(spot, request):
    store = spot.store(user(spot, request, rules(spot.prefix)))
    save(store, skill("a"))
    other = open_store(
        user(spot, request, rules(spot.prefix)).replace(f"prefix={spot.prefix}", "prefix=other"),
        namespace="default",
        clock=spot.clock,
    )
    with pytest.raises(AuthenticationError, match="permissions"):
        other.count()
    other.close()


@pytest.mark.parametrize("command", ["set", "evalsha", "mget"])
def test_a_forbidden_command_is_named(spot, request, command):
    allowed = [
        rule for rule in rules(spot.prefix) if rule not in (f"+{command}", "+eval" if command == "evalsha" else "")
    ]
    store = spot.store(user(spot, request, allowed))
    with pytest.raises(AuthenticationError, match=rf"(?i){command}.*permissions"):
        save(store, bare("a", spot.clock))
    assert spot.dump() == {}


def test_what_is_optional_is_what_the_docs_say():
    assert set(OPTIONAL) == {"info", "scan", "client|tracking", "hello", "ttl", "sismember"}
    assert "+keys" not in rules()
    assert rules("app")[1:3] == ["~app:*", "~app~*"]


def test_a_password_is_asked_for():
    with served("--requirepass", "right") as spot:
        for location in (spot.url, spot.url.replace("://", "://:wrong@")):
            with pytest.raises(AuthenticationError, match="credentials"):
                spot.store(location)
        store = spot.store(spot.url.replace("://", "://:right@"))
        assert store.count() == 0
        assert "right" not in store.location
        other = spot.store(spot.url, auth=("default", "right"))
        assert other.count() == 0
        with pytest.raises(LocationError, match="pair"):
            spot.store(spot.url, auth="right")


def test_a_password_that_nobody_asked_for_is_refused(spot):
    with pytest.raises(AuthenticationError):
        spot.store(spot.location.replace("://", "://nobody:nothing@"))


def test_a_read_only_replica_says_so():
    with served("--replicaof", "127.0.0.1 1") as spot:
        store = spot.store(spot.url)
        assert store.get_many(["a"]) == []
        with pytest.raises(StoreError, match=r"read-only.*primary"):
            save(store, bare("a", spot.clock))


def test_a_redis_without_memory_says_so_and_nothing_is_written():
    with served("--maxmemory", "1", "--maxmemory-policy", "noeviction") as spot:
        store = spot.store(spot.url)
        with pytest.raises(StoreError, match=r"out of memory.*maxmemory"):
            save(store, bare("a", spot.clock, tags=["t"]))
        assert spot.client.dbsize() == 0
        spot.client.config_set("maxmemory", 0)
        save(store, bare("a", spot.clock, tags=["t"]))
        spot.client.config_set("maxmemory", 1)
        assert ids(store.get_many(["a"])) == ["a"]
        assert [entry.id for page in store.entries(9, vectors=True) for entry in page] == ["a"]
        record = SkillTransferRecord(target_context={}, success=True, timestamp=spot.clock())
        with pytest.raises(StoreError, match="out of memory"):
            store.feedback("a", record, ttl=True, operation=op())
        assert store.get_many(["a"])[0].transfer_count == 0
        assert store.delete("a", operation=op())  # which makes room
        assert store.get_many(["a"]) == []


def test_a_redis_that_cannot_persist_says_so():
    with served("--min-replicas-to-write", "1") as spot, pytest.raises(StoreError, match="administrator"):
        save(spot.store(spot.url), bare("a", spot.clock))


def test_a_cluster_is_refused(tmp_path):
    with (
        served("--cluster-enabled", "yes", "--dir", str(tmp_path)) as spot,
        pytest.raises(StoreError, match=r"Cluster.*hash tags"),
    ):
        spot.store(spot.url)


def test_a_redis_that_is_loading_says_so(tmp_path):
    with served("--dir", str(tmp_path)) as spot:
        with spot.client.pipeline() as pipeline:
            for i in range(1_000):
                pipeline.set(f"k{i}", os.urandom(1024))
            pipeline.execute()
        spot.client.save()
    slow = ("--key-load-delay", "15000", "--loading-process-events-interval-bytes", "1024")
    with served("--dir", str(tmp_path), *slow) as spot, pytest.raises(StoreUnavailableError, match="loading"):
        spot.store(spot.url).count()


def test_an_old_version_is_refused():
    with pytest.raises(StoreError, match=r"Redis 5\.0\.14; brain needs 6\.0"):
        check_server({"redis_version": "5.0.14"}, "redis://x")
    for fine in ({"redis_version": "6.0.0"}, {"redis_version": "7.2.4"}, {"redis_version": "unstable"}, {}):
        check_server(fine, "redis://x")


def test_a_database_that_is_not_there_is_named(spot):
    with pytest.raises(LocationError, match="database"):
        spot.store(f"{spot.url}/99")


def test_nobody_at_the_address_is_said_soon():
    begun = time.monotonic()
    with pytest.raises(StoreUnavailableError, match=r"No Redis answers at redis://127\.0\.0\.1:1"):
        open_store("redis://127.0.0.1:1/0", namespace="default", clock=FakeClock()).count()
    assert time.monotonic() - begun < 20


def test_a_restarted_redis_is_found_again(tmp_path):
    with served("--dir", str(tmp_path)) as spot:
        store = spot.store(spot.url)
        save(store, bare("a", spot.clock))
        version = store.changes(0).version
        spot.client.save()
        port = int(spot.url.rpartition(":")[2])
        with contextlib.suppress(redis.ConnectionError):
            spot.client.shutdown(nosave=True)
        again = own_redis("--dir", str(tmp_path), port=port)
        try:
            save(store, bare("b", spot.clock))
            assert [entry.id for entry in store.changes(version).entries] == ["b"]
        finally:
            again.stop()


def test_a_server_that_does_not_speak_tls_is_given_up_soon_with_the_remedy(redis_server, monkeypatch, clock):
    monkeypatch.setattr("brain.store.redis.connection._RETRY_SECONDS", 0.5)
    location = f"{redis_server.url.replace('redis://', 'rediss://')}/0?socket_timeout=1"
    begun = time.monotonic()
    with pytest.raises(StoreUnavailableError, match="write redis:// for rediss://"):
        SyncBrain.open(location, clock=clock, cache=False)
    assert time.monotonic() - begun < 10
