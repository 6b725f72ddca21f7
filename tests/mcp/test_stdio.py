"""Does a server that its client has started behave: in what it writes, at nonsense, at its end?"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from typer.testing import CliRunner

from brain import SyncBrain
from brain.cli.app import app
from brain.mcp.stdio import FINISHING_SECONDS, LONGEST_MESSAGE
from tests.mcp.sessions import LESSON, TASK, call, command, environment, refusal, started, talk, with_process

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
CANCELLED = "notifications/cancelled"


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


class Pipe:
    """A server whose lines the test writes and reads itself."""

    def __init__(self, folder, *options, **more):
        self.process = started(folder, *options, **more)

    def send(self, *messages):
        for message in messages:
            self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read().decode()
        return json.loads(line)

    def ask(self, *messages):
        self.send(*messages)
        return self.answer()

    def end(self):
        """Closes standard input; what else was written, and the exit status."""
        output, errors = self.process.communicate(timeout=30)
        answers = [json.loads(line) for line in (output or b"").splitlines()]
        return answers, errors.decode(), self.process.returncode


@pytest.fixture
def pipe(tmp_path):
    opened = []

    def opens(*options, **more):
        opened.append(Pipe(tmp_path, *options, **more))
        return opened[-1]

    yield opens
    for one in opened:
        one.process.kill()
        one.process.communicate()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_session_learns_and_the_next_one_recalls(tmp_path, mode):
    location = f"sqlite:///{tmp_path / 'skills.db'}"

    async def conversation():
        async with with_process(tmp_path, "--store", location, mode=mode) as client:
            await call(client, "learn", **LESSON)
        async with with_process(tmp_path, "--store", location, mode=mode) as client:
            return await call(client, "recall", **TASK), client.server_info.name

    found, name = talk(conversation)
    assert found["skills"][0]["steps"] == LESSON["steps"]
    assert name == "brain"
    assert (tmp_path / "stderr.txt").read_text() == ""


def test_without_options_the_skills_are_those_of_the_command_line(tmp_path):
    async def conversation():
        async with with_process(tmp_path) as client:
            await call(client, "learn", **LESSON)

    talk(conversation)
    listed = [sys.executable, "-m", "brain", "skills", "--json"]
    done = subprocess.run(listed, env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert len(json.loads(done.stdout)) == 1, done.stderr


def test_nonsense_gets_errors_of_the_protocol_and_the_session_goes_on(pipe):
    server = pipe("--store", "sqlite://:memory:")
    for sent, code, number in [
        (b"nonsense\n", PARSE_ERROR, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": \n', PARSE_ERROR, None),
        (b"\xff\xfe\x00\n", PARSE_ERROR, None),
        (b"[" * 100_000 + b"\n", PARSE_ERROR, None),
        (b'{"id": ' + b"9" * 5_000 + b"}\n", None, None),
        ({"jsonrpc": "2.0", "id": 7}, INVALID_REQUEST, 7),
        ({"jsonrpc": "1.0", "id": "a", "method": "ping"}, INVALID_REQUEST, "a"),
        ([request(1, "ping")], INVALID_REQUEST, None),
        (b"17\n", INVALID_REQUEST, None),
        (request(2, "tools/call", name="recall"), INVALID_PARAMS, 2),  # before the handshake
        (request(3, "no/such/method"), METHOD_NOT_FOUND, 3),
    ]:
        answer = server.ask(sent)
        assert answer["id"] == number, answer
        assert code is None or answer["error"]["code"] == code, answer
    assert server.ask(HELLO)["result"]["serverInfo"]["name"] == "brain"
    server.send(
        {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "no/such"}, b"\n"
    )
    for number, params in enumerate(({}, {"name": 5}, {"name": "recall", "arguments": "task"}, {"name": "nix"}), 10):
        answer = server.ask(request(number, "tools/call", **params))
        assert (answer["id"], answer["error"]["code"]) == (number, INVALID_PARAMS)
    found = server.ask(request(20, "tools/call", name="recall", arguments={"task": "x"}))
    assert found["result"]["structuredContent"]["skills"] == []
    rest, errors, status = server.end()
    assert (rest, status) == ([], 0), errors


@pytest.mark.parametrize("number", ["1.5", "true", "null", "{}", "[1]", '"\\ud800"', "NaN", "9" * 5_000])
def test_an_id_that_is_none_gets_an_error_and_is_not_waited_for(pipe, number):
    server = pipe("--store", "sqlite://:memory:")
    assert server.ask(HELLO)["id"] == 0
    answer = server.ask(f'{{"jsonrpc": "2.0", "id": {number}, "method": "ping"}}\n'.encode())
    assert answer["id"] is None and answer["error"]["code"] in (INVALID_REQUEST, PARSE_ERROR)
    server.send(f'{{"jsonrpc": "2.0", "method": "{CANCELLED}", "params": {{"requestId": {number}}}}}\n'.encode())
    server.send(request(2, "ping"))
    while (answer := server.answer())["id"] is None:
        assert answer["error"]["code"] == PARSE_ERROR
    assert answer == {"jsonrpc": "2.0", "id": 2, "result": {}}
    begun = time.monotonic()
    rest, errors, status = server.end()
    assert (rest, status) == ([], 0), errors
    assert time.monotonic() - begun < FINISHING_SECONDS / 2


def test_text_that_cannot_be_written_is_refused_under_the_id_of_its_request(pipe):
    server = pipe("--store", "sqlite://:memory:")
    assert server.ask(HELLO)["id"] == 0
    answer = server.ask(request("cut", "tools/call", name="recall", arguments={"task": "half of a pair \ud83d"}))
    assert (answer["id"], answer["error"]["code"]) == ("cut", PARSE_ERROR)
    assert server.end()[2] == 0


def test_a_message_of_fifty_megabytes_is_refused_and_not_kept(pipe):
    server = pipe("--store", "sqlite://:memory:")
    assert server.ask(HELLO)["id"] == 0
    huge = request(1, "tools/call", name="recall", arguments={"task": "x" * 50_000_000})
    assert str(LONGEST_MESSAGE) in server.ask(huge)["error"]["message"]
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert server.ask(request(2, "ping")) == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert peak < 400_000, f"{peak} kB"


def test_requests_before_the_end_of_input_are_answered(pipe, tmp_path):
    location = f"sqlite:///{tmp_path / 'skills.db'}"
    server = pipe("--store", location)
    server.send(
        HELLO,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(request(n, "tools/call", name="learn", arguments=LESSON | {"trace_id": f"r{n}"}) for n in range(1, 6)),
    )
    answers, errors, status = server.end()
    assert (sorted(answer["id"] for answer in answers), status) == ([0, 1, 2, 3, 4, 5], 0), errors
    with SyncBrain.open(location) as brain:
        (skill,) = brain.get_skills()
        assert skill.usage_count == 5


def test_the_end_of_input_without_a_word_is_an_end(pipe):
    assert pipe("--store", "sqlite://:memory:").end() == ([], "", 0)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_a_server_that_waits_for_input(pipe, tmp_path, number, status):
    server = pipe("--store", f"sqlite:///{tmp_path / 'skills.db'}")
    server.ask(HELLO)
    server.process.send_signal(number)
    assert server.process.wait(timeout=15) == status
    errors = server.process.stderr.read().decode()
    assert "Traceback" not in errors
    assert server.process.stdout.read() == b""


def test_a_client_that_reads_no_answers_ends_the_server_without_a_traceback(pipe):
    server = pipe("--store", "sqlite://:memory:")
    server.ask(HELLO)
    server.process.stdout.close()
    server.send(request(1, "ping"))
    server.process.stdout = None
    assert server.end() == ([], "", 0)


def test_what_anything_prints_goes_to_stderr_and_not_between_the_messages(tmp_path):
    embedder = tmp_path / "noisy_embedder"
    program = (
        "import sys, runpy\n"
        "from brain.engine import embedding\n"
        "class Noisy:\n"
        "    def encode(self, texts):\n"
        "        print('progress: 100 %')\n"
        "        return [[1.0, 0.5] for _ in texts]\n"
        "embedding.load_embedder = lambda given: Noisy()\n"
        "sys.argv = ['brain', 'mcp', '--store', 'sqlite://:memory:', '--embedder', 'noisy']\n"
        "runpy.run_module('brain', run_name='__main__')\n"
    )
    embedder.with_suffix(".py").write_text(program)
    learn = request(1, "tools/call", name="learn", arguments=LESSON)
    given = b"".join(json.dumps(message).encode() + b"\n" for message in (HELLO, learn))
    done = subprocess.run(
        [sys.executable, embedder.with_suffix(".py")],
        input=given,
        env=environment(tmp_path),
        capture_output=True,
        timeout=60,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[-1]["result"]["structuredContent"]["outcome"] == "created", done.stderr.decode()
    assert b"progress: 100 %" in done.stderr


def test_a_store_that_is_down_at_the_start_is_waited_for(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]

    async def conversation():
        async with with_process(tmp_path, "--store", f"redis://127.0.0.1:{port}/0") as client:
            return await refusal(client, "recall", **TASK), len((await client.list_tools()).tools)

    told, offered = talk(conversation)
    assert f"127.0.0.1:{port}" in told
    assert offered == 6
    assert "nothing has to be started anew" in (tmp_path / "stderr.txt").read_text()


@pytest.mark.parametrize(
    ("store", "status", "word"),
    [("nonsense", 2, "is not a location"), ("sqlite:///{folder}/stderr.txt", 3, "stderr.txt")],
)
def test_a_store_that_can_never_be_opened_ends_the_server_with_the_reason(pipe, tmp_path, store, status, word):
    (tmp_path / "stderr.txt").write_text("this is no database" * 1_000)
    server = pipe("--store", store.format(folder=tmp_path)).process
    assert server.wait(timeout=60) == status
    errors = server.stderr.read().decode()
    assert word in errors
    assert (len(errors.splitlines()), server.stdout.read()) == (1, b""), errors


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--store", ""], "The location is empty"),
        (["--token-file", "x"], "go with --http"),
        (["--allow-host", "x"], "go with --http"),
        (["--http", "nonsense"], "no address to listen at"),
        (["--http", "127.0.0.1:99999"], "no address to listen at"),
        (["--http", ":0"], "no address to listen at"),
        (["--http", "no-such-host.invalid:0"], "not a host of this machine"),
        (["--http", "0.0.0.0:0"], "there is no token"),
        (["--http", "[::]:0"], "there is no token"),
        (["--http", "127.0.0.1:0", "--token-file", "/nowhere"], "cannot be read"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_opened(options, word):
    done = CliRunner(env={"BRAIN_MCP_TOKEN": None}).invoke(app, ["mcp", *options])
    assert (done.exit_code, done.stdout) == (2, "")
    assert word in done.stderr


def test_closed_standard_input_ends_with_the_reason(tmp_path):
    line = " ".join([*command("--store", "sqlite://:memory:"), "<&-"])
    done = subprocess.run(line, shell=True, capture_output=True, env=environment(tmp_path), text=True, timeout=60)
    assert done.returncode == 3
    assert "Standard input" in done.stderr


def test_a_terminal_is_told_what_the_server_waits_for(tmp_path):
    ours, theirs = os.openpty()
    server = subprocess.Popen(
        command("--store", "sqlite://:memory:"), stdin=theirs, stderr=subprocess.PIPE, env=environment(tmp_path)
    )
    os.close(theirs)
    try:
        assert b"Waiting for a client" in server.stderr.readline()
    finally:
        os.close(ours)
        server.terminate()
        server.communicate()
