"""How long does a new process wait for its first recall, with a snapshot and without, and what memory does it need?"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.bench.case import Case
from tests.bench.drafts import NAMESPACE
from tests.bench.places import TimedEmbedder
from tests.bench.skills import Source
from tests.bench.timing import Times

PARTS = {"seconds": "first recall", "processor": "processor time of the first recall", "open": "open"}
"""What a new process tells of its times."""


def first_recall(case: Case) -> None:
    """First recalls of new processes."""
    with case.place.open(embedder=TimedEmbedder()) as brain:  # leaves a snapshot, if there was none
        brain.recall(Source(5).task())
    runs = {"snapshot": 5, "no snapshot": 3, "memory": 1}
    told: dict[str, list[dict[str, Any]]] = {name: [] for name in runs}
    for i in range(max(runs.values())):
        for name, count in runs.items():
            if i < count:
                told[name].append(_run(case, {"snapshot": "cache"}.get(name, name.partition(" ")[0]), i))
    for name in ("snapshot", "no snapshot"):
        for part, what in PARTS.items():
            case.note(f"{what} of a new process,", {name: Times([one[part] for one in told[name]])})
        assert all(one["skills"] == case.size for one in told[name]), told[name]
    read = sum(one["progress"] > 0 for one in told["snapshot"])
    case.count("new processes that read everything in spite of a snapshot", read)
    case.count("pages of progress told without a snapshot", told["no snapshot"][0]["progress"])
    case.count("memory of the index, MB", told["memory"][0]["megabytes"])
    case.count("memory of the index from a snapshot, MB", told["snapshot"][0]["megabytes"])


def _run(case: Case, cache: str, seed: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.new_process", case.place.location, NAMESPACE, cache, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
