"""What does a user meet at a real server: a fresh database, two processes at once, wrong words at the door?"""

import subprocess
import sys
import time

import neo4j
import pytest

from brain import SyncBrain
from brain.errors import AuthenticationError, LocationError, SchemaError, StoreUnavailableError
from brain.store.location import open_store
from tests.integration.conftest import location_of

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("oldest")]


@pytest.fixture
def empty(oldest_server):
    """A database without data, schema or history, before the test and after it."""
    wipe(oldest_server)
    yield location_of(oldest_server)
    wipe(oldest_server)


def wipe(server):
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        for row in driver.execute_query("SHOW CONSTRAINTS YIELD name").records:
            driver.execute_query(f"DROP CONSTRAINT {row['name']}")
        for row in driver.execute_query("SHOW INDEXES YIELD name, type WHERE type = 'RANGE'").records:
            driver.execute_query(f"DROP INDEX {row['name']}")


def start(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_fresh_database_answers_without_a_word_on_stderr(empty):
    code = (
        "import logging, sys; logging.basicConfig(level=logging.WARNING)\n"
        "from brain import SyncBrain\n"
        "with SyncBrain.open(sys.argv[1]) as b:\n"
        "    b.get_skills(), b.get_skill_summary(), b.recall({'task': 'x'}), b.cleanup_expired_skills()\n"
        "    graph = b.skill_graph\n"
        "    graph.get_edges('none'), graph.get_related_skills('none'), graph.find_by_tag('t')\n"
    )
    process = start(code, empty)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "", "")


def test_processes_that_migrate_at_once_all_succeed_and_leave_one_history(empty):
    code = (
        "import sys\n"
        "from brain.store.location import open_store\n"
        "store = open_store(sys.argv[1], namespace='default')\n"
        "print(len(store.migrate())); store.close()\n"
    )
    processes = [start(code, empty) for _ in range(4)]
    answers = [process.communicate(timeout=180) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, answers
    store = open_store(empty, namespace="default")
    found = store.migrations()
    store.close()
    assert sum(int(out) for out, _ in answers) == len(found)
    assert {migration.state for migration in found} == {"applied"}


def test_migration_dry_run_changes_nothing(empty):
    store = open_store(empty, namespace="default")
    assert {m.state for m in store.migrations()} == {"pending"}
    assert {m.state for m in store.migrations()} == {"pending"}
    store.close()


def test_newer_schema_is_refused_and_named(empty, oldest_server):
    SyncBrain.open(empty).close()
    with neo4j.GraphDatabase.driver(oldest_server.uri, auth=(oldest_server.user, oldest_server.password)) as driver:
        driver.execute_query("CREATE (:BrainMigration {version: 999, name: 'from_the_future', checksum: 'x'})")
    with pytest.raises(SchemaError, match=r"V999__from_the_future.*Upgrade"):
        SyncBrain.open(empty)


def test_wrong_password_is_told_as_such(oldest_server):
    wrong = oldest_server.uri.replace("://", "://neo4j:wrong-password@", 1)
    with pytest.raises(AuthenticationError, match="refused the credentials") as caught:
        SyncBrain.open(wrong)
    assert "wrong-password" not in str(caught.value)


def test_missing_database_is_told_as_such(oldest_server):
    with pytest.raises(LocationError, match="nowhere"):
        SyncBrain.open(location_of(oldest_server) + "?database=nowhere")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_server_that_is_down_is_named_within_seconds(scheme):
    begun = time.monotonic()
    with pytest.raises(StoreUnavailableError, match=r"127\.0\.0\.1:1"):
        SyncBrain.open(f"{scheme}://neo4j:secret@127.0.0.1:1")
    assert time.monotonic() - begun < 15


def test_location_without_credentials_takes_them_from_the_environment(oldest_server, monkeypatch):
    monkeypatch.setenv("NEO4J_USERNAME", oldest_server.user)
    monkeypatch.setenv("NEO4J_PASSWORD", oldest_server.password)
    with SyncBrain.open(oldest_server.uri, namespace="environment") as brain:
        assert brain.get_skills() == []
        assert oldest_server.password not in brain.location
