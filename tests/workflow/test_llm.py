"""What becomes of each kind of answer of a model's endpoint, of faults, and of none in time; over real HTTP."""

import json
import socket
import time

import pytest

from tests.workflow.conftest import ran, results, says
from tests.workflow.solving import GOOD, STEPS, learned, one


@pytest.fixture
def brain(file_place):
    return file_place.open()


# Answers


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"```json\n{json.dumps(GOOD, indent=2)}\n```",
        f"<think>Hm {{}}</think>\n{json.dumps(GOOD)}",
        f"Sure!\n{json.dumps(GOOD)}\nBye.",
    ],
    ids=["good", "fenced", "thinking", "prose around it"],
)
def test_an_answer_is_learned_from_however_it_is_wrapped(model, brain, answer):
    llm = model({"solve": says(answer, when="Mend")})
    result = ran(one(llm.url), "the chair", brain=brain)
    assert result.status == "ok"
    assert result.answer.startswith("Learned skill: ")
    assert learned(brain) == [STEPS]
    solved = results(result)["solve"]
    assert (solved.output["response"], solved.output["confidence"]) == ("done", "0.9")
    assert not solved.is_repaired
    assert not solved.is_truncated
    assert (solved.prompt_tokens, solved.answer_tokens) == (
        len(llm.prompt_of("solve")),
        len(answer if isinstance(answer, str) else json.dumps(answer)),
    )


def test_a_cut_off_answer_is_marked_and_half_a_step_is_not_learned(model, brain):
    text = '{"response": "done", "steps": [{"action": "look at it"}, {"action": "turn it ov'
    llm = model({"solve": says({"answer": text, "finish": "length"}, when="Mend")})
    result = ran(one(llm.url), "x", brain=brain)
    solved = results(result)["solve"]
    assert (solved.is_repaired, solved.is_truncated) == (True, True)
    assert "cut off" in solved.warnings[0]
    assert "max_tokens" in solved.warnings[0]
    assert results(result)["learn"].warnings == [
        "learned from the answer of 'solve', which was cut off; steps may be missing"
    ]
    assert learned(brain) == [["look at it"]]


def test_a_whole_answer_that_reached_its_limit_is_marked(model, brain):
    llm = model({"solve": says({"answer": GOOD, "finish": "length"}, when="Mend")})
    solved = results(ran(one(llm.url), "x", brain=brain))["solve"]
    assert (solved.is_repaired, solved.is_truncated) == (False, True)


def test_prose_is_the_response_and_its_sentences_are_the_steps(model, brain):
    text = "First we look at every joint of it. Then we glue the one that moves."
    llm = model({"solve": says(text, when="Mend")})
    result = ran(one(llm.url), "x", brain=brain)
    assert results(result)["solve"].output == {"response": text, "confidence": "0.0", "internal_reasoning": ""}
    assert "taken from the text" in results(result)["learn"].warnings[0]
    assert learned(brain) == [["First we look at every joint of it.", "Then we glue the one that moves."]]


def test_a_list_of_steps_is_learned(model, brain):
    llm = model({"solve": says(json.dumps(STEPS), when="Mend")})
    ran(one(llm.url), "x", brain=brain)
    assert learned(brain) == [STEPS]


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ({"answer": ""}, "empty answer"),
        ({"answer": "{}"}, "empty answer"),
        ({"answer": "<think>and nothing</think>"}, "empty answer"),
        ({"answer": "<think>and", "finish": "length"}, "It was cut off while thinking; raise 'max_tokens'"),
        ({"answer": "overloaded", "status": 500}, "HTTP 500: overloaded. See the server's log"),
        ({"answer": "no such model", "status": 404}, "HTTP 404: no such model. Check model_url and model"),
        ({"answer": "slow down", "status": 429}, "HTTP 429: slow down. Wait, or raise 'retries'"),
        ({"answer": "who are you", "status": 401}, "HTTP 401: who are you. Check the API key"),
        (
            {"answer": "", "raw": "<html>hello</html>", "type": "text/html"},
            "no completion: <html>hello</html>. Is model_url right?",
        ),
        ({"answer": "", "raw": "{not json", "type": "application/json"}, "is no JSON"),
        ({"answer": "", "raw": '{"choices": []}'}, "no completion"),
        ({"answer": "", "raw": '{"choices": null, "error": {"message": "out of memory"}}'}, "out of memory"),
        ({"answer": "", "raw": "[1]"}, "no completion"),
        ({"answer": "", "raw": "[" * 100_000}, "is no JSON"),
        ({"answer": "", "raw": '{"choices": [{"message": {"content": [{"text": 5}, 7]}}]}'}, "empty answer"),
        (
            {"answer": "", "raw": '{"choices": [{"message": {"content": null, "refusal": "I may not"}}]}'},
            "refused: I may not",
        ),
        ({"answer": "", "raw": '{"choices": [{"message": {"content": null, "tool_calls": []}}]}'}, "empty answer"),
        ({"answer": "", "raw": '{"choices": [{"message": {"content": 7}}]}'}, "empty answer"),
    ],
)
def test_a_failed_or_empty_answer_never_becomes_a_skill_and_the_learn_step_says_why(model, brain, answer, word):
    llm = model({"solve": says(answer, when="Mend")})
    for rule, status in (("stop", "not_run"), ("continue", "skipped")):
        found = results(ran(one(llm.url, ", retries: 0"), "x", f"on_error={rule}", brain=brain))
        assert found["solve"].status == "failed"
        assert word in found["solve"].error
        assert found["learn"].status == status
        assert "'solve' failed" in found["learn"].error
    assert "Nothing was learned, because 'solve' failed" in found["learn"].error
    assert learned(brain) == []


def test_nothing_that_answers_is_told_with_the_address(brain):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    found = results(ran(one(url, ", retries: 0"), "x", brain=brain))["solve"]
    assert found.status == "failed"
    assert f"nothing answers at {url}/v1/chat/completions" in found.error
    assert "Start the model's server there" in found.error


def test_a_server_that_hangs_up_is_told(brain):
    with socket.create_server(("127.0.0.1", 0)) as server:
        import threading

        def hang_up():
            connection, _ = server.accept()
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        found = results(ran(one(url, ", retries: 0"), "x", brain=brain))["solve"]
        thread.join()
    assert "gave no whole answer: " in found.error
    assert "Start the model's server" not in found.error


def test_a_completion_of_another_content_type_is_one(model, brain):
    said = json.dumps({"choices": [{"message": {"content": json.dumps(GOOD)}}]})
    llm = model({"solve": says({"answer": "", "raw": said, "type": "text/plain"}, when="Mend")})
    assert ran(one(llm.url), "x", brain=brain).status == "ok"
    assert learned(brain) == [STEPS]


def test_half_a_character_in_a_prompt_is_told(model, brain):
    llm = model({"solve": says(GOOD, when="Mend")})
    found = results(ran(one(llm.url, prompt="Mend {{ '\\ud800' }} it. JSON"), "x", brain=brain))["solve"]
    assert "the prompt has half of a character (#xd800)" in found.error
    assert llm.asked == []


@pytest.mark.parametrize("answer", ['{"steps": [["look at all of it"], ["x"]]}', '[["look at all of it"]]'])
def test_json_that_tells_no_steps_is_not_taken_for_prose(model, brain, answer):
    llm = model({"solve": says(answer, when="Mend")})
    found = results(ran(one(llm.url), "x", brain=brain))["learn"]
    assert "there is nothing to learn" in found.error
    assert learned(brain) == []


def test_json_without_a_task_names_the_skill_by_what_is_done(model, brain):
    llm = model({"solve": says({"steps": {"1": "look at every joint", "2": "glue the loose one"}}, when="Mend")})
    assert ran(one(llm.url), "x", brain=brain).status == "ok"
    (skill,) = brain.get_skills()
    assert skill.task == "look at every joint, glue the loose one"


# Retries and time


@pytest.mark.parametrize("status", [500, 503, 429, 408])
def test_a_passing_fault_is_tried_again(model, brain, status):
    llm = model({"solve": says({"answer": "busy", "status": status}, GOOD, when="Mend")})
    result = ran(one(llm.url), "x", brain=brain)
    assert result.status == "ok"
    assert [one.headers["X-Stainless-Retry-Count"] for one in llm.asked] == ["0", "1"]
    assert learned(brain) == [STEPS]


def test_a_fault_that_lasts_ends_after_the_retries(model, brain):
    llm = model({"solve": says({"answer": "busy", "status": 503}, when="Mend")})
    found = results(ran(one(llm.url, ", retries: 1"), "x", brain=brain))["solve"]
    assert "HTTP 503" in found.error
    assert len(llm.asked) == 2


def test_what_will_not_pass_is_not_tried_again(model, brain):
    llm = model({"solve": says({"answer": "no", "status": 404}, when="Mend")})
    ran(one(llm.url, ", retries: 5"), "x", brain=brain)
    assert len(llm.asked) == 1


def test_a_slow_answer_ends_at_the_timeout_all_attempts_together(model, brain):
    llm = model({"solve": says({"answer": GOOD, "held": True}, when="Mend")})
    llm.gate.clear()
    begun = time.monotonic()
    found = results(ran(one(llm.url, ", timeout: 0.5, retries: 5"), "x", brain=brain))["solve"]
    took = time.monotonic() - begun
    llm.gate.set()
    assert "did not answer within 0.5 s. Raise 'timeout'" in found.error
    assert 0.5 <= took < 5
    assert learned(brain) == []


def test_the_timeout_of_orka_holds_where_the_agent_says_none(model, brain):
    llm = model({"solve": says({"answer": GOOD, "held": True}, when="Mend")})
    llm.gate.clear()
    found = results(ran(one(llm.url), "x", brain=brain, environment={"ORKA_TIMEOUT_SECONDS": "0.3"}))["solve"]
    llm.gate.set()
    assert "within 0.3 s" in found.error
