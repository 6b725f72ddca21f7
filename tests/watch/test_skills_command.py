"""`brain skills` on the listing: filtered, ordered, limited, as a table and as data."""

import json

import pytest
from typer.testing import CliRunner

from brain import Skill, SyncBrain
from brain.cli.app import app
from brain.engine.listing import SkillOrder

SKILLS = (
    Skill(
        id="a", name="Zebra crossing", tags=["Traffic"], confidence=0.2, usage_count=5, procedure=[{"action": "walk"}]
    ),
    Skill(id="b", name="apple pie", tags=["baking"], confidence=0.9, usage_count=1, procedure=[{"action": "bake"}]),
    Skill(id="c", name="Äpfel schälen", tags=["BAKING"], confidence=0.5, usage_count=5, procedure=[{"action": "peel"}]),
)


@pytest.fixture
def run(tmp_path):
    location = f"sqlite:///{tmp_path / 'skills.db'}"
    with SyncBrain.open(location, cache=False) as brain:
        brain.skill_graph.save_skills(list(SKILLS))

    def runs(*arguments):
        return CliRunner(env={"BRAIN_STORE": location, "COLUMNS": "100"}).invoke(app, ["skills", *arguments])

    return runs


def ids(result):
    assert result.exit_code == 0, result.stderr
    return [skill["id"] for skill in json.loads(result.stdout)]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], ["a", "b", "c"]),
        (["--sort", "name"], ["b", "a", "c"]),
        (["--sort", "name", "--reverse"], ["c", "a", "b"]),
        (["--sort", "confidence"], ["b", "c", "a"]),
        (["--sort", "usage_count"], ["c", "a", "b"]),
        (["--sort", "usage_count", "--limit", "2"], ["c", "a"]),
        (["--reverse"], ["c", "b", "a"]),
        (["--filter", "baking"], ["b", "c"]),
        (["--filter", "BAK pie"], ["b"]),
        (["--filter", "äPFEL"], ["c"]),
        (["--filter", "nothing"], []),
        (["--filter", "a", "--tag", "baking"], ["b"]),
        (["--filter", "", "--limit", "1"], ["a"]),
        (["--limit", "0"], []),
    ],
)
def test_skills_are_filtered_ordered_and_limited(run, arguments, found):
    assert ids(run(*arguments, "--json")) == found


def test_json_has_whole_skills_in_the_order_asked_for(run):
    found = json.loads(run("--sort", "name", "--json").stdout)
    assert [skill["procedure"][0]["action"] for skill in found] == ["bake", "walk", "peel"]


def test_the_table_keeps_the_order(run):
    printed = run("--sort", "confidence").stdout
    assert printed.index("apple pie") < printed.index("Äpfel") < printed.index("Zebra")


def test_every_order_is_known_to_the_command_and_named_in_its_help(run):
    help_text = " ".join(run("--help").stdout.replace("│", " ").split())
    for order in SkillOrder:
        assert len(ids(run("--sort", order, "--json"))) == 3
        assert order in help_text


def test_an_unknown_order_is_refused_before_anything_is_printed(run):
    done = run("--sort", "size", "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "usage_count" in done.stderr


def test_nothing_found_says_what_was_looked_for(run):
    assert run("--filter", "nothing").stderr == "No skill has these words.\n"
