"""How do people query skills by vector in Cypher? A vector index on lists, beside the bytes that recall reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from brain.store.neo4j.connection import Connection
from brain.store.neo4j.rows import as_list
from brain.store.values import RecallEntry


def make_index(
    connection: Connection,
    dimension: int,
    pages: Iterable[Sequence[RecallEntry]],
    progress: Callable[[int], Any] | None = None,
) -> int:
    """Keeps vectors as lists too from now on, makes those of stored skills, and a vector index on them; how many.

    Learning takes several times as long with it. `progress` is told how many skills were looked at.
    """
    connection.write(lambda tx: tx.rows("keep_lists", dimension=dimension))
    made = 0
    for page in pages:
        rows = [{"id": e.id, "vector": e.vector, "embedding": as_list(e.vector)} for e in page if e.vector]
        connection.write(lambda tx, rows=rows: tx.rows("set_lists", rows=rows))  # type: ignore[misc]
        made += len(rows)
        if progress:
            progress(len(page))
    connection.schema(connection.statement("vector_index").filled(dimension=str(dimension)))
    return made
