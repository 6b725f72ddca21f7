"""What is told of a workflow before anything of it runs: file, line, agent, key and remedy, and all of it at once."""

import time

import pytest

from brain.errors import WorkflowError
from brain.workflow.check import plan_of
from brain.workflow.document import parse_document
from tests.workflow.conftest import planned
from tests.workflow.writing import brain, llm, problems, told, workflow

# Keys and values


@pytest.mark.parametrize(
    ("text", "line", "agent", "key", "words"),
    [
        (workflow(llm("a", more="    tempurature: 1\n")), 11, "a", "tempurature", ["Did you mean 'temperature'?"]),
        (workflow(llm("a", more="    params: {modle: x}\n")), 11, "a", "modle", ["Did you mean 'model'?"]),
        (workflow(llm("a", more="    temperature: hot\n")), 11, "a", "temperature", ["'hot'", "valid number"]),
        (workflow(llm("a", more="    temperature: 3\n")), 11, "a", "temperature", ["less than or equal to 2"]),
        (workflow(llm("a", more="    timeout: -1\n")), 11, "a", "timeout", ["greater than 0"]),
        (workflow(llm("a", more="    timeout: .inf\n")), 11, "a", "timeout", ["finite number"]),
        (workflow(llm("a", more="    max_tokens: 1.5\n")), 11, "a", "max_tokens", ["integer"]),
        (workflow(llm("a", more="    on_error: retry\n")), 11, "a", "on_error", ["stop or continue"]),
        (workflow(llm("a", more="    params: [1]\n")), 11, "a", "params", ["must be a mapping"]),
        (workflow(llm("a", prompt="[a, b]")), 7, "a", "prompt", ["prompt must be text"]),
        (workflow(llm("a", prompt="''")), 5, "a", "prompt", ["has no prompt"]),
        (workflow(llm("a"), more="  agnts: 1\n"), 4, "", "agnts", ["Did you mean 'agents'?"]),
        (workflow(llm("a"), more="  on_error: perhaps\n"), 4, "", "on_error", ["stop or continue"]),
        (workflow(llm("a"), more="  concurrency: 0\n"), 4, "", "concurrency", ["from 1 to 1000"]),
        ("orchestrater: 1\n" + workflow(llm("a")), 1, "", "orchestrater", ["Did you mean 'orchestrator'?"]),
        (workflow(llm("a").replace("lm_studio", "gpt4all")), 8, "a", "provider", ["Use lm_studio"]),
        (workflow(llm("a", more="    options: fast\n")), 11, "a", "options", ["valid list"]),
        (workflow(llm("a", more="    structured_output: {schema: {required: 5}}\n")), 11, "a", "", ["a list of"]),
        (workflow("  - id: a\n    type:\n"), 6, "a", "type", ["has no 'type'. Give it one"]),
        (workflow("  - id: a\n    type: [b]\n"), 6, "a", "type", ["not a list"]),
        (workflow("  - id: a\n    prompt: x\n"), 5, "a", "type", ["has no 'type'"]),
        (workflow(brain("a", "null")), 7, "a", "operation", ["operation is null"]),
        (workflow("  - id: a\n    type: openai-classification\n    model: m\n    prompt: x\n"), 5, "a", "options", []),
        (
            workflow(llm("a").replace("http://localhost:1", "localhost:1")),
            9,
            "a",
            "model_url",
            ["such as http://localhost:1234"],
        ),
        (
            workflow(llm("a", more="    api_key_env: MY_KEY\n")),
            11,
            "a",
            "api_key_env",
            ["'MY_KEY' is not set", "--env-file"],
        ),
    ],
)
def test_a_wrong_key_or_value_is_told_with_its_line_and_remedy(text, line, agent, key, words):
    assert told(text, line, *words, agent=agent, key=key)


@pytest.mark.parametrize(
    "text", ["orchestrator: 1\nagents: 1\n", "agents:\n", "orchestrator: {agents: {a: 1}}\nagents: {a: 1}\n"]
)
def test_a_workflow_of_another_shape_is_told(text):
    assert {"'orchestrator'", "'agents'"} & {word for problem in problems(text) for word in str(problem).split()}


def test_every_problem_is_told_at_once_by_line():
    text = workflow(
        llm("a", more="    tempurature: 1\n    timeout: 0\n"), llm("b", '"{{ inpt }}"'), listed=["a", "b", "c"]
    )
    assert [(problem.line, problem.agent) for problem in problems(text)] == [(3, "c"), (11, "a"), (12, "a"), (15, "b")]
    with pytest.raises(WorkflowError, match="3 more problems beside it"):
        planned(text)


def test_keys_of_orka_that_change_nothing_are_told_as_warnings():
    text = workflow(llm("a", more="    queue: q\n"), more="  memory_preset: semantic\n  queue: q\n")
    plan = planned(f"meta: {{version: 1}}\nx-anchors: {{a: 1}}\n{text}")
    assert [(warning.line, warning.key) for warning in plan.warnings] == [
        (1, "meta"),
        (6, "memory_preset"),
        (7, "queue"),
        (15, "queue"),
    ]


def test_another_strategy_is_run_in_sequence_with_a_warning():
    plan = planned(workflow(llm("a"), more="  strategy: decision-tree\n"))
    assert plan.workflow.strategy == "sequential"
    assert "run as 'sequential'" in str(plan.warnings[0])


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("loop", "supported: brain, local_llm, openai-answer (and other openai-*), invariant_validator."),
        ("graph-scout", "supported: brain"),
        ("fork", "Say with 'depends_on' what waits for what"),
        ("memory", "supported: brain"),
        ("openai-", "Did you mean"),
        ("classification", "Did you mean 'openai-classification'?"),
        ("plan_validator", "Take the agent out, or run this workflow with OrKa."),
        ("locl_llm", "Did you mean 'local_llm'?"),
    ],
)
def test_an_unsupported_type_names_itself_its_agent_and_what_is_supported(kind, word):
    text = workflow(f"  - id: odd\n    type: {kind}\n")
    assert told(text, 6, f"unsupported agent type {kind!r}", word, agent="odd", key="type")


@pytest.mark.parametrize("operation", ["learn_recipe", "learn_anti", "learn_path", "record_episode", "recall_episodes"])
def test_the_newer_operations_of_orka_are_named(operation):
    words = [
        "learn_recipe, learn_anti, learn_path, record_episode, recall_episodes",
        "Supported: learn, recall, feedback",
    ]
    assert told(workflow(brain("b", operation)), 7, repr(operation), *words, agent="b", key="operation")
    inner = f"  - id: b\n    type: brain\n    params: {{operation: {operation}}}\n"
    assert told(workflow(inner), 7, repr(operation), *words, agent="b", key="operation")


@pytest.mark.parametrize(
    ("operation", "word"), [("lern", "Did you mean 'learn'?"), ("forget", "Known are: learn, recall")]
)
def test_an_unknown_operation_is_no_learning(operation, word):
    assert told(workflow(brain("b", operation)), 7, "unknown operation", word, agent="b", key="operation")


def test_an_operation_may_be_missing_no_more_than_unknown():
    assert told(workflow("  - id: b\n    type: brain\n"), 5, "needs an 'operation'", agent="b", key="operation")


# Agents and their order


@pytest.mark.parametrize(
    ("text", "line", "agent", "word"),
    [
        (workflow(llm("a"), listed=["a", "bb"]), 3, "bb", "is listed but not defined"),
        (workflow(llm("solver"), listed=["solve"]), 3, "solve", "Did you mean 'solver'?"),
        (workflow(llm("a"), listed=["a", "a"]), 3, "a", "is listed twice"),
        (workflow(llm("a"), llm("a"), listed=["a"]), 11, "a", "is taken by the agent in line 5"),
        (workflow(llm("a", more="    depends_on: zz\n")), 11, "a", "depends on 'zz', which is not defined"),
        (workflow(llm("a", more="    depends_on: [a]\n")), 11, "a", "depends on itself"),
        (
            workflow(llm("a", more="    depends_on: b\n"), llm("b"), listed=["a"]),
            11,
            "a",
            "depends on 'b', which is not listed",
        ),
        (
            workflow(llm("a", more="    depends_on: b\n"), llm("b", more="    depends_on: [a]\n")),
            11,
            "a",
            "agents wait for each other: a → b → a",
        ),
        (
            workflow(
                llm("a", '"{{ previous_outputs.b.response }}"'),
                llm("b", '"{{ previous_outputs.a.response }}"'),
                more="  strategy: parallel\n",
            ),
            6,
            "a",
            "agents wait for each other",
        ),
    ],
)
def test_agents_that_cannot_be_put_into_an_order_are_told(text, line, agent, word):
    found = problems(text)
    assert (found[0].line, found[0].agent) == (line, agent)
    assert word in str(found[0])


def test_what_is_defined_and_not_listed_is_not_run_and_told():
    plan = planned(workflow(llm("a"), llm("b"), listed=["a"]))
    assert [step.agent.id for step in plan.steps] == ["a"]
    assert "not listed under orchestrator.agents, so it is not run" in str(plan.warnings[0])


def test_what_is_wrong_with_an_agent_that_is_not_run_is_a_warning():
    text = workflow(llm("a"), "  - {id: l, type: loop}\n", brain("r", "learn_recipe"), listed=["a"])
    plan = planned(text)
    assert [(warning.line, warning.agent) for warning in plan.warnings] == [(11, "l"), (11, "l"), (12, "r"), (14, "r")]


def test_without_a_list_all_agents_are_run_with_a_warning_and_an_empty_one_is_refused():
    plan = planned(workflow(llm("a"), llm("b")).replace("  agents: [a, b]\n", ""))
    assert [step.agent.id for step in plan.steps] == ["a", "b"]
    assert "all agents are run as they are defined" in str(plan.warnings[0])
    assert told(workflow(llm("a"), listed=[]), 3, "no agent is listed", key="agents")


def test_depends_on_moves_an_agent_and_leaves_the_others_as_they_are_listed():
    plan = planned(workflow(llm("a", more="    depends_on: c\n"), llm("b"), llm("c"), llm("d")))
    assert [step.agent.id for step in plan.steps] == ["b", "c", "a", "d"]


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


# Addresses


@pytest.mark.parametrize("url", ["localhost:1", "http://", "http://[::1", "http://host:99999999", "ftp://host", " "])
@pytest.mark.parametrize("kind", ["local_llm", "openai-answer"])
def test_an_address_that_nothing_can_be_sent_to_is_told_before_anything_runs(url, kind):
    text = workflow(llm("a")).replace("http://localhost:1", f'"{url}"').replace("local_llm", kind)
    assert told(text, 9, "Give the endpoint, such as http", agent="a", key="model_url")


def test_the_address_of_the_environment_is_checked_too():
    text = workflow("  - id: a\n    type: openai-answer\n    model: m\n    prompt: hi\n")
    environment = {"OPENAI_BASE_URL": "http://host:port", "OPENAI_API_KEY": "k"}
    assert told(text, 5, "OPENAI_BASE_URL is no address", agent="a", key="model_url", environment=environment)


# Agents that cannot be read


def test_an_id_that_yaml_reads_as_a_truth_is_told_to_need_quotes():
    for problem in problems(workflow(llm("yes"))):
        assert "not true or false. Put it into quotes." in str(problem)
    assert planned(workflow(llm("'yes'"))).steps[0].agent.id == "yes"


@pytest.mark.parametrize("agents", ["{a: {type: brain}}", "text", "[3]"])
def test_agents_that_cannot_be_read_are_told_once_and_not_as_undefined(agents):
    (problem,) = problems(f"orchestrator: {{id: x, agents: [a]}}\nagents: {agents}\n")[-1:]
    assert "is listed but not defined" not in str(problem)


def test_more_agents_than_allowed_are_told_in_one_line():
    listed = ", ".join(f"a{i}" for i in range(5_001))
    agents = "".join(f"  - {{id: a{i}, type: brain}}\n" for i in range(5_001))
    (problem,) = problems(f"orchestrator: {{id: x, agents: [{listed}]}}\nagents:\n{agents}")
    assert "Split the workflow" in str(problem)


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


# Keys for hosted models


def test_a_hosted_model_without_a_key_is_told_before_anything_runs():
    text = workflow("  - id: a\n    type: openai-answer\n    model: m\n    prompt: hi\n")
    assert told(text, 5, "OPENAI_API_KEY is not set", "--env-file", agent="a", key="api_key_env", environment={})
    assert planned(text, environment={"OPENAI_BASE_URL": "http://localhost:1/v1"})
    nameless = text.replace("    model: m\n", "")
    assert told(nameless, 5, "BASE_OPENAI_MODEL", agent="a", key="model")
    assert planned(nameless, environment={"OPENAI_API_KEY": "k", "BASE_OPENAI_MODEL": "m"})


# Many agents


def test_a_thousand_agents_are_checked_in_time():
    agents = [llm(f"a{i}", f'"{{{{ previous_outputs.a{i - 1}.response }}}}"' if i else '"x"') for i in range(1_000)]
    begun = time.monotonic()
    plan = planned(workflow(*agents))
    assert time.monotonic() - begun < 60
    assert len(plan.steps) == 1_000
    parallel = planned(workflow(*agents, more="  strategy: parallel\n"))
    assert len(parallel.groups) == 1_000


def test_more_agents_than_a_workflow_may_have_are_refused():
    listed = "agents:\n" + "  - {id: a, type: b}\n" * 5_001
    (problem,) = problems(f"orchestrator: {{id: x}}\n{listed}")
    assert "5001 agents are more than 5000. Split the workflow" in str(problem)


# Order


def test_groups_are_what_can_run_at_once():
    text = workflow(
        llm("start"),
        llm("left", '"{{ previous_outputs.start.response }}"'),
        llm("right", "x", more="    depends_on: start\n"),
        llm("alone"),
        llm("join", "\"{{ get_agent_response('left') }} {{ previous_outputs.right.response }}\""),
        more="  strategy: parallel\n",
    )
    assert planned(text).groups == [["start", "alone"], ["left", "right"], ["join"]]


def test_a_recall_waits_for_what_the_brain_is_told_before_it():
    text = workflow(
        brain("one", "learn", '\'{"steps": ["look at it"]}\''),
        brain("two", "learn", '\'{"steps": ["turn it over"]}\''),
        brain("three", "recall"),
        more="  strategy: parallel\n",
    )
    assert planned(text).groups == [["one", "two"], ["three"]]


def test_the_environment_is_that_of_the_process_unless_one_is_given(monkeypatch):
    text = workflow("  - id: a\n    type: openai-answer\n    model: m\n    prompt: hi\n")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert plan_of(parse_document(text))
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(WorkflowError):
        plan_of(parse_document(text))
