"""What OrKa documents of its LLM agents is taken as it is written: keys, types, variables and functions."""

import json
import re

import pytest

from tests.workflow.conftest import planned, ran, results, says

KEYS = "queue: q\n    config: {a: 1}\n    metadata: {b: 2}\n    max_concurrency: 5\n    stream: false\n    top_k: 40"


def one(body, url="http://localhost:1", more=""):
    """A workflow of one agent."""
    text = f"orchestrator:\n  id: x\n  agents: [a]{more}\nagents:\n  - id: a\n    {body}\n"
    return text.replace("URL", url)


def local(prompt, more="", provider="lm_studio"):
    return f"type: local_llm\n    provider: {provider}\n    model: m\n    model_url: URL\n    prompt: '{prompt}'{more}"


def asked(model, body, given="the chair", answer="done", more=""):
    """The only request of a workflow of one agent, and its result."""
    llm = model({"a": says(answer)})
    environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{llm.url}/v1"}
    result = ran(one(body, llm.url, more), given, environment=environment)
    (request,) = llm.asked
    return request, results(result)["a"]


# Keys


def test_keys_of_orka_without_an_effect_are_told_and_the_workflow_runs(model):
    more = "\n  strategy: simple\n  memory: {enabled: true}\n  structured_output_defaults: {enabled: true}"
    _, found = asked(model, local("x", f"\n    {KEYS}"), more=more)
    assert found.status == "ok"
    warnings = [str(one) for one in planned(one(local("x", f"\n    {KEYS}"), more=more)).warnings]
    for key in ("memory", "structured_output_defaults", "config", "metadata", "max_concurrency", "stream", "top_k"):
        assert any(f"the key {key!r} has no effect here" in warning for warning in warnings), key


@pytest.mark.parametrize("provider", ["lmstudio", "LM_Studio", "Ollama", "OPENAI_COMPATIBLE"])
def test_a_provider_is_known_however_it_is_written(model, provider):
    request, _ = asked(model, local("x", provider=provider))
    assert request.path == ("/api/generate" if provider == "Ollama" else "/v1/chat/completions")


def test_an_agent_without_a_model_asks_for_the_one_that_orka_does_and_is_told_so(model):
    body = local("x").replace("    model: m\n", "")
    request, _ = asked(model, body)
    assert request.body["model"] == "llama3.2:latest"
    (warning,) = planned(one(body)).warnings
    assert "'llama3.2:latest' is asked, as in OrKa" in str(warning)


def test_a_system_prompt_is_a_template_and_a_message_of_its_own(model):
    more = "\n    system_prompt: You know {{ input.field | default(input) }}."
    request, _ = asked(model, local("Mend it", more), '{"field": "chairs"}')
    assert request.body["messages"] == [
        {"role": "system", "content": "You know chairs."},
        {"role": "user", "content": "Mend it"},
    ]


def test_ollama_is_told_the_system_prompt_in_its_own_way(model):
    request, _ = asked(model, local("Mend it", "\n    system_prompt: You know {{ input }}.", "ollama"), "tables")
    assert (request.body["system"], request.body["prompt"]) == ("You know tables.", "Mend it")


def test_a_system_prompt_waits_for_what_it_reads_and_is_checked():
    text = """
orchestrator: {id: x, strategy: parallel, agents: [a, b]}
agents:
  - {id: a, type: local_llm, provider: ollama, model: m, model_url: "http://h", prompt: x}
  - {id: b, type: local_llm, provider: ollama, model: m, model_url: "http://h", prompt: x, system_prompt: SYSTEM}
"""
    assert planned(text.replace("SYSTEM", '"{{ previous_outputs.a.response }}"')).groups == [["a"], ["b"]]
    with pytest.raises(Exception, match=r"workflow.yml:5:\d+: agent 'b': 'inptu' is not known.*'input'"):
        planned(text.replace("SYSTEM", '"{{ inptu }}"'))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("{enabled: false, mode: auto}", None),
        ("{enabled: true, mode: tool_call}", {"type": "object"}),
        ("{enabled: true, schema: {type: object, required: [a]}}", {"type": "object", "required": ["a"]}),
        (
            "{enabled: true, schema: {required: [a], optional: {b: array, c: text}}}",
            {"type": "object", "properties": {"a": {}, "b": {"type": "array"}, "c": {}}, "required": ["a"]},
        ),
    ],
)
def test_structured_output_in_the_form_of_orka_is_the_schema_it_means(model, form, expected):
    request, _ = asked(model, local("x as JSON", f"\n    params: {{structured_output: {form}}}"))
    sent = request.body.get("response_format")
    assert (sent and sent["json_schema"]["schema"]) == expected


SCHEMA = {"type": "object", "properties": {"a": {}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("body", "key", "expected"),
    [
        (local("x", provider="ollama"), "format", SCHEMA),
        ("type: openai-answer\n    model: m\n    prompt: x", "response_format", SCHEMA),
    ],
)
def test_a_schema_is_sent_to_every_kind_of_endpoint(model, body, key, expected):
    request, _ = asked(model, f"{body}\n    params: {{structured_output: {{schema: {{required: [a]}}}}}}")
    sent = request.body[key]
    assert sent.get("json_schema", {}).get("schema", sent) == expected


# Types


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("true", True),
        ("No.", False),
        ('{"response": false, "confidence": 0.9}', False),
        ('```json\n{"response": "Yes"}\n```', True),
        ("The answer is **false**, it holds.", False),
    ],
)
def test_a_binary_agent_answers_yes_or_no(model, answer, chosen):
    request, found = asked(model, 'type: openai-binary\n    model: m\n    prompt: "Is {{ input }} old?"', answer=answer)
    assert request.prompt == "Is the chair old?\n\nAnswer with exactly one of these: true, false."
    assert found.output["response"] is chosen


@pytest.mark.parametrize("answer", ["Perhaps.", "true or false", "It is not true"])
def test_a_binary_agent_that_says_neither_has_failed(model, answer):
    _, found = asked(model, "type: openai-binary\n    model: m\n    prompt: x", answer=answer)
    assert found.status == "failed"
    assert "said neither yes nor no" in found.error


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("tech", "tech"),
        ('{"response": "Nature"}', "nature"),
        ("This is about nature, I think", "nature"),
        ("tech or nature", "not-classified"),
        ("something else", "not-classified"),
        ("1", "1"),
    ],
)
def test_a_classification_answers_one_of_its_options(model, answer, chosen):
    body = (
        'type: openai-classification\n    model: m\n    options: [tech, nature, 1]\n    prompt: "What is {{ input }}?"'
    )
    request, found = asked(model, body, answer=answer)
    assert "Answer with exactly one of these: tech, nature, 1, not-classified." in request.prompt
    assert found.output["response"] == chosen


@pytest.mark.parametrize(
    ("body", "prompt"),
    [
        ("type: openai-answer\n    model: m\n    prompt: Which is it?", "Which is it?\n\nthe chair"),
        ("type: openai-answer\n    model: m\n    prompt: Is it {{ agent_id }}?", "Is it a?"),
        (local("Which is it?"), "Which is it?"),
    ],
)
def test_a_hosted_agent_whose_prompt_reads_nothing_is_shown_the_input_as_in_orka(model, body, prompt):
    request, _ = asked(model, body, "the chair")
    assert request.prompt == prompt


# Templates


def test_the_variables_that_orka_documents_are_there(model):
    request, _ = asked(model, local("{{ agent_id }} {{ loop_number }} {{ trace_id }} {{ now() }}"))
    assert re.fullmatch(r"a 1 [0-9a-f]{32} \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", request.prompt)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{% if has_past_loops() %}x{% endif %}{{ get_loop_number() }}{{ get_past_loops() }}", "1[]"),
        ("{{ get_past_insights() | truncate(12) }}", "No synthe..."),
        ('{{ get_past_loop_data("score") }}; {{ get_round_info() }}', "No past loops found; 1"),
        ("{{ get_score_threshold() }} {{ get_loop_rounds() }} {{ get_final_score() }}", "0.8 Unknown Unknown"),
        ("{{ get_debate_evolution(get_past_loops()) }}", "First round of debate"),
        ("{{ get_past_loops() | format_loop_metadata(3) }}", "No previous loops"),
        ('{{ format_memory_query("realist") }}', "Realist perspective on: the chair"),
        ('{{ get_my_past_memory("x") }}, {{ get_my_past_decisions("x") }}', "No past memory available, No past"),
        ('{{ get_loop_output("a") }}{{ get_collaborative_responses() }}', "{}No collaborative responses available"),
        ("{{ get_progressive_response() }}", "No response available"),
    ],
)
def test_functions_about_loops_and_memory_say_that_this_is_the_first_round(model, expression, expected):
    request, found = asked(model, local(expression))
    assert request.prompt.startswith(expected)
    assert found.warnings == []


def test_the_voices_of_a_debate_are_found_by_their_ids(model):
    text = """
orchestrator: {id: x, agents: [radical_progressive, sum]}
agents:
  - &m {id: radical_progressive, type: local_llm, provider: lm_studio, model: m, model_url: URL, prompt: Speak}
  - {<<: *m, id: sum, prompt: "Sum up {{ get_progressive_response() }}|{{ get_collaborative_responses() }}"}
"""
    llm = model({"voice": says("more", when="Speak"), "sum": says("done", when="Sum")})
    assert ran(text.replace("URL", f'"{llm.url}"')).status == "ok"
    assert llm.prompt_of("sum") == "Sum up more|Progressive: more"


# Payloads


@pytest.mark.parametrize(
    "prompt",
    [
        '{"task": "Find {{ input }}", "steps": ["look at it"], "success": True, "skill_name": None}',
        "{'task': 'Find the \"leak\"', 'steps': ['look at it'], 'success': True, 'skill_name': None}",
    ],
)
def test_a_payload_may_use_the_words_of_python_as_in_orka(file_place, prompt):
    text = one(f"type: brain\n    operation: learn\n    prompt: {json.dumps(prompt)}")
    result = ran(text, 'the "leak"', brain=file_place.open())
    assert result.status == "ok", results(result)["a"].error
    (skill,) = file_place.open().get_skills()
    assert skill.task == 'Find the "leak"'
