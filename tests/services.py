"""Which Neo4j and which Redis do the tests run on?

The first of these that is there: the server that `BRAIN_TEST_NEO4J_URI` names (with BRAIN_TEST_NEO4J_USER and
BRAIN_TEST_NEO4J_PASSWORD), a container when Docker answers, or a temporary local server that the package itself
starts. `BRAIN_TEST_NEO4J_VERSION` chooses the version of the last two. Without any, a test is skipped with the
reason, or fails where `CI=true`.

Parallel workers of one run share one server: the first that needs it starts it, the others find it in the run's
shared folder. A local one belongs to the run's main process and ends with it, however that ends.

Redis is found in the same order: `BRAIN_TEST_REDIS_URL`, a container, a `redis-server` that the test starts on a free
port, without persistence. It starts at once, so each worker has its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn

import pytest

from brain.errors import LocalServerError
from brain.neo4j_local import DEFAULT_VERSION, LocalNeo4j

SHARED_FIELDS = ("uri", "user", "password", "version", "source")


@dataclass
class Neo4jService:
    """A server to test on. `source` is "environment", "container" or "local"."""

    uri: str
    user: str
    password: str = field(repr=False)
    version: str
    source: str
    stop: Callable[[], object] = field(default=lambda: None, repr=False, compare=False)

    @property
    def auth(self) -> tuple[str, str]:
        return self.user, self.password

    @property
    def location(self) -> str:
        """The address with credentials, as `Brain.open` takes it."""
        return self.uri.replace("://", f"://{self.user}:{self.password}@", 1)


def neo4j_service(shared: Path | None = None) -> Neo4jService:
    """Find or start the server; skip or fail the calling test when there is none.

    `shared` is a folder common to all workers of one run; without it, or without parallel workers, the server
    belongs to the caller, who calls `stop()`.
    """
    uri = os.environ.get("BRAIN_TEST_NEO4J_URI")
    if uri:
        return _from_environment(uri)
    try:
        if shared is not None and worker() is not None:
            return _shared(shared)
        return _started(owner=os.getpid())
    except LocalServerError as error:
        missing(f"No Neo4j for the tests: {error}")


def worker() -> str | None:
    """The name of this worker of a parallel run, or None in a run of one process."""
    return os.environ.get("PYTEST_XDIST_WORKER")


def missing(reason: str) -> NoReturn:
    """Fail the calling test where CI=true, else skip it."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def neo4j_version() -> str:
    """The version that the tests are to run on."""
    return os.environ.get("BRAIN_TEST_NEO4J_VERSION") or DEFAULT_VERSION


def _from_environment(uri: str) -> Neo4jService:
    user = os.environ.get("BRAIN_TEST_NEO4J_USER", "neo4j")
    password = os.environ.get("BRAIN_TEST_NEO4J_PASSWORD", "")
    try:
        version = _version_of(uri, user, password)
    except Exception as error:
        pytest.fail(f"BRAIN_TEST_NEO4J_URI is {uri}, and no usable Neo4j answers there: {error}", pytrace=False)
    return Neo4jService(uri, user, password, version, "environment")


def _version_of(uri: str, user: str, password: str) -> str:
    from neo4j import GraphDatabase

    with GraphDatabase.driver(uri, auth=(user, password)) as driver, driver.session() as session:
        statement = (
            "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version"
        )
        return str(session.run(statement).single(strict=True)["version"])


def _started(owner: int) -> Neo4jService:
    begun = time.monotonic()
    service = _container() or _local(owner)
    seconds = time.monotonic() - begun
    sys.stderr.write(f"Neo4j {service.version} ({service.source}) at {service.uri}, ready in {seconds:.1f} s\n")
    return service


def _container() -> Neo4jService | None:
    """A container, or None without testcontainers or without a Docker that answers."""
    try:
        from docker.errors import DockerException
        from testcontainers.community.neo4j import Neo4jContainer
    except ImportError:
        return None
    version, password = neo4j_version(), os.urandom(12).hex()
    try:
        container: Any = Neo4jContainer(f"neo4j:{version}", password=password)
        container.start()
    except DockerException:  # no daemon answers, or it cannot get the image
        return None
    return Neo4jService(
        container.get_connection_url().replace("bolt://", "neo4j://"),
        "neo4j",
        password,
        version,
        "container",
        container.stop,
    )


def _local(owner: int) -> Neo4jService:
    server = LocalNeo4j(ephemeral=True, version=neo4j_version(), owner=owner).start()
    return Neo4jService(server.uri, server.user, server.password, server.version, "local", server.stop)


def _shared(folder: Path) -> Neo4jService:
    """The run's server: found when another worker started it, else started for all.

    Every user holds a shared lock until its `stop`. Only the worker that started a container ends it, after
    the others let go, because Docker's own cleaner would end it with that worker. A local server needs no one:
    it is watched for the run's main process, the parent of every worker.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "run")
    users = (folder / f"neo4j-{run}.users").open("a")  # open until stop: its lock says "in use"
    with _locked(folder / f"neo4j-{run}.lock"):
        _lock(users, shared=True)
        note = folder / f"neo4j-{run}.json"
        if note.exists():
            service = Neo4jService(**json.loads(note.read_text()))
            service.stop = users.close
            return service
        service = _started(owner=os.getppid())
        end = service.stop
        note.touch(0o600)
        note.write_text(json.dumps({key: getattr(service, key) for key in SHARED_FIELDS}))

    def stop() -> None:
        if service.source == "container":
            _lock(users, shared=False)  # waits for the others
            with _locked(folder / f"neo4j-{run}.lock"):
                note.unlink()
            end()
        users.close()

    service.stop = stop
    return service


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        _lock(lock, shared=False)
        yield


def _lock(file: IO[str], *, shared: bool) -> None:
    import fcntl

    fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


@dataclass
class RedisService:
    """A Redis to test on. `source` is "environment", "container" or "local"."""

    url: str
    source: str
    stop: Callable[[], object] = field(default=lambda: None, repr=False, compare=False)


def redis_service() -> RedisService:
    """Find or start a Redis; skip or fail the calling test when there is none."""
    url = os.environ.get("BRAIN_TEST_REDIS_URL")
    if url:
        _answering(url, f"BRAIN_TEST_REDIS_URL is {url}, and no usable Redis answers there")
        return RedisService(url.rstrip("/"), "environment")
    return _redis_container() or own_redis()


def own_redis(*options: str, port: int | None = None) -> RedisService:
    """A `redis-server` of the caller's own, started with `options`, who calls `stop()`; skips or fails without one."""
    program = shutil.which("redis-server")
    if program is None:
        missing("No Redis for the tests: set BRAIN_TEST_REDIS_URL, start Docker, or install redis-server.")
    if port is None:
        with socket.create_server(("127.0.0.1", 0)) as found:
            port = found.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def stop() -> None:
        server.terminate()
        server.wait()

    url = f"redis://127.0.0.1:{port}"
    try:
        _answering(url, "The redis-server that was started does not answer")
    except BaseException:
        stop()
        raise
    return RedisService(url, "local", stop)


def _answering(url: str, otherwise: str) -> None:
    """Waits until a Redis answers, be it with a refusal; fails the test with `otherwise` if none does."""
    import redis

    begun = time.monotonic()
    while True:
        try:
            with contextlib.closing(redis.Redis.from_url(url, protocol=2, socket_timeout=10, retry=None)) as client:
                client.ping()
            return
        except (redis.AuthenticationError, redis.BusyLoadingError):
            return
        except redis.RedisError as error:
            if time.monotonic() - begun > 10:
                pytest.fail(f"{otherwise}: {error}", pytrace=False)
        time.sleep(0.01)


def _redis_container() -> RedisService | None:
    """A container, or None without testcontainers or without a Docker that answers."""
    try:
        from docker.errors import DockerException
        from testcontainers.community.redis import RedisContainer
    except ImportError:
        return None
    try:
        container: Any = RedisContainer("redis:7")
        container.start()
    except DockerException:
        return None
    url = f"redis://{container.get_container_host_ip()}:{container.get_exposed_port(6379)}"
    return RedisService(url, "container", container.stop)
