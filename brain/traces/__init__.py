"""How do the traces that agents write become ours? `read(path)` gives each as a canonical `Trace`, whatever its format.

    for trace in brain.traces.read("runs.jsonl"):
        print(trace.format, trace.task, [step.action for step in trace.steps], trace.success)
        memory.observe(**brain.traces.execution_of(trace, success=True))

`success` is the verdict for traces that hold none; `without_secrets(trace)` replaces keys, tokens, passwords and
addresses. What stands in a trace is data: nothing in it is followed, evaluated or fetched.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brain.analysis.steps import execution_of, without_secrets
    from brain.traces.reading import format_names, read, read_one

_HOME = {
    "execution_of": "brain.analysis.steps",
    "format_names": "brain.traces.reading",
    "read": "brain.traces.reading",
    "read_one": "brain.traces.reading",
    "without_secrets": "brain.analysis.steps",
}

__all__ = ["execution_of", "format_names", "read", "read_one", "without_secrets"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'brain.traces' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
