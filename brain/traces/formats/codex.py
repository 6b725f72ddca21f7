"""How are Codex's sessions read? Rollout files with items of the Responses API, and events of `codex exec`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from brain.model.trace import Trace, TraceOutcome
from brain.traces.base import LIKELY, NO, POSSIBLE, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import USER, is_item, is_message, read_message, tell
from brain.traces.values import list_at, object_at, parsed, text_at
from brain.traces.verdicts import judged

_ENVELOPES = frozenset("session_meta response_item event_msg turn_context compacted".split())
_EXEC = ("thread.", "turn.", "item.")
_DONE = ("item.completed", "item.started", "item.updated")


class Codex(Format):
    """A rollout file of either layout, or the events that the command prints. A completed turn is an end."""

    name = "codex"

    def whole(self, value: Any) -> int:
        if isinstance(value, dict) and isinstance(value.get("session"), dict) and isinstance(value.get("items"), list):
            return LIKELY + 5
        return NO

    def part(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        kind = text_at(value, "type")
        if kind in _ENVELOPES and isinstance(value.get("payload"), dict):
            return SURE
        if kind.startswith(_EXEC) and kind.count(".") == 1:
            return SURE
        if "record_type" in value or ("instructions" in value and "timestamp" in value and "id" in value):
            return LIKELY + 5
        return POSSIBLE if is_item(value) else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        first = next(values, None)
        if first is None:
            return
        draft = TraceDraft(origin)
        rows = iter(list_at(first, "items")) if self.whole(first) else chain([first], values)
        for row in rows:
            if isinstance(row, dict):
                _read(draft, row)
                draft.outcome = _ended(row, draft.outcome)
        yield draft.finish()


def _ended(line: Mapping[str, Any], before: TraceOutcome) -> TraceOutcome:
    """The outcome after an event: a turn that failed, unless another one follows."""
    kind = text_at(line, "type")
    if kind == "turn.failed":
        return judged([(f"turn.failed: {text_at(object_at(line, 'error'), 'message') or 'no reason given'}", False)])
    return TraceOutcome() if kind in ("turn.started", "turn.completed") else before


def _read(draft: TraceDraft, line: Mapping[str, Any]) -> None:
    kind = text_at(line, "type")
    if kind == "response_item":
        _read_item(draft, object_at(line, "payload"), line.get("timestamp"))
    elif kind == "event_msg":
        _read_event(draft, object_at(line, "payload"))
    elif kind in _DONE:
        _read_done(draft, object_at(line, "item"), kind)
    elif kind not in _ENVELOPES:
        _read_item(draft, line, line.get("timestamp"))


def _read_item(draft: TraceDraft, item: Mapping[str, Any], time: Any) -> None:
    if not (is_item(item) or is_message(item)):
        return
    message = read_message(item)
    message.time = time
    for i, answer in enumerate(message.answers):
        result = parsed(answer.result)
        if isinstance(result, dict) and "output" in result:  # {"output": ..., "metadata": {"exit_code": ...}}
            code = object_at(result, "metadata").get("exit_code", 0)
            failed = True if code not in (0, None) else answer.failed
            message.answers[i] = type(answer)(result["output"], answer.id, answer.name, failed)
    tell(draft, message)


def _read_event(draft: TraceDraft, event: Mapping[str, Any]) -> None:
    """What the user typed stands in an event without the wrapping that the model's message has."""
    if event.get("type") == "user_message":
        draft.ask(text_at(event, "message"))


def _read_done(draft: TraceDraft, item: Mapping[str, Any], event: str) -> None:
    """An item of `codex exec --json`. One that was started and completed is one step."""
    kind, id = text_at(item, "type", "item_type"), text_at(item, "id")
    if kind in ("agent_message", "assistant_message", "reasoning"):
        if event == "item.completed":
            draft.think(text_at(item, "text"))
        return
    if kind in ("user_message", USER):
        draft.ask(text_at(item, "text"))
        return
    if kind in ("todo_list", "error", ""):
        return
    name = text_at(item, "tool") or {"command_execution": "shell", "file_change": "apply_patch"}.get(kind, kind)
    keys = ("command", "changes", "query", "arguments", "server")
    arguments = {key: item[key] for key in keys if item.get(key) not in (None, "")}
    place = draft.call(name, arguments.get("arguments") if "arguments" in arguments else arguments, id=id)
    if event == "item.completed":
        bad = item.get("status") == "failed" or item.get("exit_code") not in (0, None) or bool(item.get("error"))
        result = item.get("error") or item.get("aggregated_output") or item.get("result") or item.get("output")
        draft.answer(result, place=place, failed=bad)
