"""Does learning create, reinforce, record, ignore and link as it says, on every store?"""

from datetime import timedelta

import pytest

from brain import LearnOutcome, Policy
from brain.errors import ConflictError, InputError, SkillNotFoundError
from tests.contract.raw import raw
from tests.contract.samples import BREAD, audit, bread, execution, ids, plain


def edges(brain, skill_id):
    return {(e.relation.value, e.direction, e.target) for e in brain.skill_graph.get_edges(skill_id)}


def test_learning_gives_the_skill_as_it_is_stored(brain):
    learned = brain.learn(**bread(quality=0.85), skill_name="Bread")
    assert learned.name == "Bread"
    assert [step.action for step in learned.procedure][:2] == ["feed the starter", "knead the dough"]
    assert learned.confidence == pytest.approx(0.67)
    assert (learned.usage_count, learned.success_rate, learned.version) == (1, 1.0, 1)
    assert (learned.domain, learned.skill_type) == ("kitchen", "procedural")
    assert plain(brain.get_skill(learned.id)) == plain(learned)
    assert [plain(s) for s in brain.get_skills()] == [plain(learned)]


def test_a_skill_that_somebody_else_let_expire_is_no_duplicate(place, clock):
    one, two = (place.open(clock=clock, policy=Policy.guide()) for _ in range(2))
    first = one.observe(**bread(), skill_id="a").skill
    one.skill_graph.save_skill(first.model_copy(update={"id": "b"}))
    two.recall({"task": BREAD})
    one.skill_graph.save_skill(first.model_copy(update={"expires_at": (clock.now - timedelta(hours=1)).isoformat()}))
    assert two.observe(**bread()).skill.id == "b"
    assert ids(two.get_skills()) == ["b"]


def test_a_success_never_shortens_an_expiry(brain, clock):
    late = (clock.now + timedelta(days=400)).isoformat()
    learned = brain.learn(**bread())
    brain.skill_graph.save_skill(learned.model_copy(update={"expires_at": late}))
    assert brain.feedback(learned.id, {}, True).skill.expires_at == late
    assert brain.learn(**bread()).expires_at == late
    clock.advance(days=-3)
    again = brain.feedback(brain.learn(**audit()).id, {}, True).skill
    clock.advance(days=-20)
    assert brain.feedback(again.id, {}, True).skill.expires_at == again.expires_at


def test_the_receipt_says_what_happened(brain):
    created = brain.observe(**bread())
    reinforced = brain.observe(**bread())
    failed = brain.observe(**bread(success=False))
    ignored = brain.observe(**audit(success=False))
    assert [r.outcome for r in (created, reinforced, failed, ignored)] == [
        LearnOutcome.CREATED,
        LearnOutcome.REINFORCED,
        LearnOutcome.FAILURE_RECORDED,
        LearnOutcome.IGNORED,
    ]
    assert [r.version for r in (created, reinforced, failed, ignored)] == [1, 2, 3, 0]
    assert created.skill.id == reinforced.skill.id == failed.skill.id
    assert ignored.skill is None
    assert all(r.reason for r in (created, reinforced, failed, ignored))
    assert plain(brain.get_skill(created.skill.id)) == plain(failed.skill)


def test_learn_gives_nothing_for_a_failure_that_matches_nothing(brain, place):
    assert brain.learn(**bread(success=False)) is None
    assert brain.get_skills() == []
    assert not any(raw(place).counts().values())


def test_reinforcing_moves_rate_confidence_and_expiry(brain, clock):
    first = brain.learn(**bread(quality=0.5))
    clock.advance(hours=10)
    again = brain.learn(**bread(quality=0.5))
    assert again.confidence == pytest.approx(0.6 + 0.05 * 0.4, abs=1e-9)
    assert (again.usage_count, again.success_rate, again.version) == (2, 1.0, 2)
    assert again.updated_at == clock.now
    assert again.created_at == first.created_at
    assert again.transfer_count == 0
    assert again.has_expired(clock.now + timedelta(hours=again.ttl_hours, milliseconds=1))
    assert not again.has_expired(clock.now + timedelta(hours=again.ttl_hours, milliseconds=-1))


def test_a_recorded_failure_lowers_confidence_and_leaves_the_expiry(brain, clock):
    first = brain.learn(**bread(quality=0.5))
    clock.advance(hours=10)
    failed = brain.learn(**bread(success=False))
    assert failed.confidence == pytest.approx(0.54, abs=1e-9)
    assert (failed.usage_count, failed.success_rate) == (2, 0.5)
    assert failed.expires_at == first.expires_at


def test_a_reinforced_skill_keeps_its_first_task_and_steps(brain):
    first = brain.learn(**bread())
    again = brain.learn(**execution("Bake  SOURDOUGH bread", *bread()["execution_trace"]["steps"]), skill_name="Other")
    assert again.id == first.id
    assert (again.name, again.task, again.procedure) == (first.name, first.task, first.procedure)


def test_a_similar_trace_reinforces_and_an_opposite_one_does_not(brain):
    steps = ("split the report into parts", "analyze each part", "combine the findings into one overview")
    first = brain.learn(**execution("split the report, analyze each part and combine the findings", *steps))
    near = brain.learn(**execution("split a report, analyze every part and combine the findings", *steps))
    assert near.id == first.id
    other = brain.learn(**execution("split the atoms, analyze each flash and combine the plots", "wait", "measure"))
    assert other.id != first.id


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("feed the cat", "open the tin"), ("delete the production database", "drop every table")),
        (("delete the temporary files", "remove them"), ("delete the production database", "remove it")),
        (("open the valve", "turn it left"), ("do not open the valve", "never turn it left")),
    ],
)
def test_different_work_never_merges(brain, one, two):
    assert brain.learn(**execution(*one)).id != brain.learn(**execution(*two)).id


def test_a_skill_of_another_type_is_no_twin(brain):
    first = brain.learn(**bread())
    brain.skill_graph.save_skill(first.model_copy(update={"skill_type": "declarative"}))
    assert brain.observe(**bread()).outcome == LearnOutcome.CREATED


def test_a_saved_skill_that_does_the_same_is_reinforced(brain, place, clock):
    learned = brain.learn(**bread())
    other = place.open(namespace=f"{place.namespace}.copy", clock=clock)
    other.skill_graph.save_skill(learned)
    receipt = other.observe(**bread())
    assert (receipt.outcome, receipt.skill.id) == (LearnOutcome.REINFORCED, learned.id)


def test_a_changed_skill_is_no_twin_of_what_it_was(brain):
    learned = brain.learn(**bread())
    step = learned.procedure[0].model_copy(update={"action": "buy it at the shop round the corner"})
    context = {"metadata": {"domain": "kitchen", "task": "get hold of lunch"}}
    changed = learned.model_copy(update={"procedure": [step], "source_context": context, "name": "Shop"})
    brain.skill_graph.save_skill(changed)
    assert brain.observe(**bread()).outcome == LearnOutcome.CREATED


# The caller's ids


def test_the_same_trace_id_again_changes_nothing(brain):
    first = brain.observe(**bread(), trace_id="run-1")
    before = plain(brain.get_skill(first.skill.id))
    again = brain.observe(**bread(), trace_id="run-1")
    assert again.outcome == LearnOutcome.ALREADY_SEEN
    assert (again.skill.id, again.version) == (first.skill.id, 1)
    assert plain(brain.get_skill(first.skill.id)) == before


def test_another_trace_id_counts_the_same_trace_again(brain):
    brain.observe(**bread(), trace_id="run-1")
    again = brain.observe(**bread(), trace_id="run-2")
    assert (again.outcome, again.version) == (LearnOutcome.REINFORCED, 2)
    assert brain.observe(**bread(), trace_id="run-2").outcome == LearnOutcome.ALREADY_SEEN


def test_a_trace_id_of_a_failure_is_seen_too(brain):
    brain.observe(**bread())
    assert brain.observe(**bread(success=False), trace_id="f").outcome == LearnOutcome.FAILURE_RECORDED
    again = brain.observe(**bread(success=False), trace_id="f")
    assert (again.outcome, again.version) == (LearnOutcome.ALREADY_SEEN, 2)


def test_an_ignored_trace_id_may_be_tried_again(brain):
    assert brain.observe(**bread(success=False), trace_id="run-1").outcome == LearnOutcome.IGNORED
    assert brain.observe(**bread(), trace_id="run-1").outcome == LearnOutcome.CREATED


def test_a_trace_of_a_forgotten_skill_is_learned_anew(brain):
    first = brain.observe(**bread(), trace_id="run-1")
    brain.skill_graph.delete_skill(first.skill.id)
    assert brain.observe(**bread(), trace_id="run-1").outcome == LearnOutcome.CREATED


def test_a_new_skill_gets_the_callers_id(brain):
    assert brain.observe(**bread(), skill_id="bread-1").skill.id == "bread-1"
    assert brain.get_skill("bread-1").task == "bake sourdough bread"


def test_the_callers_id_is_refused_for_another_skill(brain, place):
    brain.observe(**bread(), skill_id="one")
    before, counts = plain(brain.get_skill("one")), raw(place).counts()
    with pytest.raises(ConflictError) as caught:
        brain.observe(**audit(), skill_id="one")
    assert (caught.value.skill_id, caught.value.actual) == ("one", 1)
    assert plain(brain.get_skill("one")) == before
    assert raw(place).counts() == counts


def test_the_callers_id_of_an_expired_skill_is_free(brain, clock):
    brain.observe(**bread(), skill_id="one")
    clock.advance(days=365)
    receipt = brain.observe(**audit(), skill_id="one")
    assert (receipt.outcome, receipt.version) == (LearnOutcome.CREATED, 1)
    assert brain.skill_graph.get_edges("one") == []


def test_an_expired_twin_gives_way(brain, clock):
    first = brain.learn(**bread())
    clock.advance(days=365)
    again = brain.observe(**bread())
    assert again.outcome == LearnOutcome.CREATED
    assert again.skill.id != first.id
    assert ids(brain.get_skills()) == [again.skill.id]


# Where a skill comes from


def test_used_skills_are_linked_in_both_directions_where_the_domain_differs(brain):
    used = brain.learn(**bread())
    new = brain.observe(**audit(), derived_from=[used.id]).skill
    assert edges(brain, new.id) == {("DERIVES_FROM", "out", used.id), ("TRANSFERRED_TO", "in", used.id)}
    assert edges(brain, used.id) == {("DERIVES_FROM", "in", new.id), ("TRANSFERRED_TO", "out", new.id)}


def test_used_skills_of_the_same_domain_are_linked_by_derivation_alone(brain):
    used = brain.learn(**bread())
    new = brain.observe(**execution("polish old brass doorknobs", "rub", "buff"), derived_from=[used.id]).skill
    assert edges(brain, new.id) == {("DERIVES_FROM", "out", used.id)}


def test_a_reinforced_skill_is_linked_to_others_but_not_to_itself(brain):
    first, other = brain.learn(**bread()), brain.learn(**audit())
    receipt = brain.observe(**bread(), derived_from=[first.id, other.id, other.id])
    assert receipt.outcome == LearnOutcome.REINFORCED
    assert edges(brain, first.id) == {("DERIVES_FROM", "out", other.id), ("TRANSFERRED_TO", "in", other.id)}


def test_naming_itself_alone_writes_no_edge(brain):
    first = brain.learn(**bread())
    assert brain.observe(**bread(), derived_from=[first.id]).version == 2
    assert brain.skill_graph.get_edges(first.id) == []


@pytest.mark.parametrize("expired", [False, True])
def test_a_missing_used_skill_is_refused_and_nothing_is_written(brain, place, clock, expired):
    kept = brain.learn(**audit())
    used = brain.observe(**bread(), skill_id="used").skill.id if expired else "used"
    if expired:
        clock.advance(hours=1)
        clock.advance(seconds=(kept.ttl_hours + 2) * 3600)
        kept = brain.learn(**audit())
    counts, before = raw(place).counts(), [plain(s) for s in brain.get_skills()]
    for observed in (execution("paint the town", "mix", "paint"), audit()):
        with pytest.raises(SkillNotFoundError) as caught:
            brain.observe(**observed, derived_from=[kept.id, used])
        assert caught.value.skill_id == used
    assert raw(place).counts() == counts
    assert [plain(s) for s in brain.get_skills()] == before


@pytest.mark.parametrize("bad", ["one", 5, {"a": 1}, [5], [""], [["a"]], [None], [" "]])
def test_used_skills_must_be_a_list_of_ids(brain, place, bad):
    with pytest.raises(InputError):
        brain.observe(**bread(), derived_from=bad)
    assert not any(raw(place).counts().values())


# Repetition


def test_counts_do_not_grow_when_the_same_is_learned_again(brain, place):
    brain.learn(**bread())
    after_one = raw(place).counts()
    for _ in range(2):
        brain.learn(**bread())
        assert raw(place).counts() == after_one


def test_counts_do_not_grow_when_the_same_is_saved_again(brain, place):
    learned = brain.learn(**bread())
    counts = raw(place).counts()
    for _ in range(3):
        learned = brain.skill_graph.save_skill(learned)
        assert raw(place).counts() == counts
    assert learned.version == 4


def test_different_traces_of_one_skill_are_all_kept_as_its_origin(brain, place):
    brain.observe(**bread(), trace_id="a")
    before = raw(place).counts()
    brain.observe(**bread(), trace_id="b")
    after = raw(place).counts()
    name = "Trace" if place.kind == "neo4j" else "trace"
    assert after[name] == before[name] + 1


def test_a_brain_without_ttl_learns_what_never_expires(place, clock):
    from brain import Policy

    brain = place.open(clock=clock, policy=Policy(ttl=False))
    learned = brain.learn(**bread())
    assert learned.expires_at == ""
    brain.feedback(learned.id, {"task": "t"}, True)
    clock.advance(days=50 * 365)
    assert brain.get_skill(learned.id).expires_at == ""
    assert ids(c.skill for c in brain.recall({"task": "bake sourdough bread", "domain": "kitchen"})) == [learned.id]


def test_a_brain_without_ttl_leaves_the_expiry_of_others_as_it_is(place, clock):
    from brain import Policy

    learned = place.open(clock=clock).learn(**bread())
    brain = place.open(clock=clock, policy=Policy(ttl=False))
    clock.advance(hours=3)
    assert brain.learn(**bread()).expires_at == learned.expires_at
    assert brain.feedback(learned.id, {}, True).skill.expires_at == learned.expires_at


def test_many_executions_are_learned_in_batches_and_told_one_by_one(brain):
    told = []
    executions = [execution(f"sort the crates of house{i}", f"lift crate{i}", f"weigh crate{i}") for i in range(7)]
    report = brain.learn_many(iter(executions), batch_size=3, each=lambda place, receipt: told.append((place, receipt)))
    assert [place for place, _ in told] == list(range(7))
    assert report.learned == 7
    assert report.outcomes[LearnOutcome.CREATED] == len(brain.get_skills())
    assert not report.refused


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_the_same_thing_in_one_batch_is_one_skill(brain, batch_size):
    again = execution("Bake bread", "mix the flour", "knead the dough", "bake the loaf")
    other = execution("Baking bread", "mix flour", "knead dough", "bake a loaf")
    failed = execution("Bake bread", "mix the flour", "knead the dough", "bake the loaf", success=False)
    unknown = execution("audit the ledger", "list the entries", "compare the sums", success=False)
    report = brain.learn_many([failed, again, other, again, failed, unknown], batch_size=batch_size)
    (learned,) = brain.get_skills()
    assert {outcome.value: count for outcome, count in report.outcomes.items()} == {
        "created": 1,
        "reinforced": 2,
        "failure_recorded": 1,
        "ignored": 2,
        "already_seen": 0,
    }
    assert learned.usage_count == 4


def test_what_is_no_execution_is_refused_with_its_place_and_the_rest_is_learned(brain):
    good = execution("count the sheep", "open the gate", "count each sheep")
    bad = [7, {}, good | {"outcome": {}}, good | {"trace": {}}, good | {"context": {}, "execution_trace": {}}]
    report = brain.learn_many([bad[0], good, *bad[1:]])
    assert [refusal.place for refusal in report.refused] == [0, 2, 3, 4, 5]
    assert all(refusal.reason for refusal in report.refused)
    assert (report.learned, len(brain.get_skills())) == (1, 1)


def test_one_that_names_a_missing_or_taken_skill_is_refused_and_the_rest_is_learned(brain):
    executions = [
        execution("count the sheep", "open the gate", "count each sheep"),
        execution("paint the fence", "buy paint", "paint every board") | {"skill_id": "taken"},
        execution("mend the net", "find the hole", "knot the twine") | {"skill_id": "taken"},
        execution("stack the chairs", "lift a chair", "put it on top") | {"derived_from": ["nobody"]},
        execution("rinse the rice", "fill the bowl", "pour off the water"),
    ]
    report = brain.learn_many(executions)
    assert [refusal.place for refusal in report.refused] == [2, 3]
    assert (report.learned, len(brain.get_skills())) == (3, 3)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "9"])
def test_a_batch_size_that_is_none_is_refused(brain, size):
    with pytest.raises(InputError, match="batch_size"):
        brain.learn_many([], batch_size=size)
