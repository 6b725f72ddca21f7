"""What does a local server keep on disk, and who may read it?

<home>/                 0700
    password            0600, written before the first start
    server.json         0600, the version and ports of the last start, and the pid while it runs
    start.lock          held while one process starts the server
    conf/neo4j.conf     written at each start
    data/  logs/        Neo4j's own
    logs/console.log    what Java printed
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from brain.config import data_folder
from brain.errors import LocalServerError
from brain.neo4j_local.pinned import version_key

USER = "neo4j"
LOCK_SECONDS = 2
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def home_of(name: str) -> Path:
    """The home of the server called `name`: 1 to 64 letters, digits, dots, dashes and underscores."""
    if not _NAME.fullmatch(name):
        raise LocalServerError(
            f"{name!r} cannot name a server. Use 1 to 64 letters, digits, dots, dashes or underscores, "
            "beginning with a letter or digit."
        )
    return data_folder() / "neo4j" / name


@dataclass(frozen=True)
class Record:
    """What `server.json` holds. `pid` is None when the server was stopped."""

    version: str
    bolt_port: int
    http_port: int
    pid: int | None = None
    started_at: str | None = None


class Home:
    """The folder of one server. Nothing is created before `prepare`."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self.password_file = self.path / "password"
        self.config_folder = self.path / "conf"
        self.server_log = self.path / "logs" / "neo4j.log"
        self.console_log = self.path / "logs" / "console.log"
        self._record_file = self.path / "server.json"

    def prepare(self) -> None:
        """Create the folders, private to the user."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.chmod(0o700)
            for folder in (self.config_folder, self.server_log.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            self._write_private("start.lock", "")
        except OSError as error:
            raise LocalServerError(
                f"The server's home {self.path} cannot be written: {error}. "
                "Correct its permissions, or set BRAIN_DATA_DIR to a folder that you can write."
            ) from error

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Hold the home for one start; raise when another process is starting it, or a server uses it."""
        import fcntl

        with (self.path / "start.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise LocalServerError(
                    f"The home {self.path} is locked: another process is starting this server. "
                    "Wait for it, and look with `brain neo4j status`."
                ) from error
            self._refuse_used_store()
            yield

    def _refuse_used_store(self) -> None:
        """Java's lock on the store is a POSIX record lock, so it can be tested from here."""
        try:
            with (self.path / "data" / "databases" / "store_lock").open("r+") as store:
                if _can_lock(store):
                    return
        except FileNotFoundError:
            return
        except OSError as error:
            raise LocalServerError(
                f"The data in {self.path} cannot be opened: {error}. "
                "Run this as the user who owns it, or use another home with --name."
            ) from error
        raise LocalServerError(
            f"The home {self.path} is locked: another Neo4j uses its data. "
            "Stop that server, or start one on a home of its own with --name."
        )

    @property
    def has_data(self) -> bool:
        """Whether a server ran here before."""
        return (self.path / "data" / "databases" / "system").exists()

    def password(self) -> str:
        """The password of the user `neo4j`; a new random one in a home without data."""
        try:
            return self.password_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError as error:
            if self.has_data:
                raise LocalServerError(
                    f"{self.password_file} is missing, and the data was made with the password it held. "
                    "Write that password into the file, or use another home with --name."
                ) from error
        except OSError as error:
            raise LocalServerError(
                f"{self.password_file} cannot be read: {error}. Run this as the user who started the server."
            ) from error
        password = secrets.token_hex(16)
        self._write_private(self.password_file.name, password)
        return password

    def read_record(self) -> Record | None:
        """What the last start wrote; None in a new home or after damage."""
        try:
            return Record(**json.loads(self._record_file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write_record(self, record: Record) -> None:
        """Replace the record in one step."""
        self._write_private("server.json.new", json.dumps(asdict(record), indent=2) + "\n")
        (self.path / "server.json.new").replace(self._record_file)

    def choose_version(self, asked: str | None, default: str) -> str:
        """The version to run: the one asked for, the home's own, or the default; never an older one."""
        record = self.read_record()
        used = record.version if record else None
        chosen = asked or used or default
        if used and self.has_data and version_key(chosen) < version_key(used):
            raise LocalServerError(
                f"The data in {self.path} belongs to Neo4j {used}, and Neo4j {chosen} cannot read it. "
                f"Start it with --version {used}, or use another home with --name."
            )
        return chosen

    def write_config(self, settings: dict[str, str]) -> None:
        """Write `conf/neo4j.conf`."""
        lines = [f"{key}={value}\n" for key, value in settings.items()]
        self._write_private("conf/neo4j.conf", "# Written at each start; changes are lost.\n" + "".join(lines))

    def last_errors(self, lines: int = 6) -> str:
        """The last lines of the logs that speak of an error, for a message; empty when there are none."""
        words = re.compile(r"ERROR|Exception|Error:|OutOfMemory|Caused by|Unable|could not", re.IGNORECASE)
        found = [
            line.strip()[:300]
            for log in (self.console_log, self.server_log)
            for line in tail(log, 200)
            if words.search(line) and not line.startswith(("WARNING", "\tat "))
        ]
        return "\n  ".join(found[-lines:])

    def _write_private(self, name: str, text: str) -> None:
        path = self.path / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(text)


def _can_lock(file: IO[str]) -> bool:
    """Whether the lock is to be had within a short while: a server that was just killed may still hold it."""
    import fcntl

    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        else:
            return True


def tail(log: Path, lines: int) -> list[str]:
    """The last `lines` lines of a log; empty when there is none."""
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
    except OSError:
        return []
