"""Does a reader see every skill whole or not at all, while others write, and hear no warning of it?"""

import logging
import random
import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from brain.errors import SkillNotFoundError
from tests.store.samples import draft, edge, operation, order, record

IDS = [f"s{i}" for i in range(6)]
WRITES = 60


def made(skill_id, size, **fields):
    """A skill that says in its name what it is made of."""
    return draft(
        skill_id,
        f"{skill_id} {size}",
        name=f"{skill_id} {size}",
        procedure=[{"action": f"{size} {i}", "order": i} for i in range(size)],
        preconditions=[{"predicate": f"{size} {i}"} for i in range(size)],
        postconditions=[{"predicate": f"{size} {i}"} for i in range(size)],
        tags=["all", *(f"{size} {i}" for i in range(size))],
        **fields,
    )


def check_skill(found):
    """That `found` is of one write, and says all of it."""
    skill_id, size = found.name.split()
    said = [f"{size} {i}" for i in range(int(size))]
    assert found.id == skill_id
    assert [step.action for step in found.procedure] == said
    assert [condition.predicate for condition in found.preconditions] == said
    assert [condition.predicate for condition in found.postconditions] == said
    assert found.tags == ["all", *said]
    assert len(found.transfer_history) == found.transfer_count


def check_entry(entry):
    assert entry.id in IDS
    assert None not in (entry.skill_type, entry.terms, entry.vector)
    assert entry.shape.task_structures is not None


def check_kept(kept):
    check_skill(kept.skill)
    assert None not in (kept.profile, kept.terms, kept.vector)


def check_summary(summary):
    assert summary["total_skills"] >= 0
    assert 0 <= summary["avg_confidence"] <= 1
    for found in summary["top_skills"]:
        check_skill(found)


def check_changes(changes):
    for entry in changes.entries:
        check_entry(entry)
    assert None not in changes.deleted


def check_edge(found):
    assert {found.source, found.target} <= set(IDS)
    assert found.metadata["n"] >= 0


def each(check, pages):
    for page in pages:
        for found in page:
            check(found)


READS = {
    "get_many": lambda store: each(check_skill, [store.get_many(IDS)]),
    "pages": lambda store: each(check_skill, store.pages(size=4)),
    "a tag": lambda store: each(check_skill, store.pages("all", size=4)),
    "rows": lambda store: each(lambda row: row.name.split()[1], store.rows(size=4)),
    "summary": lambda store: check_summary(store.summary(4)),
    "fetch": lambda store: each(check_skill, [store.fetch(IDS, store.changes(0).version)[0]]),
    "changes": lambda store: check_changes(store.changes(max(1, store.changes(0).version - 3))),
    "entries": lambda store: each(check_entry, store.entries(4, vectors=True)),
    "profiles": lambda store: each(str.split, [store.profiles(IDS).values()]),
    "export": lambda store: each(check_kept, store.export(4)),
    "edges": lambda store: each(check_edge, map(store.edges, IDS)),
    "export_edges": lambda store: each(check_edge, store.export_edges(4)),
    "related": lambda store: each(lambda pair: check_skill(pair[0]), [store.related(i, None, 3) for i in IDS]),
    "traces": lambda store: each(lambda trace: trace.observation.key.split(), [store.traces(i, 5) for i in IDS]),
    "outbox": lambda store: each(lambda entry: entry.skill_id.split(), [store.outbox(5)]),
    "waiting": lambda store: store.waiting(),
}


def write(store, clock, draw, number):
    """One write of a kind drawn at random."""
    skill_id = draw.choice(IDS)
    size = draw.choice([1, 3, 8])
    late = clock() - timedelta(hours=1)
    kind = draw.randrange(8)
    if kind == 0:
        store.delete(skill_id, operation=operation())
        store.save(made(skill_id, size), expected_version=None, operation=operation())
    elif kind == 1:
        store.save_many([made(i, size) for i in draw.sample(IDS, 3)], operation=operation())
    elif kind == 2:
        store.feedback(skill_id, record(), ttl=False, operation=operation())
    elif kind == 3:
        store.save(made(skill_id, size, expires_at=late.isoformat()), expected_version=None, operation=operation())
        store.sweep(5, operation=operation())
    elif kind == 4:
        store.delete(skill_id, operation=operation())
        store.learn([replace(order(skill_id), draft=made(skill_id, size))], operation=operation())
    elif kind == 5:
        with_edges(store, draw, number)
    elif kind == 6:
        store.restore(next(store.export(2), []), operation=operation())
    else:
        store.delivered(number, operation=operation())


def with_edges(store, draw, number):
    source, target = draw.sample(IDS, 2)
    try:
        store.add_edge(edge(source, target, n=number), operation=operation())
    except SkillNotFoundError:
        return
    store.delete(source, operation=operation())


@pytest.mark.parametrize("seed", range(2))
def test_readers_see_whole_skills_and_hear_no_warning_while_others_write(store_place, clock, seed, caplog):
    store, writer = store_place.open(), store_place.open()
    store.save_many([made(i, 3) for i in IDS], operation=operation())
    if store_place.kind != "redis":
        store.set_mirror("redis://nowhere", operation=operation())
    done, faults = threading.Event(), []

    def read(names):
        while not done.is_set():
            for name in names:
                try:
                    READS[name](store)
                except Exception as fault:
                    faults.append((name, fault))
                    return

    names = list(READS)
    readers = [threading.Thread(target=read, args=(names[i::3],)) for i in range(3)]
    for reader in readers:
        reader.start()
    draw = random.Random(seed)
    try:
        for number in range(WRITES):
            write(writer, clock, draw, number)
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert faults == []
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == []
