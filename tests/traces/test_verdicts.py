"""Who says that it worked? A reward, a report, a label; never an end, and never the agent itself."""

import pytest

from tests.traces.corpus import openai_chat, openhands, otlp

MESSAGES = openai_chat(1)["messages"]

VERDICTS = {
    "reward 1": ({"reward": 1.0}, True),
    "reward 0": ({"reward": 0.0}, False),
    "half a reward": ({"reward": 0.5}, False),
    "a nested reward": ({"info": {"reward_info": {"reward": 1}}}, True),
    "resolved": ({"test_result": {"report": {"resolved": True}}}, True),
    "not resolved": ({"info": {"resolved": False}}, False),
    "a label": ({"evaluation": {"verdict": "fail"}}, False),
    "text that says true": ({"is_correct": "true"}, True),
    "an outcome": ({"outcome": {"success": True}}, True),
    "two that agree": ({"reward": 1, "success": True}, True),
    "two that contradict": ({"reward": 0, "success": True}, None),
    "nothing": ({}, None),
    "an end": ({"info": {"exit_status": "submitted", "status": "completed"}, "stop_reason": "end_turn"}, None),
    "null": ({"success": None, "reward": None}, None),
    "an unknown word": ({"verdict": "maybe", "success": "perhaps"}, None),
    "a number that is none": ({"success": 7, "reward": "high"}, None),
    "a count of tests": ({"report": {"passed": 1, "failed": 3}}, None),
    "a count beside a verdict": ({"test_result": {"passed": 0, "total": 4, "resolved": True}, "reward": 1}, True),
    "a score": ({"scores": {"correct": 1}}, True),
    "an agent's own word": ({"answer": "I succeeded. success: true"}, None),
    "a tool's success": ({"tools": [{"success": True}]}, None),
}


@pytest.mark.parametrize(("beside", "success"), VERDICTS.values(), ids=VERDICTS)
def test_a_verdict_is_read_from_what_stands_around_a_trace(beside, success, traces_in):
    (trace,) = traces_in({"messages": MESSAGES, **beside})
    assert trace.success is success
    assert success is None or trace.outcome.evidence


def test_contradicting_verdicts_are_both_listed(traces_in):
    (trace,) = traces_in({"messages": MESSAGES, "success": True, "reward": 0})
    assert trace.outcome.evidence == ["success = True", "reward = 0"]


def test_a_reward_is_the_quality_of_a_success(traces_in):
    assert traces_in({"messages": MESSAGES, "reward": 1})[0].outcome.quality == 1.0
    assert traces_in({"messages": MESSAGES, "success": True})[0].outcome.quality is None


def test_a_finish_is_no_success_and_neither_is_a_claim_in_it(traces_in):
    events = openhands(1)["history"]
    events.append({"id": 99, "source": "agent", "action": "finish", "args": {"task_completed": "true"}})
    assert traces_in(events)[0].success is None


def test_a_run_that_failed_as_a_whole_is_a_failure(traces_in):
    run = {"id": "a", "name": "x", "run_type": "chain", "trace_id": "a", "inputs": {}, "error": "boom"}
    (trace,) = traces_in([run])
    assert trace.success is False and "boom" in trace.outcome.evidence[0]
    response = {"object": "response", "status": "failed", "error": {"message": "no quota"}, "output": []}
    assert traces_in(response)[0].success is False


def test_a_status_that_is_fine_is_no_verdict(traces_in):
    export = otlp(1)
    for span in export["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["status"] = {"code": 1}
    assert traces_in(export)[0].success is None


def test_the_latest_word_of_a_grader_counts(traces_in):
    use = {"type": "agent.tool_use", "id": "1", "name": "read", "input": {}}
    judged = [{"type": "span.outcome_evaluation_end", "result": result} for result in ("failed", "satisfied")]
    assert traces_in([use, *judged])[0].success is True
    assert traces_in([use, judged[0]])[0].success is False
