"""Does the prompt put recalled skills before a model, within its budget?"""

import pytest
from mcp import MCPError
from mcp_types import INVALID_PARAMS

from brain.mcp.budget import tokens
from tests.mcp.sessions import LESSON, TASK, in_process, talk


@pytest.fixture
def taught(file_place, clock):
    """A brain with five skills for one kind of task, of many steps each."""
    brain = file_place.open(clock=clock)
    for number in range(5):
        steps = [f"{step} of case {number}, detail {more}" for more in range(8) for step in LESSON["steps"]]
        domain = ("medicine", "law", "cooking", "botany", "sailing")[number]
        brain.learn({"steps": steps}, {"task": f"{LESSON['task']} in {domain}", "domain": domain}, {"success": True})
    assert len(brain.recall(TASK, min_score=0.1)) > 2
    return brain


def prompt(brain, **arguments):
    async def conversation():
        async with in_process(brain) as client:
            return (await client.get_prompt("recall_skills", arguments)).messages[0].content.text

    return talk(conversation)


def test_the_prompt_describes_itself(taught):
    async def conversation():
        async with in_process(taught) as client:
            return (await client.list_prompts()).prompts

    (told,) = talk(conversation)
    assert told.name == "recall_skills"
    assert [argument.name for argument in told.arguments if argument.required] == ["task"]
    assert all(argument.description for argument in told.arguments)


@pytest.mark.parametrize("budget", [300, 500, 1_000, 2_000, 5_000])
def test_the_prompt_stays_within_its_budget_and_uses_it(taught, budget):
    text = prompt(taught, **TASK, max_tokens=str(budget))
    assert tokens(text) <= budget
    assert text.startswith(f"Task: {TASK['task']}")
    assert "## 1. " in text, "at least one skill is in it"
    larger = prompt(taught, **TASK, max_tokens=str(2 * budget))
    assert len(larger) >= len(text)


def test_what_did_not_fit_is_said(taught):
    assert "did not fit into the budget" in prompt(taught, **TASK, max_tokens="700")
    assert "did not fit" not in prompt(taught, **TASK, max_tokens="100000")


def test_a_budget_without_room_for_any_skill_says_so(taught):
    text = prompt(taught, **TASK, max_tokens="200")
    assert "none of them into the budget" in text
    assert tokens(text) <= 200


def test_a_task_that_resembles_nothing_gets_no_skill(taught):
    text = prompt(taught, task="bake sourdough bread")
    assert "No stored skill fits" in text
    assert "```" not in text


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({}, "task"),
        ({"task": "x", "max_tokens": "many"}, "max_tokens"),
        ({"task": "x", "max_tokens": "5"}, "max_tokens"),
        ({"task": "x", "top_k": "0"}, "top_k"),
        ({"task": "x", "other": "y"}, "other"),
        ({"task": "word " * 5_000}, "The task alone takes about 5"),
    ],
)
def test_arguments_that_do_not_fit_are_errors_of_the_protocol(taught, arguments, word):
    async def conversation():
        async with in_process(taught) as client:
            with pytest.raises(MCPError, match=word) as refused:
                await client.get_prompt("recall_skills", arguments)
            with pytest.raises(MCPError, match="recall_skills"):
                await client.get_prompt("another", {"task": "x"})
            return refused.value.code

    assert talk(conversation) == INVALID_PARAMS


# What two vocabularies in use (of 150 000 and 130 000 pieces) count for these texts, the larger of the two.
COUNTED = {
    "Find out why the nightly build fails: read the error reports, test possible causes and conclude": 19,
    "getUserAccountByIdentifierOrThrowNotFoundException parse_http_request_headers_into_dict": 17,
    "Untersuche, warum die nächtliche Datensicherung fehlgeschlagen ist.": 20,
    "调查夜间备份失败的原因：查看日志，提出假设，逐一测试可能的原因，然后撰写详细的报告并提出改进建议。": 45,
    "2026-05-01T12:00:00 192.168.100.24 3.14159": 42,
}


@pytest.mark.parametrize("text", COUNTED)
def test_the_estimate_is_rather_too_high_than_too_low(text):
    assert 0.9 * COUNTED[text] <= tokens(text) <= 3.2 * COUNTED[text]
