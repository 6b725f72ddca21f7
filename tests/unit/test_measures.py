"""Are the measures what they say, one pair at a time and for all rows at once?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.analysis.columns import Column
from brain.analysis.corpus import Corpus
from brain.analysis.measures import (
    PROCEDURE_SCALE,
    TOPIC_SCALE,
    TOPIC_SCALE_BESIDE_VECTORS,
    VECTOR_SCALE,
    content_similarity,
    procedure_similarity,
    topic_similarity,
)
from brain.analysis.profile import profile_of_context, stored_terms
from brain.analysis.terms import PARTS, key_of
from brain.model.inputs import Context

WORDS = "split the contract then check each part merge not 分析 сравнить 🍞 notes a into if".split()
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=20)


def profile_of(domain, task, steps):
    told = [step for step in steps if step.strip()]
    return profile_of_context(Context(domain=domain, task=task, steps=told))


profiles = st.builds(profile_of, texts, texts, st.lists(texts, max_size=4))
SCALES = [PROCEDURE_SCALE, TOPIC_SCALE, TOPIC_SCALE_BESIDE_VECTORS, VECTOR_SCALE]


@given(st.lists(st.lists(profiles, max_size=4), max_size=5), profiles, st.sets(st.integers(0, 19)))
def test_scores_of_a_corpus_are_those_of_its_pairs(pages, query, removed):
    corpus, rows = Corpus(), []
    for page in pages:
        corpus.add([profile.packed for profile in page])
        rows += page
    removed &= set(range(len(rows)))
    corpus.remove(np.array(sorted(removed), int))
    check_scores(corpus, {i: row for i, row in enumerate(rows) if i not in removed}, query)
    corpus.compact()
    check_scores(corpus, dict(enumerate(row for i, row in enumerate(rows) if i not in removed)), query)
    corpus.add([query.packed])
    check_scores(corpus, {len(rows) - len(removed): query}, query)


def check_scores(corpus, rows, query):
    """Each row scores as the pair does, and no bound is below its score."""
    assert corpus.documents == len(rows) or len(rows) == 1
    every = np.array(list(rows), int)
    procedure, topic = corpus.procedure(query.terms), corpus.topic(query.terms)
    closest = topic.bounds(slice(0, len(corpus)))[every]
    alike, close = procedure.similarities(every), topic.similarities(every)
    one_by_one = [float(corpus.procedure(query.terms).similarities(every[i : i + 1])[0]) for i in range(len(every))]
    assert (closest >= close - 1e-9).all()
    assert alike.tolist() == one_by_one
    rarity = corpus.rarities(query.terms, every.tolist())
    for i, profile in enumerate(rows.values()):
        assert alike[i] == pytest.approx(procedure_similarity(query, profile), abs=1e-9)
        assert close[i] == pytest.approx(topic_similarity(query, profile, rarity), abs=1e-9)
        assert corpus.have_steps[every[i]] == profile.has_steps


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


def test_a_word_that_tells_nothing_is_no_content_word_whatever_its_class():
    for term in profile_of("", "please find out why the pump stopped", []).terms:
        assert (term.use > 0) is (term.count > 0)
        assert term.count == 0 or term.stem in ("find", "pump", "stop")


def test_the_order_of_steps_counts_for_procedures():
    forwards = profile_of("", "", ["open the valve", "measure the flow", "close the lid"])
    backwards = profile_of("", "", ["close the lid", "measure the flow", "open the valve"])
    assert procedure_similarity(forwards, backwards) < 0.8


def test_a_negation_is_content():
    assert content_similarity(profile_of("", "delete it", []), profile_of("", "do not delete it", [])) < 1


@given(profiles)
def test_terms_survive_their_stored_form(profile):
    stored = stored_terms(profile.to_bytes())
    assert stored.records.tolist() == profile.packed.records.tolist()
    assert (stored.has_steps, stored.context) == (profile.has_steps, profile.packed.context)
    expected = [(key_of(t.stem), t.weight, t.position, t.use) for t in profile.terms]
    assert [(k, w / PARTS, p / PARTS, c) for k, w, p, c in stored.records.tolist()] == expected


@given(profiles, st.integers(0, 40))
def test_stored_terms_that_are_cut_short_are_none(profile, missing):
    data = profile.to_bytes()
    assert (stored_terms(data[: len(data) - missing]) is None) == (missing > 0)


@pytest.mark.parametrize("data", [None, b"", b"\x00", b"\x02\x00" + bytes(14), bytes(100)])
def test_terms_that_cannot_be_read_are_none(data):
    assert stored_terms(data) is None


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


@given(st.lists(st.lists(st.integers(-5, 5), max_size=9), max_size=9))
def test_a_column_holds_what_was_added(pages):
    column = Column(np.int64)
    for page in pages:
        column.extend(page)
    assert column.values.tolist() == [value for page in pages for value in page]
