"""What is stored under some ids, documents and notes together? Also, what has changed that only the documents tell?"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.store.redis import document
from brain.store.redis.connection import Backend
from brain.store.redis.document import DAMAGE, Document, text_key
from brain.store.redis.layout import Keys, digest, microseconds, read_edge
from brain.store.redis.note import GONE, NO_STRING, Note
from brain.store.redis.plan import decoded

log = logging.getLogger(__name__)

AT_A_TIME = 500
"""Skills that are read, or noted anew, at a time."""


@dataclass(frozen=True)
class Stored:
    """What is stored of one skill.

    `raw_note` is the note as it stands, `note` what is known of the document that is there now; `document` is None
    where it says no skill, and `digest` then tells whether there is one.
    """

    skill_id: str
    digest: str = GONE
    document: Document | None = None
    raw_note: bytes | None = None
    note: Note = field(default_factory=Note)

    @property
    def is_there(self) -> bool:
        """Whether the key holds anything."""
        return self.digest != GONE

    def has_expired(self, now: datetime) -> bool:
        """Whether its time is over, by what it says or, where it says no skill, by what was noted of it."""
        if self.skill:
            return self.skill.has_expired(now)
        return self.note.expires_at is not None and self.note.expires_at <= microseconds(now)

    @property
    def skill(self) -> Skill | None:
        return self.document.skill if self.document else None

    @property
    def is_noted(self) -> bool:
        """Whether the note describes the document that is there."""
        return self.raw_note is not None and self.raw_note[:40].decode("ascii", "replace") == self.digest


class Reader:
    """Reads one namespace."""

    def __init__(self, backend: Backend, keys: Keys, namespace: str, clock: Callable[[], datetime]) -> None:
        self._backend, self._keys, self._namespace, self._clock = backend, keys, namespace, clock

    @property
    def now(self) -> datetime:
        """The time by the store's clock, UTC."""
        return self._clock()

    def warn(self, key: str, what: object) -> None:
        """Says which key cannot be read."""
        log.warning("%s: %s cannot be read and is skipped: %s", self._backend.location, key, what)

    def stored(self, skill_ids: Iterable[str]) -> dict[str, Stored]:
        """What is stored under each id, as of one moment."""
        wanted = list(dict.fromkeys(skill_ids))
        return self.understood(wanted, *self._backend.read(*self.asking(wanted))) if wanted else {}

    def asking(self, skill_ids: Sequence[str]) -> list[Sequence[str]]:
        """The commands whose answers `understood` takes. For at least one id."""
        return [("MGET", *map(self._keys.document, skill_ids)), ("HMGET", self._keys.notes, *skill_ids)]

    def understood(
        self, skill_ids: Sequence[str], texts: Sequence[bytes | None], notes: Sequence[bytes | None]
    ) -> dict[str, Stored]:
        """What documents and notes of some ids say."""
        absent = [skill_id for skill_id, text in zip(skill_ids, texts, strict=True) if text is None]
        odd = set(self._not_strings(absent)) if absent else set()
        found = zip(skill_ids, texts, notes, strict=True)
        return {i: self._stored(i, text, note, NO_STRING if i in odd else GONE) for i, text, note in found}

    def _not_strings(self, skill_ids: Sequence[str]) -> list[str]:
        kinds = self._backend.read(*(("TYPE", self._keys.document(i)) for i in skill_ids))
        return [i for i, kind in zip(skill_ids, kinds, strict=True) if kind not in (b"none", b"string")]

    def _stored(self, skill_id: str, text: bytes | None, raw_note: bytes | None, absent: str) -> Stored:
        noted = self._note(skill_id, raw_note) if raw_note else Note()
        if text is None:
            if absent == NO_STRING:
                self.warn(self._keys.document(skill_id), "it holds something that is no string")
            return Stored(skill_id, absent, None, raw_note, noted)
        found = digest(text)
        fits = found == noted.digest
        try:
            said = document.read(
                skill_id,
                text,
                self._namespace,
                self._clock(),
                version=noted.version + (not fits),
                lost=noted.lost,
                added=noted.added if fits or (noted.added and noted.text == text_key(json.loads(text))) else (),
            )
        except DAMAGE as error:
            self.warn(self._keys.document(skill_id), error)
            return Stored(skill_id, found, None, raw_note, noted)
        return Stored(skill_id, found, said, raw_note, noted)

    def _note(self, skill_id: str, raw_note: bytes) -> Note:
        try:
            return Note.read(raw_note)
        except DAMAGE as error:
            self.warn(f"{skill_id!r} in {self._keys.notes}", error)
            return Note()

    def live(self, skill_ids: Iterable[str]) -> dict[str, Skill]:
        """The live skills among some ids, in their order."""
        return self.only_live(self.stored(skill_ids))

    def only_live(self, stored: dict[str, Stored]) -> dict[str, Skill]:
        """The live skills in what was read, in its order."""
        now = self._clock()
        every = ((i, found.skill) for i, found in stored.items())
        return {i: skill for i, skill in every if skill and not skill.has_expired(now)}

    def ids(self, *commands: Sequence[str]) -> list[list[str]]:
        """The ids that reading commands give, each sorted."""
        return [sorted(map(decoded, answer)) for answer in self._backend.read(*commands)]

    def edges(self, skill_ids: Sequence[str]) -> dict[str, list[Edge]]:
        """The edges in the sets of some skills, as seen from each, whatever is at their other end."""
        if not skill_ids:
            return {}
        answers = self._backend.read(*(("SMEMBERS", self._keys.edges(i)) for i in skill_ids))
        return {i: self._edges(i, members) for i, members in zip(skill_ids, answers, strict=True)}

    def _edges(self, skill_id: str, members: Iterable[bytes]) -> list[Edge]:
        found = []
        for member in sorted(members):
            try:
                edge = read_edge(skill_id, member)
            except DAMAGE as error:
                self.warn(f"{member!r} in {self._keys.edges(skill_id)}", error)
                continue
            if not (edge.direction == "in" and edge.target == skill_id):  # an edge to itself is one
                found.append(edge)
        return found
