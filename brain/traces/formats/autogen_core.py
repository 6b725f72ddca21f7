"""How are AutoGen, AG2 and Magentic-One read? Messages with a source, their calls and results; else agents in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, POSSIBLE, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import is_message, read_message
from brain.traces.values import list_at, object_at, parsed, text_at
from brain.traces.verdicts import verdict_in

_CORE = frozenset("UserMessage AssistantMessage FunctionExecutionResultMessage".split())
_CHAT = frozenset(
    "TextMessage MultiModalMessage StopMessage HandoffMessage ToolCallSummaryMessage ToolCallRequestEvent "
    "ToolCallExecutionEvent ToolCallMessage ToolCallResultMessage MemoryQueryEvent ThoughtEvent "
    "UserInputRequestedEvent ModelClientStreamingChunkEvent SelectSpeakerEvent StructuredMessage".split()
)
_CALLS = frozenset({"AssistantMessage", "ToolCallRequestEvent", "ToolCallMessage"})
_RESULTS = frozenset({"FunctionExecutionResultMessage", "ToolCallExecutionEvent", "ToolCallResultMessage"})
_USERS = frozenset({"user", "User", "user_proxy", "UserProxy", "human", "Human"})
_LISTS = ("messages", "chat_history", "history", "message_thread", "llm_messages")
_STATES, _DEEPEST = ("agent_state", "llm_context", "task_result", "team_result", "run"), 5
_SILENT = frozenset({"SystemMessage", "ModelClientStreamingChunkEvent", "UserInputRequestedEvent", "MemoryQueryEvent"})


class AutoGenCore(Format):
    """Core's and AgentChat's messages, a task's result, a saved state, AG2's chat history, Magentic-One's log."""

    name = "autogen_core"

    def whole(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        rows = _messages(value)
        if any(_is_typed(row) for row in rows[:5]):
            return SURE
        if any(key in value for key in ("chat_history", "agent_states", "message_thread")):
            return LIKELY if any(map(_is_named, rows[:5])) else NO
        return NO

    def part(self, value: Any) -> int:
        if _is_typed(value):
            return SURE
        return POSSIBLE + 5 if _is_named(value) else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        first = next(values, None)
        if first is None:
            return
        draft = TraceDraft(origin)
        rows = iter(_messages(first)) if self.whole(first) else chain([first], values)
        turns = _Turns()
        for row in rows:
            _read(draft, _unlogged(row), turns)
        if not draft.steps:
            turns.tell(draft)
        if self.whole(first):
            draft.outcome = verdict_in({key: item for key, item in first.items() if key not in _LISTS})
        yield draft.finish()


def _messages(value: Any, depth: int = 0) -> list[Any]:
    """The messages of a list, of a result, or of the first state of an agent or team that has any."""
    rows = list_at(value, *_LISTS)
    if rows or depth > _DEEPEST:
        return rows
    states = [*object_at(value, "agent_states").values(), *(object_at(value, key) for key in _STATES)]
    return next((found for state in states if state and (found := _messages(state, depth + 1))), [])


def _unlogged(value: Any) -> Any:
    """The message in a line of a log, which holds it as its `message` or `payload`."""
    inner = parsed(object_at(value).get("payload") if isinstance(value, dict) else None)
    return inner if _is_typed(inner) else value


def _is_typed(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    kind = text_at(value, "type")
    return (kind in _CORE and "content" in value) or (kind in _CHAT and "source" in value)


def _is_named(value: Any) -> bool:
    """A message of AG2: a role, and the name of the agent that speaks."""
    return is_message(value) and isinstance(value.get("name"), str) and "role" in value and value["role"] != "tool"


class _Turns:
    """What agents said in turn, for a talk in which no tool is called."""

    def __init__(self) -> None:
        self._said: list[tuple[str, str, Any]] = []

    def add(self, agent: str, text: str, time: Any) -> None:
        """An agent said something. The caps hold when it is told."""
        self._said.append((agent, text[:10_000], time))

    def tell(self, draft: TraceDraft) -> None:
        """Each turn as a step."""
        for agent, text, time in self._said:
            draft.call(agent, description=text, agent=agent, time=time, kind="agent")


def _read(draft: TraceDraft, row: Any, turns: _Turns) -> None:
    if not isinstance(row, dict):
        return
    kind, source, content = text_at(row, "type"), text_at(row, "source", "name"), row.get("content")
    time = row.get("created_at") or row.get("timestamp")
    if kind in _SILENT:
        return
    if kind in _CALLS and isinstance(content, list):
        draft.think(text_at(row, "thought"))
        for call in content:
            if isinstance(call, dict):
                draft.call(
                    text_at(call, "name"), call.get("arguments"), id=text_at(call, "id"), agent=source, time=time
                )
    elif kind in _RESULTS and isinstance(content, list):
        for result in content:
            if isinstance(result, dict):
                failed = True if result.get("is_error") else None
                draft.answer(
                    result.get("content"), id=text_at(result, "call_id"), name=text_at(result, "name"), failed=failed
                )
    else:
        _read_said(draft, row, source, time, turns)


def _read_said(draft: TraceDraft, row: Mapping[str, Any], source: str, time: Any, turns: _Turns) -> None:
    message = read_message({"role": "assistant", **row, **({} if "role" in row else {"type": ""})})
    text = message.text
    for call in message.calls:
        draft.call(call.name, call.arguments, id=call.id, agent=source, time=time)
    for answer in message.answers:
        draft.answer(answer.result, id=answer.id, name=answer.name, failed=answer.failed)
    if message.calls or message.answers or not text.strip():
        return
    is_user = row.get("type") == "UserMessage" or source in _USERS or (not source and row.get("role") == "user")
    if is_user or not draft.task:
        draft.ask(text)
        return
    draft.think(text)
    turns.add(source or "assistant", text, time)
