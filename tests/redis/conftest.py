"""A Redis place of its own for each test, and what the tests do to it."""

import uuid

import pytest
import redis

from brain.store.location import open_store
from brain.store.redis.layout import Keys
from tests.clock import FakeClock
from tests.redis.golden_files import CLOCK


class Spot:
    """A prefix that nothing else uses, on the run's Redis; `client` is OrKa's, which knows no companion."""

    def __init__(self, server):
        self.url, self.prefix = server.url, f"test-{uuid.uuid4().hex}"
        self.location = f"{server.url}/0?prefix={self.prefix}"
        self.keys = Keys(self.prefix, "default")
        self.client = redis.Redis.from_url(server.url, protocol=2, decode_responses=True)
        self.clock = FakeClock(CLOCK)
        self._opened = []

    def store(self, location=None, namespace="default", **options):
        store = open_store(location or self.location, namespace=namespace, clock=self.clock, **options)
        store.migrate()
        self._opened.append(store)
        return store

    def keep(self, store):
        self._opened.append(store)
        return store

    def load(self, golden):
        """Puts a golden's keys here, under this prefix."""
        for row in golden["keys"]:
            key = self.key(row["key"])
            if row["type"] == "string":
                self.client.set(key, row["value"], ex=row["ttl_s"] if row["ttl_s"] > 0 else None)
            elif row["type"] == "hash":
                self.client.hset(key, mapping=row["value"])
            else:
                self.client.sadd(key, *row["value"])

    def key(self, golden_key):
        return self.keys.prefix + golden_key.removeprefix("orka:brain:")

    def dump(self):
        """What OrKa sees, as a golden says it: key -> (value, seconds to live)."""
        found = {}
        for key in self.client.scan_iter(match=f"{self.keys.prefix}*", count=1000):
            read = {"string": self.client.get, "hash": self.client.hgetall, "set": self.client.smembers}
            found[key] = (read[self.client.type(key)](key), self.client.ttl(key))
        return found

    def close(self):
        for store in self._opened:
            store.close()
        for key in list(self.client.scan_iter(match=f"{self.prefix}*", count=1000)):
            self.client.delete(key)
        self.client.close()


@pytest.fixture
def spot(redis_server):
    found = Spot(redis_server)
    yield found
    found.close()


@pytest.fixture
def store(spot):
    return spot.store()
