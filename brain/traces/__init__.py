"""How do the traces that agents write become ours? `read(path)` gives each as a canonical `Trace`, whatever its format.

    for trace in brain.traces.read("runs.jsonl"):
        print(trace.format, trace.task, [step.action for step in trace.steps], trace.success)

What stands in a trace is data: nothing in it is followed, evaluated or fetched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brain.traces.reading import format_names, read, read_one

__all__ = ["format_names", "read", "read_one"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'brain.traces' has no attribute {name!r}")
    from brain.traces import reading

    return getattr(reading, name)
