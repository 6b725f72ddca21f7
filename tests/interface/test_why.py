"""Does the command line say why a skill was recalled, and why one was not?"""

import json

import pytest
from typer.testing import CliRunner

from brain import SyncBrain
from brain.cli import recalling
from brain.cli.app import app
from brain.config import DEFAULT_MIN_SCORE, DEFAULT_TOP_K

STEPS = ["collect the role bindings", "compare each binding with the policy", "report what is open"]
PLAN = ["--step", "gather the invoices", "--step", "compare each invoice with the contract", "--step", "pay the rest"]


@pytest.fixture
def location(tmp_path):
    found = f"sqlite:///{tmp_path / 'skills.db'}"
    success = {"success": True, "quality": 0.9}
    with SyncBrain.open(found) as brain:
        brain.observe({"steps": STEPS}, {"domain": "security", "task": "audit roles"}, success, skill_id="audit")
        odd = {"task": "bake a [red]loaf[/] \x1b[31m"}
        brain.observe({"steps": ["bake the loaf \u202e"]}, odd, success, skill_id="loaf")
    return found


@pytest.fixture
def run(location):
    def runs(*arguments, **more):
        environment = {"BRAIN_STORE": location, "BRAIN_EMBEDDER": None, "COLUMNS": "80", "TERM": "dumb"}
        return CliRunner(env=environment | more).invoke(app, list(arguments))

    return runs


def words(text):
    return " ".join(text.split())


def test_a_skill_that_was_not_recalled_says_why_and_shows_its_scores(run):
    result = run("why", "loaf", "audit the roles of a cluster")
    assert result.exit_code == 0
    assert "is not returned, because its combined score of" in words(result.stdout)
    for part in ("below min_score 0.3", "below the floor of 0.1", "structural", "margin to floor", "to be first"):
        assert part in words(result.stdout)


def test_an_outranked_skill_names_the_one_before_it(run):
    result = run("why", "loaf", "bake bread after you audit the roles", "--top-k", "1", "--min-score", "0")
    assert "this skill fits better: 'Audit roles'" in words(result.stdout)


def test_a_returned_skill_says_its_place(run):
    assert "is returned, at place 1 of the 5" in words(run("why", "audit", "audit the roles").stdout)


def test_json_has_the_verdict_and_the_explanation(run):
    told = json.loads(run("why", "audit", "check the invoices", *PLAN, "--domain", "office", "--json").stdout)
    assert told["returned"] is True
    assert told["skill_id"] == "audit"
    assert told["steps"][0]["skill_step"] == STEPS[1]
    assert told["adaptations"]["add_steps"] == ["pay the rest"]


def test_an_unknown_skill_ends_with_1_and_a_wrong_task_with_2(run):
    result = run("why", "nobody", "audit")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "No skill 'nobody'" in result.stderr
    assert run("why", "audit").exit_code == 2
    assert run("why", "audit", "a", "--top-k", "0").exit_code == 2


def test_an_explanation_shows_the_steps_that_answer_to_each_other(run):
    shown = run("recall", "check the invoices", *PLAN, "--explain", COLUMNS="120").stdout
    (line,) = [line for line in shown.splitlines() if STEPS[1] in line and "answers" not in line]
    assert PLAN[3] in line
    assert "adapt: add steps" in shown


@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_text_of_skills_and_tasks_is_shown_and_not_obeyed(run, width):
    shown = run("why", "loaf", "bake a \x1b[31m loaf", "--step", "bake [bold]it \u202e", COLUMNS=width).stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert max(map(len, shown.splitlines())) <= int(width)


def test_why_has_the_defaults_of_recall():
    assert (recalling.TOP_K, recalling.MIN_SCORE) == (DEFAULT_TOP_K, DEFAULT_MIN_SCORE)
