"""Are the less usual ways of writing the same formats read: other exporters, other streams, other versions?"""

import json

import pytest

from brain.traces.faults import fault_in

HUMAN = {"type": "human", "content": "find the price of tea", "id": "h"}
CALL = {"name": "search", "args": {"q": "tea"}, "id": "c1", "type": "tool_call"}
AI = {"type": "ai", "content": "", "id": "a1", "tool_calls": [CALL]}
TOOL = {"type": "tool", "content": "3.20", "name": "search", "tool_call_id": "c1", "id": "t1"}
END = {"type": "ai", "content": "It costs 3.20.", "id": "a2", "tool_calls": []}


def lines(rows):
    return "\n".join(map(json.dumps, rows))


def span(name, number, told, parent="", **more):
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
    place = {"traceId": "t", "spanId": f"s{number}", "parentSpanId": parent, "startTimeUnixNano": str(10**18 + number)}
    return place | {"name": name, "attributes": attributes} | more


def export(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def said(text, number=1, part="text"):
    messages = [{"role": "user", "parts": [{"type": part, "content": text}]}]
    return span("chat m", number, {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(messages)})


TOOL_SPAN = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": "{}"}
TABLE = {"name": "search", "context.span_id": "1", "context.trace_id": "t", "start_time": "2026-01-01T00:00:00Z"}
NESTED = {"openinference": {"span": {"kind": "TOOL"}}, "tool": {"name": "search", "parameters": {"q": "tea"}}}
LLM = {
    "llm": {"input_messages": [{"message": {"role": "user", "content": "find the price of tea"}}], "model_name": "m"}
}
CONTEXT = {"trace_id": "t", "span_id": "1"}
ELIDED = {"name": "gen_ai.user.message", "attributes": [{"key": "content", "value": {"stringValue": "<elided>"}}]}

VARIANTS = {
    "a graph's updates": (lines([{"agent": {"messages": [AI]}}, {"tools": {"messages": [TOOL]}}]), "langgraph_stream"),
    "updates in a list": ([{"__start__": {"messages": [HUMAN]}}, {"a": {"messages": [AI]}}], "langgraph_stream"),
    "states as they grew": (
        lines([{"messages": [HUMAN]}, {"messages": [HUMAN, AI]}, {"messages": [HUMAN, AI, TOOL, END]}]),
        "langgraph_stream",
    ),
    "a server's events of states": (
        'event: metadata\ndata: {"run_id": "1"}\n\n'
        + "".join(
            f"event: values\ndata: {json.dumps({'messages': rows})}\n\n" for rows in ([HUMAN], [HUMAN, AI, TOOL])
        ),
        "langgraph_stream",
    ),
    "a table of spans": (
        [TABLE | {"attributes.openinference.span.kind": "TOOL", "attributes.tool.name": "search"}],
        "otlp_json",
    ),
    "nested attributes": (
        [
            {
                "name": "llm",
                "context": CONTEXT | {"span_id": "0"},
                "attributes": LLM,
                "start_time": "2026-01-01T00:00:00Z",
            },
            {"name": "x", "context": CONTEXT, "attributes": NESTED, "start_time": "2026-01-01T00:00:01Z"},
        ],
        "otlp_json",
    ),
    "both sides of a call by MCP": (
        export(said("find tea"), span("execute_tool search", 2, TOOL_SPAN), span("tools/call", 3, TOOL_SPAN, "s2")),
        "otlp_json",
    ),
    "a text that was left out": (
        export(
            span("chat m", 1, {"gen_ai.operation.name": "chat"}, events=[ELIDED]),
            said("find tea", 2),
            span("t", 3, TOOL_SPAN),
        ),
        "otlp_json",
    ),
    "a part without words comes last": (
        export(said("find tea"), span("t", 3, TOOL_SPAN), said("summary", 2, "compaction")),
        "otlp_json",
    ),
    "OrKa's trace with its executions": (
        {
            "execution_metadata": {"run_id": "1"},
            "agent_executions": [
                {"agent_id": "search", "event_type": "A", "timestamp": "t", "payload": {"input": "find the tea"}},
                {"agent_id": "meta_report", "event_type": "MetaReport", "timestamp": "t", "payload": {}},
            ],
        },
        "orka_trace",
    ),
    "a result within a run": (
        {
            "task_result": {
                "messages": [
                    {"type": "TextMessage", "source": "user", "content": "find the price of tea"},
                    {
                        "type": "ToolCallRequestEvent",
                        "source": "a",
                        "content": [{"id": "1", "name": "search", "arguments": "{}"}],
                    },
                ]
            }
        },
        "autogen_core",
    ),
    "a simulated user with tools": (
        {
            "messages": [
                {"role": "user", "content": "find the price of tea"},
                {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": "search", "arguments": {}}]},
                {"role": "tool", "id": "1", "content": "3.20", "requestor": "assistant"},
                {"role": "user", "content": None, "tool_calls": [{"id": "2", "name": "restart", "arguments": {}}]},
                {"role": "tool", "id": "2", "content": "Error: no", "requestor": "user"},
            ]
        },
        "openai_chat",
    ),
}


@pytest.mark.parametrize(("content", "format"), VARIANTS.values(), ids=VARIANTS)
def test_a_variant_is_one_trace_with_one_call(content, format, traces_in):
    (trace,) = traces_in(content)
    assert trace.format == format and [step.action for step in trace.steps] == ["search"]
    assert not trace.failed_steps and trace.success is None
    if "find" in json.dumps(content):
        assert trace.task.startswith("find")


def test_nested_attributes_keep_what_a_call_was_given(traces_in):
    (trace,) = traces_in(VARIANTS["nested attributes"][0])
    assert trace.steps[0].parameters == {"q": "tea"}


def test_equal_calls_without_ids_are_not_taken_for_one(traces_in):
    rows = [span("t", number, TOOL_SPAN) | {"spanId": "", "parentSpanId": ""} for number in (1, 2)]
    (trace,) = traces_in(export(*rows))
    assert len(trace.steps) == 2


def test_runs_that_do_not_go_on_from_each_other_are_kept_apart(traces_in):
    other = {"messages": [HUMAN | {"content": "find the price of coffee"}, AI, TOOL]}
    assert len(traces_in(lines([{"messages": [HUMAN, AI]}, other]))) == 2
    assert len(traces_in(lines([{"messages": [HUMAN, AI, TOOL]}, {"messages": [HUMAN, AI]}]))) == 2


def test_a_run_that_was_given_messages_is_no_update_of_a_graph(traces_in):
    row = {
        "id": "1",
        "name": "search",
        "run_type": "tool",
        "inputs": {"messages": [HUMAN]},
        "outputs": {"messages": [END]},
    }
    assert {trace.format for trace in traces_in(lines([row, row | {"id": "2"}]))} == {"langsmith_run"}


def test_what_merges_calls_for_a_log_is_no_step_of_a_procedure(traces_in):
    from brain.analysis.steps import abstract_steps

    rows = [span("t", 1, TOOL_SPAN), span("t", 2, TOOL_SPAN | {"gen_ai.tool.name": "(merged tools)"})]
    (trace,) = traces_in(export(*rows))
    assert len(trace.steps) == 2 and [step["action"] for step in abstract_steps(trace)] == ["search"]


def claude(kind, **more):
    return {"type": kind, "session_id": "s", **more}


def spoken(role, content):
    return {"role": role, "content": content}


def test_a_run_that_broke_off_is_a_failure_and_one_that_ended_is_none(traces_in):
    use = {"type": "tool_use", "id": "1", "name": "search", "input": {}}
    rows = [
        claude("user", message=spoken("user", "find tea")),
        claude("assistant", message=spoken("assistant", [use])),
    ]
    for ending, success in (("success", None), ("error_max_turns", False), ("error_during_execution", False)):
        (trace,) = traces_in(lines([*rows, claude("result", subtype=ending)]))
        assert trace.success is success and len(trace.steps) == 1
    (trace,) = traces_in(lines([*rows, claude("result", subtype="success", is_error=True)]))
    assert trace.success is False


def test_a_turn_that_failed_is_a_failure_unless_another_follows(traces_in):
    call = {"type": "item.completed", "item": {"id": "1", "type": "command_execution", "command": "ls", "exit_code": 0}}
    failed = {"type": "turn.failed", "error": {"message": "stream disconnected"}}
    rows = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}, call, failed]
    (trace,) = traces_in(lines(rows))
    assert trace.success is False and trace.outcome.evidence == ["turn.failed: stream disconnected"]
    (trace,) = traces_in(lines([*rows, {"type": "turn.started"}, {"type": "turn.completed", "usage": {}}]))
    assert trace.success is None


def test_the_log_of_a_subagent_has_its_prompt_as_the_task(traces_in):
    use = {"type": "tool_use", "id": "1", "name": "search", "input": {}}
    aside = {"isSidechain": True, "agentId": "a", "uuid": "u"}
    rows = [
        claude("user", message=spoken("user", "find where tea is sold"), **aside),
        claude("assistant", message=spoken("assistant", [{"type": "text", "text": "I look."}, use]), **aside),
    ]
    (trace,) = traces_in(lines(rows))
    assert trace.task == "find where tea is sold" and trace.steps[0].agent == "a"


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno such table", "no such table"),
        ("exitcode: 1 (execution failed)\nCode output: division by zero", "division by zero"),
        ("no rule\n[The command completed with exit code 2.]", "no rule"),
        ("FAIL\nexit status 1\nFAIL pkg 0.1s", "FAIL"),
        ("error reading the file", "error reading the file"),
        ("Error handling is hard\nWrap what you return", ""),
        ("# Usage\n" * 20 + "It ends with exit code 1 if nothing is found\n" + "text\n" * 20, ""),
        ("exitcode: 0 (execution succeeded)\nCode output: 4", ""),
    ],
)
def test_a_call_failed_if_its_result_says_so_at_its_ends(result, fault):
    assert fault_in(result) == fault
