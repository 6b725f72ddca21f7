"""What does a listing show of the skills in the graph? `rows`: the properties and tags of one skill as a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from brain.store.base import Clock
from brain.store.listing import RowValues, read_rows
from brain.store.neo4j.connection import Connection, Transaction
from brain.store.neo4j.reading import is_gone
from brain.store.values import SkillRow


def rows(
    connection: Connection, clock: Clock, location: str, skill_ids: Sequence[str] | None, size: int
) -> Iterator[list[SkillRow]]:
    """See `Store.rows`."""
    if skill_ids is not None:
        found = connection.ask(lambda tx: _there(tx, tx.value("rows_by_id", ids=list(skill_ids), now=clock())))
        yield read_rows(map(_values, found), location)
        return
    after = ""
    while found := _page(connection, after, size, clock()):
        yield read_rows(map(_values, found), location)
        after = found[-1][0]


def _page(connection: Connection, after: str, size: int, now: datetime) -> list[list[Any]]:
    def page(tx: Transaction, after: str) -> list[list[Any]]:
        while rows := tx.value("page_of_rows", after=after, size=size, now=now):
            if found := _there(tx, rows):
                return found
            after = rows[-1][0]
        return []

    return connection.ask(lambda tx: page(tx, after))


def _there(tx: Transaction, rows: list[list[Any]]) -> list[list[Any]]:
    """Those that are not gone; what others are writing is looked at again."""
    found = [row for row in rows if not is_gone(row[1], *row[4:9])]
    for row in found:
        if None in (row[1], *row[4:9]):
            tx.doubt(row)
    return found


def _values(row: list[Any]) -> RowValues:
    skill_id, name, domain, tags, *rest = row
    ordered = [tag for _, tag in sorted(tags, key=_place)]
    return (skill_id, name, domain, ordered, *rest)


def _place(tag: list[Any]) -> int:
    """The place of a tag; one that a hand put there may have none."""
    return tag[0] if isinstance(tag[0], int) else 0
