"""How are OpenAI's Responses read? Items: messages, calls and their outputs; whole, streamed, or as a run's spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, POSSIBLE, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import converse, is_item, is_message, read_message, tell
from brain.traces.values import list_at, object_at, text_at
from brain.traces.verdicts import judged, verdict_in

_SPANS = frozenset({"trace", "trace.span"})


class OpenAIResponses(Format):
    """A response object, a list of items, the events of a stream, or the spans of the Agents SDK."""

    name = "openai_responses"

    def whole(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        if value.get("object") == "response":
            return SURE
        if isinstance(value.get("response"), dict) and value["response"].get("object") == "response":
            return NO if _is_event(value) else SURE
        rows = [*list_at(value, "input", "items", "new_items"), *list_at(value, "output")]
        return LIKELY if any(is_item(row) for row in rows[:20]) else NO

    def part(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        if _is_event(value) or text_at(value, "object") in _SPANS:
            return SURE
        return LIKELY if is_item(value) else POSSIBLE - 10 if _is_message_item(value) else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        draft, failed = TraceDraft(origin), ""
        first = next(values, None)
        if first is None:
            return
        if text_at(first, "object") in _SPANS:
            _read_spans(draft, chain([first], values))
        elif self.whole(first):
            failed = _read_whole(draft, first)
        else:
            for value in chain([first], values):
                failed = _read_part(draft, value) or failed
        if failed:
            draft.outcome = judged([(f"status = failed: {failed}", False)])
        yield draft.finish()


def _is_event(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("type"), str) and value["type"].startswith("response.")


def _is_message_item(value: Mapping[str, Any]) -> bool:
    return value.get("type") == "message" and is_message(value)


def _read_whole(draft: TraceDraft, value: Mapping[str, Any]) -> str:
    response = object_at(value, "response") or value
    asked = value.get("input", response.get("input")) or object_at(value, "request").get("input")
    if isinstance(asked, str):
        draft.ask(asked)
    rows = asked if isinstance(asked, list) else list_at(value, "items", "new_items")
    converse(draft, [*rows, *list_at(response, "output")])
    draft.outcome = verdict_in(value)
    return _failed(response)


def _read_part(draft: TraceDraft, value: Any) -> str:
    if not isinstance(value, dict) or not _is_event(value):
        converse(draft, [value])
        return ""
    kind = value["type"]
    if kind == "response.output_item.done":
        converse(draft, [value.get("item")])
    elif kind in ("response.completed", "response.failed", "response.incomplete"):
        response = object_at(value, "response")
        converse(draft, list_at(response, "output"))  # a call that was streamed before is the same call
        return _failed(response)
    elif kind == "response.created":
        asked = object_at(value, "response").get("input")
        if isinstance(asked, str):
            draft.ask(asked)
        converse(draft, asked if isinstance(asked, list) else [])
    return ""


def _failed(response: Mapping[str, Any]) -> str:
    """Why a response failed as a whole."""
    if response.get("status") != "failed":
        return ""
    return text_at(object_at(response, "error"), "message", "code") or "no reason given"


def _read_spans(draft: TraceDraft, values: Iterator[Any]) -> None:
    """The spans of the Agents SDK's traces, as its exporter writes them."""
    for value in values:
        data = object_at(value, "span_data")
        kind = data.get("type")
        if kind in ("function", "mcp_tools", "handoff"):
            name = text_at(data, "name") or f"hand off to {text_at(data, 'to_agent') or 'another agent'}"
            place = draft.call(name, data.get("input"), id=text_at(value, "id"), time=value.get("started_at"))
            draft.answer(data.get("output"), place=place, failed=True if value.get("error") else None)
        elif kind == "generation":
            for row in list_at(data, "input"):
                if is_message(row) and row.get("role") == "user":
                    tell(draft, read_message(row))
