"""Does a secret in any field of any format reach the memory? Each sample, with one put into all of its texts."""

import io
import json
from pathlib import Path

import pytest

import brain.traces

SAMPLES = sorted(Path("examples/traces").resolve().iterdir())
SECRETS = {  # how it is told: by its form, by its name, by its place in a command, as an address
    "ghp_a1b2c3d4e5a1b2c3d4e5a1b2c3d4e5a1b2c3": "ghp_a1b2",
    'use {"api_key": "q1w2e3r4t5y6u7i8"}': "q1w2e3",
    "<password>swordfish9</password>": "swordfish9",
    "export DB_PASSWORD=swordfish9 && run": "swordfish9",
    "docker login -u me -p swordfish9": "swordfish9",
    "see https://x.example.org/f?sig=a1b2c3d4e5f6g7h8%3D&v=2": "a1b2c3d4",
    "ask jane.doe@corp-mail.org": "jane.doe@",
}
TELLS_THE_KIND = set(
    "type role event run_type observation source object id lc cause status from event_type tool_call_id call_id".split()
)


def with_secret(value, secret, key=""):
    if isinstance(value, str):
        return value if key in TELLS_THE_KIND else f"{value} {secret}"
    if isinstance(value, list) and key == "" and value and isinstance(value[0], str):  # a stream's mode, and the rest
        return [value[0], *with_secret(value[1:], secret, "rest")]
    if isinstance(value, list):
        return [with_secret(item, secret, key) for item in value]
    if isinstance(value, dict):
        return {name: with_secret(item, secret, name) for name, item in value.items()}
    return value


def values_of(path):
    text = path.read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]


def told(values, format):
    """All that is learned of the traces in some values."""
    data = "\n".join(map(json.dumps, values)).encode()
    found = []
    for trace in brain.traces.read(io.BytesIO(data), format, name="a file"):
        clean, _ = brain.traces.without_secrets(trace)
        found.append([brain.traces.execution_of(clean, success=True), clean.to_dict()])
    assert found
    return json.dumps(found)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_no_secret_in_any_field_is_learned(path):
    values = values_of(path)
    format = next(brain.traces.read(path)).format
    for secret, gone in SECRETS.items():
        kept = told([with_secret(value, secret) for value in values], format)
        assert gone not in kept, kept[max(0, kept.find(gone) - 200) : kept.find(gone) + 20]


def test_no_secret_is_in_what_names_agents_and_tells_the_verdict():
    failed = {"id": "1", "name": "agent", "run_type": "chain", "inputs": {"input": "do it"}, "trace_id": "t"}
    values = [failed | {"error": "401 for token ghp_a1b2c3d4e5a1b2c3d4e5a1b2c3d4e5a1b2c3"}]
    assert "ghp_" not in told(values, "langsmith_run")
    history = [{"role": f"{name}@corp-mail.org", "content": "I did it"} for name in ("ann", "bob")]
    given = {"history": history, "question": "do it", "mistake_agent": "x", "is_correct": True, "question_ID": "1"}
    assert "corp-mail" not in told([given], "who_and_when")


def test_a_key_of_an_object_is_no_way_in():
    call = {"name": "set", "arguments": json.dumps({"jane.doe@corp-mail.org": {"password": "swordfish9"}})}
    messages = [
        {"role": "user", "content": "set it"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": call}]},
    ]
    kept = told([{"messages": messages}], "openai_chat")
    assert "jane.doe" not in kept and "swordfish9" not in kept
