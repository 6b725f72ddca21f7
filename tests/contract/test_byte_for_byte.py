"""Does every text and value come back as it was given, on every store?"""

import pytest

from brain import Skill
from tests.contract.samples import AWKWARD, NESTED, RESERVED, ids, plain

KINDS = pytest.mark.parametrize("kind", AWKWARD)


def same(left, right):
    """Equal with types, the sign of zero and the order of keys."""
    return repr(left) == repr(right)


@KINDS
def test_any_text_comes_back_from_learning(brain, kind):
    text = AWKWARD[kind]
    trace = {"steps": [text, {"action": text, "description": text * 2, "parameters": {text: text}, text: text}]}
    learned = brain.learn(trace, {"task": text, "domain": text, "strategy": text}, {"success": True}, text)
    found = brain.get_skill(learned.id)
    assert plain(found) == plain(learned)
    assert (found.name, found.task, found.domain) == (text, text, text)
    assert [step.action for step in found.procedure] == [text, text]
    assert found.procedure[1].description == text * 2
    assert found.procedure[1].parameters == {text: text}
    assert found.procedure[1].model_extra == {text: text}
    assert text in found.tags
    assert ids(brain.skill_graph.find_by_tag(text)) == [learned.id]


@KINDS
def test_any_text_comes_back_from_saving(brain, kind):
    text = AWKWARD[kind]
    condition = {"predicate": text, "description": text}
    transfer = {"target_context": {"metadata": {"domain": text}}, "success": True, "adaptations": {text: [text]}}
    given = Skill(
        id="s",
        name=text,
        description=text,
        skill_type=text,
        procedure=[{"action": text, "description": text}],
        preconditions=[condition],
        postconditions=[condition],
        source_context={text: text, "task_structures": [text], "input_shape": text},
        transfer_history=[transfer],
        tags=[text, "t"],
        **{f"later {text}": text},
    )
    brain.skill_graph.save_skill(given)
    assert plain(brain.get_skill("s")) == {**plain(given), "namespace": brain.namespace}


@KINDS
def test_any_text_comes_back_from_feedback_and_edges(brain, kind):
    text = AWKWARD[kind]
    for skill_id in ("a", "b"):
        brain.skill_graph.save_skill(Skill(id=skill_id, name="n"))
    brain.feedback("a", {"task": text, "domain": text}, True, {text: {text: [text]}})
    record = brain.get_skill("a").transfer_history[0]
    assert record.target_context["metadata"] == {"task": text, "domain": text}
    assert record.adaptations == {text: {text: [text]}}
    brain.skill_graph.add_edge("a", "COMPLEMENTS", "b", {text: text})
    assert brain.skill_graph.get_edges("b")[0].metadata == {text: text}


@KINDS
def test_any_text_can_be_recalled(brain, kind):
    text = AWKWARD[kind]
    learned = brain.learn({"steps": [text]}, {"task": text, "domain": text}, {"success": True})
    found = brain.recall({"task": text, "domain": text})
    assert ids(c.skill for c in found) == [learned.id]
    assert found[0].combined_score >= 0.6


def test_nested_values_come_back_with_their_types(brain):
    trace = {"steps": [{"action": "a", "parameters": NESTED, "metadata": NESTED}]}
    learned = brain.learn(trace, {"task": "t"}, {"success": True})
    for step in (learned.procedure[0], brain.get_skill(learned.id).procedure[0]):
        assert same(step.parameters, NESTED)
        assert same(step.model_extra["metadata"], NESTED)
    brain.feedback(learned.id, {}, True, NESTED)
    assert same(brain.get_skill(learned.id).transfer_history[0].adaptations, NESTED)
    saved = brain.skill_graph.save_skill(Skill(id="s", name="n", source_context=NESTED, later=NESTED))
    for found in (saved, brain.get_skill("s")):
        assert same(found.source_context, NESTED)
        assert same(found.model_extra["later"], NESTED)


def test_reserved_keys_come_back_beside_the_own_fields(brain):
    trace = {"steps": [{"action": "a", "parameters": RESERVED, "metadata": RESERVED}]}
    learned = brain.learn(trace, {"task": "t"}, {"success": True})
    step = brain.get_skill(learned.id).procedure[0]
    assert (step.action, step.order) == ("a", 0)
    assert same(step.parameters, RESERVED)
    assert same(step.model_extra["metadata"], RESERVED)


@pytest.mark.parametrize("key", sorted(set(RESERVED) - {"order"}))
def test_a_reserved_key_of_a_part_itself_comes_back(brain, key):
    value = RESERVED[key]
    given = Skill(
        id="s",
        name="n",
        procedure=[{"action": "a", key: value}],
        preconditions=[{"predicate": "p", key: value}],
        postconditions=[{"predicate": "p", key: value}],
        transfer_history=[{"target_context": {}, "success": True, key: value}],
    )
    brain.skill_graph.save_skill(given)
    assert plain(brain.get_skill("s")) == {**plain(given), "namespace": brain.namespace}


def test_an_order_that_belongs_to_a_condition_comes_back(brain):
    given = Skill(id="s", name="n", preconditions=[{"predicate": "p", "order": "first"}])
    brain.skill_graph.save_skill(given)
    assert plain(brain.get_skill("s"))["preconditions"] == plain(given)["preconditions"]


@pytest.mark.parametrize(
    "key",
    ["profile", "vector", "operations", "changed", "dedup_key", "task", "domain", "extra", "shape", "steps", "traces"],
)
def test_an_unknown_field_named_like_a_stores_own_comes_back(brain, key):
    given = Skill(id="s", name="n", **{key: {"mine": [1]}})
    brain.skill_graph.save_skill(given)
    assert brain.get_skill("s").model_extra == {key: {"mine": [1]}}
    brain.feedback("s", {}, True)
    assert brain.get_skill("s").model_extra == {key: {"mine": [1]}}
    assert ids(c.skill for c in brain.recall({"task": "n"})) == ["s"]


@pytest.mark.parametrize("length", [8_164, 8_165, 20_000, 200_000])
def test_a_long_name_tag_and_domain_come_back(brain, length):
    text = "x" * length
    given = Skill(id="s", name=text, skill_type=text, tags=[text], source_context={"metadata": {"domain": text}})
    brain.skill_graph.save_skill(given)
    found = brain.get_skill("s")
    assert (found.name, found.tags, found.domain, found.skill_type) == (text, [text], text, text)
    assert ids(brain.skill_graph.find_by_tag(text)) == ["s"]


PUNCTUATION = [
    *",.:/\\{}[]()*?!|&%$#@^~`'\"<>=+-_;",
    "a|b",
    "a b",
    "a\tb",
    "a\nb",
    "",
    " ",
    "%",
    "a%",
    "_",
    "🏷️",
    "\x00",
]


def test_tags_with_any_punctuation_are_found_exactly(brain):
    for i, tag in enumerate(PUNCTUATION):
        brain.skill_graph.save_skill(Skill(id=f"s{i}", name="n", tags=[tag]))
    for i, tag in enumerate(PUNCTUATION):
        owners = sorted(f"s{j}" for j, other in enumerate(PUNCTUATION) if other == tag)
        assert f"s{i}" in owners
        assert ids(brain.skill_graph.find_by_tag(tag)) == owners
