"""Workflows as text, in a few words, and what is told of those that are wrong."""

import pytest

from brain.errors import WorkflowError
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
