"""How are skills put into one file, and brought back? `dump` and `load`, on the file that `brain.engine.dumpfile` is.

A file is read once to its end before anything of it is written: one that is damaged, or that would be written over
other skills, changes nothing. What is written then is written by `brain.engine.moving.copy`, as between two stores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from brain.engine.dumpfile import Contents, DumpFile, written
from brain.engine.moving import (
    BAD_ID,
    MOVED_AT_ONCE,
    Existing,
    Moved,
    Skipped,
    copy,
    differs,
    edges_in,
    existing_named,
    has_good_id,
    kept_in,
)
from brain.errors import InputError
from brain.model.relations import Edge
from brain.model.skill import Skill
from brain.model.text import parse_time
from brain.store.base import Store
from brain.store.values import EmbeddingStamp, KeptSkill

NAMED = 5
"""Ids that a refusal names."""

Progress = Callable[[int], Any]
Tell = Callable[[Skipped], Any]


@dataclass
class Dumped(Contents):
    """What a dump holds, and how much could not be taken along, by kind and reason."""

    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)


def dump(source: Store, path: Path, *, progress: Progress = lambda _: None, tell: Tell = lambda _: None) -> Dumped:
    """Writes all live skills of `source` to a file, with vectors, history, edges, versions, expiry and traces.

    A name that ends with `.gz` is written by gzip. The file stands there when it is whole, and replaces an earlier dump
    of the same name. What others write meanwhile may be in it or not. `progress` is told how many skills were written,
    `tell` what cannot be taken along. Raises `InputError`, `StoreError`.
    """
    source.migrate()
    skipped: Counter[tuple[str, str]] = Counter()

    def told(one: Skipped) -> None:
        skipped[one.kind, one.reason] += 1
        tell(one)

    with written(path) as file:
        stamp = source.embedding_stamp()
        file.head(source.namespace, source.location, parse_time(source.clock()).isoformat(), stamp)
        for page in kept_in(source, told):
            for kept in page:
                if has_good_id(kept.skill):
                    file.skill(kept)
                else:
                    told(Skipped("skill", kept.skill.id, BAD_ID))
            progress(len(page))
        for edge in _ordered(source, told):
            file.edge(edge)
        if source.embedding_stamp() != stamp:
            raise InputError("The skills were embedded anew while they were read. Dump them again.")
    return Dumped(**vars(file.contents), skipped=skipped)


def _ordered(source: Store, tell: Tell) -> Iterator[Edge]:
    """The edges by source, relation and target: equal skills make equal files, whatever the store."""
    edges = (edge for page in edges_in(source, tell) for edge in page)
    for _, group in groupby(edges, key=lambda edge: edge.source):
        yield from sorted(group, key=lambda edge: (edge.relation, edge.target))


def check(
    file: DumpFile,
    target: Store,
    *,
    existing: Existing | None = None,
    renew: bool = False,
    progress: Progress = lambda _: None,
) -> Contents:
    """Reads a dump to its end, and gives what it holds. Nothing is written but the target's schema.

    Where `existing` is None, a skill in the target that has the id of one in the dump, and differs from it, is refused
    with `InputError`. `progress` is told how many bytes of the file were read. Raises `DumpError`, `StoreError`.
    """
    target.migrate()
    before, others = 0, list[str]()
    for page in file.export(MOVED_AT_ONCE):
        if existing is None:
            there = {skill.id: skill for skill in target.get_many([k.skill.id for k in page if has_good_id(k.skill)])}
            others += [k.skill.id for k in page if _is_other(there.get(k.skill.id), k.skill, renew)]
        progress(file.read() - before)
        before = file.read()
    for _ in file.export_edges(MOVED_AT_ONCE):
        pass
    progress(file.size - before)
    if others:
        more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
        raise InputError(
            f"{target.location} has other skills of the same id: {', '.join(others[:NAMED])}{more}. Say which are to "
            "stay: --replace for those of the file, --skip for those that are there."
        )
    return file.contents


def _is_other(there: Skill | None, coming: Skill, renew: bool) -> bool:
    """Whether the target holds another skill by the id of one that comes."""
    if there is None:
        return False
    if renew:  # an earlier call, cut short, may have given it another lifetime
        coming = coming.model_copy(update={"expires_at": there.expires_at, "updated_at": there.updated_at})
    return differs(there, coming)


def load(
    file: DumpFile,
    target: Store,
    *,
    existing: Existing | None = None,
    vectors: bool = True,
    renew: bool = False,
    progress: Progress = lambda _: None,
    tell: Tell = lambda _: None,
) -> Moved:
    """Writes the skills of a dump that was checked into `target`.

    What has expired since it was dumped is left out; with `renew` it lives on, from now. `progress` is told how many
    skills were looked at, `tell` what was skipped. Cut short, the same call goes on. Raises `EmbeddingError` where the
    target holds vectors of another model, `DumpError`, `StoreError`.
    """
    source = _Renewed(file, target) if renew else file
    chosen = Existing.SKIP if existing is None else existing  # what came between the check and now stays
    return copy(source, target, vectors=vectors, existing=chosen, progress=progress, tell=tell)


def load_file(
    path: Path, target: Store, *, existing: str | None, vectors: bool, renew: bool, progress: Progress
) -> Moved:
    """Checks and loads a dump in one go: see `Brain.load`."""
    chosen = existing_named(existing)
    with DumpFile(path) as file:
        check(file, target, existing=chosen, renew=renew)
        return load(file, target, existing=chosen, vectors=vectors, renew=renew, progress=progress)


class _Renewed:
    """A dump in which nothing has expired: what had lives from now."""

    def __init__(self, file: DumpFile, target: Store) -> None:
        self._file, self._now = file, target.clock()
        self.location, self.namespace = file.location, file.namespace

    def embedding_stamp(self) -> EmbeddingStamp | None:
        return self._file.embedding_stamp()

    def export(self, size: int) -> Iterator[list[KeptSkill]]:
        for page in self._file.export(size):
            yield [self._living(kept) for kept in page]

    def export_edges(self, size: int) -> Iterator[list[Edge]]:
        return self._file.export_edges(size)

    def _living(self, kept: KeptSkill) -> KeptSkill:
        if not kept.skill.has_expired(self._now):
            return kept
        skill = kept.skill.model_copy()
        skill.renew_ttl(self._now)
        return replace(kept, skill=skill)
