"""Do ten real executions give the same answers from the command line on every store?"""

import json

import pytest
from typer.testing import CliRunner

from brain.cli.app import app
from tests.shared_data import shared_json

pytestmark = pytest.mark.xdist_group("ten executions")

VOLATILE = {"created_at", "updated_at", "expires_at", "timestamp", "namespace", "location"}


def run(place, *arguments):
    done = CliRunner().invoke(
        app, [*arguments, "--store", place.location, "--namespace", place.namespace, "--json"], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def settled(value):
    """Without what depends on the moment; numbers to nine digits."""
    if isinstance(value, dict):
        return {k: settled(v) for k, v in value.items() if k not in VOLATILE}
    if isinstance(value, list):
        return [settled(item) for item in value]
    return round(value, 9) if isinstance(value, float) else value


def answers(place, folder):
    data = shared_json("orka_track_a/track_a.json")
    executions = [
        {
            "execution_trace": one["execution_trace"],
            "context": {"domain": one["domain"], "task": one["task"]},
            "outcome": one["outcome"],
            "skill_name": one["label"],
            "skill_id": f"skill-{i}",
        }
        for i, one in enumerate(data["learn"])
    ]
    file = folder / "executions.json"
    file.write_text(json.dumps(executions), "utf-8")
    learned = [{**one, "source": None} for one in run(place, "learn", str(file))]  # each place has a file of its own
    recalled = [run(place, "recall", task["task"], "--domain", task["domain"]) for task in data["recall"]]
    run(place, "link", "skill-0", "COMPLEMENTS", "skill-1")
    return {
        "learned": learned,
        "recalled": recalled,
        "expected": [task["expected"] for task in data["recall"]],
        "shown": [run(place, "show", f"skill-{i}") for i in range(10)],
        "related": run(place, "related", "skill-0"),
        "swept": run(place, "sweep"),
    }


@pytest.fixture(scope="module")
def seen():
    return {}


def test_ten_skills_are_learned_recalled_shown_related_and_swept(place, tmp_path, seen):
    found = answers(place, tmp_path)
    assert [one["outcome"] for one in found["learned"]] == ["created"] * 10
    first = [candidates[0]["skill"]["name"] if candidates else None for candidates in found["recalled"]]
    right = sum(name == expected for name, expected in zip(first, found["expected"], strict=True))
    assert right >= 19, list(zip(first, found["expected"], strict=True))
    assert found["swept"] == {"deleted": 0, "checked": 10}
    seen[place.kind] = settled(found)
    for other in seen.values():
        assert seen[place.kind] == other
