"""What is told of a workflow before anything of it runs: file, line, agent, key and remedy, and all of it at once."""

import pytest

from brain.errors import WorkflowError
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


# Keys for hosted models


def test_a_hosted_model_without_a_key_is_told_before_anything_runs():
    text = workflow("  - id: a\n    type: openai-answer\n    model: m\n    prompt: hi\n")
    assert told(text, 5, "OPENAI_API_KEY is not set", "--env-file", agent="a", key="api_key_env", environment={})
    assert planned(text, environment={"OPENAI_BASE_URL": "http://localhost:1/v1"})
    nameless = text.replace("    model: m\n", "")
    assert told(nameless, 5, "BASE_OPENAI_MODEL", agent="a", key="model")
    assert planned(nameless, environment={"OPENAI_API_KEY": "k", "BASE_OPENAI_MODEL": "m"})
