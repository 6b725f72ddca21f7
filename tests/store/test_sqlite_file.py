"""What does only SQLite do: files of an earlier schema, query plans, a full disk, reads inside a write?"""

import asyncio
import json
import re
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

import brain.store.sqlite
from brain.errors import StoreReplacedError, StoreUnavailableError
from brain.model.relations import Relation
from brain.store import migrations
from brain.store.statements import data_folder, load
from tests.store.samples import draft, edge, entries, operation, order, record, save, skill, stored, vector

STATEMENTS = load(Path(brain.store.sqlite.__file__).parent, "statements.sql")
"""Not those of `checks.sql`, which look at everything: that is what they are for."""
READS_ALL = {"fill_outbox", "empty_outbox", "outbox", "waiting", "top_skills", "trim_deletions"}
"""Statements that go through a namespace from its beginning, and are meant to: to its end, or as far as a limit."""


@pytest.fixture
def path(sqlite_place):
    return sqlite_place.location.removeprefix("sqlite:///")


@pytest.fixture
def earlier(path):
    """A file of the first schema with two skills, a tag, an edge, a trace and a deletion in it."""
    first = migrations.load(data_folder("migrations") / "sqlite")[0]
    shape = skill("a", "bread").features.shape
    with closing(sqlite3.connect(path)) as file, file:
        file.executescript(";".join(first.statements))
        file.execute("CREATE TABLE migration (version INTEGER PRIMARY KEY, name TEXT, checksum TEXT, applied_at TEXT)")
        file.execute("INSERT INTO migration VALUES (1, ?, ?, '2026')", (first.name, first.checksum))
        file.execute("INSERT INTO namespace VALUES ('default', 9, 3, NULL, NULL), ('empty', 1, 0, NULL, NULL)")
        file.execute(
            "INSERT INTO shape VALUES (?, ?, ?, ?, ?)",
            (
                shape.key,
                json.dumps(shape.task_structures),
                json.dumps(shape.cognitive_patterns),
                shape.input_shape,
                shape.output_shape,
            ),
        )
        history = [record(i > 0, text="\U0001f35e") for i in range(3)]
        for number, skill_id in enumerate(("a", "b")):
            made = skill(
                skill_id, "bread", transfer_history=history, confidence=0.75, usage_count=4, version=2 + number
            )
            values = [made.id, "procedural", 0.75, 4, 3, 2, json.dumps(made.to_dict()), 2 + number, shape.key]
            values += [made.fingerprint(), "profile", vector("bread"), "key of bread" if skill_id == "a" else None]
            file.execute(f"INSERT INTO skill VALUES ('default', {', '.join('?' * 13)}, NULL, ?)", (*values, number + 5))
            file.execute("INSERT INTO tag VALUES ('default', 'all', ?)", (skill_id,))
        file.execute("INSERT INTO edge VALUES ('default', 'a', 'COMPLEMENTS', 'b', '{\"n\": 1}')")
        file.execute(
            "INSERT INTO trace VALUES ('default', 'id run 1', 'a', 'run 1', '{}', 'kitchen', 'bread', 1, 0.5, 0)"
        )
        file.execute("INSERT INTO deletion VALUES ('default', 8, 'gone')")
    return history


def test_a_file_of_the_first_schema_is_upgraded_with_all_that_is_in_it(sqlite_place, earlier):
    store = sqlite_place.open()
    found = stored(store)
    assert sorted(found) == ["a", "b"]
    assert [t["text"] for t in found["a"]["transfer_history"]] == ["\U0001f35e"] * 3
    assert (found["b"]["version"], found["b"]["confidence"]) == (3, 0.75)
    entry = entries(store)["a"]
    assert (entry.terms, entry.vector, entry.shape) == (None, vector("bread"), skill("a", "bread").features.shape)
    assert store.profiles(["a"]) == {"a": "profile"}
    assert [tagged.id for page in store.pages("all") for tagged in page] == ["a", "b"]
    assert [(e.target, e.relation, e.metadata) for e in store.edges("a")] == [("b", Relation.COMPLEMENTS, {"n": 1})]
    assert list(store.changes(7).deleted) == ["gone"]
    assert store.changes(2).stale
    summary = store.summary(1)
    assert (store.count(), summary["total_skills"], summary["transferable_skills"], summary["total_transfers"]) == (
        2,
        2,
        2,
        6,
    )
    assert summary["avg_confidence"] == 0.75


def test_a_file_of_the_first_schema_goes_on_from_where_it_was(sqlite_place, earlier):
    store, other = sqlite_place.open(), sqlite_place.open("empty")
    assert store.changes(9).store_id and store.changes(9).store_id != other.changes(1).store_id
    found = store.learn([order("z", "bread"), order("y", trace_id="run 1")], operation=operation())
    assert [(f.outcome.value, f.skill.id) for f in found] == [("reinforced", "a"), ("already_seen", "a")]
    given = store.feedback("a", record(), ttl=True, operation=operation()).skill
    assert (given.transfer_count, len(given.transfer_history), given.version) == (4, 4, 4)
    assert store.delete("b", operation=operation())
    assert sqlite_place.raw.counts()["tag"] == 1


def test_two_that_open_an_earlier_file_at_once_upgrade_it_once(sqlite_place, earlier):
    gate, stores = threading.Barrier(4), []

    def start():
        gate.wait()
        stores.append(sqlite_place.open())

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sorted(stored(store)) for store in stores] == [["a", "b"]] * 4


def test_a_damaged_earlier_file_loses_only_what_is_damaged(sqlite_place, earlier, path, caplog):
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE skill SET document = '{broken', shape = 'no such shape' WHERE id = 'b'")
    store = sqlite_place.open()
    assert sorted(stored(store)) == ["a"]
    assert sorted(entries(store)) == ["a"]
    assert "'b'" in caplog.text


@pytest.fixture
def plans(sqlite_place, path):
    """Explains each statement on a store with a few skills in it."""
    save(sqlite_place.open(), *(f"s{i}" for i in range(20)))
    with closing(sqlite3.connect(path)) as file:
        yield lambda s: [
            row[3] for row in file.execute(f"EXPLAIN QUERY PLAN {s.text}", dict.fromkeys(s.parameters, 1)).fetchall()
        ]


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_no_statement_looks_at_every_row(plans, name):
    plan = plans(STATEMENTS[name])
    assert not any(re.match(r"SCAN (?!\w+ VIRTUAL TABLE|\(subquery)", line) for line in plan), plan
    if name not in READS_ALL:
        assert not any("(namespace=?)" in line for line in plan), plan


INDEXES = {
    "page_of_skills": r"sqlite_autoindex_skill_1 \(namespace=\? AND id>\?\)",
    "page_of_entries_with_vectors": r"sqlite_autoindex_skill_1 \(namespace=\? AND id>\?\)",
    "page_of_tagged_skills": r"PRIMARY KEY \(namespace=\? AND tag=\? AND skill_id>\?\)",
    "page_of_edges": r"PRIMARY KEY \(namespace=\? AND \(source,relation,target\)>\(\?,\?,\?\)\)",
    "changed_skills": r"skill_changed_range \(namespace=\? AND changed>\? AND changed<\?\)",
    "expired_between": r"skill_changed_range \(namespace=\? AND changed>\? AND changed<\?\)",
    "delete_tags": r"tag_skill_lookup \(namespace=\? AND skill_id=\?\)",
    "delete_traces": r"trace_skill_lookup \(namespace=\? AND skill_id=\?\)",
    "end_of_page": r"COVERING INDEX skill_changed_range \(namespace=\? AND changed>\?\)",
    "deletions_between": r"PRIMARY KEY \(namespace=\? AND version>\? AND version<\?\)",
    "top_skills": r"skill_most_used",
    "summary": r"skill_expires_at_range \(namespace=\? AND expires_at<\?\)",
    "any_expired": r"skill_expires_at_range \(namespace=\? AND expires_at<\?\)",
    "expired_numbers": r"skill_expires_at_range \(namespace=\? AND expires_at<\?\)",
    "skill_by_dedup_key": r"skill_dedup_key_unique",
    "release_dedup_key": r"skill_dedup_key_unique",
    "give_up_dedup_keys": r"skill_dedup_key_unique",
    "held_dedup_keys": r"skill_dedup_key_unique",
    "neighbours": r"edge_target_lookup \(namespace=\? AND target=\?\)",
    "edges_of": r"edge_target_lookup \(namespace=\? AND target=\?\)",
    "traces_of": r"trace_skill_lookup \(namespace=\? AND skill_id=\?\)",
    "clear_tags": r"tag_skill_lookup \(namespace=\? AND skill_id=\?\)",
    "outbox": r"outbox_number_range \(namespace=\?\)",
    "delivered": r"outbox_number_range \(namespace=\? AND number<\?\)",
    "waiting": r"outbox_noted_at_range \(namespace=\?\)",
    "skills_by_id": r"sqlite_autoindex_skill_1 \(namespace=\? AND id=\?\)",
}


@pytest.mark.parametrize("name", sorted(INDEXES))
def test_a_statement_uses_its_index_and_sorts_nothing_large(plans, name):
    plan = plans(STATEMENTS[name])
    assert any(re.search(INDEXES[name], line) for line in plan), plan
    if name in (
        "page_of_skills",
        "page_of_entries_with_vectors",
        "top_skills",
        "changed_skills",
        "expired_numbers",
        "outbox",
    ):
        assert not any("TEMP B-TREE" in line for line in plan), plan


def test_triggers_look_at_no_more_than_their_own_rows(sqlite_place, path):
    sqlite_place.open()
    with closing(sqlite3.connect(path)) as file:
        triggers = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        assert len(triggers) == 8
        for name, text in triggers:
            body = re.sub(r"\b(?:NEW|OLD)\.\w+", "1", text[text.index("BEGIN") + 5 : text.rindex("END")])
            for statement in filter(str.strip, body.split(";")):
                plan = [row[3] for row in file.execute(f"EXPLAIN QUERY PLAN {statement}")]
                assert not any(line.startswith("SCAN") for line in plan), (name, plan)


def test_a_full_disk_fails_the_write_whole_and_the_store_goes_on(sqlite_place):
    store = sqlite_place.open()
    save(store, "a")
    before, version = stored(store), store.changes(0).version
    with store._connection.transaction("write"):
        ((pages,),) = store._connection.raw("PRAGMA page_count")
        store._connection.raw(f"PRAGMA max_page_count = {pages + 20}")
    with pytest.raises(StoreUnavailableError, match="Free some disk space"):
        store.save_many([draft(f"s{i}", description="x" * 5_000) for i in range(500)], operation=operation())
    assert stored(store) == before
    assert store.changes(0).version == version
    with store._connection.transaction("write"):
        store._connection.raw("PRAGMA max_page_count = 1000000")
    save(store, "b")
    assert sorted(stored(store)) == ["a", "b"]


def test_a_read_inside_a_write_sees_what_is_committed(sqlite_place):
    store = sqlite_place.open()
    save(store, "before")
    seen = []

    def look(changes, profiles):
        seen.append(sorted(stored(store)))

    store.learn([order("a"), order("b", find_twin=look)], operation=operation())
    assert seen == [["before"]]
    assert sorted(stored(store)) == ["a", "b", "before"]


def test_a_read_inside_a_write_works_in_memory_too(sqlite_place, clock):
    sqlite_place.location = "sqlite://:memory:"
    store = sqlite_place.open()
    store.learn([order("a"), order("b", find_twin=lambda c, p: stored(store) and None)], operation=operation())
    assert sorted(stored(store)) == ["a", "b"]


def test_one_store_serves_threads_and_event_loops_at_once(sqlite_place):
    store = sqlite_place.open()
    save(store, "s")

    async def in_a_loop(i):
        given = [asyncio.to_thread(store.feedback, "s", record(), ttl=False, operation=operation()) for _ in range(5)]
        found = await asyncio.gather(*given, asyncio.to_thread(store.fetch, ["s"], 0))
        return len(found)

    results = []
    threads = [threading.Thread(target=lambda i=i: results.append(asyncio.run(in_a_loop(i)))) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [6] * 6
    assert store.get_many(["s"])[0].transfer_count == 30


def test_deletions_are_forgotten_the_oldest_first(sqlite_place, monkeypatch):
    monkeypatch.setattr("brain.store.sqlite.skills.DELETIONS_KEPT", 5)
    monkeypatch.setattr("brain.store.sqlite.skills.DELETIONS_SLACK", 3)
    store = sqlite_place.open()
    store.save_many([draft(f"s{i}") for i in range(20)], operation=operation())
    since = store.changes(0).version
    for i in range(9):
        store.delete(f"s{i}", operation=operation())
    assert store.changes(since).stale
    assert list(store.changes(since + 4).deleted) == ["s4", "s5", "s6", "s7", "s8"]
    assert sqlite_place.raw.run("SELECT deletions, complete_since FROM namespace") == [(5, since + 4)]


def test_a_file_that_took_the_place_of_ours_is_neither_read_nor_written(sqlite_place, tmp_path):
    store = sqlite_place.open()
    store.save(draft("a"), expected_version=None, operation=operation())
    file = tmp_path / "brain.db"
    for path in tmp_path.glob("brain.db*"):
        path.rename(tmp_path / f"old-{path.name}")
    assert [skill.id for skill in store.get_many(["a"])] == ["a"], "a removed one may be put back"
    with pytest.raises(StoreUnavailableError, match="removed") as caught:
        store.save(draft("b"), expected_version=None, operation=operation())
    assert not isinstance(caught.value, StoreReplacedError)
    sqlite_place.open().save(draft("c"), expected_version=None, operation=operation())
    assert file.exists()
    for call in (
        lambda: store.get_many(["a"]),
        lambda: store.save(draft("b"), expected_version=None, operation=operation()),
    ):
        with pytest.raises(StoreReplacedError, match="replaced by another file"):
            call()


def test_nothing_is_left_behind_by_what_was_removed(sqlite_place, clock):
    store = sqlite_place.open()
    store.learn([order("a"), order("b", used=["a"], expires_at="2026-01-01T13:00:00+00:00")], operation=operation())
    store.add_edge(edge("b", "a"), operation=operation())
    store.feedback("a", record(), ttl=True, operation=operation())
    clock.advance(hours=2)
    assert store.sweep(10, operation=operation()) == 1
    assert store.delete("a", operation=operation())
    assert not any(sqlite_place.raw.counts().values())
    assert sqlite_place.raw.left_behind() == {}
