"""SQLite beside plain SQL: the same tables without triggers, in a file of their own."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from brain.store.sqlite.rows import Written, body_row, columns, recall_row
from brain.store.values import Draft
from tests.bench.places import Place

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE counter (number INTEGER PRIMARY KEY, n INTEGER NOT NULL);
CREATE TABLE skill (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, skill_type TEXT, confidence REAL,
    usage_count INTEGER, transfer_count INTEGER, transfer_successes INTEGER, version INTEGER, expires_at INTEGER,
    changed INTEGER, dedup_key TEXT, fingerprint TEXT, shape TEXT);
CREATE UNIQUE INDEX skill_dedup_key ON skill (dedup_key) WHERE dedup_key IS NOT NULL;
CREATE INDEX skill_changed ON skill (changed);
CREATE INDEX skill_expires_at ON skill (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX skill_most_used ON skill (usage_count DESC, confidence DESC, id);
CREATE TABLE body (number INTEGER PRIMARY KEY, document TEXT NOT NULL, profile TEXT);
CREATE TABLE recall (number INTEGER PRIMARY KEY, terms BLOB, vector BLOB);
CREATE TABLE tag (tag TEXT, skill_id TEXT, PRIMARY KEY (tag, skill_id)) WITHOUT ROWID;
CREATE INDEX tag_skill ON tag (skill_id);
"""
FIELDS = (
    "number id skill_type confidence usage_count transfer_count transfer_successes version expires_at changed "
    "dedup_key fingerprint shape".split()
)
DELETES = {
    "body": "DELETE FROM body WHERE number = ?",
    "recall": "DELETE FROM recall WHERE number = ?",
    "skill": "DELETE FROM skill WHERE number = ?",
}


class SqlitePlace(Place):
    """Two files in one folder: the store's, and the plain one."""

    kind, floor_name, plain_name = "sqlite", "`SELECT 1`", "`executemany` of the same rows"

    def __init__(self, folder: Path) -> None:
        super().__init__(f"sqlite:///{folder / 'brain.db'}")
        self._path = folder / "plain.db"
        self._plain = self._connect()
        self._plain.executescript(SCHEMA)
        self._lock, self._next = threading.Lock(), 0

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=60, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def floor(self) -> Any:
        return self._plain.execute("SELECT 1").fetchall()

    def write_floor(self) -> Any:
        self._plain.execute("BEGIN IMMEDIATE")
        self._plain.execute("COMMIT")

    def versions(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}"

    def counters(self, count: int) -> list[Callable[[int], Any]]:
        self._plain.executemany("INSERT OR IGNORE INTO counter VALUES (?, 0)", [(i,) for i in range(count)])
        return [self._raising(i) for i in range(count)]

    def _raising(self, number: int) -> Callable[[int], Any]:
        """Each thread that calls it has a connection of its own, as threads have."""
        mine = threading.local()

        def call(_: int) -> None:
            if not hasattr(mine, "connection"):
                mine.connection = self._connect()
            mine.connection.execute("UPDATE counter SET n = n + 1 WHERE number = ?", (number,))

        return call

    def plain_rows(self, drafts: Sequence[Draft]) -> Any:
        first, self._next = self._next, self._next + len(drafts)
        written = [(first + i, Written.saved(draft, 1)) for i, draft in enumerate(drafts)]
        skills = [{**columns(w, number, 1), "id": w.skill.id} for number, w in written]
        return (
            [tuple(row[name] for name in FIELDS) for row in skills],
            [(b["number"], b["document"], b["profile"]) for b in (body_row(w, number) for number, w in written)],
            [(r["number"], r["terms"], r["vector"]) for r in (recall_row(w, number) for number, w in written)],
            [(tag, w.skill.id) for _, w in written for tag in w.skill.tags],
        )

    def plain_write(self, rows: Any) -> None:
        skills, bodies, recalls, tags = rows
        with self._lock:
            self._plain.execute("BEGIN IMMEDIATE")
            self._plain.executemany(f"INSERT INTO skill VALUES ({', '.join('?' * len(FIELDS))})", skills)
            self._plain.executemany("INSERT INTO body VALUES (?, ?, ?)", bodies)
            self._plain.executemany("INSERT INTO recall VALUES (?, ?, ?)", recalls)
            self._plain.executemany("INSERT INTO tag VALUES (?, ?)", tags)
            self._plain.execute("COMMIT")

    def plain_store(self, drafts: Sequence[Draft]) -> None:
        self.plain_write(self.plain_rows(drafts))

    def plain_delete(self, size: int) -> int:
        with self._lock:
            self._plain.execute("BEGIN IMMEDIATE")
            found = self._plain.execute("SELECT number, id FROM skill ORDER BY number LIMIT ?", (size,)).fetchall()
            self._plain.executemany("DELETE FROM tag WHERE skill_id = ?", [(skill_id,) for _, skill_id in found])
            for statement in DELETES.values():
                self._plain.executemany(statement, [(number,) for number, _ in found])
            self._plain.execute("COMMIT")
        return len(found)

    def empty(self) -> None:
        for file in self._path.parent.glob("brain.db*"):
            file.unlink()

    def clear(self) -> None:
        """The folder goes as a whole."""

    def close(self) -> None:
        self._plain.close()
