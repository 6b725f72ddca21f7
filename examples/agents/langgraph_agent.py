"""A LangGraph agent that recalls before it plans, and reports afterwards how it went.

    recall -> model <-> tools -> remember

`build` takes any chat model of LangChain that can call tools. The command needs `pip install langchain-openai` and a
model behind an OpenAI-compatible endpoint (OPENAI_BASE_URL, OPENAI_API_KEY, MODEL):

    python examples/agents/langgraph_agent.py "Find out why the nightly build fails" --domain software [--mcp]
"""

import argparse
import asyncio
import os

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, SystemMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from memory import Memory, opened
from work import TOOLS, step, was_solved

TASK = "You solve one task with your tools, step by step. When you have concluded, say so in one sentence."


class State(MessagesState):
    """The messages, the task, and the skills that were recalled for it."""

    task: str
    domain: str
    used: list[str]
    outcome: str


def build(model: BaseChatModel, memory: Memory) -> CompiledStateGraph:
    """The agent: a compiled graph. Call it with {"task": ..., "domain": ..., "messages": [("user", task)]}."""
    able = model.bind_tools(list(TOOLS.values()))

    async def recall(state: State) -> dict:
        advice = await memory.recall(state["task"], state["domain"])
        return {"messages": [SystemMessage(f"{TASK}\n\n{advice.text}".strip())], "used": advice.skill_ids}

    async def think(state: State) -> dict:
        told = sorted(state["messages"], key=lambda message: message.type != "system")
        return {"messages": [await able.ainvoke(told)]}

    async def remember(state: State) -> dict:
        steps = steps_of(state["messages"])
        success = was_solved(steps)
        for skill_id in state["used"]:
            await memory.feedback(skill_id, state["task"], state["domain"], success)
        outcome = await memory.learn(state["task"], state["domain"], steps, success, state["used"])
        return {"outcome": outcome}

    graph = StateGraph(State)
    graph.add_node("recall", recall)
    graph.add_node("model", think)
    graph.add_node("tools", ToolNode(list(TOOLS.values())))
    graph.add_node("remember", remember)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: "remember"})
    graph.add_edge("tools", "model")
    graph.add_edge("remember", END)
    return graph.compile()


def steps_of(messages: list[AnyMessage]) -> list[dict]:
    """The calls of tools in a conversation, as steps to learn from."""
    calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    return [step(call["name"], call["args"]) for call in calls]


async def solve(model: BaseChatModel, memory: Memory, task: str, domain: str) -> dict:
    """Lets the agent solve one task; the state that it ends in."""
    return await build(model, memory).ainvoke(
        {"task": task, "domain": domain, "messages": [("user", task)], "used": [], "outcome": ""}
    )


async def main() -> None:
    """Solves the task on the command line."""
    options = argparse.ArgumentParser(description="A LangGraph agent with a memory.")
    options.add_argument("task")
    options.add_argument("--domain", default="")
    options.add_argument("--mcp", action="store_true", help="reach the memory through an MCP server")
    given = options.parse_args()
    from langchain_openai import ChatOpenAI

    async with opened(given.mcp) as memory:
        end = await solve(ChatOpenAI(model=os.environ.get("MODEL", "gpt-4o-mini")), memory, given.task, given.domain)
    print(
        f"recalled: {', '.join(end['used']) or 'nothing'}\nlearned:  {end['outcome']}\n\n{end['messages'][-1].content}"
    )


if __name__ == "__main__":
    asyncio.run(main())
