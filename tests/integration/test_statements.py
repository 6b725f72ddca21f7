"""Does every statement parse on this server, use the index that it should, and raise no notification?"""

import re
from datetime import UTC, datetime
from pathlib import Path

import neo4j
import pytest

from brain.model.relations import Relation
from brain.store import migrations
from brain.store.location import open_store
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
    "dimension": 3,
    "domain": "d",
    "domains": [],
    "mark": "m",
    "feedback_id": "f",
    "gain": 0.05,
    "history": 100,
    "id": "x",
    "ids": ["x"],
    "kept": 100,
    "key": "k",
    "keys": ["k"],
    "known_by": "feedback_id",
    "loss": 0.1,
    "name": "n",
    "namespace": "n",
    "now": NOW,
    "number": 1,
    "operation": 1,
    "orders": [],
    "page": 10,
    "renew": True,
    "replaces": None,
    "rows": [],
    "since": 1,
    "size": 10,
    "slot": "operations_1",
    "source": "x",
    "stamp": "s",
    "step": 1,
    "success": True,
    "tag": "t",
    "target": "x",
    "trace": {"key": "t"},
    "transfer": {},
    "until": NOW,
    "vectors": True,
    "version": 1,
}
INDEXES = {
    "bodies": {"skill_id_unique"},
    "claim_sweep": {"namespace_name_unique"},
    "clear_dedup_key": {"skill_id_unique"},
    "clear_skills": {"skill_id_unique"},
    "clear_traces": {"skill_id_unique"},
    "conflicting_skills_in_use": {"skill_id_unique"},
    "count_expiring": {"skill_expires_at_range"},
    "count_skills": {"namespace_name_unique"},
    "domains_that_share_a_shape": {"shape_key_unique"},
    "edges_of": {"skill_id_unique"},
    "embedding_stamp": {"namespace_name_unique"},
    "empty_outbox": {"outbox_number_range"},
    "expired_ids": {"skill_expires_at_range"},
    "feedback": {"namespace_name_unique", "skill_id_unique", "domain_key_unique", "transfer_id_unique"},
    "fetch": {"namespace_name_unique", "skill_changed_range", "deletion_version_range", "skill_id_unique"},
    "forget_operation": {"namespace_name_unique"},
    "holders": {"skill_dedup_key_unique"},
    "how_a_skill_works": {"skill_id_unique"},
    "ids_of_tagged_skills": {"tag_key_unique"},
    "kept_beside": {"skill_id_unique"},
    "latest_traces": {"skill_id_unique"},
    "learned_lately": {"skill_id_unique"},
    "lock_migrations": {"brain_migration_version_unique"},
    "lock_namespace": {"namespace_name_unique", "skill_id_unique"},
    "lock_to_learn": {"namespace_name_unique", "skill_id_unique", "skill_dedup_key_unique", "trace_key_unique"},
    "mirror": {"namespace_name_unique"},
    "most_reused_steps": {"skill_id_unique"},
    "namespaces": {"namespace_name_unique"},
    "neighbours": {"skill_id_unique"},
    "note_deletions": {"namespace_name_unique"},
    "trim_deletions": {"namespace_name_unique", "deletion_version_range"},
    "clear_outbox": {"namespace_name_unique", "outbox_number_range"},
    "note_mirror": {"namespace_name_unique"},
    "outbox": {"outbox_number_range"},
    "page_of_bodies": {"skill_id_unique"},
    "page_of_edges": {"skill_id_unique"},
    "page_of_entries": {"skill_id_unique"},
    "page_of_rows": {"skill_id_unique"},
    "page_of_skills": {"skill_id_unique"},
    "page_of_stored": {"skill_id_unique"},
    "profiles": {"skill_id_unique"},
    "put_edges": {"skill_id_unique"},
    "put_in_outbox": {"namespace_name_unique", "outbox_skill_id_unique"},
    "record_migration": {"brain_migration_version_unique"},
    "reinforce": {"namespace_name_unique", "skill_id_unique", "trace_key_unique"},
    "related": {"skill_id_unique"},
    "remove_edge": {"skill_id_unique"},
    "remove_skills": {"namespace_name_unique", "skill_id_unique"},
    "rows_by_id": {"skill_id_unique"},
    "schema_history": {"brain_migration_version_unique"},
    "shapes": {"shape_key_unique"},
    "set_embedding": {"namespace_name_unique"},
    "set_profiles": {"namespace_name_unique", "skill_id_unique"},
    "set_vectors": {"namespace_name_unique", "skill_id_unique"},
    "skills_nobody_uses": {"skill_id_unique"},
    "skills_that_fail_elsewhere": {"skill_id_unique"},
    "skills_that_travel": {"skill_id_unique"},
    "skills_with_a_tag": {"tag_key_unique"},
    "summary": {"namespace_name_unique", "skill_expires_at_range"},
    "top_skills": {"skill_usage_range"},
    "transfers_between_domains": {"skill_id_unique"},
    "waiting": {"outbox_number_range"},
    "what_a_domain_can_do": {"domain_key_unique"},
    "what_expires_and_would_be_missed": {"skill_expires_at_range"},
    "what_surrounds_a_skill": {"skill_id_unique"},
    "what_taught_a_skill": {"skill_id_unique"},
    "what_transferred_where": {"skill_id_unique"},
    "where_a_skill_comes_from": {"skill_id_unique"},
    "where_a_skill_was_applied": {"skill_id_unique"},
    "whole_skills": {"skill_id_unique"},
    "write_skills": {
        "namespace_name_unique",
        "skill_id_unique",
        "shape_key_unique",
        "tag_key_unique",
        "domain_key_unique",
        "trace_key_unique",
    },
}
"""The index or constraint that each statement must use. Renaming one, or a property of one, fails here."""
SORTED_BY_INDEX = {
    "page_of_skills",
    "page_of_rows",
    "page_of_entries",
    "page_of_stored",
    "expired_ids",
    "outbox",
    "trim_deletions",
}
"""Statements whose order an index gives: they read what they return and no more."""
SMALL_SCANS = {"migration_history", "record_migration"}
"""Statements that read a whole label on purpose: the history."""


@pytest.fixture(scope="module", params=["current", "oldest"])
def driver(request):
    server = request.getfixturevalue("neo4j_server" if request.param == "current" else "oldest_server")
    store = open_store(location_of(server), namespace="statements")
    store.migrate()
    store.close()
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
    return statement.filled(relation=Relation.COMPLEMENTS.value, relations="|".join(Relation), depth="4", dimension="3")


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


@pytest.mark.parametrize("name", sorted(SORTED_BY_INDEX))
def test_order_comes_from_the_index(driver, name):
    plan = explain(driver, filled(STATEMENTS[name]), parameters_of(STATEMENTS[name])).plan
    found = [operator["operatorType"].partition("@")[0] for operator in operators(plan)]
    assert not {"Sort", "Top", "PartialSort", "PartialTop"} & set(found)


def test_the_most_used_are_read_by_the_index_in_both_directions(driver):
    """The last sort is of the few rows that were found."""
    plan = explain(driver, filled(STATEMENTS["top_skills"]), parameters_of(STATEMENTS["top_skills"])).plan
    found = [operator["operatorType"].partition("@")[0] for operator in operators(plan)]
    assert (found.count("NodeIndexSeek"), found.count("Limit"), found.count("Top"), found.count("Sort")) == (2, 2, 1, 0)


@pytest.mark.parametrize("depth", ["2", "4", "10"])
def test_neighbourhood_is_walked_breadth_first_and_pruned(driver, depth):
    statement = STATEMENTS["related"]
    text = statement.filled(relations="|".join(Relation), depth=depth)
    found = [operator["operatorType"] for operator in operators(explain(driver, text, parameters_of(statement)).plan)]
    assert any(kind.startswith("VarLengthExpand(Pruning,BFS") for kind in found), found


def index_names(driver):
    """Name of each index -> how a plan writes what it covers: `Skill(namespace,id)`."""
    show = "SHOW INDEXES YIELD name, labelsOrTypes, properties WHERE size(labelsOrTypes) = 1"
    rows = driver.execute_query(show).records
    return {row["name"]: f"{row['labelsOrTypes'][0]}({','.join(row['properties'])})" for row in rows}


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_statement_can_be_pasted_into_browser(name):
    """The `try` line sets every parameter, so that a person can paste both and run them.

    `:param name => value` is evaluated by the server. `:params {…}` is not: it would set a time as text and a whole
    number as one with a fraction. Browser itself runs the lines in tests/interface/test_browser.py.
    """
    statement = STATEMENTS[name]
    commands = re.findall(r":param ([a-z_]+) => .+?;(?= :param|$)", statement.try_line)
    assert set(commands) == statement.parameters
    assert len(statement.try_line) == sum(map(len, re.findall(r":param [a-z_]+ => .+?;(?: |$)", statement.try_line)))


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
