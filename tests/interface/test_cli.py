"""The command line, as a user meets it: what it prints where, what it refuses, and with which exit status it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from brain import Relation, Skill, SyncBrain, errors
from brain.cli import recalling
from brain.cli.app import app
from brain.cli.ending import exit_status
from brain.cli.layout import visible
from brain.config import DEFAULT_MIN_SCORE, DEFAULT_TOP_K
from brain.demo.run import demo_namespace, forget, run_demo
from brain.demo.scenarios import LESSONS
from tests.contract.samples import BREAD
from tests.contract.test_odd_ids import bring

EXECUTION = {
    "execution_trace": {"steps": ["list the ingredients", {"action": "weigh each ingredient"}, "bake the loaf"]},
    "context": {"domain": "baking", "task": "bake a sourdough loaf"},
    "outcome": {"success": True, "quality": 0.8},
}
OTHER = {
    "execution_trace": {"steps": ["collect the role bindings", "compare them with the policy", "report what is open"]},
    "context": {"domain": "security", "task": "audit kubernetes roles"},
    "outcome": {"success": True, "quality": 0.9},
}
ODD_NAME = "[red]loaf[/] \x1b[31m \u202egnp.exe [link=x] :smile: \x07 nul\tend"
SOURCE = str(Path(__file__).parents[2])


@pytest.fixture
def location(tmp_path):
    return f"sqlite:///{tmp_path / 'skills.db'}"


@pytest.fixture
def environment(location):
    return {"BRAIN_STORE": location, "BRAIN_EMBEDDER": None, "COLUMNS": "80", "TERM": "dumb"}


@pytest.fixture
def run(environment):
    """Runs one command in this process."""

    def runs(*arguments, input=None, **more):
        return CliRunner(env=environment | more).invoke(app, [str(a) for a in arguments], input=input)

    return runs


@pytest.fixture
def data(run):
    """Runs one command with --json; it must succeed, and print one JSON document."""

    def runs(*arguments, input=None):
        result = run(*arguments, "--json", input=input)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return runs


@pytest.fixture
def learn(data):
    """Learns one execution; gives its receipt."""

    def learns(execution=EXECUTION, *options):
        return data("learn", "-", *options, input=json.dumps(execution))

    return learns


@pytest.fixture
def brain(location):
    with SyncBrain.open(location) as opened:
        yield opened


@pytest.fixture
def process(environment):
    """Starts the real command."""

    def starts(*arguments, **options):
        shell = {k: v for k, v in os.environ.items() if k not in environment} | {"PYTHONPATH": SOURCE}
        shell |= {k: v for k, v in environment.items() if v is not None}
        command = [sys.executable, "-m", "brain", *map(str, arguments)]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(command, env=shell, **(pipes | options))

    return starts


def refused(result, *words, code=2):
    """Whether a command was refused with one line on stderr that says `words`, and printed no data."""
    assert result.exit_code == code, (result.exit_code, result.stderr)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr
    return True


def changed(*path, to):
    """`EXECUTION` with one value replaced."""
    copy = json.loads(json.dumps(EXECUTION))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return copy


# Help


def commands(group=None, name="brain"):
    group = group or get_command(app)
    for key, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{name} {key}")
        else:
            yield pytest.param(command, id=f"{name} {key}")


@pytest.mark.parametrize("command", list(commands()))
def test_every_command_and_every_option_has_help(command):
    assert command.help
    for parameter in command.params:
        assert parameter.help, parameter.name


def test_the_commands_are_those_of_the_guide():
    assert set(get_command(app).commands) == set(
        "demo learn recall why feedback run mcp watch skills show related link delete sweep stats "
        "doctor migrate reembed copy dump load export import approve redis neo4j".split()
    )


def test_help_fits_80_columns_and_names_the_exit_statuses(run):
    result = run("--help")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    for part in ("Exit status: 0 done", "1 the answer is no", "2 wrong usage", "130 Ctrl-C"):
        assert part in " ".join(result.stdout.split())


def test_help_of_recall_shows_the_defaults_of_the_engine():
    assert (recalling.TOP_K, recalling.MIN_SCORE) == (DEFAULT_TOP_K, DEFAULT_MIN_SCORE)


def test_version_is_printed(run):
    assert run("--version").stdout.startswith("brain")


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["recall", "--nonsense"], ["show"], ["skills", "--limit", "x"]]
)
def test_wrong_usage_exits_2(run, arguments):
    assert run(*arguments).exit_code == 2


# Demo


def test_the_demo_recalls_seven_of_seven(run):
    result = run("demo")
    assert result.exit_code == 0
    assert result.stdout.rstrip().endswith("7 of 7 recalled correctly")
    assert result.stdout.count("✓") == 7
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "Learning three skills" in result.stderr


def test_the_demo_prints_one_line_a_scenario_where_there_is_room(run):
    lines = run("demo", COLUMNS="140").stdout.splitlines()
    assert sum("✓" in line and "Decompose-Analyze-Synthesize" in line for line in lines) == 3


def test_the_demo_leaves_no_skill_at_the_location(run, location):
    result = run("demo", "--store", location, "--json")
    assert json.loads(result.stdout)["correct"] == json.loads(result.stdout)["total"] == 7
    assert json.loads(result.stdout)["location"] == location
    with SyncBrain.open(location) as brain:
        assert brain.cleanup_expired_skills()["checked"] == 0


def test_the_demo_forgets_its_own_namespace_only(location):
    with SyncBrain.open(location, namespace=demo_namespace()) as own, SyncBrain.open(location) as other:
        kept = other.learn(**EXECUTION)
        run_demo(own)
        forget(own)
        assert own.get_skills() == []
        assert [skill.id for skill in other.get_skills()] == [kept.id]


def test_a_demo_that_lacks_a_lesson_does_not_pass(brain):
    result = run_demo(brain, LESSONS[:2])
    assert not result.passed
    assert result.correct == 5


def test_a_wrong_demo_exits_1(run, monkeypatch):
    monkeypatch.setattr("brain.demo.run.run_demo", lambda brain: run_demo(brain, LESSONS[1:]))
    result = run("demo")
    assert result.exit_code == 1
    assert "✗" in result.stdout and result.stdout.rstrip().endswith("4 of 7 recalled correctly")


# Learn


def test_learn_says_what_was_created(run):
    result = run("learn", "-", "--name", "Bake", "--skill-id", "bake-1", input=json.dumps(EXECUTION))
    assert result.exit_code == 0
    for part in ("created", "Bake", "bake-1", "0.660", "UTC"):
        assert part in result.stdout
    assert result.stderr == ""


def test_learn_takes_trace_for_execution_trace(learn):
    renamed = {"trace": EXECUTION["execution_trace"], "context": EXECUTION["context"], "outcome": EXECUTION["outcome"]}
    assert learn(renamed)["outcome"] == "created"
    assert learn(EXECUTION)["outcome"] == "reinforced"


def test_learn_reads_the_optional_keys_of_the_file(learn):
    used = learn(OTHER)["skill"]["id"]
    more = {"skill_name": "Bake", "trace_id": "t-1", "skill_id": "bake-1", "derived_from": [used]}
    receipt = learn(EXECUTION | more)
    assert (receipt["skill"]["id"], receipt["skill"]["name"]) == ("bake-1", "Bake")
    assert learn(EXECUTION | {"trace_id": "t-1"})["outcome"] == "already_seen"


def test_learn_connects_the_skill_with_what_it_was_derived_from(learn, data):
    used = learn(OTHER)["skill"]["id"]
    new = learn(EXECUTION, "--derived-from", used)["skill"]["id"]
    edges = data("show", new)["edges"]
    assert {(edge["relation"], edge["target"], edge["direction"]) for edge in edges} == {
        ("DERIVES_FROM", used, "out"),
        ("TRANSFERRED_TO", used, "in"),
    }


def test_learn_of_several_files_prints_a_list(data, tmp_path):
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text(json.dumps(EXECUTION))
    two.write_text(json.dumps([OTHER]))
    assert [receipt["outcome"] for receipt in data("learn", one, two)] == ["created", "created"]


def test_learn_of_an_unmatched_failure_is_ignored(learn):
    receipt = learn(changed("outcome", to={"success": False}))
    assert (receipt["outcome"], receipt["skill"]) == ("ignored", None)


def test_learn_names_the_keys_that_it_does_not_read(run):
    result = run("learn", "-", "--json", input=json.dumps(EXECUTION | {"label": 1}))
    assert result.stderr == "Keys that are not read: label.\n"
    assert json.loads(result.stdout)["outcome"] == "created"


def test_what_is_refused_does_not_stop_the_rest(run, data):
    bad = changed("outcome", "success", to="false")
    result = run("learn", "-", "--json", input=json.dumps([EXECUTION, bad, OTHER, {"context": {}}]))
    assert result.exit_code == 2
    told = json.loads(result.stdout)
    assert [one["source"][-6:] for one in told] == ["item 0", "item 1", "item 2", "item 3"]
    assert [one["outcome"] for one in told] == ["created", "refused", "created", "refused"]
    assert "standard input, item 1: outcome is not valid: success" in result.stderr
    assert "item 3" in result.stderr
    assert len(data("skills")) == 2


def test_an_id_that_is_taken_is_refused(learn, run):
    learn(EXECUTION, "--skill-id", "taken")
    refused(run("learn", "-", "--skill-id", "taken", input=json.dumps(OTHER)), "'taken' is already there")


def test_an_option_for_one_execution_is_refused_for_two(run):
    refused(run("learn", "-", "--name", "x", input=json.dumps([EXECUTION, OTHER])), "--name is for one execution")


def test_learn_from_a_missing_skill_exits_1(run, data):
    refused(run("learn", "-", "--derived-from", "gone", input=json.dumps(EXECUTION)), "No skill 'gone'", code=1)
    assert data("skills") == []


BAD_EXECUTIONS = {
    "not JSON": ("{", "standard input is not JSON", "line 1"),
    "empty": ("", "standard input is not JSON"),
    "not UTF-8": (b"\xff\xfe", "is not UTF-8 text"),
    "a number": ("3", "must hold a JSON object, not a number"),
    "an endless number": ("1" * 5000, "is not usable JSON"),
    "nested too deeply": ("[" * 100_000, "nested too deeply"),
    "no outcome": ({k: v for k, v in EXECUTION.items() if k != "outcome"}, "has no 'outcome'"),
    "both traces": (EXECUTION | {"trace": {}}, "both 'trace' and 'execution_trace'"),
    "trace is text": (changed("execution_trace", to="x"), "execution_trace must be an object"),
    "context is a list": (changed("context", to=[]), "context must be an object"),
    "outcome is null": (changed("outcome", to=None), "outcome must be an object"),
    "steps are text": (changed("execution_trace", "steps", to="x"), "steps"),
    "quality is NaN": (changed("outcome", "quality", to=float("nan")), "quality"),
    "quality is infinite": (json.dumps(EXECUTION).replace("0.8", "1e999"), "quality"),
    "quality is 2": (changed("outcome", "quality", to=2), "quality", "less than or equal to 1"),
    "quality is text": (changed("outcome", "quality", to="0.5"), "quality"),
    "success is text": (changed("outcome", "success", to="false"), "success"),
    "no success": (changed("outcome", to={}), "success"),
    "NaN in a step": (changed("execution_trace", "steps", to=[{"action": "a", "n": float("nan")}]), "finite"),
    "neither task nor steps": (
        EXECUTION | {"context": {"domain": "x"}, "execution_trace": {}},
        "neither a task",
    ),
    "a step without text": (changed("execution_trace", "steps", to=["a", {"result": "x"}]), "step 1 has no text"),
    "too many steps": (changed("execution_trace", "steps", to=["a"] * 1001), "1001 is over the cap of 1000"),
    "too much text": (changed("context", "task", to="x" * 1_000_001), "over the cap of 1000000"),
    "a lone surrogate": (changed("context", "task", to="a\ud800"), "lone surrogate"),
    "a malformed trace id": (EXECUTION | {"trace_id": "a b"}, "not a valid trace id"),
    "a malformed skill id": (EXECUTION | {"skill_id": "-x"}, "not a valid skill id"),
    "a numeric skill id": (EXECUTION | {"skill_id": 5}, "not a valid skill id"),
    "derived from text": (EXECUTION | {"derived_from": "abc"}, "derived_from: must be a list of skill ids"),
    "an empty name": (EXECUTION | {"skill_name": " "}, "skill_name: must not be empty"),
    "a numeric name": (EXECUTION | {"skill_name": 7}, "skill_name: must be text"),
}


@pytest.mark.parametrize(("given", "words"), [(v[0], v[1:]) for v in BAD_EXECUTIONS.values()], ids=BAD_EXECUTIONS)
def test_learn_refuses_and_writes_nothing(run, data, given, words):
    given = given if isinstance(given, str | bytes) else json.dumps(given)
    refused(run("learn", "-", input=given), "standard input", *words)
    assert data("skills") == []


def test_files_that_cannot_be_read_are_named(run, tmp_path):
    refused(run("learn", tmp_path / "gone.json"), "gone.json cannot be read", "No such file")
    (tmp_path / "empty").mkdir()
    refused(run("learn", tmp_path / "empty"), "the directory holds no files")
    refused(run("learn", "-", "-"), "only once")


# Recall


@pytest.mark.parametrize("command", ["recall", "why"])
def test_a_task_with_a_secret_finds_what_was_learned_from_it(learn, run, command):
    task = "Mail the weekly figures to finance-team@example.com with the token ghp_" + "a1B2" * 9
    skill = learn({**EXECUTION, "context": {"task": task, "domain": "reports"}})["skill"]
    assert "example.com" not in str(skill)
    named = [skill["id"]] if command == "why" else []
    result = run(command, *named, task, "--domain", "reports")
    assert "learned from this very task" in " ".join(result.stdout.split())


def test_recall_shows_scores_id_and_reason(learn, run):
    skill = learn()["skill"]
    result = run("recall", EXECUTION["context"]["task"], "--domain", "baking")
    assert result.exit_code == 0 and result.stderr == ""
    for part in (skill["id"], "baking", "struct", "0.500", "was learned from this very task"):
        assert part in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_recall_puts_a_skill_on_one_line_where_there_is_room(learn, run):
    skill = learn()["skill"]
    lines = run("recall", "bake a sourdough loaf", COLUMNS="140").stdout.splitlines()
    assert sum(skill["id"] in line and "baking" in line and "0.500" in line for line in lines) == 1


def test_recall_explains_every_score(learn, run, data):
    learn()
    shown = run("recall", "bake a sourdough loaf", "--explain").stdout
    for part in ("structural", "semantic", "transfer", "confidence", "weight", "words", "margin to floor"):
        assert part in shown
    (candidate,) = data("recall", "bake a sourdough loaf", "--explain")
    parts = candidate["explanation"]["dimensions"].values()
    assert sum(part["contribution"] for part in parts) == pytest.approx(candidate["combined_score"])


def test_an_anti_pattern_is_recalled_only_by_its_type(learn, run, data):
    learn(EXECUTION | {"skill_type": "anti_pattern"}, "--skill-id", "warning")
    task = EXECUTION["context"]["task"]
    assert data("recall", task) == []
    assert [found["skill"]["id"] for found in data("recall", task, "--type", "anti_pattern")] == ["warning"]
    assert data("recall", task, "--type", "procedural", "--type", "other") == []
    assert "asked for" in run("why", "warning", task).stdout
    assert data("why", "warning", task, "--type", "anti_pattern")["returned"] is True


def test_recall_reads_the_task_from_stdin(learn, data):
    learn()
    assert len(data("recall", "-", "--domain", "baking", input="bake a sourdough loaf\n")) == 1


def test_recall_reads_a_whole_context(learn, data, tmp_path):
    learn()
    file = tmp_path / "context.json"
    file.write_text(json.dumps({"task": "audit kubernetes roles", "output_format": "json"}))
    assert data("recall", "--context", file) == []
    assert len(data("recall", "bake a sourdough loaf", "--context", file)) == 1


def test_recall_by_steps_alone(learn, data):
    learn()
    steps = [part for step in ("list the ingredients", "weigh each ingredient", "bake") for part in ("--step", step)]
    assert len(data("recall", *steps)) == 1


def test_recall_obeys_top_k_and_min_score(learn, data):
    learn()
    learn(changed("context", "task", to="bake a rye loaf") | {"execution_trace": {"steps": ["grind the rye"]}})
    assert len(data("recall", "bake a loaf", "--min-score", 0)) == 2
    assert len(data("recall", "bake a loaf", "--min-score", 0, "--top-k", 1)) == 1
    assert data("recall", "bake a loaf", "--min-score", 0.99) == []


def test_nothing_recalled_is_said_on_stderr_and_exits_0(learn, run):
    learn(OTHER)
    result = run("recall", "bake sourdough bread")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "No stored skill fits this task.\n")
    result = run("recall", "bake sourdough bread", "--json", "--quiet")
    assert (result.exit_code, json.loads(result.stdout), result.stderr) == (0, [], "")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "TASK in words"),
        ([" "], "TASK in words"),
        (["x", "--step", " "], "step 0 has no text"),
        (["x", "--top-k", "0"], "top_k"),
        (["x", "--min-score", "nan"], "min_score"),
        (["x", "--min-score", "1.5"], "min_score"),
        (["-", "--context", "-"], "only once"),
        (["x", "--context", "gone.json"], "gone.json cannot be read"),
        (["x\udcff"], "lone surrogate"),
        (["x", *["--step", "a"] * 1001], "over the cap of 1000"),
        (["x", "--namespace", "a b"], "not a valid namespace"),
        (["x", "--store", "mysql://x"], "is not a location"),
        (["x", "--store", "/tmp/x.db"], "is not a location"),
        (["x", "--store", ""], "location is empty"),
    ],
)
def test_recall_refuses(run, arguments, word):
    refused(run("recall", *arguments), word)


# Feedback


def test_feedback_is_recorded(learn, data, run):
    skill = learn()["skill"]
    receipt = data("feedback", skill["id"], "--success", "--domain", "cakes", "--adaptations", '{"sugar": [1, "a"]}')
    assert receipt["recorded"] and receipt["skill"]["transfer_count"] == 1
    assert receipt["skill"]["transfer_history"][0]["adaptations"] == {"sugar": [1, "a"]}
    shown = run("feedback", skill["id"], "--failure", "--task", "bake a cake")
    assert shown.exit_code == 0 and "The failure was recorded" in shown.stdout and "1/2" in shown.stdout


def test_feedback_with_the_same_id_counts_once(learn, data, run):
    skill = learn()["skill"]
    first, again = (data("feedback", skill["id"], "--success", "--feedback-id", "m-1") for _ in range(2))
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert again["skill"]["transfer_count"] == 1
    assert "before" in run("feedback", skill["id"], "--failure", "--feedback-id", "m-1").stdout
    refused(run("feedback", skill["id"], "--success", "--feedback-id", "a b"), "feedback id")


def test_feedback_that_says_both_ways_records_nothing(learn, data, run):
    skill = learn()["skill"]
    refused(run("feedback", skill["id"], "--success", "--failure"), "either --success or --failure")
    assert data("show", skill["id"])["skill"]["transfer_count"] == 0


def test_a_skill_is_deleted(learn, data, run):
    skill = learn()["skill"]
    assert data("delete", skill["id"]) == {"id": skill["id"], "deleted": True}
    refused(run("delete", skill["id"]), "No skill", code=1)


def test_copying_from_a_mistyped_place_makes_nothing(run, tmp_path):
    refused(run("copy", f"sqlite:///{tmp_path}/typo.db", f"sqlite:///{tmp_path}/out.db"), "There is nothing at")
    assert list(tmp_path.iterdir()) == []


def test_recall_from_an_empty_store_says_so(run, location):
    result = run("recall", "bake a loaf")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "There are no skills" in result.stderr


@pytest.mark.parametrize("namespace", ["default", "work"])
@pytest.mark.parametrize("command", [["recall", "pour coffee"], ["skills"]])
def test_a_namespace_whose_skills_all_wait_in_quarantine_says_how_to_let_them_in(run, namespace, command, tmp_path):
    folder = tmp_path / "pour-coffee"
    folder.mkdir()
    folder.joinpath("SKILL.md").write_text("---\nname: pour-coffee\ndescription: Pour coffee.\n---\n\n1. Boil water\n")
    named = [] if namespace == "default" else ["--namespace", namespace]
    assert f"no skills in namespace '{namespace}'" in run(*command, "--namespace", namespace).stderr
    run("import", folder, "--quarantine", "--namespace", namespace)
    result = run(*command, "--namespace", namespace)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"no skills in namespace '{namespace}'" in result.stderr
    assert f"1 imported skill waits in quarantine: {' '.join(['brain', 'approve', *named])} lists them" in result.stderr
    assert run("approve", "--all", *named).exit_code == 0
    assert "quarantine" not in run(*command, "--namespace", namespace).output
    assert "Nothing waits" in run("approve", *named).stderr


def test_feedback_on_an_unknown_skill_exits_1(run):
    result = run("feedback", "gone", "--success")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "warning: No live skill has the id 'gone', so nothing was recorded.\n"
    result = run("feedback", "gone", "--success", "--json")
    assert result.exit_code == 1 and json.loads(result.stdout)["recorded"] is False


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["id"], "--success or --failure"),
        ([" ", "--success"], "not a valid skill id"),
        (["id", "--success", "--adaptations", "{"], "--adaptations is not JSON"),
        (["id", "--success", "--adaptations", "[]"], "--adaptations must hold a JSON object, not a list"),
        (["id", "--success", "--adaptations", '{"a": NaN}'], "finite"),
        (["id", "--success", "--adaptations", '{"a": "\\ud800"}'], "lone surrogate"),
    ],
)
def test_feedback_refuses(run, arguments, word):
    refused(run("feedback", *arguments), word)


# Looking around


def test_skills_are_listed_page_by_page(brain, run, data):
    brain.skill_graph.save_skills([Skill(id=f"s{i:03}", name=f"skill {i}") for i in range(230)])
    shown = run("skills").stdout
    assert shown.count("expires") == 1
    assert [line.strip() for line in shown.splitlines() if line.startswith("s0")][:2] == ["s000", "s001"]
    assert len([skill["id"] for skill in data("skills")]) == 230
    assert [skill["id"] for skill in data("skills", "--limit", 2)] == ["s000", "s001"]
    assert data("skills", "--limit", 0) == []


def test_skills_by_tag(brain, run, data):
    brain.skill_graph.save_skills([Skill(id="a", name="a", tags=["[x], $y"]), Skill(id="b", name="b")])
    assert [skill["id"] for skill in data("skills", "--tag", "[x], $y")] == ["a"]
    assert run("skills", "--tag", "[x]").stderr == "No skill has this tag.\n"


def test_namespaces_are_apart(learn, data):
    learn(EXECUTION, "--namespace", "one")
    assert data("skills") == []
    assert len(data("skills", "--namespace", "one")) == 1


def test_show_tells_all_of_a_skill(learn, run, data):
    one, two = learn()["skill"]["id"], learn(OTHER)["skill"]["id"]
    run("link", one, "COMPLEMENTS", two, "--metadata", '{"why": "both"}')
    run("feedback", one, "--failure", "--domain", "pastry")
    shown = run("show", one).stdout
    for part in ("weigh each ingredient", "quality >= 0.8", "COMPLEMENTS to", two, "why both", "pastry", "expires"):
        assert part in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert data("show", one)["skill"]["transfer_history"][0]["success"] is False


def test_show_of_a_skill_that_never_expires(brain, run):
    brain.skill_graph.save_skill(Skill(id="a", name="forever"))
    assert "never" in run("show", "a").stdout


@pytest.mark.parametrize("command", ["show", "related"])
def test_an_unknown_skill_exits_1(run, command):
    refused(run(command, "gone"), "No skill 'gone'", code=1)
    refused(run(command, "a b"), "No skill 'a b'", code=1)
    refused(run(command, " "), "not a valid skill id")


def test_an_id_is_not_completed(learn, run):
    refused(run("show", learn()["skill"]["id"][:8]), "No skill", code=1)


def test_related_walks_edges_in_both_directions(brain, run, data):
    brain.skill_graph.save_skills([Skill(id=i, name=f"skill {i}") for i in "abc"])
    assert run("related", "a").stderr == "No related skills.\n"
    assert run("link", "a", "SPECIALIZES", "b").stdout == "a SPECIALIZES b\n"
    assert data("link", "b", "COMPOSED_OF", "c", "--metadata", '{"n": 1}')["metadata"] == {"n": 1}
    assert [(row["distance"], row["skill"]["id"]) for row in data("related", "c")] == [(1, "b"), (2, "a")]
    assert [row["skill"]["id"] for row in data("related", "b", "--relation", "SPECIALIZES")] == ["a"]
    assert len(data("related", "c", "--depth", 1)) == 1
    assert "skill b" in run("related", "a").stdout


def test_a_link_is_taken_away(brain, run, data):
    brain.skill_graph.save_skills([Skill(id=i, name=f"skill {i}") for i in "ab"])
    data("link", "a", "COMPLEMENTS", "b")
    assert run("link", "b", "COMPLEMENTS", "a", "--remove").exit_code == 1, "it leads the other way"
    assert data("link", "a", "COMPLEMENTS", "b", "--remove")["removed"] is True
    assert brain.skill_graph.get_edges("a") == []
    again = run("link", "a", "COMPLEMENTS", "b", "--remove")
    assert (again.exit_code, again.stdout) == (1, "a COMPLEMENTS b is not there\n")


def test_an_unknown_relation_lists_the_six(learn, run):
    one = learn()["skill"]["id"]
    refused(run("link", one, "LIKES", "b"), *Relation)
    refused(run("related", one, "--relation", "LIKES"), *Relation)


def test_link_refuses(learn, run):
    one = learn()["skill"]["id"]
    refused(run("link", one, "COMPLEMENTS", one), "to itself")
    refused(run("link", one, "COMPLEMENTS", "gone"), "No skill 'gone'", code=1)
    refused(run("link", one, "COMPLEMENTS", " "), "not a valid skill id")
    refused(run("link", one, "COMPLEMENTS", "b", "--metadata", "1"), "--metadata must hold a JSON object")
    refused(run("related", one, "--depth", 11), "from 1 to 10")


# Odd text


ODD_IDS = ["a whole sentence", "kitchen/bread", "-x", "--all", "\x1b]0;x\x07 \u202e", "ß" * 300]


@pytest.mark.parametrize("odd", ODD_IDS, ids=range(len(ODD_IDS)))
def test_every_command_takes_an_id_that_nobody_could_choose_and_prints_it_without_harm(brain, run, odd, tmp_path):
    bring(brain, odd)
    brain.skill_graph.save_skill(Skill(id="plain", name="plain"))
    assert json.loads(run("show", "--json", "--", odd).stdout)["skill"]["id"] == odd
    said = [
        run("feedback", "--success", "--", odd),
        run("link", "--", odd, "COMPLEMENTS", "plain"),
        run("show", "plain"),
        run("related", "--", "plain"),
    ]
    said += [run("skills"), run("skills", COLUMNS="200"), run("show", "--", odd), run("recall", BREAD)]
    said += [run("link", "--remove", "--", odd, "COMPLEMENTS", "plain"), run("export", "--", odd, tmp_path / "out")]
    assert str(tmp_path)[:5] in said[-1].stdout, "the folder has room beside a long id"
    said += [run("delete", "--", odd)]
    for result in said:
        assert result.exit_code == 0, result.stderr
        assert not set("\x1b\u202e\x07") & set(result.output)
    refused(run("show", "--", odd), "No skill", code=1)


def test_odd_text_is_neither_markup_nor_control_sequence(brain, run, data):
    step = {"action": f"do {ODD_NAME}", "description": "two\nlines", "parameters": {"[bold]": "\x1b]0;x\x07"}}
    brain.skill_graph.save_skill(Skill(id="odd", name=ODD_NAME, procedure=[step], tags=["[green]"]))
    brain.skill_graph.save_skill(Skill(id="other", name="other"))
    run("link", "odd", "COMPLEMENTS", "other", "--metadata", '{"[blue]": "\\u001b[2J"}')
    for arguments in (["skills"], ["show", "odd"], ["show", "other"], ["related", "other"], ["stats"]):
        result = run(*arguments, COLUMNS="200")
        assert result.exit_code == 0, result.stderr
        assert "[red]loaf[/]" in result.stdout and ":smile:" in result.stdout
        assert r"\x1b[31m" in result.stdout and r"\u202egnp" in result.stdout and r"\x07" in result.stdout
        assert not set("\x1b\u202e\x07") & set(result.stdout)
    assert [skill["name"] for skill in data("skills")] == [ODD_NAME, "other"]


def test_text_of_every_script_stays_as_it_is():
    for text in ("Größe ½ 日本語", "می‌خواهم", "हिन्दी", "👩‍👩‍👧 🏳️‍🌈", "שלום"):
        assert visible(text) == text
    assert visible("a\nb\u2066c\ufeff") == r"a\nb\u2066c\ufeff"
    assert visible("a\n\tb", lines=True) == "a\n\tb"


def test_json_keeps_every_script_readable(learn, run):
    learn(changed("context", "task", to="日本 \u202e 👩‍👧"))
    assert "日本 \u202e 👩‍👧" in run("skills", "--json").stdout


# Upkeep


def test_sweep_removes_what_has_expired(brain, run, data):
    brain.skill_graph.save_skills(
        [Skill(id=f"old{i}", name="old", expires_at="2020-01-01T00:00:00Z") for i in range(3)]
    )
    brain.skill_graph.save_skill(Skill(id="new", name="new"))
    assert run("sweep").stdout == "3 of 4 skills had expired and were removed.\n"
    assert data("sweep") == {"deleted": 0, "checked": 1}


def test_stats_sum_up_the_store(learn, run, data, location):
    assert data("stats")["total_skills"] == 0
    learn()
    found = data("stats", "--namespace", "default")
    assert (found["location"], found["namespace"], found["total_skills"]) == (location, "default", 1)
    assert found["embedding"] is None
    assert (found["expiring_skills"], found["expiring_within_hours"]) == (0, 24)
    assert {migration["state"] for migration in found["migrations"]} == {"applied"}
    assert "up to date" in run("stats").stdout


def test_a_dry_run_of_migrate_applies_nothing(run, data):
    first = data("migrate", "--dry-run")
    assert first and {migration["state"] for migration in first} == {"pending"}
    assert "V001" in run("migrate", "--dry-run").stdout
    assert [migration["version"] for migration in data("migrate")] == [migration["version"] for migration in first]
    assert data("migrate") == data("migrate", "--dry-run") == []
    assert run("migrate").stderr == "Nothing is pending: the schema is up to date.\n"


def test_reembed_needs_an_embedder(run):
    refused(run("reembed"), "--embedder MODEL")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.InputError("x"), 2),
        (errors.LimitError("steps", "x", 2, 1), 2),
        (errors.SkillNotFoundError("x", "default"), 1),
        (errors.ConflictError("x", 0, 1), 2),
        (errors.LocationError("x"), 2),
        (errors.StoreUnavailableError("x"), 3),
        (errors.AuthenticationError("x"), 3),
        (errors.SchemaError("x"), 3),
        (errors.EmbeddingError("x"), 3),
        (errors.LocalServerError("x"), 3),
        (errors.ServingError("x"), 3),
    ],
)
def test_the_exit_status_tells_the_kind_of_error(error, status):
    assert exit_status(error) == status


def test_a_file_that_is_no_store_exits_3(run, tmp_path):
    (tmp_path / "text.db").write_text("not a database " * 100)
    refused(run("stats", "--store", f"sqlite:///{tmp_path / 'text.db'}"), "text.db", code=3)


def test_a_server_that_is_down_is_named_and_exits_3(run):
    started = time.monotonic()
    refused(run("stats", "--store", "bolt://neo4j:secret@127.0.0.1:1"), "127.0.0.1:1", code=3)
    assert time.monotonic() - started < 10


def test_a_location_is_shown_without_its_password(run):
    assert "secret" not in run("stats", "--store", "bolt://neo4j:secret@127.0.0.1:1").stderr
    assert "secret" not in run("stats", "--store", "mysql://neo4j:secret@host").stderr


# The real command


def test_data_and_notices_go_to_different_places(process):
    shown = process("demo", "--json")
    out, err = shown.communicate()
    assert shown.returncode == 0
    assert json.loads(out)["correct"] == 7
    assert err == b"Learning three skills and recalling them for seven tasks in other domains.\n"


def test_a_closed_pipe_ends_quietly(brain, process):
    brain.skill_graph.save_skills([Skill(id=f"s{i}", name="x" * 300) for i in range(2_000)])
    shown = process("skills", "--json")
    assert shown.stdout.readline() == b"[\n"
    shown.stdout.close()
    shown.stdin.close()
    assert (shown.stderr.read(), shown.wait()) == (b"", 141)
    shown.stderr.close()


def test_a_full_disk_exits_3(process):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        shown = process("stats", stdout=full)
        _, err = shown.communicate()
    assert shown.returncode == 3
    assert err.startswith(b"error: [Errno 28]") and err.count(b"\n") == 1


def test_ctrl_c_exits_130(process, tmp_path):
    fifo = tmp_path / "trace.json"
    os.mkfifo(fifo)
    shown = process("learn", fifo)
    writer = fifo.open("w")  # returns when the command has begun to read
    shown.send_signal(signal.SIGINT)
    out, err = shown.communicate()
    writer.close()
    assert (shown.returncode, out, err) == (130, b"", b"Interrupted.\n")


def test_help_loads_neither_driver_nor_model():
    code = (
        "import sys\nfrom brain.cli.app import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('neo4j', 'sentence_transformers', 'torch', 'sqlite3') if m in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": SOURCE}
    )
    assert shown.stdout.splitlines()[-1] == "[]"
