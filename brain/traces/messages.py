"""What does a chat message say? `read_message`: role, words, calls and answers, in any of the usual dialects.

OpenAI (chat and Responses items), Anthropic, LangChain, Gemini, Bedrock, the Vercel AI SDK, OpenTelemetry and ShareGPT
write the same few things under other names. They are told apart by the keys that they have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brain.traces.drafts import TraceDraft
from brain.traces.values import list_at, object_at, text_at

USER, ASSISTANT, TOOL, SYSTEM = "user", "assistant", "tool", "system"

ROLES = {
    **dict.fromkeys(("user", "human", "HumanMessage", "HumanMessageChunk", "UserMessage", "user_proxy"), USER),
    **dict.fromkeys(
        ("assistant", "ai", "model", "gpt", "bot", "AIMessage", "AIMessageChunk", "AssistantMessage", "chatbot"),
        ASSISTANT,
    ),
    **dict.fromkeys(
        (
            "tool",
            "function",
            "ipython",
            "observation",
            "ToolMessage",
            "ToolMessageChunk",
            "FunctionMessage",
            "environment",
        ),
        TOOL,
    ),
    **dict.fromkeys(("system", "developer", "SystemMessage", "SystemMessageChunk", "instructions"), SYSTEM),
}
"""What the usual names of roles mean."""

_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal", "text_delta"})
_THOUGHT_PARTS = frozenset({"thinking", "reasoning", "reasoning_content", "summary_text"})
_CALL_PARTS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool-call", "tool_call", "function_call"})
_ITEM_CALLS = {
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code_interpreter",
    "image_generation_call": "image_generation",
    "computer_call": "computer",
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "tool_search_call": "tool_search",
}
"""Calls of OpenAI's own tools, whose items have no name."""

_DONE = frozenset({"output-available", "result", "output-error"})


@dataclass(frozen=True)
class Call:
    """A tool is called. `result` is there where call and result are one item."""

    name: str
    arguments: Any = None
    id: str = ""
    answered: bool = False
    result: Any = None
    failed: bool | None = None


@dataclass(frozen=True)
class Answer:
    """A call is answered. `failed` is None where nothing says."""

    result: Any
    id: str = ""
    name: str = ""
    failed: bool | None = None


@dataclass
class Message:
    """One message: what was said, then what was called and answered."""

    role: str = ""
    said: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    name: str = ""
    id: str = ""
    time: Any = None

    @property
    def text(self) -> str:
        """All that was said."""
        return "\n".join(self.said)


def is_message(value: Any) -> bool:
    """Whether `value` looks like a message of any dialect."""
    if not isinstance(value, dict):
        return False
    if value.get("lc") == 1 and value.get("type") == "constructor":
        return _class_name(value) in ROLES
    if isinstance(value.get("role"), str) and value["role"] in ROLES:
        return any(key in value for key in ("content", "parts", "tool_calls", "function_call", "tool_responses"))
    if isinstance(value.get("from"), str) and value["from"] in ROLES:
        return isinstance(value.get("value"), str)
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in ROLES:
        return False
    return "content" in value or (isinstance(value.get("data"), dict) and "content" in value["data"])


def is_item(value: Any) -> bool:
    """Whether `value` looks like an item of OpenAI's Responses: a call, its output, reasoning."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    kind = value["type"]
    return kind.endswith(("_call", "_call_output")) or (kind == "reasoning" and "summary" in value)


def read_message(value: Mapping[str, Any]) -> Message:
    """The message in an object for which `is_message` or `is_item` holds."""
    if value.get("lc") == 1 and isinstance(value.get("kwargs"), dict):
        return _read_body(value["kwargs"], ROLES.get(_class_name(value), ""))
    if is_item(value):
        return _read_item(value)
    data = value.get("data")
    if isinstance(data, dict) and text_at(value, "type") in ROLES:
        return _read_body(data, ROLES[value["type"]])
    named = value.get("role") or value.get("from") or value.get("type")
    return _read_body(value, ROLES.get(named, "") if isinstance(named, str) else "")


def converse(draft: TraceDraft, messages: Iterable[Any]) -> None:
    """Tells `draft` what the messages say, in order. What is no message is left out."""
    for value in messages:
        if is_message(value) or is_item(value):
            tell(draft, read_message(value))


def tell(draft: TraceDraft, message: Message) -> None:
    """Tells `draft` what one message says."""
    if message.role == USER and not message.answers:
        draft.ask(message.text)
    elif message.role == ASSISTANT:
        draft.think(message.text)
    for call in message.calls if message.role != USER else ():  # a simulated user may have tools of its own
        place = draft.call(call.name, call.arguments, id=call.id, agent=message.name, time=message.time)
        if call.answered:
            draft.answer(call.result, place=place, failed=call.failed)
    for answer in message.answers:
        draft.answer(answer.result, id=answer.id, name=answer.name, failed=answer.failed)


def _class_name(value: Mapping[str, Any]) -> str:
    path = value.get("id")
    return str(path[-1]) if isinstance(path, list) and path else ""


def _read_body(body: Mapping[str, Any], role: str) -> Message:
    found = Message(role, name=text_at(body, "name", "source", "agent"), id=text_at(body, "id"))
    found.time = next((body[key] for key in ("timestamp", "created_at", "createdAt", "time") if body.get(key)), None)
    content = next((body[key] for key in ("content", "parts", "value") if body.get(key) is not None), None)
    if role == TOOL:
        found.answers += _answers_of_tool(body, content)
    else:
        _read_content(content, found)
    if isinstance(body.get("parts"), list) and content is not body["parts"]:  # both, as the Vercel AI SDK has it
        _read_content([part for part in body["parts"] if not _is_text(part)], found)
    thought = text_at(body, "reasoning_content", "reasoning", "thought")
    if thought and not found.said:
        found.said.append(thought)
    _add_calls(body, found)
    return found


def _add_calls(body: Mapping[str, Any], found: Message) -> None:
    """The calls beside the content; those that the content has too are the same."""
    known = {call.id for call in found.calls if call.id}
    calls = list_at(body, "tool_calls", "toolCalls") or list_at(body.get("additional_kwargs"), "tool_calls")
    invoked = list_at(body, "toolInvocations")
    for item in [*calls, *invoked]:
        call = _call_of(item)
        if call is not None and call.id not in known:
            found.calls.append(call)
    legacy = body.get("function_call") or object_at(body.get("additional_kwargs")).get("function_call")
    call = _call_of(legacy) if isinstance(legacy, dict) and not calls else None
    if call is not None:
        found.calls.append(call)


def _answers_of_tool(body: Mapping[str, Any], content: Any) -> list[Answer]:
    several = list_at(body, "tool_responses")  # AG2 puts the results of all calls into one message
    if several:
        rows = [row for row in several if isinstance(row, dict)]
        return [Answer(row.get("content"), text_at(row, "tool_call_id", "id")) for row in rows]
    part = Message()
    if isinstance(content, list) and any(_kind(item).startswith("tool") for item in content):
        _read_content(content, part)
        if part.answers:
            return part.answers
    failed = True if body.get("status") == "error" or body.get("is_error") or body.get("error") is True else None
    return [
        Answer(content, text_at(body, "tool_call_id", "toolCallId", "call_id", "id"), text_at(body, "name"), failed)
    ]


def _read_content(content: Any, found: Message) -> None:
    if isinstance(content, str):
        found.said.append(content) if content.strip() else None
    elif isinstance(content, list):
        for part in content:
            _read_part(part, found)
    elif isinstance(content, dict):
        _read_part(content, found)


def _read_part(part: Any, found: Message) -> None:
    if isinstance(part, str):
        found.said.append(part) if part.strip() else None
        return
    if not isinstance(part, dict):
        return
    kind = _kind(part)
    if _is_text(part) or kind in _THOUGHT_PARTS:
        said = text_at(part, "text", "content", "thinking", "reasoning")
        found.said.append(said) if said else None
        return
    answer = _answer_of(part, kind)
    if answer is not None:
        found.answers.append(answer)
        return
    call = _call_of_part(part, kind)
    if call is not None:
        found.calls.append(call)


def _is_text(part: Any) -> bool:
    kind = _kind(part)
    return kind in _TEXT_PARTS or (not kind and isinstance(part, dict) and isinstance(part.get("text"), str))


def _kind(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""


def _call_of_part(part: Mapping[str, Any], kind: str) -> Call | None:
    if kind in _CALL_PARTS:
        return _call_of(part)
    for key in ("functionCall", "function_call", "toolUse", "toolCall"):
        if isinstance(part.get(key), dict):
            return _call_of(part[key])
    if kind == "tool-invocation":
        return _call_of(object_at(part, "toolInvocation"))
    if "toolCallId" in part and kind.startswith(("tool-", "dynamic-tool")):
        return _call_of({"toolName": kind.removeprefix("tool-"), **part})
    return None


def _answer_of(part: Mapping[str, Any], kind: str) -> Answer | None:
    if kind.endswith("tool_result") or kind in ("tool-result", "tool_call_response"):
        result = next((part[key] for key in ("content", "result", "output", "response") if key in part), None)
        if isinstance(result, dict) and set(result) == {"type", "value"}:  # the AI SDK's typed output
            result = result["value"]
        failed = True if part.get("is_error") or part.get("isError") else None
        inner = _kind(result)
        if inner.endswith("_error"):
            failed, result = True, text_at(result, "error_message", "error_code") or inner
        return Answer(result, text_at(part, "tool_use_id", "toolCallId", "tool_call_id", "id"), "", failed)
    for key in ("functionResponse", "function_response"):
        if isinstance(part.get(key), dict):
            told = part[key]
            return Answer(told.get("response"), text_at(told, "id"), text_at(told, "name"))
    if isinstance(part.get("toolResult"), dict):
        told = part["toolResult"]
        return Answer(told.get("content"), text_at(told, "toolUseId"), "", told.get("status") == "error" or None)
    return None


def _call_of(item: Any) -> Call | None:
    """A call in any of its spellings; None if it has no name."""
    if not isinstance(item, dict):
        return None
    inner = item.get("function") or item.get("custom")
    told = inner if isinstance(inner, dict) else item
    name = text_at(told, "name", "toolName", "tool_name", "function_name", "recipient_name")
    if not name and isinstance(item.get("function"), str):
        name = item["function"]
    if not name:
        return None
    keys = ("arguments", "args", "input", "parameters", "params", "kwargs")
    arguments = next((told[key] for key in keys if told.get(key) is not None), None)
    id = text_at(item, "id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id")
    if text_at(item, "state") in _DONE:
        failed = text_at(item, "state") == "output-error"
        result = item.get("errorText") if failed else item.get("output", item.get("result"))
        return Call(name, arguments, id, answered=True, result=result, failed=failed or None)
    return Call(name, arguments, id)


def _read_item(item: Mapping[str, Any]) -> Message:
    """An item of OpenAI's Responses that is no message."""
    kind = item["type"]
    found = Message(ASSISTANT, id=text_at(item, "id"))
    if kind == "reasoning":
        found.said += [text for part in list_at(item, "summary", "content") if (text := text_at(part, "text"))]
        return found
    if kind.endswith("_output"):
        failed = True if item.get("status") in ("failed", "incomplete") else None
        found.role = TOOL
        found.answers.append(Answer(item.get("output"), text_at(item, "call_id", "id"), "", failed))
        return found
    call = _call_of_item(item, kind)
    if call is not None:
        found.calls.append(call)
    return found


def _call_of_item(item: Mapping[str, Any], kind: str) -> Call | None:
    id = text_at(item, "call_id", "id")
    name = text_at(item, "name") or _ITEM_CALLS.get(kind) or kind.removesuffix("_call")
    keys = ("arguments", "input", "action", "operation", "queries", "code")
    arguments = next((item[key] for key in keys if item.get(key) is not None), None)
    result = next((item[key] for key in ("output", "outputs", "results", "result") if item.get(key) is not None), None)
    failed = True if item.get("status") == "failed" or item.get("error") else None
    answered = result is not None or failed is True or kind in ("web_search_call", "file_search_call")
    return Call(name, arguments, id, answered=answered, result=item.get("error") or result, failed=failed)
