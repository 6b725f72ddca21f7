"""What went wrong with Redis, and what is to be done? Errors of the client and the server as `brain.errors`."""

from __future__ import annotations

import redis
from redis.exceptions import (
    AuthenticationError,
    AuthenticationWrongNumberOfArgsError,
    AuthorizationError,
    BusyLoadingError,
    ClusterError,
    MovedError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
)

from brain import errors

OLDEST = (6, 0)
"""The oldest Redis that is supported."""


def check_server(info: dict[str, str], location: str) -> None:
    """Raises `StoreError` if what a server says of itself (INFO) does not do: too old, or part of a cluster."""
    version = info.get("redis_version", "")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers and numbers < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise errors.StoreError(
            f"{location} is Redis {version}; brain needs {wanted} or newer. Upgrade the server.", location
        )
    if info.get("cluster_enabled") == "1":
        raise cluster_refused(location)


def cluster_refused(location: str) -> errors.StoreError:
    """The error that refuses a Redis Cluster."""
    return errors.StoreError(
        f"{location} is a Redis Cluster. OrKa's keys carry no hash tags, so one write would touch several nodes "
        "and could not be atomic. Use a Redis that is not a cluster.",
        location,
    )


def forbidden(what: str, location: str) -> errors.AuthenticationError:
    """The error for a user whose ACL lacks something."""
    return errors.AuthenticationError(
        f"{location}: the user may not do that ({what}). Give it what brain.store.redis.permissions lists.", location
    )


def as_store_error(error: Exception, location: str) -> errors.StoreError:
    """The `StoreError` for what the client raised or the server answered."""
    text = str(error)
    if isinstance(error, NoPermissionError) or "NOPERM" in text or "user executing the script" in text:
        return forbidden(text, location)
    if isinstance(error, AuthenticationError | AuthorizationError | AuthenticationWrongNumberOfArgsError):
        return errors.AuthenticationError(
            f"{location} refuses the credentials ({text}). Put the right ones before the host: "
            "redis://user:password@host, or redis://:password@host.",
            location,
        )
    if isinstance(error, BusyLoadingError) or "LOADING" in text:
        return errors.StoreUnavailableError(
            f"{location} is still loading its data. Wait until it has, and try again.", location
        )
    if isinstance(error, ClusterError | MovedError) or "CROSSSLOT" in text:
        return cluster_refused(location)
    if isinstance(error, ReadOnlyError) or "READONLY" in text or "read only replica" in text:
        return errors.StoreError(f"{location} is a read-only replica. Open the primary.", location)
    if isinstance(error, OutOfMemoryError) or "OOM " in text or "maxmemory" in text:
        return errors.StoreError(
            f"{location} is out of memory, so nothing was written. Raise maxmemory, or remove what is not needed.",
            location,
        )
    if "MISCONF" in text or "NOREPLICAS" in text:
        return errors.StoreError(f"{location} refuses writes until its administrator acts: {text}", location)
    if "DB index" in text or "invalid DB" in text:
        return errors.LocationError(
            f"{location} names a database that is not there ({text}). Use a lower number.", location
        )
    if isinstance(error, ResponseError):
        return errors.StoreError(f"{location} refused a command: {text}. Is it a Redis, unchanged by hand?", location)
    return _unavailable(location, error)


def _unavailable(location: str, error: Exception) -> errors.StoreError:
    remedy = "Start it, or check the address."
    if location.startswith("rediss:"):
        remedy += " If the server does not speak TLS, write redis:// for rediss://."
    return errors.StoreUnavailableError(f"No Redis answers at {location} ({error}). {remedy}", location)


def is_passing(error: Exception) -> bool:
    """Whether a later attempt may succeed: the connection broke, or the server is restarting."""
    if isinstance(error, AuthenticationError | AuthorizationError):
        return False
    return isinstance(error, redis.ConnectionError | redis.TimeoutError | BusyLoadingError | OSError)
