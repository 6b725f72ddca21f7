"""Is everything that is seen in the wild read, survived and kept: odd documents, broken ones, keys of other types?"""

import json
import logging

import pytest

from brain import Edge, Relation, SkillTransferRecord
from brain.errors import StoreError
from tests.contract.samples import AUDIT, ids, skill
from tests.redis.drafts import bare, draft, entry_ids, op, save
from tests.redis.golden_files import documents, golden
from tests.redis.orka import Orka

pytestmark = pytest.mark.redis

ID = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def orka(spot):
    return Orka(spot)


ODD = {
    "no fields at all": {},
    "nulls": dict.fromkeys(
        "description skill_type procedure preconditions postconditions source_context transfer_history tags created_at "
        "updated_at expires_at".split()
    ),
    "an expiry that is no time": {"expires_at": "soon"},
    "an expiry that is a number": {"expires_at": 1_700_000_000},
    "a date alone": {"expires_at": "2027-01-01", "created_at": "2026-01-01"},
    "times without zone": {"created_at": "2026-01-01T00:00:00", "expires_at": "2027-01-01T00:00:00"},
    "a time with Z": {"updated_at": "2026-01-01T00:00:00Z"},
    "times that are garbage": {"created_at": "yesterday", "updated_at": 5},
    "keywords of null": {"domain_keywords": [None], "tags": [None, "t"]},
    "keywords that are the text of a list": {"domain_keywords": ["['a', 'b']"]},
    "an empty context": {"source_context": {}},
    "a context of other kinds": {
        "source_context": {"task_structures": None, "complexity": 99, "domain_hints": [None, "d"], "input_shape": None}
    },
    "steps with an action alone": {"procedure": [{"action": "a"}, "b", {"action": ""}]},
    "conditions with a predicate alone": {"preconditions": [{"predicate": "p"}, "q", {}]},
    "a truthy number": {"procedure": [{"action": "a", "is_optional": 1, "order": 0.0}]},
    "whole numbers as figures": {"confidence": 1, "success_rate": 1, "usage_count": 3.0},
    "a transfer without a time": {"transfer_history": [{"target_context": {}, "success": True}]},
    "numbers that are not finite": {
        "procedure": [{"action": "a", "parameters": {"x": float("nan")}}],
        "recipe": {"y": float("-inf")},
    },
    "half a character": {"description": "\ud83d", "procedure": [{"action": "\ude80 x"}]},
    "fields of ours that mean something else": {"version": "2.0", "namespace": {"a": 1}, "transfer_count": "many"},
    "unknown fields": {"future": {"a": [1, 2.5, None, [], {}]}, "": 0},
}


@pytest.mark.parametrize("kind", ODD)
def test_what_is_seen_in_the_wild_is_read_recalled_and_kept(spot, orka, kind):
    orka.save("odd", {"name": "odd", **ODD[kind]})
    before = json.loads(spot.client.get(spot.keys.document("odd")))
    store = spot.store()
    (found,) = store.get_many(["odd"])
    assert entry_ids(store) == ["odd"]
    store.save(draft(found), expected_version=found.version, operation=op())
    after = json.loads(spot.client.get(spot.keys.document("odd")))
    assert json.dumps({key: after[key] for key in before}) == json.dumps(before)
    assert list(after)[: len(documents(golden("01"))[ID][1])] == list(documents(golden("01"))[ID][1])
    record = SkillTransferRecord(target_context={}, success=True, timestamp=spot.clock())
    assert store.feedback("odd", record, ttl=True, operation=op()).skill.transfer_count == found.transfer_count + 1
    used = json.loads(spot.client.get(spot.keys.document("odd")))
    changed = {"transfer_history", "confidence", "usage_count", "success_rate", "updated_at", "expires_at"}
    assert {k: json.dumps(v) for k, v in used.items() if k not in changed} == {
        k: json.dumps(v) for k, v in after.items() if k not in changed
    }
    assert json.dumps(used["transfer_history"][:-1]) == json.dumps(after["transfer_history"] or [])


@pytest.mark.parametrize("kind", ["an expiry that is no time", "an expiry that is a number", "nulls"])
def test_an_expiry_that_is_none_never_comes(spot, orka, kind):
    orka.save("odd", {"name": "odd", **ODD[kind]})
    store = spot.store()
    spot.clock.advance(days=100 * 365)
    assert ids(store.get_many(["odd"])) == ["odd"]
    assert store.sweep(10, operation=op()) == 0


def test_the_id_is_the_keys(spot, orka):
    orka.save("mine", {"name": "n"})
    orka.change("mine", id="another")
    assert ids(spot.store().get_many(["mine", "another"])) == ["mine"]


LONG_AND_ODD = ["two words: and\na line", "日本語 🚀", "a:b:c", "x" * 100_000, "*", "skill:", "", "~"]


def test_a_key_may_hold_any_text(spot, store):
    save(store, bare("a", spot.clock, tags=LONG_AND_ODD), bare("b", spot.clock, tags=["a", "b"]))
    for tag in LONG_AND_ODD:
        assert ids(s for page in store.pages(tag) for s in page) == ["a"]
        assert spot.client.smembers(spot.keys.tag(tag)) == {"a"}
    assert store.delete("a", operation=op())
    assert not any(spot.client.exists(spot.keys.tag(tag)) for tag in LONG_AND_ODD)


def test_a_hit_of_a_stale_set_is_checked_against_the_document(spot, store):
    save(store, bare("a", spot.clock, tags=["new"]))
    spot.client.sadd(spot.keys.tag("old"), "a", "nobody")
    assert [page for page in store.pages("old") if page] == []


def test_saving_with_other_tags_leaves_the_old_sets(spot, store):
    save(store, bare("a", spot.clock, tags=["x", "y"], skill_type="one"))
    save(store, bare("a", spot.clock, tags=["y", "z"], skill_type="two"))
    names = {key.removeprefix(spot.keys.prefix) for key in spot.dump()}
    assert names == {"skill:a", "skill_index", "tags:y", "tags:z", "type_index:two"}


BROKEN = {
    "no JSON": "{broken",
    "no object": "[1]",
    "a text": '"x"',
    "a figure out of range": '{"confidence": 7}',
    "deep": "[" * 5000,
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_document_is_skipped_with_a_warning_that_names_its_key(spot, orka, caplog, kind):
    orka.save("good", {"name": "good"})
    orka.save("bad", {"name": "bad"})
    spot.client.set(spot.keys.document("bad"), BROKEN[kind])
    store = spot.store()
    caplog.set_level(logging.WARNING)
    for look in (
        lambda: [s.id for page in store.pages() for s in page],
        lambda: ids(store.get_many(["bad", "good"])),
        lambda: entry_ids(store),
        lambda: [k.skill.id for page in store.export() for k in page],
    ):
        caplog.clear()
        assert look() == ["good"]
        assert any(spot.keys.document("bad") in r.getMessage() for r in caplog.records)
    assert store.summary(5)["total_skills"] == 1
    assert store.sweep(10, operation=op()) == 0
    assert store.save(draft(bare("bad", spot.clock)), expected_version=0, operation=op()).version == 1


WRONG = {
    "a document": lambda keys: keys.document("bad"),
    "the set of a tag": lambda keys: keys.tag("t"),
    "the set of a type": lambda keys: keys.skill_type("procedural"),
    "edges": lambda keys: keys.edges("good"),
    "the index": lambda keys: keys.index,
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_key_of_another_type_is_named_and_the_rest_goes_on(spot, orka, caplog, kind):
    key = WRONG[kind](spot.keys)
    spot.client.lpush(key, "not ours")
    orka_can = kind not in ("the index", "the set of a tag")
    if orka_can:
        orka.save("other", {"name": "other", "tags": ["t"]})
    if kind == "a document":
        spot.client.hset(spot.keys.index, "bad", "bad")
    store = spot.store()
    caplog.set_level(logging.WARNING)
    save(store, skill("good", AUDIT, tags=["t"]), skill("second"))
    store.add_edge(Edge(source="good", target="second", relation=Relation.COMPLEMENTS), operation=op())
    assert "good" in entry_ids(store)
    assert ids(store.get_many(["good", "bad"])) == ["good"]
    tagged = ["good", "other"] if orka_can else ["good"]
    assert [s.id for page in store.pages("t") for s in page] == ([] if "tag" in kind else tagged)
    assert [e.target for e in store.edges("good")] == ([] if kind == "edges" else ["second"])
    assert [s.id for s, _ in store.related("good", None, 2)] == ([] if kind == "edges" else ["second"])
    listed = [] if kind == "the index" else ["good", *(["other"] if orka_can else []), "second"]
    assert [s.id for page in store.pages() for s in page] == listed
    assert [k.skill.id for page in store.export() for k in page] == listed
    assert len([e for page in store.export_edges() for e in page]) == (kind not in ("the index", "edges"))
    assert store.summary(5)["total_skills"] == 2 + orka_can
    assert any(key in r.getMessage() for r in caplog.records)
    assert store.delete("good", operation=op())
    spot.clock.advance(days=1)
    assert store.sweep(10, operation=op()) == 0
    assert spot.client.lrange(key, 0, -1) == ["not ours"]


def test_saving_where_no_document_can_stand_is_refused(spot, store):
    spot.client.lpush(spot.keys.document("bad"), "not ours")
    with pytest.raises(StoreError, match="no string"):
        save(store, bare("good", spot.clock), bare("bad", spot.clock))
    assert store.get_many(["good"]) == []
    assert store.count() == 0
    assert spot.client.lrange(spot.keys.document("bad"), 0, -1) == ["not ours"]


def test_an_edge_that_says_nothing_is_skipped_with_a_warning(spot, store, caplog):
    save(store, bare("a", spot.clock), bare("b", spot.clock))
    store.add_edge(Edge(source="a", target="b", relation=Relation.COMPLEMENTS), operation=op())
    odd = [
        "{broken",
        "[]",
        '{"target": "b"}',
        '{"target": "b", "relation": "LIKES", "metadata": {}}',
        '{"relation": 5}',
    ]
    spot.client.sadd(spot.keys.edges("a"), *odd)
    caplog.set_level(logging.WARNING)
    assert [edge.relation for edge in store.edges("a")] == [Relation.COMPLEMENTS]
    assert len([r for r in caplog.records if spot.keys.edges("a") in r.getMessage()]) == len(odd)
    assert [s.id for s, _ in store.related("a", None, 2)] == ["b"]
    assert store.delete("b", operation=op())
    assert store.edges("a") == []
