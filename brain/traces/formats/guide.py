"""How is the guide's own dictionary read? `execution_trace`, `context` and `outcome` (guide, "1. Learn")."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from brain.analysis.abstraction import extract_procedure
from brain.errors import BrainError, TraceError
from brain.model.inputs import ExecutionTrace
from brain.model.record import validated
from brain.model.text import digest
from brain.model.trace import Trace, TraceOutcome, TraceStep
from brain.traces.base import LIKELY, NO, SURE, Format
from brain.traces.drafts import Origin
from brain.traces.faults import fault_in
from brain.traces.values import cut, kept, text_at, time_of


class Guide(Format):
    """An execution as `Brain.learn` takes it. It is learned as it stands."""

    name = "guide"

    def whole(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        if "execution_trace" in value:
            return SURE
        parts = {"trace", "context", "outcome"} & value.keys()
        return LIKELY if len(parts) == 3 or parts in ({"context", "outcome"}, {"trace", "context"}) else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        for value in values:
            yield _trace(dict(value), origin)


def _trace(given: dict[str, Any], origin: Origin) -> Trace:
    told = given.get("execution_trace", given.get("trace"))
    context, outcome = given.get("context"), given.get("outcome")
    return Trace(
        task=cut(text_at(context, "task"), origin.limits.text),
        domain=cut(text_at(context, "domain"), origin.limits.text),
        steps=_steps(told, origin),
        outcome=_outcome(outcome),
        source=origin.source,
        format=origin.format,
        digest=digest(json.dumps(given, sort_keys=True)),
        execution=given,
    )


def _steps(told: Any, origin: Origin) -> list[TraceStep]:
    """The steps, read as `learn` reads them. What `learn` will refuse has none: it says then what is wrong."""
    raw = told.get("steps") if isinstance(told, dict) else None
    rows = raw if isinstance(raw, list) else []
    if len(rows) > origin.limits.steps:
        raise TraceError(origin.source, f"has more than {origin.limits.steps:,} steps. Split it.")
    try:
        procedure = extract_procedure(validated(ExecutionTrace, kept(told, origin.limits), "execution_trace"))
    except BrainError:
        return []
    found = []
    for step, row in zip(procedure, rows or procedure, strict=False):
        more = row if isinstance(row, dict) else {}
        failed = fault_in({"error": more.get("error"), "status": more.get("status")})
        found.append(
            TraceStep(
                action=step.action,
                description=step.description,
                parameters=step.parameters,
                result=kept(more.get("result"), origin.limits),
                error=failed,
                agent=text_at(more, "agent", "agent_id"),
                time=time_of(more.get("time") or more.get("timestamp")),
                kind="step",
            )
        )
    return found


def _outcome(outcome: Any) -> TraceOutcome:
    success = outcome.get("success") if isinstance(outcome, dict) else None
    if not isinstance(success, bool):
        return TraceOutcome()
    quality = outcome.get("quality")
    known = isinstance(quality, int | float) and not isinstance(quality, bool) and 0 <= quality <= 1
    return TraceOutcome(
        success=success, evidence=[f"outcome.success = {success}"], quality=float(quality) if known else None
    )
