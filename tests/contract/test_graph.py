"""Are skills saved, listed, tagged, linked and walked as asked, on every store?"""

from datetime import timedelta

import pytest

from brain import Relation, Skill
from brain.errors import ConflictError, InputError, SkillNotFoundError
from tests.contract.samples import NESTED, ids, plain, skill


@pytest.fixture
def graph(brain):
    return brain.skill_graph


def edges(graph, skill_id):
    return [(e.relation.value, e.direction, e.target, e.metadata) for e in graph.get_edges(skill_id)]


def chain(graph, *pairs):
    for name in {name for pair in pairs for name in pair}:
        graph.save_skill(skill(name))
    for source, target in pairs:
        graph.add_edge(source, "COMPLEMENTS", target)


# Saving


def test_a_saved_skill_comes_back_whole(graph, clock):
    given = skill(
        "s-1",
        "sort the mail",
        description="why",
        skill_type="declarative",
        confidence=0.1 + 0.2,
        usage_count=3,
        success_rate=1 / 3,
        created_at="2020-02-29T23:59:59.999999+02:00",
        updated_at=clock.now,
        expires_at="2030-01-01T00:00:00.000001",
        transfer_history=[
            {
                "target_context": NESTED,
                "success": True,
                "confidence": 0.25,
                "adaptations": NESTED,
                "timestamp": clock.now,
            }
        ],
        invented_later={"deep": [1, 2.0, None]},
    )
    saved = graph.save_skill(given)
    assert plain(saved) == plain(graph.get_skill("s-1"))
    assert plain(saved) == {**plain(given), "namespace": saved.namespace, "version": 1}


def test_saving_again_raises_the_version_and_replaces_everything(graph):
    graph.save_skill(skill("s", tags=("a", "b")))
    again = graph.save_skill(Skill(id="s", name="bare", procedure=[{"action": "only"}], tags=["c"]))
    assert again.version == 2
    found = graph.get_skill("s")
    assert plain(found) == plain(again)
    assert (found.tags, [step.action for step in found.procedure]) == (["c"], ["only"])
    assert (found.preconditions, found.source_context) == ([], {})


def test_an_expected_version_that_holds_is_written(graph):
    first = graph.save_skill(skill("s"), expected_version=0)
    second = graph.save_skill(first, expected_version=1)
    assert second.version == 2


@pytest.mark.parametrize(("stored", "expected"), [(0, 1), (0, 5), (1, 0), (2, 1), (2, 3)])
def test_an_expected_version_that_does_not_hold_is_a_conflict(graph, stored, expected):
    for _ in range(stored):
        graph.save_skill(skill("s", name="old"))
    with pytest.raises(ConflictError) as caught:
        graph.save_skill(skill("s", name="new"), expected_version=expected)
    assert (caught.value.skill_id, caught.value.expected, caught.value.actual) == ("s", expected, stored or None)
    found = graph.get_skill("s")
    assert (found.version, found.name) == (stored, "old") if stored else found is None


@pytest.mark.parametrize("expected", [-1, 1.0, "1", True])
def test_an_expected_version_must_be_a_whole_number(graph, expected):
    with pytest.raises(InputError):
        graph.save_skill(skill("s"), expected_version=expected)


def test_feedback_and_learning_count_as_versions(brain, graph):
    first = graph.save_skill(skill("s"))
    brain.feedback("s", {}, True)
    with pytest.raises(ConflictError):
        graph.save_skill(first, expected_version=1)
    assert graph.save_skill(first, expected_version=2).version == 3


def test_edges_and_the_lookup_by_id_survive_saving(graph):
    chain(graph, ("a", "b"))
    graph.save_skill(skill("a", "changed"))
    assert edges(graph, "a") == [("COMPLEMENTS", "out", "b", {})]
    assert edges(graph, "b") == [("COMPLEMENTS", "in", "a", {})]


def test_many_are_saved_at_once(graph):
    graph.save_skill(skill("s1", name="old"))
    graph.save_skills([skill(f"s{i}", f"task {i}") for i in range(450)])
    assert len(graph.list_skills()) == 450
    assert (graph.get_skill("s1").version, graph.get_skill("s449").version) == (2, 1)
    graph.save_skills([])


def test_many_are_saved_all_or_none(graph):
    with pytest.raises(InputError):
        graph.save_skills([skill("good"), skill("b/ad"), skill("fine")])
    assert graph.list_skills() == []


def test_the_same_skill_twice_among_many_is_saved_as_if_one_after_the_other(graph):
    graph.save_skills([skill("s", name="first"), skill("other"), skill("s", name="second")])
    found = graph.get_skill("s")
    assert (found.name, found.version, len(found.procedure)) == ("second", 2, 2)


def test_steps_are_numbered_in_their_order(graph):
    given = [{"action": "c", "order": 9}, {"action": "a", "order": 0}, {"action": "b", "order": 0}]
    saved = graph.save_skill(Skill(id="s", name="n", procedure=given))
    assert [(s.action, s.order) for s in saved.procedure] == [("c", 0), ("a", 1), ("b", 2)]
    assert graph.get_skill("s").procedure == saved.procedure


def test_a_thousand_steps_come_back_in_order(graph):
    graph.save_skill(Skill(id="s", name="n", procedure=[{"action": f"step {i}"} for i in range(1_000)]))
    assert [s.action for s in graph.get_skill("s").procedure] == [f"step {i}" for i in range(1_000)]


def test_a_skill_of_a_name_alone_or_of_steps_alone_is_enough(graph):
    assert graph.save_skill(Skill(id="a", name="just a name")).procedure == []
    assert graph.save_skill(Skill(id="b", procedure=[{"action": "just a step"}])).name == ""
    with pytest.raises(InputError, match="name or at least one step"):
        graph.save_skill(Skill(id="c", name="  "))


# Listing and tags


def test_listing_is_by_id(graph):
    for skill_id in ("b", "B", "a", "_1"[1:], "a.b", "a-b", "a:b", "A"):
        graph.save_skill(skill(skill_id))
    assert ids(graph.list_skills()) == sorted(["b", "B", "a", "1", "a.b", "a-b", "a:b", "A"])


def test_listing_goes_over_many_pages(graph):
    graph.save_skills([Skill(id=f"s{i:05}", name="n", tags=["all"]) for i in range(1_201)])
    assert ids(graph.iter_skills()) == [f"s{i:05}" for i in range(1_201)]
    assert ids(graph.find_by_tag("all")) == [f"s{i:05}" for i in range(1_201)]


def test_a_tag_is_found_exactly(graph):
    graph.save_skill(skill("s", tags=("Ärger", "a", "a b")))
    for tag in ("Ärger", "a", "a b"):
        assert ids(graph.find_by_tag(tag)) == ["s"]
    for tag in ("ärger", "A", "a ", " a", "b", "", "%", "a%", "_", "*", "A\u0308rger"):
        assert graph.find_by_tag(tag) == []


def test_tags_keep_their_order_and_come_once(graph):
    assert graph.save_skill(skill("s", tags=("z", "a", "z", "m"))).tags == ["z", "a", "m"]
    assert graph.get_skill("s").tags == ["z", "a", "m"]


def test_a_tag_that_was_taken_off_finds_nothing(graph):
    graph.save_skill(skill("s", tags=("a",)))
    graph.save_skill(skill("s", tags=("b",)))
    assert graph.find_by_tag("a") == []
    assert ids(graph.find_by_tag("b")) == ["s"]


@pytest.mark.parametrize("tag", [None, 5, ["a"], b"a"])
def test_a_tag_must_be_text(graph, tag):
    with pytest.raises(InputError):
        graph.find_by_tag(tag)


# Edges


def test_an_edge_is_seen_from_both_ends(graph):
    chain(graph, ("a", "b"))
    graph.add_edge("a", "CONFLICTS_WITH", "b", {"why": NESTED})
    graph.add_edge("b", Relation.SPECIALIZES, "a")
    assert edges(graph, "a") == [
        ("COMPLEMENTS", "out", "b", {}),
        ("CONFLICTS_WITH", "out", "b", {"why": NESTED}),
        ("SPECIALIZES", "in", "b", {}),
    ]
    assert edges(graph, "b") == [
        ("COMPLEMENTS", "in", "a", {}),
        ("CONFLICTS_WITH", "in", "a", {"why": NESTED}),
        ("SPECIALIZES", "out", "a", {}),
    ]


def test_adding_an_edge_again_replaces_its_metadata(graph):
    chain(graph, ("a", "b"))
    graph.add_edge("a", "COMPLEMENTS", "b", {"n": 1, "old": True})
    graph.add_edge("a", "COMPLEMENTS", "b", {"n": 2})
    assert edges(graph, "a") == [("COMPLEMENTS", "out", "b", {"n": 2})]


@pytest.mark.parametrize("relation", list(Relation))
def test_each_of_the_six_relations_is_stored(graph, relation):
    for name in ("a", "b"):
        graph.save_skill(skill(name))
    graph.add_edge("a", relation.value, "b")
    assert edges(graph, "a") == [(relation.value, "out", "b", {})]
    assert ids(graph.get_related_skills("b", relation=relation)) == ["a"]


@pytest.mark.parametrize(
    "relation", ["complements", "KNOWS", "", " ", None, 5, ["COMPLEMENTS"], "COMPLEMENTS]->() DELETE n //", "`x`"]
)
def test_an_unknown_relation_is_refused_and_the_six_are_listed(graph, relation):
    chain(graph, ("a", "b"))
    calls = [lambda: graph.add_edge("a", relation, "b")]
    if relation is not None:
        calls.append(lambda: graph.get_related_skills("a", relation=relation))
    for call in calls:
        with pytest.raises(InputError) as caught:
            call()
        assert all(name in str(caught.value) for name in Relation)
    assert len(edges(graph, "a")) == 1


def test_an_edge_to_itself_is_refused(graph):
    graph.save_skill(skill("a"))
    with pytest.raises(InputError, match="itself"):
        graph.add_edge("a", "COMPLEMENTS", "a")
    assert edges(graph, "a") == []


@pytest.mark.parametrize(("source", "target", "missing"), [("a", "no", "no"), ("no", "a", "no"), ("x", "y", "x")])
def test_an_edge_to_a_missing_skill_is_refused(graph, source, target, missing):
    graph.save_skill(skill("a"))
    with pytest.raises(SkillNotFoundError) as caught:
        graph.add_edge(source, "COMPLEMENTS", target)
    assert caught.value.skill_id == missing
    assert graph.get_skill("no") is None


@pytest.mark.parametrize("metadata", [[], "text", 5, False, {"n": float("nan")}, {1: "a"}, {"a": {1, 2}}], ids=repr)
def test_metadata_that_is_no_json_object_is_refused(graph, metadata):
    chain(graph, ("a", "b"))
    with pytest.raises(InputError):
        graph.add_edge("a", "SPECIALIZES", "b", metadata)
    assert len(edges(graph, "a")) == 1


def test_edges_go_with_their_skills(graph):
    chain(graph, ("a", "b"), ("b", "c"))
    graph.delete_skill("b")
    assert edges(graph, "a") == edges(graph, "c") == []
    graph.save_skill(skill("b"))
    assert edges(graph, "b") == []


def test_edges_of_an_unknown_skill_are_none(graph):
    assert graph.get_edges("nobody") == []
    assert graph.get_related_skills("nobody") == []


# Walking


def test_related_skills_come_nearest_first_in_both_directions(graph):
    chain(graph, ("b", "a"), ("b", "c"), ("d", "c"), ("d", "e"), ("e", "f"))
    assert [(s.id, d) for s, d in graph.related_with_distance("a", max_depth=10)] == [
        ("b", 1),
        ("c", 2),
        ("d", 3),
        ("e", 4),
        ("f", 5),
    ]
    assert ids(graph.get_related_skills("a")) == ["b", "c"]
    assert ids(graph.get_related_skills("c", max_depth=1)) == ["b", "d"]


def test_each_related_skill_comes_once_however_many_ways_lead_there(graph):
    names = [f"n{i}" for i in range(12)]
    chain(graph, *[(a, b) for a in names for b in names if a < b])
    assert ids(graph.get_related_skills("n0", max_depth=10)) == sorted(names)[1:]


def test_a_circle_does_not_come_back_to_its_start(graph):
    chain(graph, ("a", "b"), ("b", "c"), ("c", "a"))
    assert ids(graph.get_related_skills("a", max_depth=10)) == ["b", "c"]


def test_only_the_relation_asked_for_is_walked(graph):
    chain(graph, ("a", "b"))
    graph.save_skill(skill("c"))
    graph.add_edge("b", "SPECIALIZES", "c")
    assert ids(graph.get_related_skills("a", relation="COMPLEMENTS", max_depth=5)) == ["b"]
    assert ids(graph.get_related_skills("a", relation="SPECIALIZES", max_depth=5)) == []
    assert ids(graph.get_related_skills("a", max_depth=5)) == ["b", "c"]


@pytest.mark.parametrize("depth", [0, -1, 11, 1.5, "2", None, True])
def test_a_depth_outside_one_to_ten_is_refused(graph, depth):
    graph.save_skill(skill("a"))
    with pytest.raises(InputError, match="max_depth"):
        graph.get_related_skills("a", max_depth=depth)


# Namespaces


@pytest.fixture
def other(place, clock):
    return place.open(namespace=f"{place.namespace}.other", clock=clock)


def test_namespaces_do_not_see_each_other(brain, other):
    brain.skill_graph.save_skill(skill("s", "sort the mail", name="mine", tags=("t",)))
    assert other.get_skill("s") is None
    assert other.get_skills() == other.skill_graph.find_by_tag("t") == other.recall({"task": "sort the mail"}) == []
    assert other.get_skill_summary()["total_skills"] == 0
    assert other.skill_graph.delete_skill("s") is False
    assert not other.feedback("s", {}, True).recorded
    other.skill_graph.save_skill(skill("s", "sort the mail", name="theirs"))
    assert (brain.get_skill("s").name, other.get_skill("s").name) == ("mine", "theirs")
    assert (brain.get_skill("s").namespace, other.get_skill("s").namespace) == (brain.namespace, other.namespace)
    other.skill_graph.delete_skill("s")
    assert brain.get_skill("s").version == 1


def test_an_edge_does_not_cross_namespaces(brain, other):
    brain.skill_graph.save_skill(skill("a"))
    other.skill_graph.save_skill(skill("b"))
    with pytest.raises(SkillNotFoundError):
        brain.skill_graph.add_edge("a", "COMPLEMENTS", "b")


def test_a_skill_can_be_carried_to_another_namespace(brain, other):
    saved = brain.skill_graph.save_skill(skill("s", "sort the mail"))
    carried = other.skill_graph.save_skill(saved)
    assert plain(carried) == {**plain(saved), "namespace": other.namespace}


def test_an_edge_is_removed_and_the_others_stay(brain):
    graph = brain.skill_graph
    graph.save_skills([skill("a"), skill("b"), skill("c")])
    for source, relation, target in (
        ("a", "COMPLEMENTS", "b"),
        ("b", "COMPLEMENTS", "a"),
        ("a", "SPECIALIZES", "b"),
        ("a", "COMPLEMENTS", "c"),
    ):
        graph.add_edge(source, relation, target, {"n": 1})
    assert graph.delete_edge("a", "COMPLEMENTS", "b") is True
    assert graph.delete_edge("a", "COMPLEMENTS", "b") is False
    left = {(e.source, e.relation.value, e.target) for e in graph.get_edges("a") if e.direction == "out"}
    assert left == {("a", "SPECIALIZES", "b"), ("a", "COMPLEMENTS", "c")}
    assert {(e.direction, e.relation.value, e.target) for e in graph.get_edges("b")} == {
        ("out", "COMPLEMENTS", "a"),
        ("in", "SPECIALIZES", "a"),
    }
    assert ids(graph.get_related_skills("c")) == ["a", "b"]
    assert graph.delete_edge("a", Relation.COMPLEMENTS, "c")
    assert graph.get_related_skills("c") == []
    graph.add_edge("a", "COMPLEMENTS", "b", {"n": 2})
    assert [e.metadata for e in graph.get_edges("a") if e.direction == "out" and e.relation == "COMPLEMENTS"] == [
        {"n": 2}
    ]


def test_an_edge_that_is_not_there_is_not_removed(brain, clock):
    graph = brain.skill_graph
    soon = (clock() + timedelta(hours=1)).isoformat()
    graph.save_skills([skill("a"), skill("b"), skill("soon", expires_at=soon)])
    graph.add_edge("a", "COMPLEMENTS", "soon")
    clock.advance(hours=2)
    for source, target in (("a", "b"), ("nobody", "a"), ("a", "nobody"), ("a", "a"), ("a", "soon")):
        assert graph.delete_edge(source, "COMPLEMENTS", target) is False


def test_a_wrong_edge_is_refused(brain):
    for arguments in (
        (" ", "COMPLEMENTS", "b"),
        ("a", "COMPLEMENTS", ""),
        ("a", "RELATES_TO", "b"),
        ("a", None, "b"),
    ):
        with pytest.raises(InputError):
            brain.skill_graph.delete_edge(*arguments)


def test_many_skills_are_got_at_once_in_their_order(brain, clock):
    graph = brain.skill_graph
    graph.save_skills([skill("a"), skill("b"), skill("c"), skill("gone", expires_at=clock().isoformat())])
    assert ids(graph.get_many(["c", "nobody", "a", "gone", "c"])) == ["c", "a"]
    assert ids(graph.get_many(i for i in ("b", "a"))) == ["b", "a"]
    assert graph.get_many([]) == []
    for wrong in ("abc", [" "], [5]):
        with pytest.raises(InputError):
            graph.get_many(wrong)
