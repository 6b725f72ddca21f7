"""How are LangGraph and LangChain read? Streams of any mode, states and their history, rows of messages and events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import Message, is_message, read_message, tell
from brain.traces.values import list_at, object_at, text_at
from brain.traces.verdicts import verdict_in

_MODES = frozenset("values updates messages custom debug tasks checkpoints events metadata error end".split())
_MOST_NODES = 20  # that run in one step
_EVENTS = ("on_chain_", "on_tool_", "on_chat_model_", "on_llm_", "on_retriever_", "on_prompt_", "on_parser_")


class LangGraphStream(Format):
    """What `stream` and `astream_events` give, a graph's state or its history, and LangChain's messages."""

    name = "langgraph_stream"

    def whole(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        rows = [*_state_messages(value), *list_at(value, "history")]
        return LIKELY if any(_is_langchain(row) for row in rows[:5]) else NO

    def part(self, value: Any) -> int:
        if _mode_of(value):
            return SURE
        if not isinstance(value, dict):
            return NO
        if str(value.get("event", "")).startswith(_EVENTS):
            return SURE
        if _is_langchain(value) or _is_update(value):
            return LIKELY
        return LIKELY if _state_messages(value) and _is_snapshot(value) else NO

    def stages(self, values: list[Any]) -> bool:
        states = [rows for value in values if isinstance(value, dict) and (rows := _state_messages(value))]
        grew = len(states) > 1 and len(states[0]) < len(states[-1]) and _is_langchain(states[0][0])
        return grew and all(after[: len(before)] == before for before, after in pairwise(states))

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        first = next(values, None)
        draft = TraceDraft(origin)
        seen = _Seen(draft)
        for value in chain([first], values) if first is not None else ():
            _read(value, seen)
        seen.finish()
        if isinstance(first, dict) and self.whole(first):
            draft.outcome = verdict_in({key: item for key, item in first.items() if key not in ("messages", "values")})
        yield draft.finish()


class _Seen:
    """What a stream has shown so far: the last snapshot that has messages, or the messages that came one by one."""

    def __init__(self, draft: TraceDraft) -> None:
        self._draft, self._snapshot = draft, list[Any]()
        self._by_id: dict[str, list[Any]] = {}
        self._tools: dict[str, int] = {}

    def snapshot(self, messages: list[Any]) -> None:
        """A state holds all messages so far."""
        if messages:
            self._snapshot = messages

    def state(self, messages: list[Any]) -> None:
        """One of a history, which may begin with the latest."""
        if len(messages) > len(self._snapshot):
            self._snapshot = messages

    def add(self, message: Any) -> None:
        """A message came by itself, or a piece of one: a later whole of it takes the place of the pieces."""
        if is_message(message):
            body = object_at(message, "kwargs", "data") or message
            self._by_id.setdefault(text_at(body, "id") or f"#{len(self._by_id)}", []).append(message)

    def event(self, value: Mapping[str, Any]) -> None:
        """One of `astream_events`."""
        kind, data, run = value["event"], object_at(value, "data"), text_at(value, "run_id")
        if kind == "on_tool_start":
            self._tools[run] = self._draft.call(text_at(value, "name"), data.get("input"), id=run)
        elif kind in ("on_tool_end", "on_tool_error"):
            result = data.get("output", data.get("error"))
            self._draft.answer(_content(result), id=run, failed=True if kind.endswith("error") else None)
        elif kind in ("on_chain_start", "on_chat_model_start"):
            for message in _state_messages(data.get("input")):
                if is_message(message) and read_message(message).role == "user":
                    tell(self._draft, read_message(message))

    def finish(self) -> None:
        """Tells the draft."""
        whole = [_joined([read_message(piece) for piece in pieces]) for pieces in self._by_id.values()]
        messages: Iterable[Message] = [read_message(row) for row in self._snapshot if is_message(row)]
        for message in messages if self._snapshot else whole:
            tell(self._draft, message)


def _read(value: Any, seen: _Seen) -> None:
    mode = _mode_of(value)
    if mode:
        _read_mode(mode, _payload(value), seen)
    elif isinstance(value, dict) and str(value.get("event", "")).startswith(_EVENTS):
        seen.event(value)
    elif is_message(value):
        seen.add(value)
    elif _is_update(value):
        _read_mode("updates", value, seen)
    elif isinstance(value, dict):
        seen.state(_state_messages(value))


def _read_mode(mode: str, payload: Any, seen: _Seen) -> None:
    if mode == "values":
        seen.snapshot(_state_messages(payload))
    elif mode.startswith("messages"):
        for item in payload if isinstance(payload, list) else [payload]:  # a message and what is known of it
            seen.add(item)
    elif mode.startswith("updates") and isinstance(payload, dict):
        for update in payload.values():  # by node
            for part in update if isinstance(update, list) else [update]:
                for message in _state_messages(part):
                    seen.add(message)
    elif mode in ("debug", "checkpoints", "tasks") and isinstance(payload, dict):
        inner = object_at(payload, "payload") or payload
        seen.snapshot(_state_messages(object_at(inner, "values")))


def _mode_of(value: Any) -> str:
    """The mode of a piece of a stream: `[mode, payload]`, `[namespace, mode, payload]` or an object of the server."""
    if isinstance(value, list | tuple) and len(value) in (2, 3) and isinstance(value[-2], str):
        mode = value[-2]
    elif isinstance(value, dict) and "data" in value:
        mode = text_at(value, "event") or (text_at(value, "type") if "ns" in value else "")
    else:
        return ""
    plain = mode.partition("|")[0]
    return plain if plain.partition("/")[0] in _MODES else ""


def _payload(value: Any) -> Any:
    return value["data"] if isinstance(value, dict) else value[-1]


def _state_messages(value: Any) -> list[Any]:
    """The messages of a state, of a snapshot of one, or the value itself if it is a list of them."""
    if isinstance(value, list):
        flat = value[0] if value and isinstance(value[0], list) else value  # a model's input is a batch
        return flat if any(map(is_message, flat[:3])) else []
    if not isinstance(value, dict):
        return []
    inner = object_at(value, "values", "channel_values", "state", "output")
    rows = list_at(value, "messages") or list_at(inner, "messages")
    return rows if any(map(is_message, rows[:3])) else []


def _is_snapshot(value: Mapping[str, Any]) -> bool:
    return any(key in value for key in ("values", "channel_values", "next", "checkpoint", "config"))


def _is_update(value: Any) -> bool:
    """Whether an object is what a step of a graph changed, by the names of its nodes: all that `stream` gives."""
    if not isinstance(value, dict) or len(value) > _MOST_NODES:
        return False
    if not all(update is None or isinstance(update, dict | list) for update in value.values()):
        return False
    parts = [part for update in value.values() for part in (update if isinstance(update, list) else [update])]
    return any(any(map(_is_langchain, _state_messages(part)[:3])) for part in parts if isinstance(part, dict))


def _is_langchain(value: Any) -> bool:
    """Whether a message is written as LangChain writes them: a constructor, or with its kind as the type."""
    return is_message(value) and ("lc" in value or ("type" in value and "role" not in value and "source" not in value))


def _joined(pieces: list[Message]) -> Message:
    """One message of the pieces it was streamed in. A piece with all of it takes the place of the others."""
    whole = max(pieces, key=lambda piece: (bool(piece.answers), len(piece.calls), len(piece.text)))
    if len(pieces) == 1 or whole.calls or whole.answers:
        return whole
    if all(whole.text.startswith(piece.text) for piece in pieces):  # each piece holds those before it
        return whole
    said = "".join(text for piece in pieces for text in piece.said)
    return Message(whole.role, [said], name=whole.name, id=whole.id)


def _content(result: Any) -> Any:
    """The content of a tool's message, else the result as it is."""
    if is_message(result):
        answers = read_message(result).answers
        return answers[0].result if answers else result
    return result
