"""For any text at all: it is inserted as it is, JSON stays JSON, and nothing but the documented errors is raised."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.errors import InputError, PayloadError, WorkflowError
from brain.workflow.answers import read_answer
from brain.workflow.check import plan_of
from brain.workflow.document import parse_document
from brain.workflow.helpers import View
from brain.workflow.payload import check_payload
from brain.workflow.rendering import make_environment, render
from brain.workflow.sandbox import Outputs
from brain.workflow.values import AgentOutput, input_value

ENVIRONMENT = make_environment()
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ["{{ 7*7 }}", "}}", "{%", "{#", '"', "\\", "\n", "null", "1e5", "[", "{}", "\ue0000;", "</script>", "'"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
JSON_PROMPT = ENVIRONMENT.from_string(
    '{"quoted": "<{{ input }}>", "value": {{ previous_outputs.a.v | tojson }}, "bare": {{ previous_outputs.a.v }}}'
)
PLAIN_PROMPT = ENVIRONMENT.from_string("a {{ input }}\n{{ previous_outputs.a.v }} b")
SIGNS = [*"abc \n-:[]{}&*!|>'\"#%@`,?0.~\t", "orchestrator:", "agents:", "{{", "}}", "id: a", "{% if ", "input", " | "]
MARKUP = st.lists(st.sampled_from(SIGNS), max_size=60).map("".join)


def view(text, value=None):
    return View(text, Outputs(a=AgentOutput({"v": value}, id="a", status="success")))


@given(TEXTS, TEXTS)
@settings(deadline=None)
def test_any_text_is_inserted_as_it_is(text, other):
    assert render(PLAIN_PROMPT, view(text, other), "x").text == f"a {text}\n{other} b"


@given(TEXTS, VALUES)
@settings(deadline=None)
def test_any_value_in_a_json_prompt_comes_out_again(text, value):
    found = render(JSON_PROMPT, view(text, value), "x")
    assert found.is_json
    read = json.loads(found.text)
    assert read["quoted"] == f"<{text}>"
    assert read["value"] == value
    if not isinstance(value, str):  # bare text may mean a number or true, as models write it
        assert read["bare"] == value


@given(st.text(max_size=200) | MARKUP | VALUES.map(json.dumps).map(lambda text: text[: len(text) * 2 // 3]))
@settings(deadline=None, max_examples=300)
def test_any_answer_is_read(text):
    found = read_answer(text)
    if found is not None:
        assert {"response", "confidence", "internal_reasoning"} <= found.fields.keys()
        json.dumps(found.fields, allow_nan=False).encode()


@given(st.sampled_from(["learn", "recall", "feedback"]), VALUES | st.text(max_size=100) | MARKUP)
@settings(deadline=None, max_examples=300)
def test_any_payload_is_used_or_refused(operation, payload):
    try:
        check_payload("x", operation, payload)
    except PayloadError as error:
        assert str(error).startswith("agent 'x': ")


@given(
    st.sampled_from(["learn", "recall", "feedback"]),
    st.dictionaries(
        st.sampled_from(
            "domain task steps response confidence quality success top_k min_score adaptations skill_id".split()
        ),
        VALUES,
        max_size=5,
    ),
)
@settings(deadline=None, max_examples=300)
def test_any_values_of_the_known_keys_are_used_or_refused(operation, payload):
    try:
        check_payload("x", operation, payload)
    except PayloadError as error:
        assert error.agent == "x"


@given(MARKUP | st.text(max_size=80))
@settings(deadline=None, max_examples=400)
def test_any_file_is_planned_or_refused(text):
    with pytest.raises(WorkflowError):
        plan_of(parse_document(text, "wf.yml"), {})


@given(MARKUP | st.text(max_size=60))
@settings(deadline=None, max_examples=300)
def test_any_template_is_compiled_and_rendered_or_refused(source):
    agents = [
        {
            "id": "a",
            "type": "local_llm",
            "provider": "lm_studio",
            "model_url": "http://x",
            "model": "m",
            "prompt": source,
        }
    ]
    text = json.dumps({"orchestrator": {"id": "x", "agents": ["a"]}, "agents": agents})
    try:
        plan = plan_of(parse_document(text), {})
        render(plan.steps[0].template, view("words"), "a")
    except (WorkflowError, PayloadError):
        pass


@given(st.text(max_size=100) | VALUES.map(json.dumps), st.booleans())
def test_any_input_is_read_or_refused(text, as_json):
    try:
        value = input_value(text, as_json=as_json)
    except InputError:
        assert as_json
    else:
        assert as_json or value == text
