"""What is to be written at once, and on what condition? `Plan`: the end state of every key, field and member touched.

A plan is made in Python from what was read, and carried out by one script on the server, if what it was made from is
still there. Whatever touches a thing last decides it, so that one plan may hold several writes of one skill.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

Argument = str | bytes
Command = tuple[Argument, ...]

_PART = 1_000  # arguments of one command at most: Lua's stack is finite


@dataclass
class Plan:
    """Conditions and end states. `receipt` is what a repeated attempt is told."""

    receipt: str = ""
    raises_version: bool = False
    checks: dict[tuple[str, str, str], str] = field(default_factory=dict)
    documents: dict[str, tuple[str, int | None] | None] = field(default_factory=dict)
    hashes: dict[str, dict[str, Argument | None]] = field(default_factory=lambda: defaultdict(dict))
    sets: dict[str, dict[str, bool]] = field(default_factory=lambda: defaultdict(dict))
    scores: dict[str, dict[str, int | None]] = field(default_factory=lambda: defaultdict(dict))
    noted: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    sums: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))
    edges: list[Command] = field(default_factory=list)

    def check_document(self, key: str, digest: str) -> None:
        """Only if the document at `key` still has `digest`. The first reading counts."""
        self.checks.setdefault(("document", key, ""), digest)

    def check_field(self, key: str, name: str, value: bytes | None) -> None:
        """Only if the hash field still holds `value`."""
        self.checks.setdefault(("field", key, name), (value or b"").decode("utf-8", "surrogateescape"))

    def check_there(self, key: str) -> None:
        """Only if there still is something at `key`."""
        self.checks.setdefault(("there", key, ""), "")

    def note(self, key: str, skill_id: str) -> None:
        """Puts `skill_id` into a sorted set under the version that this plan raises."""
        self.raises_version = True
        self.noted[key].add(skill_id)
        self.scores[key].pop(skill_id, None)

    def add(self, key: str, sums: dict[str, int], sign: int = 1) -> None:
        """Adds to the numbers of a hash."""
        for name, value in sums.items():
            self.sums[key][name] += sign * value

    def commands(self) -> list[Command]:
        """The plan as commands, removals first. NOTE, UNLINK_EDGE and UNLINK_EDGES are the script's own."""
        found: list[Command] = list(self.edges)
        for key, fields in self.hashes.items():
            found += _parts("HDEL", key, (name for name, value in fields.items() if value is None))
        for key, members in self.sets.items():
            found += _parts("SREM", key, (member for member, there in members.items() if not there))
        for key, scores in self.scores.items():
            found += _parts("ZREM", key, (member for member, score in scores.items() if score is None))
        for key, document in self.documents.items():
            if document is None:
                found.append(("DEL", key))
            else:
                text, seconds = document
                found.append(("SET", key, text) if seconds is None else ("SET", key, text, "EX", str(seconds)))
        for key, fields in self.hashes.items():
            pairs = [part for name, value in fields.items() if value is not None for part in (name, value)]
            found += _parts("HSET", key, pairs)
        for key, members in self.sets.items():
            found += _parts("SADD", key, (member for member, there in members.items() if there))
        for key, scores in self.scores.items():
            pairs = [part for member, score in scores.items() if score is not None for part in (str(score), member)]
            found += _parts("ZADD", key, pairs)
        for key, noted in self.noted.items():
            found += [("NOTE", key, member) for member in sorted(noted)]
        for key, sums in self.sums.items():
            found += [("HINCRBY", key, name, str(value)) for name, value in sums.items() if value]
        return found


def packed(parts: Iterable[Iterable[Argument]]) -> bytes:
    """Lists of texts as MessagePack, which the server's Lua reads without changing a byte."""
    found = [[encoded(item) for item in part] for part in parts]
    pieces = [struct.pack(">BI", 0xDD, len(found))]
    for part in found:
        pieces.append(struct.pack(">BI", 0xDD, len(part)))
        for item in part:
            pieces += [struct.pack(">BI", 0xDB, len(item)), item]
    return b"".join(pieces)


def encoded(text: Argument) -> bytes:
    """Text as Redis gets it. Bytes that were no UTF-8 come back as they were."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def decoded(data: bytes) -> str:
    """The opposite of `encoded`."""
    return data.decode("utf-8", "surrogateescape")


def _parts(name: str, key: str, arguments: Iterable[Argument]) -> list[Command]:
    every = list(arguments)
    return [(name, key, *every[i : i + _PART]) for i in range(0, len(every), _PART)]
