"""How fast is brain? `make bench` runs this: every store at every size, beside the plain ways to do the same.

Progress and figures go to stderr as they come, the tables and plots to examples/. Options, or in the environment what
stands in brackets:

    --sizes 1000,10000,100000   skills stored [BENCH_SIZES]
    --stores sqlite,neo4j,redis [BENCH_STORES]
    --parts recall,first,walk,write,sweep,import,watch
    --quick                     a fifth of the repetitions [BENCH_QUICK=1]
    --data FOLDER               keeps the prepared skills for the next run [BENCH_DATA]
    --output FILE               figures as JSON beside the tables

Redis is found as the tests find it (tests/services.py). Neo4j is the server that BRAIN_TEST_NEO4J_URI names, or one
that is started here, with memory for the largest size: the tests' own is small, and compiles quickly instead of well.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads that wait for a busy core slow both sides

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from brain.errors import LocalServerError
from brain.neo4j_local import LocalNeo4j
from tests.bench import beginning, forgetting, importing, recalling, report, walking, watching, writing
from tests.bench.case import Case
from tests.bench.drafts import Drafts
from tests.bench.place_neo4j import Neo4jPlace
from tests.bench.place_redis import RedisPlace
from tests.bench.place_sqlite import SqlitePlace
from tests.bench.places import Place
from tests.services import Neo4jService, missing, neo4j_service, redis_service

PARTS: dict[str, Callable[[Case], None]] = {
    "recall": recalling.warm_recall,
    "first": beginning.first_recall,
    "walk": walking.walks,
    "write": writing.writes,
    "sweep": forgetting.sweeps,
    "import": importing.recall_meanwhile,
    "watch": watching.dashboard,
}


HEAP = "4g"
"""Of a Neo4j that is started here. Its page cache, a quarter of that, holds 100 000 skills."""


def _neo4j(home: Path) -> Neo4jService:
    """The server to measure. Skips without one."""
    if os.environ.get("BRAIN_TEST_NEO4J_URI"):
        return neo4j_service()
    server = LocalNeo4j(home, heap=HEAP, bolt_port=0, http_port=0)
    try:
        server.start()
    except LocalServerError as error:
        missing(f"No Neo4j to measure: {error}")
    return Neo4jService(server.uri, server.user, server.password, server.version, "local", server.stop)


@contextmanager
def place_of(kind: str) -> Iterator[Place]:
    """An empty place of one kind; what was written there is gone afterwards."""
    with ExitStack() as after:
        folder = after.enter_context(tempfile.TemporaryDirectory(prefix="brain-bench-"))
        os.environ["BRAIN_CACHE_DIR"] = folder
        place: Place
        if kind == "sqlite":
            place = SqlitePlace(Path(folder))
        elif kind == "redis":
            redis = redis_service()
            after.callback(redis.stop)
            place = RedisPlace(redis.url)
        elif kind == "neo4j":
            neo4j = _neo4j(Path(folder) / "neo4j")
            after.callback(neo4j.stop)
            place = Neo4jPlace(neo4j.location, neo4j.uri, neo4j.auth)
        else:
            raise SystemExit(f"{kind!r} is no store: use sqlite, neo4j, redis.")
        after.callback(place.close)
        after.callback(place.clear)
        yield place


def measured(kind: str, size: int, drafts: Drafts, parts: list[str], quick: bool) -> tuple[Case, str]:
    """One case, and the versions of what it ran on."""
    with place_of(kind) as place:
        case = Case(place, size, drafts, quick)
        case.prepare()
        place.warm_up()
        importing.warm_up(case)
        importing.fill(case)
        for part in parts:
            begun = time.monotonic()
            PARTS[part](case)
            case.count(f"seconds for {part}", time.monotonic() - begun)
        return case, place.versions()


def main() -> None:
    given = _arguments()
    begun = time.monotonic()
    cases, versions = [], {}
    with tempfile.TemporaryDirectory(prefix="brain-bench-") as folder:
        drafts = Drafts(given.data or Path(folder))
        for kind in given.stores.split(","):
            for size in map(int, given.sizes.split(",")):
                try:
                    case, versions[kind] = measured(kind, size, drafts, given.parts.split(","), given.quick)
                except pytest.skip.Exception as error:
                    print(f"skipped: {kind} ({error})", file=sys.stderr)
                    break
                cases.append(case)
    results = report.Results.of(cases, versions, time.monotonic() - begun, given.quick)
    if given.output:
        given.output.write_text(json.dumps(results.to_json(), indent=1) + "\n", "utf-8")
    print(report.summary(results))
    if given.write:
        report.write(results)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    environment = os.environ.get
    parser.add_argument("--sizes", default=environment("BENCH_SIZES", "1000,10000,100000"))
    parser.add_argument("--stores", default=environment("BENCH_STORES", "sqlite,neo4j,redis"))
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--quick", action="store_true", default=environment("BENCH_QUICK") == "1")
    parser.add_argument("--data", type=Path, default=environment("BENCH_DATA"))
    parser.add_argument("--output", type=Path)
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave examples/ as it is")
    return parser.parse_args()


if __name__ == "__main__":
    main()
