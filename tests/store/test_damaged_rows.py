"""Does a row that was damaged by hand leave the others of its page as they were, and is it named?"""

import logging

import numpy as np
import pytest

from tests.store.samples import entries, save, stored, vector


def named(caplog):
    """Whether a warning names what was damaged."""
    return any(r.levelno == logging.WARNING and "bad" in r.getMessage() for r in caplog.records)


@pytest.fixture
def damaged(store_place, store, request, caplog):
    """A page of entries with "bad" in the middle of it, damaged; its shape is its own."""
    save(store, "a", "c")
    save(store, "bad", source_context={"task_structures": ["unlike the others"]})
    getattr(store_place.raw, request.param)("bad")
    caplog.clear()
    return store


@pytest.mark.parametrize("damaged", ["damage_number", "damage_shape"], indirect=True)
@pytest.mark.parametrize("size", [1, 2, 10])
def test_what_recall_cannot_read_is_left_out_and_named(damaged, size, caplog):
    assert list(entries(damaged, size)) == ["a", "c"]
    assert named(caplog)


def test_the_feed_leaves_it_out_and_goes_on(store_place, store, caplog):
    save(store, "a")
    since = store.changes(0).version
    save(store, "b", "bad", "c")
    store_place.raw.damage_number("bad")
    changes = store.changes(since)
    assert [entry.id for entry in changes.entries] == ["b", "c"]
    assert not store.changes(changes.version)
    assert named(caplog)


@pytest.mark.parametrize("damaged", ["damage_text", "damage_field"], indirect=True)
def test_a_skill_that_cannot_be_read_is_left_out_and_named(damaged, caplog):
    assert sorted(stored(damaged)) == ["a", "c"]
    assert named(caplog)
    assert [kept.skill.id for page in damaged.export() for kept in page] == ["a", "c"]
    assert damaged.count() == 3


@pytest.mark.parametrize(
    "data",
    [b"", b"abc", b"\xff" * 32, np.array([1.0, np.nan], np.float32).tobytes()],
    ids=["empty", "odd", "no numbers", "one no number"],
)
def test_a_damaged_vector_costs_only_the_vector(store_place, store, data, caplog):
    save(store, "a", "bad", "c")
    store_place.raw.damage_vector("bad", data)
    found = entries(store, 10)
    assert {skill_id: entry.vector for skill_id, entry in found.items()} == {
        "a": vector("a"),
        "bad": None,
        "c": vector("c"),
    }
    assert found["bad"].terms == b"terms of bad"
    assert named(caplog)
