"""Which caps and places apply? Limits on input sizes, and where files of this user live."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path

import platformdirs

STORE_VARIABLE = "BRAIN_STORE"
"""Environment variable that names the default location of the CLI and of `Brain.open()`."""

DEFAULT_TOP_K, DEFAULT_MIN_SCORE = 5, 0.3
"""Candidates that recall returns at most, and their least combined score (guide, "Recalling Skills")."""


@dataclass(frozen=True)
class Limits:
    """Caps on what one call may bring in; the same on every path that writes.

    `steps`: steps of one procedure (count). `text_bytes`: all text of one skill or trace together
    (UTF-8 bytes). `tags`: tags of one skill (count). `nesting`: depth of nested values (levels).
    """

    steps: int = 1_000
    text_bytes: int = 1_000_000
    tags: int = 1_000
    nesting: int = 64

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"Limits.{field.name} must be a whole number of at least 1, not {value!r}.")
        if self.nesting > 200:
            raise ValueError("Limits.nesting may be at most 200: the JSON reader recurses.")


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
