"""How are OpenHands' events read? Actions of the agent, each with the observation that names it as its cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.faults import fault_in
from brain.traces.messages import read_message
from brain.traces.values import list_at, object_at, text_at
from brain.traces.verdicts import verdict_in

_LISTS = ("trajectory", "history", "events")
_NO_ARGUMENTS = frozenset(
    "thought blocking hidden confirmation_state security_risk is_input impl_source translated_ipython_code "
    "keep_prompt wait_for_response image_urls file_urls start end view_range is_static cwd timeout".split()
)
_KINDS = frozenset(
    "ActionEvent ObservationEvent MessageEvent AgentErrorEvent SystemPromptEvent UserRejectObservation".split()
)


class OpenHandsEvents(Format):
    """Events in a list, an evaluation's line with its history, events of the newer SDK. "finish" is no verdict."""

    name = "openhands_events"

    def whole(self, value: Any) -> int:
        rows = list_at(value, *_LISTS)
        rows = [row for item in rows[:4] for row in (item if isinstance(item, list) else [item])]
        return SURE if any(self.part(row) for row in rows) else NO

    def part(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        if text_at(value, "kind") in _KINDS:
            return SURE
        if not any(isinstance(value.get(key), str) for key in ("action", "observation")):
            return NO
        if "source" in value and ("args" in value or "extras" in value or "cause" in value):
            return SURE
        return LIKELY if "args" in value and "message" in value else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        first = next(values, None)
        if first is None:
            return
        draft = TraceDraft(origin)
        if not self.whole(first):
            rows: Iterator[Any] = chain([first], values)
        else:
            rows = iter(list_at(first, *_LISTS))
            draft.ask(text_at(first, "instruction") or text_at(object_at(first, "instance"), "problem_statement"))
            draft.outcome = verdict_in({key: item for key, item in first.items() if key not in _LISTS})
        for row in rows:
            for event in row if isinstance(row, list) else [row]:  # older ones keep pairs
                if isinstance(event, dict):
                    _read_event(draft, event)
        yield draft.finish()


def _read_event(draft: TraceDraft, event: Mapping[str, Any]) -> None:
    if text_at(event, "kind") in _KINDS:
        _read_newer(draft, event)
    elif isinstance(event.get("action"), str):
        _read_action(draft, event)
    elif isinstance(event.get("observation"), str):
        _read_observation(draft, event)


def _read_action(draft: TraceDraft, event: Mapping[str, Any]) -> None:
    arguments = object_at(event, "args")
    source = text_at(event, "source")
    if source == "user" or (not source and event["action"] == "message" and not draft.steps):
        draft.ask(text_at(arguments, "content") or text_at(event, "message"))
        return
    if source not in ("agent", ""):
        return
    said = text_at(arguments, "thought") or _said_in_call(event) or text_at(event, "message")
    given = {key: item for key, item in arguments.items() if key not in _NO_ARGUMENTS and item not in (None, "")}
    id = event.get("id")
    draft.call(
        event["action"],
        given,
        id="" if id is None else f"event {id}",
        description=said,
        agent=text_at(event, "agent"),
        time=event.get("timestamp"),
    )


def _said_in_call(event: Mapping[str, Any]) -> str:
    """What the model said when it asked for the action."""
    for choice in list_at(object_at(object_at(event, "tool_call_metadata"), "model_response"), "choices")[:1]:
        return text_at(object_at(choice, "message"), "content")
    return ""


def _read_observation(draft: TraceDraft, event: Mapping[str, Any]) -> None:
    cause = event.get("cause")
    if cause is None and event["observation"] not in ("error", "run", "read", "edit", "write", "browse", "run_ipython"):
        return
    fault = fault_in(object_at(object_at(event, "extras"), "metadata")) or fault_in(object_at(event, "extras"))
    failed = True if event["observation"] in ("error", "user_rejected") or fault else None
    if event.get("success") is True:
        failed = False
    draft.answer(event.get("content"), id="" if cause is None else f"event {cause}", failed=failed)


def _read_newer(draft: TraceDraft, event: Mapping[str, Any]) -> None:
    """An event of the agent SDK: its kind says what it is, and the calls carry ids."""
    kind = event["kind"]
    if kind == "MessageEvent":
        said = read_message({"role": "assistant", **object_at(event, "llm_message")}).text
        if event.get("source") == "user":
            draft.ask(said)
        else:
            draft.think(said)
    elif kind == "ActionEvent":
        action = object_at(event, "action")
        thought = read_message({"role": "assistant", "content": event.get("thought")}).text
        given = {key: item for key, item in action.items() if key != "kind" and item not in (None, "")}
        name = text_at(event, "tool_name") or text_at(action, "kind").removesuffix("Action")
        id = text_at(event, "tool_call_id")
        draft.call(name, given, id=id, description=thought, time=event.get("timestamp"))
    elif kind != "SystemPromptEvent":
        told = event.get("observation") or text_at(event, "error", "rejection_reason")
        failed = True if kind != "ObservationEvent" or object_at(told).get("is_error") else None
        draft.answer(
            object_at(event, "observation").get("content", told), id=text_at(event, "tool_call_id"), failed=failed
        )
