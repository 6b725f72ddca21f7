"""Is nothing lost, doubled or half there when a writer or the server is killed, or many write at once? A few rounds.

`make soak` runs the same for longer.
"""

import uuid

import pytest

from brain.errors import LocalServerError
from tests.services import missing, neo4j_version
from tests.soak import rounds

pytestmark = pytest.mark.xdist_group("kills")


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("neo4j", marks=pytest.mark.neo4j),
        pytest.param("redis", marks=pytest.mark.redis),
    ]
)
def somewhere(request, tmp_path):
    """A location and a namespace where nothing is stored."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'soak.db'}", "default"
    if request.param == "redis":
        return f"{request.getfixturevalue('redis_server').url}/0?prefix=soak-{uuid.uuid4().hex}", "default"
    return request.getfixturevalue("neo4j_server").location, f"soak-{uuid.uuid4().hex}"


def test_killed_writers_leave_all_that_was_acknowledged_and_nothing_half(somewhere):
    figures = rounds.kill_writers(*somewhere, rounds=3)
    assert figures["acknowledged"] > 0


def test_feedback_of_many_processes_on_one_skill_is_counted_once_each(somewhere):
    assert rounds.same_feedback(*somewhere, processes=4, times=20)["feedbacks"] == 80


def test_many_processes_that_learn_the_same_make_each_skill_and_edge_once(somewhere):
    assert rounds.same_traces(*somewhere, processes=4, traces=10)["skills"] == 10


def test_everything_at_once_adds_up_and_leaves_the_doctor_nothing_to_say(somewhere):
    assert rounds.mixed(*somewhere, processes=3, seconds=3.0)["feedbacks"] > 0


@pytest.fixture
def mortal_server():
    server = rounds.killable_server(neo4j_version())
    try:
        server.start()
    except LocalServerError as error:
        missing(f"No Neo4j to kill: {error}")
    yield server
    server.stop()


@pytest.mark.neo4j
def test_a_server_killed_in_mid_load_loses_nothing_that_was_acknowledged(mortal_server):
    assert rounds.kill_server(mortal_server, rounds=1)["acknowledged"] > 0
