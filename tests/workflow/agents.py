"""Workflows made of agents as objects, for runs: models, brains, and what became of each."""

import json

STEPS = ["collect the findings", "test each cause", "conclude"]
LEARN = (
    '{"domain": "a", "task": "find the cause of it", "steps": ["collect the findings", "test each cause", "conclude"]}'
)
RECALL = '{"domain": "b", "task": "find the cause of that", "steps": ["collect the findings", "test each cause"]}'


def workflow(*agents, more=""):
    names = ", ".join(agent["id"] for agent in agents)
    written = "".join(f"  - {json.dumps(agent, ensure_ascii=False)}\n" for agent in agents)
    return f"orchestrator: {{id: x, agents: [{names}]{more}}}\nagents:\n{written}"


def llm(name, prompt, url="http://127.0.0.1:9", **more):
    params = {"provider": "lm_studio", "model_url": url, "model": "m", "retries": 0}
    return {"id": name, "type": "local_llm", "prompt": prompt, "params": params} | more


def brain_agent(name, operation, prompt, **more):
    return {"id": name, "type": "brain", "operation": operation, "prompt": prompt} | more


def statuses(result):
    return {one.id: one.status for one in result.agents}
