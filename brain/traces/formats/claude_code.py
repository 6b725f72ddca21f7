"""How are Claude Code's sessions read? One JSON a line: messages of the API with a session's id around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import ASSISTANT, USER, is_message, read_message, tell
from brain.traces.values import object_at, text_at

_TYPES = frozenset({"user", "assistant"})
_OTHERS = frozenset(
    "summary system attachment progress queue-operation file-history-snapshot result last-prompt ai-title custom-title "
    "agent-name permission-mode pr-link stream_event saved_hook_context tag".split()
)
_COMMAND = ("<command-name>", "<local-command", "<bash-input>", "<bash-stdout>")


class ClaudeCode(Format):
    """A session's log, or what the command writes with --output-format stream-json. Its `result` is an end."""

    name = "claude_code"

    def part(self, value: Any) -> int:
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            return NO
        in_session = any(key in value for key in ("sessionId", "session_id", "parentUuid", "leafUuid", "uuid"))
        if value["type"] in _TYPES and is_message(value.get("message")):
            return SURE if in_session else LIKELY
        if value["type"] in _OTHERS and (in_session or "messageId" in value or "subtype" in value):
            return LIKELY
        return NO

    def read(self, values: Iterator[Any], origin: Origin) -> Iterator[Trace]:
        drafts: dict[str, TraceDraft] = {}
        for value in values:
            if not isinstance(value, dict) or text_at(value, "type") not in _TYPES:
                continue
            session = text_at(value, "sessionId", "session_id")
            _read(drafts.setdefault(session, TraceDraft(origin)), value)
        if not drafts:
            yield TraceDraft(origin).finish()
        for draft in drafts.values():
            yield draft.finish()


def _read(draft: TraceDraft, line: Mapping[str, Any]) -> None:
    body = object_at(line, "message")
    if not is_message(body):
        return
    message = read_message(body)
    message.time = line.get("timestamp") or message.time
    message.name = text_at(line, "agentId") if line.get("isSidechain") else ""
    if message.role == USER and not message.answers:
        own = line.get("isMeta") or line.get("isSidechain") or line.get("isCompactSummary")
        if not own and not message.text.lstrip().startswith(_COMMAND):
            draft.ask(message.text)
        return
    if message.role in (USER, ASSISTANT):
        tell(draft, message)
