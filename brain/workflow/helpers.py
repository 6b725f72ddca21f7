"""Which functions and filters may a template call? OrKa's, as a reader of a template expects them to work."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jinja2 import Undefined

from brain.workflow.sandbox import SESSION, Outputs
from brain.workflow.values import AgentOutput, InputText, as_json


@dataclass(frozen=True)
class View:
    """What a template is rendered with. `edges` are (from, to) ids of what waits for what."""

    input: Any
    outputs: Outputs
    edges: tuple[tuple[str, str], ...] = ()
    types: dict[str, str] = field(default_factory=dict)
    run_id: str = ""

    def variables(self, agent: str) -> dict[str, Any]:
        """What a template of `agent` knows by name (`VARIABLES`)."""
        return dict(zip(VARIABLES, (self.input, self.outputs, agent, self.run_id, 1), strict=True))


INPUT, OUTPUTS = "input", "previous_outputs"
VARIABLES = (INPUT, OUTPUTS, "agent_id", "trace_id", "loop_number")
"""What a template may read beside what it calls. There are no loops here, so every round is the first."""


VIEW: ContextVar[View] = ContextVar("VIEW")
"""What the template that is being rendered sees."""

_NO_RESPONSE = "No response available"


def get_input() -> Any:
    """The input as text; of an object its `input`, if it has one."""
    given = VIEW.get().input
    return given["input"] if isinstance(given, dict) and "input" in given else str(given)


def get_input_field(source: Any, name: str, default: Any = None) -> Any:
    """A field of the input, whether it came as JSON text or as an object."""
    return safe_get(source, name, default)


def get_agent_response(agent: str) -> str:
    """What an agent said; a sentence that says so if it has not."""
    found = _response(VIEW.get().outputs, agent)
    if found is None:
        SESSION.get().missing.append(f"get_agent_response: {agent!r} has given no answer")
        return f"No response found for {agent}"
    return found


def safe_get_response(agent: str, fallback: Any = _NO_RESPONSE, prev_outputs: Any = None) -> Any:
    """What an agent said, else `fallback`."""
    outputs = prev_outputs if isinstance(prev_outputs, dict) else VIEW.get().outputs
    found = _response(outputs, agent)
    return fallback if found is None or not found else found


def safe_get(source: Any, key: Any, default: Any = "") -> Any:
    """A field of an object, else `default`."""
    try:
        if isinstance(source, InputText | AgentOutput):
            return source.field(key)
        return source[key] if isinstance(source, dict | list) else default
    except (LookupError, TypeError):
        return default


def safe_str(value: Any) -> str:
    """`value` as text; nothing for what is not there."""
    return "" if value is None or isinstance(value, Undefined) else str(value)


def has_context(agent: str) -> bool:
    """Whether an agent has answered something."""
    return bool(VIEW.get().outputs.get(agent))


def normalize_bool(value: Any) -> bool:
    """Whether text, or what an agent said, is a yes."""
    if isinstance(value, dict):
        value = value.get("response", value.get("result"))
    return value is True or str(value).strip().lower() in ("true", "yes")


def joined_results() -> list[str]:
    """What all agents so far said."""
    outputs = VIEW.get().outputs
    return [found for found in (_response(outputs, agent) for agent in outputs) if found]


def get_fork_responses(group: str | None = None) -> dict[str, str]:
    """What agents said by id: those that wait for `group`, or all so far."""
    view = VIEW.get()
    wanted = {after for before, after in view.edges if before == group} if group else set(view.outputs)
    found = {agent: _response(view.outputs, agent) for agent in view.outputs if agent in wanted}
    return {agent: text for agent, text in found.items() if text}


def get_execution_artifacts(outputs: Any = None) -> dict[str, Any]:
    """What was run so far, as `invariant_validator` takes it."""
    view = VIEW.get()
    ran = view.outputs if not isinstance(outputs, dict) else outputs
    return {
        "nodes_executed": list(ran),
        "fork_groups": {},
        "router_decisions": {},
        "graph_structure": {
            "nodes": {agent: {"type": view.types.get(agent, "")} for agent in ran},
            "edges": [{"src": a, "dst": b} for a, b in view.edges if a in ran and b in ran],
        },
        "tool_calls": [
            {"node": agent, "status": output.run["status"], "error": output.run.get("error")}
            for agent, output in ran.items()
            if isinstance(output, AgentOutput) and output.run["status"] == "error"
        ],
        "structured_outputs": {},
    }


def now() -> str:
    """The time of day, with the offset of where it is read."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def truncate(text: Any, length: int = 255, killwords: Any = None, end: str = "...", leeway: Any = None) -> str:
    """`text` of at most `length` characters, `end` among them. The third argument may be the end, as in OrKa."""
    end = killwords if isinstance(killwords, str) else end
    said = safe_str(text) if not isinstance(text, Undefined) else str(text)
    return said if len(said) <= length else said[: max(length - len(end), 0)] + end


class Encoded(str):
    """JSON text that a filter has made, so that it is put into a JSON prompt as it is."""


def to_json(value: Any, indent: int | None = None) -> Encoded:
    """`value` as JSON, other characters as they are. What is missing is null, and noted."""
    if isinstance(value, Undefined):
        str(value)
        value = None
    return Encoded(as_json(value, indent))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        get_input,
        get_input_field,
        get_agent_response,
        safe_get_response,
        safe_get,
        safe_str,
        has_context,
        normalize_bool,
        joined_results,
        get_fork_responses,
        get_execution_artifacts,
        now,
    )
} | {"get_current_topic": get_input, "truncate_text": truncate}
"""Functions by the name that a template calls."""

FILTERS: dict[str, Callable[..., Any]] = {
    "tojson": to_json,
    "to_json_string": to_json,
    "truncate": truncate,
    "safe_get": safe_get,
    "safe_str": safe_str,
}
"""Filters beside Jinja's own."""

NAMES_AGENT = frozenset({"get_agent_response", "safe_get_response", "has_context", "get_loop_output"})
"""Functions whose first argument is the id of an agent, and that do without it."""


def _response(outputs: Any, agent: Any) -> str | None:
    """What an agent said as text: its response, one that is nested in it, or all of it. None if it gave nothing."""
    output = outputs.get(agent)
    if not output:
        return None
    if not isinstance(output, dict):
        return str(output)
    said = output.get("response", output)
    if isinstance(said, dict) and "response" in said:
        said = said["response"]
    return str(said)
