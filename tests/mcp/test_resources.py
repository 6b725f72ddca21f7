"""Can a client look at the skills as documents, page by page?"""

import pytest
from mcp import MCPError
from mcp.client import Client
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from brain import Skill, SkillStep
from brain.errors import StoreUnavailableError
from brain.mcp.memory import Memory
from brain.mcp.resources import PAGE
from brain.mcp.server import build
from brain.model.shown import visible
from tests.contract.test_odd_ids import bring
from tests.mcp.sessions import call, in_process, talk


def skills(*ids):
    return [Skill(id=i, name=f"Skill {i}", procedure=[SkillStep(action="do it")]) for i in ids]


async def listed(client):
    """The ids of all resources, a list for each page."""
    pages, cursor = [], None
    while True:
        page = await client.list_resources(cursor=cursor, cache_mode="bypass")
        pages.append([resource.uri.removeprefix("skill://") for resource in page.resources])
        cursor = page.next_cursor
        if cursor is None:
            return pages


def test_a_skill_is_read_as_markdown_by_its_address(brain):
    brain.skill_graph.save_skills(skills("a:b@c+1.x"))

    async def conversation():
        async with in_process(brain) as client:
            (resource,) = (await client.list_resources()).resources
            (template,) = (await client.list_resource_templates()).resource_templates
            return resource, template, (await client.read_resource(resource.uri)).contents[0]

    resource, template, content = talk(conversation)
    assert (resource.uri, resource.title) == ("skill://a:b@c+1.x", "Skill a:b@c+1.x")
    assert template.uri_template == "skill://{id}"
    assert content.mime_type == resource.mime_type == "text/markdown"
    assert "# Skill a:b@c+1.x" in content.text and "1. do it" in content.text


ODD_IDS = [
    "two  spaces",
    "kitchen/bread",
    "../../etc",
    ".",
    "..",
    "Brötchen",
    "100%",
    "?a#b",
    "-x",
    "ß" * 1_000,
    "\x1b[31m\n",
]


@pytest.mark.parametrize("odd", ODD_IDS, ids=range(len(ODD_IDS)))
def test_a_skill_is_found_by_an_id_that_nobody_could_choose(odd, file_place, clock):
    brain = file_place.open(clock=clock)
    bring(brain, odd)
    brain.skill_graph.save_skill(Skill(id="plain", name="plain"))
    brain.skill_graph.add_edge("plain", "COMPLEMENTS", odd)

    async def conversation():
        async with in_process(brain) as client:
            one, _ = sorted((await client.list_resources()).resources, key=lambda found: found.name == "plain")
            read = (await client.read_resource(one.uri)).contents[0].text
            got = await call(client, "get", skill_id=odd)
            around = await call(client, "related", skill_id="plain")
            rated = await call(client, "feedback", skill_id=odd, success=True, feedback_id="f")
            return read, got["skill_id"], around["skills"][0]["skill_id"], rated["skill"]["skill_id"]

    read, *ids = talk(conversation)
    assert ids == [odd] * 3
    assert f"id: {visible(odd)}" in read


def test_the_list_is_read_page_by_page_while_skills_come_and_go(brain):
    ids = [f"s{number:04}" for number in range(2 * PAGE + 10)]
    brain.skill_graph.save_skills(skills(*ids))

    async def conversation():
        async with in_process(brain) as client:
            whole = await listed(client)
            first = await client.list_resources(cache_mode="bypass")
            brain.skill_graph.delete_skill(ids[PAGE - 1])  # the one that the cursor stands on
            brain.skill_graph.delete_skill(ids[PAGE])
            brain.skill_graph.save_skills(skills("s0000-before", f"{ids[PAGE]}-after"))
            second = await client.list_resources(cursor=first.next_cursor)
            return whole, [resource.uri.removeprefix("skill://") for resource in second.resources]

    whole, second = talk(conversation)
    assert [len(page) for page in whole] == [PAGE, PAGE, 10]
    assert [i for page in whole for i in page] == ids
    assert second == [f"{ids[PAGE]}-after", *ids[PAGE + 1 : 2 * PAGE]]


def test_an_expired_skill_is_no_resource(brain, clock):
    skill = brain.learn({"steps": ["look", "think", "act"]}, {"task": "solve it"}, {"success": True})
    clock.advance(days=365)

    async def conversation():
        async with in_process(brain) as client:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(f"skill://{skill.id}")
            return await listed(client), refused.value.code

    assert talk(conversation) == ([[]], INVALID_PARAMS)


@pytest.mark.parametrize(
    "uri",
    ["skill://nowhere", "skill://", "skill://..%2f..%2fetc", "skill://a b", "file:///etc/passwd", "x", "skill://%00"],
)
def test_what_is_no_skill_is_an_error_of_the_protocol(file_place, uri):
    brain = file_place.open()

    async def conversation():
        async with in_process(brain) as client:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            return refused.value.code

    assert talk(conversation) == INVALID_PARAMS


@pytest.mark.parametrize("cursor", ["nonsense", "", "W10=", "MQ==", "WzFd", "é", "WyJhIl0" * 1000])
def test_a_cursor_of_somebody_elses_is_an_error_of_the_protocol(file_place, cursor):
    brain = file_place.open()

    async def conversation():
        async with in_process(brain) as client:
            with pytest.raises(MCPError, match="cursor") as refused:
                await client.list_resources(cursor=cursor)
            return refused.value.code

    assert talk(conversation) == INVALID_PARAMS


def test_a_store_that_is_down_is_an_internal_error_that_says_the_remedy():
    def opening():
        raise StoreUnavailableError("Nothing answers at neo4j://nowhere. Start it.")

    async def conversation():
        async with Client(build(Memory(opening))) as client:
            for ask in (client.list_resources(), client.read_resource("skill://a")):
                with pytest.raises(MCPError, match="Start it") as refused:
                    await ask
                assert refused.value.code == INTERNAL_ERROR
            with pytest.raises(MCPError, match="Start it"):
                await client.get_prompt("recall_skills", {"task": "x"})

    talk(conversation)
