"""Which ports on the loopback interface does a server listen on?"""

from __future__ import annotations

import socket

from brain.errors import LocalServerError

HOST = "127.0.0.1"
DEFAULT_BOLT, DEFAULT_HTTP = 7687, 7474


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_busy(port: int) -> bool:
    """Whether something listens on `port`, or this user may not."""
    with socket.socket() as probe:
        probe.settimeout(1)
        if probe.connect_ex((HOST, port)) == 0:
            return True
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
    return False


def choose_port(option: str, asked: int | None, remembered: int | None, default: int) -> int:
    """The port to use; 0 asks for any free one.

    A port asked for, or remembered from the last start (addresses in use point to it), must be free, else
    `LocalServerError`. Without either, the default when it is free, else any free one.
    """
    wanted = remembered if asked is None else asked
    if wanted is None:
        return free_port() if is_busy(default) else default
    if wanted == 0:
        return free_port()
    if not 0 < wanted < 65536:
        raise LocalServerError(f"{option} {wanted} is no port. Choose one from 1 to 65535, or 0 for any free one.")
    if is_busy(wanted):
        origin = "asked for" if asked is not None else "this server used last time"
        raise LocalServerError(
            f"Port {wanted} ({option}, {origin}) is busy: another program listens on it, "
            "or this user may not. "
            f"Stop that program, or choose another port with {option}, 0 for any free one."
        )
    return wanted
