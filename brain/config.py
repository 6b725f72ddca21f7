"""Which caps and places apply? Limits on input sizes, and where files of this user live."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

import platformdirs

from brain.errors import LIMITS_VARIABLE, InputError

STORE_VARIABLE = "BRAIN_STORE"
"""Environment variable that names the default location of the CLI and of `Brain.open()`."""

DEFAULT_TOP_K, DEFAULT_MIN_SCORE = 5, 0.3
"""Candidates that recall returns at most, and their least combined score (guide, "Recalling Skills")."""


@dataclass(frozen=True)
class Limits:
    """Caps on what one call may bring in; the same on every path that writes.

    `steps`: steps of one procedure (count). `text_bytes`: all text of one skill or trace together
    (UTF-8 bytes). `tags`: tags of one skill (count). `nesting`: depth of nested values (levels, at most 200).
    Raises `InputError` for what is no whole number of at least 1.
    """

    steps: int = 1_000
    text_bytes: int = 1_000_000
    tags: int = 1_000
    nesting: int = 64

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(
                    f"Limits.{field.name} must be a whole number of at least 1, not {value!r}. "
                    f"Give one, or leave it out for the default of {field.default:,}."
                )
        if self.nesting > 200:
            raise InputError("Limits.nesting may be at most 200, because the JSON reader recurses. Give less.")

    @classmethod
    def from_environment(cls) -> Self:
        """The caps that `BRAIN_LIMITS` names ("steps=2000,tags=50"), the defaults for the others."""
        text = os.environ.get(LIMITS_VARIABLE, "")
        known, given = {field.name for field in fields(cls)}, dict[str, int]()
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, _, value = (side.strip() for side in part.partition("="))
            if name not in known or not value.isascii() or not value.isdigit():
                raise InputError(
                    f"{LIMITS_VARIABLE} holds {part!r}. Give whole numbers for {', '.join(sorted(known))}, "
                    f"such as {LIMITS_VARIABLE}=steps=2000,tags=50."
                )
            given[name] = int(value)
        return cls(**given)


@dataclass(frozen=True)
class TraceLimits:
    """Caps on what is read of a trace file; what is learned of it is under `Limits` as well.

    `text`: characters that are kept of one text, the end being cut. `items`: entries that are kept of one list or
    object. `steps`: steps of one trace (count); one with more is refused. `record_bytes`: bytes of one line, or of a
    file's one JSON object that cannot be read in pieces; a longer one is refused.
    """

    text: int = 4_000
    items: int = 100
    steps: int = 20_000
    record_bytes: int = 64 * 2**20


def installed_version() -> str:
    """The version of this package; "0+source" where it runs from its source without being installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("brain")
    except PackageNotFoundError:
        return "0+source"


def default_location() -> str:
    """The location in `BRAIN_STORE`, else an SQLite file in the user's data folder."""
    return os.environ.get(STORE_VARIABLE) or f"sqlite:///{data_folder() / 'brain.db'}"


def data_folder() -> Path:
    """Where data that must last is kept: `BRAIN_DATA_DIR`, else the user's data folder. Not created here."""
    return _folder("BRAIN_DATA_DIR", platformdirs.user_data_dir("brain"))


def cache_folder() -> Path:
    """Where what can be made anew is kept: `BRAIN_CACHE_DIR`, else the user's cache folder. Not created here."""
    return _folder("BRAIN_CACHE_DIR", platformdirs.user_cache_dir("brain"))


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or default).expanduser().absolute()
