"""Servers for tests that need one of their own: fresh, or of the other version."""

import pytest

from brain.errors import LocalServerError
from brain.neo4j_local import LocalNeo4j
from tests.services import missing

OLDEST = "5.26.30"


@pytest.fixture(scope="session")
def oldest_server():
    """A fresh server of the oldest supported version, for this process alone."""
    try:
        with LocalNeo4j(ephemeral=True, version=OLDEST) as server:
            yield server
    except LocalServerError as error:
        missing(f"No Neo4j {OLDEST} for the tests: {error}")


def location_of(server):
    return server.uri.replace("://", f"://{server.user}:{server.password}@", 1)
