"""Does recall find the right skill, nothing unrelated, and the same order on every store?"""

import json

import pytest

from brain import Policy
from brain.errors import InputError
from tests.contract.samples import AUDIT, BREAD, audit, bread, execution, ids, skill

CONTEXTS = {
    "no keyword": ("kitchen", "bake sourdough bread"),
    "chinese": ("厨房", "烤一个酸面包"),
    "japanese": ("台所", "パンを焼く"),
    "arabic": ("مطبخ", "اخبز خبز العجين المخمر"),
    "russian": ("кухня", "испечь хлеб на закваске"),
    "emoji": ("🏠", "🍞🔥"),
    "one word": ("", "bake"),
    "punctuation": ("?", "!?"),
    "long": ("archive", "carry the crates upstairs " * 300),
}


@pytest.mark.parametrize("kind", CONTEXTS)
def test_the_identical_context_comes_first_without_any_keyword(brain, kind):
    for i, (domain, task) in enumerate(CONTEXTS.values()):
        brain.observe(**execution(task, domain=domain, agents=[f"agent {i}"]), skill_id=f"s{i}")
    domain, task = CONTEXTS[kind]
    found = brain.recall({"domain": domain, "task": task})
    assert found[0].skill.id == f"s{list(CONTEXTS).index(kind)}"
    assert found[0].combined_score >= 0.6
    assert found[0].evidence["identical_context"]


def test_the_identical_context_beats_a_skill_with_a_better_record(brain):
    brain.observe(**bread(quality=0.0), skill_id="mine")
    brain.observe(**execution("bake sourdough rolls", "knead", "bake"), skill_id="other")
    for _ in range(20):
        brain.feedback("other", {}, True)
    assert brain.recall({"task": BREAD, "domain": "kitchen"})[0].skill.id == "mine"


def test_a_task_with_the_very_steps_is_an_identical_context_and_with_other_steps_is_not(brain):
    task, steps = "Describe how a frog grows up", ["lay the eggs in water", "hatch the tadpoles", "grow the legs"]
    brain.learn({"steps": steps}, {"domain": "biology", "task": task}, {"success": True, "quality": 0.9})
    same, other = (
        brain.recall({"domain": "biology", "task": task, "steps": planned}, min_score=0.0)[0]
        for planned in (steps, ["draw a frog", "colour it green", "hang it up in class"])
    )
    assert same.evidence["identical_context"]
    assert (same.structural_score, same.semantic_score) == (1.0, 1.0)
    assert not other.evidence["identical_context"]
    assert other.semantic_score < 1.0


@pytest.mark.parametrize(
    "steps",
    [
        ["hoist the jib", "tack"],
        ["hoist the jib", {"action": "tack", "tool": "rudder"}],
        ["hoist the jib", {"action": "tack", "description": "through the wind"}],
        ["hoist the jib and " * 20, "tack"],
        [{"action": "hoist the jib and " * 20, "description": "by the red rope"}],
    ],
    ids=["texts", "objects", "described", "long", "long and described"],
)
def test_steps_alone_are_an_identical_context_too(brain, steps):
    brain.learn(**execution("", *steps, domain="sailing"))
    found = brain.recall({"domain": "sailing", "steps": steps})
    assert found[0].combined_score >= 0.6
    assert found[0].evidence["identical_context"]


def test_an_unrelated_task_finds_nothing(brain):
    brain.learn(**audit())
    assert brain.recall({"task": BREAD}) == []
    assert brain.recall({"task": BREAD, "domain": "kitchen"}) == []
    assert brain.recall({"task": BREAD, "steps": ["knead the dough", "bake"]}) == []


def test_an_unrelated_task_finds_nothing_after_many_successes(brain):
    learned = brain.learn(**audit(quality=1.0))
    for _ in range(30):
        brain.feedback(learned.id, {"task": AUDIT}, True)
    assert brain.recall({"task": BREAD}) == []


def test_recall_on_an_empty_store_finds_nothing(brain):
    assert brain.recall({"task": BREAD}) == []


def test_scores_are_within_their_range_and_in_order(brain):
    tasks = ["bake bread", "bake a cake", "bake sourdough bread", "break bread", "check the bread"]
    for i, task in enumerate(tasks):
        brain.observe(**execution(task, f"step {i} of it", "taste"), skill_id=f"s{i}")
    found = brain.recall({"task": "bake bread today"}, top_k=10, min_score=0.0)
    scores = [c.combined_score for c in found]
    assert scores == sorted(scores, reverse=True)
    for c in found:
        for score in (c.structural_score, c.semantic_score, c.transfer_score, c.confidence_score, c.combined_score):
            assert 0 <= score <= 1
        assert c.combined_score == pytest.approx(
            0.35 * c.structural_score + 0.25 * c.semantic_score + 0.25 * c.transfer_score + 0.15 * c.confidence_score
        )
        assert c.reasoning
        json.dumps([c.to_dict(), c.explain()], allow_nan=False)


def test_at_most_top_k_come_back(brain):
    for i in range(6):
        brain.skill_graph.save_skill(skill(f"s{i}", f"bake bread number {i}"))
    all_found = ids(c.skill for c in brain.recall({"task": "bake bread"}, top_k=100))
    assert len(all_found) == 6
    for k in range(1, 7):
        assert ids(c.skill for c in brain.recall({"task": "bake bread"}, top_k=k)) == all_found[:k]


def test_min_score_leaves_out_what_is_below(brain):
    brain.learn(**bread())
    score = brain.recall({"task": BREAD}, min_score=0.0)[0].combined_score
    assert len(brain.recall({"task": BREAD}, min_score=score)) == 1
    assert brain.recall({"task": BREAD}, min_score=min(1.0, score + 1e-6)) == []


def test_equal_scores_are_ordered_by_id(brain):
    names = ["m", "b", "Z", "a", "c1", "c-1", "c.1", "0"]
    for name in names:
        brain.skill_graph.save_skill(skill(name, "sort the mail", name="n", procedure=[{"action": "sort"}]))
    found = brain.recall({"task": "sort the mail"}, top_k=20)
    assert len({c.combined_score for c in found}) == 1
    assert ids(c.skill for c in found) == sorted(names)
    assert ids(c.skill for c in brain.recall({"task": "sort the mail"}, top_k=3)) == sorted(names)[:3]


def test_a_negated_task_scores_below_its_opposite(brain):
    brain.observe(**execution("delete the old backups", "find them", "delete them"), skill_id="delete")
    brain.observe(**execution("never delete the old backups", "find them", "keep them"), skill_id="keep")
    assert brain.recall({"task": "never delete the old backups please"})[0].skill.id == "keep"


def test_planned_steps_find_the_same_procedure_in_another_domain(brain):
    brain.learn(**bread())
    brain.observe(
        **execution("", "gather the facts", "form a hypothesis", "test it against the facts", domain="medicine"),
        skill_id="diagnose",
    )
    plan = ["gather the error reports", "form a hypothesis", "test it against the reports"]
    assert brain.recall({"domain": "software", "task": "", "steps": plan})[0].skill.id == "diagnose"


@pytest.mark.parametrize("top_k", [0, -1, 1.5, "3", None, True])
def test_top_k_must_be_a_whole_number_of_at_least_one(brain, top_k):
    with pytest.raises(InputError, match="top_k"):
        brain.recall({"task": BREAD}, top_k=top_k)


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf"), "0.3", None, True])
def test_min_score_must_be_from_zero_to_one(brain, score):
    with pytest.raises(InputError, match="min_score"):
        brain.recall({"task": BREAD}, min_score=score)


def test_one_skill_can_be_scored_however_low(brain):
    learned = brain.learn(**audit())
    candidate = brain.transfer_engine.score_skill(learned.id, {"task": BREAD})
    assert candidate.skill.id == learned.id
    assert candidate.semantic_score < 0.1


# What others write


def test_two_brains_see_each_others_changes_at_the_next_recall(place, clock):
    one, two = place.open(clock=clock), place.open(clock=clock)
    context = {"task": BREAD, "domain": "kitchen"}
    assert two.recall(context) == []
    learned = one.learn(**bread())
    assert ids(c.skill for c in two.recall(context)) == [learned.id]

    one.feedback(learned.id, context, False)
    assert two.recall(context)[0].transfer_score == 0.0

    saved = one.skill_graph.save_skill(skill(learned.id, AUDIT, domain="security"))
    assert two.recall(context) == []
    assert two.recall({"task": AUDIT, "domain": "security"})[0].skill.version == saved.version

    two.skill_graph.save_skill(skill("second", BREAD))
    assert ids(c.skill for c in one.recall(context)) == ["second"]

    one.skill_graph.delete_skill("second")
    assert two.recall(context) == []
    assert one.recall(context) == []


def test_a_deletion_by_another_brain_frees_the_place_among_the_best(place, clock):
    one, two = place.open(clock=clock), place.open(clock=clock)
    for i in range(5):
        one.skill_graph.save_skill(skill(f"s{i}", f"bake bread number {i}"))
    first = ids(c.skill for c in two.recall({"task": "bake bread"}, top_k=2))
    for skill_id in first:
        one.skill_graph.delete_skill(skill_id)
    found = ids(c.skill for c in two.recall({"task": "bake bread"}, top_k=2))
    assert len(found) == 2
    assert not set(found) & set(first)


def test_more_deletions_than_are_remembered_are_seen_too(place, clock):
    one, two = place.open(clock=clock), place.open(clock=clock)
    one.learn(**bread())
    one.skill_graph.save_skills([skill(f"s{i}", f"polish brass number {i}") for i in range(40)])
    assert len(two.recall({"task": "polish brass"}, top_k=50)) == 40
    from brain.store.neo4j import skills as neo4j_skills
    from brain.store.sqlite import skills as sqlite_skills

    kept = (neo4j_skills if place.kind == "neo4j" else sqlite_skills).DELETIONS_KEPT
    assert kept >= 100
    for i in range(40):
        one.skill_graph.delete_skill(f"s{i}")
    assert two.recall({"task": "polish brass"}, top_k=50) == []


def test_a_brain_that_is_far_behind_reads_everything_anew(place, clock, monkeypatch):
    from brain.store.neo4j import skills as neo4j_skills
    from brain.store.sqlite import skills as sqlite_skills

    for module in (neo4j_skills, sqlite_skills):
        monkeypatch.setattr(module, "DELETIONS_KEPT", 3)
        monkeypatch.setattr(module, "DELETIONS_SLACK", 0)
    one, two = place.open(clock=clock), place.open(clock=clock)
    one.skill_graph.save_skills([skill(f"s{i}", f"polish brass number {i}") for i in range(10)])
    assert len(two.recall({"task": "polish brass"}, top_k=50)) == 10
    for i in range(8):
        one.skill_graph.delete_skill(f"s{i}")
    assert ids(c.skill for c in two.recall({"task": "polish brass"}, top_k=50)) == ["s8", "s9"]
    one.skill_graph.delete_skill("s8")
    assert ids(c.skill for c in two.recall({"task": "polish brass"}, top_k=50)) == ["s9"]


def test_a_skill_learned_by_another_brain_is_reinforced(place, clock):
    one, two = place.open(clock=clock), place.open(clock=clock)
    steps = ("split the report into parts", "analyze each part", "combine the findings into one overview")
    two.recall({"task": "x"})
    first = one.learn(**execution("split the report, analyze each part and combine the findings", *steps))
    near = two.learn(**execution("split a report, analyze every part and combine the findings", *steps))
    assert near.id == first.id


def test_a_skill_that_was_saved_under_other_rules_is_read_anew(place, clock):
    from tests.contract.raw import raw

    brain = place.open(clock=clock)
    learned = brain.learn(**bread())
    raw(place).forget_profile(learned.id)
    fresh = place.open(clock=clock)
    assert fresh.recall({"task": BREAD, "domain": "kitchen"})[0].skill.id == learned.id
    assert fresh.learn(**bread()).id == learned.id


def test_the_guides_rules_score_the_same_whatever_was_learned_before(place, clock):
    brain = place.open(clock=clock, policy=Policy.guide())
    for i, task in enumerate(["first split it", "route the mail", "draft a poem", "compare two offers"]):
        brain.observe(**execution(task, f"do {task}"), skill_id=f"s{i}")
    brain.observe(**execution("translate all, plan and schedule", success=False, agents=["a"]))
    fresh = place.open(clock=clock, policy=Policy.guide())
    context = {"task": "first split the cake, then draft a plan"}
    expected = {c.skill.id: c.combined_score for c in fresh.recall(context, top_k=9, min_score=0.0)}
    assert {c.skill.id: c.combined_score for c in brain.recall(context, top_k=9, min_score=0.0)} == expected
