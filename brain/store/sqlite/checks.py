"""How does an SQLite file let itself be looked at? Its `Ward`: see `brain.store.checks`."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from brain.model.skill import TRANSFER_HISTORY_LENGTH
from brain.store import migrations
from brain.store.checks import BEFORE_ALL, FOUND_AT_ONCE, REWRITES, UNREADABLE, Check, Fault, Rows
from brain.store.documents import read_edge
from brain.store.sqlite import moving
from brain.store.sqlite.skills import Skills
from brain.store.sqlite.store import SqliteStore
from brain.store.statements import data_folder, load

_STATEMENTS = load(Path(__file__).parent, "*.sql")
_CREATED = re.compile(r"(?:--[^\n]*\s+|\s+)*CREATE (?:UNIQUE )?(?:INDEX|TRIGGER) (\w+)")
_TOGETHER = {
    "mend_changed": ("begin_anew", "mend_changed"),
    "mend_deletions": ("begin_anew", "mend_deletions"),
    "mend_expiry": ("raise_version", "mend_expiry"),
    "mend_orphan_names": ("mend_orphan_names", "also_mend_orphan_names"),
    "mend_orphan_rows": ("mend_orphan_rows", "also_mend_orphan_rows", "then_mend_orphan_rows"),
    "mend_outbox": ("mend_outbox", "also_mend_outbox"),
}
"""Repairs that take several statements."""


def ward(store: SqliteStore) -> SqliteWard:
    """How `store` lets itself be looked at."""
    return SqliteWard(store)


class Inspection:
    """One namespace inside an open transaction."""

    def __init__(self, store: SqliteStore) -> None:
        self._connection, self._namespace, self.location = store._connection, store.namespace, store.location
        self.skills = store._skills
        self.all_skills = Skills(self._connection, self._namespace, self.location, lambda: BEFORE_ALL)

    def rows(self, name: str, ids: Sequence[str]) -> Rows:
        """See `brain.store.checks.StatementInspection`."""
        if name.startswith("mend_"):
            self.skills.make_namespace()
        given = {
            "namespace": self._namespace,
            "ids": json.dumps(list(ids)),
            "size": FOUND_AT_ONCE,
            "now": self.skills.now(),
            "history": TRANSFER_HISTORY_LENGTH,
        }
        rows = []
        for each in _TOGETHER.get(name, (name,)):
            rows = self._connection.rows(each, **{key: given[key] for key in _STATEMENTS[each].parameters})
        return [(str(subject), str(detail)) for subject, detail in rows]

    def rewrite(self, ids: Sequence[str]) -> None:
        """See `brain.store.checks.Inspection`."""
        kept = moving.kept(self.skills, ids)
        if kept:
            moving.restore(self.skills, [replace(k, profile=None, terms=None) for k in kept])

    def unreadable(self, ids: Sequence[str]) -> list[str]:
        """See `brain.store.checks.Inspection`."""
        read = {skill.id for skill in self.all_skills.live(ids)}
        return [skill_id for skill_id in self.all_skills.stored(ids) if skill_id not in read]

    def edges(self, ids: Sequence[str]) -> list[dict[str, str]]:
        """The edges that start at some skills."""
        columns = ("source", "relation", "target", "metadata")
        found = self.skills.run("edge_texts", ids=json.dumps(list(ids)))
        return [dict(zip(columns, row, strict=True)) for row in found]


class SqliteWard:
    """One namespace of a file, and the file."""

    rewritten = frozenset({"recall", "transfers"})
    statements = _STATEMENTS

    def __init__(self, store: SqliteStore) -> None:
        self._store, self._connection = store, store._connection
        self._inspection = Inspection(store)
        self.more = (
            UNREADABLE,
            Check("tags", "A skill is not found by its tags, or by others.", REWRITES, _tags, Inspection.rewrite),
            Check("edge_texts", "An edge cannot be read.", "Takes its metadata off.", _edges, _empty_edges),
        )

    def pages(self, size: int) -> Iterator[list[str]]:
        """See `brain.store.checks.Ward`."""
        after = ""
        while True:
            with self._connection.transaction("read"):
                ids = [row[0] for row in self._store._skills.run("page_of_stored", after=after, size=size)]
            if not ids:
                return
            yield ids
            after = ids[-1]

    def look(self, work: Callable[[Inspection], Rows]) -> Rows:
        """See `brain.store.checks.Ward`."""
        with self._connection.transaction("read"):
            return work(self._inspection)

    def settle(self, work: Callable[[Inspection], Rows], repair: bool) -> Rows:
        """See `brain.store.checks.Ward`. What reads sees one state of the file, whoever writes."""
        with self._connection.transaction("write" if repair else "read"):
            return work(self._inspection)

    def outside(self, repair: bool) -> Iterator[Fault]:
        """See `brain.store.checks.Ward`."""
        yield from self._schema(repair)
        yield from self._file(repair)

    def _schema(self, repair: bool) -> Iterator[Fault]:
        with self._connection.transaction("write" if repair else "read"):
            there = {row[0] for row in self._connection.rows("schema_objects")}
            for name, text in _objects().items():
                if name not in there:
                    if repair:
                        self._connection.script((text.rstrip().removesuffix(";"),))
                    says = "An index or a trigger is missing."
                    yield Fault("schema", name, "missing", says, "Makes it anew.", repair)

    def _file(self, repair: bool) -> Iterator[Fault]:
        found = self._file_faults()
        if not found:
            return
        if repair:
            with self._connection.transaction("write"):
                self._connection.rows("rebuild_indexes")
        left = set(self._file_faults())
        for fault in found:
            yield Fault("file", fault, "", "SQLite finds the file damaged.", "Makes indexes anew.", fault not in left)

    def _file_faults(self) -> list[str]:
        with self._connection.transaction("read"):
            return [row[0] for row in self._connection.rows("file_faults") if row[0] != "ok"]


def _objects() -> dict[str, str]:
    """What the migrations make of indexes and triggers, by name, with the text that makes it."""
    found, text = {}, ""
    for file in migrations.load(data_folder("migrations") / "sqlite"):
        for piece in file.statements:
            text += f"{piece};\n"
            if sqlite3.complete_statement(text):
                made = _CREATED.match(text)
                if made:
                    found[made.group(1)] = text
                text = ""
    return found


def _tags(inspection: Inspection, ids: Sequence[str]) -> Rows:
    found: dict[str, set[str]] = {}
    for skill_id, tag in inspection.skills.run("tags_of", ids=json.dumps(list(ids))):
        found.setdefault(skill_id, set()).add(tag)
    skills = inspection.all_skills.live(ids)
    return [(skill.id, "tags differ") for skill in skills if set(skill.tags) != found.get(skill.id, set())]


def _unreadable_edges(inspection: Inspection, ids: Sequence[str]) -> list[dict[str, str]]:
    return [edge for edge in inspection.edges(ids) if read_edge(edge, inspection.location) is None]


def _edges(inspection: Inspection, ids: Sequence[str]) -> Rows:
    return [(e["source"], f"{e['relation']} {e['target']}") for e in _unreadable_edges(inspection, ids)]


def _empty_edges(inspection: Inspection, ids: Sequence[str]) -> None:
    inspection.skills.note_write()
    for edge in _unreadable_edges(inspection, ids):
        ends = {name: edge[name] for name in ("source", "relation", "target")}
        inspection.skills.run("empty_edge", **ends)
