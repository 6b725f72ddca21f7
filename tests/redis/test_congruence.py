"""Do SQLite and Redis give the same answers to the same calls? See `tests.congruence.test_same_answers`."""

import uuid

import pytest
from hypothesis.stateful import run_state_machine_as_test

from brain import Policy
from tests.congruence.test_same_answers import CALLS, SOAK, SameAnswers, Where
from tests.contract.raw import raw


@pytest.mark.redis
@pytest.mark.timeout(0 if SOAK else 300)
@pytest.mark.parametrize("rules", [Policy(), Policy.guide()], ids=["default", "guide"])
def test_redis_gives_the_answers_of_sqlite(redis_server, tmp_path, rules):
    on_redis = Where("redis", f"{redis_server.url}/0?prefix=test-{uuid.uuid4().hex}")

    class Calls(SameAnswers):
        places = (Where("sqlite", f"sqlite:///{tmp_path / 'brain.db'}"), on_redis)
        policy = rules

    run_state_machine_as_test(Calls, settings=CALLS)
    on_redis.namespace = "default"
    raw(on_redis).clear()
