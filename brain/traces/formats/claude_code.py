"""How are Claude Code's sessions read? One JSON a line: messages of the API with a session's id around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brain.model.trace import Trace
from brain.traces.base import LIKELY, NO, SURE, Format
from brain.traces.drafts import Origin, TraceDraft
from brain.traces.messages import ASSISTANT, USER, is_message, read_message, tell
from brain.traces.values import object_at, text_at
from brain.traces.verdicts import judged

_TYPES = frozenset({"user", "assistant"})
_OTHERS = frozenset(
    "summary system attachment progress queue-operation file-history-snapshot result last-prompt ai-title custom-title "
    "agent-name permission-mode pr-link stream_event saved_hook_context tag".split()
)
_COMMAND = ("<command-name>", "<local-command", "<bash-input>", "<bash-stdout>")


class ClaudeCode(Format):
    """A session's log, or what the command writes with --output-format stream-json.

    Its `result` is an end, and a verdict only where it says that the run broke off with an error. A log of a subagent
    alone has the prompt that it was given as its task.
    """

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
        prompts: dict[str, str] = {}
        for value in values:
            kind, session = text_at(value, "type"), text_at(value, "sessionId", "session_id")
            if kind == "result" and session in drafts:
                drafts[session].outcome = judged(_failures(value))
            if kind in _TYPES:
                _read(drafts.setdefault(session, TraceDraft(origin)), value)
                prompts[session] = prompts.get(session) or _prompt_of_subagent(value)
        if not drafts:
            yield TraceDraft(origin).finish()
        for session, draft in drafts.items():
            if not draft.task:
                draft.ask(prompts[session])
            yield draft.finish()


def _failures(result: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """What a result says against a run: it was cut off at a limit, or broke."""
    kind = text_at(result, "subtype")
    if result.get("is_error") is not True and not kind.startswith("error"):
        return []
    return [(f"result = {kind or 'error'}", False)]


def _prompt_of_subagent(line: Mapping[str, Any]) -> str:
    body = object_at(line, "message")
    if not line.get("isSidechain") or not is_message(body):
        return ""
    message = read_message(body)
    return message.text if message.role == USER and not message.answers else ""


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
