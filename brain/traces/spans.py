"""What does a span of an agent say? `read_span`: its place, its times, and its attributes under whatever names.

OpenTelemetry's GenAI conventions (attributes, older events), OpenInference, Traceloop, the Vercel AI SDK, Google's ADK
and Pydantic AI name the same things differently. All names stand in the tables here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from brain.traces.messages import is_message
from brain.traces.values import list_at, object_at, parsed, text_at, time_of

EXECUTE_TOOL = "execute_tool"

_OWN = (
    "gen_ai.",
    "openinference.",
    "traceloop.",
    "llm.",
    "tool.",
    "tool_",
    "ai.",
    "gcp.vertex.agent.",
    "input.value",
    "mcp.",
)
_ROOTS = frozenset("openinference llm tool input output gen_ai traceloop agent".split())
_DEEPEST = 12
_TOOL_NAME = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
_ARGUMENTS = (
    "gen_ai.tool.call.arguments gcp.vertex.agent.tool_call_args gen_ai.tool.arguments tool_arguments input.value "
    "tool.parameters ai.toolCall.args traceloop.entity.input"
).split()
_RESULT = (
    "gen_ai.tool.call.result gcp.vertex.agent.tool_response gen_ai.tool.result tool_response output.value "
    "ai.toolCall.result traceloop.entity.output"
).split()
_AGENT = ("gen_ai.agent.name", "agent.name", "agent_name")
_INPUTS = (
    "gen_ai.input.messages gen_ai.prompt gcp.vertex.agent.llm_request ai.prompt.messages ai.prompt "
    "pydantic_ai.all_messages all_messages_events all_messages gen_ai.request.messages input.value "
    "traceloop.entity.input"
).split()
_OUTPUTS = (
    "gen_ai.output.messages gen_ai.completion gcp.vertex.agent.llm_response ai.response.toolCalls "
    "gen_ai.response.messages"
).split()
_TOOL_OPERATIONS = frozenset({EXECUTE_TOOL, "ai.toolCall"})
_MODEL_OPERATIONS = frozenset("chat generate_content text_completion completion embeddings response".split())
_AGENT_OPERATIONS = frozenset("invoke_agent create_agent invoke_workflow agent workflow".split())
_BAD_STATUS = frozenset({"2", "ERROR", "STATUS_CODE_ERROR"})


@dataclass
class Span:
    """One span, reduced to what a trace needs. `tier` says how surely it is a tool's: 1 to 3, 0 not at all."""

    trace: str
    id: str
    parent: str
    name: str
    start: int
    tier: int = 0
    kind: str = ""
    tool: str = ""
    call_id: str = ""
    arguments: Any = None
    result: Any = None
    agent: str = ""
    about: str = ""
    fault: str = ""
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)


def _unflattened(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of a table of spans, whose columns are called "context.span_id" and "attributes.tool.name", as a span."""
    if "context.trace_id" not in value:
        return value
    found: dict[str, Any] = {"context": {}, "attributes": {}}
    for key, item in value.items():
        holder, _, name = key.partition(".")
        if name and holder in found:
            found[holder][name] = item
        else:
            found[key] = item
    return found


def spans_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """The spans of an export, of any spelling, or the value itself if it is one; log records count as spans' events."""
    if not isinstance(value, dict):
        return
    if is_span(value):
        yield value
        return
    inner = object_at(value, "trace")
    for group in [*_resources(value), *_resources(inner)]:
        scopes = "scopeSpans scope_spans instrumentationLibrarySpans instrumentation_library_spans scopeLogs scope_logs"
        for scope in [row for key in scopes.split() for row in list_at(group, key)]:
            yield from (row for row in list_at(scope, "spans", "logRecords", "log_records") if isinstance(row, dict))
        yield from (row for row in list_at(group, "spans") if isinstance(row, dict))
    for trace in list_at(value, "data"):  # Jaeger
        yield from (row for row in list_at(trace, "spans") if isinstance(row, dict))


def _resources(value: Mapping[str, Any]) -> list[Any]:
    keys = "resourceSpans resource_spans batches resourceLogs resource_logs".split()
    return [row for key in keys for row in list_at(value, key) if isinstance(row, dict)]


def is_export(value: Any) -> bool:
    """Whether a value is an export of spans."""
    if not isinstance(value, dict):
        return False
    keys = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs")
    holders = [value, object_at(value, "trace")]
    if any(isinstance(holder.get(key), list) for holder in holders for key in keys):
        return True
    return any(is_span(row) for trace in list_at(value, "data")[:3] for row in list_at(trace, "spans")[:3])


def is_span(value: Any) -> bool:
    """Whether a value is a span by itself, as the console exporters and Jaeger write them."""
    if not isinstance(value, dict):
        return False
    value = _unflattened(value)
    has_trace = any(key in value for key in ("traceId", "trace_id", "traceID")) or "trace_id" in object_at(
        value, "context"
    )
    has_name = any(key in value for key in ("name", "operationName"))
    return has_trace and has_name and any(key in value for key in ("attributes", "tags", "events"))


def attributes(value: Any) -> dict[str, Any]:
    """Attributes as an object, whether they are one or OTLP's list of keys and typed values."""
    if isinstance(value, dict):
        told = {key: item for key, item in value.items() if isinstance(key, str)}
        nested = [key for key in told if key in _ROOTS and isinstance(told[key], dict)]
        return told | {key: item for root in nested for key, item in _flat(root, told[root])}
    rows = value if isinstance(value, list) else []
    return {key: _plain(row.get("value")) for row in rows if (key := text_at(row, "key"))}


def _flat(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """What lies in an attribute that was nested, by the dotted names that it has elsewhere."""
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        value = {str(i): item for i, item in enumerate(value)}
    yield name, value
    if not isinstance(value, dict) or depth > _DEEPEST:
        return
    for key, item in value.items():
        yield from _flat(f"{name}.{key}", item, depth + 1)


def _plain(value: Any, depth: int = 0) -> Any:
    if not isinstance(value, dict) or depth > 20:
        return value
    for key, item in value.items():
        kind = key.replace("_", "").lower()
        if kind in ("stringvalue", "intvalue", "doublevalue", "boolvalue", "bytesvalue"):
            return item
        if kind == "arrayvalue":
            return [_plain(row, depth + 1) for row in list_at(item, "values")]
        if kind == "kvlistvalue":
            rows = list_at(item, "values")
            return {key: _plain(row.get("value"), depth + 1) for row in rows if (key := text_at(row, "key"))}
    return dict(value)


def read_span(value: Mapping[str, Any]) -> Span | None:
    """The span, if it is an agent's; None for the rest: requests, queues, databases."""
    value = _unflattened(value)
    told = attributes(value.get("attributes", value.get("tags")))
    events = _events(value)
    called = text_at(value, "name", "operationName", "eventName", "event_name")
    if not (
        called.startswith(f"{EXECUTE_TOOL} ")
        or any(key.startswith(_OWN) for key in told)
        or any(name.startswith("gen_ai.") for name, _ in events)
    ):
        return None
    context = object_at(value, "context")
    span = Span(
        trace=text_at(value, "traceId", "trace_id", "traceID") or text_at(context, "trace_id"),
        id=text_at(value, "spanId", "span_id", "spanID") or text_at(context, "span_id"),
        parent=text_at(value, "parentSpanId", "parent_span_id", "parent_id") or _jaeger_parent(value),
        name=called,
        start=_start(value),
        agent=_first_text(told, _AGENT),
        about=_first_text(told, ("gen_ai.tool.description", "tool.description", "gen_ai.agent.description")),
        fault=_fault(value, told, events),
    )
    _read_kind(span, told)
    _read_contents(span, told, events)
    return span


def _read_kind(span: Span, told: Mapping[str, Any]) -> None:
    """What a span is: a tool's, a model's, an agent's."""
    operation = str(told.get("gen_ai.operation.name") or told.get("ai.operationId") or told.get("operation.name") or "")
    spelled = str(told.get("openinference.span.kind") or told.get("traceloop.span.kind") or "").lower()
    if operation in _TOOL_OPERATIONS or spelled == "tool" or "ai.toolCall.name" in told:
        span.tier = 1
    elif not operation and not spelled:
        named = "gen_ai.tool.name" in told or span.name.startswith(f"{EXECUTE_TOOL} ")
        span.tier = 2 if named else 3 if told.get("mcp.method.name") == "tools/call" else 0
    if span.tier:
        span.kind, span.tool = "tool", _first_text(told, _TOOL_NAME) or span.name.removeprefix(f"{EXECUTE_TOOL} ")
        span.call_id = _first_text(told, ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id"))
        span.arguments, span.result = _first(told, _ARGUMENTS), _first(told, _RESULT)
    elif (
        operation in _MODEL_OPERATIONS or spelled == "llm" or "gen_ai.request.model" in told or "llm.model_name" in told
    ):
        span.kind = "model"
    elif operation in _AGENT_OPERATIONS or spelled in ("agent", "workflow", "chain", "task") or span.agent:
        span.kind = "agent"


def _read_contents(span: Span, told: Mapping[str, Any], events: list[tuple[str, dict[str, Any]]]) -> None:
    """The messages that went in and came out, which one convention keeps as attributes and another as events."""
    if span.tier:
        return
    span.inputs = _numbered(told, "gen_ai.prompt.") or _numbered(told, "llm.input_messages.")
    span.outputs = _numbered(told, "gen_ai.completion.") or _numbered(told, "llm.output_messages.")
    if not span.inputs:
        span.inputs = next((rows for key in _INPUTS if (rows := messages_of(told.get(key)))), [])
    if not span.outputs:
        span.outputs = next((rows for key in _OUTPUTS if (rows := messages_of(told.get(key), "assistant"))), [])
    for name, content in events:
        _read_event(span, name, content)


def _read_event(span: Span, name: str, content: dict[str, Any]) -> None:
    role = name.removeprefix("gen_ai.").removesuffix(".message")
    if name == "gen_ai.choice":
        message = object_at(content, "message") or parsed(content.get("message"))
        span.outputs += messages_of(message if isinstance(message, dict) else content, "assistant")
    elif name.endswith(".message") and role in ("user", "system", "assistant", "tool"):
        span.inputs += messages_of({"role": role, **content}, role)
    elif "gen_ai.prompt" in content or "gen_ai.input.messages" in content:
        span.inputs += messages_of(content.get("gen_ai.prompt", content.get("gen_ai.input.messages")))
    if "gen_ai.completion" in content or "gen_ai.output.messages" in content:
        span.outputs += messages_of(
            content.get("gen_ai.completion", content.get("gen_ai.output.messages")), "assistant"
        )


def messages_of(value: Any, role: str = "user") -> list[Any]:
    """The messages in an attribute: a list, an object with one, one message, or a text, each perhaps as JSON text."""
    found = parsed(value)
    if isinstance(found, str):
        cut_short = found.lstrip().startswith(("{", "["))  # an exporter cuts long attributes
        return [{"role": role, "content": found}] if found.strip() and not cut_short else []
    if isinstance(found, dict):
        for key in ("messages", "contents", "inputs", "input", "kwargs", "prompt"):
            if isinstance(found.get(key), list | dict | str) and found.get(key):
                return messages_of(found[key], role)
        if isinstance(found.get("content"), dict):
            return messages_of(found["content"], role)
        if "content" in found or "parts" in found or "tool_calls" in found:
            return [{"role": role, **found}]
        return []
    rows = [parsed(row) for row in found] if isinstance(found, list) else []
    if rows and isinstance(rows[0], list):
        rows = rows[0]
    whole = [row for row in rows if is_message(row)]
    if not whole and any(isinstance(row, dict) and "toolName" in row for row in rows):
        return [{"role": "assistant", "tool_calls": rows}]
    return whole


def _numbered(told: Mapping[str, Any], prefix: str) -> list[Any]:
    """Messages that were flattened: `gen_ai.prompt.0.role`, `llm.input_messages.0.message.content`."""
    rows: dict[int, dict[str, Any]] = {}
    for key, item in told.items():
        place, _, rest = key.removeprefix(prefix).partition(".")
        if not key.startswith(prefix) or not place.isdigit():
            continue
        row, rest = rows.setdefault(int(place), {}), rest.removeprefix("message.")
        if rest.startswith("tool_calls."):
            number, _, part = rest.removeprefix("tool_calls.").partition(".")
            call = row.setdefault("calls", {}).setdefault(number, {})
            call[part.rpartition(".")[2]] = item
        else:
            row[rest] = item
    found = []
    for _, row in sorted(rows.items()):
        calls = [call for _, call in sorted(row.pop("calls", {}).items())]
        found.append({"role": "assistant", "content": "", **row, **({"tool_calls": calls} if calls else {})})
    return [row for row in found if is_message(row)]


def _events(value: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Names and contents of a span's events; of a log record its own."""
    rows = [*list_at(value, "events"), *list_at(value, "logs"), *([value] if "body" in value else [])]
    found = []
    for row in rows:
        if isinstance(row, dict):
            told = attributes(row.get("attributes", row.get("fields")))
            body = _plain(row.get("body"))
            name = text_at(row, "name", "eventName", "event_name") or text_at(told, "event.name", "event")
            found.append((name, {**told, **(body if isinstance(body, dict) else {"content": body} if body else {})}))
    return found


def _fault(value: Mapping[str, Any], told: Mapping[str, Any], events: list[tuple[str, dict[str, Any]]]) -> str:
    status = object_at(value, "status")
    code = status.get("code", status.get("status_code", value.get("status_code")))
    if str(code).upper() not in _BAD_STATUS and told.get("otel.status_code") != "ERROR" and not told.get("error.type"):
        return ""
    raised = next((text_at(content, "exception.message", "exception.type") for _, content in events), "")
    return text_at(status, "message", "description") or raised or str(told.get("error.type") or "status is error")


def _start(value: Mapping[str, Any]) -> int:
    """When a span began, in its export's unit: a whole number, as a float would not tell nanoseconds apart."""
    keys = "startTimeUnixNano start_time_unix_nano startTime start_time timeUnixNano time_unix_nano".split()
    start = next((value[key] for key in keys if value.get(key) not in (None, "")), 0)
    if isinstance(start, list):  # seconds and nanoseconds
        whole = [part for part in start[:2] if isinstance(part, int)]
        return whole[0] * 10**9 + whole[1] if len(whole) == 2 else 0
    if isinstance(start, str) and not start.isdigit():
        found = time_of(start)
        return int(found.timestamp() * 1e6) * 1000 if found else 0
    try:
        return int(start) if isinstance(start, int | float | str) else 0
    except (ValueError, OverflowError):
        return 0


def _jaeger_parent(value: Mapping[str, Any]) -> str:
    return next((text_at(row, "spanID") for row in list_at(value, "references")), "")


def _first(told: Mapping[str, Any], keys: list[str]) -> Any:
    return next((told[key] for key in keys if told.get(key) not in (None, "")), None)


def _first_text(told: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return text_at(told, *keys)
