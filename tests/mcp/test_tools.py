"""What can a model do through the server, on every store? In sessions of the SDK's own client."""

import json

import pytest
from mcp import MCPError
from mcp.client import Client
from mcp_types import INVALID_PARAMS

from brain import SyncBrain
from brain.errors import StoreUnavailableError
from brain.mcp.memory import Memory
from brain.mcp.server import build
from tests.mcp.sessions import LESSON, TASK, call, in_process, refusal, talk

MODES = ("auto", "legacy")
"""The protocol without a handshake (2026), and the one with it (2025)."""


@pytest.fixture
def plain(file_place, clock):
    """An empty brain where the store has no part in what is tested."""
    return file_place.open(clock=clock)


@pytest.mark.parametrize("mode", MODES)
def test_what_one_session_learns_another_recalls_in_another_domain(brain, mode):
    async def conversation():
        async with in_process(brain, mode) as client:
            learned = await call(client, "learn", **LESSON)
        async with in_process(brain, mode) as client:
            found = await call(client, "recall", **TASK)
        return learned, found

    learned, found = talk(conversation)
    (skill,) = found["skills"]
    assert learned["outcome"] == "created"
    assert skill["skill_id"] == learned["skill"]["skill_id"]
    assert skill["steps"] == LESSON["steps"]
    assert skill["domain"] == "medicine"
    assert skill["scores"]["combined"] == pytest.approx(brain.recall(TASK)[0].combined_score)


def test_a_trace_id_counts_once(brain):
    async def conversation():
        async with in_process(brain) as client:
            return [await call(client, "learn", **LESSON | {"trace_id": run}) for run in ("a", "a", "b", "b")]

    results = talk(conversation)
    assert [result["outcome"] for result in results] == ["created", "already_seen", "reinforced", "already_seen"]
    assert results[-1]["skill"]["usage_count"] == 2


def test_a_feedback_id_counts_once(brain):
    async def conversation():
        async with in_process(brain) as client:
            skill_id = (await call(client, "learn", **LESSON))["skill"]["skill_id"]
            given = {"skill_id": skill_id, "success": True, **TASK}
            return [await call(client, "feedback", **given, feedback_id=use) for use in ("a", "a", "b")]

    first, again, other = talk(conversation)
    assert [result["repeated"] for result in (first, again, other)] == [False, True, False]
    assert [result["skill"]["transfers"] for result in (first, again, other)] == [1, 1, 2]
    assert first["skill"]["confidence"] == again["skill"]["confidence"] < other["skill"]["confidence"]


def test_a_failure_creates_nothing_and_lowers_what_does_the_same(brain):
    failed = {**LESSON, "success": False}

    async def conversation():
        async with in_process(brain) as client:
            alone = await call(client, "learn", **failed | {"trace_id": "a"})
            taught = await call(client, "learn", **LESSON | {"trace_id": "b"})
            after = await call(client, "learn", **failed | {"trace_id": "c"})
            return alone, taught, after

    alone, taught, after = talk(conversation)
    assert (alone["outcome"], alone["skill"]) == ("ignored", None)
    assert after["outcome"] == "failure_recorded"
    assert after["skill"]["confidence"] < taught["skill"]["confidence"]


def test_a_skill_is_got_with_all_that_its_steps_say(brain):
    steps = [
        "gather the symptoms",
        {"action": "weigh them", "description": "with a scale", "parameters": {"unit": "kg"}, "is_optional": True},
    ]

    async def conversation():
        async with in_process(brain) as client:
            skill_id = (await call(client, "learn", **{**LESSON, "steps": steps}))["skill"]["skill_id"]
            return await call(client, "get", skill_id=skill_id)

    got = talk(conversation)
    assert got["steps"][1] == steps[1]
    assert got["learned_from"] == LESSON["task"]


def test_skills_that_were_used_are_related_to_what_was_learned(brain):
    async def conversation():
        async with in_process(brain) as client:
            first = (await call(client, "learn", **LESSON))["skill"]["skill_id"]
            second = {**LESSON, **TASK, "trace_id": "build-1", "steps": ["read the log", "guess", "bisect the commits"]}
            other = (await call(client, "learn", **second, derived_from=[first]))["skill"]["skill_id"]
            found = await call(client, "related", skill_id=other)
            narrowed = await call(client, "related", skill_id=other, relation="CONFLICTS_WITH")
            return first, other, found, narrowed

    first, other, found, narrowed = talk(conversation)
    assert [(skill["skill_id"], skill["distance"]) for skill in found["skills"]] == [(first, 1)]
    assert {"source": other, "relation": "DERIVES_FROM", "target": first} in found["connections"]
    assert narrowed["total"] == 0


def test_why_tells_what_a_score_rests_on(brain):
    async def conversation():
        async with in_process(brain) as client:
            skill_id = (await call(client, "learn", **LESSON))["skill"]["skill_id"]
            fits = await call(client, "why", skill_id=skill_id, **TASK)
            not_so = await call(client, "why", skill_id=skill_id, task="bake sourdough bread")
            return skill_id, fits, not_so

    skill_id, fits, not_so = talk(conversation)
    assert (fits["returned"], not_so["returned"]) == (True, False)
    assert fits["evidence"] == json.loads(json.dumps(brain.why(skill_id, TASK).candidate.evidence))
    assert "floor" in not_so["reason"]


def test_secrets_are_replaced_before_they_are_stored_and_counted(brain):
    secret = {
        **LESSON,
        "steps": ["call the service with password=hunter2", "write to someone@example.org"],
    }

    async def conversation():
        async with in_process(brain) as client:
            learned = await call(client, "learn", **secret)
            skill_id = learned["skill"]["skill_id"]
            rated = await call(
                client,
                "feedback",
                skill_id=skill_id,
                success=True,
                feedback_id="a",
                task="ask other@example.org",
                adaptations={"api_key": "sk-abcdefghijklmnopqrstuvwx123456"},
            )
            return learned, rated

    learned, rated = talk(conversation)
    stored = json.dumps(brain.get_skill(learned["skill"]["skill_id"]).to_dict())
    assert learned["redacted"] == {"password": 1, "email": 1}
    assert sum(rated["redacted"].values()) == 2
    assert not any(part in stored for part in ("hunter2", "example.org", "sk-abc"))


def test_a_server_told_so_keeps_texts_as_they_are(plain):
    async def conversation():
        async with in_process(plain, redacting=False) as client:
            learned = await call(client, "learn", **{**LESSON, "steps": ["write to someone@example.org"]})
            return await call(client, "get", skill_id=learned["skill"]["skill_id"]), learned["redacted"]

    got, redacted = talk(conversation)
    assert got["steps"][0]["action"] == "write to someone@example.org"
    assert redacted == {}


def test_a_server_that_only_reads_has_no_tool_that_writes(plain, clock):
    skill = plain.learn({"steps": LESSON["steps"]}, {"task": LESSON["task"]}, {"success": True})

    async def conversation():
        async with in_process(plain, read_only=True) as client:
            listed = (await client.list_tools()).tools
            with pytest.raises(MCPError, match="no tool 'learn'") as refused:
                await client.call_tool("learn", LESSON)
            found = await client.call_tool("recall", TASK)
            clock.advance(days=3650)
            gone = await call(client, "recall", **TASK)
            prompt = await client.get_prompt("recall_skills", TASK)
            return listed, refused.value.code, found, gone, client.instructions, prompt

    listed, code, found, gone, instructions, prompt = talk(conversation)
    assert [tool.name for tool in listed] == ["recall", "get", "related", "why"]
    assert all(tool.annotations.read_only_hint for tool in listed)
    assert code == INVALID_PARAMS
    assert found.structured_content["skills"][0]["skill_id"] == skill.id
    told = found.content[0].text + (instructions or "") + prompt.messages[0].content.text
    assert "feedback" not in told and "call learn" not in told
    assert gone["skills"] == []
    assert plain.cleanup_expired_skills()["deleted"] == 1, "recall has not swept"


def test_tools_describe_themselves_to_models_that_follow_no_references(plain):
    async def conversation():
        async with in_process(plain) as client:
            return (await client.list_tools()).tools

    listed = talk(conversation)
    assert [tool.name for tool in listed] == ["recall", "learn", "feedback", "get", "related", "why"]
    for tool in listed:
        assert tool.title and len(tool.description) > 50
        assert "$ref" not in json.dumps([tool.input_schema, tool.output_schema])
        assert tool.input_schema["additionalProperties"] is False
        for name, argument in tool.input_schema["properties"].items():
            assert argument.get("description"), (tool.name, name)
        assert tool.annotations.idempotent_hint
        assert tool.annotations.read_only_hint == (tool.name not in ("learn", "feedback"))
    recall = listed[0].input_schema["properties"]
    assert (recall["min_score"]["minimum"], recall["min_score"]["maximum"]) == (0, 1)
    assert recall["task"]["examples"]


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("recall", {}, "task: Field required"),
        ("recall", {"task": ""}, "task: "),
        ("recall", {"task": "x", "top_k": 0}, "top_k: "),
        ("recall", {"task": "x", "top_k": 1_000}, "top_k: "),
        ("recall", {"task": "x", "min_score": 7}, "min_score: "),
        ("recall", {"task": "x", "min_score": "high"}, "min_score: "),
        ("recall", {"task": ["x"]}, "task: "),
        ("recall", {"task": "x", "tasks": "y"}, "tasks: "),
        ("learn", {**LESSON, "steps": []}, "steps: "),
        ("learn", {**LESSON, "steps": [{"description": "no action"}]}, "steps"),
        ("learn", {**LESSON, "steps": ["   "]}, "step 0"),
        ("learn", {**LESSON, "success": "yes"}, "success: "),
        ("learn", {**LESSON, "quality": 1.5}, "quality: "),
        ("learn", {key: value for key, value in LESSON.items() if key != "trace_id"}, "trace_id: "),
        ("learn", {**LESSON, "trace_id": "../../etc/passwd"}, "trace_id: "),
        ("learn", {**LESSON, "derived_from": ["nowhere"]}, "No skill 'nowhere'"),
        ("learn", {**LESSON, "name": "x" * 2_000_000}, "text"),
        ("feedback", {"skill_id": "nowhere", "success": True, "feedback_id": "a"}, "No skill 'nowhere'"),
        ("feedback", {"skill_id": "a", "success": True}, "feedback_id: "),
        ("get", {"skill_id": "nowhere"}, "No skill 'nowhere'"),
        ("get", {"skill_id": " "}, "skill_id: "),
        ("related", {"skill_id": "nowhere"}, "No skill 'nowhere'"),
        ("related", {"skill_id": "a", "relation": "FRIEND_OF"}, "relation: "),
        ("related", {"skill_id": "a", "max_depth": 99}, "max_depth: "),
        ("why", {"skill_id": "nowhere", "task": "x"}, "No skill 'nowhere'"),
    ],
)
def test_what_a_model_can_correct_is_an_answer_that_says_what_to_do(plain, tool, arguments, word):
    async def conversation():
        async with in_process(plain) as client:
            return await refusal(client, tool, **arguments)

    told = talk(conversation)
    assert word in told
    assert len(told) < 1_000
    assert plain.get_skills() == []


def test_what_is_null_counts_as_left_out(plain):
    async def conversation():
        async with in_process(plain) as client:
            return await call(client, "recall", task="x", domain=None, top_k=None, steps=None)

    assert talk(conversation)["skills"] == []


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_tool_is_an_error_of_the_protocol_that_names_the_known_ones(plain, mode):
    async def conversation():
        async with in_process(plain, mode) as client:
            with pytest.raises(MCPError, match="recall, learn") as refused:
                await client.call_tool("drop_database", {})
            return refused.value.code

    assert talk(conversation) == INVALID_PARAMS


def test_a_brain_that_cannot_be_opened_is_tried_again_at_the_next_call(plain):
    attempts = []

    def opening():
        attempts.append(1)
        if len(attempts) == 1:
            raise StoreUnavailableError("Nothing answers at neo4j://nowhere. Start it.")
        return plain

    async def conversation():
        async with Client(build(Memory(opening))) as client:
            return await refusal(client, "recall", task="x"), await call(client, "recall", task="x")

    told, found = talk(conversation)
    assert "Start it." in told
    assert found["skills"] == []


def test_a_defect_is_told_without_its_details_and_the_session_goes_on(plain, monkeypatch, caplog):
    real, calls = SyncBrain.get_skill, []

    def broken(self, skill_id):
        calls.append(skill_id)
        if len(calls) == 1:
            raise RuntimeError("an internal detail")
        return real(self, skill_id)

    monkeypatch.setattr(SyncBrain, "get_skill", broken)

    async def conversation():
        async with in_process(plain) as client:
            return await refusal(client, "get", skill_id="a"), await refusal(client, "get", skill_id="a")

    first, second = talk(conversation)
    assert "RuntimeError" in first and "internal detail" not in first
    assert "No skill 'a'" in second
    assert "an internal detail" in caplog.text
