"""Is what a caller hands in taken as a dict and as a record, and is a slip of the pen told?"""

import logging
from types import MappingProxyType

import pytest

import brain
from brain import Context, Execution, ExecutionTrace, InputError, Outcome
from brain.model.inputs import misspelt
from tests.contract.samples import bread

TRACE, CONTEXT, OUTCOME = {"steps": ["gather", "test"]}, {"task": "find the leak"}, {"success": True, "quality": 0.5}
EXECUTION = {"execution_trace": TRACE, "context": CONTEXT, "outcome": OUTCOME}


@pytest.mark.parametrize(
    ("kind", "given", "found"),
    [
        (Outcome, {"sucess": True, "qualty": 1}, {"sucess": "success", "qualty": "quality"}),
        (Context, {"taks": "t", "Domain": "d", "outputFormat": "json"}, {"taks": "task", "Domain": "domain"}),
        (ExecutionTrace, {"step": [], "agent": "a"}, {"step": "steps", "agent": "agents"}),
        (Context, Context(taks="t"), {"taks": "task"}),
        (Execution, {"skil_id": "a", "Trace-ID": "b"}, {"skil_id": "skill_id", "Trace-ID": "trace_id"}),
    ],
)
def test_a_key_like_a_known_one_is_found(kind, given, found):
    assert misspelt(kind, given).items() >= found.items()


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Outcome, {"success": True, "quality": 1, "score": 2, "qualities": [], "successes": 3}),
        (Context, {"task": "t", "tasks": [], "task_id": 7, "input": "x", "user": "u", "project": "p", "stages": []}),
        (ExecutionTrace, {"steps": [], "step": 3, "tokens": 5, "model": "m", "latency": 2, "started_at": ""}),
        (Execution, {**EXECUTION, "run_id": 5, "notes": ""}),
        (Context, {5: "x", None: 1, "x" * 1_000: 1}),
        (Context, Context(task="t", tasks=[])),
        (Context, "task"),
        (Context, None),
    ],
)
def test_other_keys_are_anybodys(kind, given):
    assert misspelt(kind, given) == {}


def test_a_misspelt_key_is_warned_of_once(in_memory, caplog):
    mind = in_memory()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            mind.learn(TRACE, CONTEXT, {"success": True, "qualty": 0.9})
            mind.recall({"task": "find the leak", "domian": "plumbing"})
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert "'qualty'" in told[0] and "'quality'" in told[0] and "outcome" in told[0]
    assert "'domian'" in told[1] and "'domain'" in told[1]
    (found,) = mind.get_traces(mind.get_skills()[0].id, limit=1)
    assert found.outcome["qualty"] == 0.9, "what is not read is kept"


def test_an_error_names_the_key_that_was_meant(in_memory):
    with pytest.raises(InputError, match=r"'sucess' for 'success'"):
        in_memory().learn(TRACE, CONTEXT, {"sucess": True})


def test_records_are_taken_wherever_dicts_are(in_memory):
    trace, context, outcome = ExecutionTrace(**TRACE), Context(**CONTEXT, room="kitchen"), Outcome(**OUTCOME)
    mind = in_memory()
    learned = mind.learn(trace, context, outcome)
    assert learned.to_dict().keys() == mind.preview(trace, context, outcome).to_dict().keys()
    assert mind.recall(context)[0].skill.id == learned.id
    assert mind.why(learned.id, context).returned
    assert mind.feedback(learned.id, context, True).recorded
    assert mind.get_traces(learned.id)[0].context["room"] == "kitchen"
    execution = Execution(execution_trace=trace, context=context, outcome=outcome, skill_id="other", skill_type="x")
    assert mind.learn_many([execution, MappingProxyType(EXECUTION)]).learned == 2
    assert mind.get_skill("other").skill_type == "x"


def test_a_record_that_was_changed_in_place_is_checked_anew(in_memory):
    trace = ExecutionTrace(**TRACE)
    trace.steps.append(object())
    with pytest.raises(InputError):
        in_memory().learn(trace, CONTEXT, OUTCOME)
    execution = Execution(**EXECUTION)
    execution.execution_trace.steps.append(object())
    (refused,) = in_memory().learn_many([execution]).refused
    assert "steps" in refused.reason


def test_a_record_of_another_kind_is_refused(in_memory):
    with pytest.raises(InputError, match="context"):
        in_memory().recall(Outcome(**OUTCOME))


def test_an_execution_is_read_as_a_file_has_it():
    found = Execution.read({"trace": TRACE, "context": CONTEXT, "outcome": OUTCOME, "trace_id": None, "run_id": 7})
    assert found == Execution(**EXECUTION, run_id=7)
    assert found.unread == ["run_id"]
    assert (found.skill_type, found.trace_id, found.derived_from) == ("procedural", None, [])
    assert Execution.read(found) == found == Execution.read(found.to_dict())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (7, "int"),
        ([EXECUTION], "list"),
        ({}, "'execution_trace' and no 'context' and no 'outcome'"),
        ({**EXECUTION, "trace": TRACE}, "both"),
        ({**EXECUTION, "outcome": {}}, "outcome is not valid: success"),
        ({**EXECUTION, "skill_id": "a/b"}, "skill id"),
        ({**EXECUTION, "trace_id": 7}, "trace id"),
        ({**EXECUTION, "derived_from": "abc"}, "derived_from: must be a list"),
        ({**EXECUTION, "derived_from": [" "]}, "derived_from"),
        ({**EXECUTION, "skill_name": " "}, "skill_name: must not be empty"),
        ({**EXECUTION, "skill_type": ""}, "skill_type: must not be empty"),
    ],
)
def test_what_is_no_execution_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        Execution.read(given)


def test_keys_of_executions_that_are_not_read_are_named_once(in_memory, caplog):
    many = [{**bread(), "run_id": i, "skil_name": "x"} for i in range(30)]
    with caplog.at_level(logging.WARNING):
        assert in_memory().learn_many(many, batch_size=7).learned == 30
    (told,) = caplog.records
    assert "run_id, skil_name" in told.getMessage()


def test_a_million_strange_keys_take_no_time(in_memory):
    context = {"tsk": "t", **{f"key{i}": 0 for i in range(50_000)}}
    assert misspelt(Context, context) == {"tsk": "task"}


def test_every_error_of_the_tree_is_exported():
    def below(kind):
        return {kind, *(deeper for sub in kind.__subclasses__() for deeper in below(sub))}

    tree = {kind for kind in below(brain.BrainError) if kind.__module__ == "brain.errors"}
    assert len(tree) > 10
    assert {kind.__name__ for kind in tree} <= set(brain.__all__)
    for kind in tree:
        assert kind.__name__ in (brain.errors.__doc__ or ""), "the tree is drawn"


def test_the_version_is_told():
    assert brain.__version__
