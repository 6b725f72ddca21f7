"""How does a trace become something to learn from? `execution_of(trace)`: its steps abstract, its text kept beside.

Each call is a verb and its object ("search flights"), with the names of its arguments and the kinds of their values as
`parameters`. What was said and called stands in the `description`. Two keys of a step hold what was folded:

    pitfalls   what went wrong on the way, as a list of sentences
    repeats    how often it was done, and what differed

They are no text that is compared: two runs of which one had to try twice tell the same procedure.
"""

from __future__ import annotations

import re
from typing import Any

from brain.analysis.actions import command_of, is_command, parameters_of
from brain.analysis.folding import FoldedStep, fold
from brain.analysis.redaction import redact
from brain.errors import InputError
from brain.model.trace import Trace, TraceStep

LONGEST_DESCRIPTION = 600
"""Characters of a step's description."""

_IDS = frozenset("trace_id skill_id derived_from skill_type".split())
_LOOKED_AT = 1_000  # characters of a text
_LONGEST_SAID, _LONGEST_CALL, _LONGEST_VALUE = 280, 280, 80
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
_MOST_AGENTS = 50


def execution_of(trace: Trace, *, success: bool | None = None) -> dict[str, Any]:
    """What `observe` and `learn_many` take; the id is made of the trace's digest and its verdict.

    `success` is the verdict where the trace holds none. The guide's own dictionary stays as it is. Raises `InputError`
    if neither says how it ended.
    """
    verdict = trace.success if trace.success is not None else success
    if verdict is None:
        raise InputError(
            f"{trace.source or 'The trace'} does not say whether it went well. Give success=True or False."
        )
    if trace.execution is not None:
        return _as_given(trace.execution, verdict)
    agents = list(dict.fromkeys(step.agent for step in trace.steps if step.agent))[:_MOST_AGENTS]
    told: dict[str, Any] = {"steps": abstract_steps(trace), "format": trace.format, "evidence": trace.outcome.evidence}
    outcome: dict[str, Any] = {"success": verdict}
    if trace.outcome.quality is not None:
        outcome["quality"] = trace.outcome.quality
    return {
        "execution_trace": told | ({"agents": agents} if len(agents) > 1 else {}),
        "context": {"task": trace.task, **({"domain": trace.domain} if trace.domain else {})},
        "outcome": outcome,
        "trace_id": f"{trace.format}-{trace.digest}{'' if verdict else '-failed'}",
    }


def without_secrets(trace: Trace) -> tuple[Trace, dict[str, int]]:
    """`trace` with its secrets replaced, and how many of each kind.

    Its texts are cut to what `execution_of` may use of them, and some more, so that no secret is cut in two before it
    is looked for. Results are left out, as nothing of them is learned.
    """
    told: dict[str, Any] = {
        "task": trace.task,
        "domain": trace.domain,
        "evidence": trace.outcome.evidence,
        "steps": [_told(step) for step in trace.steps],
        "execution": {key: item for key, item in (trace.execution or {}).items() if key not in _IDS},
    }
    found = redact(told)
    steps = [
        step.model_copy(update=clean | {"result": None})
        for step, clean in zip(trace.steps, found.value["steps"], strict=True)
    ]
    outcome = trace.outcome.model_copy(update={"evidence": found.value["evidence"]})
    clean = {"task": found.value["task"], "domain": found.value["domain"], "outcome": outcome, "steps": steps}
    if trace.execution is not None:
        ids = {key: item for key, item in trace.execution.items() if key in _IDS}
        clean["execution"] = found.value["execution"] | ids
    return trace.model_copy(update=clean), found.counts


def _told(step: TraceStep) -> dict[str, Any]:
    return {
        "action": step.action[:_LOOKED_AT],
        "description": step.description[:_LOOKED_AT],
        "parameters": {name: _shortened(value) for name, value in step.parameters.items()},
        "error": step.error,
        "agent": step.agent,
    }


def _shortened(value: Any) -> Any:
    """A parameter's value with its texts cut; of what lies in it no more than the first level is told."""
    if isinstance(value, str):
        return value[:_LOOKED_AT]
    if isinstance(value, list):
        return [item[:_LOOKED_AT] if isinstance(item, str) else item for item in value[:10]]
    return value


def _as_given(execution: dict[str, Any], verdict: bool) -> dict[str, Any]:
    outcome = execution.get("outcome")
    if isinstance(outcome, dict) and "success" in outcome:
        return execution
    return {**execution, "outcome": {**(outcome if isinstance(outcome, dict) else {}), "success": verdict}}


def abstract_steps(trace: Trace) -> list[dict[str, Any]]:
    """The steps of the procedure that a trace tells, as `learn` takes them."""
    return [_abstract(folded) for folded in fold(trace.steps)]


def _abstract(folded: FoldedStep) -> dict[str, Any]:
    step = folded.step
    found: dict[str, Any] = {"action": folded.action, "description": _description(folded)}
    parameters = parameters_of(step) if step.kind != "step" else step.parameters
    if parameters:
        found["parameters"] = parameters
    repeats = _repeats(folded)
    if repeats:
        found["repeats"] = repeats
    if folded.pitfalls:
        found["pitfalls"] = folded.pitfalls
    return found


def _repeats(folded: FoldedStep) -> str:
    parts = []
    if folded.others:
        differing = f", each with another {' and '.join(folded.varying[:3])}" if folded.varying else ""
        parts.append(f"{folded.repeats} times{differing}")
    if folded.rounds > 1:
        parts.append(f"the last of a loop of {folded.rounds} rounds")
    return "; ".join(parts)


def _description(folded: FoldedStep) -> str:
    """What was said, then what was called, of the first steps that it stands for; not what the action says already."""
    told: list[str] = []
    for step in (folded.step, *folded.others):
        called = _called(step)
        told += [_said(step.description), "" if _spoken(called) == _spoken(folded.action) else called]
    return _cut("\n".join(dict.fromkeys(part for part in told if part)), LONGEST_DESCRIPTION)


def _spoken(text: str) -> str:
    return text.replace("_", " ").lower()


def _said(text: str) -> str:
    """The first sentences of what an agent said about a step."""
    plain = text.strip()
    if len(plain) <= _LONGEST_SAID:
        return plain
    found = ""
    for sentence in _SENTENCES.split(plain[: _LONGEST_SAID * 4]):
        if found and len(found) + len(sentence) > _LONGEST_SAID:
            break
        found = f"{found} {sentence}".strip()
    return _cut(found, _LONGEST_SAID)


def _called(step: TraceStep) -> str:
    if step.kind == "step":
        return ""
    if is_command(step):
        return _cut(" ".join(command_of(step).split()), _LONGEST_CALL)
    arguments = ", ".join(f"{name}: {_value(value)}" for name, value in step.parameters.items())
    if step.kind in ("agent", "model", "chain"):
        return _cut(arguments, _LONGEST_CALL) if step.kind == "agent" else ""
    return _cut(f"{step.action} {arguments}".strip(), _LONGEST_CALL)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + _cut(", ".join(map(str, value)), _LONGEST_VALUE) + "}"
    if isinstance(value, list):
        return "[" + _cut(", ".join(_value(item) for item in value[:5]), _LONGEST_VALUE) + "]"
    return _cut(" ".join(str(value).split()), _LONGEST_VALUE)


def _cut(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    at_word = text.rfind(" ", length // 2, length)
    return text[: at_word if at_word > 0 else length - 1].rstrip() + "…"
