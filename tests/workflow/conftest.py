"""What do the tests of workflows stand on? A scripted model over real HTTP, and a run of a workflow on it."""

import asyncio
import re
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from brain.workflow.check import plan_of
from brain.workflow.document import parse_document
from brain.workflow.overrides import put_over
from brain.workflow.run import run_plan
from brain.workflow.values import input_value
from tests.workflow.scripted import ScriptedModel, recorded

WORKFLOWS = Path(__file__).parent / "workflows"
ENVIRONMENT = {"OPENAI_API_KEY": "test-key"}


def pytest_collection_modifyitems(config, items):
    """Leaves out what asks a real model, unless the run is for it."""
    if "llm" in (config.option.markexpr or ""):
        return
    asked = [item for item in items if item.get_closest_marker("llm")]
    config.hook.pytest_deselected(items=asked)
    items[:] = [item for item in items if item not in asked]


@pytest.fixture(scope="session")
def make_httpserver(httpserver_listen_address):
    """A server that answers several requests at once."""
    with HTTPServer(
        *(address or default for address, default in zip(httpserver_listen_address, ("localhost", 0), strict=True)),
        threaded=True,
    ) as server:
        yield server


@pytest.fixture
def model(httpserver):
    """Starts the model with a script, or with the name of a file of recorded answers."""

    def starts(script):
        made = ScriptedModel(httpserver, recorded(script) if isinstance(script, str) else script)
        httpserver.expect_request(re.compile(".*"), method="POST").respond_with_handler(made)
        return made

    yield starts
    httpserver.check_handler_errors()


def says(*answers, when=""):
    """The script of a lone agent."""
    return {
        "when": when,
        "answers": [one if isinstance(one, dict) and "answer" in one else {"answer": one} for one in answers],
    }


def planned(text, *overrides, environment=ENVIRONMENT):
    """The plan of a workflow's text."""
    document = parse_document(text, "workflow.yml")
    put_over(document, overrides)
    return plan_of(document, environment)


def ran(text, given="", *overrides, brain=None, environment=ENVIRONMENT, as_json=False, observer=None):
    """The result of a workflow's text, run on an input that is read as the command reads it."""
    plan = planned(text, *overrides, environment=environment)
    value = input_value(given, as_json=as_json)
    return asyncio.run(run_plan(plan, value, brain=brain, environment=environment, observer=observer))


def results(result):
    """The agents of a result by id."""
    return {one.id: one for one in result.agents}


def workflow_text(name):
    """The text of a workflow file of these tests."""
    return (WORKFLOWS / f"{name}.yml").read_text("utf-8")
