"""How are the events of Anthropic's managed agents read? What the user and the agent sent, as a stream or as calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import read_message
from brain.traces.values import list_at, text_at
from brain.traces.verdicts import judged

_USES = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
_RESULTS = ("agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result", "user.tool_result")
_SENDERS = ("user.", "agent.", "session.", "span.", "system.")


class AnthropicManagedEvents(Format):
    """Events by themselves, or as `[call, arguments]` of the client that sent or streamed them."""

    name = "anthropic_managed_events"

    def whole(self, value: Any) -> int:
        rows = list_at(value, "events", "data")
        return LIKELY if any(_is_event(row) for row in rows[:5]) else NO

    def part(self, value: Any) -> int:
        if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
            return SURE if "sessions" in value[0] and value[0].startswith("client.") else NO
        return LIKELY if _is_event(value) else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        draft, verdicts = TraceDraft(origin), list[tuple[str, bool]]()
        for value in values:
            for event in _events(value):
                _read_event(draft, event)
                verdicts += _verdict(event)
        draft.outcome = judged(verdicts[-1:])  # an earlier one asked for another try
        yield draft.finish()


def _is_event(value: Any) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind.startswith(_SENDERS)


def _events(value: Any) -> list[Any]:
    """The events of a line: of what was sent, or the one that was streamed."""
    if isinstance(value, list):
        return [event for part in value[1:] for event in _events_in(part)]
    return _events_in(value)


def _events_in(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [event for part in value for event in _events_in(part)]
    return [value] if _is_event(value) else [row for row in list_at(value, "events", "data") if _is_event(row)]


def _read_event(draft: TraceDraft, event: Mapping[str, Any]) -> None:
    kind = event["type"]
    if kind in ("user.message", "agent.message", "agent.thinking"):
        said = _said(event)
        draft.ask(said) if kind == "user.message" else draft.think(said)
    elif kind in _USES:
        place = draft.call(
            text_at(event, "name"),
            event.get("input"),
            id=text_at(event, "id"),
            agent=text_at(event, "agent_name"),
            time=event.get("processed_at"),
        )
        if event.get("evaluated_permission") == "deny":
            draft.fail(place, "refused: its permission was denied")
    elif kind in _RESULTS:
        keys = ("tool_use_id", "mcp_tool_use_id", "custom_tool_use_id")
        failed = True if event.get("is_error") else None
        draft.answer(event.get("content"), id=text_at(event, *keys), failed=failed)
    elif kind == "user.tool_confirmation" and event.get("result") == "deny":
        draft.answer(
            text_at(event, "deny_message") or "refused by the user", id=text_at(event, "tool_use_id"), failed=True
        )


def _verdict(event: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """What the grader of an outcome said, where one was set."""
    result = event.get("result")
    if event["type"] != "span.outcome_evaluation_end" or result not in ("satisfied", "failed"):
        return []
    return [(f"outcome_evaluation.result = {result}", result == "satisfied")]


def _said(event: Mapping[str, Any]) -> str:
    return read_message({"role": "assistant", "content": event.get("content")}).text
