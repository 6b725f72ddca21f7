"""What templates of these tests see, and what becomes of them."""

from brain.workflow.helpers import View
from brain.workflow.rendering import make_environment, render
from brain.workflow.sandbox import Outputs
from brain.workflow.values import AgentOutput, NumberText

ANSWER = {
    "response": 'Most likely a "torn" ligament.\nRest.',
    "domain": "medicine",
    "steps": [{"action": "look", "result": "ok"}, {"action": "test", "result": "ok"}],
    "confidence": NumberText("0.85"),
    "items": ["own"],
    "internal_reasoning": "",
}
RUN = {"status": "success", "component_id": "a", "execution_time_ms": 12.5, "formatted_prompt": "asked"}


def outputs(**more):
    made = {"a": ANSWER, "my-agent": {"response": "hyphened"}} | more
    return Outputs({name: AgentOutput(fields, id=name, **RUN) for name, fields in made.items()})


def rendered(template, given="the input", seen=None):
    return render(make_environment().from_string(template), View(given, seen or outputs()), "here")


def text(template, given="the input", seen=None):
    return rendered(template, given, seen).text
