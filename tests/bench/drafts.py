"""Where do the skills come from? Prepared once, in batches that are kept in a folder: to analyse takes minutes."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from brain import SyncBrain
from brain.analysis.profile import ANALYSIS_VERSION
from brain.model.skill import Skill
from brain.store.values import Draft
from tests.bench.skills import Source, WordEmbedder

BATCH = 1_000
SAMPLED = 50
"""Skills that are analysed anew to see whether what was kept still holds."""
NAMESPACE = "brain-benchmark"
"""Every benchmark works in this namespace; what it writes there is removed at the end."""


class Drafts:
    """Batches of skills ready to be written, by number; each is made when it is first asked for and kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / f"drafts-{_digest()}"

    def prepare(self, batches: range) -> None:
        """Makes those that are missing, on every core."""
        missing = [number for number in batches if not self.path(number).exists()]
        if not missing:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        print(f"preparing {len(missing) * BATCH} skills in {self._folder}", file=sys.stderr, flush=True)
        with multiprocessing.get_context("spawn").Pool(os.cpu_count() or 1) as pool:
            for _ in pool.imap_unordered(_make, [(self.path(number), number) for number in missing]):
                pass

    def batch(self, number: int) -> list[Draft]:
        """`BATCH` drafts whose ids begin with the number."""
        self.prepare(range(number, number + 1))
        drafts: list[Draft] = pickle.loads(self.path(number).read_bytes())
        return drafts

    def first(self, count: int, size: int = BATCH) -> Iterator[list[Draft]]:
        """The first `count` drafts, `size` at a time."""
        self.prepare(range(-(-count // BATCH)))
        for number in range(-(-count // BATCH)):
            drafts = self.batch(number)[: count - number * BATCH]
            yield from (drafts[start : start + size] for start in range(0, len(drafts), size))

    def path(self, number: int) -> Path:
        """Where a batch is kept."""
        return self._folder / f"{number:05d}.pickle"


def _make(task: tuple[Path, int]) -> None:
    path, number = task
    aside = path.with_suffix(".part")
    aside.write_bytes(pickle.dumps(_drafts(number, BATCH), pickle.HIGHEST_PROTOCOL))
    aside.replace(path)


def _drafts(number: int, count: int) -> list[Draft]:
    """The first skills of a batch, analysed."""
    skills = Source(seed=1_000 + number).skills(count, prefix=f"s{number}")
    with SyncBrain.open("sqlite://:memory:", embedder=WordEmbedder(), namespace=NAMESPACE) as brain:
        return [one.draft for one in brain._memory.drafts(list(skills))]


def _digest() -> str:
    """Changes with the generator, with the records, and with what the analysis makes of some skills."""
    found = hashlib.blake2b(Path(__file__).with_name("skills.py").read_bytes(), digest_size=6)
    found.update(repr([ANALYSIS_VERSION, list(Skill.model_fields), [field.name for field in fields(Draft)]]).encode())
    for draft in _drafts(0, SAMPLED):
        found.update(draft.terms + draft.profile.encode() + draft.dedup_key.encode())
    return found.hexdigest()
