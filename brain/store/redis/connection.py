"""How are batches of reads and plans of writes carried out on a Redis? `Connection`, and what every backend offers."""

from __future__ import annotations

import logging
import random
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, TypeVar

import redis
from redis.exceptions import NoPermissionError, NoScriptError, OutOfMemoryError

from brain.errors import StoreError
from brain.store.redis.faults import as_store_error, check_server, forbidden, is_passing
from brain.store.redis.layout import Keys, digest
from brain.store.redis.plan import Argument, Plan, decoded, encoded, packed
from brain.store.redis.tracking import Tracker

OPERATIONS_KEPT = 512
"""Operation ids of a namespace that are remembered, so that a repeated write counts once."""
DELETIONS_KEPT = 10_000
"""Deletions remembered one by one; a reader that is further behind reads everything anew."""
COMPARED_AT_A_TIME = 500
"""Documents whose digests one call of a script compares: the server does nothing else meanwhile."""

_RETRIES, _FIRST_PAUSE, _LONGEST_PAUSE = 6, 0.02, 1.0
_RETRY_SECONDS = 10.0
"""After so long no attempt is begun: one that times out took half a minute itself."""

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class Done:
    """What became of a plan: "done", "lost" (something that was read has changed), or "repeated" with the receipt of
    the first time. `skipped` are keys that hold something of another type.
    """

    state: str
    receipt: str = ""
    skipped: Sequence[str] = ()


class Backend(Protocol):
    """What a store needs of the place that keeps the keys.

    `tells`: whether `touched` may ever know.
    """

    @property
    def location(self) -> str: ...

    @property
    def tells(self) -> bool: ...

    def read(self, *commands: Sequence[Argument]) -> list[Any]:
        """The answers to reading commands, as of one moment; bytes, and lists of bytes."""

    def commit(self, plan: Plan, keys: Keys, operation: str) -> Done:
        """Carries out `plan`, or nothing of it."""

    def differing(self, keys: Keys, skill_ids: Sequence[str]) -> list[str]:
        """Those whose document is not the one that its note saw."""

    def scan(self, pattern: str) -> Iterable[list[str]]:
        """Keys that match `pattern`, some at a time; none where that cannot be told."""

    def touched(self, keys: Keys) -> set[str] | None:
        """Skills whose document was written by anybody since the last call; None if that is not known."""

    def close(self) -> None: ...


class Connection:
    """A Redis server. Safe to use from several threads."""

    @property
    def tells(self) -> bool:
        return self._tracker is None or not self._tracker.is_refused

    def __init__(self, client: redis.Redis, location: str, *, retries: int = _RETRIES) -> None:
        self.location, self._client, self._retries = location, client, retries
        self._tracker: Tracker | None = None
        self._checked = self._closed = False

    def close(self) -> None:
        self._closed = True
        if self._tracker:
            self._tracker.close()
        self._client.close()
        self._client.connection_pool.disconnect()

    def read(self, *commands: Sequence[Argument]) -> list[Any]:
        return self._attempt(lambda: self._read(commands))

    def _read(self, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        try:
            return self._read_at(len(commands) > 1, commands)
        except OutOfMemoryError:  # a transaction is refused without memory, even one that reads
            return self._read_at(False, commands)

    def _read_at(self, once: bool, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        with self._client.pipeline(transaction=once) as pipeline:
            for command in commands:
                pipeline.execute_command(*(encoded(part) for part in command))  # type: ignore[no-untyped-call]
            answers = pipeline.execute(raise_on_error=False)
        return [self._answer(*pair) for pair in zip(commands, answers, strict=True)]

    def _answer(self, command: Sequence[Argument], answer: Any) -> Any:
        """The answer; where the key holds another type, a warning that names it, and nothing."""
        if not isinstance(answer, Exception):
            return answer
        if "WRONGTYPE" not in str(answer):
            raise answer
        log.warning("%s: %s holds something of another type and is skipped", self.location, command[1])
        if command[0] == "HMGET":
            return [None] * (len(command) - 2)
        return 0 if command[0] == "HLEN" else []

    def commit(self, plan: Plan, keys: Keys, operation: str) -> Done:
        checks = packed((*check, value) for check, value in plan.checks.items())
        names = (keys.state, keys.operations, keys.receipts, keys.deleted)
        figures = (str(OPERATIONS_KEPT), str(DELETIONS_KEPT))
        arguments = [
            *map(
                encoded,
                (*names, operation, plan.receipt, str(int(plan.raises_version)), secrets.token_hex(8), *figures),
            ),
            checks,
            packed(plan.commands()),
        ]
        state, *rest = (decoded(part) for part in self._attempt(lambda: self._script("commit", len(names), arguments)))
        if state == "forbidden":
            raise forbidden(f"it has no permission for {rest[0]}", self.location)
        if state == "no string":
            raise StoreError(
                f"{self.location}: the key {rest[0]!r} holds something that is no string, so no document can be "
                "written there. Rename or remove it.",
                self.location,
            )
        return Done(state, rest[0] if state == "repeated" else "", rest if state == "done" else ())

    def differing(self, keys: Keys, skill_ids: Sequence[str]) -> list[str]:
        """One round trip, however many they are."""
        start = (b"EVAL", _script("differing"), b"1", encoded(keys.notes), encoded(keys.documents))
        size = COMPARED_AT_A_TIME
        commands = [(*start, *map(encoded, skill_ids[i : i + size])) for i in range(0, len(skill_ids), size)]

        def ask() -> list[Any]:
            with self._client.pipeline(transaction=False) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)  # type: ignore[no-untyped-call]
                return pipeline.execute()

        return [decoded(skill_id) for answer in self._attempt(ask) for skill_id in answer] if commands else []

    def scan(self, pattern: str) -> Iterable[list[str]]:
        cursor = 0
        while True:
            try:
                cursor, found = self._attempt(lambda at=cursor: self._client.scan(at, match=pattern, count=1_000))  # type: ignore[misc]
            except StoreError as error:
                if isinstance(error.__cause__, NoPermissionError):
                    return
                raise
            yield [decoded(encoded(key)) for key in found]
            if not cursor:
                return

    def touched(self, keys: Keys) -> set[str] | None:
        self._attempt(self._check)
        if self._tracker is None:
            self._tracker = Tracker(self._client.connection_pool, keys.documents)
        return self._tracker.touched()

    # Asking the server

    def _script(self, name: str, keys: int, arguments: Sequence[bytes]) -> list[bytes]:
        text = _script(name)
        try:
            answer = self._client.execute_command("EVALSHA", digest(text), keys, *arguments)  # type: ignore[no-untyped-call]
        except NoScriptError:
            answer = self._client.execute_command("EVAL", text, keys, *arguments)  # type: ignore[no-untyped-call]
        return list(answer)

    def _check(self) -> None:
        """Whether the server will do, asked once."""
        if self._checked:
            return
        try:
            text = self._client.execute_command("INFO")  # type: ignore[no-untyped-call]
        except NoPermissionError:
            text = {}
        if isinstance(text, bytes):  # the client reads it only where it knows the command
            text = dict(line.split(":", 1) for line in text.decode("utf-8", "replace").splitlines() if ":" in line)
        check_server({str(key): str(value) for key, value in text.items()}, self.location)
        self._checked = True

    def _attempt(self, work: Callable[[], T]) -> T:
        """What `work` gives, tried again while the connection breaks. A write carries its operation's id."""
        if self._closed:
            raise StoreError(f"{self.location} was closed. Open it again.", self.location)
        pause, until = _FIRST_PAUSE, time.monotonic() + _RETRY_SECONDS
        for attempt in range(self._retries + 1):
            try:
                if not self._checked and work != self._check:
                    self._check()
                return work()
            except (redis.RedisError, OSError) as error:
                if attempt == self._retries or not is_passing(error) or time.monotonic() > until:
                    raise as_store_error(error, self.location) from error
            time.sleep(random.uniform(pause / 2, pause))
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise AssertionError("the last attempt returns or raises")


@cache
def _script(name: str) -> bytes:
    return files("brain.store.redis").joinpath(f"{name}.lua").read_bytes()
