"""What is told of templates and payloads before anything of a workflow runs: where, why, and what to write instead."""

import pytest

from tests.workflow.conftest import planned
from tests.workflow.writing import brain, llm, problems, told, workflow

# Templates


@pytest.mark.parametrize(
    ("prompt", "line", "word"),
    [
        (
            "|\n      one\n      {{ input | trunkate(3) }}",
            9,
            "no filter 'trunkate' in templates. Did you mean 'truncate'?",
        ),
        (
            "|\n      one\n      {% if input is uppr %}{% endif %}",
            9,
            "no test 'uppr' in templates. Did you mean 'upper'?",
        ),
        ("|\n      one\n      {% if input %}\n      two", 9, "Unexpected end of template"),
        ("|\n      one\n      {{ input ", 9, "unexpected end of template"),
        ("|-\n      one\n\n      {{ inpt }}", 10, "'inpt' is not known in a template. Did you mean 'input'?"),
        ("|\n      {{ get_agent_respons('a') }}", 8, "Did you mean 'get_agent_response'?"),
        ("|\n      x\n      {{ ''.__class__ }}", 9, "may not read '__class__'"),
        ("|\n      x\n      {{ previous_outputs.b.response }}", 9, "there is no such agent"),
        ("|\n      {{ previous_outputs.a.response }}", 8, "reads its own output"),
        ('"{{ previous_outputs.b.x }}"', 7, "there is no such agent"),
        (">\n      one\n      {{ inpt }}", 7, "'inpt' is not known"),
    ],
)
def test_a_template_that_cannot_work_is_told_with_the_line_in_the_file(prompt, line, word):
    assert told(workflow(llm("a", prompt)), line, word, agent="a", key="prompt")


def test_a_template_that_is_nested_without_end_is_told():
    assert told(workflow(llm("a", f'"{{{{ {"(" * 3000}1{")" * 3000} }}}}"')), 7, "cannot be compiled", agent="a")


@pytest.mark.parametrize("read", ["previous_outputs.late.x", "previous_outputs['late'].x", "previous_outputs.late"])
def test_an_agent_that_has_not_run_by_then_is_told(read):
    text = workflow(llm("a", f'"{{{{ {read} }}}}"'), llm("late"))
    assert told(text, 7, "reads 'late', which has not run by then. List it before", agent="a", key="prompt")
    unlisted = workflow(llm("a", f'"{{{{ {read} }}}}"'), llm("late"), listed=["a"])
    assert told(unlisted, 7, "reads 'late', which is not listed", agent="a", key="prompt")


@pytest.mark.parametrize(
    "template",
    [
        "{{ previous_outputs.late.x | default('d') }}",
        "{{ previous_outputs.late.x | d('d') | upper }}",
        "{{ previous_outputs.late | default({}) }}",
        "{{ previous_outputs.late.x if previous_outputs.late is defined else 'd' }}",
        "{% if previous_outputs.late %}{{ previous_outputs.late.x }}{% endif %}",
        "{% if previous_outputs.late and previous_outputs.late.x %}{{ previous_outputs.late.x }}{% endif %}",
        "{{ previous_outputs.late.x or 'd' }}",
        "{{ previous_outputs.get('late', {}) }}",
        "{{ safe_get(previous_outputs.late, 'x', 'd') }}",
        "{{ safe_get_response('late', 'd') }}",
        "{{ safe_get_response('late', 'd', previous_outputs) }}",
        "{{ get_agent_response('late') }}",
        "{% for x in previous_outputs.late.xs | default([]) %}{% endfor %}",
    ],
)
def test_where_the_template_says_what_to_do_without_it_is_a_warning(template):
    plan = planned(workflow(llm("a", f'"{template}"'), llm("late")))
    assert [warning.agent for warning in plan.warnings] == ["a"]
    assert "Its default is taken" in str(plan.warnings[0])


@pytest.mark.parametrize(
    "template",
    [
        "{{ previous_outputs.a | default(previous_outputs.late.x) }}",
        "{% if previous_outputs.late %}{% else %}{{ previous_outputs.late.x }}{% endif %}",
        "{{ previous_outputs.a.x if previous_outputs.a else previous_outputs.late.x }}",
        "{{ previous_outputs.late.x | upper | default('d') ~ previous_outputs.late.y }}",
    ],
)
def test_a_default_beside_it_is_no_default_for_it(template):
    text = workflow(llm("a"), llm("b", f'"{template}"'), llm("late"))
    assert any("has not run by then" in str(problem) for problem in problems(text))


def test_a_name_with_a_hyphen_is_read_by_brackets():
    text = workflow(llm("my-agent"), llm("b", '"{{ previous_outputs.my-agent.response }}"'))
    assert all("Write previous_outputs['my-agent']" in str(problem) for problem in problems(text))
    assert planned(workflow(llm("my-agent"), llm("b", "\"{{ previous_outputs['my-agent'].response }}\"")))


# Payloads that are written out


@pytest.mark.parametrize(
    ("operation", "payload", "key", "word"),
    [
        ("recall", '{"task": "t", "top_k": "abc"}', "top_k", 'top_k: it is "abc". Give a whole number'),
        ("recall", '{"task": "t", "min_score": null}', "min_score", "min_score: it is null. Give a number from 0 to 1"),
        ("learn", '{"steps": ["look at it"], "quality": "high"}', "quality", 'quality: it is "high"'),
        ("recall", '{"task": "t",}', "prompt", "the payload is not JSON"),
        ("recall", '{"domain": "d"}', "task", "there is no task to recall for"),
    ],
)
def test_a_payload_that_is_written_out_is_checked(operation, payload, key, word):
    assert told(workflow(brain("b", operation, f"'{payload}'")), 8, word, agent="b", key=key)


@pytest.mark.parametrize(
    ("params", "key", "word"),
    [
        ("{top_k: abc}", "top_k", "valid integer"),
        ("{min_score: null}", "min_score", "is null"),
        ("{min_score: 2}", "min_score", "less than"),
    ],
)
def test_settings_of_a_recall_are_checked(params, key, word):
    assert told(workflow(brain("b", "recall", more=f"    params: {params}\n")), 9, word, agent="b", key=key)


# Templates that can be judged before they run


@pytest.mark.parametrize(
    ("template", "word"),
    [
        ("{{ input['__class__'] }}", "may not read '__class__'"),
        ("{{ previous_outputs.__class__ }}", "'__class__'"),
        ("{% include 'x' %}", "cannot read another one by include"),
        ("{% extends 'x' %}", "cannot read another one by extends"),
        ("{% import 'x' as y %}", "cannot read another one by import"),
        ("{% from 'x' import y %}", "cannot read another one by fromimport"),
        ("{% if 1 %}" * 150 + "{% endif %}" * 150, "Simplify it"),
        ("{{ " + "(" * 500 + "1" + ")" * 500 + " }}", "Simplify it"),
    ],
)
def test_a_template_that_can_never_be_made_is_told_before_anything_runs(template, word):
    assert told(workflow(llm("a", f'"{template}"')), 7, word, agent="a", key="prompt")
