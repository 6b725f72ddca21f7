"""Is a place that cannot be used told clearly, and a place that is fresh made ready?"""

import sqlite3
from contextlib import closing

import pytest

from brain import Brain, SyncBrain
from brain.errors import (
    AuthenticationError,
    LocationError,
    SchemaError,
    StoreError,
    StoreUnavailableError,
)
from tests.contract.raw import raw
from tests.contract.samples import bread, ids, plain, skill


@pytest.mark.parametrize("location", ["sqlite://:memory:", "sqlite:///:memory:"])
def test_both_spellings_of_memory_make_no_file(location, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SyncBrain.open(location) as brain:
        brain.skill_graph.save_skill(skill("a"))
        assert len(brain.get_skills()) == 1
    assert list(tmp_path.iterdir()) == []


def test_skills_are_there_at_the_next_opening(place, clock):
    with place.open(clock=clock) as brain:
        learned = brain.learn(**bread())
        brain.skill_graph.save_skill(skill("s"))
        brain.skill_graph.add_edge("s", "COMPLEMENTS", learned.id, {"n": 1})
        brain.feedback(learned.id, {}, True)
        before = plain(brain.get_skill(learned.id))
    with place.open(clock=clock) as again:
        assert plain(again.get_skill(learned.id)) == before
        assert [edge.target for edge in again.skill_graph.get_edges("s")] == [learned.id]


def test_opening_again_migrates_nothing(place):
    place.open()
    store = place.open()._memory.store
    assert store.migrate() == []
    assert {migration.state for migration in store.migrations()} == {"applied"}


@pytest.mark.parametrize(
    "location",
    [
        "",
        "brain.db",
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite://brain.db",
        "http://h",
        "neo4j",
        "://",
    ],
)
def test_what_is_no_location_is_refused_with_examples(location):
    with pytest.raises(LocationError, match="sqlite:///"):
        Brain.open(location or "x")


@pytest.mark.parametrize("location", [5, ["sqlite:///x"], b"sqlite:///x", object()])
def test_a_location_that_is_no_text_is_refused(location):
    with pytest.raises(LocationError):
        SyncBrain.open(location)


@pytest.mark.parametrize("scheme", ["neo4j", "bolt"])
def test_a_server_that_is_down_is_told_by_its_address_without_the_password(scheme):
    with pytest.raises(StoreUnavailableError) as caught:
        SyncBrain.open(f"{scheme}://neo4j:s3cret@127.0.0.1:1")
    assert "127.0.0.1:1" in str(caught.value)
    assert "s3cret" not in str(caught.value) + caught.value.location


@pytest.mark.neo4j
def test_a_wrong_password_is_told(neo4j_server):
    wrong = neo4j_server.location.replace(f":{neo4j_server.password}@", ":not-this-one@")
    with pytest.raises(AuthenticationError) as caught:
        SyncBrain.open(wrong)
    assert "not-this-one" not in str(caught.value)
    assert "password" in str(caught.value)


@pytest.mark.neo4j
def test_a_missing_database_is_told(neo4j_server):
    with pytest.raises(StoreError, match="nowhere"):
        SyncBrain.open(f"{neo4j_server.location}?database=nowhere")


# SQLite files


def change(place, text):
    with closing(sqlite3.connect(place.location.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute(text)


def test_a_newer_schema_is_told_and_left_alone(file_place):
    file_place.open().skill_graph.save_skill(skill("s"))
    change(file_place, "INSERT INTO migration VALUES (999, 'from_the_future', 'sum', '2030-01-01')")
    before = raw(file_place).counts()
    with pytest.raises(SchemaError, match=r"V999__from_the_future.*Upgrade"):
        file_place.open()
    assert raw(file_place).counts() == before


def test_a_migration_that_was_changed_is_told(file_place):
    file_place.open()
    change(file_place, "UPDATE migration SET checksum = 'other' WHERE version = 1")
    with pytest.raises(SchemaError, match=r"V001__.*changed"):
        file_place.open()


def test_a_file_that_is_no_database_is_told_and_left_alone(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_bytes(b"these are my notes, not a database " * 100)
    before = file.read_bytes()
    with pytest.raises(StoreError, match=r"notes\.txt"):
        SyncBrain.open(f"sqlite:///{file}")
    assert file.read_bytes() == before


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(StoreError):
        SyncBrain.open(f"sqlite:///{tmp_path}")


def test_a_folder_under_a_file_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LocationError):
        SyncBrain.open(f"sqlite:///{tmp_path}/file/brain.db")


@pytest.mark.parametrize(
    "name", ["brain.db", "with space.db", "ümlaut.db", "a%20b.db", "a#b.db", "deep/er/brain.db", "'q'.db"]
)
def test_the_file_is_named_as_the_location_says(tmp_path, name):
    with SyncBrain.open(f"sqlite:///{tmp_path}/{name}") as brain:
        brain.skill_graph.save_skill(skill("s"))
    assert (tmp_path / name).is_file()
    with SyncBrain.open(f"sqlite:///{tmp_path}/{name}") as brain:
        assert ids(brain.get_skills()) == ["s"]


def test_a_relative_path_is_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SyncBrain.open("sqlite:///here.db").close()
    assert (tmp_path / "here.db").is_file()


def test_memory_is_each_brains_own_and_gone_with_it():
    with SyncBrain.open("sqlite://:memory:") as one, SyncBrain.open("sqlite://:memory:") as two:
        one.skill_graph.save_skill(skill("s"))
        assert two.get_skills() == []


def test_the_default_location_is_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("BRAIN_STORE", f"sqlite:///{tmp_path}/named.db")
    with SyncBrain.open() as brain:
        assert brain.location.endswith("named.db")
