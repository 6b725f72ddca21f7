"""Does every statement parse on this server, use the index that it should, and raise no notification?"""

import re
from datetime import UTC, datetime
from pathlib import Path

import neo4j
import pytest

from brain import Relation, SyncBrain
from brain.store import migrations
from brain.store.statements import data_folder, load
from tests.integration.conftest import location_of

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("oldest")]

STATEMENTS = load(data_folder("cypher"), "*.cypher")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
EXAMPLES = {
    "after": "",
    "base_hours": 168.0,
    "before": NOW,
    "checksum": "c",
    "dedup_key": "k",
    "gain": 0.05,
    "id": "x",
    "ids": ["x"],
    "kept": 100,
    "key": "k",
    "loss": 0.1,
    "metadata": "{}",
    "name": "n",
    "namespace": "n",
    "now": NOW,
    "operation": "o",
    "relations": ["COMPLEMENTS"],
    "renew": True,
    "replaces": None,
    "rows": [],
    "since": 0,
    "size": 10,
    "source": "x",
    "stamp": "s",
    "success": True,
    "target": "y",
    "trace_key": "t",
    "traces": [],
    "transfers": [],
    "version": 1,
}
INDEXES = {
    "changed_skills": {"skill_changed_range"},
    "fetch": {"skill_changed_range", "skill_id_unique", "namespace_name_unique"},
    "expired_ids": {"skill_expires_at_range"},
    "forget_operation": {"namespace_name_unique"},
    "find_twin": {"skill_dedup_key_unique", "trace_key_unique"},
    "record_use": {"skill_id_unique", "namespace_name_unique", "transfer_id_unique"},
    "page_of_skills": {"skill_id_unique"},
    "page_of_tagged_skills": {"tag_key_unique"},
    "remove_skills": {"skill_id_unique"},
    "clear_skills": {"skill_id_unique"},
    "stored_versions": {"skill_id_unique"},
    "neighbours": {"skill_id_unique"},
    "edges_of": {"skill_id_unique"},
    "add_edge": {"skill_id_unique"},
    "set_vectors": {"skill_id_unique"},
    "lock_namespace": {"namespace_name_unique"},
    "namespace_state": {"namespace_name_unique"},
    "deletions_since": {"namespace_name_unique"},
    "note_deletion": {"namespace_name_unique"},
    "clear_dedup_key": {"skill_id_unique"},
    "claim_sweep": {"namespace_name_unique"},
    "set_embedding": {"namespace_name_unique"},
    "write_skills": {"skill_id_unique", "shape_key_unique", "tag_key_unique", "domain_key_unique", "trace_key_unique"},
    "lock_migrations": {"brain_migration_version_unique"},
    "record_migration": {"brain_migration_version_unique"},
}
"""The index or constraint that each statement must use. Renaming one, or a property of one, fails here."""
SMALL_SCANS = {"migration_history", "record_migration", "count_skills", "summary", "top_skills"}
"""Statements that read a whole label on purpose: the history, and totals."""


@pytest.fixture(scope="module", params=["current", "oldest"])
def driver(request):
    server = request.getfixturevalue("neo4j_server" if request.param == "current" else "oldest_server")
    SyncBrain.open(location_of(server), namespace="statements").close()
    found = neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password))
    yield found
    found.close()


def explain(driver, text, parameters):
    return driver.execute_query(f"EXPLAIN {text}", parameters).summary


def operators(plan):
    yield plan
    for child in plan.get("children", ()):
        yield from operators(child)


def filled(statement):
    slots = dict.fromkeys(re.findall(r"\{\{(\w+)\}\}", statement.text), Relation.COMPLEMENTS.value)
    return statement.filled(**slots)


def parameters_of(statement):
    return {name: EXAMPLES[name] for name in statement.parameters}


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_statement_parses_without_any_notification(driver, name):
    statement = STATEMENTS[name]
    summary = explain(driver, filled(statement), parameters_of(statement))
    told = [status for status in summary.gql_status_objects if status.is_notification]
    already_there = "00NA0"  # IF NOT EXISTS of an object that exists
    assert [status.status_description for status in told if status.gql_status != already_there] == []


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_statement_uses_its_index_and_scans_nothing(driver, name):
    statement = STATEMENTS[name]
    if "CREATE CONSTRAINT" in statement.text:
        return
    plan = explain(driver, filled(statement), parameters_of(statement)).plan
    found = list(operators(plan))
    details = " ".join(str(operator["args"].get("Details", "")) for operator in found)
    schema = index_names(driver)
    used = {name for name, pattern in schema.items() if pattern in details.replace(" ", "")}
    assert INDEXES.get(name, set()) <= used, details
    if name not in SMALL_SCANS:
        scans = [o["operatorType"] for o in found if "Scan" in o["operatorType"] and "Index" not in o["operatorType"]]
        assert scans == [], details


def index_names(driver):
    """Name of each index -> how a plan writes what it covers: `Skill(namespace,id)`."""
    show = "SHOW INDEXES YIELD name, labelsOrTypes, properties WHERE size(labelsOrTypes) = 1"
    rows = driver.execute_query(show).records
    return {row["name"]: f"{row['labelsOrTypes'][0]}({','.join(row['properties'])})" for row in rows}


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_statement_can_be_pasted_into_browser(name):
    """The `try` line names every parameter, so that a person can paste both and run them."""
    statement = STATEMENTS[name]
    if statement.parameters:
        assert statement.try_line.startswith(":params {")
        named = set(re.findall(r"(?:\{|, )([a-z_]+):", statement.try_line))
        assert statement.parameters <= named


def test_every_schema_object_of_the_migrations_is_there_and_says_what_it_covers(driver):
    wanted = set()
    for file in migrations.load(data_folder("migrations") / "neo4j"):
        for text in file.statements:
            wanted |= set(re.findall(r"CREATE (?:CONSTRAINT|INDEX) (\w+)", text))
    online = driver.execute_query("SHOW INDEXES YIELD name, state WHERE state = 'ONLINE'").records
    assert wanted <= {row["name"] for row in online}


def test_no_statement_stands_in_python_code():
    package = Path(data_folder("cypher")).parent / "brain"
    pattern = re.compile(r"\b(?:MATCH|MERGE|UNWIND|DETACH DELETE) *[({]")
    found = [str(path) for path in package.rglob("*.py") if pattern.search(path.read_text("utf-8"))]
    assert found == []
