"""Is the right skill found in a store of six languages? 120 skills, and for each a task of another domain that it fits.

Each line of languages.jsonl is a skill and its query, in one language. They were written before any score was seen, and
are not changed to suit the code.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from brain import SyncBrain

CASES = [json.loads(line) for line in Path(__file__).with_name("languages.jsonl").read_text("utf-8").splitlines()]
SUCCESS = {"success": True, "quality": 0.9}
LEAST_RIGHT = 0.9


@pytest.fixture(scope="module")
def learned():
    """A brain that has learned every skill, and the receipt of each."""
    with SyncBrain.open("sqlite://:memory:") as brain:
        receipts = []
        for case in CASES:
            skill = case["skill"]
            context = {"task": skill["task"], "domain": skill["domain"]}
            receipts.append(brain.observe({"steps": [{"action": step} for step in skill["steps"]]}, context, SUCCESS))
        yield brain, receipts


def test_the_set_has_twenty_skills_in_each_of_six_languages():
    assert set(Counter(case["language"] for case in CASES).values()) == {20}
    assert len({case["language"] for case in CASES}) == 6


def test_unrelated_skills_are_never_merged(learned):
    _, receipts = learned
    merged = [case["skill"] for case, receipt in zip(CASES, receipts, strict=True) if receipt.outcome != "created"]
    assert not merged


def test_the_right_skill_comes_first_in_nine_of_ten_cases(learned):
    brain, receipts = learned
    right, missed = Counter(), []
    for case, receipt in zip(CASES, receipts, strict=True):
        found = brain.recall(case["query"], top_k=1)
        if found and found[0].skill.id == receipt.skill.id:
            right[case["language"]] += 1
        else:
            instead = found[0].skill.name if found else "nothing"
            missed.append(f"{case['language']}: {case['query']['task']} → {instead}, not {receipt.skill.name}")
    figures = ", ".join(f"{language} {right[language]}/20" for language in dict.fromkeys(c["language"] for c in CASES))
    assert right.total() >= LEAST_RIGHT * len(CASES), "\n".join([figures, *missed])
