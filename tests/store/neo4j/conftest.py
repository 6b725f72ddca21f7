"""What do the tests of the Neo4j store stand on? A store on a namespace of its own, and a driver beside it."""

import uuid

import neo4j
import pytest

from tests.store.conftest import StorePlace


@pytest.fixture
def neo4j_place(neo4j_server, clock):
    """A place on Neo4j, for what only Neo4j does."""
    found = StorePlace("neo4j", neo4j_server.location, f"test-{uuid.uuid4().hex}", clock)
    yield found
    found.close()


@pytest.fixture
def graph(neo4j_place):
    """The store at that place, empty."""
    return neo4j_place.open()


@pytest.fixture(scope="module")
def driver(neo4j_server):
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as found:
        yield found
