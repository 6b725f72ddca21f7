"""Did a run keep the rules of an execution? The facts that OrKa's `invariant_validator` gives, computed, not asked."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from brain.workflow.records import ValidatorSettings

_MARKER = "EXECUTION_DATA_JSON:"
_CATEGORIES = (
    "fork_join_integrity",
    "routing_integrity",
    "cycle_detection",
    "tool_integrity",
    "schema_compliance",
    "depth_compliance",
)


def execution_in(prompt: str, otherwise: dict[str, Any]) -> dict[str, Any]:
    """The execution that a prompt hands over as JSON behind its marker, or `otherwise`."""
    _, marker, text = prompt.partition(_MARKER)
    try:
        found = json.loads(text) if marker else None
    except (ValueError, RecursionError):
        return otherwise
    return found if isinstance(found, dict) else otherwise


def validated_execution(execution: dict[str, Any], settings: ValidatorSettings) -> dict[str, Any]:
    """PASS or FAIL for each rule, with what breaks it; `response` says it in one sentence."""
    violations: dict[str, list[str]] = {category: [] for category in _CATEGORIES}
    ran = [str(node) for node in _list(execution.get("nodes_executed"))]
    for fork, state in _dict(execution.get("fork_groups")).items():
        violations["fork_join_integrity"] += _fork_faults(fork, _dict(state))
    known = _dict(_dict(execution.get("graph_structure")).get("nodes"))
    for router, decision in _dict(execution.get("router_decisions")).items():
        target = _dict(decision).get("chosen_target")
        if target not in known:
            violations["routing_integrity"].append(f"router {router!r} chose {target!r}, which does not exist")
    for node, times in Counter(ran).items():
        if times > 1 and node not in settings.allow_reentrant_nodes:
            violations["cycle_detection"].append(f"{node!r} ran {times} times")
    for call in _list(execution.get("tool_calls")):
        if _dict(call).get("status") == "error" or (settings.strict_tool_errors and _dict(call).get("warning")):
            violations["tool_integrity"].append(f"{_dict(call).get('node')!r} failed: {_dict(call).get('error')}")
    for node, result in _dict(execution.get("structured_outputs")).items():
        if _dict(result).get("valid") is False:
            violations["schema_compliance"].append(f"the output of {node!r} does not keep to its schema")
    if settings.max_depth is not None and len(ran) > settings.max_depth:
        violations["depth_compliance"].append(f"{len(ran)} agents ran, {settings.max_depth} are allowed")
    return _facts(violations)


def _facts(violations: dict[str, list[str]]) -> dict[str, Any]:
    failed = [category for category, found in violations.items() if found]
    total = sum(map(len, violations.values()))
    said = "; ".join(message for category in failed for message in violations[category])
    return {
        **{
            category: {"status": "FAIL" if found else "PASS", "violations": found}
            for category, found in violations.items()
        },
        "critical_failures_detected": bool(failed),
        "validation_summary": {"total_violations": total, "critical_count": total, "categories_failed": failed},
        "response": f"{total} violations: {said}." if total else "No violations: every rule was kept.",
        "confidence": "1.0",
        "internal_reasoning": "Computed from the record of the run.",
    }


def _fork_faults(fork: str, state: dict[str, Any]) -> list[str]:
    faults = [] if state.get("has_join") else [f"fork {fork!r} has no join"]
    missing = [
        branch for branch in _list(state.get("branches")) if branch not in _list(state.get("completed_branches"))
    ]
    return faults + ([f"fork {fork!r} lacks the results of {missing}"] if missing else [])


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
