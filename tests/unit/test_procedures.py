"""How does a trace become a procedure, its conditions and its name?"""

import pytest

from brain import ContextFeatures
from brain.analysis.abstraction import (
    LONGEST_ACTION,
    extract_procedure,
    postconditions,
    preconditions,
    skill_name,
    skill_tags,
)
from brain.errors import InputError
from brain.model.inputs import ExecutionTrace, Outcome
from brain.model.record import validated

LONG = "take the next sheet and " * 400


def procedure(*steps, **trace):
    return extract_procedure(validated(ExecutionTrace, {"steps": list(steps), **trace}, "execution_trace"))


def test_steps_as_texts_and_as_objects_come_in_order():
    found = procedure("open", {"action": "read"}, {"action": "close", "order": 0})
    assert [(step.order, step.action) for step in found] == [(0, "open"), (1, "read"), (2, "close")]


def test_the_result_of_the_run_stays_out_of_the_skill():
    assert procedure({"action": "read", "result": "success"})[0].model_extra == {}


@pytest.mark.parametrize("key", ["action", "description", "name", "agent_id", "tool"])
def test_the_text_of_a_step_is_found_under_each_of_its_names(key):
    assert procedure({key: "read the meter"})[0].action == "read the meter"


def test_fields_of_a_step_are_kept():
    step = procedure(
        {"action": "a", "description": "why", "parameters": {"n": [1, 2.5, None, {"": []}]}, "is_optional": True}
    )[0]
    assert (step.description, step.parameters, step.is_optional) == ("why", {"n": [1, 2.5, None, {"": []}]}, True)


def test_nested_metadata_of_a_step_is_kept():
    metadata = {"title": "Apache Kafka", "info": {"k": [1, {"z": 2}]}}
    found = procedure({"action": "a", "metadata": metadata}, "b")
    assert found[0].to_dict()["metadata"] == metadata
    assert len(found) == 2


@pytest.mark.parametrize("value", [["a", 1, True], [1, 2.5], [None, "x"], [["a"], ["b"]], [], "text", 0, False])
def test_parameters_that_are_no_object_are_kept_with_their_types(value):
    kept = procedure({"action": "a", "parameters": value})[0].parameters["value"]
    assert kept == value
    assert [type(v) for v in kept] == [type(v) for v in value] if isinstance(value, list) else type(kept) is type(value)


@pytest.mark.parametrize("length", [1, LONGEST_ACTION, LONGEST_ACTION + 1, 5_000])
@pytest.mark.parametrize("as_object", [False, True])
def test_a_long_step_keeps_its_whole_text(length, as_object):
    text = (LONG * 2)[: length - 1] + "x"
    step = procedure({"action": text} if as_object else text)[0]
    assert len(step.action) <= LONGEST_ACTION
    assert text in (step.action, step.description)


def test_a_long_step_keeps_its_description_too():
    step = procedure({"action": LONG, "description": "and why"})[0]
    assert LONG in step.description
    assert "and why" in step.description


def test_a_long_step_without_spaces_is_cut_all_the_same():
    step = procedure("x" * 1_000)[0]
    assert len(step.action) <= LONGEST_ACTION
    assert step.description == "x" * 1_000


def test_agents_stand_in_where_there_are_no_steps():
    found = procedure(agents=["scanner", {"id": "router"}, {"name": "writer"}])
    assert [step.order for step in found] == [0, 1, 2]
    for step, name in zip(found, ["scanner", "router", "writer"], strict=True):
        assert name in step.action


def test_agents_add_nothing_where_there_are_steps():
    assert len(procedure("one", agents=["a", "b"])) == 1


@pytest.mark.parametrize("step", ["", "  ", {}, {"action": ""}, {"action": None}, {"result": "ok"}, None, 5, [], ["a"]])
def test_a_step_without_text_is_refused_by_its_place(step):
    with pytest.raises(InputError, match="step 1"):
        procedure("fine", step)


@pytest.mark.parametrize(
    "step", [{"action": "a", "is_optional": "yes"}, {"action": "a", "description": {"k": 1}}], ids=repr
)
def test_a_step_with_a_field_of_the_wrong_kind_is_refused(step):
    with pytest.raises(InputError, match=r"is_optional|description"):
        procedure(step)


@pytest.mark.parametrize("trace", [{"steps": "one"}, {"steps": {"a": 1}}, {"agents": "a"}, {"strategy": 5}, [], None])
def test_what_is_no_trace_is_refused(trace):
    with pytest.raises(InputError, match="execution_trace"):
        validated(ExecutionTrace, trace, "execution_trace")


FEATURES = ContextFeatures(
    task_structures=["decomposition", "sequential"],
    cognitive_patterns=["analysis"],
    input_shape="list",
    output_shape="text",
    domain_hints=["law", "analysis"],
)


def test_conditions_name_the_shapes_the_structures_and_the_quality():
    before = [condition.predicate for condition in preconditions(FEATURES)]
    after = [condition.predicate for condition in postconditions(FEATURES, Outcome(success=True, quality=0.85))]
    assert any("list" in predicate for predicate in before)
    assert any("decomposition" in predicate for predicate in before)
    assert any("text" in predicate for predicate in after)
    assert any("0.85" in predicate for predicate in after)


def test_tags_are_structures_patterns_and_domain_each_once():
    assert skill_tags(FEATURES) == ["decomposition", "sequential", "analysis", "law"]


@pytest.mark.parametrize(
    ("features", "task", "name"),
    [
        (FEATURES, "anything", "Analysis via Decomposition"),
        (ContextFeatures(), "bake sourdough bread", "Bake sourdough bread"),
        (ContextFeatures(), "", "Knead the dough"),
        (ContextFeatures(), " \n", "Knead the dough"),
        (ContextFeatures(), "🍞", "🍞"),
    ],
)
def test_a_skill_without_a_name_gets_one(features, task, name):
    assert skill_name(features, task, procedure("knead the dough")) == name


def test_a_made_name_is_short():
    assert 0 < len(skill_name(ContextFeatures(), LONG, procedure("a"))) <= 60
