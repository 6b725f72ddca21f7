"""Imports prepared skills at full speed, as a process of its own, and says after each batch what is committed.

The prepared ones are written again and again under new ids, until the time is over or there are enough.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from dataclasses import replace
from pathlib import Path

from brain import SyncBrain
from brain.engine.memory import new_operation
from brain.store.values import Draft

IN_ONE_TRANSACTION = 500


def main(location: str, namespace: str, seconds: str, most: str, *files: str) -> None:
    with SyncBrain.open(location, namespace=namespace, cache=False) as brain:
        drafts = [draft for file in files for draft in pickle.loads(Path(file).read_bytes())]
        print("ready", flush=True)
        sys.stdin.readline()
        begun, done = time.perf_counter(), 0
        while done < int(most) and time.perf_counter() - begun < float(seconds):
            start, turn = done % len(drafts), done // len(drafts)
            batch = [_renamed(draft, turn) for draft in drafts[start : start + IN_ONE_TRANSACTION]]
            brain._store.save_many(batch, operation=new_operation())
            done += len(batch)
            print(json.dumps({"skills": done, "rate": done / (time.perf_counter() - begun)}), flush=True)


def _renamed(draft: Draft, turn: int) -> Draft:
    return replace(draft, skill=draft.skill.model_copy(update={"id": f"{draft.skill.id}-again-{turn}"}))


if __name__ == "__main__":
    main(*sys.argv[1:])
