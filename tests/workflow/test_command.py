"""`brain run` as a user meets it: one JSON document on stdout, steps on stderr, exit status, inputs, Ctrl-C."""

import json
import os
import signal
import stat

import pytest
from typer.testing import CliRunner

from brain import SyncBrain
from brain.cli.app import app
from tests.workflow.command import brain_run, finished, shell, started
from tests.workflow.conftest import says

TEXT = """
orchestrator: {id: two, agents: [look, learn, mend]}
agents:
  - id: look
    type: local_llm
    prompt: "Look at {{ input.task | default(input) }}. JSON"
    params: &m {provider: lm_studio, model_url: "http://127.0.0.1:9", model: m, retries: 0}
  - id: learn
    type: brain
    operation: learn
    prompt: "{{ previous_outputs.look }}"
  - id: mend
    type: local_llm
    prompt: "Mend {{ get_input() }}"
    params: *m
"""
SEEN = {"response": "loose", "steps": ["look at every joint", "find the loose one"], "confidence": 0.9}


@pytest.fixture
def llm(model):
    return model({"look": says(SEEN, when="Look"), "mend": says("glued", when="Mend")})


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "wf.yml"
    found.write_text(TEXT)
    return found


@pytest.fixture
def options(llm, file_place):
    return ("--set", f"model_url={llm.url}", "--store", file_place.location)


@pytest.fixture
def run(file_place):
    """Runs the command in this process."""

    def runs(*arguments, input=None, **more):
        environment = {"BRAIN_STORE": file_place.location, "OPENAI_API_KEY": None, "OPENAI_BASE_URL": None} | more
        return CliRunner(env=environment).invoke(app, ["run", *map(str, arguments)], input=input)

    return runs


def refused(result, *words, code=2):
    """Whether a run was refused on stderr, with nothing on stdout."""
    assert (result.exit_code, result.stdout) == (code, ""), (result.exit_code, result.stdout, result.stderr)
    assert result.stderr.startswith("error: ")
    for word in words:
        assert word in result.stderr
    return True


# Output


def test_stdout_is_one_document_and_stderr_tells_the_steps(path, options):
    status, out, err = finished(path, "the chair", *options)
    document = json.loads(out)
    assert status == 0
    assert (document["status"], document["answer"], document["answer_from"]) == ("ok", "glued", "mend")
    assert [agent["id"] for agent in document["agents"]] == ["look", "learn", "mend"]
    first, second, _ = document["agents"]
    assert (first["status"], first["type"], first["output"]["response"]) == ("ok", "local_llm", "loose")
    assert first["tokens"]["answer"] == len(json.dumps(SEEN))
    assert first["duration_ms"] > 0
    assert (second["operation"], second["tokens"], second["output"]["skill_steps"]) == ("learn", None, SEEN["steps"])
    assert document["tokens"]["answer"] == len(json.dumps(SEEN)) + len("glued")
    lines = err.splitlines()
    assert [line.split()[2] for line in lines] == ["look", "learn", "mend"]
    assert lines[0].startswith("1/3 ✓ look  local_llm  ")
    assert "\x1b" not in err


def test_quiet_is_quiet(path, options):
    assert finished(path, "x", "--quiet", *options)[2] == ""


def test_a_failed_agent_is_status_1_and_the_document_says_why(path, file_place):
    status, out, err = finished(path, "x", "--store", file_place.location)
    document = json.loads(out)
    assert status == 1
    assert [agent["status"] for agent in document["agents"]] == ["failed", "not_run", "not_run"]
    assert "nothing answers at http://127.0.0.1:9" in document["agents"][0]["error"]
    assert "because 'look' failed" in document["agents"][1]["error"]
    assert "✗ look" in err
    assert document["answer"] is None


def test_a_store_that_fails_is_status_3_and_what_was_done_is_still_told(path, llm, tmp_path):
    folder = tmp_path / "no.db"
    folder.mkdir()
    arguments = (path, "x", "--set", f"model_url={llm.url}", "--store", f"sqlite:///{folder}")
    status, out, err = finished(*arguments)
    assert (status, out) == (3, "")
    assert err.startswith("error: ")
    assert llm.asked == []


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_encoding_of_the_terminal_gets_valid_json(path, model, file_place, encoding):
    llm = model({"look": says(SEEN | {"response": "ä 𝄞"}, when="Look"), "mend": says("«ü» 漢", when="Mend")})
    arguments = (path, "x", "--set", f"model_url={llm.url}", "--store", file_place.location)
    process = started(*arguments, env=shell(PYTHONIOENCODING=encoding), encoding=encoding)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out)["answer"] == "«ü» 漢"


# Input


@pytest.mark.parametrize(
    ("given", "stdin", "seen"),
    [
        ("the chair", "", "the chair"),
        ('{"task": "the chair"}', "", "the chair"),
        ("-", "the\nchair", "the\nchair"),
        ("-", '{"task": "the chair"}', "the chair"),
        ('{{ 7 * 7 }} "quoted" }}', "", '{{ 7 * 7 }} "quoted" }}'),
        ("", "", ""),
    ],
)
def test_the_input_is_text_or_standard_input(path, options, llm, run, given, stdin, seen):
    result = run(path, *options, given, input=stdin)
    assert result.exit_code == 0, result.stderr
    assert llm.prompt_of("look") == f"Look at {seen}. JSON"
    assert llm.prompt_of("mend") == f"Mend {stdin if given == '-' else given}"


def test_a_file_is_read_whatever_it_holds(path, options, llm, run, tmp_path):
    for name, content, seen in (
        ("in.json", '{"task": "a"}', "a"),
        ("words", "b {{ x }}", "b {{ x }}"),
        ("bom.txt", "\ufeffc", "c"),
    ):
        (tmp_path / name).write_text(content, "utf-8")
        assert run(path, tmp_path / name, *options).exit_code == 0
        assert llm.of("look")[-1].prompt == f"Look at {seen}. JSON"


@pytest.mark.parametrize(
    ("given", "prompt"), [('{"task": "a"}', "a"), ("[1, 2]", "[1, 2]"), ('"words"', "words"), ("3", "3")]
)
def test_json_input_is_the_value(path, options, llm, run, given, prompt):
    assert run(path, "--json-input", given, *options).exit_code == 0
    assert llm.prompt_of("look") == f"Look at {prompt}. JSON"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--json-input", "{bad"], ["not JSON", "line 1, column 2"]),
        (["--json-input", '{"a": NaN}'], ["not usable JSON", "NaN"]),
        (["missing.json"], ["There is no file 'missing.json'"]),
        ([], ["reads its input, and there is none"]),
        (["--json-input"], ["reads its input"]),
        (["x" * 2_000_001], ["2,000,001 characters"]),
    ],
)
def test_an_input_that_cannot_be_used_is_refused_before_anything_runs(path, options, llm, run, arguments, words):
    assert refused(run(path, *arguments, *options), *words)
    assert llm.asked == []


def test_bytes_that_are_no_text_are_refused(path, options, run, tmp_path):
    (tmp_path / "odd").write_bytes(b"\xff\xfe\x00")
    assert refused(run(path, tmp_path / "odd", *options), "not UTF-8 text")
    assert refused(run(path, "-", *options, input=b"\xff"), "not UTF-8 text (byte 0)")


def test_a_pipe_of_the_shell_is_read_as_a_file_is(path, options, llm):
    read, write = os.pipe()
    os.write(write, b'{"task": "piped"}')
    os.close(write)
    process = started(path, f"/dev/fd/{read}", *options, pass_fds=(read,))
    os.close(read)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, (out, err)
    assert llm.prompt_of("look") == "Look at piped. JSON"


def test_an_input_without_an_end_is_refused(path, options, run):
    assert refused(run(path, "/dev/zero", *options), "characters", "Shorten it")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["x\udcff"], "half of a character (#xdcff)"),
        (['{"task": "\\ud800"}'], "half of a character (#xd800)"),
        (["--json-input", '"\\ud800"'], "half of a character"),
        (["--json-input", '{"a": 1e999}'], "not usable JSON"),
        (["--json-input", "[" * 101 + "]" * 101], "nested more than 100 levels deep"),
        (["--json-input", "[" * 100_000 + "]" * 100_000], "not usable JSON"),
    ],
)
def test_an_input_that_nothing_can_be_made_of_is_told(path, options, llm, run, arguments, word):
    assert refused(run(path, *arguments, *options), word)
    assert llm.asked == []


def test_deep_json_that_is_not_asked_for_is_text_and_can_be_traced(path, options, llm, run, tmp_path):
    given = "[" * 900 + "]" * 900
    assert run(path, given, "--trace", tmp_path, *options).exit_code == 0
    assert llm.prompt_of("look") == f"Look at {given}. JSON"


def test_text_that_could_be_no_path_is_text(path, options, llm, run):
    for given in ("a/" * 3_000, "line\nline.json", "what about x.json", "~", "."):
        result = run(path, given, *options)
        assert result.exit_code == 0, result.stderr


def test_a_workflow_that_reads_no_input_needs_none(run, tmp_path, file_place):
    path = tmp_path / "wf.yml"
    agent = '{id: a, type: brain, operation: recall, prompt: \'{"task": "t"}\'}'
    path.write_text(f"orchestrator: {{id: x, agents: [a]}}\nagents:\n  - {agent}\n")
    assert run(path).exit_code == 0


# Workflow


def test_every_problem_is_one_line_with_file_and_line(run, tmp_path):
    path = tmp_path / "wf.yml"
    path.write_text(TEXT.replace("get_input()", "get_inptu()").replace("operation: learn", "operation: learn_recipe"))
    result = run(path, "x")
    lines = result.stderr.splitlines()
    assert (result.exit_code, result.stdout, len(lines)) == (2, "", 2)
    assert (
        lines[0].startswith(f"error: {path}:10:5: agent 'learn': operation 'learn_recipe'")
        or "learn_recipe" in result.stderr
    )
    assert all(line.startswith(f"error: {path}:") for line in lines)


def test_a_dry_run_prints_the_plan_and_runs_nothing(path, run, llm, file_place, tmp_path):
    result = run(path, "--dry-run", "--set", f"model_url={llm.url}", BRAIN_STORE=f"sqlite:///{tmp_path}/none.db")
    plan = json.loads(result.stdout)
    assert result.exit_code == 0
    assert plan["groups"] == [["look"], ["learn"], ["mend"]]
    assert plan["reads_input"]
    assert plan["agents"][0] == {
        "id": "look",
        "type": "local_llm",
        "operation": None,
        "reads": [],
        "waits_for": [],
        "endpoint": f"{llm.url}/v1/chat/completions",
        "model": "m",
    }
    assert plan["agents"][1]["reads"] == ["look"]
    assert llm.asked == []
    assert not (tmp_path / "none.db").exists()


def test_variables_come_from_a_file_and_those_that_are_set_hold(run, model, tmp_path):
    llm = model({"a": says("fine", when="hi")})
    path, variables = tmp_path / "wf.yml", tmp_path / "vars"
    path.write_text(
        "orchestrator: {id: x, agents: [a]}\nagents:\n  - {id: a, type: openai-answer, model: m, prompt: hi}\n"
    )
    assert refused(run(path), "agent 'a'", "OPENAI_API_KEY is not set", "--env-file")
    variables.write_text(f'# keys\nexport OPENAI_API_KEY="from file"\nOPENAI_BASE_URL={llm.url}/v1 # here\n')
    arguments = (path, "--env-file", variables)
    assert brain_run(*arguments)["answer"] == "fine"
    assert brain_run(*arguments, env=shell(OPENAI_API_KEY="from shell"))["answer"] == "fine"
    assert [one.headers["Authorization"] for one in llm.asked] == ["Bearer from file", "Bearer from shell"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("A B", "vars:1 is not NAME=value"),
        ('A="x', "vars:1 is not NAME=value"),
        ("A=1\nB=x\0y", "vars:2 is not NAME=value"),
    ],
)
def test_a_file_of_variables_that_is_wrong_is_told_without_its_values(path, run, tmp_path, text, word):
    (tmp_path / "vars").write_text(text)
    result = run(path, "x", "--env-file", tmp_path / "vars")
    assert refused(result, word)
    assert refused(run(path, "x", "--env-file", tmp_path / "none"), "cannot be read")


def test_a_trace_folder_that_cannot_be_written_is_told_before_anything_runs(path, options, llm, run, tmp_path):
    (tmp_path / "file").write_text("")
    assert refused(run(path, "x", "--trace", tmp_path / "file", *options), "Choose another folder")
    assert llm.asked == []


def test_agents_of_one_namespace_are_kept_apart(path, options, run, file_place):
    assert run(path, "x", *options, "--namespace", "other").exit_code == 0
    assert SyncBrain.open(file_place.location, cache=False).get_skills() == []
    with SyncBrain.open(file_place.location, namespace="other", cache=False) as brain:
        assert len(brain.get_skills()) == 1


def test_without_the_extra_it_says_what_to_install(path, run, monkeypatch):
    monkeypatch.setattr("brain.cli.running.find_spec", lambda name: None if name == "openai" else object())
    assert refused(run(path, "x"), "openai is not installed", "pip install 'brain[workflow]'")


# Ctrl-C


def test_ctrl_c_ends_with_130_tells_how_far_it_came_and_keeps_what_was_learned(path, model, file_place):
    llm = model({"look": says(SEEN, when="Look"), "mend": says({"answer": "x", "held": True}, when="Mend")})
    llm.gate.clear()
    process = started(path, "x", "--set", f"model_url={llm.url}", "--store", file_place.location)
    while len(llm.asked) < 2 and process.poll() is None:
        llm.begun.wait(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    llm.gate.set()
    assert process.returncode == 130, (out, err)
    document = json.loads(out)
    assert document["status"] == "interrupted"
    assert [agent["status"] for agent in document["agents"]] == ["ok", "ok", "not_run"]
    assert err.splitlines()[-1] == "Interrupted."
    assert len(file_place.open().get_skills()) == 1


def test_help_names_every_option():
    result = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, ["run", "--help"])
    for option in (
        "--json-input",
        "--dry-run",
        "--set",
        "--env-file",
        "--trace",
        "--store",
        "--namespace",
        "--quiet",
        "INPUT",
    ):
        assert option in result.stdout


def test_a_file_that_may_not_be_read_is_told(path, options, run, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("x")
    secret.chmod(0)
    if os.access(secret, os.R_OK):  # whoever may read everything reads it
        assert run(path, secret, *options).exit_code == 0
    else:
        assert refused(run(path, secret, *options), "cannot be read")
    secret.chmod(stat.S_IRUSR)
