"""Do lists, which read the bodies of skills, say what their nodes say, and is it told when somebody edited those?"""

import logging

import pytest

from tests.store.samples import draft, edge, operation, record, save

pytestmark = pytest.mark.neo4j

AWKWARD = {
    "procedure": [
        {
            "action": "say \x00 and \u2028",
            "parameters": {"a": [1, 2.5, None, {"b": "😀"}], "": {}},
            "order": 0,
        },
        {"action": "`quoted` $x", "order": 1, "is_optional": True, "id": "mine", "extra": {"n": 1}, "timestamp": "t"},
    ],
    "preconditions": [{"predicate": "p", "required": False, "order": 9, "note": [1]}],
    "postconditions": [],
    "tags": ["b", "a", " ", "\t"],
    "extra": {"own": True},
}


def edit(place, change, **values):
    place.raw.run(f"MATCH (s:Skill {{namespace: $namespace, id: 'a'}}) {change}", **values)


def named(store, how):
    (found,) = [skill for skill in how(store) if skill.id == "a"]
    return found


def by_list(store):
    return [skill for page in store.pages() for skill in page]


def by_tag(store):
    return [skill for page in store.pages("b") for skill in page]


def by_walk(store):
    return [skill for skill, _ in store.related("z", None, 1)]


LISTS = pytest.mark.parametrize("listed", [by_list, by_tag, by_walk])


@pytest.fixture
def store(graph):
    graph.save(draft("a", **AWKWARD), expected_version=None, operation=operation())
    save(graph, "z")
    graph.add_edge(edge("a", "z"), operation=operation())
    for i in range(3):
        graph.feedback("a", record(i > 0), ttl=True, operation=operation())
    return graph


@LISTS
def test_a_body_says_what_the_nodes_say(store, listed):
    (whole,) = store.get_many(["a"])
    assert named(store, listed).to_dict() == whole.to_dict()
    assert len(whole.transfer_history) == 3


@LISTS
def test_a_skill_without_a_body_is_listed_by_its_nodes(store, neo4j_place, listed, caplog):
    (whole,) = store.get_many(["a"])
    edit(neo4j_place, "REMOVE s.body, s.applied SET s.counted = s.counted[..3]")  # as an earlier version wrote it
    assert named(store, listed).to_dict() == whole.to_dict()
    assert store.get_many(["a"])[0].to_dict() == whole.to_dict()
    store.feedback("a", record(), ttl=True, operation=operation())
    assert len(named(store, listed).transfer_history) == 4
    assert caplog.records == []


def test_an_edited_step_is_read_at_once_and_told_once(store, neo4j_place, caplog):
    edit(neo4j_place, "MATCH (s)-[:HAS_STEP {order: 0}]->(p) SET p.action = 'edited'")
    for _ in range(3):
        assert store.get_many(["a"])[0].procedure[0].action == "edited"
    assert store.fetch(["a"], 1)[0][0].procedure[0].action == "edited"
    told = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(told) == 1
    assert "'a'" in told[0] and "brain doctor --repair" in told[0]


def test_an_edited_name_is_read_by_everyone(store, neo4j_place):
    edit(neo4j_place, "SET s.name = 'edited', s.confidence = 0.125")
    for listed in (by_list, by_tag, by_walk, lambda store: store.get_many(["a"])):
        assert (named(store, listed).name, named(store, listed).confidence) == ("edited", 0.125)


def test_a_damaged_body_hides_the_skill_from_lists_alone(store, neo4j_place, caplog):
    edit(neo4j_place, "SET s.body = '{broken'")
    assert store.get_many(["a"])[0].id == "a"
    caplog.clear()
    assert [skill.id for skill in by_list(store)] == ["z"]
    assert "'a'" in caplog.text
