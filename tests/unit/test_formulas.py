"""Are the guide's formulas kept to the digit?"""

import hashlib
import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain import ContextFeatures, Policy, Skill
from brain.model import formulas, policy
from brain.model.policy import combined_score

EXACT = {"rel": 0, "abs": 1e-9}
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
unit = st.floats(0, 1)


@pytest.mark.parametrize(
    ("usage", "confidence", "hours"),
    [
        (1, 0.50, 168.0),
        (1, 0.90, 235.2),
        (4, 0.70, 604.8),  # the guide's table says 403 h; its formula gives this
        (8, 0.80, 873.6),  # the guide's table says 655 h; its formula gives this
        (16, 0.90, 1176.0),
        (0, 0.0, 84.0),
        (1, 0.0, 84.0),
        (1, 1.0, 252.0),
        (8, 0.5, 672.0),
        (3, 0.25, 168 * (1 + math.log2(3)) * 0.75),
        (1_000_000, 1.0, 168 * (1 + math.log2(1_000_000)) * 1.5),
    ],
)
def test_lifetime_follows_the_formula(usage, confidence, hours):
    assert formulas.ttl_hours(usage, confidence) == pytest.approx(hours, **EXACT)
    skill = Skill(name="s", usage_count=usage, confidence=confidence)
    assert skill.ttl_hours == pytest.approx(hours, **EXACT)
    skill.renew_ttl(NOW)
    lifetime = datetime.fromisoformat(skill.expires_at) - NOW
    assert abs(lifetime - timedelta(hours=hours)) <= timedelta(microseconds=1)


def test_a_skill_used_eight_times_lives_four_times_as_long():
    assert formulas.ttl_hours(8, 0.3) == pytest.approx(4 * formulas.ttl_hours(1, 0.3), **EXACT)


def test_a_sure_skill_lives_three_times_as_long_as_a_doubtful_one():
    assert formulas.ttl_hours(5, 1.0) == pytest.approx(3 * formulas.ttl_hours(5, 0.0), **EXACT)


@pytest.mark.parametrize("confidence", [0.0, 0.1, 0.5, 0.67, 0.9, 0.999999, 1.0])
def test_confidence_gains_a_twentieth_of_what_is_missing_and_loses_a_tenth(confidence):
    up, down = confidence + 0.05 * (1.0 - confidence), confidence - 0.10 * confidence
    assert formulas.confidence_after(confidence, True) == pytest.approx(up, **EXACT)
    assert formulas.confidence_after(confidence, False) == pytest.approx(down, **EXACT)


@given(unit, st.lists(st.booleans(), max_size=50))
def test_confidence_stays_within_its_range(confidence, uses):
    for success in uses:
        confidence = formulas.confidence_after(confidence, success)
        assert 0 <= confidence <= 1


@pytest.mark.parametrize(
    ("quality", "confidence"), [(0.0, 0.5), (0.25, 0.55), (0.5, 0.6), (0.85, 0.67), (0.9, 0.68), (1.0, 0.7)]
)
def test_a_new_skill_starts_with_the_guides_confidence(quality, confidence):
    assert formulas.initial_confidence(quality) == pytest.approx(confidence, **EXACT)


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_success_rate_is_the_fraction_of_successful_uses(uses):
    skill = Skill(name="s")
    for success in uses:
        skill.record_usage(success, NOW)
    assert skill.success_rate == pytest.approx(sum(uses) / len(uses), abs=1e-9)
    assert skill.usage_count == len(uses)


def test_the_four_weights_are_the_guides_and_sum_to_one():
    weights = (
        policy.STRUCTURAL_WEIGHT,
        policy.SEMANTIC_WEIGHT,
        policy.TRANSFER_WEIGHT,
        policy.CONFIDENCE_WEIGHT,
    )
    assert weights == (0.35, 0.25, 0.25, 0.15)
    assert sum(weights) == pytest.approx(1.0, **EXACT)


@pytest.mark.parametrize(
    ("scores", "combined"),
    [
        ((0.72, 0.65, 0.80, 0.75), 0.727),
        ((1, 0, 0, 0), 0.35),
        ((0, 1, 0, 0), 0.25),
        ((0, 0, 1, 0), 0.25),
        ((0, 0, 0, 1), 0.15),
        ((1, 1, 1, 1), 1.0),
        ((0, 0, 0, 0), 0.0),
    ],
)
def test_the_combined_score_is_the_weighted_sum(scores, combined):
    assert combined_score(*map(float, scores)) == pytest.approx(combined, **EXACT)


@pytest.mark.parametrize(
    ("count", "successes", "score"), [(0, 0, 0.5), (1, 0, 0.0), (1, 1, 1.0), (4, 3, 0.75), (3, 1, 1 / 3)]
)
@pytest.mark.parametrize("rules", [Policy(), Policy.guide()], ids=["default", "guide"])
def test_transfer_scores_the_success_rate_and_a_half_without_history(rules, count, successes, score):
    assert rules.transfer_scores(np.array([count]), np.array([successes])) == pytest.approx([score], **EXACT)


@pytest.mark.parametrize(("count", "successes", "score"), [(0, 0, 0.5), (1, 1, 2 / 3), (1, 0, 1 / 3), (8, 6, 0.7)])
def test_smoothed_transfer_counts_one_success_and_one_failure_more(count, successes, score):
    rules = Policy(transfer="smoothed")
    assert rules.transfer_scores(np.array([count]), np.array([successes])) == pytest.approx([score], **EXACT)


def features(structures="", patterns="", given="unknown", wanted="unknown", goal=""):
    return ContextFeatures(
        task_structures=structures.split(),
        cognitive_patterns=patterns.split(),
        input_shape=given,
        output_shape=wanted,
        abstract_goal=goal,
    )


@pytest.mark.parametrize(
    ("left", "right", "similarity"),
    [
        (features("a b", "p", "list", "text"), features("a b", "p", "list", "text"), 1.0),
        (features("a b", "p", "list", "text"), features("b c", "p q", "list", "list"), 0.35 / 3 + 0.35 / 2 + 0.15),
        (features("a b c", "p q r"), features("c d", "r"), 0.35 / 4 + 0.35 / 3 + 0.3),
        (features("a", "p", "list", "text"), features("b", "q", "structured", "list"), 0.0),
        (features("a", "", "list", "text"), features("a", "", "structured", "list"), 0.35),
        (features("", "", "list", "text"), features("", "", "list", "text"), 0.3),
        (features("a a a b", "p p"), features("b a", "p"), 1.0),
    ],
)
def test_structural_similarity_follows_the_guide(left, right, similarity):
    assert left.similarity_to(right) == pytest.approx(similarity, **EXACT)
    assert right.similarity_to(left) == pytest.approx(similarity, **EXACT)
    skills = [Skill(name="s", source_context=side.to_dict()) for side in (left, right)]
    assert skills[0].similarity_to(skills[1]) == pytest.approx(similarity, **EXACT)


def test_two_unknown_shapes_are_no_evidence_where_the_policy_says_so():
    left, right = features("a", "p", "unknown", "text"), features("a", "p", "unknown", "text")
    assert left.similarity_to(right, unknown_is_evidence=False) == pytest.approx(0.85, **EXACT)


def test_the_fingerprint_is_sha_256_and_ignores_order_and_repetition():
    one = features("b a b", "q p", "list", "text", goal="do it")
    two = features("a b", "p q p", "list", "text", goal="do it")
    assert one.fingerprint() == two.fingerprint()
    assert len(one.fingerprint()) == len(hashlib.sha256().hexdigest())
    assert Skill(name="s", source_context=one.to_dict()).fingerprint() == two.fingerprint()


@pytest.mark.parametrize(
    "other",
    [
        features("a", "p q", "list", "text", "do it"),
        features("a b", "p", "list", "text", "do it"),
        features("a b", "p q", "structured", "text", "do it"),
        features("a b", "p q", "list", "list", "do it"),
        features("a b", "p q", "list", "text", "do that"),
        features("p q", "a b", "list", "text", "do it"),
    ],
)
def test_the_fingerprint_tells_every_feature_apart(other):
    assert features("a b", "p q", "list", "text", "do it").fingerprint() != other.fingerprint()


def test_domain_and_complexity_do_not_touch_the_fingerprint():
    plain = features("a", "p")
    other = plain.model_copy(update={"domain_hints": ["law"], "complexity": 9, "metadata": {"task": "t"}})
    assert plain.fingerprint() == other.fingerprint()
