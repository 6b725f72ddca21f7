"""Does the doctor find nothing in a sound store, each damage in a damaged one, and mend what can be mended?"""

import json
import sqlite3
from contextlib import closing
from datetime import timedelta

import numpy as np
import pytest
from typer.testing import CliRunner

from brain.cli.app import app
from tests.contract.raw import raw
from tests.contract.samples import audit, bread, execution, skill

NEO4J = pytest.param("neo4j", marks=pytest.mark.neo4j)
REDIS = pytest.param("redis", marks=pytest.mark.redis)
OF_A = "number = (SELECT number FROM skill WHERE id = 'a')"
A = "MATCH (s:Skill {namespace: $namespace, id: 'a'})"


class Toy:
    """An embedder whose vectors tell the length of a text."""

    def encode(self, texts):
        return np.array([[1.0, len(text), 0.5, 2.0] for text in texts], np.float32)


@pytest.fixture
def full(place, clock):
    """A brain that has been through everything: its place, and `a` with tags, edges, transfers and traces."""
    brain = place.open(clock=clock)
    brain.observe(**bread())
    brain.observe(**bread())
    brain.observe(**execution("polish brass", "take a cloth", "rub it", "admire it"), skill_id="a")
    brain.observe(**execution("polish brass", "take a cloth", "rub it", "admire it", quality=0.3))
    used = brain.observe(**audit(), skill_id="used", derived_from=["a"])
    for i in range(3):
        brain.feedback("a", {"domain": f"d{i}", "task": "t"}, i > 0)
    brain.skill_graph.save_skill(skill("b", "mend nets"))
    brain.skill_graph.save_skill(skill("c", "mend nets"))
    brain.feedback("b", {}, True)
    brain.skill_graph.add_edge("a", "COMPLEMENTS", "b", {"why": "both"})
    brain.skill_graph.add_edge("b", "SPECIALIZES", "c")
    brain.skill_graph.save_skill(skill("gone"))
    brain.skill_graph.delete_skill("gone")
    assert used.outcome == "created"
    brain.recall({"task": "polish brass"})
    brain.skill_graph.save_skill(skill("late", expires_at=clock.now - timedelta(hours=1)))
    return brain


def checks_of(found):
    return {fault.check for fault in found}


def test_a_sound_store_has_nothing_wrong(full):
    found = full.examine()
    assert (list(found.faults), list(found.notes), found.left) == ([], [], 0)


def test_a_store_that_holds_nothing_has_nothing_wrong(brain):
    found = brain.examine()
    assert (list(found.faults), list(found.notes), found.skills) == ([], [], 0)


def test_a_store_with_vectors_and_a_mirror_has_nothing_wrong(place, clock):
    brain = place.open(clock=clock, embedder=Toy())
    if place.kind != "redis":
        brain._store.set_mirror("redis://elsewhere", operation="mirror")
    brain.observe(**bread(), skill_id="a")
    brain.skill_graph.save_skill(skill("b", "mend nets"))
    brain.skill_graph.add_edge("a", "COMPLEMENTS", "b")
    brain.skill_graph.delete_skill("b")
    assert list(brain.examine().faults) == []
    assert list(place.open(clock=clock).examine().faults) == []


def test_a_repair_of_a_sound_store_changes_nothing_but_what_has_expired(full):
    before = [found.to_dict() for found in full.get_skills()]
    assert list(full.examine(repair=True).faults) == []
    assert [found.to_dict() for found in full.get_skills()] == before
    assert list(full.examine().faults) == []


SQLITE_DAMAGES = {
    "expiry": "UPDATE skill SET expires_at = 'tomorrow' WHERE id = 'a'",
    "recall": f"DELETE FROM recall WHERE {OF_A}",
    "transfers": f"DELETE FROM transfer WHERE {OF_A} AND place = 2",
    "changed": "UPDATE skill SET changed = 9000 WHERE id = 'a'",
    "edges": "INSERT INTO edge SELECT namespace, 'a', 'COMPLEMENTS', 'a', '{}' FROM skill WHERE id = 'a'",
    "orphan_edges": "INSERT INTO edge SELECT namespace, 'a', 'COMPLEMENTS', 'nobody', '{}' FROM skill WHERE id = 'a'",
    "orphan_names": "INSERT INTO tag SELECT namespace, 'lost', 'nobody' FROM skill WHERE id = 'a'",
    "orphan_rows": "INSERT INTO recall VALUES (900, NULL, NULL), (901, NULL, NULL)",
    "outbox": "INSERT INTO outbox SELECT namespace, 'a', 3, 4 FROM skill WHERE id = 'a'",
    "deletions": "INSERT INTO deletion SELECT namespace, changed, 'nobody' FROM skill WHERE id = 'a'",
    "counters": "UPDATE namespace SET stored = 40, confidence = 7, deletions = 3",
    "tags": "DELETE FROM tag WHERE skill_id = 'a'",
    "edge_texts": "UPDATE edge SET metadata = '{broken' WHERE source = 'a'",
    "schema": "DROP INDEX skill_most_used",
    "entry": "UPDATE skill SET fingerprint = 'other', skill_type = 'odd' WHERE id = 'c'",
}
"""What each damage must be told as. A trigger that is missing is tried on its own."""

NEO4J_DAMAGES = {
    "expiry": f"{A} SET s.expires_at = 'tomorrow'",
    "parts": f"{A} MATCH (s)-[r:REQUIRES|ENSURES]->(x) DETACH DELETE x",
    "steps": f"{A} MATCH (s)-[r:HAS_STEP]->(p) SET r.order = r.order * 2",
    "steps (chain)": f"{A} MATCH (s)-[:HAS_STEP]->(:Step)-[n:NEXT]->() DELETE n",
    "conditions": "MATCH (s:Skill {namespace: $namespace, id: 'b'})-[:REQUIRES]->(c) SET c.order = 5",
    "tags": f"{A} MATCH (s)-[r:TAGGED {{order: 0}}]->(t) CREATE (s)-[:TAGGED {{order: 9}}]->(t)",
    "domain": f"{A} MATCH (s)-[r:LEARNED_IN]->() DELETE r",
    "shape": f"{A} MATCH (s)-[r:HAS_SHAPE]->() DELETE r",
    "shape (key)": f"{A} SET s.shape = 'other'",
    "transfers": f"{A} MATCH (s)-[:APPLIED]->(t {{number: 2}}) DETACH DELETE t",
    "changed": f"{A} SET s.changed = 9000",
    "counted": f"{A} SET s.counted = [1, 2, 3]",
    "edges": f"{A} MATCH (s)-[:COMPLEMENTS]->(o) CREATE (s)-[:COMPLEMENTS]->(o) CREATE (s)-[:DERIVES_FROM]->(s)",
    "orphan_parts": "UNWIND range(0, 3) AS i CREATE (:Step {id: $namespace + '/a/step/9' + i}),"
    " (:Transfer {id: $namespace + '/x/' + i}), (:Condition {id: $namespace + '/x/requires/' + i})",
    "orphan_keys": "CREATE (:Tag {namespace: $namespace, key: 'k'}), (:Domain {namespace: $namespace, key: 'k'}),"
    " (:Shape {namespace: $namespace, key: 'k'}), (:Trace {namespace: $namespace, key: 'l'})",
    "outbox": "CREATE (:Outbox {namespace: $namespace, skill_id: 'a', number: 3, noted_at: datetime()})",
    "deletions": f"{A} CREATE (:Deletion {{namespace: $namespace, version: s.changed, id: 'nobody'}})",
    "counters": "MATCH (n:Namespace {name: $namespace}) SET n.stored = 40, n.confidence_units = 7 REMOVE n.noted",
    "newest": "MATCH (n:Namespace {name: $namespace}) SET n.newest = [n.newest[0], n.newest[1] + 1]",
    "copies": f"{A} SET s.task = 'another'",
    "edge_texts": f"{A} MATCH (s)-[r:COMPLEMENTS]->() SET r.metadata = '{{broken'",
    "body": f"{A} MATCH (s)-[:HAS_STEP]->(p {{order: 0}}) SET p.action = 'take a brush'",
    "body (name)": f"{A} SET s.name = 'Another'",
    "body (damaged)": f"{A} SET s.body = '{{broken'",
    "transfers (count)": f"{A} SET s.applied = 1",
    "counted (uses)": f"{A} SET s.usage_count = 70",
    "entry": "MATCH (s:Skill {namespace: $namespace, id: 'c'}) SET s.fingerprint = 'other'",
}

REDIS_DAMAGES = {
    "notes": lambda client, keys: client.hset(keys.notes, "a", client.hget(keys.notes, "a")[:40] + b"[broken"),
    "edges": lambda client, keys: client.srem(keys.edges("a"), *client.smembers(keys.edges("a"))),
    "edges (unreadable)": lambda client, keys: client.sadd(keys.edges("a"), "{broken"),
    "edges (to nobody)": lambda client, keys: client.sadd(
        keys.edges("a"), json.dumps({"target": "nobody", "relation": "COMPLEMENTS", "metadata": {}})
    ),
    "companion": lambda client, keys: client.zrem(keys.used, "a"),
    "companion (expiry)": lambda client, keys: client.zadd(keys.expiry, {"a": 5_000_000_000_000_000}),
    "companion (feed)": lambda client, keys: client.zrem(keys.changed, "a"),
    "companion (dedup)": lambda client, keys: client.hset(keys.dedup, "key", "nobody"),
    "companion (analysis)": lambda client, keys: client.hset(keys.terms, "nobody", b"x"),
    "totals": lambda client, keys: client.hset(keys.totals, "skills", 40),
}

DAMAGES = [pytest.param("redis", name, id=f"redis: {name}", marks=pytest.mark.redis) for name in REDIS_DAMAGES]
DAMAGES += [pytest.param("sqlite", name, id=f"sqlite: {name}") for name in SQLITE_DAMAGES]
DAMAGES += [pytest.param("neo4j", name, id=f"neo4j: {name}", marks=pytest.mark.neo4j) for name in NEO4J_DAMAGES]


def damage(place, name):
    if place.kind == "redis":
        with raw(place)._client as client:
            REDIS_DAMAGES[name](client, raw(place).keys)
    else:
        raw(place).run((SQLITE_DAMAGES if place.kind == "sqlite" else NEO4J_DAMAGES)[name])


@pytest.mark.parametrize(("place", "name"), DAMAGES, indirect=["place"])
def test_each_damage_is_found_and_mended(full, place, name):
    skills = {found.id for found in full.get_skills()}
    damage(place, name)
    check = name.partition(" ")[0]
    found = full.examine()
    assert check in checks_of(found.faults)
    assert found.left == len(found.faults) > 0
    mended = full.examine(repair=True)
    healed = check not in checks_of(mended.faults)  # looking at it wrote the analysis back
    assert healed or check in {fault.check for fault in mended.faults if fault.mended}
    assert [fault for fault in mended.faults if not fault.mended] == []
    assert list(full.examine().faults) == []
    assert {found.id for found in full.get_skills()} == skills


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_missing_trigger_is_made_anew_and_what_it_did_not_count_is_counted(full, place):
    raw(place).run("DROP TRIGGER skill_changed")
    full.feedback("a", {}, True)
    found = full.examine(repair=True)
    assert next((fault.check, fault.subject) for fault in found.faults) == ("schema", "skill_changed")
    assert found.left == 0
    full.feedback("a", {}, True)
    assert list(full.examine().faults) == []


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_an_index_that_does_not_fit_its_table_is_made_anew(full, place):
    path = place.location.removeprefix("sqlite:///")
    other = "CREATE INDEX skill_changed_range ON skill (namespace, version)"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'skill_changed_range'", [other])
    reopened = place.open(clock=full._store.clock)
    assert "file" in checks_of(reopened.examine().faults)
    assert reopened.examine(repair=True).left == 0


@pytest.mark.parametrize("place", ["sqlite", NEO4J, REDIS], indirect=True)
def test_what_cannot_be_read_is_told_and_left_as_it_is(full, place):
    raw(place).damage_text("a")
    found = full.examine(repair=True)
    assert {(fault.check, fault.subject) for fault in found.faults if not fault.mended} >= {("unreadable", "a")}
    assert full._store.count() == 5


@pytest.mark.parametrize("place", ["sqlite", NEO4J], indirect=True)
def test_an_expired_skill_that_cannot_be_read_is_told_too(full, place):
    raw(place).damage_text("late")
    assert ("unreadable", "late") in {(fault.check, fault.subject) for fault in full.examine().faults}


@pytest.mark.parametrize("place", ["sqlite", NEO4J], indirect=True)
@pytest.mark.parametrize("vector", [b"odd", np.ones(3, np.float32).tobytes()], ids=["damaged", "other dimension"])
def test_a_vector_that_does_not_fit_its_stamp_is_told(place, clock, vector):
    brain = place.open(clock=clock, embedder=Toy())
    brain.observe(**bread(), skill_id="a")
    raw(place).damage_vector("a", vector)
    (fault,) = brain.examine(repair=True).faults
    assert (fault.check, fault.subject, fault.mended) == ("vector", "a", False)
    assert "brain reembed" in fault.repair
    brain.reembed()
    assert list(place.open(clock=clock, embedder=Toy()).examine().faults) == []


@pytest.mark.parametrize("place", ["sqlite", NEO4J], indirect=True)
def test_an_old_analysis_is_a_note_and_made_anew(full, place):
    raw(place).forget_profile("c")
    found = full.examine()
    assert (list(found.faults), [(note.check, note.subject) for note in found.notes]) == ([], [("analysis", "c")])
    raw(place).forget_profile("c")
    assert [note.mended for note in full.examine(repair=True).notes] == [True]
    assert list(full.examine().notes) == []


def test_a_view_that_missed_a_change_is_told(full):
    full.recall({"task": "polish brass"})
    full._memory.index.drop(["a"], as_of=full._memory.index.version)
    full._memory.index._table.column("confidence")[full._memory.index._table.row("b")] = 0.01
    told = {(fault.check, fault.subject, fault.detail) for fault in full.examine().faults}
    assert {("view", "a", "missing"), ("view", "b", "confidence")} <= told


def test_a_skill_that_expired_earlier_than_it_once_said_is_no_fault(place, clock):
    reader, writer = place.open(clock=clock), place.open(clock=clock)
    writer.skill_graph.save_skill(skill("lasting", "polish brass"))
    writer.skill_graph.save_skill(skill("a", "polish brass", expires_at=clock.now + timedelta(hours=2)))
    reader.recall({"task": "polish brass"})
    writer.skill_graph.save_skill(skill("a", "polish brass", expires_at=clock.now + timedelta(minutes=1)))
    clock.advance(minutes=5)
    writer.cleanup_expired_skills()
    assert list(reader.examine().faults) == []


def cli(place, *arguments):
    return CliRunner().invoke(app, ["doctor", "--store", place.location, "--namespace", place.namespace, *arguments])


@pytest.mark.parametrize("place", ["sqlite", NEO4J], indirect=True)
def test_the_command_tells_ids_and_repair_and_ends_with_1_until_it_is_mended(place):
    brain = place.open()
    brain.observe(**bread(), skill_id="a")
    sound = cli(place)
    assert (sound.exit_code, sound.stdout) == (0, "Nothing is wrong: 1 skill looked at.\n")
    damage(place, "changed")
    told = cli(place)
    assert told.exit_code == 1
    assert "changed at 9000" in told.stdout
    assert "every reader begins anew" in told.stdout
    data = json.loads(cli(place, "--json").stdout)
    assert data["left"] == sum(len(fault["found"]) for fault in data["faults"])
    assert (data["faults"][0]["check"], data["faults"][0]["found"][0]["id"]) == ("changed", "a")
    mended = cli(place, "--repair")
    assert (mended.exit_code, "mended" in mended.stdout) == (0, True)
    assert cli(place).exit_code == 0
