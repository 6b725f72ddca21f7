"""How does a server outlive the command that started it, or end with the process that owns it?

A program of its own, run by path (it imports nothing of the package). It reads one order, JSON on stdin:

    command   the server's command line          console   the file for what the server prints
    owner     a pid, or null                     remove    the folder to delete at the end, or null

It starts the server in a session of its own, prints the server's pid, and returns at once. With an owner
a part of it stays behind and watches: when the owner is gone, however it ended, the server is ended and the
folder removed. It watches by pid, not through PR_SET_PDEATHSIG of the owner, because that signal is Linux
only, fires when the *thread* that started the server ends, and cannot name an owner that is not the parent
(of parallel test workers the first starts the server for all, and may end first). On Linux that signal
guards the remaining gap: the server is killed when this watcher is.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

POLL_SECONDS = 0.25
STOP_SECONDS = 15
PR_SET_PDEATHSIG = 1


def main() -> int:
    """Carry out the order on stdin; print the server's pid, or `error: …` and return 1."""
    order = json.load(sys.stdin)
    reader, writer = os.pipe()
    if os.fork() > 0:
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as pipe:
            answer = pipe.read()
        sys.stdout.write(answer)
        return 0 if answer.isdigit() else 1
    os.close(reader)
    _detach()
    try:
        server = _launch(order)
        os.write(writer, str(server.pid).encode())
    except OSError as error:
        os.write(writer, f"error: {error}".encode())
        os._exit(1)
    os.close(writer)
    if order["owner"] is not None:
        _watch(server, order["owner"], order["remove"])
    os._exit(0)  # the server goes on without this process, so nothing may wait for it


def _detach() -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _launch(order: dict[str, Any]) -> subprocess.Popen[bytes]:
    with Path(order["console"]).open("ab") as console:
        return subprocess.Popen(
            order["command"],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=None if order["owner"] is None else _killed_with_parent(),
        )


def _killed_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _watch(server: subprocess.Popen[bytes], owner: int, folder: str) -> None:
    """Wait until the owner is gone or has removed the folder itself, then leave nothing behind."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit())
    try:
        is_alive = _life_of(owner)
        while is_alive() and Path(folder).is_dir():
            server.poll()  # collects the server's exit status, so that no zombie is left
            time.sleep(POLL_SECONDS)
    finally:
        _end(server)
        shutil.rmtree(folder, ignore_errors=True)


def _life_of(pid: int) -> Callable[[], bool]:
    """A function that says whether the process that has this pid now is still alive."""
    import psutil  # type: ignore[import-untyped]  # publishes no types of its own

    try:
        process = psutil.Process(pid)
    except psutil.NoSuchProcess:
        return lambda: False

    def is_alive() -> bool:
        try:
            return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return False

    return is_alive


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
