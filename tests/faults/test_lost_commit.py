"""Does a write count once when the server committed it and the answer never arrived?

A proxy on loopback forwards everything, and once swallows the answer to a COMMIT and cuts the connection.
"""

import contextlib
import socket
import threading
import uuid
from urllib.parse import urlsplit

import pytest

from brain import LearnOutcome, SyncBrain
from tests.contract.samples import bread, skill

pytestmark = pytest.mark.neo4j

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""A Bolt message of two bytes (a structure without fields, signature COMMIT) and its end."""


class Proxy:
    def __init__(self, host, port):
        self._target, self._armed, self.cut = (host, port), threading.Event(), threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._open, self._threads = [], []
        self._start(self._serve)

    def lose_the_next_commit(self):
        self.cut.clear()
        self._armed.set()

    def close(self):
        for end in [self._listening, *self._open]:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for end in [self._listening, *self._open]:
            end.close()

    def _start(self, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._target)
                self._open += [client, server]
                lost = threading.Event()
                self._start(self._up, client, server, lost)
                self._start(self._down, client, server, lost)

    def _up(self, client, server, lost):
        with contextlib.suppress(OSError):
            while data := client.recv(65_536):
                if self._armed.is_set() and COMMIT in data:
                    self._armed.clear()
                    lost.set()
                server.sendall(data)

    def _down(self, client, server, lost):
        with contextlib.suppress(OSError):
            while data := server.recv(65_536):
                if lost.is_set():
                    self.cut.set()
                    break
                client.sendall(data)
            for end in (client, server):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(neo4j_server):
    address = urlsplit(neo4j_server.uri)
    found = Proxy(address.hostname, address.port)
    yield found
    found.close()


@pytest.fixture
def brain(neo4j_server, proxy):
    location = f"bolt://{neo4j_server.user}:{neo4j_server.password}@127.0.0.1:{proxy.port}"
    with SyncBrain.open(location, namespace=f"test-{uuid.uuid4().hex}") as found:
        found.recall({"task": "warm up"})
        yield found


def lost(proxy, call):
    """What `call` answers while the answer to its COMMIT is lost."""
    proxy.lose_the_next_commit()
    answer = call()
    assert proxy.cut.is_set()
    return answer


def test_learning_and_reinforcing_count_once(brain, proxy):
    first = lost(proxy, lambda: brain.observe(**bread()))
    assert (first.outcome, first.version) == (LearnOutcome.CREATED, 1)
    second = lost(proxy, lambda: brain.observe(**bread()))
    assert (second.outcome, second.skill.usage_count) == (LearnOutcome.REINFORCED, 2)


def test_feedback_counts_once(brain, proxy):
    brain.skill_graph.save_skill(skill("a"))
    receipt = lost(proxy, lambda: brain.feedback("a", {}, True))
    assert receipt.recorded
    stored = brain.get_skill("a")
    assert (stored.transfer_count, len(stored.transfer_history), stored.version) == (1, 1, 2)


def test_saving_counts_once_with_an_expected_version(brain, proxy):
    assert lost(proxy, lambda: brain.skill_graph.save_skill(skill("a"), expected_version=0)).version == 1
    assert lost(proxy, lambda: brain.skill_graph.save_skill(skill("a"), expected_version=1)).version == 2


def test_deleting_says_that_it_deleted(brain, proxy):
    brain.skill_graph.save_skill(skill("a"))
    assert lost(proxy, lambda: brain.skill_graph.delete_skill("a")) is True
    assert brain.get_skills() == []
