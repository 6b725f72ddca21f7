"""How are Anthropic's messages read? Blocks of text, tool_use and tool_result; whole, in a chat, or streamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, POSSIBLE, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import converse, is_message, read_message, tell
from brain.traces.values import list_at, object_at, text_at
from brain.traces.verdicts import verdict_in

_EVENTS = frozenset(
    "message_start content_block_start content_block_delta content_block_stop message_delta message_stop ping".split()
)
_BLOCKS = frozenset("tool_use server_tool_use mcp_tool_use tool_result thinking redacted_thinking".split())


class AnthropicMessage(Format):
    """A message object, an object or a row of messages with blocks, or the events of a stream."""

    name = "anthropic_message"

    def whole(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        if value.get("type") == "message" and isinstance(value.get("content"), list) and "stop_reason" in value:
            return SURE
        rows = _messages(value)
        if any(_has_blocks(row) for row in rows[:20]):
            return LIKELY
        return (
            NO
            if not isinstance(value.get("system"), str | list) or not any(map(is_message, rows[:3]))
            else POSSIBLE + 5
        )

    def part(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        if text_at(value, "type") in _EVENTS:
            return SURE
        return LIKELY if _has_blocks(value) else POSSIBLE - 10 if is_message(value) and "role" in value else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        draft = TraceDraft(origin)
        first = next(values, None)
        if first is None:
            return
        if text_at(first, "type") in _EVENTS:
            _read_stream(draft, chain([first], values))
        elif self.whole(first):
            _read_whole(draft, first)
        else:
            converse(draft, chain([first], values))
        yield draft.finish()


def _messages(value: Any) -> list[Any]:
    return list_at(value, "messages") or list_at(object_at(value, "request", "body"), "messages")


def _has_blocks(value: Any) -> bool:
    if not is_message(value) or "role" not in value:
        return False
    blocks = [block.get("type") for block in list_at(value, "content")[:50] if isinstance(block, dict)]
    return any(isinstance(kind, str) and (kind in _BLOCKS or kind.endswith("_tool_result")) for kind in blocks)


def _read_whole(draft: TraceDraft, value: Mapping[str, Any]) -> None:
    rows = [*_messages(value), object_at(value, "response")]
    converse(draft, rows if any(rows) else [value])
    draft.outcome = verdict_in({key: item for key, item in value.items() if key not in ("content", "messages")})


def _read_stream(draft: TraceDraft, events: Iterator[Any]) -> None:
    """Puts each block together from its start and its deltas."""
    block: dict[str, Any] = {}
    pieces: list[str] = []
    for event in events:
        kind = text_at(event, "type")
        if kind == "content_block_start":
            block, pieces = dict(object_at(event, "content_block")), []
        elif kind == "content_block_delta":
            pieces.append(text_at(object_at(event, "delta"), "partial_json", "text", "thinking"))
        elif kind == "content_block_stop" and block:
            whole = "".join(pieces)
            if whole and "input" in block:
                block["input"] = whole
            elif whole:
                block["text"] = block["thinking"] = whole
            tell(draft, read_message({"role": "assistant", "content": [block]}))
            block = {}
