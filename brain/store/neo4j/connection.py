"""How does Cypher reach the server? One driver a store, transactions tried again, errors that say the remedy."""

from __future__ import annotations

import contextlib
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
from brain.store.neo4j.access import credentials, explained, renewed, words
from brain.store.statements import Statement, data_folder, load

RETRY_SECONDS = 30.0
"""How long a transaction is tried again after a lost connection or a deadlock."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
"""Seconds before the first new attempt, and before the later ones at most; each is twice the one before."""
OLDEST_SERVER = (5, 26)
"""The oldest Neo4j that every statement is tested on."""
TORN_READS = 10
"""How often a read is repeated in which a skill was written anew meanwhile."""

DRIVER_OPTIONS: dict[str, Any] = {
    "user_agent": "brain",
    "notifications_min_severity": "OFF",
    "max_connection_pool_size": 50,  # threads of one process that are inside a call at once
    "connection_timeout": 10.0,  # seconds to open a connection
    "connection_acquisition_timeout": RETRY_SECONDS,  # seconds to wait for a free one
    "connection_write_timeout": RETRY_SECONDS,  # seconds until a server that takes nothing more is given up
    "max_connection_lifetime": 1800.0,  # seconds; load balancers cut older ones
    "liveness_check_timeout": 60.0,  # seconds of idleness after which a connection is tested before it is used
    "max_transaction_retry_time": RETRY_SECONDS,
    "initial_retry_delay": FIRST_PAUSE,
}

Result = TypeVar("Result")
Row = dict[str, Any]


class TornReadError(Exception):
    """A skill was written anew while it was read."""


class Transaction:
    """Named statements inside one transaction, or each in one of its own."""

    def __init__(
        self,
        runner: neo4j.ManagedTransaction | neo4j.Session,
        statements: dict[str, Statement],
        namespace: str,
        mode: str,
        *,
        may_be_torn: bool = False,
    ) -> None:
        self._runner, self._statements = runner, statements
        self._namespace, self._mode = namespace, mode
        self.may_be_torn = may_be_torn

    def rows(self, name: str, /, *, slots: dict[str, str] | None = None, **parameters: Any) -> list[Row]:
        """All rows of a statement; `namespace` is filled in."""
        return [dict(record) for record in self._run(name, slots or {}, parameters)]

    def row(self, name: str, /, *, slots: dict[str, str] | None = None, **parameters: Any) -> Row | None:
        """The first row of a statement, or None."""
        rows = self.rows(name, slots=slots, **parameters)
        return rows[0] if rows else None

    def value(self, name: str, /, **parameters: Any) -> Any:
        """The first value of the first row of a statement, or None."""
        rows = self.values(name, **parameters)
        return rows[0][0] if rows else None

    def values(self, name: str, /, **parameters: Any) -> list[list[Any]]:
        """All rows of a statement as plain lists, in the order of its columns."""
        return [list(record.values()) for record in self._run(name, {}, parameters)]

    def _run(self, name: str, slots: dict[str, str], parameters: Row) -> neo4j.Result:
        statement = self._statements[name]
        if "namespace" in statement.parameters:
            parameters["namespace"] = self._namespace
        statement.check(parameters, self._mode)
        return self._runner.run(statement.filled(**slots), parameters)


class Connection:
    """One driver for one database, safe to use from many threads."""

    def __init__(self, location: str, shown: str, namespace: str, auth: Any = None) -> None:
        self._shown, self._namespace = shown, namespace
        self._process, self._closed = os.getpid(), False
        self._statements = load(data_folder("cypher"), "*.cypher")
        parts = urlsplit(location)
        self._database = parse_qs(parts.query).get("database", [os.environ.get("NEO4J_DATABASE")])[0]
        self._auth = credentials(auth, parts.username, parts.password)
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
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
        """Runs `work`, which is one statement that reads, without BEGIN and COMMIT: one round trip instead of three."""

        def asking(session: neo4j.Session, may_be_torn: bool) -> Result:
            return work(self._transaction(session, "read", may_be_torn))

        return self._whole(lambda torn: self._again(neo4j.READ_ACCESS, lambda session: asking(session, torn), True))

    def read(self, work: Callable[[Transaction], Result]) -> Result:
        """Runs `work` in a read transaction."""

        def attempt(may_be_torn: bool) -> Result:
            def reading(tx: neo4j.ManagedTransaction) -> Result:
                return work(self._transaction(tx, "read", may_be_torn))

            return self._again(neo4j.READ_ACCESS, lambda session: session.execute_read(reading))

        return self._whole(attempt)

    def write(self, work: Callable[[Transaction], Result]) -> Result:
        """Runs `work` in a write transaction. It may be run twice after it was committed; see `Lock.repeated`."""

        def writing(tx: neo4j.ManagedTransaction) -> Result:
            return work(self._transaction(tx, "write", False))

        return self._again(neo4j.WRITE_ACCESS, lambda session: session.execute_write(writing))

    def schema(self, text: str) -> None:
        """Runs one statement of a migration, which can be run twice, in a transaction of its own or in several."""
        self._again(neo4j.WRITE_ACCESS, lambda session: session.run(text).consume(), True)

    def statement(self, name: str) -> Statement:
        """A named statement."""
        return self._statements[name]

    def _transaction(
        self, runner: neo4j.ManagedTransaction | neo4j.Session, mode: str, may_be_torn: bool
    ) -> Transaction:
        return Transaction(runner, self._statements, self._namespace, mode, may_be_torn=may_be_torn)

    def _whole(self, attempt: Callable[[bool], Result]) -> Result:
        """What `attempt` gives, again if `TornReadError` was raised.

        The server shows what others commit in the middle of a read. The last attempt takes what is there: a part may
        be missing for good, because somebody removed it by hand.
        """
        for _ in range(TORN_READS):
            with contextlib.suppress(TornReadError):
                return attempt(True)
        return attempt(False)

    def _again(self, access: str, call: Callable[[neo4j.Session], Result], single: bool = False) -> Result:
        """Runs `call`, and again when the connection broke while the server was committing.

        The driver cannot know then whether it did; we can, because the operation is noted with what it wrote. What is a
        `single` statement is tried again here after every passing fault; the driver does it for the others.
        """
        self._check_usable()
        deadline, pause = time.monotonic() + RETRY_SECONDS, FIRST_PAUSE
        refused = False
        with self._errors():
            while True:
                try:
                    with self._session(access) as session:
                        return call(session)
                except (DriverError, Neo4jError) as error:
                    passing = isinstance(error, IncompleteCommit) or (single and error.is_retryable())
                    if isinstance(error, AuthError) and not refused:
                        passing, refused = renewed(self._auth, error), True
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
