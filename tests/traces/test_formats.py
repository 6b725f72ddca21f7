"""Which forms of each format are read? Variants as the hosts, libraries and benchmarks of today write them."""

import json

import pytest

from tests.traces.corpus import openai_chat

USER = {"role": "user", "content": "Book a flight to Rome"}
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "search_flights", "arguments": '{"to": "Rome"}'}},
        {"id": "c2", "type": "function", "function": {"name": "book", "arguments": "{}"}},
    ],
}
RESULTS = [
    {"role": "tool", "tool_call_id": "c1", "content": "[]"},
    {"role": "tool", "tool_call_id": "c2", "content": "Error: sold out"},
]
CHAT = [{"role": "system", "content": "x"}, USER, CALLS, *RESULTS, {"role": "assistant", "content": "done"}]
COMPLETION = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"index": 0, "message": CALLS}]}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "output": [
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "function_call", "call_id": "c", "id": "fc", "name": "get_weather", "arguments": "{}"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "sunny"}]},
    ],
}
BLOCKS = [
    {"role": "user", "content": "weather?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "get_weather", "input": {"c": "x"}}]},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t", "content": "no such city", "is_error": True}],
    },
]
LANGCHAIN = [
    {"type": "human", "content": "weather?", "id": "1"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "get_weather", "args": {}, "id": "c"}], "id": "2"},
    {"type": "tool", "content": "nope", "tool_call_id": "c", "status": "error", "id": "3"},
]
LC_CONSTRUCTORS = [
    {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", name], "kwargs": body}
    for name, body in zip(("HumanMessage", "AIMessageChunk", "ToolMessage"), LANGCHAIN, strict=True)
]
ROOT_RUN = {
    "id": "a",
    "name": "agent",
    "run_type": "chain",
    "trace_id": "a",
    "dotted_order": "1",
    "inputs": {"messages": [{"role": "user", "content": "weather?"}]},
    "start_time": "2025-01-01T00:00:00",
}
TOOL_RUN = {
    "id": "b",
    "name": "get_weather",
    "run_type": "tool",
    "parent_run_id": "a",
    "trace_id": "a",
    "dotted_order": "1.2",
    "inputs": {"c": 1},
}
MINI = [
    {"role": "system", "content": "x"},
    {"role": "user", "content": "Please solve this issue: foo\n\nYou can execute bash commands"},
    {"role": "assistant", "content": "THOUGHT: hi\n\n```bash\nls -la\n```"},
    {"role": "user", "content": "<returncode>1</returncode>\n<output>\nno such folder\n</output>"},
    {"role": "assistant", "content": "x\n\n```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"},
]
OPENHANDS = [
    {"id": 0, "source": "user", "action": "message", "args": {"content": "fix it please"}, "message": "fix it please"},
    {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "t"}, "message": ""},
    {
        "id": 2,
        "source": "agent",
        "cause": 1,
        "observation": "run",
        "content": "boom",
        "extras": {"metadata": {"exit_code": 1}},
    },
    {"id": 5, "source": "agent", "action": "finish", "args": {}},
]
AGENTCHAT = [
    {"source": "user", "type": "TextMessage", "content": "write a poem"},
    {"source": "a", "type": "ToolCallRequestEvent", "content": [{"id": "c", "name": "rhyme", "arguments": "{}"}]},
    {"source": "a", "type": "ToolCallExecutionEvent", "content": [{"content": "1", "call_id": "c", "is_error": True}]},
]
ORKA = [
    {
        "agent_id": "a",
        "event_type": "LocalLLMAgent",
        "timestamp": "2025-01-01T00:00:00",
        "payload": {"input": "what is love today", "result": {"response": "x"}},
    },
    {"agent_id": "w", "event_type": "write", "timestamp": "x", "payload": {}},
    {"agent_id": "meta_report", "event_type": "MetaReport", "timestamp": "x", "payload": {}},
]
CODEX = [
    {"timestamp": "t", "type": "session_meta", "payload": {"id": "x", "cwd": "/r", "instructions": None}},
    {
        "timestamp": "t",
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix the bug"}]},
    },
    {
        "timestamp": "t",
        "type": "response_item",
        "payload": {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c"},
    },
    {
        "timestamp": "t",
        "type": "response_item",
        "payload": {
            "type": "function_call_output",
            "call_id": "c",
            "output": '{"output": "bad", "metadata": {"exit_code": 2}}',
        },
    },
]


def lines(rows):
    return "\n".join(json.dumps(row) for row in rows)


def attributes(**told):
    return [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in told.items()]


def span(id, name, start, **told):
    times = {"startTimeUnixNano": start}
    return {"traceId": "t", "spanId": id, "parentSpanId": "", "name": name, "attributes": attributes(**told)} | times


def export(spans, resources="resourceSpans", scopes="scopeSpans"):
    return {resources: [{"resource": {}, scopes: [{"scope": {}, "spans": spans}]}]}


SPANS = [
    span("1", "invoke_agent a", "1", gen_ai__operation__name="invoke_agent", gen_ai__agent__name="a"),
    span("3", "execute_tool get", "30", gen_ai__operation__name="execute_tool", gen_ai__tool__name="get")
    | {"status": {"code": 2, "message": "timed out"}},
    span("2", "execute_tool list", 20, gen_ai__operation__name="execute_tool", gen_ai__tool__name="list"),
    span(
        "4",
        "chat m",
        "5",
        gen_ai__operation__name="chat",
        gen_ai__input__messages='[{"role": "user", "parts": [{"type": "text", "content": "list then get"}]}]',
    ),
]
JAEGER = {
    "data": [
        {
            "traceID": "a",
            "spans": [
                {
                    "traceID": "a",
                    "spanID": "1",
                    "operationName": "call_llm",
                    "startTime": 1,
                    "tags": [
                        {
                            "key": "gcp.vertex.agent.llm_request",
                            "value": '{"contents": [{"role": "user", "parts": [{"text": "list then get"}]}]}',
                        }
                    ],
                },
                {
                    "traceID": "a",
                    "spanID": "2",
                    "operationName": "execute_tool helm_get",
                    "startTime": 3,
                    "references": [{"spanID": "1"}],
                    "tags": [{"key": "otel.scope.name", "value": "gcp.vertex.agent"}],
                },
            ],
        }
    ]
}

FORMS = {
    # name: (content, format, actions, words of the task)
    "a list of messages": (CHAT, "openai_chat", ["search_flights", "book"], "Rome"),
    "messages a line": (lines(CHAT), "openai_chat", ["search_flights", "book"], "Rome"),
    "an object with messages": ({"messages": CHAT}, "openai_chat", ["search_flights", "book"], "Rome"),
    "a call as function_call": (
        [
            USER,
            {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "1"},
        ],
        "openai_chat",
        ["f"],
        "Rome",
    ),
    "a completion": (COMPLETION, "openai_chat", ["search_flights", "book"], ""),
    "a request beside its completion": (
        {"request": {"messages": [USER]}, "response": COMPLETION},
        "openai_chat",
        ["search_flights", "book"],
        "Rome",
    ),
    "chunks of a stream": (
        lines(
            {
                "object": "chat.completion.chunk",
                "choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": part}]}}],
            }
            for part in ({"name": "get_weather", "arguments": '{"a"'}, {"arguments": ": 1}"})
        ),
        "openai_chat",
        ["get_weather"],
        "",
    ),
    "Gemini's contents": (
        {
            "contents": [
                {"role": "user", "parts": [{"text": "weather?"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "get_weather", "response": {"t": 1}}}]},
            ]
        },
        "openai_chat",
        ["get_weather"],
        "weather?",
    ),
    "Bedrock's converse": (
        [
            {"role": "user", "content": [{"text": "weather?"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "get_weather", "input": {}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "no"}]}}]},
        ],
        "openai_chat",
        ["get_weather"],
        "weather?",
    ),
    "messages of the Vercel AI SDK": (
        [
            {"id": "1", "role": "user", "parts": [{"type": "text", "text": "weather?"}]},
            {
                "id": "2",
                "role": "assistant",
                "parts": [{"type": "tool-getWeather", "toolCallId": "c", "state": "output-available", "input": {}}],
            },
        ],
        "openai_chat",
        ["getWeather"],
        "weather?",
    ),
    "a response": (RESPONSE, "openai_responses", ["get_weather"], ""),
    "a request beside its response": (
        {"input": [USER], "response": RESPONSE},
        "openai_responses",
        ["get_weather"],
        "Rome",
    ),
    "items": ([USER, *RESPONSE["output"]], "openai_responses", ["get_weather"], "Rome"),
    "events of a streamed response": (
        lines(
            [
                {"type": "response.created", "response": {"id": "r", "input": "to Rome"}},
                {"type": "response.output_item.done", "item": RESPONSE["output"][1]},
                {"type": "response.completed", "response": RESPONSE},
            ]
        ),
        "openai_responses",
        ["get_weather"],
        "Rome",
    ),
    "spans of the Agents SDK": (
        lines(
            [
                {"object": "trace", "id": "t", "workflow_name": "w"},
                {
                    "object": "trace.span",
                    "id": "s",
                    "started_at": "2025-01-01T00:00:00Z",
                    "span_data": {"type": "function", "name": "get_weather", "input": "{}", "output": "x"},
                },
            ]
        ),
        "openai_responses",
        ["get_weather"],
        "",
    ),
    "blocks in a list": (BLOCKS, "anthropic_message", ["get_weather"], "weather?"),
    "blocks in a request": (
        {"model": "claude", "system": "s", "messages": BLOCKS},
        "anthropic_message",
        ["get_weather"],
        "weather?",
    ),
    "server-sent events": (
        "event: message_start\n"
        f"data: {json.dumps({'type': 'message_start', 'message': {}})}\n\n"
        "event: content_block_start\n"
        f"data: {json.dumps({'type': 'content_block_start', 'content_block': BLOCKS[1]['content'][0]})}\n\n"
        f"data: {json.dumps({'type': 'content_block_stop', 'index': 0})}\n\ndata: [DONE]\n",
        "anthropic_message",
        ["get_weather"],
        "",
    ),
    "LangChain's messages": (LANGCHAIN, "langgraph_stream", ["get_weather"], "weather?"),
    "LangChain's constructors": (LC_CONSTRUCTORS, "langgraph_stream", ["get_weather"], "weather?"),
    "messages_to_dict": (
        [{"type": message["type"], "data": message} for message in LANGCHAIN],
        "langgraph_stream",
        ["get_weather"],
        "weather?",
    ),
    "a graph's state": ({"messages": LANGCHAIN}, "langgraph_stream", ["get_weather"], "weather?"),
    "the history of a thread, latest first": (
        [{"values": {"messages": LANGCHAIN[:n]}, "next": []} for n in (3, 1)],
        "langgraph_stream",
        ["get_weather"],
        "weather?",
    ),
    "updates by node": (
        [["updates", {"agent": {"messages": [LANGCHAIN[1]]}}], ["updates", {"tools": {"messages": [LANGCHAIN[2]]}}]],
        "langgraph_stream",
        ["get_weather"],
        "",
    ),
    "snapshots with a namespace": (
        [[[], "values", {"messages": LANGCHAIN[:n]}] for n in (1, 2, 3)],
        "langgraph_stream",
        ["get_weather"],
        "weather?",
    ),
    "events of the server": (
        lines([{"event": "metadata", "data": {}}, {"event": "values", "data": {"messages": LANGCHAIN}}]),
        "langgraph_stream",
        ["get_weather"],
        "weather?",
    ),
    "astream_events": (
        lines(
            [
                {"event": "on_chain_start", "run_id": "r", "data": {"input": {"messages": [LANGCHAIN[0]]}}},
                {"event": "on_tool_start", "name": "get_weather", "run_id": "t", "data": {"input": {}}},
                {"event": "on_tool_end", "name": "get_weather", "run_id": "t", "data": {"output": LANGCHAIN[2]}},
            ]
        ),
        "langgraph_stream",
        ["get_weather"],
        "weather?",
    ),
    "a tree of runs": (ROOT_RUN | {"child_runs": [TOOL_RUN]}, "langsmith_run", ["agent", "get_weather"], "weather?"),
    "a row of runs": ([ROOT_RUN, TOOL_RUN], "langsmith_run", ["agent", "get_weather"], "weather?"),
    "runs posted and patched": (
        {"post": [ROOT_RUN, TOOL_RUN], "patch": [{"dotted_order": "1.2", "trace_id": "a", "outputs": {"x": 1}}]},
        "langsmith_run",
        ["agent", "get_weather"],
        "weather?",
    ),
    "spans": (export(SPANS), "otlp_json", ["list", "get"], "list then get"),
    "spans under snake_case names": (
        export(SPANS, "resource_spans", "scope_spans"),
        "otlp_json",
        ["list", "get"],
        "list then get",
    ),
    "spans in batches of the old name": (
        export(SPANS, "batches", "instrumentationLibrarySpans"),
        "otlp_json",
        ["list", "get"],
        "list then get",
    ),
    "an export a line": (lines(export([one]) for one in SPANS), "otlp_json", ["list", "get"], "list then get"),
    "what Jaeger exports": (JAEGER, "otlp_json", ["helm_get"], "list then get"),
    "messages as events of a span": (
        export(
            [
                span("4", "chat m", "5", gen_ai__operation__name="chat")
                | {
                    "events": [
                        {"name": "gen_ai.user.message", "attributes": attributes(content="to Rome")},
                        {
                            "name": "gen_ai.choice",
                            "attributes": attributes(message=json.dumps({"tool_calls": CALLS["tool_calls"]})),
                        },
                    ]
                }
            ]
        ),
        "otlp_json",
        ["search_flights", "book"],
        "Rome",
    ),
    "OpenInference": (
        export(
            [
                span("2", "f", "5", openinference__span__kind="TOOL", tool__name="look_up", input__value='{"a": 1}'),
                span("1", "agent", "1", openinference__span__kind="AGENT", input__value="please look it up"),
            ]
        ),
        "otlp_json",
        ["look_up"],
        "please look it up",
    ),
    "Traceloop": (
        export(
            [
                span(
                    "4",
                    "openai.chat",
                    "5",
                    gen_ai__prompt__0__role="user",
                    gen_ai__prompt__0__content="to Rome",
                    gen_ai__completion__0__role="assistant",
                    gen_ai__completion__0__tool_calls__0__name="search_flights",
                    gen_ai__completion__0__tool_calls__0__arguments="{}",
                )
            ]
        ),
        "otlp_json",
        ["search_flights"],
        "Rome",
    ),
    "a trajectory with an empty action": (
        {
            "environment": "x",
            "trajectory": [{"action": "", "observation": "x", "thought": ""}, {"action": "ls\n", "observation": "a"}],
            "history": [{"role": "user", "content": "ISSUE:\nfix the bug\n\nINSTRUCTIONS:\nNow go."}],
            "info": {"exit_status": "submitted"},
        },
        "swe_agent_traj",
        ["(no action)", "ls"],
        "fix the bug",
    ),
    "mini-SWE-agent, messages alone": (
        MINI,
        "mini_swe_agent",
        ["ls -la", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"],
        "foo",
    ),
    "mini-SWE-agent with tool calls": (
        {
            "trajectory_format": "mini-swe-agent-1.1",
            "info": {},
            "messages": [
                *MINI[:2],
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
                },
            ],
        },
        "mini_swe_agent",
        ["ls"],
        "foo",
    ),
    "OpenHands, an event a line": (lines(OPENHANDS), "openhands_events", ["run", "finish"], "fix it"),
    "OpenHands, pairs": (
        {"instruction": "do it now", "history": [[OPENHANDS[1], OPENHANDS[2]]]},
        "openhands_events",
        ["run"],
        "do it now",
    ),
    "OpenHands, the newer SDK": (
        lines(
            [
                {"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": "fix it"}},
                {
                    "kind": "ActionEvent",
                    "source": "agent",
                    "tool_name": "execute_bash",
                    "tool_call_id": "c",
                    "action": {"kind": "ExecuteBashAction", "command": "ls"},
                },
                {"kind": "ObservationEvent", "tool_call_id": "c", "observation": {"content": "a"}},
            ]
        ),
        "openhands_events",
        ["execute_bash"],
        "fix it",
    ),
    "AgentChat's result": ({"messages": AGENTCHAT, "stop_reason": "x"}, "autogen_core", ["rhyme"], "poem"),
    "AgentChat, a message a line": (lines(AGENTCHAT), "autogen_core", ["rhyme"], "poem"),
    "agents that only talk": (
        [AGENTCHAT[0], *({"source": who, "type": "TextMessage", "content": "so"} for who in ("writer", "critic"))],
        "autogen_core",
        ["writer", "critic"],
        "poem",
    ),
    "AG2's chat history": (
        {
            "chat_history": [
                {"role": "user", "name": "user_proxy", "content": "plot it"},
                {"role": "assistant", "name": "coder", "content": "", "tool_calls": CALLS["tool_calls"]},
                {"role": "tool", "tool_responses": [{"tool_call_id": "c1", "content": "x"}], "content": "x"},
            ]
        },
        "autogen_core",
        ["search_flights", "book"],
        "plot it",
    ),
    "a team's saved state": (
        {
            "type": "TeamState",
            "agent_states": {
                "a": {
                    "agent_state": {
                        "llm_context": {
                            "messages": [
                                {"type": "UserMessage", "content": "a poem", "source": "user"},
                                {
                                    "type": "AssistantMessage",
                                    "source": "a",
                                    "content": [{"id": "c", "name": "rhyme", "arguments": "{}"}],
                                },
                            ]
                        }
                    }
                }
            },
        },
        "autogen_core",
        ["rhyme"],
        "poem",
    ),
    "OrKa's events alone": (ORKA, "orka_trace", ["a"], "what is love today"),
    "a blob that refers to itself": (
        {
            "blob_store": {"r": {"_type": "blob_reference", "ref": "r"}},
            "events": [ORKA[0] | {"payload": {"_type": "blob_reference", "ref": "r"}}],
        },
        "orka_trace",
        ["a"],
        "",
    ),
    "Claude Code's stream-json": (
        lines(
            [
                {"type": "system", "subtype": "init", "session_id": "s", "tools": []},
                {
                    "type": "assistant",
                    "session_id": "s",
                    "message": {"role": "assistant", "content": [BLOCKS[1]["content"][0]]},
                },
                {"type": "result", "subtype": "success", "is_error": False, "session_id": "s"},
            ]
        ),
        "claude_code",
        ["get_weather"],
        "",
    ),
    "Codex, older": (
        lines(
            [
                {"id": "x", "timestamp": "t", "instructions": None, "git": {}},
                {"record_type": "state"},
                *(row["payload"] for row in CODEX[1:]),
            ]
        ),
        "codex",
        ["shell"],
        "fix the bug",
    ),
    "codex exec": (
        lines(
            [
                {"type": "thread.started", "thread_id": "x"},
                {"type": "item.started", "item": {"id": "i", "type": "command_execution", "command": "ls"}},
                {
                    "type": "item.completed",
                    "item": {"id": "i", "type": "command_execution", "command": "ls", "exit_code": 1},
                },
                {"type": "turn.completed", "usage": {}},
            ]
        ),
        "codex",
        ["shell"],
        "",
    ),
    "the guide's dictionary with a trace": (
        {"trace": {"steps": ["weigh it", "bake it"]}, "context": {"task": "a loaf"}, "outcome": {"success": True}},
        "guide",
        ["weigh it", "bake it"],
        "a loaf",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_read(name, traces_in):
    content, format, actions, task = FORMS[name]
    (trace,) = traces_in(content)
    assert (trace.format, [step.action for step in trace.steps]) == (format, actions)
    assert task in trace.task


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("a list of messages", "sold out"),
        ("blocks in a list", "no such city"),
        ("LangChain's messages", "nope"),
        ("spans", "timed out"),
        ("mini-SWE-agent, messages alone", "no such folder"),
        ("OpenHands, an event a line", "boom"),
        ("AgentChat's result", "1"),
        ("Codex, older", "bad"),
        ("codex exec", "failed"),
    ],
)
def test_a_call_that_failed_says_why(name, error, traces_in):
    (trace,) = traces_in(FORMS[name][0])
    assert [step.error for step in trace.failed_steps] == [f"Error: {error}" if error == "sold out" else error]


@pytest.mark.parametrize(
    "content",
    [
        lines([openai_chat(1), openai_chat(2)]),
        [openai_chat(1), openai_chat(2)],
        [openai_chat(1)["messages"], openai_chat(2)["messages"]],
        {"traces": [openai_chat(1), openai_chat(2)]},
        {"data": {"x": 1}, "runs": [openai_chat(1), openai_chat(2)]},
        json.dumps(openai_chat(1), indent=1) + "\n" + json.dumps(openai_chat(2), indent=1),
    ],
    ids=["lines", "list", "list of lists", "under a key", "beside other keys", "one behind the other"],
)
def test_a_file_may_hold_several(content, traces_in):
    first, second = traces_in(content)
    assert first.task != second.task
    assert first.source != second.source


def test_each_trace_of_a_file_may_be_of_another_format(traces_in):
    rows = [openai_chat(1), RESPONSE, FORMS["the guide's dictionary with a trace"][0], export(SPANS)]
    found = traces_in(lines(rows))
    assert [trace.format for trace in found] == ["openai_chat", "openai_responses", "guide", "otlp_json"]


def test_spans_of_several_traces_are_kept_apart(traces_in):
    found = traces_in(export([*SPANS, *(one | {"traceId": "other"} for one in reversed(SPANS))]))
    assert [[step.action for step in trace.steps] for trace in found] == [["list", "get"]] * 2


def test_an_answer_that_was_sent_and_streamed_is_one_step(traces_in):
    use = {"type": "agent.custom_tool_use", "id": "1", "name": "get_weather", "input": {}}
    answer = {"type": "user.custom_tool_result", "custom_tool_use_id": "1", "content": [{"type": "text", "text": "x"}]}
    sent = ["client.beta.sessions.events.send", ["s", {"events": [answer]}]]
    streamed = [["client.beta.sessions.events.stream", event] for event in (use, answer)]
    (trace,) = traces_in(lines([streamed[0], sent, streamed[1]]))
    assert [(step.action, step.result) for step in trace.steps] == [("get_weather", [{"type": "text", "text": "x"}])]


def test_what_a_host_wraps_around_a_task_is_no_task(traces_in):
    told = "<system-reminder>be brief</system-reminder>\n"
    messages = [
        {"role": "user", "content": "<environment_context>\n<cwd>/</cwd>\n</environment_context>"},
        {"role": "user", "content": f"{told}<pr_description>\nMend the fence\n</pr_description>\nFollow the steps."},
        CALLS,
    ]
    assert traces_in(messages)[0].task == "Mend the fence"


def test_arguments_and_times_keep_their_types(traces_in):
    (trace,) = traces_in(export([SPANS[2] | {"startTimeUnixNano": 1_700_000_000_000_000_000}]))
    assert trace.steps[0].time.year == 2023
    (trace,) = traces_in(CHAT)
    assert trace.steps[0].parameters == {"to": "Rome"}
