"""Which schema changes are there, and which are applied? Files are read, compared with the history, never guessed.

Load the files, analyse (pure), apply under the store's lock, record. A store applies and records in its own way.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from brain.errors import SchemaError, StatementError
from brain.store.values import Migration

_FILE = re.compile(r"V(\d{3})__([a-z0-9_]+)\.(?:cypher|sql)")
_STRINGS_AND_COMMENTS = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"  # strings and quoted names
    r"|/\*(?s:.*?)\*/|//[^\n]*|(?:^|(?<=\s))--(?=\s)[^\n]*",  # comments of Cypher and of SQL
    re.MULTILINE,
)


@dataclass(frozen=True)
class MigrationFile:
    """One `V001__name.cypher` or `.sql`: its statements are separated by `;`."""

    version: int
    name: str
    checksum: str
    statements: tuple[str, ...]


@dataclass(frozen=True)
class Applied:
    """One entry of a store's history."""

    version: int
    name: str
    checksum: str


@cache
def load(folder: Path) -> tuple[MigrationFile, ...]:
    """The migrations in `folder`, in order. Raises `StatementError` for a bad name or a version used twice."""
    found = []
    for path in sorted(folder.iterdir()):
        match = _FILE.fullmatch(path.name)
        if not match:
            raise StatementError(
                f"{path.name} is not named like V001__what_it_does.cypher. Rename it, or reinstall the package."
            )
        text = path.read_text("utf-8")
        checksum = hashlib.sha256(text.encode()).hexdigest()
        found.append(MigrationFile(int(match.group(1)), match.group(2), checksum, split(text)))
    versions = [file.version for file in found]
    if len(set(versions)) != len(versions):
        raise StatementError(f"Two migrations in {folder.name} share a version. Rename one, or reinstall the package.")
    return tuple(found)


def split(text: str) -> tuple[str, ...]:
    """The statements of a file. A `;` inside a string, a quoted name or a comment separates nothing."""
    blanked = _STRINGS_AND_COMMENTS.sub(lambda m: " " * len(m.group()), text)
    ends = [i for i, character in enumerate(blanked) if character == ";"]
    starts = [0, *(end + 1 for end in ends)]
    pieces = [(text[a:b], blanked[a:b]) for a, b in zip(starts, [*ends, len(text)], strict=True)]
    return tuple(piece.strip() for piece, bare in pieces if bare.strip())


def analyse(files: Sequence[MigrationFile], history: Sequence[Applied]) -> list[Migration]:
    """Every migration of either side with its state, in order."""
    applied = {entry.version: entry for entry in history}
    local = {file.version: file for file in files}
    result = []
    for version in sorted(applied.keys() | local.keys()):
        file, entry = local.get(version), applied.get(version)
        if file and not entry:
            state = "pending"
        elif entry and not file:
            state = "missing_locally"
        else:
            assert file and entry
            state = "applied" if file.checksum == entry.checksum else "changed_after_apply"
        source = file or entry
        assert source
        result.append(Migration(version, source.name, source.checksum, state))
    return result


def check_usable(migrations: Sequence[Migration], location: str) -> None:
    """Raises `SchemaError` if the store is newer than this code, or a migration was changed after it was applied."""
    newer = [m for m in migrations if m.state == "missing_locally"]
    if newer:
        names = ", ".join(f"V{m.version:03d}__{m.name}" for m in newer)
        raise SchemaError(
            f"{location} has a newer schema ({names}) than this version of brain knows. Upgrade brain.", location
        )
    changed = [m for m in migrations if m.state == "changed_after_apply"]
    if changed:
        names = ", ".join(f"V{m.version:03d}__{m.name}" for m in changed)
        raise SchemaError(
            f"{location}: {names} was changed after it was applied. "
            "Restore the file as it was, and put the change into a new one.",
            location,
        )


def usable(migrations: list[Migration], location: str) -> list[Migration]:
    """`migrations`, if `check_usable` finds nothing."""
    check_usable(migrations, location)
    return migrations


def pending(files: Sequence[MigrationFile], migrations: Sequence[Migration]) -> list[MigrationFile]:
    """The files still to apply, in order."""
    waiting = {m.version for m in migrations if m.state == "pending"}
    return [file for file in files if file.version in waiting]
