"""Does an explanation add up, and is it what a person understands?"""

import json

import pytest

from brain import Policy, Skill, SkillStep
from brain.analysis.explanation import confidence_interval, match_steps
from brain.analysis.measures import VECTOR_SHARE
from brain.errors import InputError, SkillNotFoundError

AUDIT = {
    "execution_trace": {
        "steps": ["collect the role bindings", "compare each binding with the policy", "report what is open"]
    },
    "context": {"domain": "security", "task": "audit kubernetes roles", "output_format": "list"},
    "outcome": {"success": True, "quality": 0.9},
}
LOAF = {
    "execution_trace": {"steps": ["list the ingredients", "weigh each ingredient", "bake the loaf"]},
    "context": {"domain": "baking", "task": "bake a sourdough loaf"},
    "outcome": {"success": True, "quality": 0.8},
}
INVOICES = {
    "task": "check the invoices of each supplier",
    "steps": ["gather the invoices", "compare each invoice with the contract", "pay the ones that agree"],
    "output_format": "json",
}


class Letters:
    """An embedder by which two texts are alike if their letters are."""

    name = "letters"

    def encode(self, texts):
        return [[text.lower().count(chr(code)) + 0.01 for code in range(97, 123)] for text in texts]


@pytest.fixture
def taught(in_memory):
    def teach(**options):
        brain = in_memory(**options)
        for name, execution in (("audit", AUDIT), ("loaf", LOAF)):
            brain.observe(**execution, skill_id=name)
        return brain

    return teach


def explained(brain, context, **options):
    return {c.skill.id: c.explain() for c in brain.recall(context, min_score=0.0, **options)}


def by_name(parts):
    return {part["measure"]: part for part in parts}


# The sum, and the measures behind the semantic score


def test_the_contributions_add_up_and_everything_is_plain_json(taught):
    for told in explained(taught(policy=Policy(floor=0.0)), INVOICES).values():
        assert sum(part["contribution"] for part in told["dimensions"].values()) == pytest.approx(told["combined"])
        assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_two_plans_are_compared_as_procedures_and_a_bare_request_as_a_topic(taught):
    brain = taught()
    told = explained(brain, INVOICES)["audit"]
    assert told["measure"] == "procedure"
    assert by_name(told["measures"])["procedure"]["calibrated"] == pytest.approx(
        told["dimensions"]["semantic"]["raw"], abs=1e-3
    )
    assert explained(brain, {"task": "audit roles"})["audit"]["measure"] == "topic"


def test_with_vectors_topic_and_vector_make_the_score_together(taught):
    told = explained(taught(embedder=Letters()), {"task": "audit the roles of users"})["audit"]
    parts = by_name(told["measures"])
    assert set(parts) == {"topic", "vector"}
    mean = (1 - VECTOR_SHARE) * parts["topic"]["calibrated"] + VECTOR_SHARE * parts["vector"]["calibrated"]
    assert mean == pytest.approx(told["dimensions"]["semantic"]["raw"], abs=1e-3)
    mine, other = (
        Letters().encode([text])[0]
        for text in (
            "audit the roles of users",
            "\n".join([AUDIT["context"]["task"], *AUDIT["execution_trace"]["steps"]]),
        )
    )
    norms = (sum(x * x for x in mine) * sum(x * x for x in other)) ** 0.5
    assert parts["vector"]["raw"] == pytest.approx(sum(map(lambda a, b: a * b, mine, other)) / norms, abs=2e-3)


def test_under_the_guide_the_measure_is_the_guides(in_memory):
    brain = in_memory(policy=Policy.guide())
    brain.learn(**AUDIT)
    (told,) = explained(brain, {"task": "audit roles"}).values()
    assert told["measure"] == "keywords"
    assert told["measures"][0]["raw"] == pytest.approx(told["dimensions"]["semantic"]["raw"], abs=1e-4)


@pytest.mark.parametrize("context", [INVOICES, {"task": "auditing of roles, bindings and policies"}])
def test_matched_words_are_those_of_the_task_and_their_shares_add_up(taught, context):
    words = explained(taught(), context)["audit"]["words"]
    text = " ".join([context["task"], *context.get("steps", [])])
    assert words
    assert all(word["word"] in text.replace(",", "").split() for word in words)
    assert sum(word["share"] for word in words) == pytest.approx(1.0, abs=1e-3)
    assert [w["share"] for w in words] == sorted((w["share"] for w in words), reverse=True)


def test_too_few_names_are_told_beside_the_names_that_both_have(taught):
    told = explained(taught(), {"task": "audit the roles"})["audit"]
    assert told["names"]["needed"] == {"shared": 2, "on_one_side": 3}
    assert told["names"].keys() == {"task", "skill", "shared", "needed"}
    assert told["dimensions"]["structural"]["raw"] == 0.0


# Steps


def test_the_best_pairs_of_steps_come_first_with_their_shares(taught):
    steps = explained(taught(), INVOICES)["audit"]["steps"]
    assert (steps[0]["step"], steps[0]["skill_step"]) == (INVOICES["steps"][1], AUDIT["execution_trace"]["steps"][1])
    assert (steps[0]["order"], steps[0]["skill_order"]) == (1, 1)
    assert sum(pair["share"] for pair in steps) == pytest.approx(1.0, abs=1e-3)
    assert [pair["similarity"] for pair in steps] == sorted((pair["similarity"] for pair in steps), reverse=True)


def test_without_a_plan_no_steps_are_paired_and_none_is_missing(taught):
    candidate = taught().recall({"task": "audit roles"})[0]
    assert candidate.explain()["steps"] == []
    assert not {"add_steps", "may_be_left_out"} & candidate.adaptations.keys()


def steps_of(*texts):
    return [SkillStep(action=text, order=i) for i, text in enumerate(texts)]


def test_a_step_has_one_counterpart_at_most():
    found = match_steps(steps_of("weigh the flour", "weigh the salt"), steps_of("weigh the sugar"))
    assert len(found.pairs) == 1
    assert len(found.only_in_task) == 1
    assert found.only_in_skill == []


def test_a_skill_without_steps_lacks_every_planned_one():
    found = match_steps(steps_of("weigh the flour", "bake it"), [])
    assert [step.action for step in found.only_in_task] == ["weigh the flour", "bake it"]


def test_equal_steps_are_equal_whatever_their_order():
    texts = ["weigh the flour", "knead the dough", "bake the loaf"]
    found = match_steps(steps_of(*texts), steps_of(*reversed(texts)))
    assert sorted((mine.action, theirs.action) for mine, theirs, _ in found.pairs) == sorted(
        zip(texts, texts, strict=True)
    )
    assert {similarity for *_, similarity in found.pairs} == {1.0}


# Adaptations and the sentence


def test_adaptations_name_the_steps_and_shapes_that_differ(taught):
    found = {c.skill.id: c for c in taught().recall(INVOICES, min_score=0.0)}["audit"].adaptations
    assert found["add_steps"] == ["pay the ones that agree"]
    assert found["may_be_left_out"] == ["report what is open"]
    assert found["output_adaptation"] == {"from": "list", "to": "structured"}


def test_the_same_task_with_its_own_steps_needs_no_adaptation(taught):
    context = AUDIT["context"] | {"steps": AUDIT["execution_trace"]["steps"]}
    assert taught().recall(context)[0].adaptations == {}


def test_one_shared_word_claims_little(taught):
    brain = taught()
    (found,) = brain.recall({"task": "bake a cake"}, min_score=0.0)
    assert found.semantic_score > 0.5
    assert "a loosely similar thing (both speak of bake)" in found.reasoning


def test_the_reason_is_one_sentence_of_words_as_they_stand_in_the_task(taught):
    brain = taught()
    sentence = brain.recall(INVOICES, min_score=0.0)[0].reasoning
    assert "“compare each binding with the policy” answers to “compare each invoice with the contract”" in sentence
    sentence = brain.recall({"task": "auditing the roles"}, min_score=0.0)[0].reasoning
    assert "roles" in sentence
    assert "□" not in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_the_reason_tells_an_identical_task_and_its_history(taught):
    brain = taught()
    brain.feedback("audit", {"task": "t"}, True)
    brain.feedback("audit", {"task": "t"}, False)
    sentence = brain.recall(AUDIT["context"])[0].reasoning
    assert sentence.endswith("was learned from this very task and has worked in 1 of 2 transfers.")


# Transfers, margins, rank


@pytest.mark.parametrize(
    ("successes", "count", "interval"),
    [
        (0, 0, None),
        (1, 1, [0.2065, 1.0]),
        (0, 1, [0.0, 0.7935]),
        (95, 100, [0.8882, 0.9785]),
        (5, 10, [0.2366, 0.7634]),
    ],
)
def test_the_interval_of_a_rate_is_wilsons(successes, count, interval):
    assert confidence_interval(successes, count) == (interval and pytest.approx(interval, abs=1e-4))


def test_transfers_are_told_with_their_interval(taught):
    brain = taught()
    assert explained(brain, AUDIT["context"])["audit"]["transfers"] == {"successes": 0, "count": 0, "interval": None}
    brain.feedback("audit", {"task": "t"}, True)
    told = explained(brain, AUDIT["context"])["audit"]["transfers"]
    assert (told["successes"], told["count"], told["interval"]) == (1, 1, [0.2065, 1.0])


def test_the_first_trails_nothing_and_the_second_is_told_what_it_lacks(taught):
    first, second = explained(taught(policy=Policy(floor=0.0)), INVOICES).values()
    assert (first["rank"], second["rank"]) == (1, 2)
    assert first["to_be_first"] is None
    lack = second["to_be_first"]
    assert lack["first"] == first["skill_id"]
    assert lack["trails_by"] == pytest.approx(first["combined"] - second["combined"], abs=1e-6)
    part = second["dimensions"][lack["dimension"]]
    raised = second["combined"] + (lack["value"] - part["raw"]) * part["weight"]
    assert raised == pytest.approx(first["combined"], abs=1e-5)


def test_margins_are_negative_below(taught):
    told = taught().transfer_engine.score_skill("loaf", {"task": "audit the roles"}).explain()
    assert told["margin_to_min_score"] == pytest.approx(told["combined"] - 0.3, abs=1e-6)
    assert told["margin_to_floor"] == pytest.approx(-0.1)
    assert told["rank"] is None


# Why


def test_why_agrees_with_recall_on_every_skill(in_memory):
    brain = in_memory()
    for i in range(8):
        brain.skill_graph.save_skill(
            Skill(id=f"s{i}", name=f"bake loaf {i}", procedure=[SkillStep(action="bake " * (i + 1))])
        )
    brain.observe(**AUDIT, skill_id="audit")
    for top_k, min_score in ((1, 0.0), (3, 0.3), (20, 0.0), (20, 0.9)):
        context = {"task": "bake a loaf in the oven"}
        returned = {c.skill.id: c for c in brain.recall(context, top_k, min_score)}
        for skill in brain.get_skills():
            verdict = brain.why(skill.id, context, top_k, min_score)
            assert verdict.returned == (skill.id in returned)
            if verdict.returned:
                assert verdict.candidate == returned[skill.id]
            json.dumps(verdict.explain(), allow_nan=False)


def test_why_names_the_floor_and_min_score_and_how_far_below(taught):
    verdict = taught().why("loaf", {"task": "audit the roles"})
    assert not verdict.returned
    for part in ("below min_score 0.3", "0.100 below the floor of 0.1", "'Bake a sourdough loaf' is not returned"):
        assert part in verdict.reason
    assert "floor" not in taught().why("audit", {"task": "audit the roles"}, min_score=1.0).reason


def test_below_the_floor_only_meaning_can_help(taught):
    brain = taught()
    for _ in range(50):
        brain.feedback("loaf", {"task": "t"}, True)
    lack = brain.why("loaf", {"task": "audit the roles"}).explain()["to_be_first"]
    assert lack["dimension"] == "semantic"
    assert lack["value"] >= 0.1


def test_why_names_the_skills_that_outrank_one(taught):
    brain = taught(policy=Policy(floor=0.0))
    verdict = brain.why("loaf", {"task": "audit the roles"}, top_k=1, min_score=0.0)
    assert not verdict.returned
    assert [skill["id"] for skill in verdict.outranked_by] == ["audit"]
    assert "it has place 2 and this skill fits better: 'Audit kubernetes roles'" in verdict.reason


def test_why_a_lone_skill_below_min_score_is_measured_against_min_score(in_memory):
    brain = in_memory()
    brain.observe(**LOAF, skill_id="loaf")
    lack = brain.why("loaf", {"task": "audit the roles"}).explain()["to_be_first"]
    assert lack["first"] is None
    assert lack["trails_by"] == pytest.approx(0.3 - (0.25 * 0.5 + 0.15 * 0.66), abs=1e-6)


def test_why_refuses_an_unknown_skill_and_wrong_numbers(taught):
    brain = taught()
    with pytest.raises(SkillNotFoundError):
        brain.why("nobody", {"task": "t"})
    with pytest.raises(InputError):
        brain.why("loaf", {"task": "t"}, top_k=0)
    with pytest.raises(InputError):
        brain.why("loaf", {})


# Preview


def test_preview_is_the_skill_that_learn_would_create_and_stores_nothing(in_memory):
    brain = in_memory()
    shown = brain.preview(**AUDIT, skill_name="Audit")
    assert brain.get_skills() == []
    learned = brain.learn(**AUDIT, skill_name="Audit")
    assert shown.to_dict() | {"id": learned.id} == learned.to_dict()


def test_preview_refuses_what_learn_refuses(in_memory):
    with pytest.raises(InputError):
        in_memory().preview({"steps": []}, {"task": ""}, {"success": True})
    with pytest.raises(InputError):
        in_memory().preview({"steps": [""]}, {"task": "t"}, {"success": True})
