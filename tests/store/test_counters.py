"""Do counters and outbox say, after whatever happened, what a look at everything would say?"""

import random
from collections import Counter
from datetime import timedelta

import pytest

from brain.model.relations import Relation
from brain.store.base import mean_confidence
from tests.conftest import STORES
from tests.store.samples import draft, edge, operation, order, record, save, vector

IDS = [f"s{i}" for i in range(12)]

MIRRORED = pytest.mark.parametrize("store_place", [name for name in STORES if "redis" not in str(name)], indirect=True)
"""Stores that may have a mirror: not Redis, which needs none."""


class Model:
    """What a store must hold after each write: a shadow, kept by the simplest means."""

    def __init__(self, store, clock, seed):
        self.store, self.clock, self.random = store, clock, random.Random(seed)
        self.stored, self.edges = {}, set()

    def live(self, skill_id):
        found = self.store.get_many([skill_id])
        return bool(found)

    def step(self):
        """One random write; the ids that a mirror must hear of."""
        more_often = [self.feedback, self.connect] * 2
        once = [self.save, self.save_many, self.learn, self.delete, self.sweep, self.vectors, self.later, self.profiles]
        return self.random.choice(more_often + once)()

    def some(self):
        return self.random.choice(IDS)

    def forget(self, gone):
        """Takes away skills with their edges; the skills that this touches."""
        touched = set(gone)
        for source, relation, target in list(self.edges):
            if gone & {source, target}:
                touched |= {source, target}
                self.edges.discard((source, relation, target))
        for skill_id in gone:
            self.stored.pop(skill_id, None)
        return touched

    def expired(self, *ids):
        now = self.clock()
        return {i for i in ids if i in self.stored and self.stored[i] is not None and self.stored[i] <= now}

    def put(self, *ids):
        """Writes skills that expire some time, or never; what stood there expired leaves nothing behind."""
        touched, drafts = self.forget(self.expired(*ids)) | set(ids), []
        for skill_id in ids:
            expires = self.random.choice([None, self.clock() + timedelta(hours=self.random.randint(1, 9))])
            self.stored[skill_id] = expires
            count = self.random.randint(0, 3)
            drafts.append(
                draft(
                    skill_id,
                    confidence=self.random.random(),
                    transfer_count=count,
                    transfer_successes=self.random.randint(0, count),
                    expires_at=expires.isoformat() if expires else "",
                )
            )
        return touched, drafts

    def save(self):
        touched, drafts = self.put(self.some())
        self.store.save(drafts[0], expected_version=None, operation=operation())
        return touched

    def save_many(self):
        touched, drafts = self.put(*self.random.sample(IDS, 3))
        self.store.save_many(drafts, operation=operation())
        return touched

    def learn(self):
        a, b = self.random.sample(IDS, 2)
        if self.stored.keys() & {a, b}:
            return set()
        self.store.learn([order(a, f"text {a}"), order(b, like=0)], operation=operation())
        twin = next(iter(self.store.get_many([a, b])), None)
        assert twin is not None
        for skill_id in (a, b):
            if self.store.get_many([skill_id]):
                self.stored[skill_id] = None
        return {i for i in (a, b) if i in self.stored} | {twin.id}

    def feedback(self):
        skill_id = self.some()
        found = self.store.feedback(skill_id, record(self.random.random() < 0.5), ttl=False, operation=operation())
        assert (found is not None) == (skill_id in self.stored and not self.expired(skill_id))
        return {skill_id} if found else set()

    def delete(self):
        skill_id = self.some()
        there = skill_id in self.stored and not self.expired(skill_id)
        assert self.store.delete(skill_id, operation=operation()) == there
        return self.forget({skill_id}) if there else set()

    def connect(self):
        source, target = self.random.sample(IDS, 2)
        if not {source, target} <= self.stored.keys() - self.expired(*IDS):
            return set()
        relation = self.random.choice(list(Relation))
        self.store.add_edge(edge(source, target, relation), operation=operation())
        self.edges.add((source, relation, target))
        return {source, target}

    def vectors(self):
        return self.change(lambda i: self.store.set_vectors([(i, vector(i))], operation=operation()))

    def profiles(self):
        def write(skill_id):
            (found,) = self.store.get_many([skill_id])
            self.store.set_profiles([(skill_id, found.version, "p", b"t")], operation=operation())

        return self.change(write)

    def change(self, write):
        there = sorted(self.stored.keys() - self.expired(*IDS))
        if not there:
            return set()
        skill_id = self.random.choice(there)
        write(skill_id)
        return {skill_id}

    def later(self):
        self.clock.advance(minutes=self.random.randint(1, 90))
        return set()

    def sweep(self):
        gone = self.expired(*IDS)
        assert self.store.sweep(100, operation=operation()) == len(gone)
        return self.forget(gone)


def check_counters(store, model):
    """The counters against a look at every live skill."""
    live = [skill for page in store.pages() for skill in page]
    assert store.count() == len(model.stored)
    assert {skill.id for skill in live} == model.stored.keys() - model.expired(*IDS)
    summary = store.summary(5)
    assert summary["total_skills"] == len(live)
    assert summary["transferable_skills"] == sum(skill.is_transferable for skill in live)
    assert summary["total_transfers"] == sum(skill.transfer_count for skill in live)
    wanted = sum(skill.confidence for skill in live) / len(live) if live else 0.0
    assert summary["avg_confidence"] == pytest.approx(wanted, abs=1e-9)
    used = sorted(live, key=lambda skill: (-skill.usage_count, -skill.confidence))[:5]
    assert [s.usage_count for s in summary["top_skills"]] == [s.usage_count for s in used]
    assert [s.confidence for s in summary["top_skills"]] == [s.confidence for s in used]


@pytest.mark.parametrize("seed", range(3))
def test_counters_equal_a_look_at_everything_after_hundreds_of_random_writes(store, clock, seed):
    model = Model(store, clock, seed)
    for step in range(120):
        model.step()
        if step % 6 == 0:
            check_counters(store, model)
    check_counters(store, model)


@MIRRORED
@pytest.mark.parametrize("seed", range(3))
def test_the_outbox_names_exactly_what_was_touched_by_whoever_wrote(store_place, store, clock, seed):
    other = store_place.open()
    model = Model(store, clock, seed)
    for _ in range(20):
        model.step()
    assert store.outbox(10) == []
    assert store.set_mirror("redis://host:6379", operation=operation()) is True
    assert {entry.skill_id for entry in store.outbox(1_000)} == set(model.stored)
    waiting = set(model.stored)
    for step in range(100):
        model.store = (store, other)[step % 2]
        waiting |= model.step()
        found = store.outbox(10_000)
        assert {entry.skill_id for entry in found} == waiting
        assert [entry.number for entry in found] == sorted({entry.number for entry in found})
        if step % 10 == 9:
            deliver_half(store, found)
            waiting = {entry.skill_id for entry in store.outbox(10_000)}


def deliver_half(store, found):
    """Takes the older half; what it still holds then is what has a higher number."""
    last = found[len(found) // 2].number
    store.delivered(last, operation=operation())
    left = store.outbox(10_000)
    assert Counter(e.skill_id for e in left) == Counter(e.skill_id for e in found if e.number > last)


def test_without_a_mirror_nothing_is_noted(store):
    save(store, "a", "b")
    store.add_edge(edge("a", "b"), operation=operation())
    store.delete("a", operation=operation())
    assert store.mirror() is None
    assert store.outbox(10) == []
    assert (store.waiting().count, store.waiting().since) == (0, None)


@MIRRORED
def test_a_mirror_is_noted_once_replaced_and_ended(store_place, store, clock):
    save(store, "a", "b")
    assert store.set_mirror("redis://one", operation=operation()) is True
    assert store.set_mirror("redis://one", operation=operation()) is False
    assert store_place.open().mirror() == "redis://one"
    began = clock()
    assert (store.waiting().count, store.waiting().since) == (2, began)
    store.delivered(store.outbox(10)[-1].number, operation=operation())
    assert store.waiting().count == 0
    clock.advance(minutes=5)
    save(store, "b")
    assert (store.waiting().count, store.waiting().since) == (1, clock())
    assert store.outbox(1)[0].noted_at == clock()
    assert store.set_mirror("redis://two", operation=operation()) is True
    assert sorted(entry.skill_id for entry in store.outbox(10)) == ["a", "b"]
    assert store.set_mirror(None, operation=operation()) is True
    assert (store.mirror(), store.outbox(10)) == (None, [])
    save(store, "c")
    assert store.outbox(10) == []
    assert store.set_mirror(None, operation=operation()) is False


@MIRRORED
def test_what_changes_again_while_it_is_delivered_stays_in_the_outbox(store):
    store.set_mirror("redis://host", operation=operation())
    save(store, "a", "b")
    read = store.outbox(10)
    save(store, "a")
    store.delivered(read[-1].number, operation=operation())
    assert [entry.skill_id for entry in store.outbox(10)] == ["a"]


@MIRRORED
def test_a_mirror_of_one_namespace_hears_nothing_of_another(store_place, store):
    store.set_mirror("redis://host", operation=operation())
    other = store_place.open(f"{store.namespace}-other")
    save(other, "elsewhere")
    assert store.outbox(10) == []
    assert other.outbox(10) == []


def test_averages_do_not_drift():
    assert mean_confidence(0, 0) == 0.0
    assert mean_confidence(sum(round(0.7 * 2**40) for _ in range(1_000)), 1_000) == 0.7
