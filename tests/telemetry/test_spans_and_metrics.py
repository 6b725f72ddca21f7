"""What do traces and dashboards learn of a brain's work, and what do they not?"""

import asyncio
import json
import sys

import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode

from brain import Brain
from brain.engine.telemetry import CONTENT_VARIABLE, DURATION, SKILLS
from brain.errors import InputError
from tests.mcp.sessions import LESSON as ARGUMENTS
from tests.mcp.sessions import in_process, talk

CONTEXT = {"task": "Find out why a patient feels ill: analyze the symptoms, test causes", "domain": "medicine"}
LESSON = ({"steps": ["gather the symptoms", "form hypotheses", "test each hypothesis"]}, CONTEXT, {"success": True})
TASK = {"task": "Find out why the build fails: analyze the reports, test causes", "domain": "software"}
SECRETS = ("patient", "symptom", "build", "reports", "medicine", "software", "hypothes")
"""Words of the texts above: none of them may be told unless it was asked for."""


def told_text(heard):
    """Everything that spans and metrics say, as one text."""
    spans = [span.to_json() for span in heard.spans()]
    points = [json.dumps(attributes) for name in (DURATION, SKILLS) for attributes, _ in heard.points(name)]
    return "\n".join([*spans, *points])


def work(brain):
    """Every verb that is told of; the id of the skill."""
    skill = brain.learn(*LESSON)
    brain.observe(*LESSON, trace_id="a")
    brain.observe(*LESSON, trace_id="a")
    brain.learn_many([dict(zip(("execution_trace", "context", "outcome"), LESSON, strict=True)), {"context": {}}])
    brain.recall(TASK)
    brain.feedback(skill.id, TASK, True, feedback_id="one")
    brain.feedback(skill.id, TASK, True, feedback_id="one")
    brain.feedback("nowhere", TASK, False)
    brain.cleanup_expired_skills()
    return skill.id


def test_every_verb_has_a_span_with_the_names_of_the_conventions(heard, place, clock):
    brain = place.open(clock=clock)
    skill_id = work(brain)
    spans = [span for span in heard.spans() if span.name != "delete_memory"]
    assert [span.name for span in spans] == ["upsert_memory"] * 4 + ["search_memory"] + ["update_memory"] * 3
    for span in spans:
        told = span.attributes
        assert told["gen_ai.operation.name"] == span.name
        assert told["gen_ai.provider.name"] == "brain"
        assert told["gen_ai.memory.store.id"] == brain.namespace
        assert told["db.system.name"] == place.kind
        assert span.kind == (SpanKind.INTERNAL if place.kind == "sqlite" else SpanKind.CLIENT)
        assert ("server.port" in told) == ("server.address" in told) == (place.kind != "sqlite")
        assert span.status.status_code is StatusCode.UNSET
        assert span.instrumentation_scope.name == "brain"
    outcomes = ["created", "reinforced", "already_seen", "batch", "found", "recorded", "repeated", "unknown_skill"]
    assert [span.attributes["brain.outcome"] for span in spans] == outcomes
    assert [span.attributes["gen_ai.memory.record.count"] for span in spans] == [1, 1, 0, 1, 1, 1, 0, 0]
    assert spans[3].attributes["brain.learned.reinforced"] == spans[3].attributes["brain.learned.refused"] == 1
    ids = [span.attributes.get("gen_ai.memory.record.id") for span in spans]
    assert ids == [skill_id] * 3 + [None] + [skill_id] * 3 + [None]


def test_sweeps_are_told_those_on_the_way_of_a_recall_too(heard, brain, clock):
    brain.learn(*LESSON)
    clock.advance(days=365)
    brain.recall(TASK)
    brain.cleanup_expired_skills()
    sweeps = heard.spans("delete_memory")
    assert [span.attributes["brain.outcome"] for span in sweeps] == ["removed", "nothing"]
    assert [span.attributes["gen_ai.memory.record.count"] for span in sweeps] == [1, 0]
    assert all("gen_ai.memory.record.id" not in span.attributes for span in sweeps)


def test_durations_and_counts_are_measured(heard, file_place, clock):
    work(file_place.open(clock=clock))
    durations = {
        (attributes["gen_ai.operation.name"], attributes["brain.outcome"]): point
        for attributes, point in heard.points(DURATION)
    }
    assert {key: point.count for key, point in durations.items() if key[0] != "delete_memory"} == {
        ("upsert_memory", "created"): 1,
        ("upsert_memory", "reinforced"): 1,
        ("upsert_memory", "already_seen"): 1,
        ("upsert_memory", "batch"): 1,
        ("search_memory", "found"): 1,
        ("update_memory", "recorded"): 1,
        ("update_memory", "repeated"): 1,
        ("update_memory", "unknown_skill"): 1,
    }
    for point in durations.values():
        assert 0 < point.sum < 60, "seconds"
        assert set(point.explicit_bounds) > {0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 81.92}
    counted = {
        (attributes["gen_ai.operation.name"], attributes["brain.outcome"]): point.value
        for attributes, point in heard.points(SKILLS)
    }
    assert counted["search_memory", "found"] == counted["update_memory", "recorded"] == 1
    assert counted["update_memory", "unknown_skill"] == 0
    for attributes, _ in heard.points(DURATION):
        assert attributes["db.system.name"] == "sqlite"
        assert attributes["gen_ai.memory.store.id"] == "default"


def test_no_word_of_a_task_is_told(heard, brain):
    work(brain)
    with pytest.raises(InputError):
        brain.recall({**TASK, "task": "Find out why the build fails " + "x" * 2_000_000})
    with pytest.raises(InputError):
        brain.feedback("the patient's id\0", TASK, True)
    assert not brain.feedback("the patient's id", TASK, True).recorded
    text = told_text(heard)
    assert not [word for word in SECRETS if word in text]
    assert "brain.outcome" in text


@pytest.mark.parametrize("wish", ["true", "SPAN_ONLY", "span_and_event"])
def test_texts_are_told_where_the_environment_asks_for_them(heard, brain, monkeypatch, wish):
    monkeypatch.setenv(CONTENT_VARIABLE, wish)
    skill_id = work(brain)
    (recall,) = heard.spans("search_memory")
    assert recall.attributes["gen_ai.memory.query.text"] == TASK["task"]
    (record,) = json.loads(recall.attributes["gen_ai.memory.records"])
    assert record["id"] == skill_id
    assert 0.3 < record["score"] <= 1
    assert record["content"]["steps"] == LESSON[0]["steps"]
    learned = heard.spans("upsert_memory")[0]
    assert json.loads(learned.attributes["gen_ai.memory.records"])[0]["content"]["task"] == CONTEXT["task"]
    assert not any(word in json.dumps(attributes) for attributes, _ in heard.points(DURATION) for word in SECRETS)


@pytest.mark.parametrize("wish", ["", "false", "NO_CONTENT", "EVENT_ONLY", "nonsense"])
def test_every_other_wish_leaves_texts_out(heard, file_place, monkeypatch, wish):
    monkeypatch.setenv(CONTENT_VARIABLE, wish)
    work(file_place.open())
    assert not [word for word in SECRETS if word in told_text(heard)]


def test_a_task_of_steps_alone_is_told_by_its_steps(heard, file_place, monkeypatch):
    monkeypatch.setenv(CONTENT_VARIABLE, "true")
    file_place.open().recall({"steps": ["look", "think"]})
    (recall,) = heard.spans("search_memory")
    assert json.loads(recall.attributes["gen_ai.memory.query.text"]) == ["look", "think"]


def test_an_error_is_told_by_its_class(heard, file_place):
    brain = file_place.open()
    with pytest.raises(InputError):
        brain.recall({})
    brain.close()
    with pytest.raises(Exception) as closed:
        brain.feedback("a", TASK, True)
    for span, error in zip(heard.spans(), (InputError, type(closed.value)), strict=True):
        assert span.attributes["error.type"] == error.__name__
        assert span.status.status_code is StatusCode.ERROR
        assert span.status.description is None
        assert span.events == ()
        assert "brain.outcome" not in span.attributes
    kinds = [attributes["error.type"] for attributes, _ in heard.points(DURATION)]
    assert sorted(kinds) == sorted(["InputError", type(closed.value).__name__])


def test_the_spans_of_the_async_verbs_belong_to_the_callers_span(heard, file_place):
    async def program():
        async with Brain.open(file_place.location, cache=False) as brain:
            tracer = trace.get_tracer("a program")
            with tracer.start_as_current_span("the caller") as caller:
                skill, *_ = await asyncio.gather(brain.learn(*LESSON), brain.recall(TASK), brain.recall(TASK))
                await brain.feedback(skill.id, TASK, True)
            return caller.get_span_context()

    caller = asyncio.run(program())
    spans = [span for span in heard.spans() if span.name != "the caller"]
    assert {span.name for span in spans} >= {"upsert_memory", "search_memory", "update_memory"}
    for span in spans:
        assert span.parent.span_id == caller.span_id
        assert span.context.trace_id == caller.trace_id


def test_the_spans_of_an_mcp_server_belong_to_the_request(heard, file_place):
    brain = file_place.open()

    async def conversation():
        async with in_process(brain, "legacy") as client:
            await client.call_tool("learn", ARGUMENTS)

    talk(conversation)
    (learn,) = heard.spans("upsert_memory")
    (request,) = (span for span in heard.spans("tools/call learn"))
    assert learn.parent.span_id == request.context.span_id


def test_a_program_that_sets_up_only_traces_or_only_metrics_is_served(heard, file_place, monkeypatch):
    from opentelemetry import metrics

    brain = file_place.open()
    with monkeypatch.context() as without:
        without.setattr(metrics._internal, "_METER_PROVIDER", None)
        brain.recall(TASK)
    assert len(heard.spans("search_memory")) == 1
    assert heard.points(DURATION) == []
    with monkeypatch.context() as without:
        without.setattr(trace, "_TRACER_PROVIDER", None)
        brain.recall(TASK)
    assert len(heard.spans("search_memory")) == 1
    assert [point.count for _, point in heard.points(DURATION)] == [1]


def test_a_program_may_set_it_up_after_the_brain_was_opened(request, file_place):
    brain = file_place.open()
    brain.recall(TASK)
    heard = request.getfixturevalue("heard")
    brain.recall(TASK)
    assert len(heard.spans("search_memory")) == 1


def test_a_module_that_is_only_half_imported_is_no_obstacle(file_place, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", type(sys)("opentelemetry.trace"))
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", type(sys)("opentelemetry.metrics"))
    assert file_place.open().recall(TASK) == []
