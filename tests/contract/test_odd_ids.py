"""Does every verb take the id of a skill that is there, be it one that nobody could choose for a new one?

Old data in a Redis has such ids, and what was copied from there.
"""

import pytest

from brain import SyncBrain
from brain.engine.moving import copy
from brain.errors import InputError, SkillNotFoundError
from brain.model.text import is_id
from brain.skillfiles.exporting import export_skills
from brain.skillfiles.importing import import_skills
from brain.skillfiles.quarantine import approve, quarantine_of
from brain.store.values import new_operation
from tests.contract.samples import AWKWARD, BREAD, skill

TASK = {"task": BREAD, "domain": "kitchen"}
ODD_IDS = {
    "spaces": "a whole sentence: as an id",
    "slashes": "kitchen/bread",
    "a way out": "../../etc/passwd",
    "umlauts": "Brötchen backen",
    "long": "x" * 300,
    "as long as may be": "ß" * 1_000,
    "a dash first": "-x",
    "an option": "--all",
    "a dot": ".",
    "white space around": "  two  \n",
    "a pattern": "*?[a]\\",
    **{f"awkward {name}": text for name, text in AWKWARD.items() if name != "nul"},
}


def shown(name):
    return name.replace(" ", "_")


@pytest.fixture(params=ODD_IDS, ids=shown)
def odd(request):
    """An id that nobody could choose."""
    found = ODD_IDS[request.param]
    assert not is_id(found)
    return found


def bring(brain, skill_id, **fields):
    """Puts a skill there as a copy does, whatever its id."""
    memory = brain._memory
    memory.store.save(
        memory.draft(skill(skill_id, BREAD, **fields)).draft, expected_version=None, operation=new_operation()
    )


def ids(skills):
    return [one.id for one in skills]


def test_every_verb_takes_the_id_of_a_skill_that_is_there(brain, odd):
    graph = brain.skill_graph
    bring(brain, odd)
    graph.save_skill(skill("plain"))
    (found,) = brain.recall(TASK)
    assert found.skill.id == odd
    assert brain.why(odd, TASK).returned
    assert brain.get_skill(odd).id == graph.get_skill(odd).id == odd
    assert ids(graph.get_many([odd, "plain"])) == [odd, "plain"]
    assert brain.feedback(odd, TASK, True, feedback_id="f").skill.transfer_count == 1
    graph.add_edge(odd, "COMPLEMENTS", "plain", {"n": 1})
    graph.add_edge("plain", "SPECIALIZES", odd)
    assert {edge.target for edge in graph.get_edges(odd)} == {"plain"}
    assert ids(graph.get_related_skills("plain")) == [odd]
    assert ids(graph.get_related_skills(odd)) == ["plain"]
    assert graph.delete_edge(odd, "COMPLEMENTS", "plain")
    learned = brain.observe(
        {"steps": ["solder the joint"]}, {"task": "mend a pipe"}, {"success": True}, derived_from=[odd]
    )
    assert odd in {edge.target for edge in graph.get_edges(learned.skill.id)}
    assert brain.get_traces(odd) == []
    assert odd in ids(brain.listing(limit=None).rows)
    assert graph.delete_skill(odd)
    assert brain.get_skill(odd) is None and graph.get_edges("plain") == []


def test_a_skill_that_is_there_is_saved_under_its_id(brain, odd):
    bring(brain, odd)
    was = brain.get_skill(odd)
    was.description = "another"
    saved = brain.skill_graph.save_skill(was, expected_version=was.version)
    assert (saved.id, saved.description, saved.version) == (odd, "another", was.version + 1)
    brain.skill_graph.save_skills([saved, skill("plain")])
    assert sorted(ids(brain.get_skills())) == sorted([odd, "plain"])


def test_a_new_skill_gets_no_such_id(brain, odd):
    graph = brain.skill_graph
    for call in (
        lambda: graph.save_skill(skill(odd)),
        lambda: graph.save_skills([skill("plain"), skill(odd)]),
        lambda: brain.observe({"steps": ["a"]}, TASK, {"success": True}, skill_id=odd),
    ):
        with pytest.raises(InputError):
            call()
    assert brain.get_skills() == []


def test_an_unknown_one_is_not_found_as_any_other(brain, odd):
    assert brain.get_skill(odd) is None
    assert not brain.feedback(odd, TASK, True).recorded
    assert not brain.skill_graph.delete_skill(odd)
    assert brain.skill_graph.get_edges(odd) == []
    brain.skill_graph.save_skill(skill("plain"))
    with pytest.raises(SkillNotFoundError):
        brain.skill_graph.add_edge("plain", "COMPLEMENTS", odd)


def test_it_comes_to_another_place_and_back_whole(brain, tmp_path):
    with SyncBrain.open(f"sqlite:///{tmp_path / 'there.db'}", clock=brain._store.clock, cache=False) as there:
        for odd in ODD_IDS.values():
            bring(brain, odd)
        brain.skill_graph.add_edge("-x", "COMPLEMENTS", "kitchen/bread")
        assert copy(brain._store, there._store).written == len(ODD_IDS)
        brought = {one.id: one.to_dict() | {"namespace": ""} for one in there.get_skills()}
        assert brought == {one.id: one.to_dict() | {"namespace": ""} for one in brain.get_skills()}
        there.dump(tmp_path / "all.jsonl")
        for one in brain.get_skills():
            brain.skill_graph.delete_skill(one.id)
        assert brain.load(tmp_path / "all.jsonl").written == len(ODD_IDS)
        assert {one.id: one.to_dict() | {"namespace": ""} for one in brain.get_skills()} == brought
        assert len(brain.skill_graph.get_edges("-x")) == 1


def test_its_folder_stays_where_it_belongs_and_comes_back_through_quarantine(place, clock, tmp_path):
    brain, target = place.open(clock=clock), tmp_path / "out" / "here"
    for odd in ODD_IDS.values():
        bring(brain, odd, name="")
    exported = export_skills(brain, target)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["here"]
    assert len({one.folder for one in exported}) == len(ODD_IDS)
    for one in exported:
        assert (target / one.folder / "SKILL.md").resolve().parent.parent == target.resolve()
    kept = {one.id: one.to_dict() for one in brain.get_skills()}
    for skill_id in kept:
        brain.skill_graph.delete_skill(skill_id)
    waiting = place.open(quarantine_of(brain.namespace), clock=clock)
    assert import_skills(waiting, target, waiting_for=brain).refused == []
    assert approve(waiting, brain, list(kept)) == sorted(kept)
    assert {one.id: one.to_dict() for one in brain.get_skills()} == kept
    assert [one.skill_id for one in export_skills(brain, tmp_path / "one", ["../../etc/passwd"])] == [
        "../../etc/passwd"
    ]
