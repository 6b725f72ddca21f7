"""Does a session survive a store that goes away and comes back?"""

import uuid
from urllib.parse import urlsplit

import pytest

from brain import SyncBrain
from brain.errors import StoreError
from brain.mcp.memory import Memory
from brain.store.neo4j import connection
from tests.conftest import OPENED
from tests.mcp.sessions import LESSON, TASK, call, in_process, refusal, talk, with_process
from tests.proxy import Proxy
from tests.services import own_redis


class Switch(Proxy):
    """A proxy that behaves as a server which is down, while it is off."""

    def __init__(self, host, port):
        self._off = False
        super().__init__(host, port)

    def answered(self, state, data):
        return not self._off

    def turn_off(self):
        self._off = True
        self.cut_everything()

    def turn_on(self):
        self._off = False


@pytest.mark.redis
def test_a_session_goes_on_after_its_redis_was_started_anew(tmp_path):
    keeping = ("--appendonly", "yes", "--appendfsync", "always", "--dir", str(tmp_path))
    server = own_redis(*keeping)
    location, port = f"{server.url}/0", urlsplit(server.url).port

    async def conversation():
        nonlocal server
        async with with_process(tmp_path, "--store", location) as client:
            learned = await call(client, "learn", **LESSON)
            server.stop()
            told = [await refusal(client, "recall", **TASK), await refusal(client, "learn", **LESSON)]
            server = own_redis(*keeping, port=port)
            again = await call(client, "learn", **LESSON)
            found = await call(client, "recall", **TASK)
            return learned["skill"]["skill_id"], told, again, found

    try:
        skill_id, told, again, found = talk(conversation)
    finally:
        server.stop()
    for reason in told:
        assert f"127.0.0.1:{port}" in reason
    assert again["outcome"] == "already_seen"
    assert [skill["skill_id"] for skill in found["skills"]] == [skill_id]


@pytest.mark.neo4j
def test_a_session_goes_on_after_its_neo4j_was_away(neo4j_server, monkeypatch):
    monkeypatch.setattr(connection, "RETRY_SECONDS", 1.0)
    monkeypatch.setitem(connection.DRIVER_OPTIONS, "max_transaction_retry_time", 1.0)
    address = urlsplit(neo4j_server.uri)
    proxy, namespace = Switch(address.hostname, address.port), f"test-{uuid.uuid4().hex}"
    OPENED.add(namespace)
    location = f"bolt://127.0.0.1:{proxy.port}"

    async def conversation(brain):
        async with in_process(brain) as client:
            skill_id = (await call(client, "learn", **LESSON))["skill"]["skill_id"]
            proxy.turn_off()
            rated = {"skill_id": skill_id, "success": True, "feedback_id": "a"}
            told = [await refusal(client, "recall", **TASK), await refusal(client, "feedback", **rated)]
            proxy.turn_on()
            return told, await call(client, "feedback", **rated), await call(client, "recall", **TASK)

    try:
        with SyncBrain.open(location, namespace=namespace, auth=neo4j_server.auth, cache=False) as brain:
            told, rated, found = talk(conversation, brain)
    finally:
        proxy.close()
    for reason in told:
        assert location in reason
    assert rated["skill"]["transfers"] == 1
    assert len(found["skills"]) == 1


def test_a_session_goes_on_after_its_file_was_put_back(tmp_path):
    file, elsewhere = tmp_path / "skills.db", tmp_path / "away"
    elsewhere.mkdir()

    async def conversation():
        async with with_process(tmp_path, "--store", f"sqlite:///{file}") as client:
            await call(client, "learn", **LESSON)
            away = {path: path.rename(elsewhere / path.name) for path in tmp_path.glob("skills.db*")}
            told = await refusal(client, "learn", **LESSON | {"trace_id": "another"})
            for place, path in away.items():
                path.rename(place)
            return told, await call(client, "learn", **LESSON | {"trace_id": "another"})

    told, learned = talk(conversation)
    assert "skills.db" in told
    assert learned["outcome"] == "reinforced"


def replace(file, *lessons):
    """Puts another file in the place of one, as when a backup is brought back."""
    for path in file.parent.glob(f"{file.name}*"):
        path.unlink()
    with SyncBrain.open(f"sqlite:///{file}", cache=False) as brain:
        for lesson in lessons:
            brain.observe({"steps": lesson["steps"]}, {"task": lesson["task"]}, {"success": True}, "brought back")


@pytest.mark.parametrize("first", ["learn", "recall"])
def test_a_session_goes_on_with_the_file_that_took_the_place_of_its_own(tmp_path, first):
    file = tmp_path / "skills.db"

    async def conversation():
        async with with_process(tmp_path, "--store", f"sqlite:///{file}") as client:
            await call(client, "learn", **LESSON)
            replace(file, LESSON)
            learned = await call(client, "learn", **LESSON) if first == "learn" else None
            found = await call(client, "recall", **TASK)
            replace(file)
            return learned, found, await call(client, "recall", **TASK)

    learned, found, empty = talk(conversation)
    assert [skill["name"] for skill in found["skills"]] == ["brought back"]
    assert learned is None or learned["outcome"] == "reinforced"
    assert empty["skills"] == []


def test_a_brain_that_is_let_go_is_closed_by_its_last_use(tmp_path):
    memory = Memory(lambda: SyncBrain.open(f"sqlite:///{tmp_path / 'skills.db'}", cache=False))
    with memory.using() as first:
        memory.let_go(first)
        with memory.using() as second:
            memory.let_go(first)
            assert second is not first
        assert first.get_skills() == []
    with pytest.raises(StoreError, match="closed"):
        first.get_skills()
    with memory.using() as third:
        assert third is second
        assert third.get_skills() == []
    memory.close()
