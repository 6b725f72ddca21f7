"""Are the measures what they say, one pair at a time and for all rows at once?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.analysis.corpus import Corpus, Growing
from brain.analysis.measures import (
    PROCEDURE_SCALE,
    TOPIC_SCALE,
    TOPIC_SCALE_BESIDE_VECTORS,
    VECTOR_SCALE,
    content_similarity,
    procedure_similarity,
    topic_similarity,
)
from brain.analysis.profile import Profile, profile_of_context
from brain.model.inputs import Context

WORDS = "split the contract then check each part merge not 分析 сравнить 🍞 notes a into if".split()
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=20)


def profile_of(domain, task, steps):
    told = [step for step in steps if step.strip()]
    return profile_of_context(Context(domain=domain, task=task, steps=told))


profiles = st.builds(profile_of, texts, texts, st.lists(texts, max_size=4))
SCALES = [PROCEDURE_SCALE, TOPIC_SCALE, TOPIC_SCALE_BESIDE_VECTORS, VECTOR_SCALE]


@given(st.lists(profiles, max_size=8), profiles, st.sets(st.integers(0, 7)))
def test_scores_of_a_corpus_are_those_of_its_pairs(rows, query, removed):
    corpus = Corpus()
    for i, profile in enumerate(rows):
        corpus.add(i, profile)
    for i in removed & set(range(len(rows))):
        corpus.remove(i)
    procedures, topics = corpus.procedure_similarities(query), corpus.topic_similarities(query)
    for i, profile in enumerate(rows):
        if i not in removed:
            assert procedures[i] == pytest.approx(procedure_similarity(query, profile), abs=1e-9)
            assert topics[i] == pytest.approx(topic_similarity(query, profile, corpus.rarity), abs=1e-9)
            assert corpus.have_steps[i] == profile.has_steps
    assert len(corpus) == len(rows) - len(removed & set(range(len(rows))))


@given(profiles, profiles)
def test_measures_are_within_zero_and_one_and_symmetric(left, right):
    for measure in (procedure_similarity, content_similarity, lambda a, b: topic_similarity(a, b, lambda stem: 1.5)):
        value = measure(left, right)
        assert -1e-9 <= value <= 1 + 1e-9
        assert value == pytest.approx(measure(right, left), abs=1e-9)


@given(profiles)
def test_a_text_is_fully_like_itself_if_it_says_anything(profile):
    expected = 1.0 if profile.terms else 0.0
    assert procedure_similarity(profile, profile) == pytest.approx(expected)


def test_the_order_of_steps_counts_for_procedures():
    forwards = profile_of("", "", ["open the valve", "measure the flow", "close the lid"])
    backwards = profile_of("", "", ["close the lid", "measure the flow", "open the valve"])
    assert procedure_similarity(forwards, backwards) < 0.8


def test_a_negation_is_content():
    assert content_similarity(profile_of("", "delete it", []), profile_of("", "do not delete it", [])) < 1


@given(profiles)
def test_a_profile_survives_its_text_form(profile):
    again = Profile.from_json(profile.to_json())
    assert again == profile


@pytest.mark.parametrize("text", [None, "", "null", "[]", "{}", "{", '{"v": 0}', '{"v": 1, "terms": 5}', "7", '"x"'])
def test_a_profile_that_cannot_be_read_is_none(text):
    assert Profile.from_json(text) is None


@pytest.mark.parametrize("scale", SCALES)
@given(raws=st.lists(st.floats(-1, 1.0000001), min_size=2, max_size=20))
def test_a_scale_is_monotone_within_zero_and_one(scale, raws):
    raws.sort()
    values = scale(np.array(raws))
    assert ((values >= 0) & (values <= 1)).all()
    assert (np.diff(values) >= -1e-12).all()


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_has_its_ends_and_no_step(scale):
    raws = np.array([scale.low, scale.high - 1e-12, scale.high, 1.0])
    assert scale(raws) == pytest.approx([0.0, 0.9, 0.9, 1.0])


@given(st.lists(st.integers(-5, 5), max_size=40))
def test_a_growing_array_holds_what_was_appended(values):
    growing = Growing(np.int64)
    for value in values:
        growing.append(value)
    assert growing.values.tolist() == values
    assert len(growing) == len(values)
