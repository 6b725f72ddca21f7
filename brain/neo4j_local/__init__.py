"""How does one get a real Neo4j on a machine that has neither Neo4j, Java nor Docker?

    with LocalNeo4j(ephemeral=True) as server:
        GraphDatabase.driver(server.uri, auth=(server.user, server.password))

Needs the extra `brain[neo4j-local]`, which is imported only when a server is started.
"""

from brain.neo4j_local.home import home_of
from brain.neo4j_local.pinned import DEFAULT_VERSION, pinned_versions
from brain.neo4j_local.server import LocalNeo4j, ServerStatus

__all__ = ["DEFAULT_VERSION", "LocalNeo4j", "ServerStatus", "home_of", "pinned_versions"]
