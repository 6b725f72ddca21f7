"""Who is let in, with credentials of which kind, and what happens when they change?"""

import time

import neo4j
import pytest
from neo4j.auth_management import AuthManagers, ExpiringAuth

from brain.errors import AuthenticationError
from brain.store.location import open_store
from brain.store.neo4j.access import credentials

pytestmark = pytest.mark.neo4j


def opened(server, auth):
    store = open_store(server.uri, namespace="access", auth=auth)
    store.migrate()
    store.close()
    return True


@pytest.mark.parametrize(
    "made",
    [
        lambda pair: pair,
        lambda pair: neo4j.basic_auth(*pair),
        lambda pair: AuthManagers.static(neo4j.basic_auth(*pair)),
        lambda pair: AuthManagers.basic(lambda: pair),
        lambda pair: lambda: pair,
        lambda pair: lambda: neo4j.basic_auth(*pair),
        lambda pair: lambda: ExpiringAuth(neo4j.basic_auth(*pair)),
    ],
    ids=["pair", "auth", "manager", "renewing manager", "function", "function of auth", "function of expiring auth"],
)
def test_every_kind_of_credentials_is_taken(neo4j_server, made):
    assert opened(neo4j_server, made(neo4j_server.auth))


def test_a_function_is_asked_again_when_what_it_gave_is_refused(neo4j_server):
    given = iter([("neo4j", "an old password"), neo4j_server.auth])
    held = []

    def source():
        held.append(next(given))
        return held[-1]

    assert opened(neo4j_server, source)
    assert len(held) == 2


def test_a_function_is_asked_again_when_what_it_gave_has_expired(neo4j_server):
    times = iter([time.time() - 1, None])
    manager = credentials(lambda: ExpiringAuth(neo4j.basic_auth(*neo4j_server.auth), next(times)), None, None)
    assert manager.get_auth() == manager.get_auth() == neo4j.basic_auth(*neo4j_server.auth)
    assert next(times, "none left") == "none left"


def test_a_function_that_has_nothing_better_fails_at_once(neo4j_server):
    begun = time.monotonic()
    with pytest.raises(AuthenticationError, match="refused the credentials"):
        opened(neo4j_server, lambda: ("neo4j", "wrong"))
    assert time.monotonic() - begun < 10
