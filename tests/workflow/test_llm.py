"""What is asked of a model's endpoint, and what becomes of each kind of answer; over real HTTP."""

import json
import socket
import time

import pytest

from brain.workflow.llm import endpoint_of
from brain.workflow.records import Agent, LlmSettings
from tests.workflow.conftest import ran, results, says

GOOD = {"response": "done", "steps": ["look at it", "mend it"], "confidence": 0.9}
STEPS = ["look at it", "mend it"]


def one(url, more="", prompt="Mend {{ input }}. Answer as JSON.", provider="lm_studio", kind="local_llm"):
    """A workflow of one model that is asked and one brain that learns from what it answers."""
    return f"""
orchestrator: {{id: x, agents: [solve, learn]}}
agents:
  - id: solve
    type: {kind}
    prompt: {json.dumps(prompt)}
    params: {{provider: {provider}, model_url: "{url}", model: m{more}}}
  - id: learn
    type: brain
    operation: learn
    prompt: "{{{{ previous_outputs.solve }}}}"
"""


@pytest.fixture
def brain(file_place):
    return file_place.open()


def learned(brain):
    """The steps of every skill there is."""
    return [[step.action for step in skill.procedure] for skill in brain.get_skills()]


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


# Requests


def test_the_request_is_one_message_with_the_settings_and_no_key(model, brain, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("OPENAI_ORG_ID", "secret-org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "secret-project")
    llm = model({"solve": says(GOOD, when="Mend")})
    more = ", temperature: 0.1, max_tokens: 50, top_p: 0.9, seed: 7, stop: [END]"
    ran(one(llm.url, more), 'a "chair" {{ x }}', brain=brain)
    (asked,) = llm.asked
    assert asked.body == {
        "model": "m",
        "messages": [{"role": "user", "content": 'Mend a "chair" {{ x }}. Answer as JSON.'}],
        "temperature": 0.1,
        "max_tokens": 50,
        "top_p": 0.9,
        "seed": 7,
        "stop": ["END"],
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}},
    }
    assert "secret" not in json.dumps(asked.headers)


def test_temperature_is_that_of_orka_where_the_agent_says_none(model, brain):
    llm = model({"solve": says(GOOD, when="Mend")})
    ran(one(llm.url), "x", brain=brain)
    assert llm.asked[0].body["temperature"] == 0.7


def test_settings_beside_params_hold_too(model, brain):
    llm = model({"solve": says(GOOD, when="Mend")})
    text = one(llm.url).replace(
        f'    params: {{provider: lm_studio, model_url: "{llm.url}", model: m}}',
        f"    provider: lm_studio\n    url: {llm.url}\n    model: top\n    temperature: 0.2\n    timeout: 30",
    )
    assert ran(text, "x", brain=brain).status == "ok"
    assert (llm.asked[0].body["model"], llm.asked[0].body["temperature"]) == ("top", 0.2)


def test_a_key_is_sent_where_the_agent_says_which(model, brain):
    llm = model({"solve": says(GOOD, when="Mend")})
    ran(one(llm.url, ", api_key_env: MY_KEY"), "x", brain=brain, environment={"MY_KEY": "abc"})
    assert llm.asked[0].headers["Authorization"] == "Bearer abc"


def test_ollama_is_asked_in_its_own_words(model, brain):
    llm = model({"solve": says(GOOD, when="Mend")})
    result = ran(one(f"{llm.url}/api/generate", ", max_tokens: 9", provider="ollama"), "x", brain=brain)
    (asked,) = llm.asked
    assert asked.path == "/api/generate"
    assert asked.body == {
        "model": "m",
        "prompt": "Mend x. Answer as JSON.",
        "stream": False,
        "format": "json",
        "options": {"temperature": 0.7, "num_predict": 9},
    }
    assert results(result)["solve"].answer_tokens == len(json.dumps(GOOD))
    assert learned(brain) == [STEPS]


def test_a_cut_off_answer_of_ollama_is_marked(model, brain):
    llm = model({"solve": says({"answer": GOOD, "finish": "length"}, when="Mend")})
    assert results(ran(one(llm.url, provider="ollama"), "x", brain=brain))["solve"].is_truncated
    assert llm.asked[0].path == "/api/generate"


def test_a_hosted_model_is_asked_with_its_key_model_and_temperature(model, brain):
    llm = model({"solve": says(GOOD, when="Mend")})
    text = (
        one("unused", ", temperature: 0", kind="openai-answer")
        .replace(', model_url: "unused"', "")
        .replace("provider: lm_studio, ", "")
    )
    environment = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": f"{llm.url}/v1", "BASE_OPENAI_MODEL": "other"}
    assert ran(text, "x", brain=brain, environment=environment).status == "ok"
    (asked,) = llm.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["Authorization"] == "Bearer key"
    assert (asked.body["model"], asked.body["temperature"]) == ("m", 0.0)
    assert asked.body["response_format"] == {"type": "json_object"}
    assert learned(brain) == [STEPS]


def test_the_key_of_openai_is_not_sent_to_an_address_that_the_workflow_names(model, brain):
    llm = model({"solve": says(GOOD, when="Mend")})
    text = one(llm.url, kind="openai-answer").replace("provider: lm_studio, ", "")
    assert ran(text, "x", brain=brain, environment={"OPENAI_API_KEY": "key"}).status == "ok"
    assert "Authorization" not in llm.asked[0].headers


@pytest.mark.parametrize(
    ("provider", "given", "asked"),
    [
        ("lm_studio", "http://h:1", "http://h:1/v1/chat/completions"),
        ("lm_studio", "http://h:1/", "http://h:1/v1/chat/completions"),
        ("lm_studio", "http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("lm_studio", "http://h:1/v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("lm_studio", "http://h:1/lm", "http://h:1/lm/v1/chat/completions"),
        ("openai_compatible", "http://h:1", "http://h:1/v1/chat/completions"),
        ("openai_compatible", "http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("openai_compatible", "http://h:1/v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("openai_compatible", "http://h:1/own/path", "http://h:1/own/path"),
        ("ollama", "http://h:1", "http://h:1/api/generate"),
        ("ollama", "http://h:1/api/generate", "http://h:1/api/generate"),
        ("ollama", "http://h:1/api/chat", "http://h:1/api/chat"),
        ("ollama", "http://h:1/v1", "http://h:1/v1/chat/completions"),
    ],
)
def test_the_address_is_what_users_mean(provider, given, asked):
    settings = LlmSettings(provider=provider, model_url=given, model="m")
    assert endpoint_of(Agent("a", "local_llm", ()), settings, {}).url == asked


def test_credentials_of_an_address_are_not_shown():
    settings = LlmSettings(provider="lm_studio", model_url="http://user:pass@h:1/v1?key=s", model="m")
    endpoint = endpoint_of(Agent("a", "local_llm", ()), settings, {"X": "y"})
    assert endpoint.shown == "http://h:1/v1/chat/completions"
    assert "pass" not in repr(endpoint.shown)


# Structured output


def test_an_endpoint_that_takes_no_form_is_asked_without_and_remembered(model, brain):
    llm = model({"solve": says({"answer": "response_format is not supported", "status": 400}, GOOD, when="Mend")})
    text = (
        one(llm.url)
        .replace("agents: [solve, learn]", "agents: [solve, again, learn]")
        .replace(
            "agents:\n  - id: solve",
            f"""agents:
  - id: again
    type: local_llm
    prompt: "Mend it again, JSON"
    params: {{provider: lm_studio, model_url: "{llm.url}", model: m}}
  - id: solve""",
        )
    )
    assert ran(text, "x", brain=brain).status == "ok"
    assert ["response_format" in one.body for one in llm.asked] == [True, False, False]


@pytest.mark.parametrize(
    ("setting", "prompt", "form"),
    [
        ("auto", "Mend it.", None),
        ("auto", "Mend it, as JSON.", {"type": "object"}),
        ("false", "Mend it, as JSON.", None),
        ("true", "Mend it.", {"type": "object"}),
        ("{type: object, required: [a]}", "Mend it.", {"type": "object", "required": ["a"]}),
    ],
)
def test_a_form_is_asked_for_where_the_prompt_asks_for_json_or_the_agent_says_so(model, setting, prompt, form):
    llm = model({"solve": says("fine", when="Mend")})
    text = one(llm.url, f", structured_output: {setting}", prompt).replace("agents: [solve, learn]", "agents: [solve]")
    assert ran(text, "x").answer == "fine"
    asked = llm.asked[0].body.get("response_format", {}).get("json_schema", {}).get("schema")
    assert asked == form


def test_a_prompt_that_asks_for_no_json_gets_a_sentence_that_does_if_others_read_fields(model, brain):
    llm = model({"solve": says(GOOD, when="Mend")})
    assert ran(one(llm.url, prompt="Mend it."), "x", brain=brain).status == "ok"
    prompt = llm.prompt_of("solve")
    assert prompt.startswith("Mend it.\n\nAnswer with one JSON object with the keys ")
    assert '"steps"' in prompt
    assert "response_format" in llm.asked[0].body
