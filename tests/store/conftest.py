"""What do the store tests stand on? Each store at a fresh place, opened as often as a test likes."""

import uuid

import pytest

from brain.store.location import open_store
from tests.conftest import OPENED, STORES
from tests.contract.raw import raw


class StorePlace:
    """Where nothing is stored yet: `open` gives a store there, its schema up to date."""

    def __init__(self, kind, location, namespace, clock):
        self.kind, self.location, self.namespace, self._clock = kind, location, namespace, clock
        self._opened = []

    def open(self, namespace=None, clock=None):
        store = open_store(self.location, namespace=namespace or self.namespace, clock=clock or self._clock)
        self._opened.append(store)
        store.migrate()
        if self.kind == "neo4j":
            OPENED.add(store.namespace)
        return store

    def close(self):
        for store in self._opened:
            store.close()

    @property
    def raw(self):
        """What stands there, seen without the package."""
        return raw(self)


@pytest.fixture
def sqlite_place(tmp_path, clock):
    """A place on SQLite, for what only SQLite does."""
    found = StorePlace("sqlite", f"sqlite:///{tmp_path / 'brain.db'}", "default", clock)
    yield found
    found.close()


@pytest.fixture(params=STORES)
def store_place(request, clock):
    if request.param == "sqlite":
        yield request.getfixturevalue("sqlite_place")
        return
    if request.param == "redis":
        server = request.getfixturevalue("redis_server")
        found = StorePlace("redis", f"{server.url}/0?prefix=test-{uuid.uuid4().hex}", "default", clock)
    else:
        server = request.getfixturevalue("neo4j_server")
        found = StorePlace("neo4j", server.location, f"test-{uuid.uuid4().hex}", clock)
    yield found
    found.close()
    if found.kind == "redis":
        found.raw.clear()


@pytest.fixture
def store(store_place):
    """Each store, empty."""
    return store_place.open()
