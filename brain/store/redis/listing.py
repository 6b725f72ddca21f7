"""What does a listing show of the skills in Redis? `rows`: counts from the notes, texts from the documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brain.store.listing import RowValues, read_rows
from brain.store.redis import document
from brain.store.redis.connection import Backend
from brain.store.redis.document import DAMAGE
from brain.store.redis.layout import Keys, microseconds
from brain.store.redis.note import Note
from brain.store.redis.reading import Reader
from brain.store.values import SkillRow


def rows(
    backend: Backend, keys: Keys, reader: Reader, skill_ids: Sequence[str] | None, size: int
) -> Iterator[list[SkillRow]]:
    """See `Store.rows`. Notes must be up to date."""
    ids = reader.ids(("HKEYS", keys.notes))[0] if skill_ids is None else skill_ids
    for start in range(0, len(ids), size):
        page = ids[start : start + size]
        texts, notes = backend.read(*reader.asking(page))
        found = (_values(keys, reader, *each) for each in zip(page, texts, notes, strict=True))
        yield read_rows((values for values in found if values), backend.location)


def _values(keys: Keys, reader: Reader, skill_id: str, text: bytes | None, noted: bytes | None) -> RowValues | None:
    """None where there is no live skill; one that is damaged has been warned of when it was noted."""
    if text is None or noted is None:
        return None
    try:
        note = Note.read(noted)
        facts = note.facts
        if facts is None or (note.expires_at is not None and note.expires_at <= microseconds(reader.now)):
            return None
        name, domain, tags, rate, updated_at = document.listed(text)
    except DAMAGE as error:
        reader.warn(keys.document(skill_id), error)
        return None
    numbers = facts.confidence, facts.usage_count, rate, facts.transfers, facts.successes
    return skill_id, name, domain, tags, *numbers, note.expires_at, updated_at
