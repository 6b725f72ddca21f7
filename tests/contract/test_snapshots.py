"""Does a new process begin where the last one ended, and never with what is no longer so?"""

import os
import shutil
import time
from pathlib import Path

import pytest

from brain import SyncBrain
from brain.engine import snapshot
from tests.bench.skills import WordEmbedder
from tests.contract.raw import raw
from tests.contract.samples import execution, skill


@pytest.fixture
def kept(place, clock, tmp_path, monkeypatch):
    """Opens the place with a cache folder of its own, in which a snapshot is kept from ten skills on."""
    monkeypatch.setenv("BRAIN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(snapshot, "LEAST_ROWS", 10)
    monkeypatch.setattr(snapshot, "LEAST_CHANGES", 10)

    def open_again(**options):
        return place.open(clock=clock, cache=True, **options)

    return open_again


def fill(brain, count=30):
    brain.skill_graph.save_skills([skill(f"s{i}", f"weigh the parcel number{i}", domain="post") for i in range(count)])


def empty(place):
    """Takes the whole store away, as a person does."""
    if place.kind != "sqlite":
        raw(place).clear()
        return
    file = Path(place.location.removeprefix("sqlite:///"))
    for path in file.parent.glob(f"{file.name}*"):
        path.unlink()


def reads(brain, monkeypatch):
    """How often everything is read from now on."""
    seen, entries = [], brain._store.entries
    monkeypatch.setattr(brain._store, "entries", lambda *a, **o: seen.append(1) or entries(*a, **o))
    return seen


def found(brain, task="weigh the parcel number7", **options):
    return [candidate.skill.id for candidate in brain.recall({"task": task}, **options)]


def test_the_next_process_reads_the_snapshot_and_what_came_since(kept, monkeypatch):
    with kept() as brain:
        fill(brain)
        assert found(brain)[0] == "s7"
    with kept() as brain:
        seen = reads(brain, monkeypatch)
        assert found(brain)[0] == "s7"
        assert not seen
    with kept() as other:
        other.skill_graph.delete_skill("s7")
        other.skill_graph.save_skill(skill("new", "polish the brass of the bell", domain="post"))
    with kept() as brain:
        seen = reads(brain, monkeypatch)
        assert "s7" not in found(brain)
        assert found(brain, "polish the brass of the bell")[0] == "new"
        assert not seen


def test_a_store_that_was_emptied_or_replaced_is_read_anew(kept, place, monkeypatch):
    with kept() as brain:
        fill(brain)
        assert found(brain)
        for i in range(30):
            brain.skill_graph.delete_skill(f"s{i}")
    with kept() as brain:
        assert found(brain) == []
    empty(place)
    with kept() as brain:
        assert found(brain) == []
        brain.skill_graph.save_skill(skill("other", "weigh the parcel number7"))
        assert found(brain) == ["other"]


def test_without_a_cache_nothing_is_kept_or_read(kept, place, clock, tmp_path, monkeypatch):
    with place.open(clock=clock, cache=False) as brain:
        fill(brain)
        assert found(brain)
    assert not (tmp_path / "cache").exists()
    with kept() as brain:
        assert found(brain)
    assert (tmp_path / "cache").exists()
    with place.open(clock=clock, cache=False) as brain:
        seen = reads(brain, monkeypatch)
        assert found(brain)
        assert seen


def test_a_damaged_snapshot_is_made_anew(kept, tmp_path, monkeypatch):
    with kept() as brain:
        fill(brain)
        assert found(brain)
    (file,) = (tmp_path / "cache" / "index").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    with kept() as brain:
        seen = reads(brain, monkeypatch)
        assert found(brain)[0] == "s7"
        assert seen
    assert len(file.read_bytes()) == len(whole)


def test_a_folder_that_cannot_be_written_costs_nothing_but_a_warning(kept, tmp_path, caplog):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with kept() as brain:
        fill(brain)
        assert found(brain)[0] == "s7"
    assert "could not be kept" in caplog.text


def test_a_snapshot_with_vectors_is_one_of_its_own(kept, monkeypatch):
    with kept(embedder=WordEmbedder()) as brain:
        fill(brain)
        best = found(brain)
    with kept() as brain:
        assert found(brain)
    with kept(embedder=WordEmbedder()) as brain:
        seen = reads(brain, monkeypatch)
        assert found(brain) == best
        assert not seen


def test_expiry_and_feedback_after_the_snapshot_count(kept, clock, monkeypatch):
    with kept() as brain:
        fill(brain)
        receipt = brain.observe(**execution("weigh the parcel number99 again", "lift it", "read the scale"))
        assert found(brain)
    with kept() as brain:
        for _ in range(3):
            brain.feedback("s7", {"task": "weigh"}, True)
    with kept() as brain:
        seen = reads(brain, monkeypatch)
        (first, *_) = brain.recall({"task": "weigh the parcel number7"})
        assert (first.skill.id, first.transfer_score) == ("s7", 1.0)
        clock.advance(days=400)
        assert receipt.skill.id not in found(brain, "weigh the parcel number99 again")
        assert not seen


def test_a_copy_of_the_store_that_is_put_back_is_read_anew(file_place, clock, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAIN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(snapshot, "LEAST_ROWS", 10)
    monkeypatch.setattr(snapshot, "LEAST_CHANGES", 10)
    file, copy = Path(file_place.location.removeprefix("sqlite:///")), tmp_path / "copy"

    def teach(brain, name):
        brain.observe(**execution(f"tune the {name}", f"loosen the {name}", f"listen to the {name}"))

    with file_place.open(clock=clock, cache=True) as brain:
        fill(brain)
    shutil.copy(file, copy)
    with file_place.open(clock=clock, cache=True) as brain:
        teach(brain, "harp")
        assert found(brain, "tune the harp")
    for path in file.parent.glob(f"{file.name}*"):
        path.unlink()
    shutil.copy(copy, file)
    with file_place.open(clock=clock, cache=False) as brain:
        for name in ("violin", "piano", "flute", "drum"):
            teach(brain, name)
    with file_place.open(clock=clock, cache=True) as brain:
        for name in ("violin", "piano", "flute", "drum"):
            (best, *_) = brain.recall({"task": f"tune the {name}"})
            assert name in best.skill.task


def test_what_a_killed_process_left_aside_goes_and_what_is_being_written_stays(kept, tmp_path):
    folder = tmp_path / "cache" / "index"
    folder.mkdir(parents=True)
    for name in ("left.0a1b", "fresh.2c3d", "other.brain"):
        (folder / name).write_text("x")
    long_ago = time.time() - 2 * snapshot.ABANDONED_SECONDS
    for name in ("left.0a1b", "other.brain"):
        os.utime(folder / name, (long_ago, long_ago))
    with kept() as brain:
        fill(brain)
        assert found(brain)
    names = {path.name for path in folder.iterdir()}
    assert {"fresh.2c3d", "other.brain"} < names
    assert "left.0a1b" not in names
    assert len(names) == 3


def test_equal_relative_locations_in_two_folders_are_two_places(clock, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAIN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(snapshot, "LEAST_ROWS", 10)
    monkeypatch.setattr(snapshot, "LEAST_CHANGES", 10)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        with SyncBrain.open("sqlite:///brain.db", clock=clock) as brain:
            fill(brain)
            assert found(brain)
    assert len(list((tmp_path / "cache" / "index").iterdir())) == 2
    with SyncBrain.open(f"sqlite:///{tmp_path / 'two' / 'brain.db'}", clock=clock) as brain:
        seen = reads(brain, monkeypatch)
        assert found(brain)
        assert not seen
