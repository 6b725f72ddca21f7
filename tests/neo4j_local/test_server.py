"""A real server on this machine: what it offers, what it refuses, and what is left when something dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from neo4j import GraphDatabase
from typer.testing import CliRunner

from brain.cli.neo4j_server import app
from brain.errors import LocalServerError
from brain.neo4j_local import LocalNeo4j, home_of
from brain.neo4j_local.ports import free_port, is_busy
from brain.neo4j_local.process import find_server
from tests.services import missing

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the servers of this module live, in place of the user's data folder; its name is unkind on purpose."""
    folder = tmp_path_factory.mktemp("dätä %s folder")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAIN_DATA_DIR", str(folder))
        yield folder


@pytest.fixture(scope="module")
def server(data_folder: Path) -> Iterator[LocalNeo4j]:
    """The one server that most tests look at, in the home `default`."""
    try:
        running = LocalNeo4j(bolt_port=0, http_port=0, heap="256m", quiet=True).start()
    except LocalServerError as error:
        missing(f"No local Neo4j to test: {error}")
    yield running
    running.stop()


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def query(server: LocalNeo4j, text: str) -> object:
    with GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        return driver.execute_query(text).records[0][0]


def test_it_answers_queries_with_its_random_password(server: LocalNeo4j) -> None:
    assert query(server, "RETURN 1") == 1
    assert len(server.password) == 32


def test_the_home_is_private(server: LocalNeo4j) -> None:
    assert stat.S_IMODE(server.home.stat().st_mode) == 0o700
    for name in ("password", "server.json", "conf/neo4j.conf"):
        assert stat.S_IMODE((server.home / name).stat().st_mode) == 0o600


def test_browser_is_served_and_told_the_right_bolt_address(server: LocalNeo4j) -> None:
    with urllib.request.urlopen(server.browser_url) as page:
        assert b"Neo4j Browser" in page.read()
    with urllib.request.urlopen(server.browser_url.removesuffix("browser/")) as document:
        assert json.load(document)["bolt_routing"] == server.uri


def test_it_listens_on_loopback_only(server: LocalNeo4j) -> None:
    process = find_server(server.status().pid, server.home)
    assert process is not None
    listening = [entry.laddr for entry in process.net_connections() if entry.status == "LISTEN"]
    assert {address.ip.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}
    assert len(listening) == 2


def test_second_start_on_one_home_says_it_is_locked(server: LocalNeo4j) -> None:
    config = (server.home / "conf" / "neo4j.conf").read_bytes()
    with pytest.raises(LocalServerError, match=r"locked: its server runs already, at neo4j://.*--name"):
        LocalNeo4j(bolt_port=0, http_port=0).start()
    assert (server.home / "conf" / "neo4j.conf").read_bytes() == config
    assert server.status().running


def test_a_store_used_by_a_server_that_is_not_on_record_is_locked_too(server: LocalNeo4j) -> None:
    record = server.home / "server.json"
    content = record.read_text()
    record.unlink()
    try:
        with pytest.raises(LocalServerError, match="locked: another Neo4j uses its data"):
            LocalNeo4j(bolt_port=0, http_port=0).start()
    finally:
        record.write_text(content)


def test_a_busy_port_is_refused_before_anything_is_written(server: LocalNeo4j) -> None:
    other = home_of("other")
    with pytest.raises(LocalServerError, match=r"Port \d+ \(--bolt-port, asked for\) is busy.*0 for any free one"):
        LocalNeo4j(other, bolt_port=int(server.uri.rsplit(":", 1)[1])).start()
    assert not (other / "conf" / "neo4j.conf").exists()
    assert not (other / "password").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heap": "900g"}, r"needs about \d+ MiB of memory, and \d+ MiB are free"),
        ({"heap": "64m"}, "too small"),
        ({"heap": "much"}, "no heap size"),
        ({"bolt_port": 70000}, "no port"),
        ({"bolt_port": 5001, "http_port": 5001}, "cannot share"),
        ({"version": "4.4.0"}, "not among the versions"),
    ],
)
def test_impossible_options_are_refused(data_folder: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(LocalServerError, match=message):
        LocalNeo4j(home_of("refused"), **options).start()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 65, "a\n"])
def test_a_name_that_leaves_the_folder_is_refused(name: str) -> None:
    with pytest.raises(LocalServerError, match="cannot name a server"):
        home_of(name)


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalServerError, match=r"cannot be written.*BRAIN_DATA_DIR"):
        LocalNeo4j(tmp_path / "file" / "home").start()


def test_a_pid_that_now_belongs_to_a_stranger_is_not_ours(tmp_path: Path) -> None:
    assert find_server(os.getpid(), tmp_path) is None
    assert find_server(1, tmp_path) is None
    (tmp_path / "server.json").write_text(
        json.dumps({"version": "2026.09.0", "bolt_port": 1, "http_port": 2, "pid": os.getpid()})
    )
    assert not LocalNeo4j(tmp_path).status().running
    assert LocalNeo4j(tmp_path).stop() is False


def test_the_commands_describe_the_running_server(server: LocalNeo4j) -> None:
    run = CliRunner().invoke
    shown = run(app, ["status", "--json"])
    data = json.loads(shown.stdout)
    assert shown.exit_code == 0
    assert (data["running"], data["uri"], data["pid"]) == (True, server.uri, server.status().pid)
    command = f'{data["next"]}; printf %s "$BRAIN_STORE"'
    exported = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout
    assert exported == server.uri.replace("://", f"://neo4j:{server.password}@")
    assert server.password not in run(app, ["status"]).stdout
    assert "Started." in run(app, ["logs", "--lines", "3"]).stdout
    assert run(app, ["status", "--name", "absent"]).exit_code == 1
    assert run(app, ["stop", "--name", "absent"]).exit_code == 0


def test_a_killed_server_starts_again_with_its_data_on_its_port(server: LocalNeo4j) -> None:
    query(server, "CREATE (n:Kept {value: 7}) RETURN 1")
    before, pid = server.uri, server.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: not server.status().running)
    LocalNeo4j(heap="256m").start()
    assert server.uri == before
    assert query(server, "MATCH (n:Kept) RETURN n.value") == 7


def test_what_the_last_start_used_is_kept_or_refused(server: LocalNeo4j) -> None:
    assert server.stop()
    assert server.stop() is False
    port = int(server.uri.rsplit(":", 1)[1])
    with socket.create_server(("127.0.0.1", port)), pytest.raises(LocalServerError, match="used last time"):
        LocalNeo4j(http_port=0).start()
    with pytest.raises(LocalServerError, match=r"belongs to Neo4j .* and Neo4j 5\.26\.30 cannot read it"):
        LocalNeo4j(version="5.26.30").start()
    password = server.password
    server.password_file.unlink()
    with pytest.raises(LocalServerError, match="password is missing"):
        LocalNeo4j().start()
    server.password_file.write_text(password)


def test_an_ephemeral_server_of_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    program = (
        "import sys, time; from brain.neo4j_local import LocalNeo4j\n"
        "s = LocalNeo4j(ephemeral=True, version='5.26.30', heap='256m').start()\n"
        "print(s.home, s.status().pid, s.uri.rsplit(':', 1)[1], flush=True); time.sleep(600)"
    )
    owner = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    home, pid, port = owner.stdout.readline().split()
    assert find_server(int(pid), Path(home)) is not None
    owner.kill()
    owner.communicate()
    until(lambda: find_server(int(pid), Path(home)) is None and not Path(home).exists())
    assert not is_busy(int(port))


def test_a_server_that_dies_while_starting_is_an_error_that_names_its_logs(tmp_path: Path) -> None:
    home = tmp_path / "home"
    starting = LocalNeo4j(home, bolt_port=free_port(), http_port=free_port(), heap="256m")

    def kill_when_launched() -> None:
        until(lambda: starting.status().running)
        os.kill(int(starting.status().pid or 0), signal.SIGKILL)

    killer = threading.Thread(target=kill_when_launched)
    killer.start()
    with pytest.raises(LocalServerError, match=r"ended while it was starting[\s\S]*logs are in .*data is kept"):
        starting.start()
    killer.join()
    assert not starting.status().running


def test_a_start_that_takes_too_long_is_ended_and_says_what_it_waited_for(tmp_path: Path) -> None:
    slow = LocalNeo4j(tmp_path / "home", bolt_port=free_port(), http_port=free_port(), heap="256m")
    with pytest.raises(LocalServerError, match=r"within 0\.5 seconds: nothing listens .*logs are in"):
        slow.start(timeout=0.5)
    assert not slow.status().running
