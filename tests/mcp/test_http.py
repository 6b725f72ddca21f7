"""Is a server on the network guarded, and does it behave? Over real HTTP."""

import json
import secrets
import signal
import socket
import subprocess
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import httpx2
import pytest

from brain.errors import InputError, ServingError
from brain.mcp.http import Http
from tests.mcp.sessions import LESSON, TASK, call, command, environment, listening, over_http, started, talk

TOKEN = "a-token-for-these-tests-0123456789"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
SENT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def open_server(tmp_path_factory):
    """The address of a server without a token."""
    with listening(tmp_path_factory.mktemp("open"), "--store", "sqlite://:memory:") as url:
        yield url


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """The address of a server with a token, reached by another name too."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "token").write_text(f"{TOKEN}\n")
    options = ("--store", "sqlite://:memory:", "--token-file", "token", "--allow-host", "brain.example.org")
    with listening(folder, *options, BRAIN_MCP_TOKEN="another-token-that-is-not-read") as url:
        yield url


def post(url, body=HELLO, **headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.post(url, content=content, headers=SENT | headers, timeout=30)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_session_over_http_learns_and_the_next_one_recalls(open_server, mode):
    async def conversation():
        async with over_http(open_server, mode=mode) as client:
            await call(client, "learn", **LESSON)
        async with over_http(open_server, mode=mode) as client:
            return (await call(client, "recall", **TASK))["skills"]

    assert talk(conversation)[0]["steps"] == LESSON["steps"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_with_the_token_has_a_session(guarded, mode):
    async def conversation():
        async with over_http(guarded, TOKEN, mode=mode) as client:
            return len((await client.list_tools()).tools)

    assert talk(conversation) == 6


WRONG = (
    None,
    "Bearer",
    "Bearer wrong-token-wrong-token",
    f"Bearer {TOKEN[:-1]}",
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN.upper()}",
    f"Bearer é{TOKEN}",
    f"Basic {TOKEN}",
    "Bearer another-token-that-is-not-read",
)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("header", WRONG)
def test_no_method_gets_by_without_the_token(guarded, method, header):
    headers = SENT | ({} if header is None else {"Authorization": header.encode()})
    answer = httpx2.request(method, guarded, headers=headers, content=json.dumps(HELLO).encode(), timeout=30)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Host": "0.0.0.0"}, 421),
        ({"Host": "169.254.169.254"}, 421),
        ({"Host": "localhost"}, 200),
        ({"Host": "[::1]:80"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "https://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "file://"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "http://127.0.0.1"}, 200),
        ({"MCP-Protocol-Version": "2026-07-28", "Host": "evil.example"}, 421),
        ({"MCP-Protocol-Version": "2026-07-28", "Origin": "http://evil.example"}, 403),
    ],
)
def test_a_request_that_names_another_server_is_refused(open_server, headers, status):
    assert post(open_server, **headers).status_code == status


def test_a_name_that_was_allowed_is_taken_with_the_token(guarded):
    known = {"Authorization": f"Bearer {TOKEN}"}
    for host in ("brain.example.org", "brain.example.org:443"):
        assert post(guarded, Host=host, Origin=f"https://{host}", **known).status_code == 200
    assert post(guarded, Host="other.example.org", **known).status_code == 421


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"nonsense", {}, 400),
        (b"", {}, 400),
        (b"\xff\xfe", {}, 400),
        (b"[" * 100_000, {}, 400),
        ({"jsonrpc": "2.0", "id": 7}, {}, 400),
        (HELLO, {"Content-Type": "text/plain"}, 400),
        (HELLO, {"Accept": "text/html"}, 406),
        (HELLO, {"Mcp-Session-Id": "of-somebody-else"}, 404),
        (HELLO, {"MCP-Protocol-Version": "nonsense"}, 400),
        (b"x" * 5_000_000, {}, 413),
    ],
)
def test_nonsense_gets_errors_and_the_server_goes_on(open_server, body, headers, status):
    answer = post(open_server, body, **headers)
    assert answer.status_code == status, answer.text
    assert post(open_server).status_code == 200


def test_clients_that_go_in_the_middle_of_a_request_are_not_reported_as_faults(tmp_path):
    server = started(tmp_path, "--http", "127.0.0.1:0", "--store", "sqlite://:memory:")
    try:
        url = server.stderr.readline().decode().split()[2].rstrip(".")
        address = urlsplit(url)
        head = "".join(f"{name}: {value}\r\n" for name, value in (SENT | {"Content-Length": "1000"}).items())
        for _ in range(3):
            with socket.create_connection((address.hostname, address.port)) as one:
                one.sendall(f"POST /mcp HTTP/1.1\r\nHost: {address.netloc}\r\n{head}\r\n{{".encode())
        assert post(url).status_code == 200
        server.send_signal(signal.SIGTERM)
        output, errors = server.communicate(timeout=30)
    finally:
        server.kill()
    assert (server.returncode, output, errors) == (0, b"", b"")


def test_other_paths_are_nothing(open_server):
    for path in ("/", "/mcp/../etc", "/sse", "/.well-known/oauth-protected-resource"):
        assert httpx2.get(open_server.replace("/mcp", path), timeout=30).status_code == 404


def test_ctrl_c_ends_a_server_that_a_client_is_listening_to(tmp_path):
    with ExitStack() as left_open, listening(tmp_path, "--store", "sqlite://:memory:") as url:
        http = left_open.enter_context(httpx2.Client(timeout=30))
        session = http.post(url, json=HELLO, headers=SENT).headers["mcp-session-id"]
        waiting = {"Accept": "text/event-stream", "Mcp-Session-Id": session}
        stream = left_open.enter_context(http.stream("GET", url, headers=waiting))
        assert stream.status_code == 200


def test_an_address_that_is_taken_ends_with_the_reason(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run(
            command("--http", address), capture_output=True, text=True, env=environment(tmp_path), timeout=60
        )
    assert done.returncode == 3
    assert address in done.stderr and "Choose another port" in done.stderr


@pytest.mark.parametrize("token", ["", "short", "x" * 15, f"two words {'x' * 20}", "é" * 20, f"x{chr(0)}" * 20])
def test_a_token_that_is_none_is_refused(token):
    with pytest.raises(InputError, match="16 visible"):
        Http("127.0.0.1:0", token)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("127.0.0.1:0", "http://127.0.0.1:"),
        ("localhost:0", "http://localhost:"),
        ("0", "http://127.0.0.1:"),
    ],
)
def test_the_loopback_interface_needs_no_token(address, url):
    transport = Http(address)
    assert transport.url.startswith(url)
    transport.close()


def test_the_loopback_interface_of_ipv6_needs_no_token_either():
    with suppress(ServingError):  # where the machine has no IPv6
        transport = Http("[::1]:0")
        assert transport.url.startswith("http://[::1]:")
        transport.close()


def test_names_are_taken_as_they_stand_in_an_address():
    transport = Http("127.0.0.1:0", allowed_hosts=["brain.example.org", "brain.example.org:8443", "fe80::1", "[::2]:9"])
    assert transport.names[3:] == ["brain.example.org", "brain.example.org:8443", "[fe80::1]", "[::2]:9"]
    transport.close()


def test_beyond_the_loopback_interface_a_token_is_needed():
    with pytest.raises(InputError, match="there is no token"):
        Http("0.0.0.0:0")
    transport = Http("0.0.0.0:0", secrets.token_hex())
    transport.close()


def test_a_port_that_may_not_be_had_is_a_serving_error():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ServingError, match="Choose another"):
        Http(f"127.0.0.1:{taken.getsockname()[1]}")
