"""Which jars make up a Neo4j version?

Each supported version has one committed list, `jars/neo4j-<version>.txt`: a line per jar with its
coordinate, its SHA-256 and its size in bytes. An installation follows the list and resolves nothing.
`python -m brain.neo4j_local.pin VERSION` writes such a list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from brain.errors import LocalServerError

DEFAULT_VERSION = "2026.09.0"
"""The version that a new home gets when none is asked for."""

_LINE = re.compile(r"(?P<coordinate>\S+) sha256:(?P<sha256>[0-9a-f]{64}) (?P<size>\d+)")
_NAME = re.compile(r"neo4j-(?P<version>\d[\w.]*)\.txt")


@dataclass(frozen=True)
class Jar:
    """One jar of a list. `size` is in bytes; `classifier` is empty for most."""

    group: str
    artifact: str
    classifier: str
    version: str
    sha256: str
    size: int

    @property
    def path(self) -> str:
        """Where a Maven repository keeps it, relative to the repository's root, with forward slashes."""
        stem = "-".join(part for part in (self.artifact, self.version, self.classifier) if part)
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{stem}.jar"

    @property
    def line(self) -> str:
        """The line of the list that describes it."""
        parts = [self.group, self.artifact, "jar", self.classifier, self.version]
        return f"{':'.join(part for part in parts if part)} sha256:{self.sha256} {self.size}"


def pinned_versions() -> tuple[str, ...]:
    """The versions that have a list, oldest first."""
    names = (entry.name for entry in _folder().iterdir())
    found = [match["version"] for name in names if (match := _NAME.fullmatch(name))]
    return tuple(sorted(found, key=version_key))


def version_key(version: str) -> tuple[int, ...]:
    """A version as numbers, for comparing: `"5.26.30"` gives `(5, 26, 30)`."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


def pinned_jars(version: str) -> tuple[Jar, ...]:
    """The jars of one version, in class path order.

    Raises `LocalServerError` when the version is not pinned, or its list is damaged.
    """
    versions = pinned_versions()
    if version not in versions:
        raise LocalServerError(
            f"Neo4j {version} is not among the versions that can be run locally: {', '.join(versions)}. "
            "Choose one of these with --version."
        )
    text = (_folder() / f"neo4j-{version}.txt").read_text(encoding="utf-8")
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    return tuple(_jar(version, number, line) for number, line in lines if line and not line.startswith("#"))


def _folder() -> Traversable:
    return resources.files("brain.neo4j_local") / "jars"


def _jar(version: str, number: int, line: str) -> Jar:
    match = _LINE.fullmatch(line)
    parts = match["coordinate"].split(":") if match else []
    if match is None or len(parts) not in (4, 5) or parts[2] != "jar":
        raise LocalServerError(
            f"Line {number} of neo4j-{version}.txt is not a pinned jar: {line!r}. "
            "Reinstall the package: its files were changed."
        )
    return Jar(
        group=parts[0],
        artifact=parts[1],
        classifier=parts[3] if len(parts) == 5 else "",
        version=parts[-1],
        sha256=match["sha256"],
        size=int(match["size"]),
    )
