"""Does the vector index that people query from Cypher hold every skill's vector, as it is now?"""

import pytest
from typer.testing import CliRunner

from brain.cli.app import app
from brain.errors import StoreError
from brain.store.values import EmbeddingStamp
from tests.store.samples import draft, operation, order, save, vector

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.xdist_group("vector index"),  # one for the whole server: another process would drop it meanwhile
]

DIMENSION = 8
STAMP = EmbeddingStamp("toy", DIMENSION, "procedure", "")


@pytest.fixture
def indexed(graph, neo4j_place, driver):
    """A store with ten skills with vectors and one without, and the vector index."""
    graph.set_embedding_stamp(STAMP, None, operation=operation())
    graph.save_many([draft(f"s{i}") for i in range(10)], operation=operation())
    save(graph, "bare", with_vector=False)
    told = []
    assert graph.make_vector_index(told.append) == 10
    assert sum(told) == 11
    driver.execute_query("CALL db.awaitIndexes()")
    yield graph
    driver.execute_query("DROP INDEX skill_embedding_vector IF EXISTS")


@pytest.fixture
def nearest(neo4j_place):
    """The skills of the namespace nearest to a text's vector, the nearest first."""

    def ask(text, count=3):
        numbers = memoryview(vector(text)).cast("f").tolist()
        return [
            row[0]
            for row in neo4j_place.raw.run(
                "CALL db.index.vector.queryNodes('skill_embedding_vector', 100, $numbers) YIELD node, score "
                "WHERE node.namespace = $namespace RETURN node.id ORDER BY score DESC LIMIT $count",
                numbers=numbers,
                count=count,
            )
        ]

    return ask


def test_every_vector_is_in_the_index_and_nearest_to_itself(indexed, nearest):
    for i in range(10):
        assert nearest(f"s{i}")[0] == f"s{i}"
    assert "bare" not in nearest("bare", 100)


def test_what_is_written_later_is_in_the_index_as_it_is_then(indexed, neo4j_place, nearest):
    save(indexed, "saved")
    indexed.learn([order("learned")], operation=operation())
    indexed.set_vectors([("s1", vector("moved"))], operation=operation())
    other = neo4j_place.open()
    other.embedding_stamp()  # as every brain with an embedder asks first
    save(other, "by another")
    indexed.delete("s2", operation=operation())
    assert [nearest(text)[0] for text in ("saved", "learned", "moved", "by another")] == [
        "saved",
        "learned",
        "s1",
        "by another",
    ]
    assert "s2" not in nearest("s2", 100)


def test_making_it_twice_is_fine(indexed, nearest):
    assert indexed.make_vector_index() == 10
    assert nearest("s3")[0] == "s3"


def test_a_store_without_vectors_says_what_to_do(graph):
    save(graph, "a")
    with pytest.raises(StoreError, match="brain reembed"):
        graph.make_vector_index()


def test_the_command_makes_it_and_says_how_many(indexed, neo4j_place):
    options = ["--store", neo4j_place.location, "--namespace", neo4j_place.namespace]
    done = CliRunner().invoke(app, ["migrate", "--vector-index", *options])
    assert done.exit_code == 0, done.output
    assert "10 vectors are in the vector index" in done.output


def test_the_command_refuses_a_store_that_has_no_such_index(sqlite_place):
    sqlite_place.open()
    done = CliRunner().invoke(app, ["migrate", "--vector-index", "--store", sqlite_place.location])
    assert done.exit_code != 0
    assert "Neo4j does" in done.output
