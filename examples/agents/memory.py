"""How does an agent reach its memory? In its own process, or through an MCP server: the same three verbs either way."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from brain import Brain
from brain.mcp.page import skills_for_model

if TYPE_CHECKING:
    from mcp.client import Client


@dataclass(frozen=True)
class Advice:
    """What a task is begun with: recalled skills as fenced text for the model, and their ids."""

    text: str
    skill_ids: list[str]


class Memory(Protocol):
    """What an agent needs of a memory."""

    async def recall(self, task: str, domain: str) -> Advice: ...

    async def learn(self, task: str, domain: str, steps: list[dict], success: bool, used: list[str]) -> str: ...

    async def feedback(self, skill_id: str, task: str, domain: str, success: bool) -> None: ...


class OwnMemory:
    """The memory in this process, through the library."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain

    async def recall(self, task: str, domain: str) -> Advice:
        found = await self._brain.recall({"task": task, "domain": domain}, top_k=3)
        shown = skills_for_model(found, max_tokens=2_000)
        return Advice(shown.text, [candidate.skill.id for candidate in found[: shown.count]])

    async def learn(self, task: str, domain: str, steps: list[dict], success: bool, used: list[str]) -> str:
        receipt = await self._brain.observe(
            {"steps": steps}, {"task": task, "domain": domain}, {"success": success, "quality": 0.8}, derived_from=used
        )
        return receipt.outcome.value

    async def feedback(self, skill_id: str, task: str, domain: str, success: bool) -> None:
        await self._brain.feedback(skill_id, {"task": task, "domain": domain}, success, feedback_id=str(uuid4()))


class McpMemory:
    """The memory of an MCP server, through its tools. `client` is an `mcp.client.Client` in a session."""

    def __init__(self, client: "Client") -> None:
        self._client = client

    async def recall(self, task: str, domain: str) -> Advice:
        text, result = await self._call("recall", task=task, domain=domain, top_k=3)
        _, _, skills = text.partition("\n\n")  # the first paragraph speaks to a model that has the tools itself
        return Advice(skills if result["skills"] else "", [skill["skill_id"] for skill in result["skills"]])

    async def learn(self, task: str, domain: str, steps: list[dict], success: bool, used: list[str]) -> str:
        told = [{"action": step["action"], "parameters": step["parameters"]} for step in steps]
        _, result = await self._call(
            "learn",
            task=task,
            domain=domain,
            steps=told,
            success=success,
            trace_id=str(uuid4()),
            quality=0.8,
            derived_from=used,
        )
        return result["outcome"]

    async def feedback(self, skill_id: str, task: str, domain: str, success: bool) -> None:
        await self._call(
            "feedback", skill_id=skill_id, task=task, domain=domain, success=success, feedback_id=str(uuid4())
        )

    async def _call(self, tool: str, **arguments: Any) -> tuple[str, dict]:
        result = await self._client.call_tool(tool, arguments)
        text = "\n".join(part.text for part in result.content)
        if result.is_error:
            raise RuntimeError(text)
        return text, result.structured_content


@asynccontextmanager
async def opened(by_mcp: bool) -> AsyncIterator[Memory]:
    """The memory at `BRAIN_STORE`, by default in a file in the user's data folder."""
    if by_mcp:
        from mcp.client import Client
        from mcp.client.stdio import StdioServerParameters

        environment = {name: value for name, value in os.environ.items() if name.startswith("BRAIN_")}
        async with Client(StdioServerParameters(command="brain", args=["mcp"], env=environment)) as client:
            yield McpMemory(client)
    else:
        async with Brain.open() as brain:
            yield OwnMemory(brain)
