"""What a model's endpoint is asked: where, with which key, settings and form; over real HTTP."""

import json

import pytest

from brain.workflow.llm import endpoint_of
from brain.workflow.records import Agent, LlmSettings
from tests.workflow.conftest import ran, results, says
from tests.workflow.solving import GOOD, STEPS, learned, one


@pytest.fixture
def brain(file_place):
    return file_place.open()


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
