"""A store of each kind that may have a mirror, and a Redis for it to be mirrored to."""

import shutil
import socket
import subprocess
import uuid

import pytest
import redis

from brain import SyncBrain
from brain.engine.mirror import Mirror
from brain.model.skill import utc_now
from brain.store.location import open_store
from brain.store.redis.layout import Keys
from tests.conftest import OPENED
from tests.services import _answering, missing

SOURCES = ("sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j))


class Source:
    """A store that nothing else uses, and a key prefix on the run's Redis that is to be its mirror."""

    def __init__(self, kind, location, namespace, redis_url, clock=utc_now):
        self.kind, self.location, self.namespace, self.clock = kind, location, namespace, clock
        self.prefix = f"test-{uuid.uuid4().hex}"
        self.mirror_location = f"{redis_url}/0?prefix={self.prefix}"
        self.client = redis.Redis.from_url(redis_url, decode_responses=True)
        self.keys = Keys(self.prefix, namespace)
        self._opened = []
        if kind == "neo4j":
            OPENED.add(namespace)

    def open(self, mirror=None, **options):
        """A brain on the store. Without `mirror` it delivers only if one is noted."""
        options.setdefault("clock", self.clock)
        brain = SyncBrain.open(self.location, namespace=self.namespace, cache=False, mirror=mirror, **options)
        self._opened.append(brain)
        return brain

    def mirrored(self, **options):
        return self.open(self.mirror_location, **options)

    def mirror(self, location=None):
        """A mirror of a store of its own, as another process has it."""
        store = open_store(self.location, namespace=self.namespace, clock=self.clock)
        store.migrate()
        found = Mirror(store, location or self.mirror_location)
        self._opened += [store, found]
        return found

    def document(self, skill_id):
        return self.client.get(self.keys.document(skill_id))

    def dump(self, prefix=None):
        """What OrKa sees, without the companion: key -> value."""
        keys = Keys(prefix or self.prefix, self.namespace)
        found = {}
        for key in self.client.scan_iter(match=f"{keys.prefix}*", count=1000):
            read = {"string": self.client.get, "hash": self.client.hgetall, "set": self.client.smembers}
            found[key.removeprefix(keys.prefix)] = read[self.client.type(key)](key)
        return found

    def flush(self):
        """Loses all that the mirror holds."""
        for key in list(self.client.scan_iter(match=f"{self.prefix}*", count=1000)):
            self.client.delete(key)

    def close(self):
        for opened in reversed(self._opened):
            opened.close()
        self.flush()
        self.client.close()


def source_of(request, tmp_path, clock=utc_now):
    server = request.getfixturevalue("redis_server")
    if request.param == "sqlite":
        return Source("sqlite", f"sqlite:///{tmp_path / 'brain.db'}", "default", server.url, clock)
    neo4j = request.getfixturevalue("neo4j_server")
    return Source("neo4j", neo4j.location, f"test-{uuid.uuid4().hex}", server.url, clock)


@pytest.fixture(params=SOURCES)
def source(request, tmp_path):
    found = source_of(request, tmp_path)
    yield found
    found.close()


@pytest.fixture
def file_source(redis_server, tmp_path):
    """On SQLite alone, for what no store has a part in."""
    found = Source("sqlite", f"sqlite:///{tmp_path / 'brain.db'}", "default", redis_server.url)
    yield found
    found.close()


class Server:
    """A redis-server of one test's own, that can be killed and started again at its port."""

    def __init__(self, folder, *options):
        self.program = shutil.which("redis-server") or missing("This test kills a redis-server; install one.")
        with socket.create_server(("127.0.0.1", 0)) as found:
            self.port = found.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        self._folder, self._options, self._process = folder, options, None

    def start(self):
        command = [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder)]
        self._process = subprocess.Popen([*command, *self._options], stdout=subprocess.DEVNULL)
        _answering(self.url, "The redis-server that was started does not answer")
        return self

    @property
    def is_running(self):
        return self._process is not None

    def kill(self):
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def server(tmp_path):
    """A server that is not started yet, and keeps nothing."""
    found = Server(tmp_path, "--save", "", "--appendonly", "no")
    yield found
    found.kill()
