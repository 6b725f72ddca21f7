"""Does a store go on when its connections are cut, as by a server that restarts? Through a proxy on loopback."""

import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from neo4j.auth_management import ExpiringAuth

from brain.errors import StoreUnavailableError
from brain.store.location import open_store
from brain.store.neo4j import connection
from tests.proxy import CommitThief
from tests.store.samples import draft, operation, order, record, save

pytestmark = pytest.mark.neo4j


@pytest.fixture
def proxy(neo4j_server):
    address = urlsplit(neo4j_server.uri)
    found = CommitThief(address.hostname, address.port)
    yield found
    found.close()


@pytest.fixture
def open_through(neo4j_server, proxy, clock):
    opened = []

    def through(**options):
        location = f"bolt://127.0.0.1:{proxy.port}"
        options = {"auth": neo4j_server.auth, **options}
        store = open_store(location, namespace=f"test-{uuid.uuid4().hex}", clock=clock, **options)
        store.migrate()
        opened.append(store)
        return store

    yield through
    for store in opened:
        store.close()


def test_reads_and_writes_go_on_after_their_connection_was_cut(open_through, proxy):
    store = open_through()
    save(store, "a")
    calls = [
        lambda: store.fetch(["a"], store.changes(0).version),
        lambda: list(store.entries(10, vectors=True)),
        lambda: store.summary(1),
        lambda: store.feedback("a", record(), ttl=True, operation=operation()),
        lambda: store.learn([order("b")], operation=operation()),
    ]
    for call in calls:
        proxy.cut_everything()
        assert call()


def test_writers_whose_connections_are_cut_again_and_again_count_everything_once(open_through, proxy):
    store = open_through()
    save(store, "a")

    def work(i):
        for n in range(10):
            assert store.feedback("a", record(), ttl=True, operation=operation())
            if n % 3 == i % 3:
                proxy.cut_everything()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    (found,) = store.get_many(["a"])
    assert (found.transfer_count, found.usage_count, len(found.transfer_history)) == (40, 40, 40)


def test_a_commit_whose_answer_is_lost_counts_once_in_a_call_of_many(open_through, proxy):
    store = open_through()
    proxy.lose_the_next_commit()
    learned = store.learn([order("a"), order("b", like=0), order("c")], operation=operation())
    assert proxy.cut.is_set()
    assert [found.outcome.value for found in learned] == ["created", "reinforced", "created"]
    proxy.lose_the_next_commit()
    store.save_many([draft("a"), draft("d")], operation=operation())
    assert proxy.cut.is_set()
    assert [(found.id, found.version) for found in store.get_many(["a", "d"])] == [("a", 3), ("d", 1)]


@pytest.fixture
def pauses(monkeypatch):
    """The seconds that are slept between attempts; the clock of the retries moves with them."""
    slept, begun = [], time.monotonic()
    monkeypatch.setattr(connection.time, "sleep", slept.append)
    monkeypatch.setattr(connection.time, "monotonic", lambda: begun + sum(slept))
    return slept


@pytest.mark.parametrize("write", [True, False], ids=["write", "read"])
def test_attempts_never_pause_longer_than_two_seconds_and_end(open_through, proxy, pauses, write):
    store = open_through()
    proxy.close()
    with pytest.raises(StoreUnavailableError, match="does not answer"):
        save(store, "a") if write else store.count()
    assert len(pauses) > 10
    assert max(pauses) <= connection.LONGEST_PAUSE * 1.2
    assert sum(pauses) < connection.RETRY_SECONDS + 2 * connection.LONGEST_PAUSE


def test_the_driver_says_nothing_on_stderr():
    lines = "from brain import SyncBrain", "try: SyncBrain.open('neo4j://neo4j:secret@127.0.0.1:1')"
    program = "\n".join([*lines, "except Exception as error: print(type(error).__name__)"])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("StoreUnavailableError\n", "")


def test_a_password_that_was_changed_is_asked_for_again_when_a_connection_opens(open_through, proxy, neo4j_server):
    store = open_through(auth=lambda: neo4j_server.auth)
    manager = store._connection._auth
    manager._held = ExpiringAuth(("neo4j", "an old password"))
    proxy.cut_everything()
    assert store.count() == 0
    assert manager.get_auth() == neo4j_server.auth
