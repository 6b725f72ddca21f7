"""Does one record that cannot be read leave the others as they were, with a warning that names it?"""

import logging

import numpy as np
import pytest

from tests.contract.raw import raw
from tests.contract.samples import AUDIT, BREAD, audit, bread, ids, skill

DAMAGES = ("damage_text", "damage_field", "damage_number")


@pytest.fixture
def damaged(place, clock, request, caplog):
    """A fresh brain on a store that holds "good" and a damaged "bad", and an edge between them."""
    writer = place.open(clock=clock)
    writer.observe(**bread(), skill_id="bad")
    writer.observe(**audit(), skill_id="good")
    writer.skill_graph.save_skill(skill("linked"))
    writer.skill_graph.add_edge("good", "COMPLEMENTS", "bad")
    writer.skill_graph.add_edge("good", "COMPLEMENTS", "linked")
    getattr(raw(place), request.param)("bad")
    caplog.clear()
    return place.open(clock=clock)


def warned(caplog):
    return any(r.levelno == logging.WARNING and "bad" in r.getMessage() for r in caplog.records)


ALL = pytest.mark.parametrize("damaged", DAMAGES, indirect=True)
READING = pytest.mark.parametrize("damaged", ("damage_text", "damage_field"), indirect=True)


@READING
def test_lists_skip_it(damaged, caplog):
    assert ids(damaged.get_skills()) == ["good", "linked"]
    assert warned(caplog)


@READING
def test_get_gives_nothing(damaged, caplog):
    assert damaged.get_skill("bad") is None
    assert warned(caplog)


@READING
def test_a_tag_skips_it(damaged, caplog):
    assert damaged.skill_graph.find_by_tag("kitchen") == []
    assert ids(damaged.skill_graph.find_by_tag("security")) == ["good"]
    assert warned(caplog)


@ALL
def test_recall_skips_it(damaged, caplog):
    assert ids(c.skill for c in damaged.recall({"task": AUDIT, "domain": "security"})) == ["good"]
    assert damaged.recall({"task": BREAD, "domain": "kitchen"}) == []
    assert warned(caplog)


@ALL
def test_walking_skips_it(damaged):
    assert "linked" in ids(damaged.skill_graph.get_related_skills("good"))
    assert "linked" in [edge.target for edge in damaged.skill_graph.get_edges("good")]


@ALL
def test_the_summary_still_comes(damaged):
    summary = damaged.get_skill_summary()
    assert summary["total_skills"] in (2, 3)
    assert "good" in [top["id"] for top in summary["top_skills"]]


@ALL
def test_learning_others_goes_on(damaged):
    assert damaged.learn(**audit()).usage_count == 2
    assert damaged.observe(**bread(), skill_id="new").skill.id in ("new", "bad")


@ALL
def test_feedback_on_others_goes_on(damaged):
    assert damaged.feedback("good", {}, True).recorded


@ALL
def test_it_can_be_saved_anew(damaged):
    damaged.skill_graph.save_skill(skill("bad", BREAD))
    assert damaged.get_skill("bad").task == BREAD
    assert damaged.recall({"task": BREAD})[0].skill.id == "bad"


@ALL
def test_it_can_be_deleted(damaged):
    assert damaged.skill_graph.delete_skill("bad") is True
    assert ids(damaged.get_skills()) == ["good", "linked"]


@ALL
def test_it_is_swept_when_its_time_is_over(damaged, clock):
    clock.advance(days=365)
    assert damaged.cleanup_expired_skills() == {"deleted": 2, "checked": 3}


def test_a_damaged_shape_spoils_only_its_own_skills(place, clock, caplog):
    writer = place.open(clock=clock)
    writer.skill_graph.save_skill(
        skill("bad", BREAD).model_copy(
            update={"source_context": {"task_structures": ["x"], "metadata": {"task": BREAD}}}
        )
    )
    writer.observe(**audit(), skill_id="good")
    raw(place).damage_shape("bad")
    brain = place.open(clock=clock)
    assert ids(c.skill for c in brain.recall({"task": AUDIT, "domain": "security"})) == ["good"]
    assert warned(caplog)


@pytest.mark.parametrize(
    "vector", [b"", b"abc", b"\x00" * 4, b"\xff" * 32, np.array([np.nan] * 8, np.float32).tobytes()], ids=repr
)
def test_a_damaged_vector_spoils_nothing(place, clock, vector):
    class Letters:
        name = "letters"

        def encode(self, texts):
            return [[float(text.count(c)) + 0.01 for c in "abcdefgh"] for text in texts]

    writer = place.open(clock=clock, embedder=Letters())
    writer.observe(**bread(), skill_id="bad")
    writer.observe(**audit(), skill_id="good")
    raw(place).damage_vector("bad", vector)
    brain = place.open(clock=clock, embedder=Letters())
    assert brain.recall({"task": AUDIT, "domain": "security"})[0].skill.id == "good"
    for c in brain.recall({"task": BREAD, "domain": "kitchen"}, min_score=0.0):
        assert c.combined_score == c.combined_score


def test_damaged_metadata_of_an_edge_spoils_only_that_edge(place, clock, caplog):
    brain = place.open(clock=clock)
    for name in ("a", "bad", "c"):
        brain.skill_graph.save_skill(skill(name))
    brain.skill_graph.add_edge("a", "COMPLEMENTS", "bad")
    brain.skill_graph.add_edge("a", "SPECIALIZES", "c")
    raw(place).damage_edges()
    assert "c" in [edge.target for edge in brain.skill_graph.get_edges("a")]
    assert warned(caplog)
