"""How are SWE-agent's trajectories read? One step an entry of `trajectory`: an action and what it showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import SYSTEM, USER, is_message, read_message
from brain.traces.values import list_at, object_at, text_at
from brain.traces.verdicts import verdict_in


class SweAgentTraj(Format):
    """A .traj file. Its `exit_status` ("submitted") is an end, no verdict."""

    name = "swe_agent_traj"

    def whole(self, value: Any) -> int:
        rows = list_at(value, "trajectory")
        if not any(_is_entry(row) for row in rows[:3]):
            return NO
        return SURE if any(key in value for key in ("history", "environment", "info")) else LIKELY

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        for value in values:
            yield _trace(value, origin)


def _is_entry(row: Any) -> bool:
    return isinstance(row, dict) and "action" in row and ("observation" in row or "response" in row)


def _trace(value: Mapping[str, Any], origin: Origin) -> Trace:
    draft = TraceDraft(origin)
    draft.ask(text_at(value, "problem_statement") or text_at(object_at(value, "replay_config"), "problem_statement"))
    for row in list_at(value, "history"):
        if is_message(row) and not row.get("is_demo") and row.get("message_type") != "demonstration":
            message = read_message(row)
            if message.role == USER:
                draft.ask(message.text)
    for row in list_at(value, "trajectory"):
        if not isinstance(row, dict):
            continue
        action = text_at(row, "action")
        thought = text_at(row, "thought") or text_at(row, "response")
        place = draft.call(action, {"command": action}, description=thought, kind="command")
        draft.answer(row.get("observation"), place=place)
    if not draft.task:
        draft.ask(next((_said(row) for row in list_at(value, "history") if _said(row)), ""))
    draft.outcome = verdict_in({key: item for key, item in value.items() if key not in ("trajectory", "history")})
    return draft.finish()


def _said(row: Any) -> str:
    if not is_message(row):
        return ""
    message = read_message(row)
    return "" if message.role == SYSTEM else message.text
