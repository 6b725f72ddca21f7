"""Which Redis does a location name, or an object that somebody has at hand? `of_location` and `of_memory`."""

from __future__ import annotations

import logging
import os
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from brain.errors import LocationError
from brain.model.skill import Skill
from brain.model.text import parse_time
from brain.store.base import Clock
from brain.store.redis.layout import DEFAULT_PREFIX, Keys, check_prefix
from brain.store.redis.plain import METHODS, PlainMemory
from brain.store.redis.store import RedisStore

SCHEMES = ("redis", "rediss", "unix")
URL_VARIABLE = "REDIS_URL"
"""Environment variable that a location without a host ("redis://") stands for (guide, "Redis Storage Layout")."""

log = logging.getLogger(__name__)

_OF_THE_POOL = ("himport_registry", "event_dispatcher", "cache", "cache_config", "parser_class", "legacy_responses")
_SHOWN = ("db", "prefix")


def of_location(location: str, namespace: str, clock: Clock, auth: Any = None) -> RedisStore:
    """The store at `redis://`, `rediss://` or `unix://`, with `?prefix=` and what the client library takes.

    `auth` is a (user, password) pair. Raises `LocationError`.
    """
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    address, prefix = _address(location)
    shown = without_secrets(address, prefix)
    options: dict[str, Any] = {"protocol": 2, "decode_responses": False, "socket_connect_timeout": 5.0}
    if auth is not None:
        if not isinstance(auth, tuple | list) or len(auth) != 2:
            raise LocationError(f"auth for a Redis is a (user, password) pair, not a {type(auth).__name__}.", shown)
        options["username"], options["password"] = auth
    try:
        client = redis.Redis.from_url(address, **{"socket_timeout": 30.0, **options})
    except (ValueError, TypeError) as error:
        raise LocationError(f"{shown} is not a location of a Redis: {error}.", shown) from None
    client.set_retry(Retry(NoBackoff(), 0))  # the connection tries again itself
    return _store(client, Keys(prefix, namespace), shown, namespace, clock)


def of_memory(memory: Any, namespace: str, clock: Clock, prefix: str = DEFAULT_PREFIX) -> RedisStore:
    """The store on what `Brain(memory=...)` gets: a Redis client, an object with one in `.redis` or `.client`, or an
    object with the methods `METHODS`, which is slower and not atomic.

    A client is not used itself: connections of our own to the same server read bytes, whatever it decodes. Raises
    `LocationError` for anything else.
    """
    keys = Keys(prefix, namespace)

    def utc_clock() -> datetime:
        return parse_time(clock())

    for found in (memory, getattr(memory, "redis", None), getattr(memory, "client", None)):
        pool = getattr(found, "connection_pool", None)
        if pool is not None and hasattr(found, "execute_command"):
            return _of_client(found, keys, namespace, utc_clock)
        if type(found).__module__.startswith("redis.") and "Cluster" in type(found).__name__:
            from brain.store.redis.faults import cluster_refused

            raise cluster_refused("memory")
    for found in (getattr(memory, "redis", None), getattr(memory, "client", None), memory):
        if all(callable(getattr(found, method, None)) for method in METHODS):
            location = f"memory://{type(found).__name__}"
            say_once_that_it_is_not_atomic(location)
            return RedisStore(PlainMemory(found, location), keys, location, namespace, utc_clock)
    raise LocationError(
        f"memory is a {type(memory).__name__}; give a location such as sqlite:///brain.db, a store, a Redis client, an "
        f"object with one in .redis, or one with the methods {', '.join(METHODS)}."
    )


@cache
def say_once_that_it_is_not_atomic(location: str) -> None:
    """Warns, once in a process, of what an object without transactions cannot do."""
    log.warning(
        "%s has no transactions: what several processes, or several stores on it, write at once may be lost, and every "
        "look reads everything. Use a Redis client where that matters.",
        location,
    )


def learned_event(skill: Skill, domain: str, task: str, success: bool, quality: float) -> dict[str, Any]:
    """The arguments of `memory.log(...)` that OrKa makes when a skill was created."""
    return {
        "agent_id": "orka_brain",
        "event_type": "skill_learned",
        "payload": {
            "skill_id": skill.id,
            "skill_name": skill.name,
            "context_domain": domain,
            "context_task": task,
            "outcome_success": success,
            "outcome_quality": quality,
            "num_steps": len(skill.procedure),
            "tags": list(skill.tags),
        },
        "log_type": "stored",
    }


def without_secrets(location: str, prefix: str = DEFAULT_PREFIX) -> str:
    """The location as it may be shown."""
    parts = urlsplit(location)
    shown = [(key, value) for key, value in parse_qsl(parts.query) if key in _SHOWN and key != "prefix"]
    if prefix != DEFAULT_PREFIX:
        shown.append(("prefix", prefix))
    query = urlencode(shown, quote_via=quote, safe=":")
    return _joined(parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query)


def _address(location: str) -> tuple[str, str]:
    """What the client library takes, and the key prefix."""
    scheme, _, rest = location.partition("://")
    if scheme == "redis" and not rest.partition("?")[0].strip("/"):
        base = os.environ.get(URL_VARIABLE) or "redis://localhost:6379"
        query = rest.partition("?")[2]
        location = f"{base}{'&' if '?' in base else '?'}{query}" if query else base
    try:
        parts = urlsplit(location)
    except ValueError as error:
        raise LocationError(f"This is not a location of a Redis: {error}.") from None
    if parts.scheme not in SCHEMES or (parts.scheme == "unix" and not parts.path.strip("/ ")):
        raise LocationError(
            f"{without_secrets(location)!r} is not a location of a Redis. Give one such as redis://localhost:6379/0."
        )
    options = parse_qsl(parts.query, keep_blank_values=True)
    prefix = next((value for key, value in options if key == "prefix"), DEFAULT_PREFIX)
    kept = [(k, v) for k, v in options if k not in ("prefix", "decode_responses", "protocol", "encoding")]
    return _joined(*parts[:3], urlencode(kept)), check_prefix(prefix)


def _joined(scheme: str, host: str, path: str, query: str) -> str:
    return f"{scheme}://{host}{path}" + (f"?{query}" if query else "")


def _of_client(client: Any, keys: Keys, namespace: str, clock: Clock) -> RedisStore:
    """A store with connections of its own to the server of a client."""
    import redis

    if not isinstance(client, redis.Redis):
        raise LocationError(
            f"memory is a {type(client).__module__}.{type(client).__name__}; give a redis.Redis, which Brain uses in a "
            "thread of its own."
        )
    pool: Any = client.connection_pool
    options = {
        key: value
        for key, value in pool.connection_kwargs.items()
        if key not in _OF_THE_POOL and not key.startswith(("maint_notifications", "orig_", "encoding"))
    }
    options |= {"decode_responses": False, "protocol": 2}
    manager = getattr(pool, "sentinel_manager", None)
    if manager is not None:
        from redis.sentinel import SentinelConnectionPool

        options.pop("connection_pool", None)
        own: Any = SentinelConnectionPool(pool.service_name, manager, is_master=pool.is_master, **options)  # type: ignore[no-untyped-call]
    else:
        own = redis.ConnectionPool(connection_class=pool.connection_class, **options)
    place = options.get("path") or f"{options.get('host', 'localhost')}:{options.get('port', 6379)}"
    scheme = "unix" if options.get("path") else "redis"
    shown = f"{scheme}://{place}" + (f"/{options['db']}" if scheme == "redis" and options.get("db") else "")
    return _store(redis.Redis(connection_pool=own), keys, shown, namespace, clock)


def _store(client: Any, keys: Keys, location: str, namespace: str, clock: Clock) -> RedisStore:
    from brain.store.redis.connection import Connection

    return RedisStore(Connection(client, location), keys, location, namespace, clock)
