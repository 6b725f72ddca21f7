"""Is nothing lost when many processes write, when a writer is killed, and when the Redis is?"""

import json
import multiprocessing
import os
import random
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest

from brain.engine.mirror import Mirror
from brain.store.location import open_store
from tests.contract.samples import skill
from tests.mirror.conftest import Server
from tests.mirror.workers import give_feedback

pytestmark = pytest.mark.redis

ROUNDS = int(os.environ.get("BRAIN_TEST_MIRROR_KILLS", "4"))
"""How often a writer and its mirror are killed, on each store: a handful; fifty to be sure."""
PERSISTENCE = {
    "nothing": ("--save", "", "--appendonly", "no"),
    "a second is lost": ("--save", "", "--appendonly", "yes", "--appendfsync", "everysec"),
    "everything": ("--save", "", "--appendonly", "yes", "--appendfsync", "always"),
}
"""What a redis-server keeps when it is killed."""


def test_feedback_in_parallel_loses_nothing_and_neither_does_its_mirror(source):
    with source.mirrored() as brain:
        brain.skill_graph.save_skill(skill("a", expires_at=""))
    work = (source.location, source.namespace, source.mirror_location, "a", 50)
    with ProcessPoolExecutor(8, mp_context=multiprocessing.get_context("spawn")) as processes:
        assert sum(done.result() for done in [processes.submit(give_feedback, *work) for _ in range(8)]) == 400
    mirror = source.mirror()
    mirror.sync()
    assert mirror.store.get_many(["a"])[0].transfer_count == 400
    assert json.loads(source.document("a"))["usage_count"] == 400
    assert [found for page in mirror.differences() for found in page] == []


@pytest.mark.timeout(60 + 60 * ROUNDS)
def test_a_killed_writer_and_a_killed_mirror_lose_nothing(source, tmp_path):
    seed = int(os.environ.get("BRAIN_TEST_SEED", random.randrange(10**6)))
    for number in range(ROUNDS):
        keeps = list(PERSISTENCE)[number % len(PERSISTENCE)]
        folder = tmp_path / f"redis-{number}"
        folder.mkdir()
        _round(
            source,
            Server(folder, *PERSISTENCE[keeps]),
            f"round {number}, Redis keeps {keeps}, seed {seed}",
            seed + number,
        )


def _round(source, server, name, seed):
    chance, namespace = random.Random(seed), f"{source.namespace}-{seed}"
    server.start()
    command = [sys.executable, "-m", "tests.mirror.workers", source.location, namespace, server.url, str(seed)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        _written(writer, chance.randrange(1, 30))
        if chance.random() < 0.7:
            _after(writer, chance.uniform(0, 0.05))
            server.kill()
            _written(writer, chance.randrange(0, 20))
            if chance.random() < 0.6:
                server.start()
                _written(writer, chance.randrange(0, 30))
        _after(writer, chance.uniform(0, 0.05))
    finally:
        writer.kill()
        writer.communicate()
    if not server.is_running:
        server.start()
    store = open_store(source.location, namespace=namespace)
    mirror = Mirror(store, server.url)
    try:
        mirror.sync()
        assert [found for page in mirror.differences() for found in page] == [], name
        assert store.waiting().count == 0, name
        assert [found.id for found in store.get_many(["first"])] == ["first"], name
    finally:
        mirror.close()
        store.close()
        server.kill()


def _written(writer, times):
    """Waits until the writer has written so often."""
    for _ in range(times):
        assert writer.stdout.readline() == "done\n"


def _after(writer, seconds):
    """Lets the writer go on for a moment, so that it is somewhere in a write."""
    try:
        writer.wait(seconds)
    except subprocess.TimeoutExpired:
        return
    raise AssertionError("The writer ended by itself.")
