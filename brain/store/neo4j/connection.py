"""How does Cypher reach the server? One driver a store, transactions tried again, errors that say the remedy."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import neo4j
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, ConfigurationError, DriverError, IncompleteCommit, Neo4jError

from brain.errors import LocationError, StoreError
from brain.store.neo4j import torn
from brain.store.neo4j.access import credentials, explained, renewed, words
from brain.store.neo4j.torn import Look, TornReadError
from brain.store.statements import Statement, data_folder, load

RETRY_SECONDS = 30.0
"""How long a transaction is tried again after its first passing fault: a lost connection, a deadlock."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
"""Seconds before the first new attempt, and before the later ones at most; each is twice the one before."""
OLDEST_SERVER = (5, 26)
"""The oldest Neo4j that every statement is tested on."""

DRIVER_OPTIONS: dict[str, Any] = {
    "user_agent": "brain",
    "notifications_min_severity": "OFF",
    "max_connection_pool_size": 50,  # threads of one process that are inside a call at once
    "connection_timeout": 10.0,  # seconds to open a connection
    "connection_acquisition_timeout": RETRY_SECONDS,  # seconds to wait for a free one
    "connection_write_timeout": RETRY_SECONDS,  # seconds until a server that takes nothing more is given up
    "max_connection_lifetime": 1800.0,  # seconds; load balancers cut older ones
    "liveness_check_timeout": 60.0,  # seconds of idleness after which a connection is tested before it is used
    "max_transaction_retry_time": 0.0,  # we try again ourselves: the driver's pauses grow without an end
}

_LOG_OF_DRIVER, _QUIET = logging.getLogger("neo4j"), logging.NullHandler()
"""What the driver has to say comes as our errors. Without any handler, Python would write its warnings to stderr."""

Result = TypeVar("Result")
Row = dict[str, Any]


class Transaction:
    """Named statements inside one transaction, or each in one of its own."""

    def __init__(
        self,
        runner: neo4j.ManagedTransaction | neo4j.Session,
        statements: dict[str, Statement],
        namespace: str,
        look: Look | None = None,
    ) -> None:
        """One that reads has a `look`; one that writes has none, as it holds the lock of what it reads."""
        self._runner, self._statements = runner, statements
        self._namespace, self._look = namespace, look

    def doubt(self, *sight: object) -> bool:
        """Looks again if what was seen may be half of what another transaction commits; see `Look.doubt`."""
        return self._look is not None and self._look.doubt(*sight)

    def rows(self, name: str, /, *, slots: dict[str, str] | None = None, **parameters: Any) -> list[Row]:
        """All rows of a statement; `namespace` is filled in."""
        return [dict(record) for record in self._run(name, slots or {}, parameters)]

    def row(self, name: str, /, *, slots: dict[str, str] | None = None, **parameters: Any) -> Row | None:
        """The first row of a statement, or None."""
        rows = self.rows(name, slots=slots, **parameters)
        return rows[0] if rows else None

    def value(self, name: str, /, *, slots: dict[str, str] | None = None, **parameters: Any) -> Any:
        """The first value of the first row of a statement, or None."""
        rows = self.values(name, slots=slots, **parameters)
        return rows[0][0] if rows else None

    def values(self, name: str, /, *, slots: dict[str, str] | None = None, **parameters: Any) -> list[list[Any]]:
        """All rows of a statement as plain lists, in the order of its columns."""
        return [list(record.values()) for record in self._run(name, slots or {}, parameters)]

    def _run(self, name: str, slots: dict[str, str], parameters: Row) -> neo4j.Result:
        statement = self._statements[name]
        if "namespace" in statement.parameters:
            parameters["namespace"] = self._namespace
        statement.check(parameters, "read" if self._look else "write")
        return self._runner.run(statement.filled(**slots), parameters)


class Connection:
    """One driver for one database, safe to use from many threads."""

    def __init__(self, location: str, shown: str, namespace: str, auth: Any = None) -> None:
        self._shown, self._namespace = shown, namespace
        self._process, self._closed = os.getpid(), False
        self._settled: set[int] = set()
        self._statements = load(data_folder("cypher"), "*.cypher")
        parts = urlsplit(location)
        self._database = parse_qs(parts.query).get("database", [os.environ.get("NEO4J_DATABASE")])[0]
        self._auth = credentials(auth, parts.username, parts.password)
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        _LOG_OF_DRIVER.addHandler(_QUIET)
        try:
            self._driver = GraphDatabase.driver(address, auth=self._auth, **DRIVER_OPTIONS)
        except (ConfigurationError, ValueError) as error:
            raise LocationError(f"{shown} cannot be used ({words(error)}). Check the location.", shown) from error
        try:
            self._check_server()
        except BaseException:
            self._driver.close()
            raise

    def close(self) -> None:
        """Closes every connection; closing twice is fine."""
        self._closed = True
        self._driver.close()

    def ask(self, work: Callable[[Transaction], Result]) -> Result:
        """Runs `work`, whose statements read, each without BEGIN and COMMIT: one round trip instead of three."""

        def attempt(look: Look) -> Result:
            return self._again(neo4j.READ_ACCESS, lambda session: work(self._transaction(session, look)))

        return self._whole(attempt)

    def read(self, work: Callable[[Transaction], Result]) -> Result:
        """Runs `work` in a read transaction."""

        def attempt(look: Look) -> Result:
            def reading(tx: neo4j.ManagedTransaction) -> Result:
                return work(self._transaction(tx, look))

            return self._again(neo4j.READ_ACCESS, lambda session: session.execute_read(reading))

        return self._whole(attempt)

    def write(self, work: Callable[[Transaction], Result], *, alone: bool = False) -> Result:
        """Runs `work` in a write transaction. It may be run twice after it was committed; see `Lock.repeated`.

        What is one statement `alone` goes without BEGIN and COMMIT: one round trip instead of three.
        """
        if alone:
            return self._again(neo4j.WRITE_ACCESS, lambda session: work(self._transaction(session)))

        def writing(tx: neo4j.ManagedTransaction) -> Result:
            return work(self._transaction(tx))

        return self._again(neo4j.WRITE_ACCESS, lambda session: session.execute_write(writing))

    def schema(self, text: str) -> None:
        """Runs one statement of a migration, which can be run twice, in a transaction of its own or in several."""
        self._again(neo4j.WRITE_ACCESS, lambda session: session.run(text).consume())

    def statement(self, name: str) -> Statement:
        """A named statement."""
        return self._statements[name]

    def _transaction(self, runner: neo4j.ManagedTransaction | neo4j.Session, look: Look | None = None) -> Transaction:
        return Transaction(runner, self._statements, self._namespace, look)

    def _whole(self, attempt: Callable[[Look], Result]) -> Result:
        """What `attempt` gives; again, after a pause, as long as it doubts what it saw."""
        pause = torn.FIRST_PAUSE
        for _ in range(torn.TORN_READS):
            with contextlib.suppress(TornReadError):
                return attempt(Look(self._settled, last=False))
            time.sleep(pause)
            pause = min(2 * pause, torn.LONGEST_PAUSE)
        return attempt(Look(self._settled, last=True))

    def _again(self, access: str, call: Callable[[neo4j.Session], Result]) -> Result:
        """Runs `call`, and again after every passing fault.

        That includes a connection that broke while the server was committing. The driver cannot know then whether it
        did; we can, because the operation is noted with what it wrote.
        """
        self._check_usable()
        deadline, pause, refused = 0.0, FIRST_PAUSE, False
        with self._errors():
            while True:
                try:
                    with self._session(access) as session:
                        return call(session)
                except (DriverError, Neo4jError) as error:
                    passing = isinstance(error, IncompleteCommit) or error.is_retryable()
                    if isinstance(error, AuthError) and not refused:
                        passing, refused = renewed(self._auth, error), True
                    deadline = deadline or time.monotonic() + RETRY_SECONDS
                    if not passing or time.monotonic() > deadline:
                        raise
                time.sleep(pause * random.uniform(0.8, 1.2))
                pause = min(2 * pause, LONGEST_PAUSE)

    def _check_usable(self) -> None:
        if os.getpid() != self._process:
            raise StoreError(
                f"{self._shown} was opened by another process. Open the brain after the fork.", self._shown
            )
        if self._closed:
            raise StoreError(f"{self._shown} was closed. Open the brain again.", self._shown)

    def _session(self, access: str) -> neo4j.Session:
        return self._driver.session(
            database=self._database,
            default_access_mode=access,
            # in a cluster, reads see what this process wrote
            bookmark_manager=self._driver.execute_query_bookmark_manager,
        )

    def _check_server(self) -> None:
        """Fails quickly and clearly, where a managed transaction would try again for half a minute."""
        with self._errors():
            try:
                info = self._driver.get_server_info()
            except AuthError as error:
                if not renewed(self._auth, error):
                    raise
                info = self._driver.get_server_info()
        version = str(info.agent).partition("/")[2]
        numbers = tuple(int(n) for n in version.split(".")[:2] if n.isdigit())
        if numbers and numbers < OLDEST_SERVER:
            raise StoreError(
                f"{self._shown} runs Neo4j {version}; 5.26 or newer is needed. Upgrade the server.", self._shown
            )

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (DriverError, Neo4jError, OSError) as error:
            raise explained(error, self._shown) from error
