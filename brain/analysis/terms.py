"""How are the terms of many profiles kept small? `Terms`: one profile's, packed as bytes that arrays are made of.

A stem is known by a digest of 8 bytes, its key. Weights and positions are kept in steps of 1/10 000, which is how
profiles round them, so that nothing is lost.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

PARTS = 10_000
"""Steps in which weights and positions are kept."""
MOST_COUNTED = 127
"""Occurrences of a stem in one text that are told apart."""
NOUN = 128
"""Added to the occurrences of a stem that is never anything but a noun."""

RECORD = np.dtype([("key", "<u8"), ("weight", "<i2"), ("position", "<i2"), ("use", "u1")])
"""One term: key, weight and position in parts, its use (see `Term.use`)."""
_HEAD = struct.Struct("<HHIQ")
_HAS_STEPS = 1
_CACHED_KEYS = 65_536

Records = NDArray[Any]
"""An array of `RECORD`, in any order."""


@dataclass(frozen=True, slots=True)
class Term:
    """A stem of a text, or a pair of neighbours: its largest weight, its first position (0 at the start, 1 at the end).

    `count` is how often the stem occurs if it is a content word; 0 for function words and pairs. `is_noun` says that it
    occurs as nothing else.
    """

    stem: str
    weight: float
    position: float
    count: int
    is_noun: bool = False

    @property
    def use(self) -> int:
        """`count`, 127 at most, and `NOUN` more if it is a noun; 0 for what is no content word. Fits into a byte."""
        return min(self.count, MOST_COUNTED) + NOUN * self.is_noun if self.count else 0


@dataclass(frozen=True)
class Terms:
    """What recall scores of one profile: the bytes of its `RECORD`s, whether it tells steps, the key of its context."""

    data: bytes
    has_steps: bool
    context: int

    @property
    def records(self) -> Records:
        """The terms, in any order."""
        return np.frombuffer(self.data, RECORD)

    def to_bytes(self, version: int) -> bytes:
        """The bytes that are stored, marked with the version of the analysis."""
        return (
            _HEAD.pack(version, _HAS_STEPS * self.has_steps, len(self.records), self.context) + self.records.tobytes()
        )

    @classmethod
    def from_bytes(cls, data: bytes | None, version: int) -> Terms | None:
        """The stored terms; None if there are none, they are damaged, or another version of the analysis made them."""
        if data is None or len(data) < _HEAD.size:
            return None
        made_by, flags, length, context = _HEAD.unpack_from(data)
        if made_by != version or len(data) != _HEAD.size + length * RECORD.itemsize:
            return None
        return cls(data[_HEAD.size :], bool(flags & _HAS_STEPS), context)


def version_of(data: bytes | None) -> int:
    """The version of the analysis that made stored terms; 0 if there are none."""
    return int(_HEAD.unpack_from(data)[0]) if data is not None and len(data) >= _HEAD.size else 0


def pack(terms: Sequence[Term], *, has_steps: bool, context_digest: str) -> Terms:
    """The packed form of terms whose weights and positions are 0..1; `context_digest` is hexadecimal."""
    records = np.empty(len(terms), RECORD)
    records["key"] = np.array([key_of(term.stem) for term in terms], np.uint64)
    records["weight"] = np.rint(np.array([term.weight for term in terms]) * PARTS)
    records["position"] = np.rint(np.array([term.position for term in terms]) * PARTS)
    records["use"] = [term.use for term in terms]
    return Terms(records.tobytes(), has_steps, int(context_digest[:16], 16))


@lru_cache(maxsize=_CACHED_KEYS)
def key_of(stem: str) -> int:
    """The key of a stem: two of a million have the same with a probability of 1 to 37 million."""
    return int.from_bytes(hashlib.blake2b(stem.encode(), digest_size=8).digest(), "little")
