"""Are receipts plain data, the same wherever they are printed, and can what was recalled be changed?"""

import copy
import json
import pickle

import pydantic
import pytest

from brain import FeedbackReceipt, LearnOutcome, LearnReceipt, LearnReport, RecallVerdict, Refusal, TransferCandidate
from tests.contract.samples import BREAD, bread


def as_json(record):
    return json.loads(json.dumps(record.to_dict(), allow_nan=False))


def test_a_receipt_is_json_and_comes_back(in_memory):
    mind = in_memory()
    learned = mind.observe(**bread(), skill_id="bread")
    told = mind.feedback("bread", {"task": "t"}, True, feedback_id="f")
    report = mind.learn_many([bread(), 7])
    for receipt in (learned, told, report, report.refused[0]):
        assert type(receipt).from_dict(as_json(receipt)) == receipt
    assert as_json(learned) | {"skill": None} == {
        "outcome": "created",
        "reason": learned.reason,
        "version": 1,
        "skill": None,
    }
    assert as_json(learned)["skill"] == learned.skill.to_dict()
    assert as_json(told).keys() == {"recorded", "repeated", "reason", "version", "skill"}
    assert as_json(report)["outcomes"]["reinforced"] == 1
    assert as_json(report)["refused"][0]["place"] == 1
    assert type(learned.to_dict()["outcome"]) is str, "a YAML writer knows no enumerations"


def test_receipts_of_nothing():
    ignored = LearnReceipt(outcome=LearnOutcome.IGNORED, reason="r")
    assert (ignored.version, ignored.skill, LearnReport().learned) == (0, None, 0)
    assert not FeedbackReceipt(recorded=False, reason="r").repeated


@pytest.mark.parametrize(
    "receipt",
    [
        LearnReceipt(outcome="created", reason="r"),
        FeedbackReceipt(recorded=True, reason="r"),
        Refusal(place=1, reason="r"),
    ],
    ids=lambda receipt: type(receipt).__name__,
)
def test_what_happened_cannot_be_changed(receipt):
    with pytest.raises(pydantic.ValidationError):
        receipt.reason = "another"


def recalled(mind):
    mind.learn(**bread())
    (found,) = mind.recall({"task": BREAD})
    return found


LOOKS = {
    "nothing": lambda found: None,
    "reasoning": lambda found: found.reasoning,
    "everything": lambda found: found.to_dict(),
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_candidate_can_be_changed_after_it_was_looked_at(in_memory, look):
    found = recalled(in_memory())
    LOOKS[look](found)
    found.combined_score = 0.25
    found.note = {"mine": [1]}
    assert (found.combined_score, found.to_dict()["note"]) == (0.25, {"mine": [1]})
    assert found.reasoning and found.explain()["combined"] == 0.25
    with pytest.raises(pydantic.ValidationError):
        found.combined_score = 7


def test_a_verdict_and_its_candidate_can_be_changed(in_memory):
    mind = in_memory()
    found = recalled(mind)
    verdict = mind.why(found.skill.id, {"task": BREAD})
    verdict.candidate.structural_score = 0.5
    verdict.reason = "because"
    verdict.candidate = found
    assert RecallVerdict.from_dict(verdict.to_dict()) == verdict


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
@pytest.mark.parametrize("look", LOOKS)
def test_a_copy_of_a_candidate_says_the_same(in_memory, again, look):
    found = recalled(in_memory())
    LOOKS[look](found)
    assert again(found) == found
    assert TransferCandidate.from_dict(found.to_dict()) == found
