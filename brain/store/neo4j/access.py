"""Who may in, and what does a refusal mean? Credentials of every kind, and the driver's errors as ours."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from neo4j.auth_management import AuthManager, ExpiringAuth
from neo4j.exceptions import AuthError, ClientError, Neo4jError, ServiceUnavailable, SessionExpired, TransientError

from brain.errors import AuthenticationError, LocationError, StoreError, StoreUnavailableError

_RENEWED_AFTER = {"Neo.ClientError.Security.Unauthorized", "Neo.ClientError.Security.TokenExpired"}


def credentials(auth: Any, user: str | None, password: str | None) -> Any:
    """What the driver is to present: `auth`, else user and password of the location, else those of the environment.

    `auth` is a (user, password) pair, an `Auth`, an auth manager, or a function without arguments that gives one of the
    first two, or an `ExpiringAuth`. The function is called when a connection needs it, and again when what it gave has
    expired or is refused.
    """
    if auth is not None:
        return _Renewed(auth) if callable(auth) and not isinstance(auth, AuthManager) else auth
    if user is not None:
        return unquote(user), unquote(password or "")
    name, secret = os.environ.get("NEO4J_USERNAME"), os.environ.get("NEO4J_PASSWORD")
    return (name or "neo4j", secret) if secret else None


def renewed(auth: Any, error: AuthError) -> bool:
    """Whether `auth` has other credentials to present, now that a new connection was refused: the driver asks its auth
    manager only about connections that were open already.
    """
    return isinstance(auth, AuthManager) and auth.handle_security_exception(auth.get_auth(), error)


def explained(error: Exception, shown: str) -> StoreError:
    """A driver's error as one of ours; `shown` is the location without credentials."""
    if isinstance(error, AuthError):
        return AuthenticationError(
            f"{shown} refused the credentials ({words(error)}). "
            "Give them as user:password@ in the location or in NEO4J_USERNAME and NEO4J_PASSWORD.",
            shown,
        )
    if isinstance(error, TransientError):
        return StoreUnavailableError(f"{shown} is too busy ({words(error)}). Try again.", shown)
    if isinstance(error, (ServiceUnavailable, SessionExpired, OSError)):
        return StoreUnavailableError(
            f"{shown} does not answer ({words(error)}). "
            "Check that the server runs and the address is right; `brain neo4j start` starts a local one.",
            shown,
        )
    if isinstance(error, ClientError):
        return _refusal(error, shown)
    return StoreError(f"{shown}: {words(error)} See the server's log.", shown)


def words(error: BaseException) -> str:
    """The first sentence of a driver's message."""
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:300]


class _Renewed(AuthManager):
    """Credentials from a function, kept until they expire or are refused."""

    def __init__(self, source: Callable[[], Any]) -> None:
        self._source, self._lock = source, threading.Lock()
        self._held: ExpiringAuth | None = None

    def get_auth(self) -> Any:
        with self._lock:
            held = self._held
            if held is None or (held.expires_at is not None and held.expires_at <= time.time()):
                held = self._renew()
            return held.auth

    def handle_security_exception(self, auth: Any, error: Neo4jError) -> bool:
        """Whether trying again makes sense: the function has other credentials by now."""
        if error.code not in _RENEWED_AFTER:
            return False
        with self._lock:
            held = self._held
            if held is None or held.auth == auth:
                held = self._renew()
            return bool(held.auth != auth)

    def _renew(self) -> ExpiringAuth:
        given = self._source()
        self._held = given if isinstance(given, ExpiringAuth) else ExpiringAuth(given)
        return self._held


def _refusal(error: ClientError, shown: str) -> StoreError:
    code = error.code or ""
    if "Security" in code:
        return AuthenticationError(f"{shown}: {words(error)} Set or change the password first.", shown)
    if "DatabaseNotFound" in code:
        return LocationError(f"{shown}: {words(error)} Name another one with ?database=…", shown)
    return StoreError(f"{shown}: {words(error)}", shown)
