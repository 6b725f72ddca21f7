"""How does a store work on an object that only has get, set, delete and the like for hashes and sets? `PlainMemory`.

The guide shows such an in-memory object for demos and tests. It has no transactions and no scripts: nothing here is
atomic towards other processes, or towards a second store on the same object.
"""

from __future__ import annotations

import base64
import json
import logging
import math
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from brain.store.redis.connection import DELETIONS_KEPT, OPERATIONS_KEPT, Done
from brain.store.redis.layout import Keys, digest
from brain.store.redis.note import GONE
from brain.store.redis.plan import Argument, Command, Plan, decoded, encoded

METHODS = ("get", "set", "delete", "hset", "hget", "hkeys", "hdel", "sadd", "srem", "smembers")
"""What the object must have."""

log = logging.getLogger(__name__)

_BINARY = b"base64:"


class PlainMemory:
    """The commands that a store uses, made of ten methods. Sorted sets are hashes of numbers here."""

    tells = False

    def __init__(self, memory: Any, location: str) -> None:
        self.location, self._memory, self._lock = location, memory, threading.RLock()

    def close(self) -> None:
        """The object belongs to the caller."""

    def read(self, *commands: Sequence[Argument]) -> list[Any]:
        with self._lock:
            return [self._ask(*map(_text, command)) for command in commands]

    def differing(self, keys: Keys, skill_ids: Sequence[str]) -> list[str]:
        with self._lock:
            return [i for i in skill_ids if self._digest(keys.document(i)) != (self._field(keys.notes, i) or b"")[:40]]

    def scan(self, pattern: str) -> Iterable[list[str]]:
        return ()

    def touched(self, keys: Keys) -> set[str] | None:
        return None

    def commit(self, plan: Plan, keys: Keys, operation: str) -> Done:
        with self._lock:
            receipt = self._field(keys.receipts, operation) if operation else None
            if receipt is not None:
                return Done("repeated", decoded(receipt))
            if not all(self._fits(*check, value) for check, value in plan.checks.items()):
                return Done("lost")
            if not self._field(keys.state, "store_id"):
                self._memory.hset(keys.state, "store_id", f"{id(self._memory):x}")
            if plan.raises_version:
                self._add(keys.state, "version", 1)
            for command in plan.commands():
                self._carry_out(command, self._field(keys.state, "version") or b"0")
            self._trim(keys)
            if operation:
                self._remember(keys, operation, plan.receipt)
            return Done("done")

    # Reading

    def _ask(self, name: str, key: str, *arguments: str) -> Any:
        if name == "MGET":
            return [_bytes(self._memory.get(each)) for each in (key, *arguments)]
        if name == "HMGET":
            return [self._field(key, field) for field in arguments]
        if name == "HKEYS":
            return self._names(key)
        if name == "HLEN":
            return len(self._names(key))
        if name == "HGETALL":
            return {field: self._field(key, decoded(field)) for field in self._names(key)}
        if name == "SMEMBERS":
            return [_bytes(member) for member in self._memory.smembers(key) or ()]
        if name == "TYPE":
            return b"none" if self._memory.get(key) is None else b"string"
        if name in ("ZRANGE", "ZRANGEBYSCORE"):
            return self._range(name, key, arguments)
        raise NotImplementedError(name)

    def _range(self, name: str, key: str, arguments: Sequence[str]) -> list[bytes]:
        rows = sorted((float(self._field(key, decoded(m)) or b"0"), m) for m in self._names(key))
        first, last, *options = arguments
        if name == "ZRANGE":
            rows = rows[int(first) : int(last) + 1]
        else:
            least = float(first.removeprefix("("))
            rows = [row for row in rows if least <= row[0] <= float(last) and not (first[0] == "(" and row[0] == least)]
        if "LIMIT" in options:
            rows = rows[: int(options[options.index("LIMIT") + 2])]
        if "WITHSCORES" in options:
            return [part for score, member in rows for part in (member, _number(score))]
        return [member for _, member in rows]

    def _names(self, key: str) -> list[bytes]:
        return [found for name in self._memory.hkeys(key) or () if (found := _bytes(name)) is not None]

    def _field(self, key: str, name: str) -> bytes | None:
        """The opposite of `_value`."""
        data = _bytes(self._memory.hget(key, name))
        return base64.b64decode(data[len(_BINARY) :]) if data and data.startswith(_BINARY) else data

    def _digest(self, key: str) -> bytes:
        found = _bytes(self._memory.get(key))
        return GONE.encode() if found is None else digest(found).encode()

    # Writing

    def _fits(self, kind: str, key: str, field: str, wanted: str) -> bool:
        if kind == "document":
            return self._digest(key) == wanted.encode()
        if kind == "field":
            return (self._field(key, field) or b"") == encoded(wanted)
        return self._memory.get(key) is not None

    def _carry_out(self, command: Command, version: bytes) -> None:
        name, key, *arguments = command[0], _text(command[1]), *map(_value, command[2:])
        memory = self._memory
        if name == "SET":
            memory.set(key, arguments[0])
            if len(arguments) > 1 and hasattr(memory, "expire"):
                memory.expire(key, int(arguments[2]))
        elif name == "DEL":
            memory.delete(key)
        elif name in ("HSET", "ZADD"):
            pairs = zip(arguments[::2], arguments[1::2], strict=True)
            for field, value in pairs if name == "HSET" else ((m, score) for score, m in pairs):
                memory.hset(key, field, value)
        elif name in ("HDEL", "ZREM", "SADD", "SREM"):
            change = getattr(memory, {"ZREM": "hdel"}.get(str(name), str(name).lower()))
            for member in arguments:
                change(key, member)
        elif name == "NOTE":
            memory.hset(key, arguments[0], decoded(version))
        elif name == "HINCRBY":
            self._add(key, arguments[0], int(arguments[1]))
        elif name == "UNLINK_EDGE":
            self._unlink(key, arguments[0], arguments[2])
        elif name == "UNLINK_EDGES":
            for target in self._targets(key) - {arguments[1]}:
                self._unlink(arguments[0] + target, arguments[1])
            for member in list(memory.smembers(key) or ()):
                memory.srem(key, member)

    def _add(self, key: str, field: str, value: int) -> None:
        self._memory.hset(key, field, str(int(self._field(key, field) or b"0") + value))

    def _targets(self, key: str) -> set[str]:
        edges = (_edge(member) for member in self._memory.smembers(key) or ())
        return {target for edge in edges if isinstance(target := edge.get("target"), str)}

    def _unlink(self, key: str, target: str, relation: str | None = None) -> None:
        for member in list(self._memory.smembers(key) or ()):
            edge = _edge(member)
            if edge.get("target") == target and relation in (None, edge.get("relation")):
                self._memory.srem(key, member)

    def _trim(self, keys: Keys) -> None:
        count = len(self._names(keys.deleted)) - DELETIONS_KEPT
        if count > 0:
            rows = self._range("ZRANGE", keys.deleted, ("0", str(count - 1), "WITHSCORES"))
            for member in rows[::2]:
                self._memory.hdel(keys.deleted, decoded(member))
            self._memory.hset(keys.state, "complete_since", decoded(rows[-1]))

    def _remember(self, keys: Keys, operation: str, receipt: str) -> None:
        known = json.loads(self._memory.get(keys.operations) or "[]")
        self._memory.hset(keys.receipts, operation, receipt)
        for old in (known := [*known, operation])[:-OPERATIONS_KEPT]:
            self._memory.hdel(keys.receipts, old)
        self._memory.set(keys.operations, json.dumps(known[-OPERATIONS_KEPT:]))


def _edge(member: Any) -> dict[str, Any]:
    try:
        edge = json.loads(member)
    except ValueError:
        return {}
    return edge if isinstance(edge, dict) else {}


def _text(part: Argument) -> str:
    return part if isinstance(part, str) else decoded(part)


def _value(part: Argument) -> str:
    """What is stored: text, as the object may know nothing else."""
    return part if isinstance(part, str) else (_BINARY + base64.b64encode(part)).decode()


def _bytes(value: Any) -> bytes | None:
    """What the object gives, as Redis would."""
    return value if value is None or isinstance(value, bytes) else encoded(str(value))


def _number(value: float) -> bytes:
    return repr(int(value) if math.isfinite(value) and value == int(value) else value).encode()
