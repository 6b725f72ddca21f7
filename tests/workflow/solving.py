"""A workflow of one model that solves a task and one brain that learns from what it answers."""

import json

GOOD = {"response": "done", "steps": ["look at it", "mend it"], "confidence": 0.9}
STEPS = ["look at it", "mend it"]


def one(url, more="", prompt="Mend {{ input }}. Answer as JSON.", provider="lm_studio", kind="local_llm"):
    """A workflow of one model that is asked and one brain that learns from what it answers."""
    return f"""
orchestrator: {{id: x, agents: [solve, learn]}}
agents:
  - id: solve
    type: {kind}
    prompt: {json.dumps(prompt)}
    params: {{provider: {provider}, model_url: "{url}", model: m{more}}}
  - id: learn
    type: brain
    operation: learn
    prompt: "{{{{ previous_outputs.solve }}}}"
"""


def learned(brain):
    """The steps of every skill there is."""
    return [[step.action for step in skill.procedure] for skill in brain.get_skills()]
