"""How does Cypher reach the server? One driver a store, managed transactions, errors that say the remedy."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

import neo4j
from neo4j import GraphDatabase, ManagedTransaction
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from brain.errors import AuthenticationError, LocationError, StoreError, StoreUnavailableError
from brain.store.statements import Statement, data_folder, load

RETRY_SECONDS = 30.0
"""How long a transaction is tried again after a lost connection or a deadlock."""
CONNECT_SECONDS = 10.0
"""How long a connection may take to open."""
OLDEST_SERVER = (5, 26)
"""The oldest Neo4j that every statement is tested on."""

OPERATIONS_KEPT = 512
"""Latest writes of a namespace that are remembered, so that a retried one counts once.

A retry comes within a second or two of the loss; 8 busy writers make some 300 writes a second together.
"""

TORN_READS = 10
"""How often a read is repeated in which a skill was written anew meanwhile."""

Result = TypeVar("Result")
Row = dict[str, Any]


class TornReadError(Exception):
    """A skill was written anew while it was read."""


class Transaction:
    """Named statements inside one transaction."""

    def __init__(
        self,
        transaction: ManagedTransaction,
        statements: dict[str, Statement],
        namespace: str,
        mode: str,
        *,
        may_be_torn: bool = False,
    ) -> None:
        self._transaction, self._statements = transaction, statements
        self._namespace, self._mode = namespace, mode
        self.may_be_torn = may_be_torn

    def rows(self, name: str, /, *, slots: dict[str, str] | None = None, **parameters: Any) -> list[Row]:
        """All rows of a statement; `namespace` is filled in."""
        statement = self._statements[name]
        if "namespace" in statement.parameters:
            parameters["namespace"] = self._namespace
        statement.check(parameters, self._mode)
        return self._transaction.run(statement.filled(**(slots or {})), parameters).data()

    def row(self, name: str, /, *, slots: dict[str, str] | None = None, **parameters: Any) -> Row | None:
        """The first row of a statement, or None."""
        rows = self.rows(name, slots=slots, **parameters)
        return rows[0] if rows else None


@dataclass(frozen=True)
class Lock:
    """The state of the namespace whose lock a write holds; `repeated` says that this write was committed before."""

    version: int
    complete_since: int
    repeated: bool


class Connection:
    """One driver for one database, safe to use from many threads."""

    def __init__(self, location: str, shown: str, namespace: str, auth: Any = None) -> None:
        self._shown, self._namespace = shown, namespace
        self._process, self._closed = os.getpid(), False
        self._statements = load(data_folder("cypher"), "*.cypher")
        parts = urlsplit(location)
        self._database = parse_qs(parts.query).get("database", [os.environ.get("NEO4J_DATABASE")])[0]
        try:
            self._driver = GraphDatabase.driver(
                f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
                auth=auth if auth is not None else _credentials(parts.username, parts.password),
                connection_timeout=CONNECT_SECONDS,
                max_transaction_retry_time=RETRY_SECONDS,
                notifications_min_severity="OFF",
                user_agent="brain",
            )
        except (ConfigurationError, ValueError) as error:
            raise LocationError(f"{shown} cannot be used ({_words(error)}). Check the location.", shown) from error
        try:
            self._check_server()
        except BaseException:
            self._driver.close()
            raise

    def close(self) -> None:
        """Closes every connection; closing twice is fine."""
        self._closed = True
        self._driver.close()

    def read(self, work: Callable[[Transaction], Result]) -> Result:
        """Runs `work` in a read transaction, again if the connection was lost, or `TornReadError` was raised.

        The server shows what others commit in the middle of a read. The last attempt takes what is there: a part may
        be missing for good, because somebody removed it by hand.
        """

        def attempt(may_be_torn: bool) -> Result:
            def reading(tx: ManagedTransaction) -> Result:
                return work(Transaction(tx, self._statements, self._namespace, "read", may_be_torn=may_be_torn))

            return self._managed(neo4j.READ_ACCESS, lambda session: session.execute_read(reading))

        for _ in range(TORN_READS):
            with contextlib.suppress(TornReadError):
                return attempt(may_be_torn=True)
        return attempt(may_be_torn=False)

    def write(self, work: Callable[[Transaction, Lock], Result], operation: str) -> Result:
        """Runs `work` in a write transaction that holds the namespace's lock, again after a lost connection.

        `work` is told whether `operation` was committed before, so that it only reads then.
        """

        def locked(tx: ManagedTransaction) -> Result:
            transaction = Transaction(tx, self._statements, self._namespace, "write")
            row = transaction.row("lock_namespace", operation=operation, kept=OPERATIONS_KEPT)
            assert row
            return work(transaction, Lock(**row))

        return self._managed(neo4j.WRITE_ACCESS, lambda session: session.execute_write(locked))

    def write_schema(self, work: Callable[[Transaction], Result]) -> Result:
        """Runs `work` on the history of the schema, which is no namespace's."""

        def writing(tx: ManagedTransaction) -> Result:
            return work(Transaction(tx, self._statements, self._namespace, "write"))

        return self._managed(neo4j.WRITE_ACCESS, lambda session: session.execute_write(writing))

    def _managed(self, access: str, call: Callable[[neo4j.Session], Result]) -> Result:
        """Runs `call`, and again when the connection broke while the server was committing.

        The driver cannot know then whether it did; we can, because the operation is noted with what it wrote.
        """
        if os.getpid() != self._process:
            raise StoreError(
                f"{self._shown} was opened by another process. Open the brain after the fork.", self._shown
            )
        if self._closed:
            raise StoreError(f"{self._shown} was closed. Open the brain again.", self._shown)
        deadline = time.monotonic() + RETRY_SECONDS
        with self._errors():
            while True:
                try:
                    with self._session(access) as session:
                        return call(session)
                except IncompleteCommit:
                    if time.monotonic() > deadline:
                        raise

    def schema(self, text: str) -> None:
        """Runs one schema statement in a transaction of its own."""
        with self._errors(), self._session(neo4j.WRITE_ACCESS) as session:
            session.execute_write(lambda tx: tx.run(text).consume())

    def statement(self, name: str) -> Statement:
        """A named statement."""
        return self._statements[name]

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
        except AuthError as error:
            raise AuthenticationError(
                f"{self._shown} refused the credentials ({_words(error)}). "
                "Give them as user:password@ in the location or in NEO4J_USERNAME and NEO4J_PASSWORD.",
                self._shown,
            ) from error
        except TransientError as error:
            raise StoreUnavailableError(
                f"{self._shown} is too busy ({_words(error)}). Try again.", self._shown
            ) from error
        except (ServiceUnavailable, SessionExpired, OSError) as error:
            raise StoreUnavailableError(
                f"{self._shown} does not answer ({_words(error)}). "
                "Check that the server runs and the address is right; `brain neo4j start` starts a local one.",
                self._shown,
            ) from error
        except ClientError as error:
            raise _client_error(error, self._shown) from error
        except (Neo4jError, DriverError) as error:
            raise StoreError(f"{self._shown}: {_words(error)} See the server's log.", self._shown) from error


def _credentials(user: str | None, password: str | None) -> tuple[str, str] | None:
    if user is not None:
        return unquote(user), unquote(password or "")
    name, secret = os.environ.get("NEO4J_USERNAME"), os.environ.get("NEO4J_PASSWORD")
    return (name or "neo4j", secret) if secret else None


def _client_error(error: ClientError, shown: str) -> StoreError:
    code = error.code or ""
    if "Security" in code:
        return AuthenticationError(f"{shown}: {_words(error)} Set or change the password first.", shown)
    if "DatabaseNotFound" in code:
        return LocationError(f"{shown}: {_words(error)} Name another one with ?database=…", shown)
    return StoreError(f"{shown}: {_words(error)}", shown)


def _words(error: BaseException) -> str:
    """The first sentence of a driver's message."""
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:300]
