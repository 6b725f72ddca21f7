"""Do the records keep what they are given, and refuse what they cannot keep?"""

import json
import math
from datetime import UTC, datetime, timedelta, timezone

import pytest

from brain import (
    BrainError,
    ContextFeatures,
    Edge,
    Limits,
    Policy,
    Skill,
    SkillCondition,
    SkillStep,
    SkillTransferRecord,
    TransferCandidate,
)
from brain.errors import InputError
from brain.model.skill import TRANSFER_HISTORY_LENGTH

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)

STEP = {"action": "split the input", "description": "d", "order": 3, "parameters": {"k": [1, {"z": 2.5}]}}
CONDITION = {"predicate": "input is a list", "description": "why", "required": False}
TRANSFER = {
    "target_context": {"metadata": {"domain": "law"}},
    "success": True,
    "confidence": 0.6,
    "adaptations": {"a": [None, True]},
    "timestamp": "2026-01-01T12:00:00+00:00",
}
SKILL = {
    "id": "skill-1",
    "name": "Split",
    "description": "splits",
    "skill_type": "declarative",
    "procedure": [STEP],
    "preconditions": [CONDITION],
    "postconditions": [CONDITION],
    "source_context": {"task_structures": ["decomposition"], "odd": {"": [1]}},
    "transfer_history": [TRANSFER],
    "confidence": 0.625,
    "usage_count": 4,
    "success_rate": 0.75,
    "tags": ["a|b", ""],
    "created_at": "2026-01-01T12:00:00+00:00",
    "updated_at": "2026-01-02T12:00:00.000001+00:00",
    "expires_at": "2026-02-01T12:00:00+00:00",
    "transfer_count": 9,
    "transfer_successes": 5,
    "namespace": "team",
    "version": 7,
}
CANDIDATE = {"skill": SKILL, "structural_score": 0.5, "evidence": {"words": []}, "reasoning": "because"}
EDGE = {"source": "a", "target": "b", "relation": "COMPLEMENTS", "direction": "in", "metadata": {"n": 1}}
RECORDS = [
    (Skill, SKILL),
    (SkillStep, STEP),
    (SkillCondition, CONDITION),
    (SkillTransferRecord, TRANSFER),
    (ContextFeatures, {"task_structures": ["parallel"], "complexity": 3, "metadata": {"task": "t"}}),
    (TransferCandidate, CANDIDATE),
    (Edge, EDGE),
]


def _holds(whole, part):
    """Whether `whole` has everything of `part`, at every level."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(k in whole and _holds(whole[k], v) for k, v in part.items())
    if isinstance(part, list):
        return len(whole) == len(part) and all(_holds(w, p) for w, p in zip(whole, part, strict=True))
    return whole == part and type(whole) is type(part)


@pytest.mark.parametrize(("kind", "data"), RECORDS, ids=lambda v: getattr(v, "__name__", ""))
def test_a_record_survives_a_round_trip_with_every_field(kind, data):
    record = kind.from_dict(data)
    assert _holds(json.loads(json.dumps(record.to_dict())), data)
    assert kind.from_dict(record.to_dict()) == record


@pytest.mark.parametrize(("kind", "data"), RECORDS, ids=lambda v: getattr(v, "__name__", ""))
def test_a_field_of_a_later_version_survives_a_round_trip(kind, data):
    unknown = {"invented_later": {"deep": [1, 2.0, None, {"é": "\x00"}]}, "extra": "plain"}
    assert _holds(kind.from_dict({**data, **unknown}).to_dict(), unknown)


@pytest.mark.parametrize(
    "bad",
    [math.nan, math.inf, {1: "number as key"}, {1, 2}, b"bytes", object()],
    ids=lambda value: type(value).__name__,
)
def test_an_unknown_field_that_json_cannot_hold_is_refused(bad):
    with pytest.raises(InputError, match="later"):
        Skill.from_dict({**SKILL, "later": {"deep": [bad]}})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("confidence", 1.000001),
        ("confidence", -0.1),
        ("confidence", math.nan),
        ("confidence", math.inf),
        ("confidence", "0.5"),
        ("confidence", True),
        ("success_rate", 2),
        ("usage_count", -1),
        ("usage_count", 1.5),
        ("usage_count", "3"),
        ("usage_count", True),
        ("usage_count", 2**63),
        ("name", None),
        ("name", 5),
        ("name", "lone \ud800 surrogate"),
        ("tags", "not a list"),
        ("tags", [1]),
        ("procedure", [{"action": ""}]),
        ("procedure", [{"action": " \t"}]),
        ("procedure", [{}]),
        ("procedure", ["text"]),
        ("source_context", []),
        ("expires_at", "soon"),
        ("expires_at", 5),
        ("created_at", "2026-13-01"),
        ("id", ""),
        ("transfer_successes", 10),
        ("transfer_history", [{"target_context": {}, "success": "false"}]),
        ("transfer_history", [{"target_context": {}, "success": 1}]),
    ],
)
def test_a_field_of_the_wrong_kind_is_refused_by_its_name(field, value):
    with pytest.raises(InputError, match=field):
        Skill.from_dict({**SKILL, field: value})


@pytest.mark.parametrize("data", [None, [], "skill", 3])
def test_what_is_no_object_is_refused(data):
    with pytest.raises(InputError, match="object"):
        Skill.from_dict(data)


def test_input_errors_are_value_errors_in_the_one_tree():
    assert issubclass(InputError, ValueError)
    assert issubclass(InputError, BrainError)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-03-01T10:00:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T10:00:00+02:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        (datetime(2026, 3, 1, 10), datetime(2026, 3, 1, 10, tzinfo=UTC)),
        (datetime(2026, 3, 1, 10, tzinfo=timezone(timedelta(hours=-5))), datetime(2026, 3, 1, 15, tzinfo=UTC)),
    ],
)
def test_times_with_and_without_zone_are_read_as_utc(given, read):
    skill = Skill(created_at=given, expires_at=given)
    assert skill.created_at == read
    assert skill.created_at.utcoffset() == timedelta(0)
    assert datetime.fromisoformat(skill.expires_at) == read


def test_times_of_every_notation_can_be_ordered():
    given = ["2026-03-01T12:00:00+02:00", "2026-03-01T09:00:00", "2026-03-01T11:00:00Z", datetime(2026, 3, 1, 8)]
    skills = sorted((Skill(name=str(i), updated_at=time) for i, time in enumerate(given)), key=lambda s: s.updated_at)
    assert [skill.name for skill in skills] == ["3", "1", "0", "2"]


def test_a_plain_datetime_is_taken_as_utc_wherever_one_is_given():
    plain = datetime(2026, 1, 1, 12)
    skill = Skill(name="s", expires_at="2026-01-01T12:00:01+00:00")
    assert not skill.has_expired(plain)
    assert skill.has_expired(plain + timedelta(seconds=1))
    skill.record_usage(success=True, now=plain)
    skill.renew_ttl(plain)
    assert skill.updated_at == plain.replace(tzinfo=UTC)
    assert datetime.fromisoformat(skill.expires_at) > NOW


@pytest.mark.parametrize("never", ["", None])
def test_an_empty_expiry_is_never(never):
    skill = Skill(name="s", expires_at=never)
    assert skill.expires_at == ""
    assert not skill.is_expired
    assert not skill.has_expired(datetime.max.replace(tzinfo=UTC))


def test_a_skill_expires_at_the_very_moment():
    skill = Skill(name="s", expires_at=NOW)
    assert not skill.has_expired(NOW - timedelta(microseconds=1))
    assert skill.has_expired(NOW)


def _transfer(i, success=True):
    return SkillTransferRecord(
        target_context={"i": i}, success=success, timestamp=NOW + timedelta(minutes=i), confidence=0.5
    )


def test_a_long_history_keeps_the_latest_hundred_and_counts_all():
    skill = Skill(name="s", transfer_history=[_transfer(i, i % 3 > 0) for i in range(150)])
    assert TRANSFER_HISTORY_LENGTH == 100
    assert [t.target_context["i"] for t in skill.transfer_history] == list(range(50, 150))
    assert (skill.transfer_count, skill.transfer_successes) == (150, 100)
    assert skill.transfer_success_rate == pytest.approx(2 / 3)


def test_a_recorded_transfer_is_counted_beyond_the_hundred():
    skill = Skill(name="s")
    for i in range(130):
        skill.record_transfer(_transfer(i, success=i < 65))
    assert [t.target_context["i"] for t in skill.transfer_history] == list(range(30, 130))
    assert (skill.transfer_count, skill.transfer_successes, skill.usage_count) == (130, 65, 130)
    assert skill.updated_at == NOW + timedelta(minutes=129)


def test_counts_of_a_document_stand_beside_a_shortened_history():
    data = {"name": "s", "transfer_history": [TRANSFER], "transfer_count": 400, "transfer_successes": 100}
    skill = Skill.from_dict(data)
    assert (skill.transfer_count, skill.transfer_successes) == (400, 100)


@pytest.mark.parametrize(
    ("count", "successes", "transferable"), [(0, 0, False), (1, 0, False), (1, 1, True), (2, 1, True), (5, 2, False)]
)
def test_a_skill_is_transferable_from_half_of_its_transfers_on(count, successes, transferable):
    skill = Skill(name="s", transfer_count=count, transfer_successes=successes)
    assert skill.is_transferable is transferable


def test_a_failure_does_not_renew_the_expiry_and_a_success_does():
    skill = Skill(name="s", expires_at="2026-01-02", confidence=0.5)
    skill.record_usage(success=False, now=NOW)
    assert datetime.fromisoformat(skill.expires_at) == datetime(2026, 1, 2, tzinfo=UTC)
    skill.record_usage(success=True, now=NOW)
    assert datetime.fromisoformat(skill.expires_at) == NOW + timedelta(hours=skill.ttl_hours)


def test_embedding_text_holds_what_the_skill_says():
    text = Skill.from_dict(SKILL).to_embedding_text()
    for part in ("Split", "splits", "a|b", "split the input", "input is a list"):
        assert part in text


def test_each_skill_gets_an_id_of_its_own():
    assert Skill(name="s").id != Skill(name="s").id


@pytest.mark.parametrize("cap", ["steps", "text_bytes", "tags", "nesting"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "9", None])
def test_a_cap_must_be_a_whole_number_of_at_least_one(cap, value):
    with pytest.raises(ValueError, match=cap):
        Limits(**{cap: value})


def test_a_policy_cannot_be_changed_after_it_was_made():
    with pytest.raises(AttributeError):
        Policy().ttl = False
