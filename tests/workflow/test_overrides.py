"""What a caller puts over a file: for all agents or one, text where text is meant; what cannot be put over is told."""

import pytest

from brain.errors import WorkflowError
from tests.workflow.conftest import planned
from tests.workflow.writing import brain, llm, workflow


def test_values_are_put_over_the_file_for_all_agents_or_one():
    text = workflow(llm("a"), llm("b", more="    params: {url: http://b}\n"), brain("c", "recall"))
    plan = planned(
        text, "model=n", "b.model=o", "model_url=http://c", "top_k=7", "on_error=continue", "c.min_score=0.6"
    )
    a, b, c = (step.agent.settings for step in plan.steps)
    assert (a.model, a.model_url, b.model, b.model_url) == ("n", "http://c", "o", "http://c")
    assert (c.top_k, c.min_score, plan.workflow.on_error) == (7, 0.6, "continue")


def test_a_prompt_or_an_order_may_be_put_over_too():
    plan = planned(workflow(llm("a"), llm("b")), "a.prompt=say: {{ input }}", "a.depends_on=b", "strategy=parallel")
    assert [step.agent.id for step in plan.steps] == ["b", "a"]
    assert plan.steps[1].agent.prompt == "say: {{ input }}"


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("model=4", "model", "4"),
        ("a.model=yes", "model", "yes"),
        ("stop=[x, y]", "stop", ["x", "y"]),
        ('structured_output={"type": "object"}', "structured_output", {"type": "object"}),
        ("structured_output=false", "structured_output", False),
        ("system_prompt={{ input }}", "system_prompt", "{{ input }}"),
        ("provider=OLLAMA", "provider", "ollama"),
    ],
)
def test_what_is_put_over_is_text_where_text_is_meant_else_what_yaml_reads(override, key, value):
    assert getattr(planned(workflow(llm("a")), override).steps[0].agent.settings, key) == value


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("model", ["is not KEY=VALUE"]),
        ("=x", ["is not KEY=VALUE"]),
        ("modle=x", ["--set modle", "Did you mean 'model'?"]),
        ("zz.model=x", ["there is no agent 'zz'"]),
        ("a.operation_=x", ["takes no 'operation_'"]),
        ("top_k=3", ["no agent of the workflow takes 'top_k'"]),
        ("temperature=hot", ["--set temperature=hot", "agent 'a'", "valid number"]),
        ("a.prompt={{ inpt }}", ["--set a.prompt", "Did you mean 'input'?"]),
    ],
)
def test_what_cannot_be_put_over_is_told(override, words):
    with pytest.raises(WorkflowError) as error:
        planned(workflow(llm("a")), override)
    for word in words:
        assert word in str(error.value)
