"""What did an agent do, whoever wrote it down? `Trace`: the task, the steps, how it ended and what says so."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from brain.model.record import Record
from brain.model.text import Json, JsonObject, SpokenText, Text, Time, Unit


class TraceStep(Record):
    """One thing that was done: a tool call, a command, or an agent's turn.

    `action` names it as the trace does; `description` is what was said about it; `parameters` are the arguments.
    `result` is what came back (text or JSON, cut to `TraceLimits.text`), `error` why it failed, empty if nothing says
    so. `kind` is "tool", "command", "agent", "model" or "chain".
    """

    action: SpokenText
    description: Text = ""
    parameters: JsonObject = Field(default_factory=dict)
    result: Json = None
    error: Text = ""
    agent: Text = ""
    time: Time | None = None
    kind: Text = "tool"


class TraceOutcome(Record):
    """How it ended. `success` is None where nothing says, or where verdicts contradict; `evidence` is what says so.

    `quality` is 0..1 where the trace states one.
    """

    success: Annotated[bool | None, Field(strict=True)] = None
    evidence: list[Text] = Field(default_factory=list)
    quality: Unit | None = None


class Trace(Record):
    """One execution, read from a file of any known format.

    `source` says where it stood (file, and line or item), `format` what it was written as; `digest` is that of its
    content, equal for equal traces wherever they stand. `execution` is the guide's
    dictionary where the file holds one: that is learned as it stands.
    """

    task: Text = ""
    domain: Text = ""
    steps: list[TraceStep] = Field(default_factory=list)
    outcome: TraceOutcome = Field(default_factory=TraceOutcome)
    source: Text = ""
    format: Text = ""
    digest: Text = ""
    execution: Annotated[dict[str, Any] | None, Field(repr=False)] = None

    @property
    def success(self) -> bool | None:
        """`outcome.success`."""
        return self.outcome.success

    @property
    def failed_steps(self) -> list[TraceStep]:
        """The steps that have an error."""
        return [step for step in self.steps if step.error]
