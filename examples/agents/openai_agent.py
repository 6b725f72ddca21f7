"""An agent with the plain OpenAI client that recalls before it plans, and reports afterwards how it went.

It needs `pip install openai` and a model behind an OpenAI-compatible endpoint (OPENAI_BASE_URL, OPENAI_API_KEY, MODEL):

    python examples/agents/openai_agent.py "Find out why the nightly build fails" --domain software [--mcp]
"""

import argparse
import asyncio
import inspect
import json
import os
from dataclasses import dataclass

from memory import Memory, opened
from openai import AsyncOpenAI
from work import TOOLS, step, was_solved

TASK = "You solve one task with your tools, step by step. When you have concluded, say so in one sentence."
MOST_TURNS = 20


@dataclass(frozen=True)
class End:
    """How a task ended: what was recalled for it, what became of it in the memory, and the model's last words."""

    used: list[str]
    outcome: str
    said: str


async def solve(client: AsyncOpenAI, model: str, memory: Memory, task: str, domain: str) -> End:
    """Lets the model solve one task."""
    advice = await memory.recall(task, domain)
    messages = [
        {"role": "system", "content": f"{TASK}\n\n{advice.text}".strip()},
        {"role": "user", "content": task},
    ]
    steps, said = await work(client, model, messages)
    success = was_solved(steps)
    for skill_id in advice.skill_ids:
        await memory.feedback(skill_id, task, domain, success)
    outcome = await memory.learn(task, domain, steps, success, advice.skill_ids) if steps else "nothing was done"
    return End(advice.skill_ids, outcome, said)


async def work(client: AsyncOpenAI, model: str, messages: list) -> tuple[list[dict], str]:
    """Calls the model, and the tools that it asks for, until it asks for none; the steps, and its last words."""
    steps = []
    for _ in range(MOST_TURNS):
        completion = await client.chat.completions.create(model=model, messages=messages, tools=schemas())
        message = completion.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return steps, message.content or ""
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            steps.append(step(call.function.name, arguments))
            result = TOOLS[call.function.name](**arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return steps, "It came to no end."


def schemas() -> list[dict]:
    """The tools as the endpoint wants them described."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": tool.__doc__,
                "parameters": {
                    "type": "object",
                    "properties": {parameter: {"type": "string"} for parameter in inspect.signature(tool).parameters},
                    "required": list(inspect.signature(tool).parameters),
                },
            },
        }
        for name, tool in TOOLS.items()
    ]


async def main() -> None:
    """Solves the task on the command line."""
    options = argparse.ArgumentParser(description="An agent with a memory.")
    options.add_argument("task")
    options.add_argument("--domain", default="")
    options.add_argument("--mcp", action="store_true", help="reach the memory through an MCP server")
    given = options.parse_args()
    async with opened(given.mcp) as memory, AsyncOpenAI() as client:
        end = await solve(client, os.environ.get("MODEL", "gpt-4o-mini"), memory, given.task, given.domain)
    print(f"recalled: {', '.join(end.used) or 'nothing'}\nlearned:  {end.outcome}\n\n{end.said}")


if __name__ == "__main__":
    asyncio.run(main())
