"""The file that a run leaves: `brain learn` and `observe` take it, and a failed run teaches nothing."""

import json
import re
import subprocess
import sys

import pytest

from brain.errors import InputError
from brain.workflow.trace import LARGEST_RECORD, trace_of, write_trace
from tests.workflow.command import brain_run, shell
from tests.workflow.conftest import planned, ran, says

TEXT = """
orchestrator: {id: "two steps / x", agents: [look, mend]}
agents:
  - id: look
    type: local_llm
    prompt: |
      Look at {{ input.task }} closely. Then answer.
    params: &m {provider: lm_studio, model_url: "http://127.0.0.1:9", model: m, retries: 0}
  - id: mend
    type: local_llm
    prompt: "Mend what was found: {{ previous_outputs.look.response }}"
    params: *m
"""
INPUT = '{"task": "the old chair", "domain": "joinery"}'


def text(url):
    return TEXT.replace("http://127.0.0.1:9", url)


@pytest.fixture
def traced(model):
    """A run that went well, and its trace."""
    llm = model(
        {"look": says("loose", when="Look"), "mend": says({"response": "glued", "confidence": 0.8}, when="Mend")}
    )
    result = ran(text(llm.url), INPUT)
    return planned(text(llm.url)), result


def test_a_trace_is_what_observe_takes(traced, file_place):
    trace = trace_of(*traced)
    assert trace["context"] == {"task": "the old chair", "domain": "joinery", "input": json.loads(INPUT)}
    assert trace["outcome"] == {"success": True, "quality": 0.8}
    steps = trace["execution_trace"]["steps"]
    assert [step["action"] for step in steps] == ["Look at closely", "Mend what was found"]
    assert (steps[0]["prompt"], steps[0]["output"]["response"]) == (
        "Look at the old chair closely. Then answer.",
        "loose",
    )
    brain = file_place.open()
    receipt = brain.observe(**trace)
    assert receipt.outcome.value == "created"
    assert [step.action for step in receipt.skill.procedure] == [step["action"] for step in steps]
    assert brain.observe(**trace).outcome.value == "already_seen"


def test_the_command_writes_it_and_brain_learn_reads_it(model, tmp_path, file_place):
    llm = model({"look": says("loose", when="Look"), "mend": says("glued", when="Mend")})
    path = tmp_path / "wf.yml"
    path.write_text(text(llm.url))
    document = brain_run(path, INPUT, "--trace", tmp_path / "made" / "traces")
    assert re.fullmatch(r".*/made/traces/two-steps-x-\d{8}T\d{6}-[0-9a-f]{8}\.json", document["trace"])
    command = [sys.executable, "-m", "brain", "learn", document["trace"], "--store", file_place.location, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=shell())
    assert done.returncode == 0, done.stderr
    assert len(file_place.open().get_skills()) == 1


def test_a_failed_run_is_a_failure_that_teaches_nothing(file_place):
    trace = trace_of(planned(TEXT), ran(TEXT, INPUT))
    assert trace["outcome"] == {"success": False}
    assert [step["result"] for step in trace["execution_trace"]["steps"]] == ["failure"]
    assert "nothing answers" in trace["execution_trace"]["steps"][0]["error"]
    assert file_place.open().observe(**trace).skill is None


def test_a_large_run_leaves_a_trace_that_can_still_be_learned(model, file_place):
    llm = model({"any": says("x" * 300_000, when="")})
    look, mend = text(llm.url).split("  - id: mend")
    names = [f"m{i}" for i in range(40)]
    agents = "".join(f"  - id: {name}{mend}" for name in names)
    long = look.replace("[look, mend]", f"[look, {', '.join(names)}]") + agents
    trace = trace_of(planned(long), ran(long, "y" * 300_000))
    assert len(trace["execution_trace"]["steps"]) == 41
    assert len(json.dumps(trace)) < LARGEST_RECORD
    assert file_place.open().observe(**trace).skill is not None


def test_a_folder_that_cannot_be_written_is_told(traced, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written to .*inside: Not a directory. Choose another folder"):
        write_trace(*traced, tmp_path / "file" / "inside")


def test_nothing_unfinished_is_left_behind(traced, tmp_path):
    write_trace(*traced, tmp_path)
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


def test_what_is_nested_deeply_is_kept_in_a_form_that_can_be_learned(model, file_place):
    deep = "[" * 59 + "]" * 59
    llm = model(
        {"look": says(f'{{"response": "loose", "found": {deep}}}', when="Look"), "mend": says("glued", when="Mend")}
    )
    plan = planned(text(llm.url))
    given = f'{{"task": "the old chair", "more": {"[" * 99}{"]" * 99}}}'
    receipt = file_place.open().observe(**trace_of(plan, ran(text(llm.url), given)))
    assert receipt.skill is not None
    assert receipt.skill.task == "the old chair"
