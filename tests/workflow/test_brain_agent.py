"""`BrainAgent` in an orchestrator of one's own: payloads in every form, the guide's keys, the cycle on every store."""

import asyncio

import pytest

from brain import Brain, BrainAgent
from brain.errors import InputError, PayloadError

LESSON = {
    "domain": "medicine",
    "task": "Find the cause of a fever: form hypotheses and test each one",
    "steps": ["collect the findings", "form hypotheses", "test each hypothesis", "conclude"],
    "confidence": "0.9",
    "skill_name": "Elimination",
}
TASK = {"domain": "software", "task": "Find the cause of a crash: form hypotheses and test each one"}


def test_the_whole_cycle_on_every_store(brain):
    learned = BrainAgent("learn", "learn", brain=brain).run_sync(LESSON)
    assert (learned["skill_name"], learned["skill_steps"], learned["outcome"]) == (
        "Elimination",
        LESSON["steps"],
        "created",
    )
    assert learned["confidence"] == "0.68"
    recalled = BrainAgent("recall", "recall", brain=brain).run_sync(TASK)
    assert recalled["skill_id"] == learned["skill_id"]
    assert recalled["skill_steps"] == LESSON["steps"]
    judged = BrainAgent("judge", "feedback", brain=brain).run_sync(recalled | {"success": "true"})
    assert (judged["transfer_count"], judged["transfer_success"]) == (1, True)
    assert float(judged["confidence"]) == pytest.approx(0.68 + 0.05 * 0.32)
    worse = BrainAgent("judge", "feedback", brain=brain).run_sync({"skill_id": learned["skill_id"], "success": "no"})
    assert (worse["transfer_count"], worse["transfer_success"]) == (2, False)
    assert float(worse["confidence"]) < float(judged["confidence"])


@pytest.fixture
def agent(file_place):
    return BrainAgent("learn", brain=file_place.open())


@pytest.mark.parametrize(
    "given",
    [
        LESSON,
        str(LESSON),
        {"formatted_prompt": str(LESSON), "input": "x", "previous_outputs": {}},
        {"input": LESSON},
        {"input": str(LESSON), "operation": "learn", "previous_outputs": {}},
        f"Here:\n```json\n{str(LESSON).replace(chr(39), chr(34))}\n```",
    ],
)
def test_a_payload_comes_as_object_as_text_or_in_an_orchestrators_context(agent, given):
    assert agent.run_sync(given)["skill_steps"] == LESSON["steps"]


def test_a_context_may_name_another_operation(agent):
    agent.run_sync(LESSON)
    found = agent.run_sync({"formatted_prompt": str(TASK), "operation": "recall", "previous_outputs": {}})
    assert found["skill_name"] == "Elimination"


def test_it_works_in_an_event_loop_on_an_asynchronous_brain(file_place):
    async def runs():
        async with Brain.open(file_place.location, cache=False) as brain:
            learned = await BrainAgent("learn", brain=brain).run(LESSON)
            return learned, await BrainAgent("recall", "recall", brain=brain).run(TASK)

    learned, recalled = asyncio.run(runs())
    assert recalled["skill_id"] == learned["skill_id"]


def test_what_was_taken_for_granted_stands_in_the_notes(agent):
    agent.run_sync({"steps": ["look at it", 7], "confidence": "high"})
    assert len(agent.notes) == 2
    agent.run_sync(LESSON)
    assert agent.notes == []


def test_settings_hold_where_a_payload_does_not_say(file_place):
    brain = file_place.open()
    BrainAgent("learn", brain=brain).run_sync(LESSON)
    strict = BrainAgent("recall", "recall", brain=brain, settings={"min_score": 1.0, "top_k": None})
    assert strict.run_sync(TASK)["all_candidates"] == []
    assert strict.run_sync(TASK | {"min_score": 0.2})["skill_name"] == "Elimination"


@pytest.mark.parametrize("operation", ["learn_recipe", "forget", ""])
def test_an_operation_that_there_is_not_is_refused_at_once(operation):
    with pytest.raises(InputError, match="Use learn, recall, feedback"):
        BrainAgent("x", operation)


def test_an_agent_without_a_brain_says_so():
    with pytest.raises(InputError, match="agent 'x' has no brain"):
        BrainAgent("x").run_sync(LESSON)


def test_a_payload_that_cannot_be_used_names_agent_and_key(agent):
    with pytest.raises(PayloadError) as error:
        agent.run_sync({"steps": ["look at it"], "quality": "high"})
    assert (error.value.agent, error.value.key) == ("learn", "quality")
    with pytest.raises(PayloadError, match=r"agent 'learn': .*lone surrogate"):
        agent.run_sync({"steps": ["look \ud800 at it"]})


def test_memory_may_be_what_a_brain_takes(redis_server):
    import redis

    client = redis.Redis.from_url(f"{redis_server.url}/0")
    try:
        learned = BrainAgent("learn", "learn", client).run_sync(LESSON)
        assert client.exists(f"orka:brain:skill:{learned['skill_id']}")
    finally:
        client.flushdb()
        client.close()
