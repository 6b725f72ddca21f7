"""Does the quick way to read back what was stored give what the careful way gives, and refuse what that refuses?"""

import copy
import json

import pytest

from brain.errors import BrainError
from brain.model.context import ContextFeatures
from brain.model.skill import Skill, SkillTransferRecord
from brain.store.documents import read_features, read_whole

WHOLE = Skill(
    id="a",
    name="A\x00",
    procedure=[{"action": "first", "parameters": {"n": [1, 2.5, None]}}, {"action": "then", "order": 1}],
    preconditions=[{"predicate": "p", "required": False}],
    postconditions=[{"predicate": "q", "description": "d"}],
    source_context={"metadata": {"task": "t"}},
    transfer_history=[SkillTransferRecord(target_context={"x": 1}, success=True, confidence=0.25)],
    tags=["one", ""],
    expires_at="2026-02-03T04:05:06.7+02:00",
    transfer_count=3,
    transfer_successes=2,
)

WRONG = [None, 1, -1, 1.5, 2**62, "", " ", "text", [], [1], {}, {"a": 1}, True, "2026-01-01", float("nan")]


def fields():
    return json.loads(WHOLE.model_dump_json())


def outcome(read, data):
    """What `read` gives, as plain data, or that it refuses."""
    try:
        found = read(copy.deepcopy(data))
    except (BrainError, ValueError, TypeError, AttributeError):
        return "refused"
    return found, found.to_dict(), {type(v) for v in vars(found).values()}


def test_a_skill_is_the_same(monkeypatch):
    expected = outcome(Skill.from_dict, fields())
    monkeypatch.setattr(Skill, "from_dict", None)  # the quick way needs no careful look
    assert outcome(read_whole, fields()) == expected


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("name", Skill.model_fields)
def test_another_value_of_a_field_is_read_or_refused_alike(name, wrong):
    data = fields() | {name: wrong}
    assert outcome(read_whole, data) == outcome(Skill.from_dict, data)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize(
    ("part", "name"),
    [
        *(("procedure", name) for name in ("action", "description", "order", "parameters", "is_optional", "other")),
        *(("preconditions", name) for name in ("predicate", "description", "required", "other")),
        *(("transfer_history", name) for name in ("success", "confidence", "timestamp", "adaptations")),
    ],
)
def test_another_value_in_a_part_is_read_or_refused_alike(part, name, wrong):
    data = fields()
    data[part][0][name] = wrong
    assert outcome(read_whole, data) == outcome(Skill.from_dict, data)


@pytest.mark.parametrize("name", Skill.model_fields)
def test_a_missing_field_is_read_or_refused_alike(name):
    data = {key: value for key, value in fields().items() if key != name}
    left, right = outcome(read_whole, data), outcome(Skill.from_dict, data)
    if name in ("id", "created_at", "updated_at"):  # made up anew
        assert left[1].keys() == right[1].keys()
    else:
        assert left == right


def test_a_field_that_nobody_knows_is_kept():
    assert read_whole(fields() | {"mine": [1]}).to_dict()["mine"] == [1]


def test_what_was_read_quickly_can_be_changed_and_is_checked():
    found = read_whole(fields())
    found.procedure[0].action = "other"
    with pytest.raises(ValueError, match="confidence"):
        found.confidence = 2.0
    assert found.model_copy(deep=True) == found


FEATURES = ContextFeatures(task_structures=["a"], domain_hints=["b"], metadata={"task": "t", "n": [1]}).to_dict()


@pytest.mark.parametrize("wrong", [*WRONG, ["a", 1], ["a", "b"], 11, 0], ids=repr)
@pytest.mark.parametrize("name", [*ContextFeatures.model_fields, "other"])
def test_features_are_read_or_refused_alike(name, wrong):
    data = FEATURES | {name: wrong}
    assert outcome(read_features, data) == outcome(ContextFeatures.from_dict, data)
