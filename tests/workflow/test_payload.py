"""What a brain agent makes of what it is handed: text that means numbers and yes or no, models' ways to write steps."""

import pytest

from brain.config import DEFAULT_MIN_SCORE
from brain.errors import PayloadError
from brain.workflow.answers import read_answer
from brain.workflow.payload import check_payload, lesson, payload_of, request, verdict

STEPS = ["gather evidence", "test it"]


@pytest.mark.parametrize(
    "given",
    [
        {"task": "t", "steps": STEPS},
        '{"task": "t", "steps": ["gather evidence", "test it"]}',
        "{'task': 't', 'steps': ['gather evidence', 'test it']}",
        '"{\\"task\\": \\"t\\", \\"steps\\": [\\"gather evidence\\", \\"test it\\"]}"',
        'Sure:\n```json\n{"task": "t", "steps": ["gather evidence", "test it"]}\n```',
        '<think>x</think>{"task": "t", "steps": ["gather evidence", "test it"]}',
        {"response": {"task": "t", "steps": STEPS}},
    ],
)
def test_an_object_is_found_in_what_an_agent_is_handed(given):
    payload = payload_of("x", given)
    assert (payload["task"], payload["steps"]) == ("t", STEPS)


def test_a_list_is_steps_and_text_is_a_response():
    assert payload_of("x", STEPS) == {"steps": STEPS}
    assert payload_of("x", "some words") == {"response": "some words"}
    assert payload_of("x", "  ") == {}


@pytest.mark.parametrize("given", [3, None, True, 0.5])
def test_what_is_no_object_is_refused(given):
    with pytest.raises(PayloadError, match=r"agent 'x'.*not an object"):
        payload_of("x", given)


def test_what_an_author_wrote_as_json_and_is_none_is_an_error_and_no_task():
    with pytest.raises(PayloadError, match=r"agent 'x'.*looks like JSON but is not: Expecting value at line 1"):
        payload_of("x", '{"task": }', "Expecting value at line 1")


def test_json_is_no_prose_to_take_steps_or_a_task_from():
    for text in ('{"steps": [["look at it all"]]}', '[{"look": "at everything"}]', '["look at it all"'):
        with pytest.raises(PayloadError, match="there is nothing to learn"):
            lesson("x", {"response": text})
        with pytest.raises(PayloadError, match="there is no task"):
            request("x", {"response": text})
    told = lesson("x", {"response": "[1] Look at every joint of it.", "steps": STEPS})
    assert told.context["task"] == "[1] Look at every joint of it."
    assert lesson("x", {"response": '{"a": 1}', "steps": STEPS}).context["task"] == "gather evidence, test it"


# Learn


def test_a_lesson_is_what_observe_takes():
    given = {
        "domain": "medicine",
        "task": "find the cause",
        "steps": [{"action": "gather", "result": "ok"}],
        "input_description": "a film",
        "confidence": "0.8",
        "skill_name": "Elimination",
        "derived_from": ["s1"],
    }
    told = lesson("agent", given)
    assert told.execution_trace == {
        "steps": [{"action": "gather", "result": "ok"}],
        "agents": ["agent"],
        "strategy": "sequential",
    }
    assert told.context == {"domain": "medicine", "task": "find the cause", "input": "a film"}
    assert told.outcome == {"success": True, "quality": 0.8}
    assert (told.skill_name, told.derived_from, told.notes) == ("Elimination", ("s1",), [])


def test_what_a_lesson_does_not_say_takes_the_defaults_of_orka():
    told = lesson("agent", {"response": "It was the yeast. Then more.", "steps": STEPS})
    assert told.context == {"domain": "general", "task": "It was the yeast.", "input": "It was the yeast. Then more."}
    assert told.outcome == {"success": True, "quality": 0.5}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["a", "b"], ["a", "b"]),
        ("1. gather it\n2. test it", ["gather it", "test it"]),
        ('["gather it", "test it"]', ["gather it", "test it"]),
        ("gather it", ["gather it"]),
        ({"1": "gather it", "2": "test it"}, ["gather it", "test it"]),
        ([{"step": "gather it"}, {"title": "test it", "why": "x"}], ["gather it", "test it"]),
        ([{"description": "gather it"}, 7, None, "", {"n": 1}], ["gather it"]),
        (({"action": "gather it"},), ["gather it"]),
    ],
)
def test_steps_are_understood_as_models_write_them(steps, expected):
    told = lesson("x", {"steps": list(steps) if isinstance(steps, tuple) else steps})
    texts = [
        step if isinstance(step, str) else step.get("action") or step["description"]
        for step in told.execution_trace["steps"]
    ]
    assert texts == expected


def test_steps_that_say_nothing_are_left_out_and_told():
    assert lesson("x", {"steps": ["a", 7]}).notes == ["1 of 2 steps say nothing and were left out"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            {"response": "1. **Gather** the logs\n2) Test each cause\n- conclude"},
            ["Gather the logs", "Test each cause", "conclude"],
        ),
        (
            {"response": "We collect the logs of all services. Fine. Then we test each cause on its own!"},
            ["We collect the logs of all services.", "Then we test each cause on its own!"],
        ),
        (
            {"response": "short", "internal_reasoning": "First collect the logs of everything. Then test every cause."},
            ["First collect the logs of everything.", "Then test every cause."],
        ),
    ],
)
def test_without_steps_they_are_taken_from_the_longer_text(said, expected):
    told = lesson("x", said)
    assert [step["action"] for step in told.execution_trace["steps"]] == expected
    assert "taken from the text" in told.notes[0]


@pytest.mark.parametrize(
    "given", [{}, {"response": ""}, {"response": "ok"}, {"steps": []}, {"steps": [7]}, {"task": "t"}]
)
def test_where_nothing_is_told_there_is_nothing_to_learn(given):
    with pytest.raises(PayloadError, match="agent 'x': steps: there is nothing to learn") as error:
        lesson("x", given)
    assert (error.value.agent, error.value.key) == ("x", "steps")


@pytest.mark.parametrize(
    ("confidence", "quality", "said"),
    [
        (0.7, 0.7, ""),
        ("0.7", 0.7, ""),
        ("70%", 0.7, ""),
        ("high", 0.5, "not a number"),
        (95, 1.0, "not within"),
        (None, 0.5, ""),
    ],
)
def test_a_confidence_is_a_models_estimate_and_never_a_reason_to_refuse(confidence, quality, said):
    told = lesson("x", {"steps": STEPS, "confidence": confidence})
    assert told.outcome["quality"] == pytest.approx(quality)
    assert said in " ".join(told.notes)


def test_a_confidence_that_a_model_did_not_state_is_not_taken_for_zero():
    answer = read_answer('{"response": "x", "steps": ["gather evidence"]}')
    assert answer.fields["confidence"] == "0.0"
    assert lesson("x", answer.fields).outcome["quality"] == 0.5


@pytest.mark.parametrize(
    ("text", "success"),
    [
        *((word, True) for word in (True, "true", "True", "yes", "1", 1, "success", "succeeded", "OK")),
        *((word, False) for word in (False, "false", "False", "no", "0", 0, "", "failed", "Failure.")),
    ],
)
def test_yes_and_no_in_a_models_words(text, success):
    assert lesson("x", {"steps": STEPS, "success": text}).outcome["success"] is success
    assert verdict("x", {"skill_id": "s", "success": text}).success is success


@pytest.mark.parametrize(
    ("operation", "payload", "key", "said"),
    [
        ("learn", {"steps": STEPS, "quality": "high"}, "quality", "Give a number from 0 to 1"),
        ("learn", {"steps": STEPS, "quality": 1.5}, "quality", "Give a number from 0 to 1"),
        ("learn", {"steps": STEPS, "quality": None}, "quality", "null"),
        ("learn", {"steps": STEPS, "success": "mostly"}, "success", "Say true or false"),
        ("learn", {"steps": STEPS, "success": None}, "success", "null"),
        ("learn", {"steps": 7}, "steps", "not a list"),
        ("recall", {"task": "t", "top_k": "abc"}, "top_k", "Give a whole number"),
        ("recall", {"task": "t", "top_k": 0}, "top_k", "at least 1"),
        ("recall", {"task": "t", "top_k": 2.5}, "top_k", "whole number"),
        ("recall", {"task": "t", "top_k": True}, "top_k", "whole number"),
        ("recall", {"task": "t", "min_score": None}, "min_score", "null"),
        ("recall", {"task": "t", "min_score": "NaN"}, "min_score", "from 0 to 1"),
        ("recall", {"task": "t", "min_score": -0.1}, "min_score", "from 0 to 1"),
        ("recall", {"domain": "d"}, "task", 'Say in "task"'),
        ("recall", {"task": "t", "skill_types": 3}, "skill_types", "list of names"),
        ("feedback", {"skill_id": "s", "success": "perhaps"}, "success", "Say true or false"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_agent_key_and_remedy(operation, payload, key, said):
    with pytest.raises(PayloadError) as error:
        check_payload("my_agent", operation, payload)
    assert (error.value.agent, error.value.key) == ("my_agent", key)
    assert str(error.value).startswith(f"agent 'my_agent': {key}: ")
    assert said in str(error.value)


# Recall and feedback


def test_a_request_takes_our_min_score_and_the_top_k_of_orka():
    asked = request("x", {"task": "t"})
    assert (asked.top_k, asked.min_score) == (3, DEFAULT_MIN_SCORE)
    assert asked.context["domain"] == "general"


def test_numbers_of_a_request_may_be_text_and_settings_hold_where_it_does_not_say():
    asked = request("x", {"task": "t", "top_k": "7"}, {"top_k": 2, "min_score": 0.6})
    assert (asked.top_k, asked.min_score) == (7, 0.6)


def test_planned_steps_are_compared_as_steps_and_else_the_approach_with_the_task():
    planned = request("x", {"task": "mend it", "steps": STEPS, "internal_reasoning": "why"})
    assert (planned.context["task"], planned.context["steps"]) == ("mend it", STEPS)
    viewed = request("x", {"task": "mend it.", "internal_reasoning": "look first"})
    assert (viewed.context["task"], viewed.task) == ("mend it. look first", "mend it.")
    assert "steps" not in viewed.context


def test_a_verdict_without_success_says_so():
    assert verdict("x", {"skill_id": "s", "skill_name": "N"}).success is None
    assert verdict("x", {"skill_id": "s", "skill_name": "N"}).context == {"domain": "general", "task": "N"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ("{'a': 1}", {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("words", {"notes": "words"}),
        ([], {}),
        (None, {}),
    ],
)
def test_adaptations_are_an_object(given, expected):
    assert verdict("x", {"skill_id": "s", "adaptations": given}).adaptations == expected
