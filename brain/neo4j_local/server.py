"""How is a real Neo4j run on this machine without Docker?"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from brain.errors import LocalServerError
from brain.neo4j_local import java, ports
from brain.neo4j_local.cache import install
from brain.neo4j_local.home import USER, Home, Record, home_of
from brain.neo4j_local.pinned import DEFAULT_VERSION, pinned_jars
from brain.neo4j_local.process import POLL_SECONDS, end_server, find_server, launch


@dataclass(frozen=True)
class ServerStatus:
    """What is known about the server of one home. Addresses are those of the last start."""

    running: bool
    home: Path
    version: str | None
    pid: int | None
    uri: str | None
    browser_url: str | None
    user: str
    password_file: Path
    started_at: str | None


class LocalNeo4j:
    """A Neo4j Community server on 127.0.0.1, in one home folder, with its data kept between starts.

    - `home`: the folder; by default the one of the name "default" in the user's data folder.
    - `version`: one of `pinned_versions()`; by default the home's own, or the newest for a new home.
    - `bolt_port`, `http_port`: 0 is any free one; by default those of the last start; for a new home 7687 and
      7474, or any free ones when these are busy.
    - `heap`: Java's heap, as `512m` or `2g`.
    - `ephemeral`: a temporary home and free ports; everything is deleted at `stop`, and when the process
      `owner` (a pid, this process by default) ends in any way. As a context manager it starts and stops.

    Every failure is a `LocalServerError` that says what to do next.
    """

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        version: str | None = None,
        bolt_port: int | None = None,
        http_port: int | None = None,
        heap: str = "512m",
        ephemeral: bool = False,
        owner: int | None = None,
        quiet: bool = False,
    ) -> None:
        if ephemeral and home is not None:
            raise LocalServerError("An ephemeral server has a temporary home. Leave out home, or ephemeral=True.")
        any_free = 0 if ephemeral else None
        self._asked_version = version
        self._asked_bolt = any_free if bolt_port is None else bolt_port
        self._asked_http = any_free if http_port is None else http_port
        self._heap = heap
        self._ephemeral = ephemeral
        self._owner = owner
        self._quiet = quiet
        self._home: Home | None = None if ephemeral else Home(Path(home) if home else home_of("default"))

    @property
    def home(self) -> Path:
        """The folder. An ephemeral server has one between `start` and `stop` only."""
        return self._files.path

    @property
    def version(self) -> str:
        """The version of the last start."""
        return self._record.version

    @property
    def uri(self) -> str:
        """The address for drivers, without credentials."""
        return f"neo4j://{ports.HOST}:{self._record.bolt_port}"

    @property
    def browser_url(self) -> str:
        """The address of Neo4j Browser."""
        return f"http://{ports.HOST}:{self._record.http_port}/browser/"

    @property
    def user(self) -> str:
        """The user with all rights."""
        return USER

    @property
    def password(self) -> str:
        """The password of `user`, from the home."""
        return self._files.password()

    @property
    def password_file(self) -> Path:
        """The file that holds the password and nothing else."""
        return self._files.password_file

    @property
    def log_file(self) -> Path:
        """The server's log."""
        return self._files.server_log

    def start(self, timeout: float = 90) -> Self:
        """Install what is missing, start the server, and return when it answers a query.

        `timeout` is in seconds and counts from the launch, not the download. What can be refused is refused
        before anything is downloaded or written into the configuration.
        """
        self._check_machine()
        if self._ephemeral and self._home is None:
            self._home = Home(Path(tempfile.mkdtemp(prefix="brain-neo4j-")).resolve())
        try:
            self._files.prepare()
            self._refuse_running()
            with self._files.starting():
                self._refuse_running()
                record = self._plan()
                jars = install(record.version, quiet=self._quiet)
                self._launch(record, jars, timeout)
        except BaseException:
            if self._ephemeral:
                self.stop()
            raise
        return self

    def stop(self, timeout: float = 30) -> bool:
        """End the server, and delete the home of an ephemeral one. False when none was running.

        A server that has not ended after `timeout` seconds is killed.
        """
        if self._home is None:
            return False
        record = self._home.read_record()
        ended = False
        if record is not None:
            ended = end_server(record.pid, self.home, timeout)
            if record.pid is not None and not self._ephemeral:
                self._home.write_record(Record(record.version, record.bolt_port, record.http_port))
        if self._ephemeral:
            shutil.rmtree(self.home, ignore_errors=True)
            self._home = None
        return ended

    def status(self) -> ServerStatus:
        """Whether the server runs, and where; writes nothing."""
        files = self._files
        record = files.read_record()
        running = record is not None and find_server(record.pid, files.path) is not None
        return ServerStatus(
            running=running,
            home=files.path,
            version=record.version if record else None,
            pid=record.pid if record and running else None,
            uri=self.uri if record else None,
            browser_url=self.browser_url if record else None,
            user=USER,
            password_file=files.password_file,
            started_at=record.started_at if record and running else None,
        )

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def _files(self) -> Home:
        if self._home is None:
            raise LocalServerError("This ephemeral server is not running. Call start() first.")
        return self._home

    @property
    def _record(self) -> Record:
        record = self._files.read_record()
        if record is None:
            raise LocalServerError(f"No server was started in {self.home} yet. Start it: brain neo4j start")
        return record

    def _check_machine(self) -> None:
        if os.name != "posix":
            raise LocalServerError(
                "The local Neo4j runs on Linux and macOS only. Here, use docker/compose.yaml or WSL."
            )
        java.check_memory(java.parse_heap(self._heap))
        java.java_executable()

    def _refuse_running(self) -> None:
        status = self.status()
        if status.running:
            raise LocalServerError(
                f"The home {self.home} is locked: its server runs already, at {status.uri}, "
                f"pid {status.pid}. Use that one, or `brain neo4j stop` it first, or start another with --name."
            )

    def _plan(self) -> Record:
        """Version and ports of this start, checked."""
        before = self._files.read_record()
        version = self._files.choose_version(self._asked_version, DEFAULT_VERSION)
        pinned_jars(version)
        last = (before.bolt_port, before.http_port) if before else (None, None)
        bolt = ports.choose_port("--bolt-port", self._asked_bolt, last[0], ports.DEFAULT_BOLT)
        http = ports.choose_port("--http-port", self._asked_http, last[1], ports.DEFAULT_HTTP)
        if bolt == http:
            raise LocalServerError(f"Bolt and HTTP cannot share port {bolt}. Choose another --http-port.")
        return Record(version, bolt, http)

    def _launch(self, plan: Record, jars: list[Path], timeout: float) -> None:
        files = self._files
        heap_mib = java.parse_heap(self._heap)
        environment = java.java_environment(jars, files.path)
        password = files.password()
        if not files.has_data:
            self._set_first_password(environment)
        files.write_config(configuration(plan, heap_mib))
        for log in (files.server_log, files.console_log):
            if log.exists():
                log.replace(log.with_suffix(".previous.log"))
        command = java.server_command(plan.version, files.path, heap_mib, fast=self._ephemeral)
        owner = (self._owner or os.getpid()) if self._ephemeral else None
        pid = launch(command, environment, files.console_log, owner, files.path if self._ephemeral else None)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        files.write_record(Record(plan.version, plan.bolt_port, plan.http_port, pid, started))
        try:
            self._await_ready(pid, password, timeout)
        except BaseException:
            end_server(pid, files.path, timeout=10)
            raise

    def _set_first_password(self, environment: dict[str, str]) -> None:
        command = java.password_command(self.password_file)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LocalServerError(
                f"The first password could not be set: {(done.stderr or done.stdout).strip()[-500:]}. "
                f"If {self.home} holds nothing you need, delete it and start again."
            )

    def _await_ready(self, pid: int, password: str, timeout: float) -> None:
        """Return when the server answers a query; raise when it ends or the time is over."""
        deadline = time.monotonic() + timeout
        port = self._record.bolt_port
        reason: str | None = "nothing listens on its port yet"
        while time.monotonic() < deadline:
            if find_server(pid, self.home) is None:
                raise LocalServerError(self._failure(f"Neo4j {self.version} ended while it was starting"))
            if ports.is_busy(port):
                reason = refusal(port, password, self.password_file)
                if reason is None:
                    return
            time.sleep(POLL_SECONDS)
        what = f"Neo4j {self.version} did not answer a query within {timeout:g} seconds: {reason}"
        raise LocalServerError(self._failure(what))

    def _failure(self, what: str) -> str:
        errors = self._files.last_errors()
        found = f" Its logs say:\n  {errors}\n" if errors else " "
        kept = "" if self._ephemeral else f"The logs are in {self.log_file.parent}. "
        return f"{what}.{found}{kept}Correct the cause and start it again; the data is kept."


def configuration(plan: Record, heap_mib: int) -> dict[str, str]:
    """The settings in `neo4j.conf`: loopback only, nothing reported, quick to stop, small on disk.

    The advertised addresses are what Browser connects to; without them it is told the default port.
    """
    addresses = {"bolt": f"{ports.HOST}:{plan.bolt_port}", "http": f"{ports.HOST}:{plan.http_port}"}
    listening = {f"server.{name}.listen_address": address for name, address in addresses.items()}
    advertised = {f"server.{name}.advertised_address": address for name, address in addresses.items()}
    return {
        **listening,
        **advertised,
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        "server.memory.pagecache.size": f"{java.page_cache_mib(heap_mib)}m",
        "db.tx_log.preallocate": "false",
        "internal.server.bolt.thread_pool_shutdown_wait_time": "0s",
    }


def refusal(port: int, password: str, password_file: Path) -> str | None:
    """Why the server does not answer a query yet, or None when it does.

    Raises `LocalServerError` when it refuses the password, which waiting does not change.
    """
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    address = f"bolt://{ports.HOST}:{port}"
    with GraphDatabase.driver(address, auth=(USER, password), connection_timeout=5) as driver:
        try:
            driver.verify_connectivity()
            with driver.session() as session:
                session.run("RETURN 1").consume()
        except AuthError as error:
            raise LocalServerError(
                f"The server refuses the password in {password_file}; it was changed in the database. "
                "Write the present password into that file and start again."
            ) from error
        except (DriverError, Neo4jError) as error:
            return str(error)
    return None
