"""Made-up runs of many formats, as many as are asked for: for speed, memory and mixed folders."""

import json
import random

VERBS = "get list read update create delete search open send fetch check build review approve archive compare".split()
THINGS = (
    "order user file report ticket invoice release pod log branch image record table mail page shipment account "
    "backup certificate contract dashboard deployment payment playlist recipe schedule survey warehouse"
).split()
PLACES = "Prague Lima Oslo Kyoto Nairobi Quito Tallinn Porto Hanoi Cusco Bergen Malmo".split()
WHY = (
    "because the customer asked for it",
    "before the audit on Friday",
    "so that the nightly job can go on",
    "as the numbers of last month do not add up",
    "since two people reported it as broken",
    "to hand it over to the new team",
)


def run(seed):
    """One made-up run: its task, and its calls as (tool, arguments, result)."""
    chance = random.Random(seed)
    verb, thing, place = chance.choice(VERBS), chance.choice(THINGS), chance.choice(PLACES)
    task = f"{verb.title()} the {thing} {seed} of {place} {chance.choice(WHY)}"
    calls = []
    for _ in range(chance.randint(2, 6)):
        name = f"{chance.choice(VERBS)}_{chance.choice(THINGS)}"
        arguments = {f"{thing}_id": f"{thing[:2].upper()}{chance.randrange(10_000)}", "place": chance.choice(PLACES)}
        calls.append((name, arguments, f"{chance.choice(THINGS)} found in {place}, nothing else to be done"))
    return task, calls


def openai_chat(seed):
    task, calls = run(seed)
    messages = [{"role": "system", "content": "You help."}, {"role": "user", "content": task}]
    for i, (name, arguments, result) in enumerate(calls):
        call = {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{i}", "content": result})
    return {"messages": messages, "reward": 1.0}


def anthropic(seed):
    task, calls = run(seed)
    messages = [{"role": "user", "content": task}]
    for i, (name, arguments, result) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{i}", "name": name, "input": arguments}
        messages.append({"role": "assistant", "content": [{"type": "text", "text": "Next."}, use]})
        answer = {"type": "tool_result", "tool_use_id": f"t{i}", "content": result}
        messages.append({"role": "user", "content": [answer]})
    return {"model": "m", "messages": messages, "success": True}


def langchain(seed):
    task, calls = run(seed)
    messages = [{"type": "human", "content": task, "id": "h"}]
    for i, (name, arguments, result) in enumerate(calls):
        call = {"name": name, "args": arguments, "id": f"c{i}", "type": "tool_call"}
        messages.append({"type": "ai", "content": "", "tool_calls": [call], "id": f"a{i}"})
        messages.append({"type": "tool", "content": result, "tool_call_id": f"c{i}", "id": f"r{i}"})
    return {"messages": messages, "success": True}


def otlp(seed):
    task, calls = run(seed)
    trace, spans = f"{seed:032x}", []

    def span(name, start, told):
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
        place = {
            "traceId": trace,
            "spanId": f"{start:016x}",
            "startTimeUnixNano": str(1_700_000_000_000_000_000 + start),
        }
        spans.append(place | {"name": name, "attributes": attributes})

    span(
        "chat m", 1, {"gen_ai.operation.name": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": task}
    )
    for i, (name, arguments, result) in enumerate(calls):
        told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
        told |= {"gen_ai.tool.call.arguments": json.dumps(arguments), "gen_ai.tool.call.result": result}
        span(f"execute_tool {name}", i + 2, told)
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


def openhands(seed):
    task, calls = run(seed)
    events = [{"id": 0, "source": "user", "action": "message", "args": {"content": task}}]
    for i, (name, arguments, result) in enumerate(calls, 1):
        events.append({"id": 2 * i, "source": "agent", "action": name, "args": arguments})
        events.append({"id": 2 * i + 1, "source": "agent", "observation": name, "cause": 2 * i, "content": result})
    return {"history": events, "test_result": {"report": {"resolved": True}}}


def swe_agent(seed):
    task, calls = run(seed)
    rows = [
        {"action": f"{name} {' '.join(arguments.values())}", "observation": result, "thought": "Next."}
        for name, arguments, result in calls
    ]
    history = [{"role": "user", "content": f"ISSUE:\n{task}\n\nINSTRUCTIONS:\nGo."}]
    return {"environment": "main", "trajectory": rows, "history": history, "info": {"resolved": True}}


def autogen(seed):
    task, calls = run(seed)
    messages = [{"type": "UserMessage", "source": "User", "content": task}]
    for i, (name, arguments, result) in enumerate(calls):
        call = {"id": f"c{i}", "name": name, "arguments": json.dumps(arguments)}
        messages.append({"type": "AssistantMessage", "source": "Agent", "content": [call]})
        answer = {"call_id": f"c{i}", "name": name, "content": result, "is_error": False}
        messages.append({"type": "FunctionExecutionResultMessage", "content": [answer]})
    return {"messages": messages, "success": True}


def guide(seed):
    task, calls = run(seed)
    steps = [name.replace("_", " ") for name, _, _ in calls]
    return {"execution_trace": {"steps": steps}, "context": {"task": task}, "outcome": {"success": True}}


KINDS = (openai_chat, anthropic, langchain, otlp, openhands, swe_agent, autogen, guide)


def some(count):
    """`count` runs, the formats in turn. Those of OTLP hold no verdict."""
    for seed in range(count):
        yield KINDS[seed % len(KINDS)](seed)
