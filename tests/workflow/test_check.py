"""What is told of a workflow before anything of it runs: file, line, agent, key and remedy, and all of it at once."""

import time

import pytest

from brain.errors import WorkflowError
from brain.workflow.check import load, plan_of
from brain.workflow.document import parse_document
from tests.workflow.conftest import planned

MODEL = """\
    provider: lm_studio
    model_url: http://localhost:1
    model: m
"""


def llm(name, prompt='"{{ input }}"', more=""):
    return f"  - id: {name}\n    type: local_llm\n    prompt: {prompt}\n{MODEL}{more}"


def workflow(*agents, listed=None, more=""):
    names = listed if listed is not None else [agent.split("id: ")[1].split("\n")[0] for agent in agents]
    return f"orchestrator:\n  id: x\n  agents: [{', '.join(names)}]\n{more}agents:\n{''.join(agents)}"


def brain(name, operation, prompt='\'{"task": "t"}\'', more=""):
    return f"  - id: {name}\n    type: brain\n    operation: {operation}\n    prompt: {prompt}\n{more}"


def problems(text, **options):
    with pytest.raises(WorkflowError) as error:
        planned(text, **options)
    return error.value.problems


def told(text, line, *words, agent="", key="", **options):
    """The only problem of a workflow, at its line, for its agent and key, with words of the remedy."""
    (problem,) = problems(text, **options)
    assert (problem.path, problem.line, problem.agent) == ("workflow.yml", line, agent)
    if key:
        assert problem.key == key
    for word in words:
        assert word in str(problem), str(problem)
    return True


# The file


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("", 1, "is empty, not a mapping"),
        ("- a\n- b\n", 1, "is a list, not a mapping"),
        ("hello", 1, "not a mapping"),
        ("orchestrator:\n\tid: x\n", 2, "Indent with spaces"),
        ("a:\n  b: 1\n\tc: 2\n", 3, "Indent with spaces"),
        ("a: @x\n", 1, "begins with '@'. Put it into quotes"),
        ("a: b: c\n", 1, "Put the value into quotes"),
        ("a: [1, 2\n", 2, "Correct the YAML there"),
        ('a: "x\n', 2, "Correct the YAML there"),
        ("a: 1\n---\nb: 2\n", 2, "remove '---'"),
        ("a: &x [*x]\n", 1, "an alias that contains itself"),
        ("a: *nothing\n", 1, "undefined alias"),
        ("a: 1\nb: 2\na: 3\n", 3, "the key 'a' stands here again (first in line 1)"),
        ('a: !!python/object/apply:os.system ["echo"]\n', 1, "the tag !!python/object/apply:os.system is not allowed"),
        ("a: !!binary aGk=\n", 1, "the tag !!binary is not allowed"),
        ("? [a]\n: 1\n", 1, "Keys are text"),
        ("a: {{ input }}\n", 1, "needs quotes"),
        ("a: " + "[" * 5_000, 1, "Flatten it"),
        ("a: " + "[" * 60 + "]" * 60, 1, "Flatten it"),
        ("a: " + "9" * 5_000, 1, "not a number that can be read"),
        ("a: x\0y", 0, "a character that YAML does not allow"),
        ("a: 1\nb: {<<: [1]}\n", 2, "'<<' takes a mapping"),
    ],
)
def test_a_file_that_is_no_workflow_is_told_with_its_line(text, line, word):
    with pytest.raises(WorkflowError) as error:
        parse_document(text, "wf.yml")
    assert error.value.problems[0].line == line
    assert word in str(error.value)
    assert str(error.value).startswith("wf.yml")


def test_aliases_that_explode_are_refused_in_time():
    lines = ["a: &a [" + ", ".join("x" * 9) + "]"]
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    begun = time.monotonic()
    with pytest.raises(WorkflowError, match="Use fewer aliases"):
        parse_document("\n".join(lines))
    assert time.monotonic() - begun < 10


def test_aliases_and_merged_mappings_are_read():
    found = parse_document("x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\nz: [*x, {<<: [*x, {c: 4}]}]\n").values
    assert found["y"] == {"a": 1, "b": 3}
    assert found["z"] == [{"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 4}]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_file_is_read_in_every_encoding_of_unicode(tmp_path, encoding):
    path = tmp_path / "wf.yml"
    path.write_bytes(workflow(llm("a", '"ä {{ input }}"')).encode(encoding))
    assert load(path).steps[0].agent.prompt == "ä {{ input }}"


def test_another_encoding_is_told_with_its_byte_and_line(tmp_path):
    path = tmp_path / "wf.yml"
    path.write_bytes(workflow(llm("a", '"é"')).encode("latin-1"))
    with pytest.raises(WorkflowError, match=r"wf.yml:7:1: byte \d+ is not UTF-8 text. Save the file as UTF-8"):
        load(path)


@pytest.mark.parametrize(
    ("name", "said"), [("none.yml", "No such file"), ("", "Is a directory"), ("a\0b", "null byte")]
)
def test_a_file_that_cannot_be_read_is_told(tmp_path, name, said):
    with pytest.raises(WorkflowError, match=f"cannot be read: .*{said}"):
        load(f"{tmp_path}/{name}")


def test_a_file_that_is_too_large_is_refused_without_being_parsed(tmp_path):
    path = tmp_path / "wf.yml"
    path.write_bytes(b"# " + b"x" * 2_000_001)
    with pytest.raises(WorkflowError, match="larger than 2,000,000 bytes"):
        load(path)


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
        (workflow(llm("a").replace("lm_studio", "lmstudio")), 8, "a", "provider", ["Use lm_studio"]),
        (
            workflow(llm("a").replace("http://localhost:1", "localhost:1")),
            9,
            "a",
            "model_url",
            ["such as http://localhost:1234"],
        ),
        (workflow(llm("a").replace("    model: m\n", "")), 5, "a", "model", ["has no model"]),
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
        ("openai-classification", "supported: brain"),
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


# What is put over the file


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
