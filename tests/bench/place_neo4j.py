"""Neo4j beside plain Cypher: the same nodes under labels of the benchmark's own, which are removed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import neo4j

from brain import SyncBrain
from brain.engine.scoring import Query
from brain.model.skill import Skill
from brain.store.neo4j.connection import DRIVER_OPTIONS
from brain.store.neo4j.rows import Written, skill_row
from brain.store.values import Draft, RecallEntry
from tests.bench.drafts import NAMESPACE
from tests.bench.places import Place

LABELS = "Skill Step Condition Tag Domain Shape Counter Row".split()
"""Behind `Bench`: what the plain way writes, and the rows that the exhaustive scan reads."""
UNIQUE = {"Skill": "id", "Step": "id", "Condition": "id", "Tag": "key", "Domain": "key", "Shape": "key", "Counter": "n"}
WRITE = """
UNWIND $rows AS row
CREATE (s:BenchSkill) SET s = row.properties
MERGE (shape:BenchShape {key: row.shape.key}) ON CREATE SET shape += row.shape
CREATE (s)-[:HAS_SHAPE]->(shape)
FOREACH (tag IN row.tags |
  MERGE (t:BenchTag {key: tag.key}) ON CREATE SET t.name = tag.name
  CREATE (s)-[:TAGGED {order: tag.order}]->(t))
FOREACH (domain IN row.domains |
  MERGE (d:BenchDomain {key: domain.key}) ON CREATE SET d.name = domain.name
  CREATE (s)-[:LEARNED_IN]->(d))
FOREACH (condition IN row.preconditions | CREATE (s)-[:REQUIRES]->(c:BenchCondition) SET c = condition)
FOREACH (condition IN row.postconditions | CREATE (s)-[:ENSURES]->(c:BenchCondition) SET c = condition)
WITH s, row
CALL (s, row) {
  UNWIND row.steps AS step
  CREATE (s)-[:HAS_STEP {order: step.order}]->(p:BenchStep) SET p = step
  WITH p ORDER BY p.order
  WITH collect(p) AS path
  UNWIND range(0, size(path) - 2) AS i
  WITH path[i] AS earlier, path[i + 1] AS later
  CREATE (earlier)-[:NEXT]->(later)
}
RETURN count(*)
"""
DELETE = """
MATCH (s:BenchSkill) WITH s LIMIT $size
OPTIONAL MATCH (s)-[:HAS_STEP|REQUIRES|ENSURES]->(part)
WITH s, collect(part) AS parts
FOREACH (part IN parts | DETACH DELETE part)
DETACH DELETE s
RETURN count(*) AS deleted
"""
SCAN = """
MATCH (r:BenchRow)
WITH r,
  size([x IN $structures WHERE x IN r.structures]) AS s, size([x IN $patterns WHERE x IN r.patterns]) AS p
WITH r, CASE WHEN s + p < $shared OR NOT (r.names >= $least OR $names >= $least) THEN 0.0 ELSE
  0.35 * s / CASE WHEN size(r.structures) + size($structures) - s > 0
    THEN toFloat(size(r.structures) + size($structures) - s) ELSE 1.0 END
  + 0.35 * p / CASE WHEN size(r.patterns) + size($patterns) - p > 0
    THEN toFloat(size(r.patterns) + size($patterns) - p) ELSE 1.0 END
  + CASE WHEN $input <> "unknown" AND r.input = $input THEN 0.15 ELSE 0.0 END
  + CASE WHEN $output <> "unknown" AND r.output = $output THEN 0.15 ELSE 0.0 END END AS structural
RETURN r.id AS id,
  0.35 * structural + 0.25 * (2 * vector.similarity.cosine(r.vector, $vector) - 1) + r.prior AS combined
ORDER BY combined DESC LIMIT 5
"""


class Neo4jPlace(Place):
    """One server, with a driver of the benchmark's own that has the options of the store's."""

    kind, floor_name, plain_name = "neo4j", "`RETURN 1`", "`UNWIND` of the same nodes"

    def __init__(self, location: str, address: str, auth: tuple[str, str]) -> None:
        super().__init__(location)
        self._driver = neo4j.GraphDatabase.driver(address, auth=auth, **DRIVER_OPTIONS)
        self.clear()
        for label, key in UNIQUE.items():
            self._run(
                f"CREATE CONSTRAINT bench_{label.lower()} IF NOT EXISTS FOR (n:Bench{label}) REQUIRE n.{key} IS UNIQUE"
            )
        self._run("CALL db.awaitIndexes()")

    def _session(self, access: str) -> neo4j.Session:
        manager = self._driver.execute_query_bookmark_manager
        return self._driver.session(default_access_mode=access, bookmark_manager=manager)

    def _run(self, text: str, **parameters: Any) -> list[Any]:
        """One statement in a transaction of its own, as the store's reads run."""
        with self._session(neo4j.WRITE_ACCESS) as session:
            return session.run(text, parameters).values()

    def _write(self, text: str, **parameters: Any) -> list[Any]:
        """One statement in a managed transaction, as the store's writes run."""
        with self._session(neo4j.WRITE_ACCESS) as session:
            return session.execute_write(lambda tx: tx.run(text, parameters).values())

    def floor(self) -> Any:
        with self._session(neo4j.READ_ACCESS) as session:
            return session.run("RETURN 1").values()

    def write_floor(self) -> Any:
        return self._write("RETURN 1")

    def versions(self) -> str:
        info = self._driver.get_server_info().agent
        return f"{str(info).replace('/', ' ')}, neo4j driver {neo4j.__version__}"

    def counters(self, count: int) -> list[Callable[[int], Any]]:
        self._run("UNWIND range(1, $count) AS n MERGE (c:BenchCounter {n: -n}) SET c.value = 0", count=count)

        def raising(number: int) -> Callable[[int], Any]:
            text = "MATCH (c:BenchCounter {n: $n}) SET c.value = c.value + 1"
            return lambda _: self._write(text, n=-number)

        return [raising(i + 1) for i in range(count)]

    def plain_rows(self, drafts: Sequence[Draft]) -> Any:
        return [skill_row(Written.saved(draft, _as_saved(draft.skill)), lists=False) for draft in drafts]

    def plain_write(self, rows: Any) -> None:
        self._write(WRITE, rows=rows)

    def plain_delete(self, size: int) -> int:
        return int(self._write(DELETE, size=size)[0][0])

    def attempts(self, brain: SyncBrain) -> Callable[[], int]:
        connection, begun = brain._store._connection, [0]
        begin = connection._transaction

        def counting(*args: Any) -> Any:
            begun[0] += 1
            return begin(*args)

        connection._transaction = counting

        def taken() -> int:
            found, begun[0] = begun[0], 0
            return found

        return taken

    # The exhaustive scan in Cypher

    def copy_rows(self, entries: Iterable[RecallEntry]) -> None:
        """Copies of what the scan reads, each on a node of its own, the vector as a list property."""
        import numpy as np

        rows = []
        for entry in entries:
            shape = entry.shape
            rate = entry.transfer_successes / entry.transfer_count if entry.transfer_count else 0.5
            rows.append(
                {
                    "id": entry.id,
                    "structures": list(shape.task_structures),
                    "patterns": list(shape.cognitive_patterns),
                    "names": shape.names,
                    "input": shape.input_shape,
                    "output": shape.output_shape,
                    "prior": 0.25 * rate + 0.15 * entry.confidence,
                    "vector": np.frombuffer(entry.vector or b"", np.float32).tolist(),
                }
            )
            if len(rows) == 1_000:
                self._copy(rows)
        self._copy(rows)

    def _copy(self, rows: list[dict[str, Any]]) -> None:
        self._write("UNWIND $rows AS row CREATE (r:BenchRow) SET r = row", rows=rows)
        rows.clear()

    def scan(self, query: Query, least: tuple[int, int]) -> list[Any]:
        """The five best by structure, cosine and prior; without the texts, which Cypher would need even longer for."""
        shape = query.shape
        return self._run(
            SCAN,
            structures=list(shape.task_structures),
            patterns=list(shape.cognitive_patterns),
            shared=least[0],
            least=least[1],
            names=shape.names,
            input=shape.input_shape,
            output=shape.output_shape,
            vector=[] if query.vector is None else query.vector.tolist(),
        )

    def remove_rows(self) -> None:
        self._remove("BenchRow")

    def clear(self) -> None:
        for label in LABELS:
            self._run(f"DROP CONSTRAINT bench_{label.lower()} IF EXISTS")
            self._remove(f"Bench{label}")
        self.empty()

    def empty(self) -> None:
        for label in "Skill Tag Domain Shape Trace Deletion Outbox".split():
            self._remove(f"{label} {{namespace: {NAMESPACE!r}}}")
        self._remove(f"Namespace {{name: {NAMESPACE!r}}}")

    def _remove(self, pattern: str) -> None:
        if pattern.startswith("Skill "):
            parts = f"MATCH (:{pattern})-[:HAS_STEP|REQUIRES|ENSURES|APPLIED]->(n)"
            self._until_none(f"{parts} WITH DISTINCT n LIMIT 5000 DETACH DELETE n")
        self._until_none(f"MATCH (n:{pattern}) WITH n LIMIT 5000 DETACH DELETE n")

    def _until_none(self, text: str) -> None:
        while self._write(f"{text} RETURN count(*)")[0][0]:
            pass

    def close(self) -> None:
        self._driver.close()


def _as_saved(skill: Skill) -> Skill:
    return skill.model_copy(update={"version": 1, "namespace": NAMESPACE})
