"""Which store does a location name? One string picks SQLite, Neo4j or Redis, and nothing else changes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from brain.errors import LocationError
from brain.model.skill import utc_now
from brain.model.text import parse_time
from brain.store.base import Clock, Store

REDIS_SCHEMES = ("redis", "rediss", "unix")
SCHEMES = ("sqlite", "neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc", *REDIS_SCHEMES)

_EXAMPLES = (
    "sqlite:///brain.db, sqlite:////home/me/brain.db, sqlite://:memory:, neo4j://user:password@host:7687, "
    "redis://user:password@host:6379/0"
)


def open_store(location: str, *, namespace: str, clock: Clock = utc_now, auth: Any = None) -> Store:
    """The store at `location`; nothing is created but its file. Raises `LocationError` if no store has that form.

    `auth` is anything that the Neo4j driver takes: a (user, password) pair, an `Auth`, an auth manager; for Redis,
    such a pair.
    """
    if not isinstance(location, str):
        raise LocationError(f"A location must be text such as {_EXAMPLES}; this is a {type(location).__name__}.")
    scheme, separator, rest = location.partition("://")
    if not separator or scheme not in SCHEMES:
        raise LocationError(f"{without_password(location)!r} is not a location. Use one like {_EXAMPLES}.")

    def utc_clock() -> datetime:
        return parse_time(clock())

    if scheme == "sqlite":
        from brain.store.sqlite.store import SqliteStore

        return SqliteStore(_sqlite_path(location, rest), without_password(location), namespace, utc_clock)
    if scheme in REDIS_SCHEMES:
        try:
            from brain.store.redis import of_location
        except ImportError as error:
            raise LocationError(
                f'{without_password(location)} needs the client library of Redis: pip install "brain[redis]".', location
            ) from error
        return of_location(location, namespace, utc_clock, auth)
    from brain.store.neo4j.store import Neo4jStore

    return Neo4jStore(location, namespace, utc_clock, auth)


def is_missing(location: str) -> bool:
    """Whether a location names an SQLite file that is not there; what a server holds is not asked."""
    scheme, _, rest = location.partition("://")
    if scheme != "sqlite":
        return False
    path = _sqlite_path(location, rest)
    return path != ":memory:" and not Path(path).exists()


def without_password(location: str) -> str:
    """The location as it may be shown: without user and password."""
    scheme, separator, rest = location.partition("://")
    if scheme in REDIS_SCHEMES:  # whose options may hold a password too
        rest = rest.partition("?")[0]
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"


def _sqlite_path(location: str, rest: str) -> str:
    """The path behind the third slash, as it stands: nothing in it is an escape, a fragment or an option."""
    if rest in (":memory:", "/:memory:"):
        return ":memory:"
    path = rest.removeprefix("/")
    if path == rest or not path.strip("/ "):
        raise LocationError(f"{location!r} names no file. Three slashes and a path: {_EXAMPLES}.", location)
    if "\0" in path:
        raise LocationError(f"{location!r} holds a NUL character. Name a file.", location)
    if "?" in path:
        raise LocationError(
            f"{location!r} holds a '?'. A location of SQLite takes no options; name the file.", location
        )
    try:
        return str(Path(path).expanduser().absolute())
    except (RuntimeError, ValueError) as error:
        raise LocationError(f"{location!r} cannot be used ({error}). Check the path.", location) from None
