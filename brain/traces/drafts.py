"""How is a trace put together while it is read? `TraceDraft`: told what was asked, called and answered, in order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from brain.config import TraceLimits
from brain.errors import TraceError
from brain.model.trace import Trace, TraceOutcome, TraceStep
from brain.traces.faults import failure, fault_in
from brain.traces.tasks import first_paragraph, task_in
from brain.traces.values import arguments_of, cut, kept, text_of, time_of

LONGEST_ACTION, LONGEST_NAME = 2_000, 200
"""Characters of an action (a command's first line) and of an agent's name that are kept."""

_LONGEST_OPENING = 300
_NAMED_STEPS = 5  # of a trace without a word about its task


@dataclass(frozen=True)
class Origin:
    """Where a trace stands, what it is written as, and the caps on what is read of it."""

    source: str
    format: str
    limits: TraceLimits = field(default_factory=TraceLimits)


class TraceDraft:
    """One trace on its way. What it is told may come in any dialect's order; answers find their call by its id."""

    def __init__(self, origin: Origin) -> None:
        self._origin, self._limits = origin, origin.limits
        self.task = self.domain = ""
        self.outcome = TraceOutcome()
        self.steps: list[dict[str, Any]] = []
        self._by_id: dict[str, int] = {}
        self._open: list[int] = []
        self._thought = self._opening = ""

    def ask(self, text: str) -> None:
        """A user says something: the first that is more than a host's wrapping is the task."""
        self._thought = ""  # what the agent said before was said to the user, not about its next call
        if not self.task and text.strip():
            self.task = cut(task_in(text), self._limits.text)

    def think(self, text: str) -> None:
        """The agent says something; it goes with the next call."""
        if text.strip():
            self._thought = cut(
                f"{self._thought}\n{text.strip()}" if self._thought else text.strip(), self._limits.text
            )
            self._opening = self._opening or self._thought

    def call(
        self,
        action: Any,
        arguments: Any = None,
        *,
        id: Any = "",
        description: str = "",
        agent: str = "",
        time: Any = None,
        kind: str = "tool",
    ) -> int:
        """Something is done; the place of the step. A call with an id that was seen is the same call."""
        known = self._by_id.get(str(id)) if id else None
        if known is not None:
            return known
        if len(self.steps) >= self._limits.steps:
            raise TraceError(
                self._origin.source,
                f"has more than {self._limits.steps:,} steps. Split it, or learn from a shorter run.",
            )
        place = len(self.steps)
        self.steps.append(
            {
                "action": _action(action),
                "description": cut(description.strip() or self._thought, self._limits.text),
                "parameters": arguments_of(arguments, self._limits),
                "agent": cut(str(agent or ""), LONGEST_NAME),
                "time": time_of(time),
                "kind": kind,
            }
        )
        self._thought = ""
        self._open.append(place)
        if id:
            self._by_id[str(id)] = place
        return place

    def answer(self, result: Any, *, id: Any = "", name: str = "", failed: bool | None = None, place: int = -1) -> None:
        """A call is answered: the one with this id, else the oldest one of this name, else the oldest, that waits."""
        found = place if place >= 0 else self._waiting(str(id or ""), name)
        if found is None:
            return
        if found in self._open:
            self._open.remove(found)
        step = self.steps[found]
        if "result" in step and not failed:  # sent once and streamed once
            return
        step["result"] = kept(result, self._limits)
        fault = failure(result) if failed else "" if failed is False else fault_in(result)
        if fault:
            step["error"] = fault

    def fail(self, place: int, reason: Any) -> None:
        """A step failed for this reason."""
        self.steps[place]["error"] = text_of(reason, 300).strip() or "failed"

    def update(self, place: int, arguments: Any) -> None:
        """A call's arguments came later than the call."""
        self.steps[place]["parameters"] = arguments_of(arguments, self._limits)

    def _waiting(self, id: str, name: str) -> int | None:
        if id and id in self._by_id:
            return self._by_id[id]
        if id and self._by_id and not name:
            return None
        for place in self._open:
            if not name or self.steps[place]["action"] == _action(name):
                return place
        return None

    @property
    def is_empty(self) -> bool:
        """Whether it was told nothing."""
        return not self.steps and not self.task and not self._opening

    def finish(self) -> Trace:
        """The trace. Where nobody said what the task was, what the agent said first stands for it, or what it did."""
        if not self.task and self._opening:
            self.task = cut(first_paragraph(task_in(self._opening)), _LONGEST_OPENING)
        if not self.task:
            named = dict.fromkeys(_in_words(step["action"]) for step in self.steps)
            self.task = ", ".join(list(named)[:_NAMED_STEPS])
        steps = [TraceStep(**step) for step in self.steps]
        return Trace(
            task=self.task,
            domain=self.domain,
            steps=steps,
            outcome=self.outcome,
            source=self._origin.source,
            format=self._origin.format,
            digest=_digest(self.task, steps),
        )


def _in_words(action: str) -> str:
    """The name of a tool as words; a command stays as it is, so that what is secret in it is still told by its form."""
    return action.replace("_", " ") if action.isidentifier() else action


def _digest(task: str, steps: Sequence[TraceStep]) -> str:
    """Digest of what was asked and done, wherever and whenever: 32 hexadecimal characters."""
    found = hashlib.blake2b(json.dumps(task).encode(), digest_size=16)
    for step in steps:
        told = [step.action, step.description, step.parameters, step.result, step.error]
        found.update(json.dumps(told, sort_keys=True).encode())
    return found.hexdigest()


def _action(value: Any) -> str:
    """The name of an action in one line, never empty."""
    text = value if isinstance(value, str) else text_of(value, LONGEST_ACTION)
    first = next((line.strip() for line in text.strip().splitlines() if line.strip()), "")
    return cut(first, LONGEST_ACTION) or "(no action)"
