"""Do vectors of any embedder find, fit and never spoil the answers, on every store?"""

import math

import numpy as np
import pytest

from brain import LearnOutcome, Policy
from brain.engine.embedding import Embedding
from brain.errors import EmbeddingError, InputError
from tests.contract.raw import raw
from tests.contract.samples import BREAD, audit, bread, execution, ids, skill


class Hashed:
    """A small deterministic embedder: counts of letters, in a given dimension."""

    def __init__(self, dimension=8, name="hashed", seed=0):
        self.dimension, self.name, self.seed, self.texts = dimension, name, seed, []

    def encode(self, texts):
        self.texts += texts
        vectors = np.zeros((len(texts), self.dimension))
        for i, text in enumerate(texts):
            for character in text.lower():
                vectors[i, (ord(character) * (self.seed * 2 + 1) + self.seed) % self.dimension] += 1
        return vectors


class Answering:
    """Answers the same thing for every text."""

    name = "answering"

    def __init__(self, answer):
        self.answer = answer

    def encode(self, texts):
        return self.answer(texts) if callable(self.answer) else [self.answer for _ in texts]


def test_text_is_embedded_once_at_learning_and_once_a_recall(place, clock):
    embedder = Hashed()
    brain = place.open(clock=clock, embedder=embedder)
    brain.learn(**audit())
    embedder.texts.clear()
    learned = brain.learn(**bread())
    assert len(embedder.texts) == 1
    assert BREAD in embedder.texts[0]
    embedder.texts.clear()
    assert brain.recall({"task": BREAD})[0].skill.id == learned.id
    assert len(embedder.texts) == 1
    brain.feedback(learned.id, {}, True)
    assert len(embedder.texts) == 1


def test_what_is_alike_in_meaning_alone_is_found(place, clock):
    class Synonyms:
        name = "synonyms"

        def encode(self, texts):
            return [[1.0, 0.0] if "loaf" in text or "bread" in text else [0.0, 1.0] for text in texts]

    brain = place.open(clock=clock, embedder=Synonyms())
    brain.observe(**bread(), skill_id="bread")
    brain.observe(**audit(), skill_id="audit")
    assert ids(c.skill for c in brain.recall({"task": "produce one loaf"})) == ["bread"]
    without = place.open(clock=clock)
    assert without.recall({"task": "produce one loaf"}) == []


def test_vectors_are_kept_between_openings(place, clock):
    place.open(clock=clock, embedder=Hashed()).learn(**bread())
    embedder = Hashed()
    again = place.open(clock=clock, embedder=embedder)
    embedder.texts.clear()
    assert len(again.recall({"task": BREAD})) == 1
    assert len(embedder.texts) == 1


@pytest.mark.parametrize(("first", "second"), [(384, 768), (768, 384)])
def test_another_dimension_is_told_at_open_with_both_sizes(place, clock, first, second):
    place.open(clock=clock, embedder=Hashed(first)).learn(**bread())
    with pytest.raises(EmbeddingError) as caught:
        place.open(clock=clock, embedder=Hashed(second))
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)
    assert "reembed" in str(caught.value)
    assert len(place.open(clock=clock, embedder=Hashed(first)).recall({"task": BREAD})) == 1


def test_another_model_of_the_same_dimension_is_told_at_open(place, clock):
    place.open(clock=clock, embedder=Hashed(8, "one")).learn(**bread())
    with pytest.raises(EmbeddingError, match=r"one.*two"):
        place.open(clock=clock, embedder=Hashed(8, "two", seed=3))


def test_another_kind_of_embedded_text_is_told_at_open(place, clock):
    place.open(clock=clock, embedder=Hashed()).learn(**bread())
    with pytest.raises(EmbeddingError):
        place.open(clock=clock, embedder=Hashed(), policy=Policy.guide())


def test_a_brain_that_was_open_before_the_first_vector_notices_another_model(place, clock):
    late = place.open(clock=clock, embedder=Hashed(16))
    place.open(clock=clock, embedder=Hashed(8)).learn(**bread())
    with pytest.raises(EmbeddingError):
        late.learn(**audit())
    assert len(place.open(clock=clock).get_skills()) == 1


def test_a_store_without_vectors_takes_any_embedder(place, clock):
    place.open(clock=clock).learn(**bread())
    brain = place.open(clock=clock, embedder=Hashed())
    assert len(brain.recall({"task": BREAD})) == 1
    brain.learn(**audit())
    assert brain.recall({"task": BREAD})[0].skill.task == BREAD


def test_a_store_with_vectors_opens_without_an_embedder(place, clock):
    place.open(clock=clock, embedder=Hashed()).learn(**bread())
    brain = place.open(clock=clock)
    assert len(brain.recall({"task": BREAD})) == 1
    brain.learn(**audit())
    assert len(place.open(clock=clock, embedder=Hashed()).recall({"task": BREAD})) == 1


def test_nothing_learned_leaves_the_store_open_to_any_model(place, clock):
    brain = place.open(clock=clock, embedder=Hashed(8))
    assert brain.observe(**bread(success=False)).outcome == LearnOutcome.IGNORED
    with pytest.raises(InputError):
        brain.learn({"steps": [""]}, {"task": "t"}, {"success": True})
    place.open(clock=clock, embedder=Hashed(16)).learn(**bread())


def test_reembedding_replaces_every_vector(place, clock):
    old = place.open(clock=clock, embedder=Hashed(8))
    old.skill_graph.save_skills([skill(f"s{i}", f"polish brass number {i}") for i in range(150)])
    new = place.open(clock=clock)
    new._memory.embedding = Embedding(Hashed(16, "new"), "procedure")
    told = []
    assert new.reembed(told.append) == 150
    assert sum(told) == 150
    assert len(told) > 1
    with pytest.raises(EmbeddingError):
        place.open(clock=clock, embedder=Hashed(8))
    fresh = place.open(clock=clock, embedder=Hashed(16, "new"))
    assert len(fresh.recall({"task": "polish brass"}, top_k=200)) == 150
    assert len(new.recall({"task": "polish brass"}, top_k=200)) == 150


def test_reembedding_needs_an_embedder(place, clock):
    with pytest.raises(InputError, match="embedder"):
        place.open(clock=clock).reembed()


def test_a_zero_vector_is_no_evidence_and_no_nan(place, clock):
    brain = place.open(clock=clock, embedder=Answering([0.0] * 4))
    brain.observe(**bread(), skill_id="bread")
    brain.observe(**audit(), skill_id="audit")
    for min_score in (0.0, 0.3):
        found = brain.recall({"task": BREAD}, min_score=min_score)
        assert ids(c.skill for c in found) == ["bread"]
        assert all(math.isfinite(c.combined_score) for c in found)
    assert brain.recall({"task": "paint the fence"}, min_score=0.0) == []


def test_one_stored_vector_of_zeros_is_no_evidence(place, clock):
    brain = place.open(clock=clock, embedder=Hashed(4))
    brain.observe(**bread(), skill_id="bread")
    brain.observe(**audit(), skill_id="audit")
    raw(place).damage_vector("audit", np.zeros(4, np.float32).tobytes())
    fresh = place.open(clock=clock, embedder=Hashed(4))
    found = fresh.recall({"task": BREAD, "domain": "kitchen"}, min_score=0.0)
    assert found[0].skill.id == "bread"
    for c in found:
        assert all(math.isfinite(s) for s in (c.semantic_score, c.combined_score))


@pytest.mark.parametrize(
    "answer",
    [
        [math.nan] * 4,
        [1.0, math.inf, 0.0, 0.0],
        [],
        1.0,
        "vector",
        None,
        lambda texts: [],
        lambda texts: [[1.0, 2.0]] * (len(texts) + 1),
        lambda texts: [[[1.0]]] * len(texts),
        lambda texts: 1 / 0,
    ],
    ids=["nan", "infinite", "empty", "scalar", "text", "none", "no vectors", "too many", "too deep", "raises"],
)
def test_an_unusable_answer_is_an_error_and_nothing_is_written(place, clock, answer):
    plain = place.open(clock=clock)
    counts = raw(place).counts()
    with pytest.raises(EmbeddingError):
        brain = place.open(clock=clock, embedder=Answering(answer))
        brain.learn(**bread())
    assert plain.get_skills() == []
    assert raw(place).counts() == counts


def test_an_embedder_that_fails_at_recall_is_an_error(place, clock):
    embedder = Hashed()
    brain = place.open(clock=clock, embedder=embedder)
    brain.learn(**bread())
    embedder.encode = lambda texts: [[math.nan] * 8 for _ in texts]
    with pytest.raises(EmbeddingError):
        brain.recall({"task": BREAD})


@pytest.mark.parametrize("embedder", [5, object(), ["model"], lambda texts: [[1.0]]])
def test_what_cannot_embed_is_refused(place, embedder):
    with pytest.raises(InputError, match="embedder"):
        place.open(embedder=embedder)


@pytest.mark.parametrize("name", ["", "text", "🍞"])
def test_empty_and_odd_texts_are_embedded_too(place, clock, name):
    brain = place.open(clock=clock, embedder=Hashed())
    learned = brain.learn({"steps": [name or "x"]}, {"task": name, "domain": name}, {"success": True})
    found = brain.recall({"task": name, "domain": name, "steps": [name or "x"]})
    assert ids(c.skill for c in found) == [learned.id]


def test_an_unrelated_task_finds_nothing_with_vectors_either(place, clock):
    class Axes:
        name = "axes"

        def encode(self, texts):
            return [[1.0, 0.05] if "bread" in text else [0.05, 1.0] for text in texts]

    brain = place.open(clock=clock, embedder=Axes())
    brain.learn(**audit())
    assert brain.recall({"task": BREAD}) == []


def test_a_skill_changed_by_a_brain_without_embedder_loses_its_old_vector(place, clock):
    with_vectors = place.open(clock=clock, embedder=Hashed())
    with_vectors.skill_graph.save_skill(skill("s", BREAD))
    place.open(clock=clock).skill_graph.save_skill(skill("s", "zzz xxx qqq"))
    found = with_vectors.recall({"task": BREAD, "domain": "kitchen"}, min_score=0.0)
    assert found == []


def test_guide_scores_map_the_cosine_to_zero_and_one(place, clock):
    class Signs:
        name = "signs"

        def encode(self, texts):
            return [[1.0, 0.0] if "split" in text.lower() or "decomposition" in text else [-1.0, 0.0] for text in texts]

    brain = place.open(clock=clock, policy=Policy.guide(), embedder=Signs())
    brain.observe(**execution("split it", "split it"), skill_id="same")
    brain.observe(**execution("route it", "route it"), skill_id="opposite")
    found = {c.skill.id: c.semantic_score for c in brain.recall({"task": "split the cake"}, min_score=0.0)}
    assert found == pytest.approx({"same": 1.0, "opposite": 0.0}, abs=1e-6)
