"""How does a test talk to a server? Sessions of the SDK's own client: in the process, with a process, over HTTP."""

import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from brain.mcp.memory import Memory
from brain.mcp.server import build

ROOT = Path(__file__).resolve().parents[2]

LESSON = {
    "task": "Find out why a patient feels ill: analyze the symptoms, test possible causes and conclude",
    "domain": "medicine",
    "steps": ["gather the symptoms", "form several hypotheses", "test each hypothesis", "conclude with the cause"],
    "success": True,
    "quality": 0.9,
    "trace_id": "patient-17",
}
TASK = {
    "task": "Find out why the nightly build fails: analyze the error reports, test possible causes and conclude",
    "domain": "software",
}


def talk(conversation, *arguments):
    """Runs a conversation, an async function, to its end."""
    return anyio.run(conversation, *arguments)


def in_process(brain, mode="auto", **options):
    """A session with a server in this process, on an open brain."""
    return Client(build(Memory(lambda: brain), **options), mode=mode)


def environment(folder, **more):
    """What a server's process gets: no settings of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BRAIN_", "COV_"))}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "BRAIN_DATA_DIR": str(folder / "data"),
        "BRAIN_CACHE_DIR": str(folder / "cache"),
        **more,
    }


def command(*options):
    return [sys.executable, "-m", "brain", "mcp", *options]


def installed(folder, **more):
    """The environment of a user who has `brain` on the path, and `folder` for a home."""
    program = folder / "bin" / "brain"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m brain "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return environment(folder, PATH=path, HOME=str(folder), **more)


@asynccontextmanager
async def with_process(folder, *options, mode="auto", **more):
    """A session with a server that the client starts; what it says on stderr is in `stderr.txt` of `folder`."""
    program, *arguments = command(*options)
    parameters = StdioServerParameters(command=program, args=arguments, env=environment(folder, **more), cwd=folder)
    with (folder / "stderr.txt").open("a") as errors:
        async with Client(stdio_client(parameters, errlog=errors), mode=mode) as client:
            yield client


def started(folder, *options, **more):
    """A server's process whose pipes the test holds itself."""
    return subprocess.Popen(
        command(*options),
        env=environment(folder, **more),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@contextmanager
def listening(folder, *options, address="127.0.0.1:0", **more):
    """The address of a server that listens on a free port; it is ended with Ctrl-C, and must end cleanly."""
    server = started(folder, "--http", address, *options, **more)
    try:
        first = server.stderr.readline().decode()
        url = re.search(r"Listening at (\S+?)\. ", first)
        assert url, first + server.stderr.read().decode()
        yield url[1]
        server.send_signal(signal.SIGINT)
        output, errors = server.communicate(timeout=30)
        assert (server.returncode, output) == (130, b""), errors.decode()
    finally:
        server.kill()
        server.communicate()


@asynccontextmanager
async def over_http(url, token=None, mode="auto", headers=None):
    """A session over HTTP."""
    sent = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=sent | (headers or {}), timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


async def call(client, tool, **arguments):
    """The structured result of a tool; it must not be an error."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    return result.structured_content


async def refusal(client, tool, **arguments):
    """What a tool says when it refuses."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is None
    return result.content[0].text
