"""Does the effort of a call follow what it returns, and not what is stored? Counted in statements and database hits."""

import uuid

import pytest

from brain.model.relations import Relation
from brain.store.neo4j.connection import Transaction
from tests.store.samples import draft, edge, operation, order, record, save

pytestmark = pytest.mark.neo4j

FEW, MANY = 20, 400


class Effort:
    """Counts what runs: the names of statements, and the database hits of each."""

    def __init__(self, driver, monkeypatch):
        self._driver, self.names, self.hits = driver, [], 0
        plain = Transaction._run

        def counted(tx, name, slots, parameters):
            self.names.append(name)
            statement = tx._statements[name]
            given = {**parameters, "namespace": tx._namespace} if "namespace" in statement.parameters else parameters
            if statement.mode == "read":
                profile = driver.execute_query(f"PROFILE {statement.filled(**slots)}", given).summary.profile
                self.hits += sum(operator["args"].get("DbHits", 0) for operator in operators(profile))
            return plain(tx, name, slots, parameters)

        monkeypatch.setattr(Transaction, "_run", counted)

    def of(self, call):
        """Names of the statements and database hits of reads of `call`."""
        self.names, self.hits = [], 0
        call()
        return self.names, self.hits


def operators(plan):
    yield plan
    for child in plan.get("children", ()):
        yield from operators(child)


@pytest.fixture
def effort(driver, monkeypatch):
    return Effort(driver, monkeypatch)


@pytest.fixture
def stores(neo4j_place):
    """A store with few skills and one with many; the first ones are the same."""
    found = []
    for size in (FEW, MANY):
        store = neo4j_place.open(namespace=f"test-{uuid.uuid4().hex}")
        drafts = [draft(f"s{i:03}", tags=["rare"] if i < 5 else ["common"], usage_count=i % 7) for i in range(size)]
        store.save_many(drafts, operation=operation())
        for i in range(4):
            store.add_edge(edge(f"s00{i}", f"s00{i + 1}"), operation=operation())
        save(store, "s000")  # a reader that is behind looks at all that the latest write wrote
        found.append(store)
    return found


READS = {
    "fetch": lambda store: store.fetch(["s001", "s002"], store.changes(0).version),
    "what changed": lambda store: store.changes(store.changes(0).version - 1),
    "get_many": lambda store: store.get_many(["s001", "s002"]),
    "count": lambda store: store.count(),
    "summary": lambda store: store.summary(5),
    "a page": lambda store: next(store.pages(size=10)),
    "a tag": lambda store: list(store.pages("rare")),
    "a page of entries": lambda store: next(store.entries(10, vectors=True)),
    "edges": lambda store: store.edges("s001"),
    "related": lambda store: store.related("s000", None, 4),
    "profiles": lambda store: store.profiles(["s001"]),
    "nothing to sweep": lambda store: store.sweep(100, operation=operation()),
    "waiting": lambda store: store.waiting(),
}


@pytest.mark.parametrize("name", READS)
def test_reading_touches_no_more_of_a_larger_store(stores, effort, name):
    (few_names, few), (many_names, many) = [effort.of(lambda s=store: READS[name](s)) for store in stores]
    assert few_names == many_names
    assert many <= few * 1.2 + 5


def test_a_warm_recall_is_one_statement(graph, effort):
    save(graph, "a", "b")
    since = graph.changes(0).version
    assert effort.of(lambda: graph.fetch(["a", "b"], since))[0] == ["fetch"]
    save(graph, "b")
    assert effort.of(lambda: graph.fetch(["a", "b"], since))[0] == ["fetch"]


def test_feedback_is_one_statement(graph, effort):
    save(graph, "a")
    assert effort.of(lambda: graph.feedback("a", record(), ttl=True, operation=operation()))[0] == ["feedback"]


def test_learning_something_new_is_two_statements(graph, effort):
    save(graph, "a")
    seen = graph.changes(0).version
    names, _ = effort.of(lambda: graph.learn([order("b", seen=seen)], operation=operation()))
    assert names == ["lock_to_learn", "write_skills"]


def test_many_new_skills_are_written_together(graph, effort):
    orders = [order(f"s{i}") for i in range(50)]
    names, _ = effort.of(lambda: graph.learn(orders, operation=operation()))
    assert names == ["lock_to_learn", "write_skills"]


def test_without_a_mirror_no_write_asks_for_neighbours_or_an_outbox(graph, effort):
    save(graph, "a", "b")

    def writes():
        graph.add_edge(edge("a", "b", Relation.SPECIALIZES), operation=operation())
        graph.delete("a", operation=operation())

    assert not {"neighbours", "put_in_outbox"} & set(effort.of(writes)[0])


def test_sweeping_a_few_touches_few(stores, effort, clock):
    for store in stores:
        store.save(draft("gone", expires_at=clock().isoformat()), expected_version=None, operation=operation())
    (few_names, few), (many_names, many) = [
        effort.of(lambda s=store: s.sweep(100, operation=operation())) for store in stores
    ]
    assert few_names == many_names
    assert many <= few * 1.2 + 5
