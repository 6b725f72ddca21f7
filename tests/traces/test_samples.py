"""Is every sample read as its note says, whatever its file is called, learned, and recalled by its own task?"""

import json
import shutil
from pathlib import Path

import pytest

from brain import SyncBrain
from brain.traces import format_names, read
from tests.shared_data import FOLDER, shared_json

OWN = Path(__file__).parents[2] / "examples" / "traces"

EXPECTED = {
    # file: (format, steps, first action, last action, success, failed steps)
    "anthropic_managed_events.jsonl": ("anthropic_managed_events", 2, "read", "send_mail", None, ["send_mail"]),
    "anthropic_message.json": ("anthropic_message", 2, "read_sensors", "open_valve", None, []),
    "autogen.json": ("autogen_core", 1, "look_up_brand", "look_up_brand", None, []),
    "claude_code.jsonl": ("claude_code", 6, "Grep", "Bash", None, ["Bash"]),
    "codex.jsonl": ("codex", 3, "shell", "shell", None, []),
    "diagnosis.json": (
        "guide",
        5,
        "gather the symptoms and the patient's history",
        "conclude with the most likely cause",
        True,
        [],
    ),
    "langgraph_stream.jsonl": ("langgraph_stream", 2, "find_rooms", "book_room", None, []),
    "langsmith_run.json": ("langsmith_run", 3, "support_agent", "reset_password", None, []),
    "mini_swe_agent.json": (
        "mini_swe_agent",
        2,
        "wc -l logs/*.log",
        "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo 120",
        None,
        [],
    ),
    "openai_chat.jsonl": ("openai_chat", 3, "find_parcel", "estimate_arrival", True, ["find_parcel"]),
    "openai_responses.json": ("openai_responses", 2, "list_invoices", "add_numbers", None, []),
    "openhands.json": ("openhands_events", 3, "read", "finish", None, []),
    "orka_trace.json": ("orka_trace", 2, "classify_review", "store_label", None, ["store_label"]),
    "otlp_json.json": ("otlp_json", 2, "list_pods", "restart_pod", None, []),
    "swe_agent.traj": ("swe_agent_traj", 4, "find_file parser.py", "submit", None, []),
    "who_and_when.json": (
        "who_and_when",
        3,
        "Orchestrator (thought)",
        "Orchestrator (termination condition)",
        False,
        ["WebSurfer"],
    ),
}


def told(trace):
    failed = [step.action for step in trace.failed_steps]
    return trace.format, len(trace.steps), trace.steps[0].action, trace.steps[-1].action, trace.success, failed


def nameless(file, folder, number=0):
    """A copy of a file under a name that says nothing."""
    copy = folder / f"file-{number}"
    shutil.copyfile(file, copy)
    return copy


@pytest.mark.parametrize("name", EXPECTED)
def test_our_samples_are_read_by_content_alone(name, tmp_path):
    found = list(read(nameless(OWN / name, tmp_path)))
    assert told(found[0]) == EXPECTED[name]
    assert found[0].task and found[0].digest


def test_every_format_has_a_sample():
    assert {row[0] for row in EXPECTED.values()} == set(format_names())


def shared():
    index = FOLDER / "traces" / "index.json"
    rows = json.loads(index.read_text("utf-8")) if index.exists() else [{"file": "index.json"}]
    return [pytest.param(row, id=row["file"]) for row in rows]


@pytest.mark.parametrize("note", shared())
def test_traces_as_found_are_read_by_content_alone(note, tmp_path):
    shared_json("traces/index.json")
    (trace,) = read(nameless(FOLDER / "traces" / note["file"], tmp_path))
    expected = note["expected"]
    format, count, first, last, success, failed = told(trace)
    assert format == note["format"]
    assert (count, first, last, success) == tuple(
        expected[key] for key in ("n_steps", "first_action", "last_action", "success")
    )
    if "failed_steps" in expected:
        assert failed == expected["failed_steps"]


@pytest.mark.parametrize("folder", ["ours", "as found"])
def test_what_is_learned_of_samples_is_recalled_by_its_own_task(folder, run, location, tmp_path):
    if folder == "as found":
        shared_json("traces/index.json")
    source = OWN if folder == "ours" else FOLDER / "traces"
    files = [file for file in sorted(source.iterdir()) if file.name not in ("index.json", "LICENCES.md")]
    copies = [nameless(file, tmp_path, number) for number, file in enumerate(files)]
    result = run("learn", *copies, "--outcome", "success")
    assert result.exit_code == 0, result.stderr
    traces = [trace for copy in copies for trace in read(copy)]
    failed = {trace.task for trace in traces if trace.success is False}
    with SyncBrain.open(location, cache=False) as brain:
        assert failed.isdisjoint({skill.task for skill in brain.get_skills()})
        for trace in traces:
            if trace.success is not False:
                best = brain.recall({"task": trace.task, "domain": trace.domain})[0]
                assert best.skill.task == trace.task
    by_hand = run("recall", traces[0].task, "--json")
    assert json.loads(by_hand.stdout)[0]["skill"]["source_context"]["metadata"]["task"] == traces[0].task


def test_a_program_learns_from_traces_as_the_module_says():
    import brain

    with SyncBrain.open("sqlite://:memory:") as memory:
        for trace in brain.traces.read(OWN / "codex.jsonl"):
            clean, counts = brain.traces.without_secrets(trace)
            receipt = memory.observe(**brain.traces.execution_of(clean, success=True))
        assert counts == {} and [step.action for step in receipt.skill.procedure][-1] == "run tests"


def test_a_failure_teaches_nothing_and_is_recorded_on_the_skill_that_does_the_same(learn, tmp_path):
    chat = json.loads((OWN / "openai_chat.jsonl").read_text("utf-8").splitlines()[0])
    went_wrong = json.loads(json.dumps(chat)) | {"success": False, "reward": 0}
    went_wrong["messages"].append({"role": "assistant", "content": "I could not find it."})
    assert learn("-", input=json.dumps(went_wrong))["outcome"] == "ignored"
    assert learn("-", input=json.dumps(chat))["outcome"] == "created"
    went_wrong["messages"][1]["content"] += " "  # another run of the same
    receipt = learn("-", input=json.dumps(went_wrong))
    assert receipt["outcome"] == "failure_recorded"
    assert receipt["skill"]["success_rate"] == 0.5
