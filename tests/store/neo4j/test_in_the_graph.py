"""What is left in the graph by what the store forgets, and what is found again by a retry?"""

import pytest

from brain.model.receipts import LearnOutcome
from brain.store.neo4j import skills as skills_module
from tests.store.samples import draft, edge, operation, order, record, save

pytestmark = pytest.mark.neo4j


def told(learned):
    return [(found.outcome.value, found.skill and found.skill.id) for found in learned]


def test_orders_that_were_committed_before_answer_as_they_did(graph):
    save(graph, "known")
    orders = [
        order("a"),
        order("like a", like=0),
        order("b", trace_id="run-1"),
        order("b again", trace_id="run-1"),
        order("a failure", success=False),
        order("c"),
        order("c", "c"),
    ]
    orders[6] = order("c once more", "c")
    repeated = operation()
    first = graph.learn(orders, operation=repeated)
    assert told(first) == [
        ("created", "a"),
        ("reinforced", "a"),
        ("created", "b"),
        ("already_seen", "b"),
        ("ignored", None),
        ("created", "c"),
        ("reinforced", "c"),
    ]
    assert told(graph.learn(orders, operation=repeated)) == told(first)
    assert {found.id: found.usage_count for found in graph.get_many(["a", "b", "c"])} == {"a": 2, "b": 1, "c": 2}


def test_a_retry_is_told_even_when_the_same_trace_was_learned_meanwhile(graph):
    repeated = operation()
    graph.learn([order("a")], operation=repeated)
    graph.learn([order("a")], operation=operation())
    (again,) = graph.learn([order("a")], operation=repeated)
    assert again.skill.id == "a" and again.skill.usage_count == 2
    assert again.outcome != LearnOutcome.IGNORED


def test_a_retry_tells_what_it_did_itself_and_not_what_an_earlier_call_did(graph):
    graph.learn([order("a")], operation=operation())
    for success, outcome in ((True, "reinforced"), (False, "failure_recorded")):
        repeated = operation()
        for _ in range(2):
            ((told_outcome, _),) = told(graph.learn([order("a", success=success)], operation=repeated))
            assert told_outcome == outcome
    assert graph.get_many(["a"])[0].usage_count == 3


def test_every_write_that_is_repeated_counts_once_after_many_others(graph):
    save(graph, "a", "b")
    repeated = operation()
    graph.feedback("a", record(), ttl=True, operation=repeated)
    for _ in range(300):
        graph.feedback("b", record(), ttl=True, operation=operation())
    assert graph.feedback("a", record(), ttl=True, operation=repeated).skill.usage_count == 1
    assert graph.get_many(["b"])[0].usage_count == 300


def test_the_latest_hundred_transfers_are_kept_as_nodes(graph, neo4j_place):
    save(graph, "a")
    for i in range(105):
        graph.feedback("a", record(domain=f"domain {i}"), ttl=True, operation=operation())
    assert neo4j_place.raw.counts()["Transfer"] == 100
    (found,) = graph.get_many(["a"])
    domains = [transfer.target_context["metadata"]["domain"] for transfer in found.transfer_history]
    assert domains == [f"domain {i}" for i in range(5, 105)]


def test_deletions_are_forgotten_the_oldest_first(graph, neo4j_place, monkeypatch):
    monkeypatch.setattr(skills_module, "DELETIONS_KEPT", 3)
    monkeypatch.setattr(skills_module, "DELETIONS_SLACK", 0)
    ids = [f"s{i}" for i in range(6)]
    save(graph, *ids)
    versions = []
    for skill_id in ids:
        versions.append(graph.changes(0).version)
        graph.delete(skill_id, operation=operation())
    assert [graph.changes(version).stale for version in versions] == [True, True, True, False, False, False]
    assert list(graph.changes(versions[3]).deleted) == ids[3:]
    assert neo4j_place.raw.run("MATCH (d:Deletion {namespace: $namespace}) RETURN count(d)") == [[3]]


def test_a_commit_of_which_the_server_shows_only_the_version_is_not_counted_as_seen(graph, neo4j_place):
    """The server shows a commit bit by bit; a reader that took the version for the whole would miss the skill."""
    save(graph, "a", "b")
    seen = graph.changes(0).version
    run = neo4j_place.raw.run
    # what is there while the indexes are not up to date
    run("MATCH (n:Namespace {name: $namespace}) SET n.version = $version, n.newest = [$version, 1]", version=seen + 1)
    for since in (0, seen - 1, seen):
        assert graph.changes(since).version == seen
    assert graph.fetch(["a"], seen)[1].version == seen
    run("MATCH (s:Skill {namespace: $namespace, id: 'a'}) SET s.changed = $version", version=seen + 1)
    changes = graph.changes(seen)
    assert (changes.version, [entry.id for entry in changes.entries]) == (seen + 1, ["a"])


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.save(draft("a"), expected_version=None, operation=operation()),
        lambda store: store.save_many([draft("a"), draft("b"), draft("a", "anew")], operation=operation()),
        lambda store: store.learn([order("x"), order("y", like=0), order("z")], operation=operation()),
        lambda store: store.learn([order("x"), order("x2", "x")], operation=operation()),
        lambda store: store.feedback("a", record(), ttl=True, operation=operation()),
        lambda store: store.set_vectors([("a", b"1234"), ("none", b"1234"), ("a", b"5678")], operation=operation()),
        lambda store: store.set_profiles([("none", 1, "p", b"t")], operation=operation()),
        lambda store: store.delete("a", operation=operation()),
        lambda store: store.restore([kept for page in store.export() for kept in page], operation=operation()),
        lambda store: store.sweep(10, operation=operation()),
        lambda store: store.save_many(
            [draft("b"), draft("a", expires_at="2025-01-01"), draft("c")], operation=operation()
        ),
    ],
    ids="save many learn alike feedback vectors profiles delete restore sweep shortened".split(),
)
def test_the_version_that_a_write_made_is_reached_at_once(graph, neo4j_place, clock, write):
    save(graph, "a", "b")
    save(graph, "gone", expires_at=clock().isoformat())
    write(graph)
    ((version, newest, there),) = neo4j_place.raw.run(
        "MATCH (n:Namespace {name: $namespace}) RETURN n.version, n.newest, "
        "COUNT { (s:Skill {namespace: $namespace}) WHERE s.changed = n.version } "
        "+ COUNT { (d:Deletion {namespace: $namespace}) WHERE d.version = n.version }"
    )
    assert newest == [version, there]
    assert graph.changes(1).version == version


def test_nothing_is_left_behind_by_what_was_removed(graph, neo4j_place, clock):
    save(graph, "a", "b", expires_at=clock().isoformat())
    save(graph, "c", "d")
    graph.learn([order("e")], operation=operation())
    for skill_id in ("c", "e"):
        graph.feedback(skill_id, record(), ttl=True, operation=operation())
    graph.add_edge(edge("c", "d"), operation=operation())
    assert graph.sweep(10, operation=operation()) == 2
    for skill_id in ("c", "d", "e"):
        graph.delete(skill_id, operation=operation())
    assert set(neo4j_place.raw.counts().values()) == {0}
    assert graph.count() == 0


def test_a_damaged_count_of_one_skill_leaves_the_counters_right(graph, neo4j_place):
    save(graph, "a", "b", confidence=0.25)
    neo4j_place.raw.damage_number("a")
    assert graph.summary(5)["avg_confidence"] == 0.25
    save(graph, "a", confidence=0.75)
    assert graph.summary(5)["avg_confidence"] == 0.5
    neo4j_place.raw.damage_field("a")
    graph.delete("a", operation=operation())
    summary = graph.summary(5)
    assert (summary["total_skills"], summary["avg_confidence"]) == (1, 0.25)


def test_the_most_used_are_ordered_by_use_confidence_and_id(graph, clock):
    uses = {"d": (2, 0.5), "c": (2, 0.9), "b": (1, 0.5), "a": (1, 0.5), "e": (1, 0.5), "f": (0, 1.0)}
    for skill_id, (used, confidence) in uses.items():
        save(graph, skill_id, usage_count=used, confidence=confidence)
    save(graph, "gone", usage_count=9, expires_at=clock().isoformat())
    for size in range(8):
        assert [found.id for found in graph.summary(size)["top_skills"]] == ["c", "d", "a", "b", "e", "f"][:size]


def test_a_skill_that_appears_twice_in_one_call_is_written_twice(graph):
    texts = ["first", "second", "third"]
    graph.save_many([draft("a", text) for text in texts], operation=operation())
    (found,) = graph.get_many(["a"])
    assert (found.task, found.version) == ("third", 3)
    assert graph.count() == 1


def test_lists_of_operations_stay_short(graph, neo4j_place):
    for _ in range(5):
        save(graph, "a")
    ((node,),) = neo4j_place.raw.run("MATCH (n:Namespace {name: $namespace}) RETURN n {.*}")
    lists = [value for name, value in node.items() if name.startswith("operations_")]
    assert sum(map(len, lists)) == 5
    assert len(lists) <= skills_module.OPERATION_LISTS
