"""What was a skill learned from? `StoredTrace`, one execution as it was seen."""

from __future__ import annotations

from pydantic import ConfigDict

from brain.model.record import Record
from brain.model.text import JsonObject, Text, Time


class StoredTrace(Record):
    """One execution that a skill was learned from, as it was handed in. `trace_id` is the caller's, or empty."""

    model_config = ConfigDict(frozen=True)

    trace_id: Text = ""
    seen_at: Time
    execution_trace: JsonObject
    context: JsonObject
    outcome: JsonObject
