"""What do `brain redis`, `brain copy` and `brain stats` say of a mirror?"""

import json
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from brain.cli.app import app
from tests.contract.samples import audit, bread, skill

pytestmark = pytest.mark.redis


@pytest.fixture
def brain_command():
    """Runs one command in this process: its exit status, stdout and stderr."""

    def run(*arguments):
        unset = dict.fromkeys(("BRAIN_STORE", "BRAIN_EMBEDDER", "BRAIN_MIRROR", "REDIS_URL"))
        done = CliRunner(env={**unset, "COLUMNS": "120", "TERM": "dumb"}).invoke(app, arguments)
        return done.exit_code, done.stdout, done.stderr

    return run


@pytest.fixture
def place(file_source):
    with file_source.open() as brain:
        brain.observe(**bread(), skill_id="bread")
    return file_source


def test_a_mirror_is_linked_synced_verified_and_taken_off(place, brain_command):
    store = ("--store", place.location)
    status, _, error = brain_command("redis", "status", *store)
    assert (status, "brain redis link" in error) == (1, True)

    status, said, _ = brain_command("redis", "link", place.mirror_location, *store)
    assert status == 0 and "1 changes wait" in " ".join(said.split())
    status, said, _ = brain_command("redis", "status", *store, "--json")
    told = json.loads(said)
    assert status == 0
    assert (told["waiting"], told["answers"], told["problem"]) == (1, True, None)
    assert told["since"] and told["mirror"].startswith("redis://")
    stats = json.loads(brain_command("stats", *store, "--json")[1])
    assert stats["mirror"] == {"location": told["mirror"], "waiting": 1, "since": told["since"]}

    assert brain_command("redis", "verify", *store)[0] == 1
    status, said, _ = brain_command("redis", "sync", *store, "--json")
    assert (status, json.loads(said)["delivered"], json.loads(said)["waiting"]) == (0, 1, 0)
    status, said, _ = brain_command("redis", "verify", *store)
    assert (status, "are the same" in said) == (0, True)
    assert "nothing waits" in brain_command("stats", *store)[1]

    place.client.delete(place.keys.document("bread"))
    status, said, _ = brain_command("redis", "verify", *store, "--json")
    told = json.loads(said)
    assert (status, told["missing"], told["different"], told["extra"]) == (1, 1, 0, 0)
    assert told["differences"] == [{"id": "bread", "kind": "missing", "details": []}]
    assert brain_command("redis", "verify", "--repair", *store)[0] == 0
    assert brain_command("redis", "verify", *store)[0] == 0

    assert brain_command("redis", "unlink", *store)[0] == 0
    assert brain_command("redis", "status", *store)[0] == 1
    assert json.loads(brain_command("stats", *store, "--json")[1])["mirror"] is None
    assert place.document("bread")


def test_what_a_command_writes_is_delivered(place, brain_command, tmp_path):
    place.mirrored().close()
    (tmp_path / "trace.json").write_text(json.dumps(audit()))
    assert brain_command("learn", str(tmp_path / "trace.json"), "--store", place.location)[0] == 0
    assert len([key for key in place.dump() if key.startswith("skill:")]) == 2


def test_a_mirror_that_is_down_is_told_by_status_and_fails_a_sync(place, server, brain_command, tmp_path):
    store = ("--store", place.location)
    status, _, error = brain_command("redis", "link", server.url, *store)
    assert (status, "warning" in error) == (0, True)
    status, _, error = brain_command("feedback", "bread", "--success", *store)
    assert status == 0
    status, said, _ = brain_command("redis", "status", *store)
    assert status == 0
    assert "1 changes wait" in said and "No Redis answers" in said
    assert "1 changes wait since" in " ".join(brain_command("stats", *store)[1].split())
    assert brain_command("redis", "sync", *store)[0] == 3
    server.start()
    assert brain_command("redis", "sync", *store)[0] == 0
    assert brain_command("redis", "verify", *store)[0] == 0


def test_sync_follows_through_an_outage(place, server):
    server.start()
    place.mirror(server.url).link()
    command = [sys.executable, "-m", "brain", "redis", "sync", "--follow", "--store", place.location]
    following = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert "1 changes delivered" in following.stderr.readline()
        server.kill()
        assert "No Redis answers" in following.stderr.readline()
        with place.open() as brain:
            brain.skill_graph.save_skill(skill("a"))
        server.start()
        waiting, until = place.mirror(server.url).store, time.monotonic() + 60
        while waiting.waiting().count and time.monotonic() < until:
            following.poll()
        assert waiting.waiting().count == 0
    finally:
        following.kill()
        following.communicate()


def test_import_reports_what_it_left(place, brain_command, tmp_path):
    place.client.hset(place.keys.index, "ghost", "Ghost")
    document = {"id": "old", "name": "Old", "procedure": ["stop"]}
    place.client.set(place.keys.document("old"), json.dumps(document))
    place.client.hset(place.keys.index, "old", "Old")
    report = tmp_path / "report.jsonl"
    arguments = ("redis", "import", place.mirror_location, "--to", place.location, "--report", str(report))
    status, said, _ = brain_command(*arguments)
    assert status == 0
    assert "1 × skill skipped: it has no document" in said and "ghost" in said
    assert [json.loads(line)["subject"] for line in report.read_text().splitlines()] == ["ghost"]
    told = json.loads(brain_command(*arguments, "--json")[1])
    assert (told["written"], told["unchanged"]) == (0, 1)
    assert brain_command("show", "old", "--store", place.location)[0] == 0
    assert brain_command("redis", "import", place.location, "--to", place.location)[0] == 2


def test_copy_goes_into_another_namespace(place, brain_command):
    status, said, _ = brain_command("copy", place.location, place.location, "--to-namespace", "other", "--json")
    assert (status, json.loads(said)["written"]) == (0, 1)
    assert brain_command("show", "bread", "--store", place.location, "--namespace", "other")[0] == 0
    assert brain_command("copy", place.location, place.location)[0] == 2


def test_no_password_is_shown(place, server, brain_command):
    server._options += ("--requirepass", "s3cret")
    server.start()
    location = server.url.replace("://", "://:s3cret@")
    runs = [brain_command("redis", "link", location, "--store", place.location)]
    for command in ("sync", "verify", "status"):
        runs.append(brain_command("redis", command, "--store", place.location, "--mirror", location))
        runs.append(brain_command("redis", command, "--store", place.location))
    assert not any("s3cret" in said + error for _, said, error in runs)
    assert [status for status, _, _ in runs] == [0, 0, 3, 0, 3, 0, 0]
    assert "refuses the credentials" in runs[2][2] and "refuses the credentials" in runs[6][1]
