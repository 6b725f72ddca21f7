"""Does every snippet of examples/mcp start a server that a client can work with, exactly as it stands?"""

import json
import subprocess
import sys
import tomllib
from urllib.parse import urlsplit

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.mcp.sessions import LESSON, ROOT, TASK, call, installed, listening, over_http, talk

FOLDER = ROOT / "examples" / "mcp"
STARTED = {
    "claude_code.mcp.json": "mcpServers",
    "claude_desktop_config.json": "mcpServers",
    "cursor.mcp.json": "mcpServers",
    "vscode.mcp.json": "servers",
    "codex.config.toml": "mcp_servers",
    "generic.json": None,
}
"""Files that name a command, and the key under which the client looks for servers."""
REACHED = {"http_claude_code.mcp.json": "mcpServers", "http_codex.config.toml": "mcp_servers"}
TOKEN = "a-token-for-these-tests-0123456789"


def snippet(name, key):
    """The entry of the server in a snippet."""
    text = (FOLDER / name).read_text("utf-8")
    data = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
    if key is None:
        return data
    assert list(data) == [key]
    assert list(data[key]) == ["brain"]
    return data[key]["brain"]


def test_there_is_a_test_for_every_file():
    known = {*STARTED, *REACHED, "client.py"}
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == {*known, "README.md"}
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert all(name in readme for name in known)


@pytest.mark.parametrize("name", STARTED)
def test_a_client_starts_the_server_by_the_snippet(name, tmp_path):
    entry = snippet(name, STARTED[name])
    assert set(entry) <= {"type", "command", "args", "env"}
    assert entry.get("type", "stdio") == "stdio"
    parameters = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=installed(tmp_path) | entry.get("env", {}), cwd=tmp_path
    )
    writes = "--read-only" not in entry["args"]

    async def conversation():
        async with Client(parameters) as client:
            if writes:
                await call(client, "learn", **LESSON)
            return (await call(client, "recall", **TASK))["skills"]

    assert len(talk(conversation)) == writes
    place = entry.get("env", {}).get("BRAIN_STORE", "")
    assert (tmp_path / "skills.db").exists() == place.endswith("~/skills.db")


@pytest.mark.parametrize("name", REACHED)
def test_a_client_reaches_the_server_by_the_snippet(name, tmp_path):
    entry = snippet(name, REACHED[name])
    address = urlsplit(entry["url"])
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert f"brain mcp --http {address.netloc}" in readme
    if "headers" in entry:
        assert entry["type"] == "http"
        header = entry["headers"]["Authorization"].replace("${BRAIN_MCP_TOKEN}", TOKEN)
    else:
        assert entry["bearer_token_env_var"] == "BRAIN_MCP_TOKEN"
        header = f"Bearer {TOKEN}"

    async def conversation(url):
        async with over_http(url, headers={"Authorization": header}) as client:
            return len((await client.list_tools()).tools)

    with listening(tmp_path, "--store", "sqlite://:memory:", BRAIN_MCP_TOKEN=TOKEN) as url:
        assert urlsplit(url).path == address.path
        assert talk(conversation, url) == 6


def test_the_client_of_ones_own_runs(tmp_path):
    program = [sys.executable, FOLDER / "client.py"]
    done = subprocess.run(program, env=installed(tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "1 skill fits this task" in done.stdout
    assert "gather the symptoms" in done.stdout
