"""What is kept of a run? What was done, for which task, how it ended: as `brain learn` and `Brain.observe` take it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brain.errors import InputError
from brain.workflow.plan import Plan, Step
from brain.workflow.values import InputText, as_json, number_text, plain

if TYPE_CHECKING:
    from brain.workflow.run import AgentResult, RunResult

LONGEST_TEXT = 20_000
"""Characters of a prompt or answer that a trace keeps."""
DEEPEST_VALUE = 20
"""Levels of nesting that a trace keeps; what is deeper is kept as JSON text."""
LARGEST_RECORD = 600_000
"""Characters that all prompts and answers of a trace may have together; beyond, only how each agent ended is kept."""

_LONGEST_ACTION = 110
_EXPRESSION = re.compile(r"\{[{%#].*?[}%#]\}", re.DOTALL)
_BRAIN_ACTIONS = {
    "learn": "learn a skill from what was done",
    "recall": "recall a skill that fits the task",
    "feedback": "tell the brain whether the skill worked",
}


def trace_of(plan: Plan, result: RunResult) -> dict[str, Any]:
    """The run as keyword arguments of `Brain.observe`. `outcome.success` is whether every agent did well."""
    done = {one.id: one for one in result.agents}
    steps = [_step(step, done[step.agent.id]) for step in plan.steps if done[step.agent.id].status != "not_run"]
    if sum(len(json.dumps(step, ensure_ascii=False)) for step in steps) > LARGEST_RECORD:
        steps = [{key: value for key, value in step.items() if key not in ("prompt", "output")} for step in steps]
    outcome: dict[str, Any] = {"success": result.status == "ok"}
    quality = _quality(result)
    if quality is not None:
        outcome["quality"] = quality
    return {
        "execution_trace": {
            "steps": steps,
            "agents": [step["agent_id"] for step in steps],
            "strategy": plan.workflow.strategy,
            "workflow": result.workflow,
            "started": result.started.isoformat(),
            "duration_ms": result.duration_ms,
            "status": result.status,
        },
        "context": _context(result),
        "outcome": outcome,
        "trace_id": result.run_id,
    }


def make_folder(folder: str | Path) -> None:
    """Makes the folder of traces if it must be. Raises `InputError` if nothing can be written there."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritable(folder, error) from error
    if not os.access(folder, os.W_OK):
        raise InputError(f"the trace cannot be written to {folder}: Permission denied. Choose another folder.")


def write_trace(plan: Plan, result: RunResult, folder: str | Path) -> Path:
    """Writes the trace of a run into `folder`, which is made if it must be; gives the file. Raises `InputError`."""
    make_folder(folder)
    name = re.sub(r"[^\w.-]+", "-", result.workflow)[:80].strip("-.") or "workflow"
    path = Path(folder) / f"{name}-{result.started:%Y%m%dT%H%M%S}-{result.run_id[:8]}.json"
    text = json.dumps(trace_of(plan, result), ensure_ascii=False, indent=2)
    unfinished = path.with_suffix(".part")
    try:
        unfinished.write_text(text + "\n", "utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return path


def _unwritable(folder: str | Path, error: OSError | ValueError) -> InputError:
    reason = error.strerror if isinstance(error, OSError) else error
    return InputError(f"the trace cannot be written to {folder}: {reason}. Choose another folder.")


def _step(step: Step, one: AgentResult) -> dict[str, Any]:
    made: dict[str, Any] = {
        "action": _action(step),
        "result": {"ok": "success", "failed": "failure"}.get(one.status, one.status),
        "agent_id": one.id,
        "agent_type": one.type,
        "duration_ms": one.duration_ms,
    }
    if one.error:
        made["error"] = one.error
    if one.prompt:
        made["prompt"] = _cut(one.prompt)
    if one.output:
        made["output"] = _shortened(plain(one.output))
    return made


def _action(step: Step) -> str:
    """What the agent does, in words that hold for other inputs too: how its template begins."""
    if step.agent.operation:
        return _BRAIN_ACTIONS[step.agent.operation]
    text = _EXPRESSION.sub(" ", step.agent.prompt or "").strip()
    first = " ".join(re.split(r"(?<=[.!?:])\s|\n", text, maxsplit=1)[0].split()).strip(" .:")
    if not first:
        return f"run agent {step.agent.id}"
    return first if len(first) <= _LONGEST_ACTION else first[:_LONGEST_ACTION].rsplit(" ", 1)[0]


def _context(result: RunResult) -> dict[str, Any]:
    given = result.input.value if isinstance(result.input, InputText) else result.input
    found = given if isinstance(given, dict) else {}
    task = found.get("task") if isinstance(found.get("task"), str) else None
    domain = found.get("domain") if isinstance(found.get("domain"), str) else None
    text = task or str(result.input).strip() or f"run the workflow {result.workflow}"
    return {"task": _cut(text), "domain": domain or result.workflow, "input": _shortened(plain(given))}


def _quality(result: RunResult) -> float | None:
    """What the last answer said of its own quality; None if none did."""
    for one in reversed(result.agents):
        number = number_text((one.output or {}).get("confidence"))
        if one.status == "ok" and one.type != "brain" and number.is_stated and 0 <= float(number) <= 1:
            return float(number)
    return None


def _shortened(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return _cut(value)
    if depth == DEEPEST_VALUE and isinstance(value, dict | list):
        return _cut(as_json(value))
    if isinstance(value, dict):
        return {key: _shortened(item, depth + 1) for key, item in value.items()}
    return [_shortened(item, depth + 1) for item in value] if isinstance(value, list) else value


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}… ({len(text):,} characters)"
