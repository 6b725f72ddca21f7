"""How are OrKa's traces read? Events of agents, whose payloads may stand in the blob store that they refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.faults import fault_in
from brain.traces.values import list_at, object_at, text_at

_KEYS = frozenset({"agent_id", "event_type"})
_LISTS = ("events", "agent_executions", "trace", "logs")
_NO_STEPS = frozenset({"write", "MetaReport"})
_DEEPEST = 6


class OrkaTrace(Format):
    """A trace file with its blob store, or a bare list of events. Reports and internal writes are no steps."""

    name = "orka_trace"

    def whole(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        rows = list_at(value, *_LISTS)
        return SURE if any(map(_is_event, rows[:3])) or ("blob_store" in value and "events" in value) else NO

    def part(self, value: Any) -> int:
        return LIKELY if _is_event(value) else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        first = next(values, None)
        if first is None:
            return
        draft = TraceDraft(origin)
        blobs: Mapping[str, Any] = {}
        rows: Iterator[Any] = chain([first], values)
        if self.whole(first):
            blobs, rows = object_at(first, "blob_store"), iter(list_at(first, *_LISTS))
        prompts: list[str] = []
        for event in rows:
            if isinstance(event, dict) and text_at(event, "event_type") not in _NO_STEPS:
                _read_event(draft, event, blobs, prompts)
        if not draft.task:  # what was put in is a number or an object; the first prompt says what was asked of it
            draft.ask(next((prompt for prompt in prompts if prompt), ""))
        yield draft.finish()


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= _KEYS and ("payload" in value or "timestamp" in value)


def _read_event(draft: TraceDraft, event: Mapping[str, Any], blobs: Mapping[str, Any], prompts: list[str]) -> None:
    if text_at(event, "agent_id") == "meta_report":
        return
    payload = _resolved(event.get("payload"), blobs)
    told = payload if isinstance(payload, dict) else {"result": payload}
    given = object_at(told, "result") or told  # newer ones have one level less
    asked = told.get("input", given.get("input"))
    if isinstance(asked, dict):
        asked = asked.get("input")
    if isinstance(asked, str) and len(asked.split()) > 1:
        draft.ask(asked)
    prompt = text_at(told, "formatted_prompt", "prompt") or text_at(given, "formatted_prompt", "prompt")
    prompts.append(prompt)
    result = next(
        (part[key] for part in (given, told) for key in ("result", "response", "memories") if key in part), None
    )
    arguments = {} if asked in (None, "") else {"input": asked}
    place = draft.call(
        text_at(event, "agent_id"),
        arguments,
        description=prompt or text_at(event, "event_type"),
        agent=text_at(event, "agent_id"),
        time=event.get("timestamp"),
        kind="agent",
    )
    draft.answer(result, place=place, failed=False)
    fault = fault_in(result) or fault_in(given) or fault_in(told)
    if fault:
        draft.fail(place, fault)


def _resolved(value: Any, blobs: Mapping[str, Any], depth: int = 0) -> Any:
    """`value` with what it refers to in place of the references. One that refers to itself ends at a depth."""
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [_resolved(item, blobs, depth + 1) for item in value]
    if value.get("_type") == "blob_reference":
        return _resolved(blobs.get(text_at(value, "ref"), {}), blobs, depth + 1)
    return {key: _resolved(item, blobs, depth + 1) for key, item in value.items()}
