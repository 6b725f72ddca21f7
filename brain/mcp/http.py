"""How does a client on the network talk to the server? Streamable HTTP at `/mcp`, guarded.

Whoever can reach the port can read and write the memory, so: it listens on the loopback interface unless a token is
given; where one is given every request needs it (`Authorization: Bearer TOKEN`); and requests whose `Host` or `Origin`
names another server are refused, because a page in a browser could have sent them (DNS rebinding).
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import ClientDisconnect

from brain.errors import InputError, ServingError

PATH = "/mcp"
SHORTEST_TOKEN = 16
"""Characters of a token; a shorter one can be guessed."""
_FINISHING_SECONDS = 5
_SDK_LOG = logging.getLogger("mcp.server.streamable_http")
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_ADDRESS = re.compile(r"(?:(?P<host>\[[^\]]+\]|[^:\[\]]+):)?(?P<port>\d{1,5})")
_TOKEN = re.compile(r"[\x21-\x7e]+")


class Http:
    """The transport of a server that listens. `token` None: whoever reaches the port may use it; loopback only.

    `names` are those that a request may give as its host.
    """

    def __init__(self, address: str, token: str | None = None, allowed_hosts: Sequence[str] = ()) -> None:
        """Binds `address` ("HOST:PORT" or a port alone; port 0 is any free one). `allowed_hosts` are other names that
        the server is reached by. Raises `InputError`, and `ServingError` if the address cannot be had.
        """
        host, port = _parsed(address)
        self._token = None if token is None else _checked_token(token)
        found = _resolved(host, port)
        if self._token is None and not found.is_loopback:
            raise InputError(
                f"{host} is reached from other machines, and there is no token. "
                "Give one with --token-file or BRAIN_MCP_TOKEN, or listen on 127.0.0.1."
            )
        self.names = list(dict.fromkeys([*_LOOPBACK_NAMES, _bracketed(host), *map(_bracketed, allowed_hosts)]))
        self._socket = _bound(found, address)
        self._host = host
        self._uvicorn: _Uvicorn | None = None
        self._ended = False

    @property
    def url(self) -> str:
        """Where clients find the server."""
        return f"http://{_bracketed(self._host)}:{self._socket.getsockname()[1]}{PATH}"

    async def serve(self, server: Server[Any]) -> None:
        """Answers until `end` is called; requests that are being answered may still take some seconds."""
        config = uvicorn.Config(
            self._app(server),
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=_FINISHING_SECONDS,
        )
        self._uvicorn = _Uvicorn(config)
        self._uvicorn.should_exit = self._ended
        _SDK_LOG.addFilter(_tells_a_fault)
        try:
            await self._uvicorn.serve(sockets=[self._socket])
        finally:
            _SDK_LOG.removeFilter(_tells_a_fault)
            self.close()

    def end(self) -> None:
        """Lets `serve` end."""
        self._ended = True
        if self._uvicorn:
            self._uvicorn.should_exit = True

    def close(self) -> None:
        """Frees the address."""
        self._socket.close()

    def _app(self, server: Server[Any]) -> Starlette:
        security = TransportSecuritySettings(
            allowed_hosts=[form for name in self.names for form in (name, f"{name}:*")],
            allowed_origins=[
                form
                for name in self.names
                for scheme in ("http", "https")
                for form in (f"{scheme}://{name}", f"{scheme}://{name}:*")
            ],
        )
        if self._token is None:
            return server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
        known = _OneToken(self._token)
        app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, token_verifier=known)
        app.add_middleware(AuthenticationMiddleware, backend=BearerAuthBackend(known))
        return app


class _Uvicorn(uvicorn.Server):
    """Leaves signals to whoever runs it, who has more to end than this."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _tells_a_fault(record: logging.LogRecord) -> bool:
    """Whether a record of the SDK's is worth a line: a client that goes in the middle of a request is no fault."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


class _OneToken:
    """Knows one token, and compares in a time that tells nothing about it."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        if not hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self._token):
            return None
        return AccessToken(token="", client_id="brain", scopes=[])


class _Resolved:
    """A host as an address to bind."""

    def __init__(self, family: socket.AddressFamily, address: Any, is_loopback: bool) -> None:
        self.family, self.address, self.is_loopback = family, address, is_loopback


def _parsed(address: str) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(address.strip())
    if found is None or int(found["port"]) > 65_535:
        raise InputError(f"{address!r} is no address to listen at. Give HOST:PORT such as 127.0.0.1:8321, or a port.")
    return (found["host"] or "127.0.0.1").strip("[]"), int(found["port"])


def _checked_token(token: str) -> str:
    stripped = token.strip()
    if len(stripped) < SHORTEST_TOKEN or not _TOKEN.fullmatch(stripped):
        raise InputError(
            f"The token must be at least {SHORTEST_TOKEN} visible ASCII characters without blanks. "
            "One can be made with: openssl rand -hex 32"
        )
    return stripped


def _resolved(host: str, port: int) -> _Resolved:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"{host!r} is not a host of this machine ({error}). Listen on 127.0.0.1, or name one."
        ) from error
    loopback = all(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]).is_loopback for entry in found)
    family, *_, address = found[0]
    return _Resolved(family, address, loopback)


def _bound(found: _Resolved, shown: str) -> socket.socket:
    try:
        return socket.create_server(found.address, family=found.family, backlog=2048)
    except OSError as error:
        raise ServingError(f"{shown} cannot be listened at: {error.strerror}. Choose another port or host.") from error


def _bracketed(host: str) -> str:
    """A host as it stands in an address: IPv6 in brackets. A port behind it stays."""
    return f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host
