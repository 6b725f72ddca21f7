"""Does a brain take what the guide shows as its memory, and tell its log what was learned?"""

import json
from datetime import UTC, datetime

import pytest
import redis

from brain import Brain
from brain.errors import InputError, LocationError
from brain.store.redis.opening import say_once_that_it_is_not_atomic
from tests.contract.samples import AUDIT_STEPS, audit, bread
from tests.redis.fake import FakeMemory
from tests.redis.golden_files import golden

pytestmark = pytest.mark.redis


class Logger:
    """OrKa's memory logger: a client, and a log."""

    def __init__(self, client):
        self.redis, self.told = client, []

    def log(self, agent_id, event_type, payload, log_type="memory"):
        self.told.append((agent_id, event_type, payload, log_type))


@pytest.fixture
def logger():
    say_once_that_it_is_not_atomic("memory://FakeMemory")
    return Logger(FakeMemory())


def test_what_was_learned_from_successes_is_told_as_orka_does(logger):
    (wanted,) = golden("01")["log"]
    with Brain(memory=logger, cache=False) as brain:
        for success in (True, True, False):
            skill = brain.sync.learn(**audit(success=success, quality=0.9))
        brain.sync.feedback(skill.id, {}, True)
    assert len(logger.told) == 2
    agent_id, event_type, payload, log_type = logger.told[0]
    assert (agent_id, event_type, log_type) == (wanted["agent_id"], wanted["event_type"], wanted["log_type"])
    assert payload.keys() == wanted["payload"].keys()
    assert payload["skill_id"] == skill.id and payload["num_steps"] == len(AUDIT_STEPS)
    assert (payload["context_domain"], payload["outcome_success"], payload["outcome_quality"]) == (
        "security",
        True,
        0.9,
    )


def test_learning_many_tells_each(logger):
    refused = {"execution_trace": {}, "context": {}, "outcome": {}}
    executions = [bread(), refused, bread(success=False), audit(), bread()]
    del executions[3]["outcome"]["quality"]
    seen = []
    with Brain(memory=logger, cache=False) as brain:
        report = brain.sync.learn_many(
            iter(executions), batch_size=2, each=lambda place, receipt: seen.append((place, receipt.outcome.value))
        )
    assert [place for place, _ in seen] == [0, 2, 3, 4]
    assert [refusal.place for refusal in report.refused] == [1]
    assert [told[2]["context_domain"] for told in logger.told] == ["kitchen", "security", "kitchen"]
    assert logger.told[1][2]["outcome_quality"] == 0.5


def test_a_log_that_fails_is_only_logged(logger, caplog):
    def fails(**_):
        raise RuntimeError("full")

    logger.log = fails
    with Brain(memory=logger, cache=False) as brain:
        learned = brain.sync.learn(**bread())
        assert brain.sync.get_skill(learned.id)
    assert "full" in caplog.text


@pytest.mark.parametrize("decode", [True, False])
def test_a_client_is_a_memory(redis_server, decode):
    clock = datetime(2026, 11, 30, 12, tzinfo=UTC)
    with redis.Redis.from_url(redis_server.url, decode_responses=decode) as client:
        for memory in (client, Logger(client)):
            with Brain(memory=memory, namespace="of-a", clock=lambda: clock, cache=False) as brain:
                learned = brain.sync.learn(**bread())
                assert brain.sync.recall({"task": "bake sourdough bread"})[0].skill.id == learned.id
                assert json.loads(client.get(f"orka:brain~of-a:skill:{learned.id}"))["created_at"] == clock.isoformat()
                brain.sync.skill_graph.delete_skill(learned.id)
        for key in list(client.scan_iter(match="orka:brain~*")):
            client.delete(key)


@pytest.mark.parametrize("memory", [5, object(), {}, None])
def test_what_is_no_memory_is_refused(memory):
    with pytest.raises(LocationError, match="sqlite:///"):
        Brain(memory)


def test_credentials_go_with_a_location_and_a_mirror_with_a_store(logger):
    with pytest.raises(InputError, match="auth"):
        Brain(memory=logger, auth=("a", "b"))
    with pytest.raises(LocationError, match="needs no mirror"):
        Brain(memory=logger, mirror="redis://localhost:1", cache=False)
