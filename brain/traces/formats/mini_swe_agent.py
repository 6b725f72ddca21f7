"""How is mini-SWE-agent read? A chat whose assistant writes one command a message, in a fenced block or as a call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import ASSISTANT, SYSTEM, is_message, read_message
from brain.traces.values import list_at, object_at, parsed, text_at
from brain.traces.verdicts import verdict_in

_BLOCK = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)(?:\n```|$)", re.DOTALL)
_ANY = 10  # a message between others that are surely ours
_OWN_MARKS = ("mswea_bash_command", "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")


class MiniSweAgent(Format):
    """A bare list of messages, or an object with them and `info`, whose `exit_status` is an end, no verdict."""

    name = "mini_swe_agent"

    def whole(self, value: Any) -> int:
        if not isinstance(value, dict):
            return NO
        if str(value.get("trajectory_format", "")).startswith("mini-swe-agent"):
            return SURE
        return SURE if any(map(_is_ours, list_at(value, "messages")[:6])) else NO

    def part(self, value: Any) -> int:
        return SURE if _is_ours(value) else _ANY if is_message(value) else NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        first = next(values, None)
        if first is None:
            return
        draft = TraceDraft(origin)
        if self.whole(first):
            _read(draft, iter(list_at(first, "messages")))
            draft.outcome = verdict_in({key: item for key, item in first.items() if key != "messages"})
        else:
            _read(draft, chain([first], values))
        yield draft.finish()


def _is_ours(value: Any) -> bool:
    if not isinstance(value, dict) or "role" not in value:
        return False
    content = value.get("content")
    text = content if isinstance(content, str) else read_message(value).text if is_message(value) else ""
    return any(mark in text for mark in _OWN_MARKS)


def _read(draft: TraceDraft, rows: Iterator[Any]) -> None:
    waiting: list[int] = []
    for row in rows:
        if not is_message(row):
            continue
        message = read_message(row)
        if message.role == ASSISTANT:
            waiting = [_call(draft, command, message.text) for command in _commands(row, message.text)]
        elif message.role == SYSTEM:
            continue
        elif waiting:
            result = message.answers[0].result if message.answers else message.text
            draft.answer(result, place=waiting.pop(0))
        else:
            draft.ask(message.text)


def _commands(row: Mapping[str, Any], text: str) -> list[str]:
    """The commands of an assistant's message; one that has none is a step all the same."""
    found = [text_at(action, "command") for action in list_at(object_at(row, "extra"), "actions")]
    found = found or [text_at(parsed(call.arguments), "command") or call.name for call in read_message(row).calls]
    blocks = _BLOCK.findall(text)
    return [command for command in found or blocks[:1] if command.strip()] or [text]


def _call(draft: TraceDraft, command: str, said: str) -> int:
    thought = _BLOCK.sub("", said).strip() if command.strip() != said.strip() else ""
    return draft.call(command, {"command": command}, description=thought.removeprefix("THOUGHT:"), kind="command")
