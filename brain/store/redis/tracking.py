"""Which documents did anybody write, or the server let expire, since the last look? `Tracker`: the server says so.

The server tells a connection of its own each key under the documents' prefix that changed (CLIENT TRACKING, broadcast).
What was acknowledged before a PING is told before its answer, so a look costs one round trip. A thread reads on while
nobody looks, so that nothing piles up on the server. Where the server or its ACL has no tracking, nothing is known.
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import socket
import threading
from typing import Any

import redis
from redis.exceptions import ResponseError

from brain.store.redis.plan import decoded, encoded

log = logging.getLogger(__name__)


class Tracker:
    """What changed under one prefix, as one server tells it. Safe to use from several threads."""

    def __init__(self, pool: redis.ConnectionPool, prefix: str) -> None:
        self._pool, self._prefix = pool, prefix
        self._lock = threading.Lock()
        self._connection: Any = None
        self._touched: set[str] = set()
        self._broken, self.is_refused = True, False
        self._owner = 0
        self._wake: socket.socket | None = None
        self._thread: threading.Thread | None = None

    def touched(self) -> set[str] | None:
        """Ids whose document changed since the last call; None for the first call, after a break, and without tracking.

        After None, everything that changes from then on will be told.
        """
        with self._lock:
            if self.is_refused:
                return None
            if self._broken or self._owner != os.getpid() or not self._ask():
                with contextlib.suppress(redis.ConnectionError, redis.TimeoutError, OSError):  # the reading will say so
                    self._start()
                return None
            found, self._touched = self._touched, set()
            return found

    def _ask(self) -> bool:
        """Whether everything told before now was noted."""
        try:
            self._connection.send_command("PING")
            while self._take(self._connection.read_response(push_request=True)):
                pass
        except (redis.RedisError, OSError) as error:
            self._give_up(error)
        return not self._broken

    def close(self) -> None:
        with self._lock:
            self._stop()
            self.is_refused = True
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join()

    def _start(self) -> None:
        if self._owner == os.getpid():
            self._stop()
        kwargs = {**self._pool.connection_kwargs, "protocol": 3}
        connection = self._pool.connection_class(**kwargs)
        try:
            connection.connect()
            connection._parser.set_invalidation_push_handler(lambda message: message)
            connection.send_command("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", encoded(self._prefix))
            connection.read_response()
        except (AttributeError, ResponseError) as error:
            connection.disconnect()
            self.is_refused = True
            log.info("The server tells no changes (%s); every recall compares all documents instead.", error)
            return
        self._connection, self._owner, self._broken, self._touched = connection, os.getpid(), False, set()
        mine, self._wake = socket.socketpair()
        self._thread = threading.Thread(target=self._listen, args=(connection, mine), daemon=True, name="brain-redis")
        self._thread.start()

    def _stop(self) -> None:
        self._broken = True
        if self._connection is not None:
            with contextlib.suppress(redis.RedisError, OSError):
                self._connection.disconnect()
            self._connection = None
        if self._wake is not None:
            self._wake.close()
            self._wake = None

    def _give_up(self, error: Exception) -> None:
        log.info("The connection that tells changes broke (%s).", error)
        self._stop()

    def _take(self, message: Any) -> bool:
        """Notes what a message tells; False for the answer to PING."""
        if not isinstance(message, list):
            return message is None  # a push of another kind
        keys = message[1]
        if keys is None:  # the whole database was emptied
            self._stop()
            raise redis.ConnectionError("the database was flushed")
        self._touched.update(decoded(key).removeprefix(self._prefix) for key in keys)
        return True

    def _listen(self, connection: Any, wake: socket.socket) -> None:
        """Reads what comes while nobody looks, until `wake` ends."""
        with wake, contextlib.suppress(OSError, ValueError), selectors.DefaultSelector() as selector:
            selector.register(connection._sock, selectors.EVENT_READ)
            selector.register(wake, selectors.EVENT_READ)
            while True:
                if any(key.fileobj is wake for key, _ in selector.select()):
                    return
                with self._lock:
                    if self._connection is not connection:
                        return
                    try:
                        while connection.can_read(0):
                            self._take(connection.read_response(push_request=True))
                    except (redis.RedisError, OSError) as error:
                        self._give_up(error)
                        return
