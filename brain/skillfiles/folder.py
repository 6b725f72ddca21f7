"""Which files make up the folder of a skill, and which of them may be read or written?

A skill brings text files along (scripts/, references/, assets/). What could reach out of the folder, is no text, or is
too large stays behind, and is told.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from brain.errors import InputError
from brain.skillfiles.rules import Finding, is_reserved
from brain.skillfiles.skillfile import FILE_NAMES, LARGEST

LARGEST_BESIDE, ALL_BESIDE, MOST_BESIDE = 100_000, 250_000, 200
"""Bytes of one file beside a SKILL.md, bytes of all of them, and how many there may be."""
DEEPEST = 32
"""Folders within folders that are looked at."""
PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv", ".DS_Store"})
"""Names that are no part of a skill, wherever they stand."""

_LONGEST_PART = 200  # bytes of a name that every file system takes
_NEVER_IN_A_NAME = set('/\\:*?"<>|')


@dataclass(frozen=True)
class Beside:
    """The files beside a SKILL.md, by their path from its folder, and what was left behind and why."""

    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    left: tuple[Finding, ...] = ()


def skill_files_below(top: Path, tell: Callable[[Path, str], Any]) -> Iterator[Path]:
    """Every SKILL.md at or below `top`, by its path; `tell` is told of what is passed over, and why.

    Below a folder that has one, no other is looked for. Links are not followed. Raises `InputError` for no folder.
    """
    if top.is_file():
        if top.name not in FILE_NAMES:
            raise InputError(
                f"{top} is no folder and no {FILE_NAMES[0]}. Unpack an archive first, and name its folder."
            )
        yield top
        return
    if not top.is_dir():
        raise InputError(f"{top} is not there. Check the path.")
    for folder, inner, names in os.walk(top, onerror=lambda error: tell(*_failure(error))):
        found = next((name for name in FILE_NAMES if name in names), None)
        if found:
            yield Path(folder, found)
            inner.clear()
        if inner and _depth(folder, top) == DEEPEST:
            tell(Path(folder), f"what lies more than {DEEPEST} folders deep is not looked at")
            inner.clear()
        for name in sorted(inner):
            if Path(folder, name).is_symlink():
                tell(Path(folder, name), "it is a symbolic link to a folder")
        inner[:] = sorted(name for name in inner if name not in PASSED_OVER)


def _depth(folder: str, top: Path) -> int:
    return len(Path(folder).parts) - len(top.parts)


def _failure(error: OSError) -> tuple[Path, str]:
    return Path(error.filename), f"it cannot be read ({error.strerror})"


def read_skill_file(path: Path) -> bytes:
    """The bytes of a SKILL.md, and no more than may be. Raises `InputError` for a link out of its folder."""
    if not path.resolve().is_relative_to(path.parent.resolve()):
        raise InputError("it is a symbolic link out of its folder")
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputError("it is not a file")
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def read_beside(path: Path) -> Beside:
    """What stands beside the SKILL.md at `path`, in its folder and below."""
    files: dict[str, dict[str, Any]] = {}
    left: list[Finding] = []
    room = ALL_BESIDE

    def leave(name: str, reason: str) -> None:
        left.append(Finding("file-left", 1, f"{ascii(name)[1:-1]} is left behind: {reason}"))

    for name, place in _below(path, leave):
        reason, data = _read(name, place, room) if len(files) < MOST_BESIDE else ("there are too many files", b"")
        if reason:
            leave(name, reason)
            continue
        room -= len(data)
        files[name] = {"text": data.decode()} | ({"executable": True} if os.access(place, os.X_OK) else {})
    return Beside(files, tuple(left))


def _below(path: Path, leave: Callable[[str, str], None]) -> Iterator[tuple[str, Path]]:
    def failed(error: OSError) -> None:
        place, reason = _failure(error)
        leave(place.relative_to(path.parent).as_posix(), reason)

    for folder, inner, names in os.walk(path.parent, onerror=failed):
        if inner and _depth(folder, path.parent) == DEEPEST:
            leave(Path(folder).relative_to(path.parent).as_posix(), f"it lies {DEEPEST} folders deep")
            inner.clear()
        links = [name for name in inner if Path(folder, name).is_symlink()]
        inner[:] = sorted(name for name in inner if name not in PASSED_OVER and name not in links)
        for name in sorted([*names, *links]):
            place = Path(folder, name)
            if name not in PASSED_OVER and place != path:
                yield place.relative_to(path.parent).as_posix(), place


def _read(name: str, place: Path, room: int) -> tuple[str, bytes]:
    """Why a file is left behind, empty if it is not, and its bytes."""
    about = place.lstat()
    if stat.S_ISLNK(about.st_mode):
        return "it is a symbolic link", b""
    if not stat.S_ISREG(about.st_mode):
        return "it is no file", b""
    if not is_safe(name):
        return "its name has a form that not every system can hold", b""
    if about.st_size > min(room, LARGEST_BESIDE):
        return f"files may have {LARGEST_BESIDE:,} bytes, together {ALL_BESIDE:,}", b""
    try:
        with place.open("rb") as file:
            data = file.read(LARGEST_BESIDE + 1)
        data.decode("utf-8")
    except OSError as error:
        return f"it cannot be read ({error.strerror})", b""
    except UnicodeDecodeError:
        return "it is not UTF-8 text", b""
    return ("it holds NUL bytes, so it is no text" if b"\0" in data else ""), data


def is_safe(name: str) -> bool:
    """Whether a path from a skill's folder stays in it, and is not that of the skill's own file."""
    parts = PurePosixPath(name).parts
    if not parts or name != "/".join(parts) or name.lower() == FILE_NAMES[0].lower():
        return False
    return all(map(_is_safe_part, parts))


def _is_safe_part(part: str) -> bool:
    if set(part) & _NEVER_IN_A_NAME or not part.isprintable() or part.endswith((".", " ")) or is_reserved(part):
        return False
    try:
        return len(part.encode()) <= _LONGEST_PART
    except UnicodeEncodeError:  # what the file system gave is not UTF-8
        return False


def write_folder(folder: Path, text: str, files: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes a skill's folder: a new one whole or not at all, into one that is there file by file.

    What else is in a folder that is there stays. Raises `InputError`, `OSError`.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists():
        _write_into(folder, text, files)
        return
    aside = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}")
    try:
        aside.mkdir()
        _write_into(aside, text, files)
        aside.rename(folder)
    finally:
        with suppress(OSError):
            shutil.rmtree(aside)


def _write_into(folder: Path, text: str, files: Mapping[str, Mapping[str, Any]]) -> None:
    inside = folder.resolve()
    for name, file in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.parent.resolve().is_relative_to(inside):
            raise InputError(f"{place.parent} is a symbolic link out of {folder}. Remove it, or export elsewhere.")
        _put(place, str(file["text"]), executable=file.get("executable") is True)
    _put(folder / FILE_NAMES[0], text, executable=False)


def _put(place: Path, text: str, *, executable: bool) -> None:
    aside = place.with_name(f".{secrets.token_hex(8)}")
    try:
        aside.write_bytes(text.encode())
        if executable:
            aside.chmod(aside.stat().st_mode | 0o111)
        aside.replace(place)
    finally:
        with suppress(OSError):
            aside.unlink()
