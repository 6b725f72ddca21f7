"""How does a namespace of a Neo4j database let itself be looked at? Its `Ward`: see `brain.store.checks`."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from brain.errors import StoreError
from brain.model.relations import Edge, Relation
from brain.model.skill import TRANSFER_HISTORY_LENGTH
from brain.store import migrations
from brain.store.checks import BEFORE_ALL, FOUND_AT_ONCE, REWRITES, UNREADABLE, Check, Fault, Rows
from brain.store.documents import read_edge
from brain.store.neo4j import moving
from brain.store.neo4j.connection import Row, Transaction
from brain.store.neo4j.reading import edges_there, edited
from brain.store.neo4j.skills import Lock, Skills, Stored
from brain.store.neo4j.store import Neo4jStore
from brain.store.statements import data_folder, load

_CREATED = re.compile(r"(?://[^\n]*\s+|\s+)*CREATE (?:CONSTRAINT|INDEX) (\w+)")
_READ_ONLY = Lock(0, False, False)


def ward(store: Neo4jStore) -> Neo4jWard:
    """How `store` lets itself be looked at."""
    return Neo4jWard(store)


class Inspection:
    """One namespace inside a transaction; `all_skills` reads expired ones too."""

    def __init__(self, store: Neo4jStore, tx: Transaction, lock: Lock = _READ_ONLY) -> None:
        self._tx, self._lock, self.location = tx, lock, store.location
        self.skills = store._skills(tx)
        self.all_skills = Skills(tx, store.namespace, store.location, BEFORE_ALL)

    def rows(self, name: str, ids: Sequence[str]) -> Rows:
        """See `brain.store.checks.StatementInspection`."""
        given: Row = {"ids": list(ids), "size": FOUND_AT_ONCE, "history": TRANSFER_HISTORY_LENGTH}
        wanted = Neo4jWard.statements[name].parameters & given.keys()
        rows = self._tx.rows(name, **{key: given[key] for key in wanted})
        return [(str(row["id"]), str(row["detail"])) for row in rows]

    def rewrite(self, ids: Sequence[str]) -> None:
        """See `brain.store.checks.Inspection`."""
        kept = []
        for k in moving.kept(self.skills, ids):
            skill = k.skill.model_copy(update={"tags": list(dict.fromkeys(k.skill.tags))})
            kept.append(replace(k, skill=skill, profile=None, terms=None))
        stored = {k.skill.id: Stored.of(k.skill, self.skills.now) for k in kept}
        if kept:
            moving.restore(self.skills, kept, stored, self._lock)

    def unreadable(self, ids: Sequence[str]) -> list[str]:
        """See `brain.store.checks.Inspection`."""
        stored = [row["id"] for row in self.copies(ids)]
        read = {skill.id for skill in self.all_skills.live(stored)}
        return [skill_id for skill_id in stored if skill_id not in read]

    def copies(self, ids: Sequence[str]) -> list[Row]:
        """What stands on the nodes of some skills a second time."""
        return self._tx.rows("copies", ids=list(ids))

    def edited(self, ids: Sequence[str]) -> list[str]:
        """Those of some skills whose body is not what they and their nodes say."""
        return edited(self._tx.value("whole_skills", ids=list(ids), now=BEFORE_ALL) or ())

    def unreadable_edges(self, ids: Sequence[str]) -> list[Row]:
        """The edges from some skills that cannot be read."""
        edges = edges_there(self._tx.rows("edge_texts", ids=list(ids)))
        return [edge for edge in edges if read_edge(edge, self.location) is None]

    def empty_edges(self, ids: Sequence[str]) -> None:
        """Takes the metadata off those that cannot be read."""
        edges = [
            Edge(source=edge["source"], target=edge["target"], relation=Relation(edge["relation"]))
            for edge in self.unreadable_edges(ids)
        ]
        self.skills.put_edges(edges, self._lock)


class Neo4jWard:
    """One namespace, and the schema of its database."""

    rewritten = frozenset({"parts", "steps", "conditions", "tags", "domain", "shape", "transfers"})
    statements = load(data_folder("cypher"), "*.cypher")

    def __init__(self, store: Neo4jStore) -> None:
        self._store, self._connection = store, store._connection
        copied = "Task or domain on the node of a skill are not those that it was learned from."
        edited = "The texts and parts of a skill are not those that were written with it, which lists still tell."
        self.more = (
            UNREADABLE,
            Check("copies", copied, REWRITES, _copies, Inspection.rewrite),
            Check("body", edited, REWRITES, _bodies, Inspection.rewrite),
            Check("edge_texts", "An edge cannot be read.", "Takes its metadata off.", _edges, Inspection.empty_edges),
        )

    def pages(self, size: int) -> Iterator[list[str]]:
        """See `brain.store.checks.Ward`."""
        after = ""
        while True:
            rows = self._connection.ask(
                lambda tx, after=after: tx.rows("page_of_stored", after=after, size=size)  # type: ignore[misc]
            )
            if not rows:
                return
            yield [row["id"] for row in rows]
            after = rows[-1]["id"]

    def look(self, work: Callable[[Inspection], Rows]) -> Rows:
        """See `brain.store.checks.Ward`."""
        return self._connection.read(lambda tx: work(Inspection(self._store, tx)))

    def settle(self, work: Callable[[Inspection], Rows], repair: bool) -> Rows:
        """See `brain.store.checks.Ward`: the lock of the namespace keeps all others from writing."""
        operation = uuid.uuid4().hex

        def locked(tx: Transaction) -> Rows:
            lock, _ = self._store._skills(tx).lock(operation)
            return work(Inspection(self._store, tx, lock))

        return self._connection.write(locked)

    def outside(self, repair: bool) -> Iterator[Fault]:
        """See `brain.store.checks.Ward`. Constraints that are at work leave no id and no key twice."""
        there = {row["name"] for row in self._connection.ask(lambda tx: tx.rows("index_names"))}
        for name, text in _objects().items():
            if name not in there:
                said = self._made(text) if repair else "missing"
                says = "An index, or the constraint that keeps an id or a key unique, is not at work."
                yield Fault("schema", name, said or "missing", says, "Makes it anew.", repair and not said)

    def _made(self, text: str) -> str:
        """Makes a schema object; what the server says against it, such as that two nodes have the same key."""
        try:
            self._connection.schema(text)
        except StoreError as error:
            return str(error)
        return ""


def _objects() -> dict[str, str]:
    """What the migrations make of indexes and constraints, by name, with the text that makes it."""
    found = {}
    for file in migrations.load(data_folder("migrations") / "neo4j"):
        for text in file.statements:
            made = _CREATED.match(text)
            if made:
                found[made.group(1)] = text
    return found


def _copies(inspection: Inspection, ids: Sequence[str]) -> Rows:
    copies = {row["id"]: (row["task"], row["domain"]) for row in inspection.copies(ids)}
    skills = inspection.all_skills.live(ids)
    return [(skill.id, "task or domain") for skill in skills if copies.get(skill.id) != (skill.task, skill.domain)]


def _bodies(inspection: Inspection, ids: Sequence[str]) -> Rows:
    return [(skill_id, "edited") for skill_id in inspection.edited(ids)]


def _edges(inspection: Inspection, ids: Sequence[str]) -> Rows:
    return [(e["source"], f"{e['relation']} {e['target']}") for e in inspection.unreadable_edges(ids)]
