"""What do the tests stand on? A clock that is told to move, and a brain on each store at a fresh place."""

import signal
import uuid

import pytest

from brain import SyncBrain
from tests.clock import FakeClock
from tests.contract.raw import raw
from tests.services import neo4j_service, redis_service


def pytest_configure():
    """A shell's background job ignores Ctrl-C, and so would every command that is tested in one."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


STORES = ("sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j), pytest.param("redis", marks=pytest.mark.redis))
"""Every store. A new store is one name here and one branch in `place`."""


OPENED: set[str] = set()
"""Namespaces on Neo4j that tests of this process opened."""


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory):
    """The one Neo4j of this run, shared by all workers."""
    server = neo4j_service(tmp_path_factory.getbasetemp().parent)
    yield server
    if server.source == "environment":  # somebody's server: leave nothing behind
        for namespace in OPENED:
            raw(Place("neo4j", server.location, namespace)).clear()
    server.stop()


@pytest.fixture(scope="session")
def redis_server():
    """The one Redis of this worker. Each test has a key prefix of its own, and its keys go with it."""
    server = redis_service()
    yield server
    server.stop()


class Place:
    """A store that holds nothing yet: its location, and a namespace that no other test uses."""

    def __init__(self, kind, location, namespace):
        self.kind, self.location, self.namespace = kind, location, namespace
        self._opened = []

    def open(self, namespace=None, **options):
        options.setdefault("cache", False)  # nothing is left in the user's cache folder
        brain = SyncBrain.open(self.location, namespace=namespace or self.namespace, **options)
        self._opened.append(brain)
        if self.kind == "neo4j":
            OPENED.add(brain.namespace)
        return brain

    def close(self):
        for brain in self._opened:
            brain.close()


@pytest.fixture(params=STORES)
def place(request, tmp_path):
    if request.param == "sqlite":
        found = Place("sqlite", f"sqlite:///{tmp_path / 'brain.db'}", "default")
    elif request.param == "redis":
        server = request.getfixturevalue("redis_server")
        found = Place("redis", f"{server.url}/0?prefix=test-{uuid.uuid4().hex}", "default")
    else:
        server = request.getfixturevalue("neo4j_server")
        found = Place("neo4j", server.location, f"test-{uuid.uuid4().hex}")
    yield found
    found.close()
    if found.kind == "redis":
        raw(found).clear()


@pytest.fixture
def brain(place, clock):
    """An empty brain on each store, with a clock that stands still."""
    return place.open(clock=clock)


@pytest.fixture
def file_place(tmp_path):
    """An SQLite place, for behaviour that no store has a part in."""
    found = Place("sqlite", f"sqlite:///{tmp_path / 'brain.db'}", "default")
    yield found
    found.close()
