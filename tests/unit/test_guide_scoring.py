"""Does `Policy.guide()` score as the guide says? Recall against an independent computation, to 1e-9."""

import math

import pytest

from brain import ContextAnalyzer, LearnOutcome, Policy, Skill, SkillStep

EXACT = 1e-9
QUERY = {"domain": "law", "task": "first split the contract, then check each part and merge the notes"}
LESSONS = [
    ("split", "medicine", "first split the chart, then examine each part and combine the findings", 0.9),
    ("route", "support", "check the ticket, classify it, and if it is urgent route it", 0.4),
    ("draft", "press", "write a draft, score it and refine it until it is best", 1.0),
    ("plain", "kitchen", "bake bread", 0.0),
]


class WordVectors:
    """Embeds a text as counts of a few words, with one negative axis, so that cosines below zero come up."""

    name = "word-vectors"
    WORDS = ("split", "then", "check", "write", "analysis", "structures:")

    def encode(self, texts):
        return [[text.lower().count(word) + 0.25 for word in self.WORDS] + [3.0 - len(text) / 40] for text in texts]


def taught(in_memory, **options):
    brain = in_memory(policy=Policy.guide(), **options)
    for skill_id, domain, task, quality in LESSONS:
        steps = [{"action": part.strip()} for part in task.split(",")]
        outcome = {"success": True, "quality": quality}
        brain.observe({"steps": steps}, {"domain": domain, "task": task}, outcome, skill_id, skill_id=skill_id)
    uses = [("split", True), ("split", True), ("split", False), ("route", False), ("draft", True)]
    for skill_id, success in uses:
        brain.feedback(skill_id, {"domain": "law", "task": "t"}, success)
    return brain


def jaccard(left, right):
    left, right = set(left), set(right)
    return len(left & right) / len(left | right) if left | right else 0.0


def cosine(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True)) / (math.hypot(*left) * math.hypot(*right))


def structural(skill, wanted):
    known = skill.source_context
    return (
        0.35 * jaccard(known["task_structures"], wanted.task_structures)
        + 0.35 * jaccard(known["cognitive_patterns"], wanted.cognitive_patterns)
        + 0.15 * (known["input_shape"] == wanted.input_shape)
        + 0.15 * (known["output_shape"] == wanted.output_shape)
    )


def transfer(skill):
    if not skill.transfer_history:
        return 0.5
    return sum(t.success for t in skill.transfer_history) / len(skill.transfer_history)


def by_words(skill, wanted):
    return jaccard(skill.to_embedding_text().lower().split(), wanted.to_embedding_text().lower().split())


def by_vectors(skill, wanted):
    mine, theirs = WordVectors().encode([skill.to_embedding_text(), wanted.to_embedding_text()])
    return (cosine(mine, theirs) + 1) / 2


@pytest.mark.parametrize(
    ("embedder", "semantic", "exact"),
    [(None, by_words, EXACT), (WordVectors(), by_vectors, 1e-6)],  # stored vectors are float32
    ids=["keyword overlap", "embedder"],
)
def test_recall_scores_as_the_guide_says(in_memory, embedder, semantic, exact):
    brain = taught(in_memory, embedder=embedder)
    found = brain.recall(QUERY, top_k=10, min_score=0.0)
    wanted = ContextAnalyzer(policy=Policy.guide()).analyze(QUERY)
    assert {c.skill.id for c in found} == {lesson[0] for lesson in LESSONS}
    for candidate in found:
        skill = candidate.skill
        expected = (structural(skill, wanted), semantic(skill, wanted), transfer(skill), skill.confidence)
        combined = 0.35 * expected[0] + 0.25 * expected[1] + 0.25 * expected[2] + 0.15 * expected[3]
        assert candidate.structural_score == pytest.approx(expected[0], abs=EXACT)
        assert candidate.semantic_score == pytest.approx(expected[1], abs=exact)
        assert candidate.transfer_score == pytest.approx(expected[2], abs=EXACT)
        assert candidate.confidence_score == pytest.approx(expected[3], abs=EXACT)
        assert candidate.combined_score == pytest.approx(combined, abs=exact)
    assert [c.combined_score for c in found] == sorted((c.combined_score for c in found), reverse=True)


def test_one_skill_is_scored_as_in_recall(in_memory):
    brain = taught(in_memory)
    for candidate in brain.recall(QUERY, top_k=10, min_score=0.0):
        alone = brain.transfer_engine.score_skill(candidate.skill.id, QUERY)
        assert alone.combined_score == pytest.approx(candidate.combined_score, abs=EXACT)


def test_an_ignored_failure_leaves_the_scores_as_they_were(in_memory):
    brain, other = taught(in_memory), taught(in_memory)
    failed = brain.observe({"steps": ["paint"]}, {"task": "translate all, plan and schedule"}, {"success": False})
    assert failed.outcome == LearnOutcome.IGNORED
    expected = {c.skill.id: c.semantic_score for c in other.recall(QUERY, top_k=10, min_score=0.0)}
    assert {c.skill.id: c.semantic_score for c in brain.recall(QUERY, top_k=10, min_score=0.0)} == pytest.approx(
        expected
    )


def test_min_score_is_the_least_combined_score_that_is_returned(in_memory):
    brain = taught(in_memory)
    scores = [c.combined_score for c in brain.recall(QUERY, top_k=10, min_score=0.0)]
    for least in scores:
        found = brain.recall(QUERY, top_k=10, min_score=least)
        assert [c.combined_score for c in found] == [score for score in scores if score >= least]


def test_the_guides_tiers_merge_equal_features_and_a_similarity_of_070(in_memory):
    brain = in_memory(policy=Policy.guide())
    first = brain.learn({"steps": ["a"]}, {"task": "first split, then merge"}, {"success": True})
    same = brain.learn({"steps": ["b"]}, {"task": "split it first; merge it next"}, {"success": True})
    assert same.id == first.id
    assert same.usage_count == 2
    other = brain.learn({"steps": ["c"]}, {"task": "classify and route"}, {"success": True})
    assert other.id != first.id


def test_the_analysis_of_the_guide_counts_the_bare_words_of_its_tables():
    found = ContextAnalyzer(policy=Policy.guide()).analyze({"task": "Split the parts, verifying each; a map"})
    assert found.task_structures == ["decomposition", "transformation"]
    assert found.output_shape == "text"


def test_explain_adds_up(in_memory):
    candidate = taught(in_memory).recall(QUERY, min_score=0.0)[0]
    told = candidate.explain()
    assert sum(d["contribution"] for d in told["dimensions"].values()) == pytest.approx(told["combined"], abs=EXACT)
    assert {name: d["weight"] for name, d in told["dimensions"].items()} == {
        "structural": 0.35,
        "semantic": 0.25,
        "transfer": 0.25,
        "confidence": 0.15,
    }


def test_a_skill_saved_by_hand_is_scored_by_its_features(in_memory):
    brain = in_memory(policy=Policy.guide())
    task = {"task": "first split it, then examine each"}
    wanted = ContextAnalyzer(policy=Policy.guide()).analyze(task)
    twin = Skill(id="twin", name="n", procedure=[SkillStep(action="a")], source_context=wanted.to_dict())
    brain.skill_graph.save_skill(twin)
    assert brain.recall(task, min_score=0.0)[0].structural_score == pytest.approx(1.0, abs=EXACT)
