"""What does a listing show of the skills in the file? `rows`: columns, and the few fields of the document it needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from brain.store.listing import RowValues, read_rows
from brain.store.sqlite.connection import Connection, Row
from brain.store.sqlite.skills import Skills
from brain.store.values import SkillRow


def rows(
    connection: Connection, skills: Skills, location: str, skill_ids: Sequence[str] | None, size: int
) -> Iterator[list[SkillRow]]:
    """See `Store.rows`."""
    if skill_ids is not None:
        with connection.transaction("read"):
            found = skills.run("rows_by_id", ids=json.dumps(list(skill_ids)), now=skills.now())
        yield read_rows(map(_values, found), location)
        return
    after = ""
    while True:
        with connection.transaction("read"):
            found = skills.run("page_of_rows", after=after, now=skills.now(), size=size)
        if not found:
            return
        yield read_rows(map(_values, found), location)
        after = found[-1][0]


def _values(row: Row) -> RowValues:
    """After the last whole write, success rate and time of change stand in the document, after a use in the columns."""
    skill_id, told, confidence, uses, rate, transfers, successes, expires_at, updated_at = row
    name, domain, tags, first_rate, first_time = json.loads(told) if told else (None,) * 5  # None: it is damaged
    rate, updated_at = first_rate if rate is None else rate, first_time if updated_at is None else updated_at
    return skill_id, name, domain, tags, confidence, uses, rate, transfers, successes, expires_at, updated_at
