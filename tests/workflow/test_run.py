"""How agents are carried out: in order or at once, on errors, with what a brain is told, when a run is cancelled."""

import asyncio
import logging
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brain import BrainAgent
from brain.errors import InputError
from brain.workflow.run import Interrupted, run_plan
from brain.workflow.trace import trace_of
from tests.workflow.agents import LEARN, RECALL, brain_agent, llm, statuses, workflow
from tests.workflow.conftest import ENVIRONMENT, planned, ran, results, says


@pytest.fixture
def brain(file_place):
    return file_place.open()


# Order


def test_agents_run_in_the_listed_order_and_see_those_before(model):
    script = {name: says(f"I am {name}", when=f"<{name}>") for name in "abc"}
    llm_ = model(script)
    text = workflow(
        llm("a", "<a> {{ input }}", llm_.url),
        llm("b", "<b> {{ previous_outputs.a.response }}", llm_.url),
        llm("c", "<c> {{ get_agent_response('b') }} {{ previous_outputs | length }}", llm_.url),
    )
    result = ran(text, "go")
    assert [one.prompt for one in llm_.asked] == ["<a> go", "<b> I am a", "<c> I am b 2"]
    assert (result.answer, result.answer_from, result.status) == ("I am c", "c", "ok")
    assert all(one.duration_ms > 0 for one in result.agents)


def test_independent_agents_run_at_once_and_a_join_waits_for_all(model):
    held = {name: says({"answer": f"I am {name}", "held": True}, when=f"<{name}>") for name in ("l", "r", "q")}
    llm_ = model({"start": says("begun", when="<start>"), **held, "join": says("joined", when="<join>")})
    text = workflow(
        llm("start", "<start>", llm_.url),
        llm("l", "<l> {{ previous_outputs.start.response }}", llm_.url),
        llm("r", "<r>", llm_.url, depends_on="start"),
        llm("q", "<q>", llm_.url, depends_on=["start"]),
        llm("join", "<join> {{ joined_results() | join(', ') }}", llm_.url, depends_on=["l", "r", "q"]),
        more=", strategy: parallel",
    )
    llm_.gate.clear()

    async def runs():
        task = asyncio.create_task(run_plan(planned(text), "x"))
        while llm_.at_once < 3 and not task.done():
            await asyncio.sleep(0.01)
        llm_.gate.set()
        return await task

    result = asyncio.run(runs())
    assert result.status == "ok"
    assert llm_.most_at_once == 3
    assert llm_.asked[-1].prompt.startswith("<join> begun, I am ")
    assert llm_.asked[-1].prompt.count("I am") == 3


@pytest.mark.parametrize(("more", "most"), [(", strategy: parallel, concurrency: 2", 2), (", strategy: sequential", 1)])
def test_no_more_agents_run_at_once_than_may(model, more, most):
    llm_ = model({"any": says("x", when="go")})
    result = ran(workflow(*(llm(f"a{i}", "go", llm_.url) for i in range(6)), more=more), "x")
    assert result.status == "ok"
    assert llm_.most_at_once <= most
    assert len(llm_.asked) == 6


def test_a_fork_by_depends_on_joins_in_sequence_too(model):
    llm_ = model({"any": says("x", when="")})
    text = workflow(llm("join", "j", llm_.url, depends_on=["l", "r"]), llm("l", "l", llm_.url), llm("r", "r", llm_.url))
    assert [one.id for one in ran(text, "x").agents] == ["l", "r", "join"]


# Errors


def test_a_failure_stops_the_run_and_the_rest_says_because_of_whom(model):
    llm_ = model({"good": says("x", when="<good>")})
    text = workflow(llm("bad", "<bad>"), llm("good", "<good>", llm_.url), llm("last", "<last>"))
    result = ran(text, "x")
    assert statuses(result) == {"bad": "failed", "good": "not_run", "last": "not_run"}
    assert results(result)["last"].error == "It was not run, because 'bad' failed."
    assert (result.status, result.answer, llm_.asked) == ("failed", None, [])


def test_a_run_that_continues_skips_what_reads_the_failed_one_and_takes_defaults_where_they_are_given(model):
    llm_ = model({"any": says("x", when="")})
    text = workflow(
        llm("bad", "<bad>"),
        llm("reads", "{{ previous_outputs.bad.response }}", llm_.url),
        llm(
            "guarded",
            "<{{ previous_outputs.bad.response | default('nothing') }}> {{ previous_outputs.bad.task }}",
            llm_.url,
        ),
        llm("waits", "w", llm_.url, depends_on="bad"),
        llm("after", "{{ previous_outputs.reads.response }}", llm_.url),
        llm("free", "f", llm_.url),
        more=", on_error: continue",
    )
    result = ran(text, "x")
    assert statuses(result) == {
        "bad": "failed",
        "reads": "skipped",
        "guarded": "skipped",
        "waits": "skipped",
        "after": "skipped",
        "free": "ok",
    }
    assert "because 'bad' failed: nothing answers" in results(result)["reads"].error
    assert "because 'reads' failed" in results(result)["after"].error
    assert (result.status, result.answer_from) == ("failed", "free")


def test_a_default_makes_up_for_a_failed_agent_in_a_prompt(model):
    llm_ = model({"any": says("x", when="")})
    text = workflow(
        llm("bad", "<bad>", on_error="continue"),
        llm("guarded", "<{{ previous_outputs.bad.response | default('nothing') }}>", llm_.url),
    )
    assert statuses(ran(text, "x")) == {"bad": "failed", "guarded": "ok"}
    assert llm_.asked[0].prompt == "<nothing>"


def test_a_prompt_may_ask_how_an_agent_ended_even_if_it_failed(model, brain):
    llm_ = model({"any": says("x", when="")})
    asks = "<{{ previous_outputs.bad.status }}: {{ previous_outputs.bad.error | truncate(7, '') }}>"
    text = workflow(
        llm("bad", "<bad>", on_error="continue"),
        llm("asks", asks, llm_.url),
        brain_agent("told", "feedback", '{"skill_id": "x", "task": "{{ previous_outputs.bad.status }}"}'),
    )
    assert statuses(ran(text, "x", brain=brain)) == {"bad": "failed", "asks": "ok", "told": "skipped"}
    assert llm_.asked[0].prompt == "<error: nothing>"


def test_a_brain_is_never_told_what_a_default_made_up_for_a_failed_agent(brain):
    text = workflow(
        llm("bad", "<bad>"),
        brain_agent(
            "learn",
            "learn",
            '{"steps": ["look at it", "mend it"], "response": "{{ previous_outputs.bad.response | default(\'x\') }}"}',
        ),
        brain_agent("recall", "recall", '{"task": "{{ previous_outputs.bad.task | default(\'find the cause\') }}"}'),
        more=", on_error: continue",
    )
    result = ran(text, "x", brain=brain)
    assert statuses(result) == {"bad": "failed", "learn": "skipped", "recall": "ok"}
    assert results(result)["learn"].error.startswith("Nothing was learned, because 'bad' failed: ")
    assert brain.get_skills() == []


def test_an_agents_own_rule_holds_over_the_workflows(model):
    llm_ = model({"any": says("x", when="")})
    text = workflow(llm("bad", "b", on_error="stop"), llm("free", "f", llm_.url), more=", on_error: continue")
    assert statuses(ran(text, "x")) == {"bad": "failed", "free": "not_run"}
    text = workflow(llm("bad", "b", on_error="continue"), llm("free", "f", llm_.url))
    assert statuses(ran(text, "x")) == {"bad": "failed", "free": "ok"}


def test_a_prompt_that_is_empty_once_rendered_is_told():
    found = results(ran(workflow(llm("a", "{% if false %}x{% endif %}"))))["a"]
    assert "prompt: it is empty once it is rendered" in found.error


def test_a_field_that_is_not_there_is_told_and_the_run_goes_on(model):
    llm_ = model({"a": says({"response": "x", "step": 1}, when="<a>"), "b": says("y", when="<b>")})
    text = workflow(llm("a", "<a>", llm_.url), llm("b", "<b> [{{ previous_outputs.a.steps }}] end", llm_.url))
    result = ran(text)
    assert llm_.prompt_of("b").startswith("<b> [] end")
    assert results(result)["b"].warnings == [
        "inserted as nothing: previous_outputs.a has no 'steps' (it has response, step, confidence, internal_reasoning)"
    ]


# Ends


def test_the_store_that_fails_ends_the_run_whatever_on_error_says(file_place, model):
    llm_ = model({"any": says("x", when="")})
    brain = file_place.open()
    text = workflow(
        brain_agent("learn", "learn", LEARN),
        llm("last", "l", llm_.url),
        more=", on_error: continue",
    )
    path = file_place.location.removeprefix("sqlite:///")
    brain.learn({"steps": ["a step"]}, {"task": "first"}, {"success": True})
    for name in ("", "-wal", "-shm"):
        Path(f"{path}{name}").unlink(missing_ok=True)
    result = ran(text, brain=brain)
    assert statuses(result) == {"learn": "failed", "last": "not_run"}
    assert result.store_error is not None


@pytest.mark.parametrize("rule", ["stop", "continue"])
def test_what_nobody_expected_is_that_agents_failure_and_the_log_has_where_it_was(file_place, model, rule, caplog):
    llm_ = model({"any": says("x", when="")})
    broken = []

    def clock():
        return datetime.now(UTC) if not broken else broken[0] / 0

    brain = file_place.open(clock=clock)
    text = workflow(brain_agent("learn", "learn", LEARN), llm("last", "l", llm_.url), more=f", on_error: {rule}")
    broken.append(1)
    with caplog.at_level(logging.DEBUG, "brain.workflow"):
        result = ran(text, brain=brain)
    broken.clear()
    assert statuses(result) == {"learn": "failed", "last": "ok" if rule == "continue" else "not_run"}
    assert "failed unexpectedly (ZeroDivisionError: division by zero)" in results(result)["learn"].error
    assert "report it" in results(result)["learn"].error
    (record,) = [one for one in caplog.records if one.exc_info]
    assert (record.levelno, record.exc_info[0]) == (logging.DEBUG, ZeroDivisionError)
    assert trace_of(planned(text), result)["execution_trace"]["steps"][0]["result"] == "failure"


def test_a_cancelled_run_keeps_what_was_done_and_tells_how_far_it_came(model, brain):
    llm_ = model({"slow": says({"answer": "x", "held": True}, when="slow")})
    llm_.gate.clear()
    text = workflow(brain_agent("learn", "learn", LEARN), llm("slow", "slow", llm_.url), llm("last", "l", llm_.url))

    async def runs():
        task = asyncio.create_task(run_plan(planned(text), "x", brain=brain, environment=ENVIRONMENT))
        await asyncio.to_thread(llm_.begun.wait, 30)
        task.cancel()
        with pytest.raises(Interrupted) as stopped:
            await task
        return stopped.value.result

    result = asyncio.run(runs())
    llm_.gate.set()
    assert result.status == "interrupted"
    assert statuses(result) == {"learn": "ok", "slow": "not_run", "last": "not_run"}
    assert results(result)["last"].error == "The run was interrupted."
    assert len(brain.get_skills()) == 1


def test_a_write_that_has_begun_is_finished_before_a_cancellation_is_passed_on(brain):
    async def runs():
        agent = BrainAgent("learn", "learn", brain=brain)
        task = asyncio.create_task(agent.run(LEARN))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(brain.get_skills())

    assert asyncio.run(runs()) == 1


def test_an_observer_is_told_of_every_agent(brain):
    told = []
    text = workflow(brain_agent("learn", "learn", LEARN), brain_agent("recall", "recall", RECALL))
    ran(text, brain=brain, observer=lambda event, result: told.append((event, result.id, result.status)))
    assert told == [
        ("started", "learn", "not_run"),
        ("ended", "learn", "ok"),
        ("started", "recall", "not_run"),
        ("ended", "recall", "ok"),
    ]


def test_a_workflow_with_brain_agents_needs_a_brain():
    with pytest.raises(InputError, match="was given no brain"):
        ran(workflow(brain_agent("learn", "learn", LEARN)))
