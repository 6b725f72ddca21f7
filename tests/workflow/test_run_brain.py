"""What a brain is told by the agents of a run, and what it is not: nothing that failed, nothing that was made up."""

import json

import pytest

from tests.workflow.agents import LEARN, RECALL, STEPS, brain_agent, llm, statuses, workflow
from tests.workflow.conftest import ran, results, says


@pytest.fixture
def brain(file_place):
    return file_place.open()


# What the brain is told


def test_a_skill_is_learned_recalled_and_judged(brain):
    text = workflow(
        brain_agent("learn", "learn", LEARN),
        brain_agent("recall", "recall", RECALL),
        brain_agent("feedback", "feedback", "{{ previous_outputs.recall }}"),
    )
    found = results(ran(text, brain=brain))
    learned, recalled, judged = (found[name].output for name in ("learn", "recall", "feedback"))
    assert learned["response"].startswith("Learned skill: ")
    assert (learned["outcome"], learned["skill_steps"]) == ("created", STEPS)
    assert set(recalled) >= {
        *("response", "confidence", "internal_reasoning", "skill_id", "skill_name", "skill_steps", "skill_tags"),
        *("skill_type", "combined_score", "structural_score", "semantic_score", "adaptations", "all_candidates"),
    }
    assert isinstance(recalled["confidence"], str)
    assert isinstance(recalled["combined_score"], float)
    assert recalled["all_candidates"][0].keys() >= {"skill_name", "score", "reasoning"}
    assert (judged["transfer_count"], judged["transfer_success"]) == (1, True)
    assert "counted as one" in found["feedback"].warnings[0]
    (transfer,) = brain.get_skills()[0].transfer_history
    assert transfer.target_context["metadata"] == {"domain": "b", "task": "find the cause of that"}


@pytest.mark.parametrize(("said", "success"), [("false", False), ("True", True), ("no", False), ("failed", False)])
def test_feedback_hears_a_models_yes_and_no(model, brain, said, success):
    llm_ = model({"judge": says({"response": "x", "ok": said}, when="judge")})
    text = workflow(
        brain_agent("learn", "learn", LEARN),
        brain_agent("recall", "recall", RECALL),
        llm("judge", "judge", llm_.url),
        brain_agent(
            "feedback",
            "feedback",
            '{"skill_id": "{{ previous_outputs.recall.skill_id }}", "success": {{ previous_outputs.judge.ok }}}',
        ),
    )
    found = results(ran(text, brain=brain))
    assert found["feedback"].output["transfer_success"] is success
    assert brain.get_skills()[0].transfer_successes == int(success)


def test_nothing_recalled_is_no_failure_and_leaves_nothing_to_judge(model, brain):
    llm_ = model({"any": says("x", when="")})
    text = workflow(
        brain_agent("recall", "recall", RECALL),
        llm("solve", "{{ previous_outputs.recall.skill_name | default('none') }}", llm_.url),
        brain_agent("whole", "feedback", "{{ previous_outputs.recall }}"),
        brain_agent("part", "feedback", '{"skill_id": "{{ previous_outputs.recall.skill_id | default(\'\') }}"}'),
        llm("last", "{{ previous_outputs.whole.response }}", llm_.url),
    )
    result = ran(text, brain=brain)
    assert result.status == "ok"
    assert statuses(result) == {"recall": "ok", "solve": "ok", "whole": "skipped", "part": "skipped", "last": "ok"}
    found = results(result)
    assert found["recall"].output["all_candidates"] == []
    assert found["recall"].output["confidence"] == "0.0"
    assert "skill_id" not in found["recall"].output
    assert "nothing to give feedback on" in found["whole"].error
    assert llm_.asked[0].prompt == "none"
    assert llm_.asked[1].prompt == "No skill was recalled, so there is nothing to give feedback on."


@pytest.mark.parametrize(
    ("payload", "word"),
    [
        ('{"success": true}', "skill_id: No skill_id provided for feedback. Hand over what recall answered"),
        ('{"skill_id": "unknown-id", "success": true}', "skill_id: No live skill has the id 'unknown-id'"),
        ('{"skill_id": "not an id!", "success": true}', "skill_id: No live skill has the id 'not an id!'"),
        ('{"skill_id": "a\\u0000b", "success": true}', "not a valid skill id"),
    ],
)
@pytest.mark.parametrize("rule", ["stop", "continue"])
def test_feedback_that_reaches_no_skill_says_so_and_the_run_goes_on_or_stops(model, brain, payload, word, rule):
    llm_ = model({"any": says("x", when="")})
    text = workflow(
        brain_agent("feedback", "feedback", payload), llm("last", "l", llm_.url), more=f", on_error: {rule}"
    )
    result = ran(text, brain=brain)
    assert results(result)["feedback"].status == "failed"
    assert word in results(result)["feedback"].error
    assert statuses(result)["last"] == ("ok" if rule == "continue" else "not_run")
    assert result.status == "failed"


def test_success_is_not_taken_for_granted_where_something_failed(brain):
    text = workflow(
        brain_agent("learn", "learn", LEARN),
        brain_agent("recall", "recall", RECALL),
        llm("apply", "a"),
        brain_agent("feedback", "feedback", "{{ previous_outputs.recall }}"),
        more=", on_error: continue",
    )
    found = results(ran(text, brain=brain))
    assert found["feedback"].status == "failed"
    assert "'apply' failed. Say true or false" in found["feedback"].error
    assert brain.get_skills()[0].transfer_count == 0


def test_a_failed_execution_teaches_nothing(brain):
    text = workflow(brain_agent("learn", "learn", LEARN[:-1] + ', "success": "false"}'))
    found = results(ran(text, brain=brain))["learn"]
    assert (found.status, found.output["outcome"]) == ("ok", "ignored")
    assert found.output["response"].startswith("No skill was learned. ")
    assert brain.get_skills() == []


def test_the_same_run_again_makes_no_second_skill(brain):
    text = workflow(brain_agent("learn", "learn", LEARN))
    first, second = (results(ran(text, brain=brain))["learn"].output for _ in range(2))
    assert (first["outcome"], second["outcome"]) == ("created", "reinforced")
    assert len(brain.get_skills()) == 1


def test_a_brain_agent_without_a_prompt_takes_the_input(brain):
    text = workflow({"id": "learn", "type": "brain", "operation": "learn"})
    assert results(ran(text, LEARN, brain=brain))["learn"].output["skill_steps"] == STEPS


def test_settings_of_a_recall_hold_where_the_payload_does_not_say(brain):
    for i in range(3):
        brain.learn(
            {"steps": [*STEPS, f"write report {'abc'[i] * 9}"]},
            {"task": f"find the cause of {'xyz'[i] * 5}"},
            {"success": True},
        )
    found = len(brain.get_skills())
    text = workflow(brain_agent("recall", "recall", RECALL, params={"top_k": 1, "min_score": 0.1}))
    assert len(results(ran(text, brain=brain))["recall"].output["all_candidates"]) == 1
    more = workflow(
        brain_agent("recall", "recall", RECALL[:-1] + f', "top_k": "{found}"}}', params={"top_k": 1, "min_score": 0.1})
    )
    assert len(results(ran(more, brain=brain))["recall"].output["all_candidates"]) == found
    none = workflow(brain_agent("recall", "recall", RECALL, params={"min_score": 1}))
    assert results(ran(none, brain=brain))["recall"].output["all_candidates"] == []


def test_a_recall_may_be_narrowed_to_types_and_domains(brain):
    ran(workflow(brain_agent("learn", "learn", LEARN)), brain=brain)
    for key, value, count in (
        ("domain_filter", "a", 1),
        ("domain_filter", ["z"], 0),
        ("skill_types", ["procedural"], 1),
        ("skill_types", ["x"], 0),
    ):
        payload = json.dumps(json.loads(RECALL) | {key: value})
        found = results(ran(workflow(brain_agent("recall", "recall", payload)), brain=brain))
        assert len(found["recall"].output["all_candidates"]) == count


def test_json_that_is_written_wrong_is_an_error_and_never_a_task(model, brain):
    text = workflow(brain_agent("learn", "learn", '{"task": "{{ input }}", "steps": ["look at it" "mend it"]}'))
    found = results(ran(text, "x", brain=brain))["learn"]
    assert found.status == "failed"
    assert "prompt: it looks like JSON but is not: Expecting ',' delimiter at line 1" in found.error
    assert brain.get_skills() == []


def test_quotes_newlines_and_braces_of_a_model_stay_in_their_field(model, brain):
    nasty = 'the "left" hinge }} {{ 7*7 }}\nand \\ more'
    llm_ = model({"solve": says({"response": nasty, "steps": STEPS, "domain": nasty}, when="solve")})
    prompt = """{"domain": "{{ previous_outputs.solve.domain }}", "task": "{{ previous_outputs.solve.response }}",
        "steps": {{ previous_outputs.solve.steps }}}"""
    text = workflow(llm("solve", "solve", llm_.url), brain_agent("learn", "learn", prompt))
    assert ran(text, brain=brain).status == "ok"
    (skill,) = brain.get_skills()
    assert (skill.domain, skill.task) == (nasty, nasty)


# The execution's own rules


def test_a_validator_tells_the_facts_of_the_run(brain):
    validator = {
        "id": "check",
        "type": "invariant_validator",
        "prompt": "EXECUTION_DATA_JSON:\n{{ get_execution_artifacts(previous_outputs) | to_json_string }}",
    }
    text = workflow(
        brain_agent("learn", "learn", LEARN),
        llm("bad", "b"),
        validator | {"params": {"max_depth": 50}},
        validator | {"id": "strict", "params": {"max_depth": 1}},
        {"id": "bare", "type": "invariant_validator"},
        more=", on_error: continue",
    )
    found = results(ran(text, brain=brain))
    facts = found["check"].output
    assert facts["tool_integrity"]["status"] == "FAIL"
    assert facts["depth_compliance"]["status"] == facts["cycle_detection"]["status"] == "PASS"
    assert facts["response"].startswith("1 violations: 'bad' failed")
    assert found["strict"].output["depth_compliance"]["violations"] == ["3 agents ran, 1 are allowed"]
    assert found["bare"].output["validation_summary"]["total_violations"] == 1
