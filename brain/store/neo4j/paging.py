"""How is everything in a namespace gone through? `Pages`: the part of the store that gives a page at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from brain.model.context import Shape
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.model.text import digest
from brain.store.base import PAGE
from brain.store.documents import read_edge
from brain.store.neo4j import moving
from brain.store.neo4j.connection import Transaction
from brain.store.neo4j.reading import edges_there, read_shape
from brain.store.neo4j.scope import Scope
from brain.store.values import KeptSkill, RecallEntry


class Pages(Scope):
    """See `brain.store.base.Store`."""

    def pages(self, tag: str | None = None, size: int = PAGE) -> Iterator[list[Skill]]:
        if tag is not None:
            for ids in self._ids_of_tag(tag, size):
                found = self._connection.ask(
                    lambda tx, ids=ids: self._bodies(tx, tx.value("bodies", ids=ids, now=self.clock()))[1]  # type: ignore[misc]
                )
                yield [skill for skill in found if tag in skill.tags]
            return
        after: str | None = ""
        while after is not None:
            after, page = self._connection.ask(
                lambda tx, after=after: self._bodies(  # type: ignore[misc]
                    tx, tx.value("page_of_bodies", after=after, now=self.clock(), size=size)
                )
            )
            if after is not None:
                yield page

    def _bodies(self, tx: Transaction, found: list[list[Any]]) -> tuple[str | None, list[Skill]]:
        """The id that a page ends with, None where there is none, and its skills."""
        return _last_id(found), self._skills(tx).read(found, by_body=True)

    def entries(self, size: int, *, vectors: bool) -> Iterator[list[RecallEntry]]:
        after: str | None = ""
        shapes = dict[str, Shape]()

        def page(tx: Transaction, after: str) -> tuple[str | None, list[RecallEntry]]:
            rows = tx.value("page_of_entries", after=after, size=size, vectors=vectors, now=self.clock())
            _add_shapes(tx, shapes, {row[2] for row in rows} - shapes.keys())
            return _last_id(rows), self._skills(tx).entries(rows, shapes.__getitem__)

        while after is not None:
            after, found = self._connection.ask(lambda tx, after=after: page(tx, after))  # type: ignore[misc]
            if after is not None:
                yield found

    def export(self, size: int = PAGE) -> Iterator[list[KeptSkill]]:
        for ids in self._pages_of_ids(size):
            yield self._connection.read(lambda tx, ids=ids: moving.kept(self._skills(tx), ids))  # type: ignore[misc]

    def export_edges(self, size: int = PAGE) -> Iterator[list[Edge]]:
        for ids in self._pages_of_ids(size):
            rows = self._connection.ask(
                lambda tx, ids=ids: tx.rows("page_of_edges", ids=ids, now=self.clock())  # type: ignore[misc]
            )
            page = [edge for row in edges_there(rows) if (edge := read_edge(row, self.location))]
            if page:
                yield page

    def _pages_of_ids(self, size: int) -> Iterator[list[str]]:
        """Ids of live skills in their order, a page at a time."""
        after: str | None = ""

        def page(tx: Transaction, after: str) -> tuple[str | None, list[str]]:
            rows = tx.values("page_of_skills", after=after, now=self.clock(), size=size)
            return _last_id(rows), [row[0] for row in rows]

        while after is not None:
            after, ids = self._connection.ask(lambda tx, after=after: page(tx, after))  # type: ignore[misc]
            if ids:
                yield ids

    def _ids_of_tag(self, tag: str, size: int) -> Iterator[list[str]]:
        """Ids of live skills that have the tag, all read at once, a page at a time."""
        rows = self._connection.ask(lambda tx: tx.values("ids_of_tagged_skills", key=digest(tag), now=self.clock()))
        ids = [row[0] for row in rows if row[0] is not None]
        for start in range(0, len(ids), size):
            yield ids[start : start + size]


def _last_id(rows: list[list[Any]]) -> str | None:
    """The id of the last row, where the next page begins; None of no rows. It is the index that gives it, so that there
    is one even of a skill that is removed meanwhile.
    """
    return rows[-1][0] if rows else None


def _add_shapes(tx: Transaction, shapes: dict[str, Shape], keys: set[str]) -> None:
    """Reads shapes that are not known yet, but for those that cannot be read."""
    for key, values in tx.values("shapes", keys=[key for key in keys if key is not None]) if keys else ():
        with contextlib.suppress(TypeError):
            shapes[key] = read_shape(values)
