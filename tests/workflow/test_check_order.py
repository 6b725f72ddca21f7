"""Which agents of a workflow run and in which order, and what is told of those that cannot; however many there are."""

import time

import pytest

from brain.errors import WorkflowError
from brain.workflow.check import plan_of
from brain.workflow.document import parse_document
from tests.workflow.conftest import planned
from tests.workflow.writing import brain, llm, problems, told, workflow

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
