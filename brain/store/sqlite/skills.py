"""How are the skills of one namespace read and written inside a transaction? `Skills`."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from brain.model.relations import Edge, Relation
from brain.model.skill import TRANSFER_HISTORY_LENGTH, Skill, SkillTransferRecord
from brain.store.base import Clock, all_of, expires_sooner, is_stale
from brain.store.documents import read_document, read_entries, write_document
from brain.store.sqlite.connection import Connection, Row
from brain.store.sqlite.rows import (
    Columns,
    Written,
    body_row,
    columns,
    later_fields,
    microseconds,
    read_shape,
    recall_row,
    time,
    use_columns,
)
from brain.store.values import CHANGES_PAGE, Changes

WRITE_BATCH = 1_000
"""Skills whose rows are held at a time while many are written."""


DELETIONS_KEPT = 10_000
"""Deletions remembered one by one; a reader that is further behind reads everything anew."""
DELETIONS_SLACK = 1_000
"""How many more there may be before the oldest are forgotten, all at once."""


class Stored(NamedTuple):
    """What is stored under an id."""

    number: int
    version: int
    live: bool
    expires_at: int | None

    @property
    def until(self) -> datetime | None:
        """The expiry; None for never, and for one that is damaged."""
        return time(self.expires_at) if isinstance(self.expires_at, int) else None


class Skills:
    """One namespace of the file: every method runs inside an open transaction."""

    def __init__(self, connection: Connection, namespace: str, location: str, clock: Clock) -> None:
        self._connection, self._namespace, self._location, self._clock = connection, namespace, location, clock

    def run(self, name: str, **parameters: Any) -> list[Row]:
        """Rows of a statement of this namespace."""
        return self._connection.rows(name, namespace=self._namespace, **parameters)

    def run_many(self, name: str, rows: Iterable[Columns]) -> None:
        """A statement of this namespace, once for each row of parameters."""
        self._connection.many(name, ({"namespace": self._namespace, **row} for row in rows))

    def now(self) -> int:
        """The time by the store's clock."""
        return microseconds(self._clock())

    def raise_version(self) -> int:
        """The namespace's version, one higher than before."""
        return self._note("raise_version")

    def note_write(self) -> None:
        """Goes before a write that recall does not read."""
        self._note("note_write")

    def make_namespace(self) -> None:
        """Makes the namespace's row if it is missing."""
        self.run("add_namespace", store_id=str(uuid.uuid4()))

    def _note(self, name: str) -> int:
        rows = self.run(name, now=self.now())
        if not rows:
            self.make_namespace()
            rows = self.run(name, now=self.now())
        return int(rows[0][0])

    # Reading

    def live(self, skill_ids: Sequence[str]) -> list[Skill]:
        """The live skills among `skill_ids` that can be read, in their order."""
        wanted = list(dict.fromkeys(skill_ids))
        rows = {row[1]: row for row in self.run("skills_by_id", ids=json.dumps(wanted), now=self.now())}
        fields = {row[0]: later_fields(row[3:]) for row in rows.values()}
        transfers = self._transfers([number for number, later in fields.items() if "usage_count" in later])
        found = []
        for row in (rows[skill_id] for skill_id in wanted if skill_id in rows):
            number, skill_id, document = row[:3]
            skill = read_document(
                skill_id, document, self._namespace, self._location, fields[number], transfers.get(number, ())
            )
            if skill:
                found.append(skill)
        return found

    def _transfers(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        """The applications of skills since their documents were written."""
        found: dict[int, list[str]] = {}
        if numbers:
            for number, record in self._connection.rows("transfers_of", numbers=json.dumps(numbers)):
                found.setdefault(number, []).append(record)
        return found

    def must_live(self, skill_ids: Sequence[str]) -> list[Skill]:
        """As `live`; raises `SkillNotFoundError` for the first that is missing."""
        return all_of(skill_ids, self.live(skill_ids), self._namespace)

    def stored(self, skill_ids: Sequence[str]) -> dict[str, Stored]:
        """What is stored under these ids, expired or not."""
        rows = self.run("stored_skills", ids=json.dumps(list(skill_ids)), now=self.now())
        return {skill_id: Stored(number, version, bool(live), until) for skill_id, number, version, live, until in rows}

    def neighbours(self, skill_ids: Sequence[str], relation: Relation | None) -> list[str]:
        """Ids of the live skills one edge away."""
        wanted = relation.value if relation else None
        rows = self.run("neighbours", ids=json.dumps(list(skill_ids)), relation=wanted, now=self.now())
        return [row[0] for row in rows]

    def profiles(self, skill_ids: Sequence[str]) -> dict[str, str]:
        """See `Store.profiles`."""
        return dict(self.run("profiles_by_id", ids=json.dumps(list(skill_ids)), now=self.now()))

    # Writing

    def write(self, skills: Sequence[Written], stored: dict[str, Stored], changed: int) -> None:
        """Writes whole skills, no id twice, in place of what is `stored`."""
        self.remove(found.number for found in stored.values() if not found.live)  # an expired one leaves nothing behind
        for written in skills:
            found = stored.get(written.skill.id)
            if found and found.live and expires_sooner(written.skill, found.until):
                self.note_deletion(written.skill.id)
        kept = {skill_id: found.number for skill_id, found in stored.items() if found.live}
        known = [(kept[w.skill.id], w) for w in skills if w.skill.id in kept]
        self._connection.many(
            "change_skill", ({**columns(w, n, changed), "fitting_key": w.fitting_key} for n, w in known)
        )
        self._connection.many("put_recall", (recall_row(w, n) for n, w in known))
        self._connection.many("put_body", (body_row(w, n) for n, w in known))
        self.run_many("clear_tags", ({"id": skill_id} for skill_id in kept))
        self._connection.many("clear_transfers", ({"number": number} for number in kept.values()))
        self._add([w for w in skills if w.skill.id not in kept], changed)
        self.run_many("put_tag", ({"tag": tag, "id": w.skill.id} for w in skills for tag in w.skill.tags))

    def _add(self, skills: Sequence[Written], changed: int) -> None:
        """Writes skills under ids that are free."""
        new = list(enumerate(skills, int(self._connection.rows("last_number")[0][0]) + 1))
        self.run_many("add_skill", ({**columns(w, n, changed), "id": w.skill.id} for n, w in new))
        self._connection.many("add_recall", ({"number": n, "terms": w.terms, "vector": w.vector} for n, w in new))
        self._connection.many("add_body", (body_row(w, n) for n, w in new))

    def change(self, rows: dict[str, list[Columns]]) -> None:
        """Runs statements that each change a part of stored skills by `number`, and tells readers of all of them."""
        numbers = list(dict.fromkeys(row["number"] for part in rows.values() for row in part))
        if not numbers:
            return
        version = self.raise_version()
        for name, part in rows.items():
            self._connection.many(name, part)
        self._connection.many("note_change", ({"number": number, "changed": version} for number in numbers))

    def note_use(self, skill: Skill, changed: int, record: SkillTransferRecord | None = None) -> None:
        """Writes `skill` after a use, with the application that it was."""
        self.run("note_use", **use_columns(skill, changed))
        if record:
            self.run("add_transfer", id=skill.id, record=write_document(record))
            if skill.transfer_count > TRANSFER_HISTORY_LENGTH:
                self.run("trim_transfers", id=skill.id, last=skill.transfer_count, kept=TRANSFER_HISTORY_LENGTH)

    def remove(self, numbers: Iterable[int]) -> None:
        """Removes skills with all that belongs to them.

        A trigger does that for each. Of many, what most of them have is removed together before: it finds nothing then,
        and the whole takes two thirds of the time.
        """
        listed = list(numbers)
        if not listed:
            return
        given = json.dumps(listed)
        for name in ("delete_bodies", "delete_recalls", "delete_transfers") if len(listed) > 1 else ():
            self._connection.rows(name, numbers=given)
        for name in ("delete_tags", "delete_traces") if len(listed) > 1 else ():
            self.run(name, numbers=given)
        self._connection.rows("delete_skills", numbers=given)

    def note_deletion(self, skill_id: str) -> None:
        """Remembers that a skill was deleted, by a version of its own."""
        self.run("note_deletion", id=skill_id, version=self.raise_version())
        if self.run("count_deletions")[0][0] > DELETIONS_KEPT + DELETIONS_SLACK:
            forgotten = self.run("trim_deletions", kept=DELETIONS_KEPT)
            self.run("set_complete_since", version=max(row[0] for row in forgotten))

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Writes edges, or the metadata of those that are there."""
        self.run_many(
            "put_edge",
            (
                {
                    "source": edge.source,
                    "relation": edge.relation.value,
                    "target": edge.target,
                    "metadata": json.dumps(edge.metadata, ensure_ascii=False, allow_nan=False),
                }
                for edge in edges
            ),
        )

    # The change feed

    def changes(self, since: int, size: int | None = CHANGES_PAGE) -> Changes:
        """See `Store.changes`; all of them without `size`."""
        state = self.run("namespace_state")
        store_id, version, complete_since = state[0] if state else ("", 0, 0)
        if version == since:
            return Changes(store_id, version)
        if is_stale(since, version, complete_since):
            return Changes(store_id, version, stale=True)
        until = version
        if size is not None:
            end = self.run("end_of_page", since=since, offset=size - 1)
            until = end[0][0] if end else version
        rows = self.run("changed_skills", since=since, until=until, now=self.now())
        deleted = [row[0] for row in self.run("deletions_between", since=since, until=until)]
        deleted += [row[0] for row in self.run("expired_between", since=since, until=until, now=self.now())]
        entries = read_entries(rows, read_shape, self._location)
        return Changes(store_id, until, entries, deleted, more=until < version)
