"""How are chats read? Messages with roles, as OpenAI's chat API has them, and the logs and benchmarks built on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, POSSIBLE, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import converse, is_message
from brain.traces.values import list_at, object_at, text_at
from brain.traces.verdicts import verdict_in

_LISTS = (
    "messages",
    "traj",
    "trajectory",
    "conversation",
    "conversations",
    "chat_history",
    "history",
    "contents",
    "input",
)
_CHUNK, _COMPLETION = "chat.completion.chunk", "chat.completion"


class OpenAIChat(Format):
    """An object with messages (and perhaps a reward), a completion, or a row of messages or of streamed chunks."""

    name = "openai_chat"

    def whole(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        if text_at(value, "object") == _COMPLETION:
            return SURE
        if any(is_message(item) for item in _messages(value)[:3]):
            return LIKELY - 10 if "messages" in value or "traj" in value else POSSIBLE
        inner = object_at(value, "request", "body", "kwargs", "inputs")
        return POSSIBLE if any(is_message(item) for item in _messages(inner)[:3]) else NO

    def part(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        return SURE if text_at(value, "object") == _CHUNK else POSSIBLE if is_message(value) else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        first = next(values, None)
        if first is None:
            return
        if self.whole(first):
            yield _whole(first, origin)
        elif text_at(first, "object") == _CHUNK:
            yield _streamed(chain([first], values), origin)
        else:
            draft = TraceDraft(origin)
            converse(draft, chain([first], values))
            yield draft.finish()


def _messages(value: Any) -> list[Any]:
    return list_at(value, *_LISTS)


def _whole(value: Mapping[str, Any], origin: Origin) -> Trace:
    draft = TraceDraft(origin)
    inner = object_at(value, "request", "body", "kwargs", "inputs")
    converse(draft, [*(_messages(value) or _messages(inner)), *_completed(value)])
    draft.domain = text_at(value, "domain")
    draft.outcome = verdict_in(value)
    if not draft.task:
        draft.ask(text_at(value, "task", "instruction", "question", "prompt", "problem_statement"))
    return draft.finish()


def _completed(value: Mapping[str, Any]) -> list[Any]:
    """The messages of a completion, where it stands alone or beside its request."""
    answers = [value, *(object_at(value, key) for key in ("response", "output", "outputs", "completion"))]
    choices = next((found for answer in answers if (found := list_at(answer, "choices"))), [])
    return [object_at(choice, "message") for choice in choices[:1]]


def _streamed(chunks: Iterator[Any], origin: Origin) -> Trace:
    """A completion that was streamed: the pieces of each call's name and arguments are put together."""
    calls: dict[str, dict[str, str]] = {}
    said: list[str] = []
    for chunk in chunks:
        for choice in list_at(chunk, "choices")[:1]:
            delta = object_at(choice, "delta")
            said.append(text_at(delta, "content"))
            for piece in list_at(delta, "tool_calls"):
                if isinstance(piece, dict):
                    call = calls.setdefault(
                        str(piece.get("index", len(calls))), {"id": "", "name": "", "arguments": ""}
                    )
                    told = object_at(piece, "function")
                    call["id"] = call["id"] or text_at(piece, "id")
                    call["name"] += text_at(told, "name")
                    call["arguments"] += text_at(told, "arguments")
    draft = TraceDraft(origin)
    draft.think("".join(said))
    for call in calls.values():
        draft.call(call["name"], call["arguments"], id=call["id"])
    return draft.finish()
