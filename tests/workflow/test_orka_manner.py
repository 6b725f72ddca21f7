"""Workflows as OrKa's users have them run unchanged: the same fields, no expression deleted, nothing refused."""

import json

import pytest

from tests.workflow.conftest import ran, results, workflow_text

OBJECT = {
    "domain": "plumbing",
    "task": 'Find the "leak"\nof a heating {{ system }}',
    "sequence": 4,
    "execution_trace": {"steps": [{"action": "look", "result": "wet"}, {"action": "listen", "result": "drips"}]},
}


@pytest.fixture
def run(model, file_place):
    """Runs a workflow of these tests with its recorded answers; gives the agents by id, the result and the model."""

    def runs(name, given="", **options):
        llm = model(name)
        text = workflow_text(name).replace("http://localhost:1234", llm.url)
        result = ran(text, given, brain=file_place.open(), **options)
        assert result.status == "ok", [one.error for one in result.agents]
        return results(result), result, llm

    return runs


def test_a_task_is_learned_recalled_applied_and_rewarded(run):
    found, result, llm = run("one_task", json.dumps(OBJECT))
    first, applied, report = (llm.prompt_of(agent) for agent in ("task_reasoner", "task_applier", "task_result"))
    assert f"DOMAIN: plumbing\nTASK: {OBJECT['task']}\n" in first
    assert "  Step 1: look → wet\n" in first
    assert "Strategy: sequential" in first
    skill = found["brain_learn"].output
    assert skill["skill_steps"] == ["collect what is known", "form hypotheses", "test each hypothesis"]
    assert found["brain_recall"].output["skill_id"] == skill["skill_id"]
    assert f"Skill: {skill['skill_name']}\nType: procedural\nSteps: {skill['skill_steps']}\n" in applied
    assert f"Score: {found['brain_recall'].output['combined_score']}\n" in applied
    assert 'ANALYSIS: It\'s "hidden":\nsomewhere in the floor.\n' in applied
    assert "Reasoning: " + found["brain_recall"].output["internal_reasoning"] in applied
    assert "USED: True\nFEEDBACK: Recorded successful transfer" in report
    assert '"sequence_number": 4' in report
    assert result.answer == "Seal the joint."
    assert not any(one.warnings for one in result.agents if one.id != "brain_feedback")


@pytest.mark.parametrize("as_json", [True, False])
def test_the_input_is_an_object_whether_it_came_as_text_or_as_a_value(run, as_json):
    _, _, llm = run("one_task", json.dumps(OBJECT), as_json=as_json)
    assert "DOMAIN: plumbing" in llm.prompt_of("task_reasoner")


def test_plain_text_takes_the_defaults(run):
    _, _, llm = run("one_task", "Find the leak {{ now }}")
    assert "DOMAIN: general\nTASK: Find the leak {{ now }}\n" in llm.prompt_of("task_reasoner")
    assert "WHAT WAS DONE BEFORE" not in llm.prompt_of("task_reasoner")
    assert '"sequence_number": 0' in llm.prompt_of("task_result")


def test_an_assessment_with_written_out_payloads_and_a_validator(run):
    found, result, llm = run("assessment", "verify")
    assert found["learn_skill"].output["skill_name"] == "Check-Before-Sort"
    assert found["recall_skill"].output["skill_name"] == "Check-Before-Sort"
    assert found["integrity_check"].output["critical_failures_detected"] is False
    prompt = llm.prompt_of("report")
    assert "skill: Check-Before-Sort\n" in prompt
    assert f"score: {found['recall_skill'].output['combined_score']}\n" in prompt
    assert "integrity: No violations" in prompt
    assert llm.asked[0].body["temperature"] == 0.1
    assert result.answer_from == "report"


def test_helper_functions_and_a_hand_built_payload(run, file_place):
    found, _, llm = run("helpers", '{"topic": "cats", "top_k": "3"}')
    assert llm.prompt_of("draft").startswith('Draft: {"topic": "cats", "top_k": "3"} (no outline)')
    assert llm.of("draft")[0].path == "/v1/chat/completions"
    assert llm.prompt_of("critic") == (
        'Criticise: A "first" draft\nBefore: nothing before\nTopic: cats\n'
        "Confidence: 0.25, 25.0 %\nRound 1\nReturn JSON."
    )
    assert llm.prompt_of("judge") == "Judge: Too short\nsure FAILED\nJSON"
    (skill,) = file_place.open().get_skills()
    assert (skill.domain, skill.task) == ("editing", 'Rewrite "it"\nand score it')
    assert skill.confidence == pytest.approx(0.5 + 0.6 * 0.2)
    assert found["brain_recall"].output["task"] == 'Rewrite "it"\nand score it'


@pytest.mark.parametrize("name", ["one_task", "assessment", "helpers"])
def test_what_has_no_effect_is_a_warning_and_no_refusal(name, model):
    from tests.workflow.conftest import planned

    plan = planned(workflow_text(name))
    assert all("no effect" in str(warning) or "default is taken" in str(warning) for warning in plan.warnings)
