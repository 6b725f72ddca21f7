"""Can the benchmarks be believed? The scan that answers are compared with, the file's parts, the limits, the plots."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from brain import Policy, SyncBrain
from tests.bench.exhaustive import Exhaustive
from tests.bench.limits import LIMITS, Figures
from tests.bench.parts import QUALITY, SPEED, replace_part
from tests.bench.plot import Line, plot
from tests.bench.skills import Source, WordEmbedder
from tests.bench.timing import in_turns, side_by_side


@pytest.fixture(scope="module")
def brain():
    with SyncBrain.open("sqlite://:memory:", embedder=WordEmbedder()) as brain:
        brain.skill_graph.save_skills(list(Source(3).skills(400)))
        yield brain


@pytest.mark.parametrize("make", ["task", "plan"])
def test_the_scan_scores_as_one_skill_at_a_time_is_scored(brain, make):
    """`score_skill` looks at one skill by itself; the scan must say the same of each that it finds."""
    entries = [entry for page in brain._store.entries(100, vectors=True) for entry in page]
    every, source = Exhaustive(entries, Policy()), Source(8)
    for _ in range(5):
        context = getattr(source, make)()
        query = brain.transfer_engine._request(context, 5, 0.0).query
        found = every.answer(query, 5, 0.0)
        assert [one.id for one in found] == [c.skill.id for c in brain.recall(context, 5, 0.0)]
        assert {every.ids[row] for row in every.scan(query)} == {one.id for one in found}
        for one in found:
            scored = brain.transfer_engine.score_skill(one.id, context)
            assert (one.combined, one.semantic) == pytest.approx((scored.combined_score, scored.semantic_score))


def test_the_scan_tells_a_wrong_answer(brain):
    entries = [entry for page in brain._store.entries(100, vectors=True) for entry in page]
    context = Source(9).plan()
    query = brain.transfer_engine._request(context, 5, 0.3).query
    best = Exhaustive(entries, Policy()).answer(query, 5, 0.0)
    without = Exhaustive([entry for entry in entries if entry.id != best[0].id], Policy()).answer(query, 5, 0.0)
    assert [one.id for one in without] != [one.id for one in best]


def test_each_command_replaces_its_own_part_only(tmp_path):
    path = tmp_path / "figures.md"
    replace_part(QUALITY, f"{QUALITY}\n\nold\n\n## Section\n", path)
    replace_part(SPEED, f"{SPEED}\n\nfast\n", path)
    assert path.read_text() == f"{SPEED}\n\nfast\n\n{QUALITY}\n\nold\n\n## Section\n"
    replace_part(QUALITY, f"{QUALITY}\n\nnew\n", path)
    assert path.read_text() == f"{SPEED}\n\nfast\n\n{QUALITY}\n\nnew\n"


def test_a_limit_is_met_up_to_its_bound():
    limit = next(limit for limit in LIMITS if limit.name == "feedback, p50")
    for p50, met in ((6.0, True), (6.1, False)):
        times = {"write, feedback": {"p50": p50}, "write, floor": {"p50": 1.0}}
        row = limit.row(Figures("neo4j", 10_000, times, {}))
        assert (row[-1] == "met") is met
    limit = next(limit for limit in LIMITS if limit.name == "import of whole skills")
    for rate, met in ((50.0, True), (49.0, False)):
        times = {"import, a skill: store": {"rate": rate}, "import, a skill: plain": {"rate": 100.0}}
        row = limit.row(Figures("sqlite", 10_000, times, {}))
        assert (row[-1] == "met") is met


def test_calls_are_timed_in_turns_and_side_by_side():
    order = []
    found = in_turns({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 4, seldom={"b": 2})
    assert (len(found["a"]), len(found["b"])) == (4, 2)
    assert order[:3] == ["a", "b", "a"]
    calls = []
    times = side_by_side([calls.append] * 3, 5)
    assert sorted(calls) == sorted(list(range(5)) * 3) and len(times) == 15 and times.wall > 0
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda i: 1 / i], 1)


def test_a_plot_is_a_picture_with_every_line():
    picture = plot("t < u", "skills", "ms", [Line("a", [(1_000, 0.5), (100_000, 20)]), Line("b & c", [(1_000, 3)])])
    texts = [element.text for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert {"t < u", "a", "b & c", "1,000", "100,000"} <= set(texts)


def test_made_up_skills_are_the_same_for_one_seed():
    first, second = (list(Source(5).skills(3)) for _ in range(2))
    assert [s.to_dict() | {"created_at": 0, "updated_at": 0} for s in first] == [
        s.to_dict() | {"created_at": 0, "updated_at": 0} for s in second
    ]
    vectors = WordEmbedder().encode(["compare the files", "compare the lists", "boil eggs"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1) and vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


def test_every_part_but_the_longest_runs(tmp_path):
    """`import` and `watch` take ten seconds at any size."""
    options = ["--sizes", "200", "--stores", "sqlite", "--parts", "recall,first,walk,write,sweep", "--quick"]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.bench", *options, "--no-write", "--output", tmp_path / "figures.json"],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    assert "limits are met" in ran.stdout and (tmp_path / "figures.json").stat().st_size
