"""Does learning merge the same procedure told in other words, and nothing else? A labelled set of pairs.

Each line of duplicates.jsonl is a pair of executions with its label ("same" or "different"), its kind, its language and
its part: constants are chosen on "dev" alone, "check" shows whether they hold. The pairs were written before any score
was seen, and are not changed to suit the code.
"""

import json
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from brain import LearnOutcome, SyncBrain

PAIRS = [json.loads(line) for line in Path(__file__).with_name("duplicates.jsonl").read_text("utf-8").splitlines()]
SUCCESS = {"success": True, "quality": 0.9}
LEAST_RECALL = 0.8


def merges(first, second):
    """Whether a fresh brain that has learned `first` takes `second` for the same skill."""
    with SyncBrain.open("sqlite://:memory:") as brain:
        for run in (first, second):
            context = {"task": run["task"], "domain": run["domain"]}
            receipt = brain.observe({"steps": [{"action": step} for step in run["steps"]]}, context, SUCCESS)
    return receipt.outcome == "reinforced"


@pytest.fixture(scope="module")
def judged():
    """Every pair, with whether it is merged."""
    return [(pair, merges(pair["first"], pair["second"])) for pair in PAIRS]


def figures(judged):
    """How many pairs of each kind are merged, on each part and overall, as a table."""
    counts = defaultdict(Counter)
    for pair, merged in judged:
        for part in (pair["part"], "all"):
            counts[pair["label"], pair["kind"]][part, merged] += 1
            counts[pair["label"], "(every kind)"][part, merged] += 1
    rows = [f"{'merged of all':24}" + "".join(f"{part:>12}" for part in ("dev", "check", "all"))]
    for (label, kind), count in sorted(counts.items(), reverse=True):
        cells = (f"{count[part, True]}/{count[part, True] + count[part, False]}" for part in ("dev", "check", "all"))
        rows.append(f"{label + ' ' + kind:24}" + "".join(f"{cell:>12}" for cell in cells))
    return "\n".join(rows)


def told(pair):
    sides = (" / ".join([side["task"], *side["steps"]]) for side in (pair["first"], pair["second"]))
    return f"[{pair['kind']}, {pair['language']}] " + "\n    ".join(sides)


def test_the_set_is_as_large_as_the_demand():
    labels = Counter(pair["label"] for pair in PAIRS)
    assert labels["same"] >= 60
    assert labels["different"] >= 200
    assert {pair["part"] for pair in PAIRS} == {"dev", "check"}
    assert len({json.dumps([pair["first"], pair["second"]]) for pair in PAIRS}) == len(PAIRS)


def test_no_two_different_procedures_are_merged(judged):
    wrong = [told(pair) for pair, merged in judged if merged and pair["label"] == "different"]
    assert not wrong, "\n".join([figures(judged), *wrong])


def test_a_procedure_on_other_things_of_its_domain_is_another_skill():
    """Sixteen procedures on two kinds of things in each of sixteen domains."""
    words = tomllib.loads((Path(__file__).parents[2] / "examples" / "sample_words.toml").read_text("utf-8"))
    runs = [
        {
            "execution_trace": {"steps": [step.format(x=thing, **names) for step in procedure["steps"]]},
            "context": {"domain": domain, "task": procedure["task"].format(x=thing, **names)},
            "outcome": SUCCESS,
        }
        for procedure in words["procedures"].values()
        for domain, names in words["domains"].items()
        for thing in names[procedure["on"]]
    ]
    with SyncBrain.open("sqlite://:memory:") as brain:
        report = brain.learn_many(runs)
    assert (report.outcomes[LearnOutcome.CREATED], report.refused) == (len(runs), [])


def test_the_same_procedure_in_other_words_is_merged(judged):
    same = [(pair, merged) for pair, merged in judged if pair["label"] == "same"]
    recall = sum(merged for _, merged in same) / len(same)
    missed = [told(pair) for pair, merged in same if not merged]
    assert recall >= LEAST_RECALL, "\n".join([f"recall {recall:.2f}", figures(judged), *missed])
