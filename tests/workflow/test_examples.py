"""The workflows and the demo in examples/, run as their first lines say, with what they should come to."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from brain.workflow.check import load
from brain.workflow.run import run_plan
from brain.workflow.values import input_value
from tests.workflow.command import brain_run

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TRANSFER = EXAMPLES / "brain_skill_transfer_workflow.yml"
TRANSFER_INPUT = (EXAMPLES / "inputs" / "brain_transfer_input.json").read_text("utf-8")
TASKS = (EXAMPLES / "inputs" / "brain_accumulating_tasks.jsonl").read_text("utf-8").splitlines()


@pytest.fixture(params=["text", "file", "value"])
def transfer_input(request):
    """The input as the shell hands it over with $(cat …), as a file, and as a JSON value."""
    path = str(EXAMPLES / "inputs" / "brain_transfer_input.json")
    return {"text": [TRANSFER_INPUT.rstrip("\n")], "file": [path], "value": ["--json-input", path]}[request.param]


def test_the_medical_skill_is_learned_recalled_for_the_software_fault_applied_and_rewarded(place, model):
    llm = model("brain_skill_transfer")
    location, options = command_place(place)
    document = brain_run(TRANSFER, TRANSFER_INPUT, "--set", f"model_url={llm.url}", "--store", location, *options)
    agents = {agent["id"]: agent for agent in document["agents"]}
    assert document["status"] == "ok"
    assert document["answer"] == "The diagnosis's procedure found the software fault."
    learned, recalled, judged = (agents[name]["output"] for name in ("brain_learn", "brain_recall", "brain_feedback"))
    assert recalled["skill_id"] == learned["skill_id"] == judged["skill_id"]
    assert recalled["skill_steps"][2] == "test each hypothesis against the findings"
    assert float(judged["confidence"]) > float(learned["confidence"])

    (skill,) = place.open().get_skills()
    (transfer,) = skill.transfer_history
    assert (skill.domain, skill.transfer_count, transfer.success) == ("medical_diagnosis", 1, True)
    assert transfer.target_context["metadata"]["domain"] == "software_debugging"
    assert transfer.adaptations == {"findings": "logs instead of symptoms"}
    assert skill.confidence == pytest.approx(float(learned["confidence"]) * 0.95 + 0.05)


def test_every_way_to_hand_over_the_input_asks_the_same(file_place, model, transfer_input):
    llm = model("brain_skill_transfer")
    brain_run(TRANSFER, *transfer_input, "--set", f"model_url={llm.url}", "--store", file_place.location)
    assert [one.agent for one in llm.asked] == [
        "domain_a_reasoner",
        "domain_a_result",
        "domain_b_context",
        "domain_b_applier",
        "domain_b_result",
    ]
    first, _, third, fourth, _ = (one.prompt for one in llm.asked)
    assert "Domain: medical_diagnosis\nTask: A patient of 52" in first
    assert "Domain: software_debugging\nTask: A shop's checkout" in third
    assert "3. test each hypothesis against the findings" in fourth
    assert {one.path for one in llm.asked} == {"/v1/chat/completions"}
    assert {one.body["model"] for one in llm.asked} == {"openai/gpt-oss-20b"}
    assert {one.body["temperature"] for one in llm.asked} == {0.3}
    assert not any("Authorization" in one.headers for one in llm.asked)


def test_the_minimal_example_learns_and_recalls_it_elsewhere(file_place, model):
    llm = model("brain_minimal")
    document = brain_run(
        EXAMPLES / "brain_minimal_workflow.yml",
        "Find out why the bread does not rise",
        *("--set", f"model_url={llm.url}", "--store", file_place.location),
    )
    _, learned, recalled = (agent["output"] for agent in document["agents"])
    assert "Solve this task step by step: Find out why the bread does not rise" in llm.prompt_of("solve")
    assert recalled["skill_id"] == learned["skill_id"]
    assert recalled["skill_steps"][0] == "list what changed since the last good loaf"


def test_skills_accumulate_the_later_tasks_find_what_the_first_have_taught(file_place, model):
    llm = model("brain_accumulating")
    path = EXAMPLES / "brain_accumulating_workflow.yml"
    first = brain_run(path, TASKS[0], "--set", f"model_url={llm.url}", "--store", file_place.location)
    recalled = [first["agents"][0]["output"].get("skill_name", "")]
    plan = load(path, [f"model_url={llm.url}"])
    for task in TASKS[1:]:
        result = asyncio.run(run_plan(plan, input_value(task), brain=file_place.open()))
        agents = {one.id: one for one in result.agents}
        recalled.append(agents["recall"].output.get("skill_steps", [""])[0])
        assert agents["feedback"].status == ("ok" if recalled[-1] else "skipped")
        assert agents["learn"].status == "ok"
    assert recalled == ["", "", "collect the findings", "", "check that it is complete", "make a first version"]
    assert "1. check that it is complete" in llm.prompt_of("customs")
    skills = file_place.open().get_skills()
    assert sum(skill.transfer_count for skill in skills) == 3


def test_the_demo_recalls_every_skill_where_it_should():
    demo = EXAMPLES / "brain_skill_transfer_demo.py"
    done = subprocess.run(
        [sys.executable, demo], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert "Recall accuracy   7/7 (100%)" in done.stdout
    assert done.stdout.count("Learned     ") == 3
    assert done.stdout.count("Recalled    ") == 7


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*_workflow.yml")), ids=lambda path: path.stem)
def test_every_example_is_without_a_warning(path):
    plan = load(path, environment={})
    assert plan.warnings == []
    assert plan.reads_input


def command_place(place):
    """The place as the command takes it."""
    return place.location, ("--namespace", place.namespace)


def test_every_task_of_the_accumulating_example_is_one_object():
    assert all(json.loads(task).keys() == {"domain", "task"} for task in TASKS)
