"""`make soak`: every store is killed and crowded for many rounds; figures on stdout, and the first fault ends it.

BRAIN_SOAK_ROUNDS (50) says how often writers are killed, BRAIN_SOAK_SECONDS (60) how long the mixed soak lasts,
BRAIN_SOAK_STORES (sqlite redis neo4j) on what. A Neo4j server is killed once in five rounds. The servers are found as
the tests find them.
"""

import os
import sys
import tempfile
import time
import uuid
from pathlib import Path

from tests.services import neo4j_service, redis_service
from tests.soak import rounds


def main():
    """Runs everything."""
    times = int(os.environ.get("BRAIN_SOAK_ROUNDS", "50"))
    seconds = float(os.environ.get("BRAIN_SOAK_SECONDS", "60"))
    stores = os.environ.get("BRAIN_SOAK_STORES", "sqlite redis neo4j").split()
    if "sqlite" in stores:
        with tempfile.TemporaryDirectory() as folder:
            _soak("sqlite", lambda name: (f"sqlite:///{Path(folder) / name}.db", "default"), times, seconds)
    if "redis" in stores:
        redis = redis_service()
        try:
            _soak(
                "redis",
                lambda name: (f"{redis.url}/0?prefix=soak-{name}-{uuid.uuid4().hex}", "default"),
                times,
                seconds,
            )
        finally:
            redis.stop()
    if "neo4j" in stores:
        server = neo4j_service()
        try:
            _soak("neo4j", lambda name: (server.location, f"soak-{name}-{uuid.uuid4().hex}"), times, seconds)
        finally:
            server.stop()
        with rounds.killable_server() as mortal:
            _told("neo4j", "kill the server", lambda: rounds.kill_server(mortal, max(1, times // 5)))


def _soak(store, place, times, seconds):
    _told(store, "kill writers", lambda: rounds.kill_writers(*place("killed"), times))
    _told(store, "feedback of 8 processes", lambda: rounds.same_feedback(*place("feedback")))
    _told(store, "same traces by 8 processes", lambda: rounds.same_traces(*place("traces")))
    _told(store, "mixed by 4 processes", lambda: rounds.mixed(*place("mixed"), seconds=seconds))


def _told(store, what, work):
    begun = time.monotonic()
    figures = ", ".join(f"{name} {value}" for name, value in work().items())
    sys.stdout.write(f"{store}: {what}: {figures} ({time.monotonic() - begun:.0f} s)\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
