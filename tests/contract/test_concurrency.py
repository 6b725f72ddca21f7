"""Do writers at the same time lose nothing and make nothing twice, on every store?"""

import hashlib
import multiprocessing
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from brain import LearnOutcome, Skill
from brain.errors import ConflictError
from tests.contract.raw import raw
from tests.contract.samples import BREAD, bread, execution, ids, skill
from tests.contract.workers import give_feedback, give_the_same_feedback, learn_the_same


def in_threads(count, work):
    """Runs work(0) to work(count - 1) at the same time; raises what one of them raised."""
    gate = threading.Barrier(count)

    def start(i):
        gate.wait()
        return work(i)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))


def in_processes(count, work, *arguments):
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        return [future.result() for future in [pool.submit(work, *arguments) for _ in range(count)]]


def all_400(found, confidence):
    assert found.transfer_count == 400
    assert found.transfer_successes == 200
    assert found.usage_count == 400
    assert found.success_rate == pytest.approx(0.5)
    assert found.version == 401
    assert len(found.transfer_history) == 100


@pytest.mark.parametrize("shared", [True, False], ids=["one brain", "a brain each"])
def test_feedback_in_eight_threads_loses_nothing(place, clock, shared):
    brain = place.open(clock=clock)
    brain.skill_graph.save_skill(skill("s"))

    def work(i):
        mine = brain if shared else place.open(clock=clock)
        for n in range(50):
            assert mine.feedback("s", {"task": f"t{n}"}, n % 2 == 0).recorded

    in_threads(8, work)
    all_400(brain.get_skill("s"), 0.5)
    if place.kind == "neo4j":
        assert raw(place).counts()["Transfer"] == 100


def test_feedback_in_eight_processes_loses_nothing(place):
    brain = place.open()
    brain.skill_graph.save_skill(skill("s"))
    assert in_processes(8, give_feedback, place.location, place.namespace, "s", 50) == [50] * 8
    all_400(brain.get_skill("s"), 0.5)


@pytest.mark.parametrize("shared", [True, False], ids=["one brain", "a brain each"])
def test_the_same_feedback_from_eight_threads_counts_once(place, clock, shared):
    brain = place.open(clock=clock)
    brain.skill_graph.save_skill(skill("s"))
    brains = [brain if shared else place.open(clock=clock) for _ in range(8)]
    for n in range(5):
        receipts = in_threads(8, lambda i, n=n: brains[i].feedback("s", {}, True, feedback_id=f"f{n}"))
        assert sorted(receipt.repeated for receipt in receipts) == [False] + [True] * 7
        assert all(receipt.recorded for receipt in receipts)
    found = brain.get_skill("s")
    assert (found.transfer_count, found.usage_count, found.version) == (5, 5, 6)


def test_the_same_feedback_from_eight_processes_counts_once(place):
    brain = place.open()
    brain.skill_graph.save_skill(skill("s"))
    counted = in_processes(8, give_the_same_feedback, place.location, place.namespace, "s", 10)
    assert sum(counted) == 10
    assert brain.get_skill("s").transfer_count == 10


@pytest.mark.parametrize("shared", [True, False], ids=["one brain", "a brain each"])
def test_twenty_threads_that_learn_the_same_make_one_skill(place, clock, shared):
    brain = place.open(clock=clock)
    brains = [brain if shared else place.open(clock=clock) for _ in range(20)]
    receipts = in_threads(20, lambda i: brains[i].observe(**bread()))
    assert Counter(r.outcome.value for r in receipts) == {"created": 1, "reinforced": 19}
    assert sorted(r.version for r in receipts) == list(range(1, 21))
    (found,) = brain.get_skills()
    assert (found.usage_count, found.version) == (20, 20)


def test_four_processes_that_learn_the_same_make_one_skill(place):
    outcomes = Counter(o for many in in_processes(4, learn_the_same, place.location, place.namespace, 5) for o in many)
    assert outcomes == {"created": 1, "reinforced": 19}
    (found,) = place.open().get_skills()
    assert found.usage_count == 20


def test_threads_that_learn_nearly_the_same_make_one_skill(place, clock):
    words = ["the", "a", "this", "that", "each", "every", "our", "their"]
    brains = [place.open(clock=clock) for _ in words]

    def work(i):
        task = f"split {words[i]} report, analyze each part and combine the findings"
        return brains[i].observe(**execution(task, "split it into parts", "analyze each part", "combine the findings"))

    assert Counter(r.outcome.value for r in in_threads(len(words), work)) == {"created": 1, "reinforced": 7}


def test_one_trace_id_learned_by_many_threads_counts_once(place, clock):
    brains = [place.open(clock=clock) for _ in range(8)]
    receipts = in_threads(8, lambda i: brains[i].observe(**bread(), trace_id="run-1"))
    assert Counter(r.outcome.value for r in receipts) == {"created": 1, "already_seen": 7}
    assert brains[0].get_skills()[0].usage_count == 1


def test_one_id_claimed_by_many_threads_goes_to_one(place, clock):
    brains = [place.open(clock=clock) for _ in range(6)]
    chores = ["polish brass", "mend nets", "paint fences", "count sheep", "tune harps", "carve spoons"]

    def work(i):
        try:
            return brains[i].observe(**execution(chores[i], f"begin to {chores[i]}"), skill_id="one").outcome.value
        except ConflictError:
            return "conflict"

    assert Counter(in_threads(6, work)) == {"created": 1, "conflict": 5}
    assert ids(brains[0].get_skills()) == ["one"]


def test_one_expected_version_holds_for_one_of_many(place, clock):
    brain = place.open(clock=clock)
    saved = brain.skill_graph.save_skill(skill("s"))
    brains = [place.open(clock=clock) for _ in range(6)]

    def work(i):
        try:
            return brains[i].skill_graph.save_skill(saved, expected_version=1).version
        except ConflictError as error:
            return error.actual

    assert in_threads(6, work) == [2] * 6


def test_traces_that_share_steps_in_opposite_order_with_feedback_in_between(place, clock):
    shared = ["wash the rice", "boil the water", "salt the pan"]
    chores = ["sushi", "paella", "risotto", "pilaf", "congee", "jollof", "biryani", "horchata"]
    brain = place.open(clock=clock)
    brain.skill_graph.save_skill(skill("hub"))
    brains = [place.open(clock=clock) for _ in chores]

    def work(i):
        steps = shared if i % 2 else shared[::-1]
        for n in range(4):
            brains[i].observe(
                **execution(f"{chores[i]} {chores[n]}", *steps, f"serve {chores[i]} as {chores[n]}"),
                skill_id=f"{chores[i]}-{n}",
                derived_from=["hub"],
            )
            assert brains[i].feedback("hub", {"domain": chores[i]}, True).recorded

    in_threads(8, work)
    hub = brain.get_skill("hub")
    assert (hub.usage_count, hub.transfer_count, hub.version) == (32, 32, 33)
    skills = brain.get_skills()
    assert sum(s.usage_count for s in skills if s.id != "hub") == 32


def test_readers_and_writers_do_not_disturb_each_other(place, clock):
    brain = place.open(clock=clock)
    brain.skill_graph.save_skills([skill(f"s{i}", f"polish brass number {i}") for i in range(20)])

    def work(i):
        for n in range(10):
            if i % 4 == 0:
                brain.skill_graph.save_skill(skill(f"s{n}", f"polish brass number {n}"))
            elif i % 4 == 1:
                assert len(brain.recall({"task": "polish brass"}, top_k=50)) >= 19
            elif i % 4 == 2:
                brain.skill_graph.delete_skill("s19")
                brain.skill_graph.save_skill(skill("s19", BREAD))
            else:
                assert len(brain.get_skills()) >= 19
                brain.get_skill_summary()

    in_threads(8, work)
    assert len(brain.get_skills()) == 20
    assert len(brain.recall({"task": "polish brass"}, top_k=50)) == 19


def test_edges_added_from_both_ends_at_once_are_all_there(place, clock):
    brain = place.open(clock=clock)
    names = [f"n{i}" for i in range(6)]
    brain.skill_graph.save_skills([skill(name) for name in names])
    brains = [place.open(clock=clock) for _ in names]

    def work(i):
        for name in names[i + 1 :] + names[:i]:
            brains[i].skill_graph.add_edge(names[i], "COMPLEMENTS", name, {"by": i})

    in_threads(len(names), work)
    assert all(len(brain.skill_graph.get_edges(name)) == 10 for name in names)


def made_up_words(*seed):
    """Four words that no other seed has, without digits."""
    letters = str.maketrans("0123456789", "qrstuvwxyz")
    digest = hashlib.sha256(repr(seed).encode()).hexdigest().translate(letters)
    return [digest[i : i + 8] for i in range(0, 32, 8)]


def test_parallel_learning_raises_the_version_by_one_each_and_no_view_misses_a_skill(place, clock):
    brain, other = place.open(clock=clock), place.open(clock=clock)
    brain.recall({"task": "warm up"})
    other.recall({"task": "warm up"})
    before = brain.skill_graph._store.changes(0).version

    def teach(worker):
        for i in range(6):
            words = made_up_words(worker, i)
            observed = execution(" ".join(words), f"fetch {words[0]}", f"weigh {words[1]}", domain="d")
            outcome = brain.observe(**observed)
            assert outcome.outcome == LearnOutcome.CREATED
            brain.feedback(outcome.skill.id, {}, True)
            other.recall({"task": " ".join(words)})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(teach, range(8)))
    stored = {skill.id for skill in brain.get_skills()}
    assert len(stored) == 48
    assert brain.skill_graph._store.changes(0).version == before + 96
    for view in (brain, other):
        view.recall({"task": "alpha"})
        view.recall({"task": "alpha"})
        with view._memory.index.shown(clock()) as table:
            assert set(table.live_ids()) == stored


def test_a_store_that_was_replaced_is_noticed_by_an_open_brain(place, clock):
    brain = place.open(clock=clock)
    for i in range(5):
        brain.skill_graph.save_skill(Skill(name=f"old {i}", procedure=[{"action": f"old step {i}"}]))
    brain.recall({"task": "old step"})
    raw(place).clear_everything()
    fresh = place.open(clock=clock)
    fresh.observe({"steps": ["knead the dough"]}, {"task": "bake sourdough bread"}, {"success": True})
    assert [c.skill.task for c in brain.recall({"task": "bake sourdough bread"})] == ["bake sourdough bread"]


def test_a_skill_is_never_read_half_while_others_write_it(place, clock):
    writer, reader = place.open(clock=clock), place.open(clock=clock)
    long = [{"action": f"step {i}"} for i in range(9)]
    writer.skill_graph.save_skill(Skill(id="a", name="a", procedure=long))
    done = threading.Event()

    def write():
        for i in range(40):
            writer.skill_graph.save_skill(Skill(id="a", name="a", procedure=long[: 9 if i % 2 else 3]))
            writer.feedback("a", {}, True)
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    seen = Counter()
    while not done.is_set():
        found = reader.get_skill("a")
        assert found is not None
        seen[len(found.procedure)] += 1
    thread.join()
    assert set(seen) <= {3, 9}
