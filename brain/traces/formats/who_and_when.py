"""How is Who&When read? A question, a history of agents in turn, and who made the decisive mistake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import read_message
from brain.traces.values import list_at, text_at
from brain.traces.verdicts import verdict_in

_MARKS = ("mistake_agent", "mistake_step", "is_correct", "is_corrected", "question_ID", "mistake_reason")


class WhoAndWhen(Format):
    """One file a failed (or corrected) run; every entry of its history that no human made is a step."""

    name = "who_and_when"

    def whole(self, value: Any) -> int:
        if not isinstance(value, dict) or not isinstance(value.get("history"), list):
            return NO
        return SURE if sum(mark in value for mark in _MARKS) >= 2 and "question" in value else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        for value in values:
            yield _trace(value, origin)


def _trace(value: Mapping[str, Any], origin: Origin) -> Trace:
    draft = TraceDraft(origin)
    draft.ask(text_at(value, "question"))
    blamed = str(value.get("mistake_step", ""))
    for place, row in enumerate(list_at(value, "history")):
        if not isinstance(row, dict) or row.get("role") == "human":
            continue
        agent = text_at(row, "name", "role") or "agent"
        said = read_message({"content": row.get("content"), "role": "assistant"}).text
        step = draft.call(agent, description=said, agent=agent, kind="agent")
        if str(place) == blamed:
            draft.fail(step, text_at(value, "mistake_reason") or "the decisive mistake")
    draft.outcome = verdict_in({key: value[key] for key in ("is_correct", "is_corrected") if key in value})
    return draft.finish()
