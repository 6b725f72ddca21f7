"""How do calls become the steps of a skill? Verbs and objects, named parameters, folded retries, loops and polling."""

import pytest

from brain import SyncBrain, Trace
from brain.analysis.actions import action_of, kind_of, parameters_of
from brain.analysis.commands import command_phrase
from brain.analysis.steps import abstract_steps, execution_of, without_secrets
from brain.errors import InputError, LimitError
from brain.model.trace import TraceStep


def step(action, error="", **parameters):
    return TraceStep(action=action, error=error, parameters=parameters)


def actions(*steps):
    return [found["action"] for found in abstract_steps(Trace(steps=list(steps)))]


def folded(*steps):
    return abstract_steps(Trace(steps=list(steps)))


NAMES = {
    "get_user_details": "get user details",
    "getWeather": "get weather",
    "search-flights": "search flights",
    "mcp__github__create_issue": "create issue",
    "functions.lookUpOrder": "look up order",
    "helm_list_releases": "list helm releases",
    "web_search": "search the web",
    "transfer_to_human_agents": "transfer to human agents",
    "HTTPRequest": "request HTTP",
    "memory_reader": "use memory reader",
    "Glob": "find files",
    "TodoWrite": "write a list of things to do",
}


@pytest.mark.parametrize(("name", "phrase"), NAMES.items())
def test_the_name_of_a_tool_becomes_a_verb_and_its_object(name, phrase):
    assert action_of(step(name)) == phrase


COMMANDS = {
    "ls -la": "list files",
    "cd /app && python -m pytest -q tests/": "run tests",
    "FOO=1 sudo pip install requests": "install packages",
    "git -C x status": "run git x",
    "git commit -m 'a && b'": "commit changes",
    "cat <<'EOF' > a.py\nx\nEOF": "write file",
    "cat a.py | head": "read file",
    "sed -i 's/a/b/' x": "edit file",
    "python - <<'PY'\nprint(1)\nPY": "run Python code",
    "python scripts/run.py --all": "run Python script",
    "/usr/bin/grep -rn x .": "search text in files",
    "timeout 5 frobnicate --now": "run frobnicate",
    "cd /tmp": "change folder",
    "echo 'unclosed": "print text",
    "": "run a shell command",
}


@pytest.mark.parametrize(("command", "phrase"), COMMANDS.items())
def test_a_command_becomes_a_verb_and_its_object(command, phrase):
    assert command_phrase(command) == phrase


@pytest.mark.parametrize(
    "call",
    [
        step("Bash", command="pytest -q"),
        step("execute_bash", command="pytest -q"),
        step("shell", command=["bash", "-lc", "pytest -q"]),
        step("bash_code_execution", command="pytest -q"),
        step("run", command="pytest -q"),
        TraceStep(action="pytest -q", parameters={"command": "pytest -q"}, kind="command"),
    ],
    ids=lambda call: call.action,
)
def test_the_shells_of_all_hosts_are_one(call):
    assert action_of(call) == "run tests"
    assert parameters_of(call) == {"command": "shell command"}


def test_what_an_editing_tool_is_told_to_do_is_the_action():
    assert action_of(step("str_replace_editor", command="view", path="/a")) == "view file"
    assert action_of(step("text_editor_code_execution", command="create", path="/a")) == "create file"
    assert action_of(step("read", path="/a")) == "read file"
    assert action_of(step("open", url="https://x.org")) == "open web page"


KINDS = [
    ("/etc/hosts", "path"),
    ("src/a.py", "path"),
    ("https://x.org/a", "URL"),
    ("2026-01-31", "date"),
    ("12.5", "number"),
    (7, "number"),
    (True, "true or false"),
    ("MZDDS4", "id"),
    ("raj_sanchez_7340", "id"),
    ("dc34609e-3eeb-459d-bc2a-6fedb01d2e6e", "id"),
    ("Prague", "text"),
    ("a sentence, not long", "text"),
    ("x" * 200, "long text"),
    ([1], "list"),
    ({"a": 1}, "object"),
    (None, "nothing"),
]


@pytest.mark.parametrize(("value", "kind"), KINDS, ids=str)
def test_a_value_is_generalised_to_its_kind(value, kind):
    assert kind_of(value) == kind


def test_parameters_are_named_and_the_text_is_kept_beside():
    (found,) = folded(TraceStep(action="cancel_order", description="It is too late.", parameters={"order": "MZDDS4"}))
    assert found["parameters"] == {"order": "id"}
    assert found["description"] == "It is too late.\ncancel_order order: MZDDS4"


def test_a_retry_is_one_step_with_a_pitfall():
    (found,) = folded(step("get_user", "timed out", id=1), step("get_user", id=1))
    assert (found["action"], found["pitfalls"]) == ("get user", ["get user failed: timed out"])
    assert "repeats" not in found


def test_a_failed_call_that_works_later_is_noted_where_it_works():
    found = folded(step("run_build", "missing file"), step("create_file"), step("run_build"))
    assert [row["action"] for row in found] == ["create file", "run build"]
    assert found[1]["pitfalls"] == ["run build failed: missing file"]


def test_a_failed_call_that_never_works_is_noted_on_the_step_before_it():
    found = folded(step("get_user"), step("delete_user", "not allowed"), step("send_mail"))
    assert [row["action"] for row in found] == ["get user", "send mail"]
    assert found[0]["pitfalls"] == ["delete user failed: not allowed"]


def test_a_failed_first_call_is_noted_on_the_first_that_worked():
    found = folded(step("delete_user", "not allowed"), step("send_mail"))
    assert [row["action"] for row in found] == ["send mail"]
    assert found[0]["pitfalls"] == ["delete user failed: not allowed"]


def test_where_nothing_worked_the_failed_calls_are_told():
    found = folded(step("get_user", "gone"), step("send_mail", "no server"))
    assert [row["pitfalls"] for row in found] == [["get user failed: gone"], ["send mail failed: no server"]]


def test_polling_is_one_step():
    calls = [step("get_status", job=1) for _ in range(4)]
    (found,) = folded(*calls)
    assert found["pitfalls"] == ["may have to be repeated until the result changes: it took 4 calls"]
    waits = [part for call in calls for part in (call, step("wait"))]
    assert [row["action"] for row in folded(*waits, step("get_result"))] == ["get status", "wait", "get result"]


def test_one_call_for_each_of_many_things_is_one_step():
    (found,) = folded(*(step("read_file", path=f"/a/{n}") for n in range(5)))
    assert found["repeats"] == "5 times, each with another path"
    assert found["description"] == "read_file path: /a/0\nread_file path: /a/1\nread_file path: /a/2"


def test_a_loop_of_rounds_is_one_round():
    rounds = [part for n in range(50) for part in (step("read_file", path=f"/{n}"), step("edit_file", path=f"/{n}"))]
    found = folded(step("list_files"), *rounds, step("run_tests"))
    assert [row["action"] for row in found] == ["list files", "read file", "edit file", "run tests"]
    assert found[2]["repeats"] == "the last of a loop of 50 rounds"
    assert len(folded(*rounds[:4])) == 4  # two rounds may be chance


def test_what_says_nothing_is_left_out():
    assert actions(step("think"), step("get_user"), step("finish")) == ["get user"]
    assert actions(step("finish")) == ["finish"]


def learned(brain, steps, task="t", digest=""):
    trace = Trace(task=task, steps=steps, outcome={"success": True}, format="x", digest=digest or str(len(steps)))
    return brain.observe(**execution_of(trace))


def test_ten_thousand_steps_are_folded_or_refused():
    loop = [step(("read_file", "edit_file")[n % 2], path=f"/{n}") for n in range(10_000)]
    with SyncBrain.open("sqlite://:memory:") as brain:
        assert [found.action for found in learned(brain, loop).skill.procedure] == ["read file", "edit file"]
        with pytest.raises(LimitError, match="10000 is over the cap of 1000"):
            learned(brain, [step(f"tool_{n * 7919 % 10_007}_x") for n in range(10_000)])


def test_without_a_verdict_there_is_nothing_to_learn_from():
    with pytest.raises(InputError, match="does not say whether it went well"):
        execution_of(Trace(task="t", steps=[step("get_user")]))


def test_pitfalls_and_repeats_are_kept_with_the_skill_but_not_compared(tmp_path):
    clean = [step("get_user", id=1), step("send_mail")]
    failed_first = [step("get_user", "timed out", id=1), *clean]
    with SyncBrain.open(f"sqlite:///{tmp_path / 'a.db'}", cache=False) as brain:
        assert learned(brain, failed_first, "tell the user").outcome == "created"
        receipt = learned(brain, clean, "tell the user")
        assert receipt.outcome == "reinforced"
        (first, _) = brain.get_skill(receipt.skill.id).procedure
        assert first.model_extra["pitfalls"] == ["get user failed: timed out"]


def test_secrets_are_replaced_before_texts_are_cut():
    secret = "sk-ant-api03-" + "a1" * 40
    long = f"{'word ' * 50}{secret} and more"
    steps = [TraceStep(action="send_mail", description=long, parameters={"to": "bob@example.com", "password": "x"})]
    clean, counts = without_secrets(Trace(task=f"mail {secret}", steps=steps, outcome={"success": True}))
    told = str(execution_of(clean))
    assert "a1a1" not in told and "bob@" not in told and "[redacted email]" in told
    assert counts == {"api_key": 2, "email": 1, "password": 1}


def test_the_guides_execution_stays_as_it_is():
    given = {
        "execution_trace": {"steps": ["a", {"action": "b", "x": 1}]},
        "context": {"task": "t"},
        "outcome": {"success": True},
    }
    trace = Trace(task="t", outcome={"success": True}, execution=given)
    assert execution_of(trace) == given
    open_end = {key: value for key, value in given.items() if key != "outcome"}
    assert execution_of(Trace(execution=open_end), success=False)["outcome"] == {"success": False}
