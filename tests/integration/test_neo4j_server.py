"""What does a user meet at a real server: a fresh database, two processes at once, wrong words at the door?"""

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import neo4j
import pytest

from brain import SyncBrain
from brain.errors import AuthenticationError, LocationError, SchemaError, StoreUnavailableError
from brain.model.context import Shape
from brain.model.skill import SkillTransferRecord
from brain.store import migrations
from brain.store.location import open_store
from brain.store.statements import data_folder
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


EARLIER = """
CREATE (n:Namespace {
  name: "default", version: 7, complete_since: 2, deletions: ["3 gone"], operations: ["an operation"], locked: true})
WITH n
UNWIND range(0, $count - 1) AS i
CREATE (s:Skill {
  namespace: "default", id: "s" + toString(1000 + i), name: "Skill", description: "", skill_type: "procedural",
  task: "task", domain: "kitchen", source_context: '{"metadata": {"domain": "kitchen", "task": "task"}}',
  confidence: 0.25, usage_count: i, success_rate: 1.0, created_at: $now, updated_at: $now, expires_at: $later,
  transfer_count: 4, transfer_successes: 2, version: 3, parts: 1, changed: 5, dedup_key: "key " + toString(i),
  fingerprint: "f", profile: "p"})
CREATE (s)-[:HAS_STEP {order: 0}]->(:Step {
  id: "default/" + s.id + "/step/0", order: 0, action: "act", description: "", parameters: "{}", is_optional: false})
MERGE (h:Shape {namespace: "default", key: "the key"})
ON CREATE SET h.task_structures = ["sequential"], h.cognitive_patterns = [], h.input_shape = "text",
  h.output_shape = "list"
CREATE (s)-[:HAS_SHAPE]->(h)
"""
"""Skills as they stood before V003: without terms, the shape's key, and what the counters are made of."""


def as_of_version_2(server, count):
    """Brings the database to V002, with skills in it."""
    now = datetime.now(UTC)
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        driver.execute_query("CREATE (:BrainMigration {version: 0, name: 'empty'})")
        for file in migrations.load(data_folder("migrations") / "neo4j")[:2]:
            for text in file.statements:
                driver.execute_query(text)
            driver.execute_query(
                "CREATE (:BrainMigration {version: $version, name: $name, checksum: $checksum})",
                version=file.version,
                name=file.name,
                checksum=file.checksum,
            )
        driver.execute_query(EARLIER, count=count, now=now, later=now + timedelta(days=1))
        driver.execute_query("MATCH (s:Skill {id: 's1000'}) SET s.confidence = 'damaged', s.transfer_count = null")


@pytest.fixture
def upgraded(empty, oldest_server):
    """A store on a database that held 2 500 skills of the earlier schema, more than one batch."""
    as_of_version_2(oldest_server, 2_500)
    store = open_store(empty, namespace="default")
    assert [migration.name for migration in store.migrate()] == ["feeds_and_counters", "bodies"]
    yield store
    store.close()


def test_earlier_skills_are_counted_and_recalled_after_an_upgrade(upgraded):
    summary = upgraded.summary(2)
    assert (upgraded.count(), summary["total_skills"], summary["transferable_skills"]) == (2_500, 2_500, 2_499)
    assert summary["avg_confidence"] == pytest.approx(0.25 * 2_499 / 2_500)
    assert [skill.id for skill in summary["top_skills"]] == ["s3499", "s3498"]
    entries = [entry for page in upgraded.entries(1_000, vectors=True) for entry in page]
    assert len(entries) == 2_499, "all but the damaged one"
    assert {entry.shape for entry in entries} == {Shape(("sequential",), (), "text", "list")}
    assert {entry.terms for entry in entries} == {None}


def test_readers_begin_anew_and_writers_go_on_after_an_upgrade(upgraded):
    assert upgraded.changes(6).stale
    assert not upgraded.changes(7).stale
    assert upgraded.changes(7).store_id
    upgraded.set_profiles([("s1001", 3, "profile", b"terms")], operation="a")
    assert [(entry.id, entry.terms) for entry in upgraded.changes(7).entries] == [("s1001", b"terms")]
    record = SkillTransferRecord(target_context={}, success=True)
    assert upgraded.feedback("s1001", record, ttl=True, operation="b").skill.transfer_count == 5
    assert upgraded.delete("s1000", operation="c")
    assert upgraded.summary(0)["total_transfers"] == 2_499 * 4 + 1


def test_an_upgrade_that_was_interrupted_goes_on_where_it_was(empty, oldest_server):
    as_of_version_2(oldest_server, 50)
    with neo4j.GraphDatabase.driver(oldest_server.uri, auth=(oldest_server.user, oldest_server.password)) as driver:
        file = migrations.load(data_folder("migrations") / "neo4j")[2]
        for text in file.statements[:-1]:  # everything but the last, and not recorded
            with driver.session() as session:
                session.run(text).consume()
    store = open_store(empty, namespace="default")
    store.migrate()
    assert store.summary(0)["transferable_skills"] == 49
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
