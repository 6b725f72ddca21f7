"""Is a stored namespace as it should be? `examine`: every invariant, what is wrong by id, and what can be mended.

What a store keeps in its own form it checks itself (`brain.store.checks`); here stands what holds on every store: that
recall reads what the skills say, that vectors fit their stamp, and that a view which was brought up to date by the
change feed equals one that is read anew.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from brain.analysis.profile import ANALYSIS_VERSION, profile_of_skill, stored_terms
from brain.analysis.terms import version_of
from brain.engine.delivery import undelivered
from brain.engine.live import LiveIndex
from brain.engine.memory import SkillMemory
from brain.engine.views import TOO_MUCH, differences
from brain.model.text import parse_time
from brain.store.base import PAGE, Store
from brain.store.checks import NO_REPAIR, REWRITES, Fault, Ward
from brain.store.checks import examine as examine_stored
from brain.store.values import EmbeddingStamp, KeptSkill, RecallEntry, new_operation

_ATTEMPTS = 5  # each repeats only if others wrote while everything was read
_REEMBED = "brain reembed makes it anew."
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_NEVER = datetime.max.replace(tzinfo=UTC)

Progress = Callable[[int], Any]


@dataclass(frozen=True)
class Diagnosis:
    """What an examination found: faults, notes (which need nothing done), and how many skills were looked at."""

    faults: Sequence[Fault]
    notes: Sequence[Fault]
    skills: int

    @property
    def left(self) -> int:
        """Faults that are still there."""
        return sum(not fault.mended for fault in self.faults)


def examine(memory: SkillMemory, *, repair: bool, progress: Progress) -> Diagnosis:
    """See `Brain.examine`."""
    ward, found = _ward_of(memory.store), dict[tuple[str, str, str], Fault]()
    for fault in _all_faults(memory, ward, repair, progress):
        found.setdefault((fault.check, fault.subject, fault.detail), fault)
    faults = [fault for fault in found.values() if not fault.note]
    return Diagnosis(faults, [fault for fault in found.values() if fault.note], memory.store.count())


def _all_faults(memory: SkillMemory, ward: Ward | None, repair: bool, progress: Progress) -> Iterator[Fault]:
    if ward:
        yield from ward.outside(repair)
    if repair:
        memory.sweep()
    if ward:
        yield from examine_stored(ward, repair=repair, progress=progress)
    records = _settled(memory.store, lambda: list(_records(memory, progress)))
    yield from _mended(memory, ward, records) if repair else records
    yield from _settled(memory.store, lambda: _views(memory, repair))


def _ward_of(store: Store) -> Ward | None:
    """How the store lets itself be looked at: the `ward` of the module `checks` beside it; None if there is none."""
    store = undelivered(store)
    name = f"{type(store).__module__.rpartition('.')[0]}.checks"
    with suppress(ImportError):
        if importlib.util.find_spec(name):
            made: Ward = importlib.import_module(name).ward(store)
            return made
    return None


def _settled(store: Store, look: Callable[[], list[Fault]]) -> list[Fault]:
    """What `look` finds while nobody writes: what others write in the middle of it looks like a fault."""
    for _ in range(_ATTEMPTS):
        before = store.changes(0).version
        found = look()
        if not found or before == store.changes(0).version:
            return found
    says = "Others wrote all the time, so it could not be told whether recall reads what the skills say."
    return [Fault("busy", store.namespace, "", says, "Look again when less is written.", note=True)]


# What recall reads of each skill


def _records(memory: SkillMemory, progress: Progress) -> Iterator[Fault]:
    store = memory.store
    stamp = store.embedding_stamp()
    kept = (k for page in store.export(PAGE) for k in _told(page, progress))
    entries = (entry for page in store.entries(PAGE, vectors=True) for entry in page)
    for k, entry in _pairs(kept, entries):
        if _expires_at(k, entry) <= memory.now:
            continue  # it expired between two looks
        if k is None:
            assert entry
            says = "A skill cannot be read; the warning says why."
            yield Fault("unreadable", entry.id, "", says, NO_REPAIR)
        elif entry is None:
            yield Fault("entry", k.skill.id, "not found", "Recall does not read what the skill says.", REWRITES)
        else:
            yield from _of_entry(k, entry)
            yield from _of_vector(k, entry, stamp)


def _expires_at(kept: KeptSkill | None, entry: RecallEntry | None) -> datetime:
    if kept:
        return parse_time(kept.skill.expires_at) if kept.skill.expires_at else _NEVER
    return _NEVER if entry is None or entry.expires_at is None else _EPOCH + entry.expires_at * _MICROSECOND


def _told(page: list[KeptSkill], progress: Progress) -> list[KeptSkill]:
    progress(len(page))
    return page


def _pairs(
    kept: Iterator[KeptSkill], entries: Iterator[RecallEntry]
) -> Iterator[tuple[KeptSkill | None, RecallEntry | None]]:
    """Both sides by id, which both are sorted by; None where one of them has nothing."""
    k, entry = next(kept, None), next(entries, None)
    while k is not None or entry is not None:
        if entry is None or (k is not None and k.skill.id < entry.id):
            yield k, None
            k = next(kept, None)
        elif k is None or entry.id < k.skill.id:
            yield None, entry
            entry = next(entries, None)
        else:
            yield k, entry
            k, entry = next(kept, None), next(entries, None)


def _of_entry(kept: KeptSkill, entry: RecallEntry) -> Iterator[Fault]:
    skill = kept.skill
    expires_at = (parse_time(skill.expires_at) - _EPOCH) // _MICROSECOND if skill.expires_at else None
    both = {
        "skill_type": (skill.skill_type, entry.skill_type),
        "shape": (skill.features.shape.key, entry.shape.key),
        "confidence": (skill.confidence, entry.confidence),
        "transfer_count": (skill.transfer_count, entry.transfer_count),
        "transfer_successes": (skill.transfer_successes, entry.transfer_successes),
        "expires_at": (expires_at, entry.expires_at),
        "fingerprint": (skill.fingerprint(), entry.fingerprint),
        "terms": (kept.terms, entry.terms),
    }
    wrong = ", ".join(name for name, (said, read) in both.items() if said != read)
    if wrong:
        yield Fault("entry", skill.id, wrong, "Recall does not read what the skill says.", REWRITES)
    if stored_terms(kept.terms) is None:
        old = version_of(kept.terms) not in (0, ANALYSIS_VERSION)
        detail = "another version" if old else "missing or damaged"
        says = "The analysis of a skill is not the present one; recall makes it anew."
        yield Fault("analysis", skill.id, detail, says, "Makes it anew now.", note=True)


def _of_vector(kept: KeptSkill, entry: RecallEntry, stamp: EmbeddingStamp | None) -> Iterator[Fault]:
    if kept.vector is None:
        return
    if entry.vector is None:
        yield Fault("vector", kept.skill.id, "damaged", "The vector of a skill cannot be used.", _REEMBED)
    elif stamp is None or len(entry.vector) != 4 * stamp.dimension:
        has = f"{len(entry.vector) // 4} dimensions"
        detail = f"{has}, not {stamp.dimension}" if stamp else f"{has}, of no known model"
        yield Fault("vector", kept.skill.id, detail, "The vector of a skill cannot be used.", _REEMBED)


def _mended(memory: SkillMemory, ward: Ward | None, found: Iterable[Fault]) -> list[Fault]:
    """The faults in what recall reads, mended: skills are written anew, their analysis is made anew."""
    faults = list(found)
    wrong = sorted({fault.subject for fault in faults if fault.check == "entry"})
    if wrong and ward:
        for start in range(0, len(wrong), PAGE):
            page = wrong[start : start + PAGE]
            ward.settle(lambda inspection, page=page: inspection.rewrite(page) or (), True)  # type: ignore[misc]
    _analyse(memory, sorted({fault.subject for fault in faults if fault.check == "analysis"} | set(wrong)))
    if not faults:
        return []
    left = {(fault.check, fault.subject) for fault in _records(memory, lambda _: None)}
    return [replace(fault, mended=(fault.check, fault.subject) not in left) for fault in faults]


def _analyse(memory: SkillMemory, ids: Sequence[str]) -> None:
    for start in range(0, len(ids), PAGE):
        skills = memory.store.get_many(ids[start : start + PAGE])
        profiles = [(skill, profile_of_skill(skill)) for skill in skills]
        rows = [(skill.id, skill.version, profile.to_text(), profile.to_bytes()) for skill, profile in profiles]
        memory.store.set_profiles(rows, operation=new_operation())


# Views of recall


def _views(memory: SkillMemory, repair: bool) -> list[Fault]:
    """How the view of the brain, brought up to date, differs from a new one, and that from what the feed tells."""
    memory.live.refresh()
    memory.live.look()
    fresh, since = _new_view(memory), _earliest(memory.store, memory.index.version)
    wrong = differences(memory.index, fresh.index, memory.now)
    if wrong:  # what is gone without a deletion expired, and earlier than it once said: that is no fault
        gone = {skill_id for skill_id, what in wrong if what == TOO_MUCH} - _deleted(memory.store, since)
        memory.index.drop(gone, as_of=memory.index.version)
        wrong = differences(memory.index, fresh.index, memory.now)
    if wrong:
        says = "The view of recall that was brought up to date differs from a new one."
        mended = repair and memory.live.forget_snapshot()
        return [Fault("view", i, what, says, "Removes the snapshot of the view.", mended) for i, what in wrong]
    _feed(fresh, memory.store, since)
    says = "The change feed does not tell what is stored."
    wrong = differences(fresh.index, memory.index, memory.now)
    return [Fault("feed", skill_id, what, says, NO_REPAIR) for skill_id, what in wrong]


def _deleted(store: Store, since: int) -> set[str]:
    """What the feed tells to be deleted after a version."""
    found, more = set[str](), True
    while more:
        changes = store.changes(since)
        found.update(changes.deleted)
        since, more = changes.version, changes.more
    return found


def _new_view(memory: SkillMemory) -> LiveIndex:
    view = LiveIndex(memory.store, memory.policy, memory.dimension)
    view.refresh()
    return view


def _earliest(store: Store, version: int) -> int:
    """The earliest version that the feed can be read from, roughly."""
    wanted = (1, version // 2, version - 100, version - 1)
    return next((since for since in wanted if 0 < since < version and not store.changes(since).stale), version)


def _feed(view: LiveIndex, store: Store, since: int) -> None:
    """Takes out of a view what the feed tells since a version, and has the feed tell it."""
    index, more = view.index, True
    while more:
        changes = store.changes(since)
        index.drop([entry.id for entry in changes.entries], as_of=index.version)
        index.apply(replace(changes, version=index.version), index.version)
        since, more = changes.version, changes.more
    view.refresh()
