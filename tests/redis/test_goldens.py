"""Is OrKa's layout read and written byte for byte?"""

import json
from datetime import datetime, timedelta

import pytest

from brain import Edge, Relation, Skill, SkillTransferRecord, SyncBrain
from brain.store.redis import learned_event
from tests.redis.drafts import bare, draft, learn, op, order, save
from tests.redis.golden_files import NAMES, differences, documents, golden

pytestmark = pytest.mark.redis

ID = "00000000-0000-4000-8000-000000000001"


@pytest.mark.parametrize("name", NAMES)
def test_every_field_of_every_document_is_read(spot, name):
    found = golden(name)
    spot.load(found)
    store = spot.store()
    expired = {"past"}
    for skill_id, (_, fields) in documents(found).items():
        skills = store.get_many([skill_id])
        assert bool(skills) == (skill_id not in expired)
        for skill in skills:
            read = skill.to_dict()
            for key, value in fields.items():
                assert covers(read[key], value), (key, read[key], value)


def covers(read, stored):
    """Whether what was read says all that is stored; it may say more, and a time in another spelling."""
    if isinstance(stored, dict):
        return all(key in read and covers(read[key], value) for key, value in stored.items())
    if isinstance(stored, list):
        return len(read) == len(stored) and all(map(covers, read, stored))
    return read == stored or read == f"{stored}+00:00"


@pytest.mark.parametrize("name", NAMES)
def test_what_was_read_is_written_back_unchanged(spot, name):
    found = golden(name)
    spot.load(found)
    store = spot.store()
    for skill_id, (_, fields) in documents(found).items():
        spot.clock.now = max(spot.clock.now, datetime.fromisoformat(fields["updated_at"]))
        for skill in store.get_many([skill_id]):
            store.save(draft(skill), expected_version=None, operation=op())
    if not name.startswith("21"):  # of a document of the first layout, see below
        assert differences(spot, found) == []


def test_a_document_of_the_first_layout_gets_what_newer_ones_have_and_keeps_what_it_had(spot):
    spot.load(golden("21"))
    store = spot.store()
    (skill,) = store.get_many(["v1"])
    store.save(draft(skill), expected_version=None, operation=op())
    (_, fields), whole = documents(golden("21"))["v1"], documents(golden("01"))[ID][1]
    written = json.loads(spot.client.get(spot.keys.document("v1")))
    assert list(written) == [*whole, "future_field"]
    steps_and_history = {"procedure", "preconditions", "transfer_history"}  # unchanged, so spelled as they were
    assert {key: written[key] for key in fields} == fields
    assert steps_and_history <= fields.keys()
    assert written["skill_type"] == "procedural"
    assert written["expires_at"] == ""
    assert spot.client.smembers(spot.keys.skill_type("procedural")) == {"v1"}


def test_feedback_leaves_what_orkas_leaves(spot):
    spot.load(golden("01"))
    store = spot.store()
    spot.clock.advance(hours=2)
    for name, success in (("04", True), ("05", False)):
        wanted = documents(golden(name))[ID][1]
        said = wanted["transfer_history"][-1]
        record = SkillTransferRecord(
            target_context=said["target_context"],
            success=success,
            adaptations=said["adaptations"],
            timestamp=spot.clock(),
        )
        store.feedback(ID, record, ttl=True, operation=op())
        assert differences(spot, golden(name)) == []


def test_reinforcing_leaves_what_orkas_leaves(spot):
    spot.load(golden("01"))
    store = spot.store()
    spot.clock.advance(hours=1)
    again = bare("another", spot.clock)
    for name, success in (("02", True), ("03", False)):
        learn(store, order(again, success=success, twin=ID))
        assert differences(spot, golden(name)) == []


def test_edges_stand_at_both_ends_as_orkas_do(spot):
    store = spot.store()
    save(store, *(bare(f"s{i}", spot.clock, name=f"skill {i}", tags=["t", f"t{i}"]) for i in (1, 2, 3)))
    store.add_edge(Edge(source="s1", target="s2", relation=Relation.DERIVES_FROM), operation=op())
    said = {"weight": 0.5, "why": "naïve"}
    store.add_edge(Edge(source="s1", target="s3", relation=Relation.COMPLEMENTS, metadata=said), operation=op())
    known = golden("06")
    odd = ("0.9", '"ghost"', "CONFLICTS_WITH", "SPECIALIZES")  # a second edge of one relation, to nobody, to itself
    for row in known["keys"]:
        if row["type"] == "set":
            row["value"] = [member for member in row["value"] if not any(mark in member for mark in odd)]
    known["keys"] = [row for row in known["keys"] if row["value"]]
    assert differences(spot, known) == []


def test_deleting_leaves_what_orkas_leaves(spot):
    spot.load(golden("06"))
    assert spot.store().delete("s1", operation=op())
    assert differences(spot, golden("07")) == []


def test_edges_that_we_would_refuse_stay_readable(spot):
    spot.load(golden("06"))
    store = spot.store()
    seen = [(e.direction, e.relation.value, e.target, e.metadata.get("weight")) for e in store.edges("s1")]
    assert seen == [
        ("out", "COMPLEMENTS", "s3", 0.5),
        ("out", "COMPLEMENTS", "s3", 0.9),
        ("out", "DERIVES_FROM", "s2", None),
    ]
    assert [(e.relation.value, e.target) for e in store.edges("s2")] == [("DERIVES_FROM", "s1"), ("SPECIALIZES", "s2")]
    assert [e.target for e in store.edges("s3")] == ["s1", "s1"]  # the one to a skill that is not there is hidden
    out = [(e.source, e.relation.value, e.target) for page in store.export_edges() for e in page]
    assert out.count(("s1", "COMPLEMENTS", "s3")) == 2
    assert ("s2", "SPECIALIZES", "s2") in out
    assert len(out) == 4


def test_an_edge_that_is_written_again_takes_the_place_of_those_of_its_relation(spot):
    spot.load(golden("06"))
    reordered = '{"metadata": {"k": 1}, "relation": "COMPLEMENTS", "target": "s3"}'
    spot.client.sadd(spot.keys.edges("s1"), reordered)
    store = spot.store()
    store.add_edge(Edge(source="s1", target="s3", relation=Relation.COMPLEMENTS, metadata={"n": 1}), operation=op())
    found = [e.metadata for e in store.edges("s1") if e.target == "s3"]
    assert found == [e.metadata for e in store.edges("s3") if e.target == "s1"] == [{"n": 1}]


def test_expiry_is_set_at_the_right_second(spot):
    store = spot.store()
    at = {"past": timedelta(hours=-1), "soon": timedelta(seconds=1.9)}
    keywords = {"past": [], "soon": ["dk"]}
    for skill_id, left in at.items():
        expires_at = (spot.clock() + left).isoformat()
        save(store, bare(skill_id, spot.clock, tags=["x"], expires_at=expires_at, domain_keywords=keywords[skill_id]))
    edges = [spot.keys.edges(skill_id) for skill_id in at]  # we connect nothing to what has expired
    wanted = golden("09")
    wanted["keys"] = [row for row in wanted["keys"] if spot.key(row["key"]) not in edges]
    assert differences(spot, wanted) == []


def test_a_sweep_clears_what_native_expiry_left(spot):
    spot.load(golden("10"))
    store = spot.store()
    assert store.count() == 2
    assert store.sweep(100, operation=op()) == 2
    assert spot.dump() == {}


def learned(spot, trace, context, outcome):
    with SyncBrain.open(spot.location, clock=spot.clock) as brain:
        return brain.learn(trace, context, outcome)


LEARNED = {
    "01": (
        {
            "steps": [
                {"action": step["action"], "description": step["description"]}
                for step in documents(golden("01"))[ID][1]["procedure"]
            ],
            "strategy": "sequential",
        },
        {
            "domain": "text_analysis",
            "task": documents(golden("01"))[ID][1]["task_description"],
        },
        {"success": True, "quality": 0.93},
    ),
    "18": (
        {"steps": ["première étape", {"action": "α", "parameters": {"k": [1, 2.5, None, True]}}, {"name": "step_2"}]},
        {"task": documents(golden("18"))[ID][1]["task_description"]},
        {"success": True, "quality": 0.123456789},
    ),
    "19": ({"agents": ["a", "b", "c"]}, {}, {"success": True}),
}


@pytest.mark.parametrize("name", LEARNED)
def test_a_learned_skill_has_the_goldens_keys_fields_figures_and_time_to_live(spot, name):
    skill = learned(spot, *LEARNED[name])
    found = golden(name)
    wanted = documents(found)[ID][1]
    text, seconds = spot.dump()[spot.keys.document(skill.id)]
    written = json.loads(text)
    assert list(written) == list(wanted)
    assert list(written["source_context"]) == list(wanted["source_context"])
    assert [list(step) for step in written["procedure"]] == [list(step) for step in wanted["procedure"]]
    same = ("confidence", "usage_count", "success_rate", "created_at", "updated_at", "expires_at", "transfer_history")
    same += ("task_description", "domain_keywords", "recipe", "anti_signals")
    assert {key: written[key] for key in same} == {key: wanted[key] for key in same}
    (ttl,) = (row["ttl_s"] for row in found["keys"] if row["key"].endswith(ID))
    assert 0 <= ttl - seconds <= 1
    families = {"skill_index", "type_index:procedural"} | {f"domain_index:{k}" for k in wanted["domain_keywords"]}
    families |= {f"tags:{tag}" for tag in skill.tags} | {f"skill:{skill.id}"}
    assert {key.removeprefix(spot.keys.prefix) for key in spot.dump()} == families
    assert spot.client.hgetall(spot.keys.index) == {skill.id: skill.name}


def test_the_event_of_a_learned_skill_has_orkas_fields(spot):
    trace, context, outcome = LEARNED["01"]
    skill = learned(spot, trace, context, outcome)
    event = learned_event(skill, context["domain"], context["task"], outcome["success"], outcome["quality"])
    (wanted,) = golden("01")["log"]
    assert {**event, "payload": list(event["payload"])} == {**wanted, "payload": list(wanted["payload"])}
    same = ("context_domain", "context_task", "outcome_success", "outcome_quality", "num_steps")
    assert [event["payload"][key] for key in same] == [wanted["payload"][key] for key in same]


def test_tokens_of_a_name_are_orkas():
    from brain.store.redis import document

    for name in ("01", "18", "19"):
        wanted = documents(golden(name))[ID][1]
        skill = Skill(name=wanted["name"], source_context=wanted["source_context"])
        written, added = document.write(skill, None)
        for key in ("search_tokens", "domain_keywords", "task_description", "output_description"):
            assert written[key] == wanted[key]
            assert key in added
