"""The eight agents on a real model: `pytest -m llm` with BRAIN_TEST_LLM_URL, and where they differ from the example's

BRAIN_TEST_LLM_MODEL and BRAIN_TEST_LLM_PROVIDER (lm_studio, openai_compatible, ollama). Not part of the default run.
"""

import os

import pytest

from tests.services import missing
from tests.workflow.command import brain_run
from tests.workflow.test_examples import TRANSFER, TRANSFER_INPUT


@pytest.mark.llm
@pytest.mark.timeout(3_600)
def test_a_real_model_teaches_the_brain_and_applies_what_it_recalls(file_place):
    url = os.environ.get("BRAIN_TEST_LLM_URL") or missing("No model for this test: set BRAIN_TEST_LLM_URL.")
    settings = [f"model_url={url}", f"provider={os.environ.get('BRAIN_TEST_LLM_PROVIDER', 'lm_studio')}", "timeout=600"]
    if os.environ.get("BRAIN_TEST_LLM_MODEL"):
        settings.append(f"model={os.environ['BRAIN_TEST_LLM_MODEL']}")
    overrides = [part for setting in settings for part in ("--set", setting)]
    document = brain_run(TRANSFER, TRANSFER_INPUT, "--store", file_place.location, *overrides)
    agents = {agent["id"]: agent for agent in document["agents"]}
    assert document["status"] == "ok"
    assert document["answer"]
    assert len(agents["brain_learn"]["output"]["skill_steps"]) >= 2
    (skill,) = file_place.open().get_skills()
    recalled = agents["brain_recall"]["output"].get("skill_id")
    assert recalled in (skill.id, None)
    assert skill.transfer_count == (0 if recalled is None else 1)
